/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of the control socket (control.h) that the VMM says and the runner reads.
 */
#ifndef KVM_CONTROL_NAMES_H
#define KVM_CONTROL_NAMES_H

#define CONTROL_STARTED "started"
#define CONTROL_EXITED	"exited"

/* Kinds of exit. */
#define CONTROL_POWEROFF "poweroff"
#define CONTROL_RESET	 "reset"
#define CONTROL_PANICKED "panicked"
#define CONTROL_ERROR	 "error"

#endif
