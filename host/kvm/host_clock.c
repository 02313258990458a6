// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the host's clocks.
 */
#include "kvm/host_clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "kvm/vm.h"

/* A thread that loses its CPU between two readings of one pair hardly does so in all of them. */
#define PAIRS 5

static u64 clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

struct stamp stamp_now(void)
{
	return (struct stamp){ clock_ns(CLOCK_MONOTONIC_RAW), clock_ns(CLOCK_REALTIME) };
}

struct counter_pair counter_pair_now(void)
{
	struct counter_pair best = { .width = UINT64_MAX };

	for (int i = 0; i < PAIRS; i++) {
		u64 before = host_counter();
		u64 realtime_ns = clock_ns(CLOCK_REALTIME);
		u64 width = host_counter() - before;

		if (width < best.width)
			best = (struct counter_pair){ before + width / 2, realtime_ns, width };
	}
	return best;
}

/* Documentation/admin-guide/sysctl/kernel.rst, "random": a new one every boot. */
static void read_boot_id(char *id, size_t size)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, id, size - 1);

	if (fd >= 0)
		close(fd);
	memset(id + MAX(n, 0), 0, size - MAX(n, 0));
	id[strcspn(id, "\n")] = '\0';
}

void host_clock_read(struct host_clock *h)
{
	memset(h, 0, sizeof(*h));
	read_boot_id(h->boot_id, sizeof(h->boot_id));
	h->pair = counter_pair_now();
}

bool host_clock_same_boot(const struct host_clock *h)
{
	char now[sizeof(h->boot_id)];

	read_boot_id(now, sizeof(now));
	return *now && !strncmp(now, h->boot_id, sizeof(now));
}

u64 host_clock_elapsed_ns(const struct host_clock *h, u64 realtime_ns)
{
	return realtime_ns > h->pair.realtime_ns ? realtime_ns - h->pair.realtime_ns : 0;
}

int host_clock_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		    struct error *err)
{
	struct host_clock now;

	host_clock_read(&now);
	vm->clocks_at = stamp_now();
	state_add(out, name, STATE_OF_VM, &now, sizeof(now));
	return 0;
}

int host_clock_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
		       struct error *err)
{
	if (state_check_size(item, sizeof(vm->saved_host), err))
		return -1;
	memcpy(&vm->saved_host, item->data, sizeof(vm->saved_host));
	return 0;
}
