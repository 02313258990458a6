// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a guest prints. The first byte says into what pieces the rest is cut on its way, which must
 * make no difference: it is read twice, once in one piece, and both results must be the same.
 */
#include "fuzz.h"

#include "guest_output.h"
#include "judge.h"

static const struct test test = { .name = "fuzzed", .key = "x86_64/fuzzed", .image = "fuzzed" };

static void on_event(void *ctx)
{
}

static void on_call(void *ctx, json_t *fields)
{
	FUZZ_EXPECT(json_is_object(fields));
}

static void on_panic(void *ctx, bool backtrace)
{
}

static const struct guest_output_events events = {
	.hello = on_event,
	.call = on_call,
	.panic = on_panic,
	.end = on_event,
};

static void read_in_pieces(struct test_result *r, const char *data, size_t size, size_t piece)
{
	struct guest_output *g;

	test_result_init(r, &test, 1);
	g = guest_output_new(r, &events, NULL);
	for (size_t at = 0; at < size; at += piece)
		guest_output_feed(g, data + at, size - at < piece ? size - at : piece);
	guest_output_finish(g, NULL);
	FUZZ_EXPECT(guest_output_ended(g) || r->verdict == VERDICT_ERROR);
	guest_output_free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct test_result whole, cut;

	if (!size)
		return 0;
	read_in_pieces(&whole, (const char *)data + 1, size - 1, size);
	read_in_pieces(&cut, (const char *)data + 1, size - 1, data[0] ? data[0] : 1);
	FUZZ_EXPECT(whole.verdict == cut.verdict);
	FUZZ_EXPECT(whole.nr_checks == cut.nr_checks);
	FUZZ_EXPECT(!whole.reason == !cut.reason);
	FUZZ_EXPECT(!whole.reason || !strcmp(whole.reason, cut.reason));
	FUZZ_EXPECT(json_equal(whole.measurements, cut.measurements));
	test_result_free(&whole);
	test_result_free(&cut);
	return 0;
}
