/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host's end of the guest's console: output collected into lines for stdout, input from stdin
 * kept until the guest asks for it. The devices (16550, PL011, bulk console) are in front of it.
 */
#ifndef KVM_CONSOLE_H
#define KVM_CONSOLE_H

#include <pthread.h>
#include "types.h"

/* Output that waits for its line's end, and input that waits for the guest. */
#define CONSOLE_OUTPUT_MAX 65536
#define CONSOLE_INPUT_MAX  4096

struct console {
	int out_fd;
	int flush_fd; /* timerfd: an unfinished line is due */
	bool flush_armed;
	bool dead; /* nobody reads stdout any more */
	char output[CONSOLE_OUTPUT_MAX];
	size_t output_len;
	pthread_mutex_t input_lock;
	char input[CONSOLE_INPUT_MAX];
	size_t input_len;
	int room_fd;	    /* eventfd: the guest took input when there was no room left */
	u64 lines, bytes;   /* written by the guest */
	u64 last_output_ns; /* CLOCK_MONOTONIC, of the last line's end */
};

struct vm;

int console_open(struct console *c, int out_fd);
void console_close(struct console *c);

/* By the devices, under vm->device_lock. A vCPU that is to park keeps what is not yet written. */
void console_put(struct vm *vm, const char *data, size_t len);
/* The next byte of input, or -1. */
int console_get(struct vm *vm);
bool console_has_input(struct vm *vm);

/* By the main thread. How much input fits; what is more than that is lost. */
size_t console_room(struct vm *vm);
void console_give_input(struct vm *vm, const char *data, size_t len);
/* flush_fd is readable. Never blocks. */
void console_flush(struct vm *vm);
/* All vCPUs are parked: all that waits, as long as somebody takes it within a second. */
void console_drain(struct vm *vm);

#endif
