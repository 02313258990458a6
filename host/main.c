// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The runner: from the command line to the exit status.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench.h"
#include "bisect.h"
#include "check_config.h"
#include "compare_report.h"
#include "config.h"
#include "environment.h"
#include "expected.h"
#include "expected_review.h"
#include "explain.h"
#include "image.h"
#include "kernel_mode.h"
#include "kvm/fault.h"
#include "machines.h"
#include "merge.h"
#include "options.h"
#include "progress.h"
#include "record.h"
#include "report.h"
#include "results.h"
#include "schedule.h"
#include "pid1.h"
#include "select.h"
#include "stream_report.h"
#include "target.h"
#include "two_kernels.h"
#include "util/loop.h"
#include "util/text.h"

enum exit_status {
	EXIT_EXPECTED = 0,
	EXIT_UNEXPECTED = 1,
	EXIT_SLOWER = 2,
	EXIT_NO_RUN = 3, /* the run could not be made or recorded, or was interrupted */
};

/* In the directory of the results: those of the second kernel of two. */
#define OTHER_DIR "kernel-2"

struct run {
	struct options options;
	int argc;
	char **argv;
	u64 start_ns;
	struct config config;
	struct selection selection;
	struct expectations expectations;
	struct target targets[ARCH_COUNT];
	struct kernel_host hosts[ARCH_COUNT];	    /* kernel mode's */
	struct kernel_host other_hosts[ARCH_COUNT]; /* of a second --kernel */
	struct results *other_results;
	bool archs[ARCH_COUNT];
	struct results *results;
	struct progress *progress;
	int signo; /* that ended the run, or 0 */
};

static int complain(const char *fmt, ...) PRINTF_LIKE(1, 2);

static int complain(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("run_tests.sh: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs("\n", stderr);
	return EXIT_NO_RUN;
}

/* ---- architectures and targets ---------------------------------------------------------------- */

static bool archs_were_named(const struct run *run)
{
	for (int arch = 0; arch < ARCH_COUNT; arch++) {
		if (run->options.archs[arch])
			return true;
	}
	return false;
}

/* KVM runs guests of the host's own architecture: with KVM asked for, "all" are these. */
static bool is_meant(const struct run *run, int arch)
{
	const struct options *o = &run->options;
	bool kvm = o->accel == ACCEL_KVM || !strcmp(o->vmm, vmm_kind_name(VMM_KVM));

	return !kvm || arch == (int)arch_native();
}

/* Those that were asked for; else all that were built. */
static int choose_archs(struct run *run)
{
	bool named = archs_were_named(run), any = false;
	enum arch kernel_arch;
	struct error err;

	/* A kernel that is a file is of one architecture. */
	if (run->options.kernel && !named) {
		named = kernel_image_arch(run->options.kernel, &kernel_arch, &err);
		if (named)
			run->options.archs[kernel_arch] = true;
		else if (*err.text)
			return complain("%s", err.text);
	}
	for (int arch = 0; arch < ARCH_COUNT; arch++) {
		bool built = image_dir_exists(run->options.images, arch);

		if (run->options.archs[arch] && !built)
			return complain("no images for %s in %s: ./configure says what is missing "
					"to build them",
					arch_to_name(arch), run->options.images);
		run->archs[arch] = named ? run->options.archs[arch] : built && is_meant(run, arch);
		any |= run->archs[arch];
	}
	return any ? EXIT_EXPECTED
		   : complain("no images in %s: build them (make), or see --images",
			      run->options.images);
}

static struct results_target results_target_of(const struct run *run, int arch)
{
	return run->options.kernel ? kernel_host_target(&run->hosts[arch])
				   : target_for_results(&run->targets[arch]);
}

static bool has_tests(const struct run *run, int arch)
{
	for (size_t i = 0; i < run->selection.count; i++) {
		if ((int)run->selection.tests[i]->arch == arch)
			return true;
	}
	return false;
}

static void complain_of_target(const struct run *run, const struct target *t)
{
	bool told = run->options.accel != ACCEL_AUTO;

	complain("%s cannot run %s guests%s%s: %s", t->vmm_path, arch_to_name(t->arch),
		 told ? " under " : "", told ? accel_to_name(run->options.accel) : "",
		 t->accel_reason);
}

/*
 * Asks the VMMs. Where none can run anything, there is no run; where one cannot, its tests are
 * errors.
 */
static int choose_targets(struct run *run)
{
	bool any = false;

	for (int arch = 0; arch < ARCH_COUNT; arch++) {
		run->archs[arch] = has_tests(run, arch);
		if (!run->archs[arch])
			continue;
		target_choose(&run->targets[arch], arch, &run->options);
		any |= run->targets[arch].usable;
	}
	if (any || !run->selection.count) /* a shard may be empty */
		return EXIT_EXPECTED;
	for (int arch = 0; arch < ARCH_COUNT; arch++) {
		if (run->archs[arch])
			complain_of_target(run, &run->targets[arch]);
	}
	return EXIT_NO_RUN;
}

/* The same for kernel mode: a kernel that cannot be had is no run at all. */
static int choose_hosts(struct run *run)
{
	struct options other = run->options;
	struct error err;

	other.kernel = run->options.other_kernel;
	other.modules = run->options.other_modules;
	for (int arch = 0; arch < ARCH_COUNT; arch++) {
		run->archs[arch] = has_tests(run, arch);
		if (run->archs[arch] && kernel_host_prepare(&run->hosts[arch], arch, &run->options,
							    &run->selection, &err))
			return complain("%s", err.text);
		if (run->archs[arch] && other.kernel &&
		    kernel_host_prepare(&run->other_hosts[arch], arch, &other, &run->selection,
					&err))
			return complain("%s", err.text);
	}
	return EXIT_EXPECTED;
}

/* Is all time that will be measured made of instructions? */
static bool are_figures_exact(const struct run *run)
{
	bool exact = true;

	for (int arch = 0; arch < ARCH_COUNT; arch++) {
		if (run->archs[arch])
			exact &= results_target_of(run, arch).exact;
	}
	return exact;
}

/* Before the first boot: a file that cannot be written afterwards would cost the whole run. */
static int choose_bench(struct run *run)
{
	struct error err;

	bench_choose(&run->options, are_figures_exact(run), run->start_ns);
	if (run->options.save && bench_check_save(run->options.save, &err))
		return complain("%s", err.text);
	return EXIT_EXPECTED;
}

/* ---- the run ---------------------------------------------------------------------------------- */

/* Every --fault is one of every test's machine: a run of which some are sound would deceive. */
static int check_faults(const struct run *run)
{
	char *const *names = run->options.faults;
	struct error err;

	for (size_t i = 0; names && names[i]; i++) {
		for (size_t t = 0; t < run->selection.count; t++) {
			if (fault_set_add(NULL, run->selection.tests[t]->arch, names[i], &err))
				return complain("--fault: %s; see -a", err.text);
		}
	}
	return EXIT_EXPECTED;
}

static json_t *environment(const struct run *run)
{
	json_t *environment = environment_collect(), *array = json_array();

	for (size_t i = 0; run->options.faults && run->options.faults[i]; i++)
		json_array_append_new(array, json_string(run->options.faults[i]));
	if (json_array_size(array))
		json_object_set(environment, "faults", array);
	json_decref(array);
	return environment;
}

static void show_faults(const struct run *run)
{
	char *names, *text;

	if (!run->options.faults)
		return;
	names = words_join(run->options.faults, ", ");
	text = text_format("FAULTS ON PURPOSE: %s. These results are of no real machine.", names);
	progress_note(run->progress, text);
	free(text);
	free(names);
}

static void begin_results(struct run *run, size_t planned)
{
	struct results_target targets[ARCH_COUNT];
	size_t count = 0;

	for (int arch = 0; arch < ARCH_COUNT; arch++) {
		if (run->archs[arch])
			targets[count++] = results_target_of(run, arch);
	}
	results_begin(run->results, environment(run), run->argc, run->argv,
		      text_string(&run->options.rerun), targets, count, planned);
	if (run->options.bench)
		results_set_bench(run->results, run->options.repeat, run->options.seed);
	if (run->options.stream)
		stream_report_begin(environment_collect());
}

static int make_reports(const struct run *run, const char *dir)
{
	struct error err;

	if (reports_make(&run->options.reports, dir, run->options.ktap, &err))
		return complain("%s", err.text);
	return EXIT_EXPECTED;
}

static int review_expected(const struct run *run)
{
	struct error err;

	return expected_review(&run->options, &run->config, &run->expectations,
			       results_dir(run->results), &err)
		       ? complain("%s", err.text)
		       : EXIT_EXPECTED;
}

static int finish_results(struct run *run, int signo, bool failed)
{
	struct results_totals totals;
	struct error err;
	int reported = EXIT_EXPECTED;

	if (results_finish(run->results, signo || failed, &totals, &err)) {
		/* The first trouble has been told already. */
		return failed ? EXIT_NO_RUN : complain("%s", err.text);
	}
	if (run->options.ktap) {
		results_ktap_stream(run->results, stdout);
		fflush(stdout);
	}
	if (signo)
		complain("interrupted (%s): the tests that had ended are in %s", strsignal(signo),
			 results_dir(run->results));
	/* The totals are the last line. */
	if (run->options.bench && !signo && !failed &&
	    bench_finish(&run->options, run->results, &err))
		reported = complain("%s", err.text);
	reported = MAX(make_reports(run, results_dir(run->results)), reported);
	if (!reported)
		reported = review_expected(run);
	run->signo = signo;
	progress_totals(run->progress, &totals);
	if (reported)
		return reported;
	if (signo || failed)
		return EXIT_NO_RUN;
	return totals.failed ? EXIT_UNEXPECTED : EXIT_EXPECTED;
}

static int run_tests(struct run *run)
{
	struct schedule_spec spec = {
		.options = &run->options,
		.selection = &run->selection,
		.targets = run->targets,
		.expectations = &run->expectations,
		.results = run->results,
		.run_start_ns = run->start_ns,
	};
	size_t planned = schedule_planned(&spec);
	struct error err;
	bool failed;
	int signo;

	begin_results(run, planned);
	run->progress = progress_new(&run->options, results_dir(run->results), planned);
	spec.progress = run->progress;
	show_faults(run);
	for (int arch = 0; arch < ARCH_COUNT; arch++) {
		if (run->archs[arch])
			progress_target(run->progress, &run->targets[arch]);
	}
	failed = schedule_run(&spec, &signo, &err);
	if (failed)
		complain("%s", err.text);
	return finish_results(run, signo, failed);
}

static int compare(const char *old, const char *new, double threshold)
{
	struct error err;

	switch (compare_files(old, new, threshold, stdout, &err)) {
	case COMPARE_SAME:
		return EXIT_EXPECTED;
	case COMPARE_SLOWER:
		return EXIT_SLOWER;
	case COMPARE_FAILED:
		break;
	}
	return complain("%s", err.text);
}

static struct kernel_mode_spec kernel_mode_spec_of(struct run *run)
{
	return (struct kernel_mode_spec){
		.options = &run->options,
		.selection = &run->selection,
		.hosts = run->hosts,
		.results = run->results,
		.progress = run->progress,
		.run_start_ns = run->start_ns,
	};
}

static void show_hosts(const struct run *run)
{
	for (int arch = 0; arch < ARCH_COUNT; arch++) {
		if (run->archs[arch])
			kernel_host_show(&run->hosts[arch], run->progress);
	}
}

static int run_in_kernels(struct run *run)
{
	struct kernel_mode_spec spec;
	size_t planned = run->selection.count * run->options.repeat;
	struct error err;
	bool failed;
	int signo;

	begin_results(run, planned);
	run->progress = progress_new(&run->options, results_dir(run->results), planned);
	show_faults(run);
	show_hosts(run);
	spec = kernel_mode_spec_of(run);
	failed = kernel_mode_run(&spec, &signo, &err);
	if (failed)
		complain("%s", err.text);
	return finish_results(run, signo, failed);
}

/*
 * The same with two of them, whose results have a directory each. A test that fails comes before a
 * benchmark that became slower.
 */
static int run_in_two_kernels(struct run *run)
{
	size_t planned = run->selection.count * run->options.repeat;
	char *dir = text_format("%s/" OTHER_DIR, results_dir(run->results));
	struct kernel_mode_spec first, second;
	struct run other = *run;
	struct error err;
	int signo, status;
	bool failed;

	run->other_results = results_open(dir, run->start_ns, &err);
	free(dir);
	if (!run->other_results)
		return complain("%s", err.text);
	memcpy(other.hosts, run->other_hosts, sizeof(other.hosts));
	other.results = run->other_results;
	begin_results(run, planned);
	begin_results(&other, planned);
	run->progress = progress_new(&run->options, results_dir(run->results), planned);
	other.progress = progress_new(&run->options, results_dir(other.results), planned);
	show_faults(run);
	show_hosts(run);
	show_hosts(&other);
	first = kernel_mode_spec_of(run);
	second = kernel_mode_spec_of(&other);
	failed = two_kernels_run(&first, &second, are_figures_exact(run), &signo, &err);
	if (failed)
		complain("%s", err.text);
	status = finish_results(run, signo, failed);
	status = MAX(finish_results(&other, signo, failed), status);
	progress_free(other.progress);
	if (status != EXIT_EXPECTED)
		return status;
	return compare(results_dir(run->results), results_dir(other.results),
		       run->options.threshold);
}

static int list_tests(struct run *run)
{
	struct error err;

	for (int arch = 0; arch < ARCH_COUNT; arch++)
		run->archs[arch] = !archs_were_named(run) || run->options.archs[arch];
	if (select_tests(&run->config, &run->options, run->archs, &run->selection, &err))
		return complain("%s", err.text);
	if (run->options.machines)
		machines_print(&run->selection, &run->options, stdout);
	else
		selection_print(&run->selection, stdout);
	return EXIT_EXPECTED;
}

static int merge(struct run *run)
{
	struct merge_spec spec = {
		.config = &run->config,
		.dirs = run->options.tests,
		.argc = run->argc,
		.argv = run->argv,
	};
	struct error err;

	run->results = results_open(run->options.out_dir, run->start_ns, &err);
	if (!run->results || merge_results(&spec, run->results, &err))
		return complain("%s", err.text);
	run->progress = progress_new(&run->options, results_dir(run->results), 0);
	return finish_results(run, 0, false);
}

static int explain_checks(struct run *run)
{
	struct explain_spec spec = {
		.options = &run->options,
		.config = &run->config,
		.expectations = &run->expectations,
		.archs = run->archs,
	};
	struct error err;

	if (run->options.list_checks)
		return explain_list(&spec, &run->selection, stdout, &err) ? complain("%s", err.text)
									  : EXIT_EXPECTED;
	return explain(&spec, run->options.explain, stdout, &err) ? complain("%s", err.text)
								  : EXIT_EXPECTED;
}

static int main_run(struct run *run)
{
	struct error err;
	int status;

	if (run->options.from)
		return make_reports(run, run->options.from);
	if (run->options.compare)
		return compare(run->options.tests[0], run->options.tests[1],
			       run->options.threshold);
	if (run->options.list_faults) {
		fault_list(stdout);
		return EXIT_EXPECTED;
	}
	if (config_load(run->options.config, &run->config))
		return EXIT_NO_RUN;
	if (run->options.check_config)
		return check_config(&run->config, run->options.root) ? EXIT_NO_RUN : EXIT_EXPECTED;
	config_add_faults(&run->config, run->options.faults);
	if (run->options.list && !run->options.list_checks)
		return list_tests(run);
	if (run->options.bisect) {
		status = bisect_build(&run->options);
		if (status)
			return status;
	}
	if (run->options.merge)
		return expected_load(run->options.expected, &run->expectations) ? EXIT_NO_RUN
										: merge(run);
	status = choose_archs(run);
	if (status)
		return status;
	if (!run->options.explain &&
	    select_tests(&run->config, &run->options, run->archs, &run->selection, &err))
		return complain("%s", err.text);
	status = check_faults(run);
	if (status)
		return status;
	if (expected_load(run->options.expected, &run->expectations))
		return EXIT_NO_RUN;
	if (target_fetch_qemus(&run->options, &err))
		return complain("%s", err.text);
	if (run->options.explain || run->options.list_checks)
		return explain_checks(run);
	status = run->options.kernel ? choose_hosts(run) : choose_targets(run);
	if (!status && run->options.bench)
		status = choose_bench(run);
	if (status)
		return status;
	run->results = results_open(run->options.out_dir, run->start_ns, &err);
	if (!run->results)
		return complain("%s", err.text);
	if (run->options.other_kernel)
		return run_in_two_kernels(run);
	return run->options.kernel ? run_in_kernels(run) : run_tests(run);
}

/* The run's status, with --bisect in the words of git bisect run. */
static int bisected(const struct run *run, int status)
{
	struct error err;
	json_t *json;

	if (!run->options.bisect)
		return status;
	json = run->results ? record_load(results_dir(run->results), &err) : NULL;

	/* What the build said already. */
	if (!run->results && status >= BISECT_SKIP)
		return status;
	status = bisect_status(status, run->signo, json);
	json_decref(json);
	return status;
}

static void run_free(struct run *run)
{
	progress_free(run->progress);
	results_free(run->results);
	results_free(run->other_results);
	for (int arch = 0; arch < ARCH_COUNT; arch++) {
		target_free(&run->targets[arch]);
		kernel_host_free(&run->hosts[arch]);
		kernel_host_free(&run->other_hosts[arch]);
	}
	expected_free(&run->expectations);
	selection_free(&run->selection);
	config_free(&run->config);
	options_free(&run->options);
}

/* Descriptors 0, 1 and 2 have to be taken, or a socket would land there and be written to. */
static void open_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct run run = { .start_ns = now_ns() };
	int status;

	open_standard_fds();
	if (getpid() == 1)
		pid1_enter(&argc, &argv);
	run.argc = argc;
	run.argv = argv;
	signal(SIGPIPE, SIG_IGN);
	status = options_parse(&run.options, argc, argv);
	if (status < 0)
		status = bisected(&run, main_run(&run));
	else if (run.options.bisect && status)
		status = BISECT_STOP; /* a command line that is wrong is so for every commit */
	run_free(&run);
	return status;
}
