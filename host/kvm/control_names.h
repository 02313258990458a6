/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of the control socket (control.h) that the VMM says and the runner reads.
 */
#ifndef KVM_CONTROL_NAMES_H
#define KVM_CONTROL_NAMES_H

/* Requests. */
#define CONTROL_PAUSE	  "pause"
#define CONTROL_RESUME	  "resume"
#define CONTROL_SAVE	  "save"
#define CONTROL_RESET_IT  "reset"
#define CONTROL_PLUG	  "plug"
#define CONTROL_AFFINITY  "affinity"
#define CONTROL_SHIFT	  "shift"
#define CONTROL_CLOCKS	  "clocks"
#define CONTROL_STATS	  "stats"
#define CONTROL_REGISTERS "registers"
#define CONTROL_QUIT	  "quit"

/* Answers; CONTROL_ERROR is one as well. */
#define CONTROL_REPLY		"reply"
#define CONTROL_OK		"ok"
#define CONTROL_UNSUPPORTED	"unsupported"
#define CONTROL_BEFORE_RAW	"before-raw-ns"
#define CONTROL_AFTER_RAW	"after-raw-ns"
#define CONTROL_BEFORE_REALTIME "before-realtime-ns"
#define CONTROL_AFTER_REALTIME	"after-realtime-ns"
#define CONTROL_TEXT		"text"

/* Unasked. */
#define CONTROL_STARTED "started"
#define CONTROL_EXITED	"exited"

/* Kinds of exit. */
#define CONTROL_POWEROFF "poweroff"
#define CONTROL_RESET	 "reset"
#define CONTROL_PANICKED "panicked"
#define CONTROL_ERROR	 "error"

#endif
