# SPDX-License-Identifier: GPL-2.0-or-later
#
# What makes the suite something to hand on: installation, man page, the source tarball. Included by
# the Makefile.

PREFIX ?= /usr/local
DESTDIR ?=
bindir = $(PREFIX)/bin
libdir = $(PREFIX)/lib
datadir = $(PREFIX)/share
suite_dir = $(libdir)/kvm-time-tests
doc_dir = $(datadir)/doc/kvm-time-tests
INSTALL = install
install_data = $(INSTALL) -m 644
install_program = $(INSTALL) -m 755

suite_version := $(shell sed -n 's/^.define SUITE_VERSION "\(.*\)"/\1/p' host/version.h)
# What git calls this state; a tarball has it in a file.
git_version := $(if $(wildcard .git),$(shell git describe --always --tags --dirty),$(shell \
	cat git-version 2>/dev/null))

.PHONY: man install uninstall dist standalone

# ---- man page: the options are those that --help tells -------------------------------------------

man: build/run_tests.sh.1
build/run_tests.sh.1: docs/run_tests.sh.1.in scripts/man.sh build/$(NATIVE)/host/runner host/version.h
	$(call say,MAN,$@) scripts/man.sh $< $(suite_version) build/$(NATIVE)/host/runner >$@

# ---- installation --------------------------------------------------------------------------------
#
# The suite's files keep their places to each other, below $(suite_dir), where run_tests.sh finds no
# Makefile and so builds nothing. Nothing in them names the place: it may be moved as a whole.

# 1: files, 2: directory; 3: install_data or install_program
define install_files
$(INSTALL) -d "$(DESTDIR)$(2)"
$(if $(strip $(1)),$($(3)) $(1) "$(DESTDIR)$(2)")

endef

# 1: architecture
define install_arch
$(call install_files,$(images_$(1)),$(suite_dir)/build/$(1)/$(DIR_$(1)),install_data)
endef

# 1: architecture
define install_host
$(call install_files,build/$(1)/host/runner $(if $(vmm_src_common),build/$(1)/host/vmm),$(suite_dir)/build/$(1)/host,install_program)
endef

install: all man
	$(call install_files,run_tests.sh,$(suite_dir),install_program)
	$(call install_files,unittests.cfg,$(suite_dir),install_data)
	printf '%s\n' '$(git_version)' >"$(DESTDIR)$(suite_dir)/git-version"
	$(call install_files,$(wildcard expected/*.cfg),$(suite_dir)/expected,install_data)
	$(call install_files,scripts/fetch.sh,$(suite_dir)/scripts,install_program)
	$(foreach arch,$(ARCHES),$(call install_arch,$(arch)))
	$(foreach arch,$(HOST_ARCHES),$(call install_host,$(arch)))
	$(call install_files,README.md CONTRIBUTING.md LICENSE,$(doc_dir),install_data)
	$(call install_files,$(wildcard docs/*.md),$(doc_dir)/docs,install_data)
	$(call install_files,build/run_tests.sh.1,$(datadir)/man/man1,install_data)
	$(INSTALL) -d "$(DESTDIR)$(datadir)/bash-completion/completions" "$(DESTDIR)$(bindir)"
	$(install_data) scripts/completion.bash \
		"$(DESTDIR)$(datadir)/bash-completion/completions/run_tests.sh"
	ln -sfn ../share/doc/kvm-time-tests/docs "$(DESTDIR)$(suite_dir)/docs.tmp" && \
		mv -fT "$(DESTDIR)$(suite_dir)/docs.tmp" "$(DESTDIR)$(suite_dir)/docs"
	ln -sfn ../lib/kvm-time-tests/run_tests.sh "$(DESTDIR)$(bindir)/run_tests.sh"

uninstall:
	rm -rf "$(DESTDIR)$(suite_dir)" "$(DESTDIR)$(doc_dir)"
	rm -f "$(DESTDIR)$(bindir)/run_tests.sh" "$(DESTDIR)$(datadir)/man/man1/run_tests.sh.1" \
		"$(DESTDIR)$(datadir)/bash-completion/completions/run_tests.sh"

# ---- source tarball ------------------------------------------------------------------------------
#
# Of what is committed: git archive takes owners, modes and times from the commit, and gzip -n adds
# none of its own, so that the same commit gives the same bytes anywhere.

dist_name := kvm-time-tests-$(suite_version)

dist:
	@git rev-parse --verify -q HEAD >/dev/null || { echo "make dist: this is no git checkout" >&2; exit 3; }
	@git diff --quiet HEAD -- || echo "make dist: what is not committed is not in the tarball" >&2
	@mkdir -p build
	git archive --format=tar --prefix=$(dist_name)/ \
		--add-virtual-file=$(dist_name)/git-version:"$$(git describe --always --tags)" HEAD \
		>build/$(dist_name).tar
	gzip -9nf build/$(dist_name).tar
	@sha256sum build/$(dist_name).tar.gz

# ---- a test in one file --------------------------------------------------------------------------

standalone: images build/$(NATIVE)/host/runner
	$(call say,SH,build/standalone/) rm -rf build/standalone && \
		scripts/standalone.sh build/$(NATIVE)/host/runner $(suite_version) build/standalone \
		$(PREFIX_x86_64)strip $(PREFIX_arm64)strip

# ---- UEFI applications ---------------------------------------------------------------------------

efi_flags := $(warnings) -O2 -g $(prefix_map) -ffreestanding -nostdinc -fpie -fvisibility=hidden \
	-fno-stack-protector -fno-strict-aliasing -fno-asynchronous-unwind-tables -Ilib
efi_flags_x86_64 := -m64 -march=x86-64 -mno-red-zone -mgeneral-regs-only -fcf-protection=none
efi_flags_arm64 := -march=armv8-a -mgeneral-regs-only -mno-outline-atomics -mstrict-align \
	-Ibuild/include/libfdt -idirafter lib/arm64
efi_name_x86_64 := x86
efi_name_arm64 := arm64
efi_libs_x86_64 :=
efi_libs_arm64 := $(FDT_LIB)

# 1: architecture
define efi_rules
efi_obj_$(1) := $$(addprefix build/$(1)/efi/,loader.o $$(efi_name_$(1)).o \
	entry-$$(efi_name_$(1)).o string.o)
build/$(1)/efi/%.o: efi/%.c build/config.mk Makefile packaging.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$@) $$(CC_$(1)) $$(efi_flags) $$(efi_flags_$(1)) -isystem $$(isystem_$(1)) \
		$$(deps) -c $$< -o $$@
build/$(1)/efi/%.o: lib/%.c build/config.mk Makefile packaging.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$@) $$(CC_$(1)) $$(efi_flags) $$(efi_flags_$(1)) -isystem $$(isystem_$(1)) \
		$$(deps) -c $$< -o $$@
build/$(1)/efi/%.o: efi/%.S build/config.mk Makefile packaging.mk
	@mkdir -p $$(@D)
	$$(call say,AS,$$@) $$(CC_$(1)) $$(efi_flags_$(1)) $$(deps) -c $$< -o $$@
build/$(1)/efi/loader-all.o: $$(efi_obj_$(1))
	$$(call say,LD,$$@) $$(CC_$(1)) -nostdlib -r -o $$@ $$^
efi-$(1): images build/$(NATIVE)/host/runner build/$(1)/efi/loader-all.o
	$$(call say,EFI,build/efi/$(1)/) scripts/efi.sh build/$(NATIVE)/host/runner build/efi/$(1) $(1) \
		build/$(1)/efi/loader-all.o $$(efi_libs_$(1)) -- "$$(CC_$(1))" $$(PREFIX_$(1))objcopy \
		$$(PREFIX_$(1))strip $(EFI_TESTS)
efi: efi-$(1)
-include $$(addsuffix .d,$$(efi_obj_$(1)))
endef
$(foreach arch,$(ARCHES),$(eval $(call efi_rules,$(arch))))
.PHONY: efi $(addprefix efi-,$(ARCHES))

# ---- reference -----------------------------------------------------------------------------------

.PHONY: reference
reference: images build/$(NATIVE)/host/runner
	$(call say,REF,build/reference.md) scripts/reference.sh build/$(NATIVE)/host/runner \
		>build/reference.md.tmp && mv build/reference.md.tmp build/reference.md
