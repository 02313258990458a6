/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every image includes: the freestanding library in one header.
 */
#ifndef LIBCFLAT_H
#define LIBCFLAT_H

#include "types.h"
#include "alloc.h"
#include "args.h"
#include "clock.h"
#include "hostcall.h"
#include "muldiv.h"
#include "panic.h"
#include "report.h"
#include "smp.h"
#include "spin.h"
#include "spinlock.h"
#include "stdio.h"
#include "stdlib.h"
#include "string.h"

/* Every image defines it; its end is the image's end. */
int main(void);

#endif
