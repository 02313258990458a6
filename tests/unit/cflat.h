/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libcflat beside the C library: what both have is cflat_… here (rename.h), everything else goes by
 * its own name. Include it after all of the C library's headers.
 */
#ifndef UNIT_CFLAT_H
#define UNIT_CFLAT_H

#include "rename.h"
#include "../../lib/libcflat.h"
#include "../../lib/console.h"
#include "../../lib/protocol.h"
#include "../../lib/uart16550.h"

#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef memchr
#undef strlen
#undef strnlen
#undef strcmp
#undef strncmp
#undef strchr
#undef strrchr
#undef strstr
#undef strcpy
#undef strncpy
#undef strcat
#undef strspn
#undef strcspn
#undef vsnprintf
#undef snprintf
#undef vprintf
#undef printf
#undef qsort
#undef strtoul
#undef strtol
#undef __stack_chk_fail
#undef __stack_chk_guard

#endif
