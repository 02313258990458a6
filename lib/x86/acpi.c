// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ACPI tables: CPUs and interrupt controllers from the MADT, the PM timer from the FADT, the HPET
 * (ACPI 6.4, chapter 5; IA-PC HPET specification 1.0a, 3.2.4). No AML.
 */
#include "startup.h"
#include "string.h"
#include <arch/acpi.h>

struct acpi acpi;

#define MAPPED_END	(4ULL << 30)
#define TABLE_MAX_BYTES (1U << 20)
#define BIOS_AREA_START 0xe0000UL
#define BIOS_AREA_END	0x100000UL
#define EBDA_SEGMENT	0x40eUL /* BIOS data area: segment of the extended one */

struct acpi_rsdp {
	char signature[8];
	u8 checksum; /* of the first 20 bytes */
	char oem[6];
	u8 revision;
	u32 rsdt;
	/* revision 2 */
	u32 length;
	u64 xsdt;
	u8 extended_checksum;
	u8 reserved[3];
} __attribute__((packed));

struct acpi_table {
	char signature[4];
	u32 length;
	u8 revision;
	u8 checksum;
	char oem[6];
	char oem_table[8];
	u32 oem_revision;
	u32 creator;
	u32 creator_revision;
} __attribute__((packed));

struct acpi_madt {
	struct acpi_table header;
	u32 local_apic;
	u32 flags;
} __attribute__((packed));

struct madt_entry {
	u8 type;
	u8 length;
} __attribute__((packed));

struct madt_local_apic {
	struct madt_entry entry;
	u8 processor;
	u8 apic_id;
	u32 flags;
} __attribute__((packed));

struct madt_io_apic {
	struct madt_entry entry;
	u8 id;
	u8 reserved;
	u32 address;
	u32 gsi_base;
} __attribute__((packed));

struct madt_local_apic_override {
	struct madt_entry entry;
	u16 reserved;
	u64 address;
} __attribute__((packed));

struct madt_local_x2apic {
	struct madt_entry entry;
	u16 reserved;
	u32 apic_id;
	u32 flags;
	u32 processor;
} __attribute__((packed));

enum {
	MADT_LOCAL_APIC = 0,
	MADT_IO_APIC = 1,
	MADT_LOCAL_APIC_OVERRIDE = 5,
	MADT_LOCAL_X2APIC = 9
};

#define MADT_PCAT_COMPAT	BIT(0)
#define MADT_CPU_ENABLED	BIT(0)
#define MADT_CPU_ONLINE_CAPABLE BIT(1)

/* Offsets in the FADT: ACPI 6.4, table 5.9. */
#define FADT_PM_TMR_BLK	  76
#define FADT_PM_TMR_LEN	  91
#define FADT_FLAGS	  112
#define FADT_TMR_VAL_EXT  BIT(8)
#define FADT_HW_REDUCED	  BIT(20)
#define FADT_X_PM_TMR_BLK 208 /* generic address: space, width, offset, access size, address */
#define GAS_ADDRESS	  4
#define GAS_SYSTEM_IO	  1

/* Offset in the HPET table of its generic address; memory space is 0. */
#define HPET_ADDRESS 40

static void problem(const char *what)
{
	if (!acpi.problem)
		acpi.problem = what;
}

static bool sums_to_zero(const void *data, size_t length)
{
	const u8 *bytes = data;
	u8 sum = 0;

	while (length--)
		sum += *bytes++;
	return sum == 0;
}

static u32 field32(const struct acpi_table *table, u32 offset)
{
	u32 value = 0;

	if (offset + sizeof(value) <= table->length)
		memcpy(&value, (const char *)table + offset, sizeof(value));
	return value;
}

static u64 field64(const struct acpi_table *table, u32 offset)
{
	return field32(table, offset) | (u64)field32(table, offset + 4) << 32;
}

static u8 field8(const struct acpi_table *table, u32 offset)
{
	return offset < table->length ? ((const u8 *)table)[offset] : 0;
}

static bool rsdp_valid(const struct acpi_rsdp *rsdp)
{
	return !memcmp(rsdp->signature, "RSD PTR ", 8) && sums_to_zero(rsdp, 20);
}

/* ACPI 6.4, 5.2.5.1: on 16-byte boundaries in the EBDA's first KiB and the BIOS area. */
static const struct acpi_rsdp *rsdp_scan(uintptr_t start, uintptr_t end)
{
	for (uintptr_t at = ALIGN_UP(start, 16UL); at + sizeof(struct acpi_rsdp) <= end; at += 16) {
		if (rsdp_valid((const void *)at))
			return (const void *)at;
	}
	return NULL;
}

static const struct acpi_rsdp *rsdp_find(void)
{
	const struct acpi_rsdp *rsdp = (const void *)boot_info.rsdp;
	uintptr_t ebda_segment_at = EBDA_SEGMENT;
	uintptr_t ebda;

	if (rsdp) {
		if (rsdp_valid(rsdp))
			return rsdp;
		problem("the RSDP that the loader names has no signature or a wrong checksum");
	}
	/* So that the compiler does not take the small constant for a null pointer's offset. */
	__asm__("" : "+r"(ebda_segment_at));
	ebda = (uintptr_t) * (const volatile u16 *)ebda_segment_at << 4;
	if (ebda >= 0x80000 && ebda < 0xa0000) {
		rsdp = rsdp_scan(ebda, ebda + 1024);
		if (rsdp)
			return rsdp;
	}
	return rsdp_scan(BIOS_AREA_START, BIOS_AREA_END);
}

static const struct acpi_table *table_at(u64 address)
{
	const struct acpi_table *table = (const void *)address;

	if (!address || address > MAPPED_END - sizeof(*table)) {
		problem("an ACPI table lies above 4 GiB or at 0");
		return NULL;
	}
	if (table->length < sizeof(*table) || table->length > TABLE_MAX_BYTES ||
	    table->length > MAPPED_END - address) {
		problem("an ACPI table has an impossible length");
		return NULL;
	}
	if (!sums_to_zero(table, table->length)) {
		problem("an ACPI table has a wrong checksum");
		return NULL;
	}
	if (address >= BIOS_AREA_END && address < acpi.lowest_table)
		acpi.lowest_table = address;
	return table;
}

static void add_cpu(u32 apic_id, u32 flags)
{
	if (!(flags & MADT_CPU_ENABLED)) {
		if (flags & MADT_CPU_ONLINE_CAPABLE)
			acpi.nr_cpus_offline++;
		if (acpi.nr_disabled < MAX_CPUS)
			acpi.disabled_apic_ids[acpi.nr_disabled++] = apic_id;
		return;
	}
	/* A CPU may have both kinds of entry. */
	for (int i = 0; i < acpi.nr_cpus; i++) {
		if (acpi.apic_ids[i] == apic_id)
			return;
	}
	if (acpi.nr_cpus == MAX_CPUS) {
		acpi.nr_cpus_left_out++;
		problem("the MADT names more CPUs than lib/smp.h allows (MAX_CPUS)");
		return;
	}
	acpi.apic_ids[acpi.nr_cpus++] = apic_id;
}

static void add_io_apic(u64 address)
{
	if (acpi.nr_io_apics == ACPI_IO_APICS_MAX)
		problem("the MADT names more I/O APICs than arch/acpi.h allows; the rest stay as "
			"they are");
	else
		acpi.io_apics[acpi.nr_io_apics++] = address;
}

static void read_madt_entry(const struct madt_entry *entry)
{
	const struct madt_local_apic *local = (const void *)entry;
	const struct madt_local_x2apic *x2 = (const void *)entry;
	const struct madt_io_apic *io = (const void *)entry;
	const struct madt_local_apic_override *override = (const void *)entry;

	if (entry->type == MADT_LOCAL_APIC && entry->length >= sizeof(*local))
		add_cpu(local->apic_id, local->flags);
	else if (entry->type == MADT_LOCAL_X2APIC && entry->length >= sizeof(*x2))
		add_cpu(x2->apic_id, x2->flags);
	else if (entry->type == MADT_IO_APIC && entry->length >= sizeof(*io))
		add_io_apic(io->address);
	else if (entry->type == MADT_LOCAL_APIC_OVERRIDE && entry->length >= sizeof(*override))
		acpi.local_apic_base = override->address;
}

static void read_madt(const struct acpi_table *table)
{
	const struct acpi_madt *madt = (const void *)table;
	u32 offset = sizeof(*madt);

	if (table->length < sizeof(*madt)) {
		problem("the MADT is shorter than its own fields");
		return;
	}
	acpi.has_madt = true;
	acpi.has_8259 = madt->flags & MADT_PCAT_COMPAT;
	acpi.local_apic_base = madt->local_apic;
	while (table->length - offset >= sizeof(struct madt_entry)) {
		const struct madt_entry *entry = (const void *)((const char *)table + offset);

		if (entry->length < sizeof(*entry) || entry->length > table->length - offset) {
			problem("an entry of the MADT is longer than the table");
			return;
		}
		read_madt_entry(entry);
		offset += entry->length;
	}
}

static void read_fadt(const struct acpi_table *table)
{
	u32 flags = field32(table, FADT_FLAGS);
	u64 port = field32(table, FADT_PM_TMR_BLK);

	if (flags & FADT_HW_REDUCED || field8(table, FADT_PM_TMR_LEN) != 4)
		return;
	if (field64(table, FADT_X_PM_TMR_BLK + GAS_ADDRESS) &&
	    field8(table, FADT_X_PM_TMR_BLK) == GAS_SYSTEM_IO)
		port = field64(table, FADT_X_PM_TMR_BLK + GAS_ADDRESS);
	if (port <= UINT16_MAX - 3)
		acpi.pm_timer_port = port;
	acpi.pm_timer_32bit = flags & FADT_TMR_VAL_EXT;
}

static void read_hpet(const struct acpi_table *table)
{
	if (field8(table, HPET_ADDRESS) == 0)
		acpi.hpet_base = field64(table, HPET_ADDRESS + GAS_ADDRESS);
}

static void read_table(u64 address)
{
	const struct acpi_table *table = table_at(address);

	if (!table)
		return;
	if (!memcmp(table->signature, "APIC", 4) && !acpi.has_madt)
		read_madt(table);
	else if (!memcmp(table->signature, "FACP", 4))
		read_fadt(table);
	else if (!memcmp(table->signature, "HPET", 4))
		read_hpet(table);
}

void acpi_init(void)
{
	const struct acpi_rsdp *rsdp = rsdp_find();
	const struct acpi_table *root = NULL;
	u32 width = 4;

	acpi.lowest_table = MAPPED_END;
	if (!rsdp)
		return;
	if (rsdp->revision >= 2 && rsdp->xsdt && sums_to_zero(rsdp, sizeof(*rsdp))) {
		root = table_at(rsdp->xsdt);
		width = 8;
	}
	if (!root) {
		root = table_at(rsdp->rsdt);
		width = 4;
	}
	if (!root)
		return;
	for (u32 offset = sizeof(*root); offset + width <= root->length; offset += width)
		read_table(width == 8 ? field64(root, offset) : field32(root, offset));
}
