// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tells the outer runner what happens.
 */
#include "stream_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>
#include "results_json.h"
#include "stream.h"
#include "util/memory.h"
#include "util/text.h"

/* syslog(2)'s type that reads the kernel's whole log. */
#define SYSLOG_ACTION_READ_ALL 3
#define KERNEL_LOG_MAX	       (1u << 20)

/*
 * How KVM virtualises here, in the kernel's own words: "VHE mode initialized successfully" (arch/arm64
 * /kvm/arm.c), "Nested Virtualization enabled" (arch/x86/kvm/svm/svm.c). One line each.
 */
static json_t *kvm_lines(void)
{
	char *log = memory_zalloc(KERNEL_LOG_MAX + 1);
	int len = klogctl(SYSLOG_ACTION_READ_ALL, log, KERNEL_LOG_MAX);
	json_t *array = json_array();
	char **lines;

	log[len > 0 ? len : 0] = '\0';
	lines = words_split(log, "\n");
	for (size_t i = 0; lines[i]; i++) {
		char *text = strstr(lines[i], "] kvm");

		if (text)
			json_array_append_new(array, json_text(text + 2));
	}
	words_free(lines);
	free(log);
	return array;
}

void stream_report_begin(json_t *environment)
{
	json_t *content = json_object();

	json_object_set_new(environment, "kvm_says", kvm_lines());
	json_object_set_new(content, "environment", environment);
	stream_write(STDOUT_FILENO, "begin", content);
}

void stream_report_running(const char *const *keys, size_t count)
{
	json_t *content, *array;

	if (count == 0)
		return;
	content = json_object();
	array = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_text(keys[i]));
	json_object_set_new(content, "keys", array);
	stream_write(STDOUT_FILENO, "started", content);
}

static void read_log(const char *dir, const char *name, struct text *content)
{
	char *path = text_format("%s/%s", dir, name);
	FILE *f = fopen(path, "re");
	char buffer[4096];
	size_t n;

	free(path);
	if (!f)
		return;
	while ((n = fread(buffer, 1, sizeof(buffer), f)) > 0)
		text_append_utf8(content, buffer, n);
	fclose(f);
}

void stream_report_test(const struct test_result *r, const struct results_target *target,
			const char *results_dir)
{
	json_t *record = results_record(r, target);
	struct text log = { 0 };

	if (r->log)
		read_log(results_dir, r->log, &log);
	json_object_set_new(record, "log_text", json_string(text_string(&log)));
	text_free(&log);
	stream_write(STDOUT_FILENO, "test", record);
}
