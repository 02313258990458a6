// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ACPI tables (ACPI 6.4, chapter 5), in the BIOS area where both a loader's RSDP and a search find
 * them: RSDP, RSDT, XSDT, MADT, FADT and a DSDT that holds the way to switch off and nothing else.
 */
#include <string.h>
#include "kvm/vm.h"

#define CREATOR "KTT "

struct header {
	char signature[4];
	u32 length;
	u8 revision;
	u8 checksum;
	char oem[6];
	char oem_table[8];
	u32 oem_revision;
	char creator[4];
	u32 creator_revision;
} __attribute__((packed));

struct rsdp {
	char signature[8];
	u8 checksum;
	char oem[6];
	u8 revision;
	u32 rsdt;
	u32 length;
	u64 xsdt;
	u8 extended_checksum;
	u8 reserved[3];
} __attribute__((packed));

struct address {
	u8 space; /* 1: system I/O */
	u8 bits;
	u8 offset;
	u8 access_size;
	u64 address;
} __attribute__((packed));

/* ACPI 6.4, table 5.9. */
struct fadt {
	struct header header;
	u32 facs;
	u32 dsdt;
	u8 reserved_40;
	u8 preferred_profile;
	u16 sci_interrupt;
	u32 smi_command;
	u8 acpi_enable, acpi_disable, s4bios, pstate_control;
	u32 pm1a_event, pm1b_event, pm1a_control, pm1b_control, pm2_control, pm_timer;
	u32 gpe0, gpe1;
	u8 pm1_event_length, pm1_control_length, pm2_control_length, pm_timer_length;
	u8 gpe0_length, gpe1_length, gpe1_base, cst_control;
	u16 c2_latency, c3_latency, flush_size, flush_stride;
	u8 duty_offset, duty_width, day_alarm, month_alarm, century;
	u16 boot_architecture;
	u8 reserved_111;
	u32 flags;
	struct address reset_register;
	u8 reset_value;
	u16 arm_boot_architecture;
	u8 minor_version;
	u64 x_facs, x_dsdt;
	struct address x_pm1a_event, x_pm1b_event, x_pm1a_control, x_pm1b_control, x_pm2_control;
	struct address x_pm_timer, x_gpe0, x_gpe1;
} __attribute__((packed));

_Static_assert(sizeof(struct fadt) == 244, "ACPI 3.0 to 4.0: a FADT of revision 4 has 244 bytes");

#define FADT_REVISION		 4
#define FADT_FLAG_WBINVD	 BIT(0)
#define FADT_FLAG_RESET_REGISTER BIT(10)
#define BOOT_LEGACY_DEVICES	 BIT(0)
#define BOOT_NO_VGA		 BIT(2)
#define BOOT_NO_CMOS_RTC	 BIT(5)
#define RESET_VALUE		 0x06
#define SCI_INTERRUPT		 9

struct madt {
	struct header header;
	u32 local_apic;
	u32 flags;
} __attribute__((packed));

#define MADT_PCAT_COMPAT 1

struct madt_local_apic {
	u8 type, length;
	u8 processor, apic_id;
	u32 flags;
} __attribute__((packed));

/* ACPI 6.4, 5.2.12.2.1: there, or to come */
#define MADT_ENABLED	    BIT(0)
#define MADT_ONLINE_CAPABLE BIT(1)

struct madt_io_apic {
	u8 type, length;
	u8 id, reserved;
	u32 address;
	u32 gsi_base;
} __attribute__((packed));

/* IRQ 0, the 8254, is I/O APIC input 2 (arch/x86/kvm/irq_comm.c has the routes of KVM's irqchip). */
struct madt_source_override {
	u8 type, length;
	u8 bus, source;
	u32 gsi;
	u16 flags;
} __attribute__((packed));

/* Name (\_S5, Package () { 5, 0, 0, 0 }): ACPI 6.4, 7.4.2 and 20.2. */
static const u8 aml_s5[] = { 0x08, '_',	 'S',  '5',  '_',  0x12, 0x07,
			     0x04, 0x0a, 0x05, 0x00, 0x00, 0x00 };

/* Where the next table goes. */
struct writer {
	struct vm *vm;
	u64 next;
};

static u8 checksum(const void *data, size_t len)
{
	const u8 *bytes = data;
	u8 sum = 0;

	while (len--)
		sum += *bytes++;
	return -sum;
}

/* Room for a table; 4 KiB are more than any of them needs (64 vCPUs: 8 bytes each). */
static void *place(struct writer *w, size_t size, u64 *address)
{
	*address = w->next;
	w->next = ALIGN_UP(w->next + size, 64ULL);
	return vm_memory(w->vm, *address, size);
}

static void finish(struct header *h, const char *signature, u8 revision, size_t length)
{
	memcpy(h->signature, signature, 4);
	h->length = length;
	h->revision = revision;
	memcpy(h->oem, "KTT   ", 6);
	memcpy(h->oem_table, "KTTVMM  ", 8);
	h->oem_revision = 1;
	memcpy(h->creator, CREATOR, 4);
	h->creator_revision = 1;
	h->checksum = 0;
	h->checksum = checksum(h, length);
}

static u64 write_madt(struct writer *w)
{
	struct vm *vm = w->vm;
	size_t length = sizeof(struct madt) + vm->max_vcpus * sizeof(struct madt_local_apic) +
			sizeof(struct madt_io_apic) + sizeof(struct madt_source_override);
	u64 address;
	struct madt *madt = place(w, length, &address);
	struct madt_local_apic *local = (void *)(madt + 1);
	struct madt_io_apic *io = (void *)(local + vm->max_vcpus);
	struct madt_source_override *timer = (void *)(io + 1);

	madt->local_apic = LOCAL_APIC_ADDRESS;
	madt->flags = MADT_PCAT_COMPAT;
	for (unsigned int i = 0; i < vm->max_vcpus; i++)
		local[i] = (struct madt_local_apic){
			.type = 0,
			.length = sizeof(*local),
			.processor = i,
			.apic_id = i, /* cpuid.c says the same */
			.flags = i < vm->nr_vcpus ? MADT_ENABLED : MADT_ONLINE_CAPABLE,
		};
	*io = (struct madt_io_apic){ .type = 1, .length = sizeof(*io), .address = IO_APIC_ADDRESS };
	*timer = (struct madt_source_override){ .type = 2, .length = sizeof(*timer), .gsi = 2 };
	finish(&madt->header, "APIC", 3, length);
	return address;
}

static u64 write_dsdt(struct writer *w)
{
	size_t length = sizeof(struct header) + sizeof(aml_s5);
	u64 address;
	struct header *dsdt = place(w, length, &address);

	memcpy(dsdt + 1, aml_s5, sizeof(aml_s5));
	finish(dsdt, "DSDT", 2, length);
	return address;
}

/* No PM timer and no PM1 events: their lengths are 0, as 4.8.3 wants it for what is not there. */
static u64 write_fadt(struct writer *w, u64 dsdt)
{
	u64 address;
	struct fadt *f = place(w, sizeof(*f), &address);

	f->dsdt = dsdt;
	f->x_dsdt = dsdt;
	f->sci_interrupt = SCI_INTERRUPT;
	f->pm1a_control = PORT_PM1_CONTROL;
	f->pm1_control_length = 2;
	f->x_pm1a_control = (struct address){
		.space = 1, .bits = 16, .access_size = 2, .address = PORT_PM1_CONTROL
	};
	f->boot_architecture = BOOT_LEGACY_DEVICES | BOOT_NO_VGA | BOOT_NO_CMOS_RTC;
	f->flags = FADT_FLAG_WBINVD | FADT_FLAG_RESET_REGISTER;
	f->reset_register = (struct address){
		.space = 1, .bits = 8, .access_size = 1, .address = PORT_RESET_CONTROL
	};
	f->reset_value = RESET_VALUE;
	finish(&f->header, "FACP", FADT_REVISION, sizeof(*f));
	return address;
}

static u64 write_root(struct writer *w, const char *signature, size_t width, const u64 *tables,
		      size_t nr_tables)
{
	size_t length = sizeof(struct header) + nr_tables * width;
	u64 address;
	struct header *root = place(w, length, &address);

	for (size_t i = 0; i < nr_tables; i++)
		memcpy((u8 *)(root + 1) + i * width, &tables[i], width);
	finish(root, signature, 1, length);
	return address;
}

u64 acpi_write(struct vm *vm)
{
	struct writer w = { vm, ACPI_ADDRESS };
	u64 address, tables[2];
	struct rsdp *rsdp = place(&w, sizeof(*rsdp), &address);

	tables[0] = write_fadt(&w, write_dsdt(&w));
	tables[1] = write_madt(&w);
	memcpy(rsdp->signature, "RSD PTR ", 8);
	memcpy(rsdp->oem, "KTT   ", 6);
	rsdp->revision = 2;
	rsdp->length = sizeof(*rsdp);
	rsdp->rsdt = write_root(&w, "RSDT", 4, tables, ARRAY_SIZE(tables));
	rsdp->xsdt = write_root(&w, "XSDT", 8, tables, ARRAY_SIZE(tables));
	rsdp->checksum = checksum(rsdp, 20); /* ACPI 1.0's part */
	rsdp->extended_checksum = checksum(rsdp, sizeof(*rsdp));
	return address;
}
