// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Describes machines by the same command line that the runner's own back end makes.
 */
#include "machines.h"

#include <stdlib.h>
#include <string.h>
#include "backend.h"
#include "image.h"
#include "qemu/command_line.h"
#include "util/text.h"

static char *machine_words(const struct test *test, enum accel accel)
{
	struct machine_spec spec = {
		.arch = test->arch,
		.accel = accel,
		.smp = test->smp,
		.memory_mib = test->memory_mib,
		.el2 = test->el2,
		.cpu = test->cpu,
		.machine = test->machine,
	};
	struct text line = { 0 };
	char **words;

	if (!(test->accels & BIT(accel)) || !(test->vmms & BIT(VMM_QEMU)))
		return text_copy("-");
	words = qemu_machine_words(&spec);
	text_append_command(&line, words);
	words_free(words);
	return text_take(&line);
}

void machines_print(const struct selection *s, const struct options *o, FILE *out)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct test *test = s->tests[i];
		char *image = image_path(o->images, test->arch, test->image);
		char *tcg = machine_words(test, ACCEL_TCG), *kvm = machine_words(test, ACCEL_KVM);

		fprintf(out, "%s\t%s\t%s\t%u\t%s%scpus=%u\t%s\t%s\n", arch_to_name(test->arch),
			test->name, image, test->timeout_s, test->args, *test->args ? " " : "",
			test->smp, tcg, kvm);
		free(image);
		free(tcg);
		free(kvm);
	}
}
