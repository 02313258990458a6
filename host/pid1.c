// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The runner as PID 1 of kernel mode's initramfs. Nothing here judges: what goes wrong is said on
 * the console, where the outer runner keeps it for the report of an ERROR.
 */
#include "pid1.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include "module_file.h"
#include "stream.h"
#include "util/memory.h"
#include "util/text.h"

/* syslog(2)'s type that sets the level of messages that reach the console. */
#define SYSLOG_ACTION_CONSOLE_LEVEL 8

#define TSC_POLL_NS   10000000
#define TSC_POLLS_MAX 500

static void mount_or_say(const char *type, const char *where)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, NULL) < 0 && errno != EBUSY)
		fprintf(stderr, "init: mount %s on %s: %s\n", type, where, strerror(errno));
}

/* The whole file and a NUL after it; NULL where it cannot be read. Malloced. */
static char *read_whole(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct text content = { 0 };
	char buffer[4096];
	ssize_t n;

	if (fd < 0)
		return NULL;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		text_append_bytes(&content, buffer, n);
	close(fd);
	*size = content.len;
	return text_take(&content);
}

static void load_module(const char *path, const char *command_line)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *parameters;

	if (fd < 0) {
		fprintf(stderr, "init: %s: %s\n", path, strerror(errno));
		return;
	}
	parameters = module_parameters(path, command_line);
	if (syscall(SYS_finit_module, fd, parameters, 0) < 0 && errno != EEXIST)
		fprintf(stderr, "init: loading %s: %s\n", path, strerror(errno));
	free(parameters);
	close(fd);
}

/* KVM has a module for each vendor's extension, and only one of them can be loaded. */
static bool is_for_this_cpu(const char *module, const char *cpuinfo)
{
	if (strstr(module, "kvm-intel") || strstr(module, "kvm_intel"))
		return strstr(cpuinfo, " vmx");
	if (strstr(module, "kvm-amd") || strstr(module, "kvm_amd"))
		return strstr(cpuinfo, " svm");
	return true;
}

/*
 * x86: until the kernel has refined its TSC frequency, a second after it made a first guess. KVM
 * takes the frequency when it is loaded and keeps it, so that its guests' clocks would run off the
 * host's by what the guess was wrong (docs/findings.md). sysfs tells of no change; elsewhere there is
 * no such clock source.
 */
static void wait_for_tsc(void)
{
	static const char path[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";
	const struct timespec step = { .tv_nsec = TSC_POLL_NS };
	bool guess = true;

	for (int i = 0; guess && i < TSC_POLLS_MAX; i++) {
		size_t size;
		char *name = read_whole(path, &size);

		guess = name && !strncmp(name, "tsc-early", strlen("tsc-early"));
		free(name);
		if (guess)
			nanosleep(&step, NULL);
	}
	if (guess)
		fprintf(stderr, "init: the kernel does not refine its TSC frequency\n");
}

static void load_modules(void)
{
	size_t size;
	char *list = read_whole(PID1_MODULES_FILE, &size);
	char *cpuinfo = read_whole("/proc/cpuinfo", &size);
	char *command_line = read_whole("/proc/cmdline", &size);
	char **paths;

	if (!list)
		return;
	paths = words_split(list, "\n");
	for (char **path = paths; *path; path++) {
		if (is_for_this_cpu(*path, cpuinfo ? cpuinfo : ""))
			load_module(*path, command_line ? command_line : "");
	}
	free(command_line);
	free(cpuinfo);
	words_free(paths);
	free(list);
}

static void read_args(int *argc, char ***argv)
{
	size_t size = 0;
	char *args = read_whole(PID1_ARGS_FILE, &size);
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += args[i] == '\0';
	*argv = memory_zalloc((count + 2) * sizeof(char *));
	(*argv)[0] = "runner";
	*argc = 1;
	for (size_t at = 0; at < size; at += strlen(args + at) + 1)
		(*argv)[(*argc)++] = args + at;
}

/* Waits for the runner; orphans of dead VMMs are reaped on the way. */
static int wait_for(pid_t runner)
{
	int status;
	pid_t pid;

	while ((pid = wait(&status)) != runner) {
		if (pid < 0 && errno == ECHILD)
			return -1;
	}
	return status;
}

void pid1_enter(int *argc, char ***argv)
{
	pid_t runner;
	int status;

	mount_or_say("proc", "/proc");
	mount_or_say("sysfs", "/sys");
	mount_or_say("devtmpfs", "/dev");
	mount_or_say("tmpfs", "/tmp");
	wait_for_tsc();
	load_modules();
	/* From here on only a panic may write between the lines of the stream. */
	klogctl(SYSLOG_ACTION_CONSOLE_LEVEL, NULL, 1);

	fflush(NULL);
	runner = fork();
	if (runner == 0) {
		read_args(argc, argv);
		return;
	}
	status = runner < 0 ? -1 : wait_for(runner);
	stream_exit(STDOUT_FILENO, status);
	tcdrain(STDOUT_FILENO);
	sync();
	reboot(RB_POWER_OFF);
	/* A machine without a way to power off: the outer runner has the last record already. */
	for (;;)
		pause();
}
