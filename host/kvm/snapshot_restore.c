// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a snapshot. Everything is checked against the bytes that there are, and the checksum first,
 * so that a damaged file is told from one that was never right.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "kvm/fault_hooks.h"
#include "kvm/image_file.h"
#include "kvm/snapshot.h"
#include "kvm/snapshot_format.h"
#include "util/memory.h"

#define STRING_MAX	  65536
#define STATE_RECORDS_MAX 4096

struct snapshot {
	struct image_file file; /* when it came from one */
	const char *name;
	const u8 *data;
	size_t size;
	char *image, *append;
	struct state state;
};

/* ---- header ------------------------------------------------------------------------------------- */

static const char *arch_name(u32 arch)
{
	switch (arch) {
	case SNAPSHOT_X86_64:
		return "x86_64";
	case SNAPSHOT_ARM64:
		return "arm64";
	default:
		return "an architecture that this VMM does not know";
	}
}

static int check_header(const struct snapshot *s, struct error *err)
{
	struct snapshot_header h;
	u64 sum;

	if (s->size < sizeof(h) || memcmp(s->data, SNAPSHOT_MAGIC, sizeof(SNAPSHOT_MAGIC)))
		return error_set(err, "%s: no snapshot of this VMM", s->name);
	memcpy(&h, s->data, sizeof(h));
	if (h.version != SNAPSHOT_VERSION)
		return error_set(err, "%s: a snapshot of version %u; this VMM reads version %d",
				 s->name, h.version, SNAPSHOT_VERSION);
	if (h.arch != SNAPSHOT_ARCH)
		return error_set(err, "%s: a snapshot of %s; this VMM runs %s", s->name,
				 arch_name(h.arch), arch_name(SNAPSHOT_ARCH));
	if (h.file_size != s->size)
		return error_set(err,
				 "%s: it has %zu bytes and was written with %llu: cut short, "
				 "or something was added",
				 s->name, s->size, (unsigned long long)h.file_size);
	sum = snapshot_checksum(SNAPSHOT_CHECKSUM_START, s->data + sizeof(h), s->size - sizeof(h));
	if (sum != h.checksum || (s->size - sizeof(h)) % 8)
		return error_set(err, "%s: damaged: its checksum is wrong", s->name);
	return 0;
}

/* ---- records ------------------------------------------------------------------------------------ */

/* The record at *offset and its payload; moves on. -1 at what is none. */
static int next_record(const struct snapshot *s, size_t *offset, struct snapshot_record *r,
		       const u8 **payload, struct error *err)
{
	size_t left = s->size - *offset;

	if (left < sizeof(*r))
		return error_set(err, "%s: malformed: no end record", s->name);
	memcpy(r, s->data + *offset, sizeof(*r));
	left -= sizeof(*r);
	if (r->size > left || r->size + SNAPSHOT_PADDING(r->size) > left)
		return error_set(err,
				 "%s: malformed: the record at byte %zu is longer than the "
				 "file",
				 s->name, *offset);
	*payload = s->data + *offset + sizeof(*r);
	*offset += sizeof(*r) + r->size + SNAPSHOT_PADDING(r->size);
	return 0;
}

static int read_machine(struct snapshot *s, const struct snapshot_record *r, const u8 *payload,
			struct machine_options *o, struct error *err)
{
	struct snapshot_machine m;

	if (r->kind != RECORD_MACHINE || r->size != sizeof(m))
		return error_set(err, "%s: malformed: it does not begin with a machine", s->name);
	memcpy(&m, payload, sizeof(m));
	if (!m.smp || m.smp > VCPUS_MAX || !m.memory_mib || m.memory_mib > 65536 ||
	    m.maxcpus < m.smp || m.maxcpus > VCPUS_MAX || m.flags & ~(u32)MACHINE_FLAGS_KNOWN)
		return error_set(err,
				 "%s: malformed: a machine with %u of %u vCPUs, %u MiB, flags 0x%x",
				 s->name, m.smp, m.maxcpus, m.memory_mib, m.flags);
	o->maxcpus = m.maxcpus;
	o->smp = m.smp;
	o->memory_mib = m.memory_mib;
	o->el2 = m.flags & MACHINE_EL2;
	o->hv_time = m.flags & MACHINE_HV_TIME;
	o->hv_stimer = m.flags & MACHINE_HV_STIMER;
	o->no_bulk_console = m.flags & MACHINE_NO_BULK;
	return 0;
}

static int read_string(struct snapshot *s, const struct snapshot_record *r, const u8 *payload,
		       char **out, struct error *err)
{
	if (*out || r->size > STRING_MAX || memchr(payload, '\0', r->size))
		return error_set(err, "%s: malformed: an image's name or command line", s->name);
	*out = text_copy_bytes((const char *)payload, r->size);
	return 0;
}

static int read_state(struct snapshot *s, const struct snapshot_record *r, const u8 *payload,
		      struct error *err)
{
	if (r->name[STATE_NAME_MAX] || r->size > STATE_ITEM_MAX)
		return error_set(err,
				 "%s: malformed: a state record without a name, or of %llu "
				 "bytes",
				 s->name, (unsigned long long)r->size);
	if (s->state.nr_items == STATE_RECORDS_MAX)
		return error_set(err, "%s: malformed: more than %d state records", s->name,
				 STATE_RECORDS_MAX);
	if (state_find(&s->state, r->name, r->vcpu))
		return error_set(err, "%s: malformed: state \"%s\" twice", s->name, r->name);
	state_add(&s->state, r->name, r->vcpu, payload, r->size);
	return 0;
}

static int read_record(struct snapshot *s, const struct snapshot_record *r, const u8 *payload,
		       struct error *err)
{
	switch (r->kind) {
	case RECORD_IMAGE:
		return read_string(s, r, payload, &s->image, err);
	case RECORD_APPEND:
		return read_string(s, r, payload, &s->append, err);
	case RECORD_STATE:
		return read_state(s, r, payload, err);
	case RECORD_MEMORY: /* when there is a machine to put it into */
		return 0;
	default:
		return error_set(err, "%s: malformed: a record of kind %u", s->name, r->kind);
	}
}

static int parse(struct snapshot *s, struct machine_options *o, struct error *err)
{
	size_t offset = sizeof(struct snapshot_header);
	struct snapshot_record r;
	const u8 *payload;

	if (check_header(s, err) || next_record(s, &offset, &r, &payload, err) ||
	    read_machine(s, &r, payload, o, err))
		return -1;
	for (;;) {
		if (next_record(s, &offset, &r, &payload, err))
			return -1;
		if (r.kind == RECORD_END)
			break;
		if (read_record(s, &r, payload, err))
			return -1;
	}
	if (offset != s->size || !s->image || !s->append)
		return error_set(err, "%s: malformed: %s", s->name,
				 offset != s->size ? "records after its end"
						   : "it does not name its image");
	o->image = s->image;
	o->append = s->append;
	return 0;
}

/* ------------------------------------------------------------------------------------------------- */

struct snapshot *snapshot_parse(const char *name, const void *data, size_t size,
				struct machine_options *options, struct error *err)
{
	struct snapshot *s = memory_zalloc(sizeof(*s));

	s->name = name;
	s->data = data;
	s->size = size;
	if (!parse(s, options, err))
		return s;
	snapshot_free(s);
	return NULL;
}

struct snapshot *snapshot_open(const char *path, struct machine_options *options, struct error *err)
{
	struct image_file file;
	struct snapshot *s;

	if (image_file_read(&file, path, SNAPSHOT_FILE_MAX, err))
		return NULL;
	s = snapshot_parse(path, file.data, file.size, options, err);
	if (s)
		s->file = file;
	else
		image_file_free(&file);
	return s;
}

static int restore_memory(const struct snapshot *s, struct vm *vm, struct error *err)
{
	size_t offset = sizeof(struct snapshot_header);
	struct snapshot_record r;
	const u8 *payload;
	void *to;

	for (;;) {
		if (next_record(s, &offset, &r, &payload, err))
			return -1;
		if (r.kind == RECORD_END)
			return 0;
		if (r.kind != RECORD_MEMORY)
			continue;
		to = vm_memory(vm, r.address, r.size);
		if (!to)
			return error_set(err, "%s: it has memory at 0x%llx, the machine has not",
					 s->name, (unsigned long long)r.address);
		memcpy(to, payload, r.size);
	}
}

int snapshot_restore(struct snapshot *s, struct vm *vm, struct error *err)
{
	if (restore_memory(s, vm, err))
		return -1;
	image_file_free(&s->file);
	fault_restoring(vm, &s->state);
	if (state_restore(vm, &s->state, err))
		return error_prefix(err, "%s", s->name);
	fault_restored(vm, &s->state);
	return 0;
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	image_file_free(&s->file);
	state_free(&s->state);
	free(s->image);
	free(s->append);
	free(s);
}
