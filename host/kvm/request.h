/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the requests of the control socket (control.h) do to the machine.
 */
#ifndef KVM_REQUEST_H
#define KVM_REQUEST_H

#include "kvm/vm.h"

struct request_target {
	struct vm *vm;
	u64 started_ns; /* for stats_print() */
	bool running;	/* as far as the requester wants it */
};

/* argument may be ""; out gets the answer's text, if any. -1 with err. */
int request_act(struct request_target *t, const char *word, const char *argument, struct text *out,
		struct error *err);

#endif
