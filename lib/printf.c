// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The printf family of stdio.h. One formatter writes to a sink: a caller's buffer that is cut where
 * it ends, or a small buffer that is handed to the console each time it is full.
 */
#include "console.h"
#include "stdio.h"
#include "string.h"

/* Longest text that printf() gives to the console in one piece, and so in one exit where it can. */
#define PRINTF_BUFFER 1032

struct sink {
	char *buf;
	size_t size;	/* of buf */
	size_t used;	/* bytes in buf, at most size */
	u64 total;	/* bytes that were to be written; beyond INT_MAX it only grows */
	bool streaming; /* a full buf goes to the console, else what does not fit is dropped */
	bool locked;	/* streaming has begun: this CPU holds the console */
};

/* One conversion specification: "%-*.3ld". */
struct spec {
	bool minus, plus, space, zero, hash;
	u64 width;
	bool has_precision;
	u64 precision;
	enum length {
		LEN_INT,
		LEN_CHAR,
		LEN_SHORT,
		LEN_LONG
	} length;
	char conversion;
};

/* The parts of one converted argument, in the order in which they are printed. */
struct field {
	const char *prefix; /* sign or base */
	size_t prefix_len;
	u64 zeros;
	const char *body;
	size_t body_len;
};

static void sink_drain(struct sink *s)
{
	if (!s->locked) {
		console_lock();
		s->locked = true;
	}
	console_write_unlocked(s->buf, s->used);
	s->used = 0;
}

static void put(struct sink *s, const char *text, size_t len)
{
	s->total += len;
	while (len) {
		size_t n = MIN(len, s->size - s->used);

		memcpy(s->buf + s->used, text, n);
		s->used += n;
		text += n;
		len -= n;
		if (s->used < s->size)
			continue;
		if (!s->streaming)
			return;
		sink_drain(s);
	}
}

static void pad(struct sink *s, char c, u64 count)
{
	s->total += count;
	while (count) {
		size_t n = MIN(count, s->size - s->used);

		memset(s->buf + s->used, c, n);
		s->used += n;
		count -= n;
		if (s->used < s->size)
			continue;
		/* A width that nobody can print ends as an error: the console is spared it. */
		if (!s->streaming || s->total > INT32_MAX)
			return;
		sink_drain(s);
	}
}

static u64 parse_number(const char **fmt)
{
	u64 n = 0;

	for (; **fmt >= '0' && **fmt <= '9'; (*fmt)++)
		n = MIN(n * 10 + (u64)(**fmt - '0'), (u64)UINT32_MAX);
	return n;
}

static void parse_flags(const char **fmt, struct spec *spec)
{
	for (;; (*fmt)++) {
		switch (**fmt) {
		case '-':
			spec->minus = true;
			break;
		case '+':
			spec->plus = true;
			break;
		case ' ':
			spec->space = true;
			break;
		case '0':
			spec->zero = true;
			break;
		case '#':
			spec->hash = true;
			break;
		default:
			return;
		}
	}
}

static enum length parse_length(const char **fmt)
{
	switch (*(*fmt)++) {
	case 'h':
		if (**fmt != 'h')
			return LEN_SHORT;
		(*fmt)++;
		return LEN_CHAR;
	case 'l':
		if (**fmt == 'l')
			(*fmt)++;
		return LEN_LONG;
	case 'z':
	case 't':
	case 'j':
		return LEN_LONG;
	}
	(*fmt)--;
	return LEN_INT;
}

/* Reads what follows a '%'; *ap is passed by address so that the caller's goes on from there. */
static struct spec parse_spec(const char **fmt, va_list *ap)
{
	struct spec spec = { 0 };
	int n;

	parse_flags(fmt, &spec);
	if (**fmt == '*') {
		(*fmt)++;
		n = va_arg(*ap, int);
		spec.minus |= n < 0;
		spec.width = n < 0 ? -(s64)n : n;
	} else {
		spec.width = parse_number(fmt);
	}
	if (**fmt == '.') {
		(*fmt)++;
		spec.has_precision = true;
		if (**fmt == '*') {
			(*fmt)++;
			n = va_arg(*ap, int);
			spec.has_precision = n >= 0;
			spec.precision = n < 0 ? 0 : n;
		} else {
			spec.precision = parse_number(fmt);
		}
	}
	spec.length = parse_length(fmt);
	spec.conversion = **fmt;
	if (**fmt)
		(*fmt)++;
	return spec;
}

static void put_field(struct sink *s, const struct spec *spec, const struct field *f)
{
	u64 len = f->prefix_len + f->zeros + f->body_len;
	u64 padding = spec->width > len ? spec->width - len : 0;

	if (!spec->minus)
		pad(s, ' ', padding);
	put(s, f->prefix, f->prefix_len);
	pad(s, '0', f->zeros);
	put(s, f->body, f->body_len);
	if (spec->minus)
		pad(s, ' ', padding);
}

/* The digits of value end at end; returns where they begin. None for 0. */
static char *digits(char *end, u64 value, unsigned int base, bool upper)
{
	const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	for (; value; value /= base)
		*--end = set[value % base];
	return end;
}

static void put_integer(struct sink *s, const struct spec *spec, const char *prefix, u64 value,
			unsigned int base)
{
	char buf[22]; /* 64 bits in octal */
	char *end = buf + sizeof(buf), *begin = digits(end, value, base, spec->conversion == 'X');
	struct field f = { prefix, strlen(prefix), 0, begin, end - begin };
	u64 minimum = spec->has_precision ? spec->precision : 1;

	if (minimum > f.body_len)
		f.zeros = minimum - f.body_len;
	if (spec->conversion == 'o' && spec->hash && !f.zeros)
		f.zeros = 1;
	if (spec->zero && !spec->minus && !spec->has_precision &&
	    spec->width > f.prefix_len + f.zeros + f.body_len)
		f.zeros = spec->width - f.prefix_len - f.body_len;
	put_field(s, spec, &f);
}

static void put_signed(struct sink *s, const struct spec *spec, va_list *ap)
{
	s64 value = spec->length == LEN_LONG ? va_arg(*ap, s64) : va_arg(*ap, int);
	const char *sign = spec->plus ? "+" : spec->space ? " " : "";

	if (spec->length == LEN_CHAR)
		value = (s8)value;
	else if (spec->length == LEN_SHORT)
		value = (s16)value;
	put_integer(s, spec, value < 0 ? "-" : sign, value < 0 ? -(u64)value : (u64)value, 10);
}

static void put_unsigned(struct sink *s, const struct spec *spec, va_list *ap)
{
	u64 value = spec->length == LEN_LONG ? va_arg(*ap, u64) : va_arg(*ap, unsigned int);
	const char *prefix = "";

	if (spec->length == LEN_CHAR)
		value = (u8)value;
	else if (spec->length == LEN_SHORT)
		value = (u16)value;
	switch (spec->conversion) {
	case 'o':
		put_integer(s, spec, prefix, value, 8);
		break;
	case 'u':
		put_integer(s, spec, prefix, value, 10);
		break;
	default:
		if (spec->hash && value)
			prefix = spec->conversion == 'X' ? "0X" : "0x";
		put_integer(s, spec, prefix, value, 16);
	}
}

static void put_text(struct sink *s, const struct spec *spec, const char *text, size_t len)
{
	struct field f = { "", 0, 0, text, len };

	put_field(s, spec, &f);
}

static void put_string(struct sink *s, const struct spec *spec, const char *text)
{
	/* As glibc does: "(null)" whole or, where the precision has no room for it, not at all. */
	if (!text)
		text = spec->has_precision && spec->precision < 6 ? "" : "(null)";
	put_text(s, spec, text,
		 spec->has_precision ? strnlen(text, spec->precision) : strlen(text));
}

static void put_pointer(struct sink *s, const struct spec *spec, u64 value)
{
	if (value)
		put_integer(s, spec, "0x", value, 16);
	else
		put_text(s, spec, "(nil)", 5);
}

/* begin is the '%', end what follows the specification. */
static void convert(struct sink *s, const struct spec *spec, const char *begin, const char *end,
		    va_list *ap)
{
	char c;

	switch (spec->conversion) {
	case 'd':
	case 'i':
		put_signed(s, spec, ap);
		break;
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		put_unsigned(s, spec, ap);
		break;
	case 'c':
		c = (char)va_arg(*ap, int);
		put_text(s, spec, &c, 1);
		break;
	case 's':
		put_string(s, spec, va_arg(*ap, const char *));
		break;
	case 'p':
		put_pointer(s, spec, (uintptr_t)va_arg(*ap, void *));
		break;
	case '%':
		put(s, "%", 1);
		break;
	default:
		/* Unknown: shown as it stands, so that the mistake is seen. */
		put(s, begin, end - begin);
	}
}

static void format(struct sink *s, const char *fmt, va_list *ap)
{
	while (*fmt) {
		size_t plain = strcspn(fmt, "%");
		const char *begin;
		struct spec spec;

		put(s, fmt, plain);
		fmt += plain;
		if (!*fmt)
			break;
		begin = fmt++;
		spec = parse_spec(&fmt, ap);
		convert(s, &spec, begin, fmt, ap);
	}
}

/* Negative where the length is no int: what glibc calls EOVERFLOW. */
static int length_of(const struct sink *s)
{
	return s->total > INT32_MAX ? -1 : (int)s->total;
}

int vsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	struct sink s = { .buf = buf, .size = size ? size - 1 : 0 };
	va_list copy;

	va_copy(copy, ap);
	format(&s, fmt, &copy);
	va_end(copy);
	if (size)
		buf[s.used] = '\0';
	return length_of(&s);
}

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return len;
}

int vprintf(const char *fmt, va_list ap)
{
	char buf[PRINTF_BUFFER];
	struct sink s = { .buf = buf, .size = sizeof(buf), .streaming = true };
	va_list copy;

	va_copy(copy, ap);
	format(&s, fmt, &copy);
	va_end(copy);
	if (s.locked) {
		console_write_unlocked(buf, s.used);
		console_unlock();
	} else {
		console_write(buf, s.used);
	}
	return length_of(&s);
}

int printf(const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vprintf(fmt, ap);
	va_end(ap);
	return len;
}
