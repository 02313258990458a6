/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket: a program that started the VMM tells it what to do with the machine. Lines of
 * text in both directions.
 *
 * Requests are "ID WORD[ ARGUMENT]\n", ID being a number of the requester's:
 *   pause          every vCPU stops, its I/O completed
 *   resume
 *   save PATH      a snapshot; pauses for it, and resumes only where the machine was running
 *   reset          as by a power cycle; goes on running where the machine was running
 *   plug           one vCPU more, of --maxcpus
 *   affinity CPUS  the vCPUs' threads to these CPUs of the host: "0,2"
 *   shift NS       counters and clocks of a paused machine move on, as if NS had passed
 *   clocks         the guest's counters and clocks as KVM has them, for people
 *   stats          see stats.h
 *   registers      of every vCPU
 *   quit
 * Each is answered, in order, by "reply ID ok TIMES[ text=TEXT]\n", by "reply ID unsupported TEXT\n"
 * where it cannot be done here at all, or by "reply ID error TEXT\n". TIMES give the host's clocks in
 * ns before the request was acted on and after: before-raw-ns= after-raw-ns= (of
 * CLOCK_MONOTONIC_RAW), before-realtime-ns= after-realtime-ns=. The answer to pause comes after all
 * that the guest has printed.
 *
 * Unasked come "started TIMES\n" when the vCPUs have been let go, between an instant before the guest's
 * clocks were set to go on and now, and "exited KIND STATUS TEXT\n" when the machine ended by itself,
 * KIND being poweroff, reset, panicked or error. The VMM ends after it, and also when the socket is
 * closed.
 *
 * In TEXT a newline is "\n" and a backslash "\\".
 */
#ifndef KVM_CONTROL_H
#define KVM_CONTROL_H

#include "kvm/vm.h"
#include "util/loop.h"

struct control;

/* quit is called from the loop when the VMM is to end. started_ns: for stats_print(). */
struct control *control_new(struct vm *vm, struct loop *loop, int fd, u64 started_ns,
			    void (*quit)(void *ctx), void *ctx);
void control_started(struct control *c);
void control_ended(struct control *c);
void control_free(struct control *c);

#endif
