// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sorting and number parsing. The sort is a heapsort: its worst case is its usual case, it needs no
 * second buffer and no recursion.
 */
#include "stdlib.h"
#include "string.h"

typedef u64 __attribute__((may_alias)) word;

/* What a sort passes along. */
struct sort {
	u8 *base;
	size_t size;
	bool words; /* elements are made of aligned words */
	int (*cmp)(const void *, const void *);
};

static void swap(const struct sort *s, size_t i, size_t j)
{
	u8 *a = s->base + i * s->size, *b = s->base + j * s->size;

	if (s->words) {
		for (size_t n = 0; n < s->size; n += sizeof(word)) {
			word t = *(word *)(a + n);

			*(word *)(a + n) = *(word *)(b + n);
			*(word *)(b + n) = t;
		}
		return;
	}
	for (size_t n = 0; n < s->size; n++) {
		u8 t = a[n];

		a[n] = b[n];
		b[n] = t;
	}
}

static int compare(const struct sort *s, size_t i, size_t j)
{
	return s->cmp(s->base + i * s->size, s->base + j * s->size);
}

/* Elements below root form heaps: lets the one at root sink until it is no less than its children. */
static void sift_down(const struct sort *s, size_t root, size_t count)
{
	size_t child;

	/* root < count / 2: root has a left child, at 2 * root + 1. */
	for (; root < count / 2; root = child) {
		child = 2 * root + 1;
		if (child + 1 < count && compare(s, child, child + 1) < 0)
			child++;
		if (compare(s, root, child) >= 0)
			return;
		swap(s, root, child);
	}
}

void qsort(void *base, size_t count, size_t size, int (*cmp)(const void *, const void *))
{
	struct sort s = { base, size, !(((uintptr_t)base | size) % sizeof(word)), cmp };

	if (count < 2 || !size)
		return;
	for (size_t root = count / 2; root--;)
		sift_down(&s, root, count);
	for (size_t last = count - 1; last; last--) {
		swap(&s, 0, last);
		sift_down(&s, 0, last);
	}
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* 0 to 35, or -1 for what is no digit in any base. */
static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 10;
	return -1;
}

/* A parsed number: its size, its sign, and whether its size is above 64 bits (then UINT64_MAX). */
struct number {
	u64 magnitude;
	bool negative;
	bool overflow;
};

static bool is_digit_in(char c, int base)
{
	int digit = digit_value(c);

	return digit >= 0 && digit < base;
}

/* Returns behind the number, or s where there is none. */
static const char *parse_number(const char *s, int base, struct number *n)
{
	const char *p = s;

	*n = (struct number){ 0 };
	if (base < 0 || base == 1 || base > 36)
		return s;
	while (is_space(*p))
		p++;
	n->negative = *p == '-';
	if (*p == '-' || *p == '+')
		p++;
	if ((base == 0 || base == 16) && p[0] == '0' && (p[1] | 0x20) == 'x' &&
	    is_digit_in(p[2], 16)) {
		p += 2;
		base = 16;
	}
	if (base == 0)
		base = *p == '0' ? 8 : 10;
	if (!is_digit_in(*p, base))
		return s;
	for (; is_digit_in(*p, base); p++) {
		n->overflow |= __builtin_mul_overflow(n->magnitude, (u64)base, &n->magnitude);
		n->overflow |=
			__builtin_add_overflow(n->magnitude, (u64)digit_value(*p), &n->magnitude);
	}
	if (n->overflow)
		n->magnitude = UINT64_MAX;
	return p;
}

unsigned long strtoul(const char *s, char **end, int base)
{
	struct number n;
	const char *p = parse_number(s, base, &n);

	if (end)
		*end = (char *)p;
	if (n.overflow)
		return UINT64_MAX;
	return n.negative ? -n.magnitude : n.magnitude;
}

long strtol(const char *s, char **end, int base)
{
	struct number n;
	const char *p = parse_number(s, base, &n);

	if (end)
		*end = (char *)p;
	if (n.negative)
		return n.magnitude > BIT(63) ? INT64_MIN : (s64)-n.magnitude;
	return n.magnitude > INT64_MAX ? INT64_MAX : (s64)n.magnitude;
}

bool str_to_u64(const char *s, u64 *value)
{
	struct number n;
	const char *p;

	/* strtoul() takes a sign and leading space; what is to be a u64 has neither. */
	if (digit_value(*s) < 0)
		return false;
	p = parse_number(s, 0, &n);
	if (p == s || *p || n.overflow)
		return false;
	*value = n.magnitude;
	return true;
}
