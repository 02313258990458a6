/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of the line protocol between an image and the runner: the only header both include.
 * docs/protocol.md tells what each line means. Verdicts are KTAP version 1 and need no names here.
 *
 * A protocol line is PROTO_PREFIX, one of the words below, then key=value fields separated by one
 * space. A value has no space, or is the last field and runs to the end of the line where the
 * field is called "text". Lines end in \n (a \r before it is dropped).
 */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#define PROTO_VERSION 1
#define PROTO_PREFIX  "@ktt "

/* Longest line of the protocol, '\n' not counted; a longer one is log. */
#define PROTO_LINE_MAX 1023

/* Guest to runner. A pc of a caller is that of its call instruction, so it can be looked up as it is. */
#define PROTO_HELLO	"hello"	    /* version= arch= image= : first line of every image */
#define PROTO_CALL	"call"	    /* id= action= when=now|after-ms=N … : a host call */
#define PROTO_MEASURE	"measure"   /* name= unit= n= … : one measurement */
#define PROTO_BACKTRACE "backtrace" /* pc=0x…,0x…,… : link-time addresses, innermost first */
#define PROTO_PANIC	"panic"	    /* text=… : the image gives up; no verdict follows */
#define PROTO_CHECK	"check" /* name= cpu= guards=A1,A2 text= : of a failure, or list-checks */
#define PROTO_END	"end"	/* checks= failed= : last line; parents of sub-checks not counted */

/* Runner to guest. */
#define PROTO_REPLY "reply" /* id= status=ok|unsupported|error … */

/* Host calls' actions; when=now means that the guest waits for the reply. */
#define PROTO_ACTION_STAMP	"stamp" /* reply: raw-ns= realtime-ns= : the host's clocks, now */
#define PROTO_ACTION_ECHO	"echo" /* text=… ; reply: text=… : the console in both directions */
#define PROTO_ACTION_GENERATION "generation" /* reply: generation= */
#define PROTO_ACTION_POLICY	"policy" /* reply: counter-pause=… … : what the VMM promises */

/* What the host does to the guest; reply: generation= stop-before-raw-ns= … */
#define PROTO_ACTION_PAUSE    "pause"	 /* ms=N virtual=yes */
#define PROTO_ACTION_SNAPSHOT "snapshot" /* its state to a file, and on */
#define PROTO_ACTION_RESTORE  "restore"	 /* down-ms=N : on from a file, in a new machine */
#define PROTO_ACTION_MIGRATE  "migrate"	 /* count=N */
#define PROTO_ACTION_RESET    "reset"	 /* no reply: the image begins anew */
#define PROTO_ACTION_PLUG     "plug"	 /* one vCPU more */
#define PROTO_ACTION_MOVE     "move"	 /* ms=N for-ms=M */
#define PROTO_ACTION_LOAD     "load"	 /* for-ms=M */

#endif
