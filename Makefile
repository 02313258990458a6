# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds the images and libcflat for every configured architecture (build/<arch>/), the host
# programs, and the unit tests. ./configure is run by itself where build/config.mk is missing.

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
, := ,

all:
.PHONY: all images host units fuzz check clean distclean

build/config.stamp: configure
	@./configure $(CONFIGURE_ARGS)
build/config.mk: build/config.stamp ;

-include build/config.mk

V ?= 0
ifeq ($(V),0)
say = @printf '  %-8s%s\n' $(1) $(2);
else
say =
endif

warnings := -std=gnu11 -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wundef -Wno-missing-field-initializers -Wno-unused-parameter \
	-Wno-gnu-variable-sized-type-not-at-end -Wno-sign-compare -Wvla
deps = -MMD -MP -MF $@.d

# ---- images -------------------------------------------------------------------------------------

image_flags := $(warnings) -O2 -g -ffreestanding -nostdinc -fno-omit-frame-pointer \
	-fno-optimize-sibling-calls -fstack-protector-strong -fno-strict-aliasing -fno-common \
	-fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections -Ilib
image_flags_x86_64 := -m64 -march=x86-64 -mno-red-zone -mgeneral-regs-only -fno-pic -fno-pie \
	-mstack-protector-guard=global -fcf-protection=none -Ilib/x86
image_flags_arm64 := -march=armv8-a -mgeneral-regs-only -mno-outline-atomics -mstrict-align \
	-mno-omit-leaf-frame-pointer -fpie -fvisibility=hidden -Ilib/arm64 -Ibuild/include/libfdt
# No name of the build directory gets in: the same sources give the same bytes anywhere.
prefix_map := -ffile-prefix-map=$(CURDIR)=.
image_flags += $(prefix_map)
image_link := -nostdlib -static -Wl,--build-id=none -Wl,-z,noexecstack -Wl,--gc-sections \
	-Wl,-z,max-page-size=4096 -Wl,--no-warn-rwx-segments
image_link_x86_64 := -no-pie -Wl,-T,lib/x86/image.lds
image_link_arm64 := -Wl,-pie -Wl,--no-dynamic-linker -Wl,-z,notext -Wl,-T,lib/arm64/image.lds
image_libs_x86_64 := -lgcc
image_libs_arm64 := $(FDT_LIB) -lgcc
lib_dir_x86_64 := lib/x86
lib_dir_arm64 := lib/arm64

# 1: architecture
define image_rules
isystem_$(1) := $$(shell $$(CC_$(1)) -print-file-name=include)
lib_src_$(1) := $$(wildcard lib/*.c $$(lib_dir_$(1))/*.c $$(lib_dir_$(1))/*.S)
lib_obj_$(1) := $$(addprefix build/$(1)/,$$(addsuffix .o,$$(basename $$(lib_src_$(1)))))
image_src_$(1) := $$(wildcard $$(DIR_$(1))/*.c)
image_obj_$(1) := $$(patsubst %.c,build/$(1)/%.o,$$(image_src_$(1)))
image_elf_$(1) := $$(patsubst %.c,build/$(1)/%.elf,$$(image_src_$(1)))
images_$(1) := $$(image_elf_$(1))
images_$(1) += $$(patsubst %.c,build/$(1)/%.txt,$$(image_src_$(1)))
ifeq ($(1),arm64)
images_$(1) += $$(patsubst %.c,build/$(1)/%.img,$$(image_src_$(1)))
endif

# GCC's own headers; clang keeps them elsewhere but answers the same question.
cflags_$(1) := $$(image_flags) $$(image_flags_$(1)) -isystem $$(isystem_$(1))

build/$(1)/lib/%.o: lib/%.c build/config.mk Makefile
	@mkdir -p $$(@D)
	$$(call say,CC,$$@) $$(CC_$(1)) $$(cflags_$(1)) $$(deps) -c $$< -o $$@
build/$(1)/lib/%.o: lib/%.S build/config.mk Makefile
	@mkdir -p $$(@D)
	$$(call say,AS,$$@) $$(CC_$(1)) $$(cflags_$(1)) -D__ASSEMBLY__ $$(deps) -c $$< -o $$@
build/$(1)/$$(DIR_$(1))/%.o: $$(DIR_$(1))/%.c build/config.mk Makefile
	@mkdir -p $$(@D)
	$$(call say,CC,$$@) $$(CC_$(1)) $$(cflags_$(1)) $$(deps) -c $$< -o $$@
build/$(1)/libcflat.a: $$(lib_obj_$(1))
	$$(call say,AR,$$@) rm -f $$@; $$(PREFIX_$(1))ar rcsD $$@ $$^
build/$(1)/$$(DIR_$(1))/%.elf: build/$(1)/$$(DIR_$(1))/%.o build/$(1)/libcflat.a \
		$$(lib_dir_$(1))/image.lds
	$$(call say,LD,$$@) $$(CC_$(1)) $$(image_link) $$(image_link_$(1)) -o $$@ $$< \
		-Wl,--whole-archive build/$(1)/libcflat.a -Wl,--no-whole-archive $$(image_libs_$(1))
build/$(1)/$$(DIR_$(1))/%.img: build/$(1)/$$(DIR_$(1))/%.elf
	$$(call say,IMG,$$@) $$(PREFIX_$(1))objcopy -O binary $$< $$@

# What the image's file says of itself at its head, for --explain.
build/$(1)/$$(DIR_$(1))/%.txt: $$(DIR_$(1))/%.c scripts/story.awk
	@mkdir -p $$(@D)
	$$(call say,TXT,$$@) awk -f scripts/story.awk $$< >$$@

.SECONDARY: $$(image_obj_$(1))
images: $$(images_$(1))
-include $$(addsuffix .d,$$(lib_obj_$(1)) $$(image_obj_$(1)))
endef
$(foreach arch,$(ARCHES),$(eval $(call image_rules,$(arch))))

# ---- host programs ------------------------------------------------------------------------------

host_flags := $(warnings) -O2 -g $(prefix_map) -D_GNU_SOURCE -fno-omit-frame-pointer -iquote lib -iquote host \
	-iquote build
backend_kvm_src := $(wildcard host/kvm/backend*.c)
runner_src := $(wildcard host/*.c host/qemu/*.c) $(backend_kvm_src) $(wildcard host/kvm/clock_rule.c host/kvm/fault_table.c)
util_src := $(wildcard host/util/*.c)
vmm_src_common := $(filter-out $(backend_kvm_src),$(wildcard host/kvm/*.c))

# 1: architecture
define host_rules
vmm_src_$(1) := $(vmm_src_common) $$(wildcard host/kvm/$$(notdir $$(lib_dir_$(1)))/*.c)
util_obj_$(1) := $$(patsubst %.c,build/$(1)/%.o,$(util_src))
runner_obj_$(1) := $$(patsubst %.c,build/$(1)/%.o,$(runner_src))
vmm_obj_$(1) := $$(patsubst %.c,build/$(1)/%.o,$$(vmm_src_$(1)))
build/$(1)/host/%.o: host/%.c build/config.mk build/build_config.h Makefile
	@mkdir -p $$(@D)
	$$(call say,CC,$$@) $$(CC_$(1)) $(host_flags) $$(deps) -c $$< -o $$@
build/$(1)/host/runner: $$(runner_obj_$(1)) $$(util_obj_$(1))
	$$(call say,LD,$$@) $$(CC_$(1)) -static -o $$@ $$^ -ljansson -llzma -lzstd -lm
build/$(1)/host/vmm: $$(vmm_obj_$(1)) $$(util_obj_$(1))
	$$(call say,LD,$$@) $$(CC_$(1)) -static -o $$@ $$^ -pthread $$(if $$(filter arm64,$(1)),$(FDT_LIB))
host: build/$(1)/host/runner $$(if $(vmm_src_common),build/$(1)/host/vmm)
-include $$(addsuffix .d,$$(runner_obj_$(1)) $$(vmm_obj_$(1)) $$(util_obj_$(1)))
endef
$(foreach arch,$(HOST_ARCHES),$(eval $(call host_rules,$(arch))))

# ---- unit tests: cmocka, plain and under ASan/UBSan, on this host --------------------------------
#
# tests/unit/lib_*.c test the portable part of libcflat, compiled natively with its public names
# prefixed (tests/unit/rename.h), so that glibc's can stand beside them. tests/unit/host_*.c test
# the host programs' modules, all of them but main().

portable_src := $(addprefix lib/,printf.c string.c stdlib.c muldiv.c args.c alloc.c report.c \
	console.c clock.c spin.c smp.c panic.c hostcall.c hostaction.c uart16550.c stats.c bench.c benchsecond.c)
unit_lib_src := $(wildcard tests/unit/lib_*.c)
unit_host_src := $(wildcard tests/unit/host_*.c)
unit_support_src := $(wildcard tests/unit/support_*.c)
# Of the VMM all but its main(), and both architectures' readers of files where they compile natively.
host_testable := $(sort $(filter-out host/main.c,$(runner_src)) $(util_src) \
	$(filter-out host/kvm/main.c,$(vmm_src_$(NATIVE))) host/kvm/arm64/image.c)
native_cc := $(CC_$(NATIVE))

# 1: directory under build/, 2: extra flags
define unit_rules
unit_flags_$(1) := $(warnings) -g -D_GNU_SOURCE -fno-omit-frame-pointer $(2)
portable_obj_$(1) := $$(patsubst lib/%.c,build/$(1)/lib/%.o,$(portable_src))
unit_host_obj_$(1) := $$(patsubst host/%.c,build/$(1)/host/%.o,$(host_testable))
support_obj_$(1) := $$(patsubst tests/unit/%.c,build/$(1)/%.o,$(unit_support_src))
unit_bin_$(1) := $$(patsubst tests/unit/%.c,build/$(1)/%,$(unit_lib_src) $(unit_host_src))
build/$(1)/lib/%.o: lib/%.c build/config.mk Makefile
	@mkdir -p $$(@D)
	$$(call say,CC,$$@) $(native_cc) $$(unit_flags_$(1)) -fno-builtin -include tests/unit/rename.h \
		-iquote lib -Itests/unit $$(deps) -c $$< -o $$@
build/$(1)/host/%.o: host/%.c build/config.mk build/build_config.h Makefile
	@mkdir -p $$(@D)
	$$(call say,CC,$$@) $(native_cc) $$(unit_flags_$(1)) -iquote host -iquote lib -iquote build $$(deps) -c $$< -o $$@
build/$(1)/%.o: tests/unit/%.c build/config.mk Makefile
	@mkdir -p $$(@D)
	$$(call say,CC,$$@) $(native_cc) $$(unit_flags_$(1)) -Itests/unit -iquote host -iquote lib -iquote build \
		$$(deps) -c $$< -o $$@
build/$(1)/lib_%: build/$(1)/lib_%.o $$(support_obj_$(1)) $$(portable_obj_$(1))
	$$(call say,LD,$$@) $(native_cc) $(2) -o $$@ $$^ -lcmocka -pthread -lm
build/$(1)/host_%: build/$(1)/host_%.o $$(unit_host_obj_$(1))
	$$(call say,LD,$$@) $(native_cc) $(2) -o $$@ $$^ -pthread -lcmocka -ljansson -llzma -lzstd -lm \
		$(if $(filter arm64,$(NATIVE)),$(FDT_LIB))
.SECONDARY: $$(unit_bin_$(1):=.o) $$(support_obj_$(1)) $$(portable_obj_$(1)) $$(unit_host_obj_$(1))
units: $$(unit_bin_$(1))
-include $$(addsuffix .d,$$(portable_obj_$(1)) $$(unit_host_obj_$(1)) $$(support_obj_$(1)) \
	$$(unit_bin_$(1):=.o))
endef
ifeq ($(CMOCKA),yes)
$(eval $(call unit_rules,unit,-O1))
$(eval $(call unit_rules,unit-asan,-O1 -fsanitize=address$(,)undefined -fno-sanitize-recover=all))
endif

# ---- fuzz targets -------------------------------------------------------------------------------
#
# tests/fuzz/NAME.c under libFuzzer (build/fuzz/NAME; needs clang, scripts/fuzz.sh runs them), and as
# unit tests that replay tests/fuzz/seeds/NAME/ (build/unit-asan/fuzz_NAME).

fuzz_src := $(filter-out tests/fuzz/replay.c,$(wildcard tests/fuzz/*.c))
FUZZ_CC ?= clang
fuzz_flags := $(unit_flags_unit-asan) -Wno-unknown-warning-option -iquote host -iquote lib -iquote build
fuzz_host_obj := $(patsubst host/%.c,build/fuzz/host/%.o,$(host_testable))
fuzz_bin := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(fuzz_src))
host_libs := -pthread -ljansson -llzma -lzstd -lm $(if $(filter arm64,$(NATIVE)),$(FDT_LIB))
build/fuzz/host/%.o: host/%.c build/config.mk build/build_config.h Makefile
	@mkdir -p $(@D)
	$(call say,FUZZ-CC,$@) $(FUZZ_CC) $(fuzz_flags) -fsanitize=fuzzer-no-link $(deps) -c $< -o $@
build/fuzz/%: tests/fuzz/%.c $(fuzz_host_obj)
	$(call say,FUZZ-LD,$@) $(FUZZ_CC) $(fuzz_flags) -fsanitize=fuzzer $(deps) -o $@ $< $(fuzz_host_obj) \
		$(host_libs)
build/unit-asan/fuzz_%: tests/fuzz/%.c tests/fuzz/replay.c $(unit_host_obj_unit-asan)
	$(call say,LD,$@) $(native_cc) $(fuzz_flags) $(deps) -o $@ $^ $(host_libs)
fuzz: $(fuzz_bin)
ifeq ($(CMOCKA),yes)
units: $(patsubst tests/fuzz/%.c,build/unit-asan/fuzz_%,$(fuzz_src))
endif
.SECONDARY: $(fuzz_host_obj)
-include $(addsuffix .d,$(fuzz_host_obj) $(fuzz_bin))

# Every image has a test and every test an image, or the build fails.
build/config-checked: build/$(NATIVE)/host/runner unittests.cfg $(wildcard expected/*.cfg x86/*.c arm/*.c)
	$(call say,CHECK,unittests.cfg) build/$(NATIVE)/host/runner --check-config
	@touch $@

host units:
images:
all: images host $(if $(NATIVE),build/config-checked)

include packaging.mk

check:
	scripts/check.sh

# Every fault on purpose against its check; writes docs/detection.md.
check-detection: all
	tests/detection/run.sh -d

clean:
	rm -rf $(filter-out build/sysroot/ build/include/,$(wildcard build/*/))
distclean:
	rm -rf build results
