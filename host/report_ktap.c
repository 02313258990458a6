// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * KTAP of a run that is over, as in its ktap.txt.
 */
#include "ktap.h"
#include "record.h"
#include "report.h"

static int write_ktap(const json_t *run, const char *dir, struct text *out, struct error *err)
{
	const json_t *tests = json_object_get(run, "tests");
	const json_t *totals = json_object_get(run, "totals");
	size_t count = json_array_size(tests);
	size_t planned = MAX(record_count(totals, "planned"), count);
	unsigned by_verdict[VERDICT_COUNT] = { 0 };

	ktap_begin(out, planned);
	for (size_t i = 0; i < count; i++) {
		const json_t *test = json_array_get(tests, i);
		struct ktap_test lines;

		ktap_test_make(&lines, test);
		ktap_add(out, i + 1, &lines);
		ktap_test_free(&lines);
		by_verdict[record_verdict(test)]++;
	}
	ktap_end(out, planned, count, by_verdict, record_count(totals, "unexpected_passes"));
	return 0;
}

const struct report_format report_format_ktap = { "ktap", "report.ktap", write_ktap };
