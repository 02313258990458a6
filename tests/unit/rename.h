/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives libcflat's functions that are also the C library's a prefix of their own, so that both can
 * be in one program. The Makefile includes it before every file of libcflat that is built for the
 * unit tests; a test includes cflat.h, which ends it again.
 */
#define memcpy		  cflat_memcpy
#define memmove		  cflat_memmove
#define memset		  cflat_memset
#define memcmp		  cflat_memcmp
#define memchr		  cflat_memchr
#define strlen		  cflat_strlen
#define strnlen		  cflat_strnlen
#define strcmp		  cflat_strcmp
#define strncmp		  cflat_strncmp
#define strchr		  cflat_strchr
#define strrchr		  cflat_strrchr
#define strstr		  cflat_strstr
#define strcpy		  cflat_strcpy
#define strncpy		  cflat_strncpy
#define strcat		  cflat_strcat
#define strspn		  cflat_strspn
#define strcspn		  cflat_strcspn
#define vsnprintf	  cflat_vsnprintf
#define snprintf	  cflat_snprintf
#define vprintf		  cflat_vprintf
#define printf		  cflat_printf
#define qsort		  cflat_qsort
#define strtoul		  cflat_strtoul
#define strtol		  cflat_strtol
#define __stack_chk_fail  cflat_stack_chk_fail
#define __stack_chk_guard cflat_stack_chk_guard
