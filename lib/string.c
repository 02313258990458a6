// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The functions of string.h. Plain loops: what is large here is copied a word at a time where both
 * sides are aligned, since arm64 code may run before the MMU is on, when only aligned accesses work.
 */
#include "string.h"

/* A word that may lie over objects of any type. */
typedef u64 __attribute__((may_alias)) word;

/*
 * GCC makes calls of memcpy(), memset() and strlen() out of loops that do what these do, also with
 * -ffreestanding; within the functions themselves that would be an endless recursion. A loop with
 * this in it is left alone.
 */
#define KEEP_LOOP() __asm__ volatile("")

static bool both_aligned(const void *a, const void *b)
{
	return !(((uintptr_t)a | (uintptr_t)b) % sizeof(word));
}

void *memcpy(void *dst, const void *src, size_t n)
{
	u8 *d = dst;
	const u8 *s = src;

	if (both_aligned(d, s)) {
		for (; n >= sizeof(word); n -= sizeof(word)) {
			KEEP_LOOP();
			*(word *)d = *(const word *)s;
			d += sizeof(word);
			s += sizeof(word);
		}
	}
	while (n--) {
		KEEP_LOOP();
		*d++ = *s++;
	}
	return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
	u8 *d = dst;
	const u8 *s = src;

	/* Modulo 2^64: true also where dst lies below src. */
	if ((uintptr_t)d - (uintptr_t)s >= n)
		return memcpy(dst, src, n);
	while (n--) {
		KEEP_LOOP();
		d[n] = s[n];
	}
	return dst;
}

void *memset(void *dst, int c, size_t n)
{
	u8 *d = dst;
	word pattern = 0x0101010101010101ULL * (u8)c;

	if (both_aligned(d, NULL)) {
		for (; n >= sizeof(word); n -= sizeof(word)) {
			KEEP_LOOP();
			*(word *)d = pattern;
			d += sizeof(word);
		}
	}
	while (n--) {
		KEEP_LOOP();
		*d++ = (u8)c;
	}
	return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *x = a, *y = b;

	for (; n; n--, x++, y++) {
		if (*x != *y)
			return *x - *y;
	}
	return 0;
}

void *memchr(const void *s, int c, size_t n)
{
	const u8 *p = s;

	for (; n; n--, p++) {
		if (*p == (u8)c)
			return (void *)p;
	}
	return NULL;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	for (; s[n]; n++)
		KEEP_LOOP();
	return n;
}

size_t strnlen(const char *s, size_t max)
{
	size_t n = 0;

	for (; n < max && s[n]; n++)
		KEEP_LOOP();
	return n;
}

int strcmp(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return (u8)*a - (u8)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++) {
		if (*a != *b || !*a)
			return (u8)*a - (u8)*b;
	}
	return 0;
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)s;
		if (!*s)
			return NULL;
	}
}

char *strrchr(const char *s, int c)
{
	const char *found = NULL;

	for (;; s++) {
		if (*s == (char)c)
			found = s;
		if (!*s)
			return (char *)found;
	}
}

char *strstr(const char *haystack, const char *needle)
{
	size_t len = strlen(needle);

	for (;; haystack++) {
		if (!strncmp(haystack, needle, len))
			return (char *)haystack;
		if (!*haystack)
			return NULL;
	}
}

char *strcpy(char *dst, const char *src)
{
	return memcpy(dst, src, strlen(src) + 1);
}

char *strncpy(char *dst, const char *src, size_t n)
{
	size_t len = strnlen(src, n);

	memcpy(dst, src, len);
	memset(dst + len, 0, n - len);
	return dst;
}

char *strcat(char *dst, const char *src)
{
	strcpy(dst + strlen(dst), src);
	return dst;
}

size_t strspn(const char *s, const char *accept)
{
	size_t n = 0;

	while (s[n] && strchr(accept, s[n]))
		n++;
	return n;
}

size_t strcspn(const char *s, const char *reject)
{
	size_t n = 0;

	while (s[n] && !strchr(reject, s[n]))
		n++;
	return n;
}
