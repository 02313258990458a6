// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints comparisons: one line a benchmark, before -> after, and what the line is worth.
 */
#include "compare_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "compare_environment.h"
#include "util/text.h"

/* Of instructions, QEMU's icount with shift=0 has one a nanosecond; a clock of 1 GHz shows each. */
#define HZ_OF_INSTRUCTIONS 1e9
#define HZ_TOLERANCE	   0.001

static const char *const words[] = {
	[CHANGE_NONE] = "~",
	[CHANGE_SLOWER] = "slower",
	[CHANGE_FASTER] = "faster",
	[CHANGE_UNKNOWN] = "?",
};

static const char *unit_of(const struct compare_row *row)
{
	double hz = row->old->hz;

	if (row->exact && fabs(hz / HZ_OF_INSTRUCTIONS - 1) < HZ_TOLERANCE)
		return "instructions";
	return row->unit;
}

static int name_width(const struct comparison *c)
{
	int width = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct benchmark *b = c->rows[i].old ? c->rows[i].old : c->rows[i].new;

		width = MAX(width, (int)strlen(b->key));
	}
	return width;
}

static double percent(double ratio)
{
	return (ratio - 1) * 100;
}

static void print_exact(const struct compare_row *row, FILE *out)
{
	double difference = row->after - row->before;

	if (row->change == CHANGE_NONE)
		fprintf(out, "  %s\n", difference == 0 ? "~  equal" : "~  boots differ as much");
	else
		fprintf(out, "  %s by %.10g %s\n", words[row->change], fabs(difference),
			unit_of(row));
}

static void print_statistics(const struct compare_row *row, double threshold, FILE *out)
{
	fprintf(out, "  [%+.1f %%, %+.1f %%]  p %.4f", percent(row->interval.low),
		percent(row->interval.high), row->p);
	if (row->boots_needed)
		fprintf(out, "  ~  too few boots to tell: each file needs %zu\n",
			row->boots_needed);
	else
		fprintf(out, "  %s%s  (from %.1f %%)\n", words[row->change],
			row->change == CHANGE_NONE && row->p <= COMPARE_ALPHA
				? "  below the threshold"
				: "",
			row->detectable * 100);
}

static void print_row(const struct comparison *c, const struct compare_row *row, int width,
		      FILE *out)
{
	const struct benchmark *b = row->old ? row->old : row->new;

	fprintf(out, "%-*s  ", width, b->key);
	if (row->change == CHANGE_UNKNOWN) {
		fprintf(out, "?  %s\n", row->reason);
		return;
	}
	fprintf(out, "%10.2f -> %10.2f %-12s  ", row->before, row->after, unit_of(row));
	if (row->before > 0)
		fprintf(out, "%+6.1f %%", percent(row->after / row->before));
	else
		fprintf(out, "%8s", "");
	if (row->exact)
		print_exact(row, out);
	else
		print_statistics(row, c->threshold, out);
}

void comparison_print(const struct comparison *c, FILE *out)
{
	int width = name_width(c);
	bool statistics = false;

	for (size_t i = 0; i < c->count; i++) {
		print_row(c, &c->rows[i], width, out);
		statistics |= c->rows[i].change != CHANGE_UNKNOWN && !c->rows[i].exact;
	}
	if (statistics)
		fprintf(out,
			"Medians of boots; in brackets 95 %% of the change; p is that of no "
			"change, corrected\nfor all lines; ~ is p > %g or a change below %.3g %%; "
			"in parentheses the smallest\nslowdown that would be found 95 times in "
			"100.\n",
			COMPARE_ALPHA, c->threshold * 100);
	fprintf(out, "%zu compared: %zu slower, %zu faster, %zu as before\n", c->compared,
		c->slower, c->faster, c->compared - c->slower - c->faster);
}

/* ---- the files -------------------------------------------------------------------------------- */

static bool all_exact(const struct benchmarks *b)
{
	for (size_t i = 0; i < b->count; i++) {
		if (!b->list[i].exact)
			return false;
	}
	return true;
}

static void print_lines(const char *before, const struct text *lines, FILE *out)
{
	char **list = words_split(text_string(lines), "\n");

	for (size_t i = 0; list[i]; i++)
		fprintf(out, "%s%s\n", before, list[i]);
	words_free(list);
}

static int check_environments(const struct baseline *old, const struct baseline *new, FILE *out,
			      struct error *err)
{
	bool exact = all_exact(&old->benchmarks) && all_exact(&new->benchmarks);
	struct environment_differences d;
	int result = 0;

	environment_compare(old->head, new->head, exact, &d);
	print_lines("warning: made differently: ", &d.warnings, out);
	if (d.fatal.len)
		result = error_set(err,
				   "%s and %s cannot be compared: their figures would differ "
				   "for other reasons:\n%.*s",
				   old->path, new->path, (int)d.fatal.len - 1, d.fatal.data);
	environment_differences_free(&d);
	return result;
}

static const char *kernel_of(const json_t *head)
{
	const json_t *host = json_object_get(json_object_get(head, "environment"), "host");
	const char *kernel = json_string_value(json_object_get(host, "kernel"));

	return kernel ? kernel : "unknown";
}

static void print_file(const char *what, const struct baseline *b, FILE *out)
{
	const json_t *environment = json_object_get(b->head, "environment");
	const json_t *machines = json_object_get(environment, "kernel_mode"), *machine;
	const char *started = json_string_value(json_object_get(b->head, "started"));
	const char *arch;

	fprintf(out, "%s  %s, %s", what, b->path, started ? started : "at an unknown time");
	json_object_foreach((json_t *)machines, arch, machine) {
		const char *kernel = json_string_value(
			json_object_get(json_object_get(machine, "host"), "kernel"));

		fprintf(out, ", %s kernel %s", arch, kernel ? kernel : "unknown");
	}
	if (!machines)
		fprintf(out, ", kernel %s", kernel_of(b->head));
	fputc('\n', out);
}

static enum compare_outcome compare_loaded(const struct baseline *old, const struct baseline *new,
					   double threshold, FILE *out, struct error *err)
{
	struct comparison c;
	enum compare_outcome outcome;

	print_file("old", old, out);
	print_file("new", new, out);
	if (check_environments(old, new, out, err))
		return COMPARE_FAILED;
	compare_benchmarks(&old->benchmarks, &new->benchmarks, threshold, &c);
	comparison_print(&c, out);
	outcome = c.slower ? COMPARE_SLOWER : COMPARE_SAME;
	if (!c.compared) {
		error_set(err, "%s and %s have no benchmark that can be compared", old->path,
			  new->path);
		outcome = COMPARE_FAILED;
	}
	comparison_free(&c);
	return outcome;
}

enum compare_outcome compare_files(const char *old, const char *new, double threshold, FILE *out,
				   struct error *err)
{
	enum compare_outcome outcome = COMPARE_FAILED;
	struct baseline before, after = { 0 };

	if (!baseline_load(old, &before, err) && !baseline_load(new, &after, err))
		outcome = compare_loaded(&before, &after, threshold, out, err);
	baseline_free(&before);
	baseline_free(&after);
	return outcome;
}
