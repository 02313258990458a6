#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Fetches a Debian kernel or QEMU into the user's cache directory, once, without installing
# anything and without root: through a private apt view, so that apt checks the archive's
# signatures and the machine's own apt state stays as it is. What is in the cache needs no network.
#
# Usage: scripts/fetch.sh [--update] kernel VERSION|SUITE ARCH    6.12, 6.1.176, trixie, sid …
#        scripts/fetch.sh [--update] qemu SUITE                   for this host, guests of both arches
#
# ARCH is x86_64 or arm64. --update looks for something newer than what the cache has.
# Lines on stdout:  kernel: kernel=FILE modules=DIR version=RELEASE package_version= suite=
#                   qemu:   qemu_x86_64=COMMAND qemu_arm64=COMMAND version= package_version= suite=
# Environment: KTT_APT_MIRROR  address of a Debian mirror (default: the one of apt's own sources)
#              KTT_APT_SUITES  suites in which a VERSION is looked for
#              XDG_CACHE_HOME  the cache is $XDG_CACHE_HOME/kvm-time-tests (default: ~/.cache/…)
#
# Status: 0, or 3 with the reason on stderr.
set -u
# Versions and names are sorted and matched by bytes.
export LC_ALL=C

# A day: what was fetched stays; only a request that was never made looks into the lists.
LISTS_MAX_AGE_MIN=1440
UPDATE_TIMEOUT_S=300
DOWNLOAD_TIMEOUT_S=600
LOCK_TIMEOUT_S=900

suites=${KTT_APT_SUITES:-bookworm bookworm-backports trixie trixie-backports sid}
# Debian's keyring package names its file .gpg; .pgp since trixie's.
keyrings="/usr/share/keyrings/debian-archive-keyring.gpg /usr/share/keyrings/debian-archive-keyring.pgp"

usage() {
	sed -n '/^# Usage:/,/^# Status/ s/^# \{0,1\}//p' "$0"
}

die() {
	echo "fetch.sh: $*" >&2
	exit 3
}

say() {
	echo "fetch.sh: $*" >&2
}

# first PATH...: the first that exists
first() {
	local path
	for path in "$@"; do
		[ -e "$path" ] && echo "$path" && return
	done
	return 1
}

# ---- the cache ----------------------------------------------------------------------------------
#
#   kernels/ARCH/RELEASE/, qemu/VERSION-DEBARCH/   what was fetched, each moved into place as a whole:
#       root/      the unpacked packages
#       entry      the lines for stdout, paths relative to the directory
#       manifest   size, time and name of every file, to notice a damaged entry
#   requests/      which entry answered a request
#   apt/           the private views

# manifest DIR: what is there now. Times in whole seconds, as archives of a cache keep them.
manifest() {
	(cd "$1" && find . ! -type d ! -path ./manifest -printf '%p %y %s %Ts %l\n' | sort)
}

# whole ENTRY: is the cache entry as it was fetched?
whole() {
	[ -f "$1/manifest" ] && [ -f "$1/entry" ] && manifest "$1" | cmp -s - "$1/manifest"
}

# print_entry ENTRY: its lines, with absolute paths
print_entry() {
	sed "s|=\./|=$1/|" "$1/entry"
}

# finish DIRECTORY ENTRY: a directory that is complete becomes the cache's entry
finish() {
	manifest "$1" >"$1/manifest" || die "$1: cannot be written"
	if ! mkdir -p "${2%/*}" || ! mv -T "$1" "$2"; then
		die "$2: cannot be put into the cache"
	fi
}

# requested NAME: the entry that answered this request before, where it is there and whole
requested() {
	local entry
	[ -f "$cache/requests/$1" ] && read -r entry <"$cache/requests/$1" || return 1
	whole "$cache/$entry" && echo "$cache/$entry"
}

# remember NAME ENTRY
remember() {
	if ! mkdir -p "$cache/requests" || ! echo "${2#"$cache"/}" >"$scratch/request" ||
		! mv -f "$scratch/request" "$cache/requests/$1"; then
		die "$cache/requests: cannot be written"
	fi
}

# discard_damaged ENTRY: one that is there (and was found not whole, if it is)
discard_damaged() {
	[ -e "$1" ] || return 0
	whole "$1" && return 0
	say "$1 is damaged (its files are not those that were fetched): fetching it anew"
	mv -T "$1" "$scratch/damaged.$RANDOM" || die "$1: cannot be removed; remove it by hand"
}

# Everything that changes the cache happens under one lock, in a scratch directory inside it. apt
# inherits the lock: should we be killed, nobody starts while it still writes.
lock() {
	local id
	if ! mkdir -p "$cache" 2>/dev/null || [ ! -w "$cache" ]; then
		die "$cache: cannot be written; set XDG_CACHE_HOME to a directory that can"
	fi
	exec 9>>"$cache/lock" || die "$cache/lock: cannot be opened"
	if ! flock -n 9; then
		say "another fetch is under way, waiting for it"
		flock -w $LOCK_TIMEOUT_S 9 ||
			die "another fetch has held $cache/lock for $LOCK_TIMEOUT_S s: see which process it is (fuser)"
	fi
	# Left over by a fetch that was killed: nobody else is here now.
	for id in "$cache"/scratch.*; do
		[ -e "$id" ] && rm -rf "$id"
	done
	scratch=$(mktemp -d "$cache/scratch.XXXXXX") || die "$cache: cannot be written"
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 3' INT TERM HUP
}

# ---- apt ----------------------------------------------------------------------------------------

debian_arch() {
	case $1 in
	x86_64) echo amd64 ;;
	arm64 | aarch64) echo arm64 ;;
	*) die "unknown architecture '$1': it is x86_64 or arm64" ;;
	esac
}

need_tools() {
	local tool
	for tool in apt-get apt-cache dpkg-deb; do
		command -v $tool >/dev/null ||
			die "$tool is not here, and Debian's kernels and QEMUs are fetched with apt: give the path of one of your own instead (--kernel FILE, --qemu FILE)"
	done
	for tool in flock timeout find cmp; do
		command -v $tool >/dev/null || die "$tool is missing: install util-linux, coreutils, findutils, diffutils"
	done
}

keyring() {
	local file
	for file in $keyrings; do
		[ -s "$file" ] && echo "$file" && return
	done
	die "the keys of Debian's archive are not here, and nothing is fetched unverified: install the package debian-archive-keyring (its file is ${keyrings%% *})"
}

# The mirror that apt itself uses for Debian's main archive; apt reads its own sources for us.
mirror() {
	local found
	if [ -n "${KTT_APT_MIRROR:-}" ]; then
		[[ $KTT_APT_MIRROR =~ ^[a-z0-9+]+:/[^][[:space:]]*$ ]] ||
			die "KTT_APT_MIRROR='$KTT_APT_MIRROR': not an address such as http://HOST/debian"
		echo "${KTT_APT_MIRROR%/}"
		return
	fi
	# Security updates and third parties have archives of their own, which end otherwise.
	# It tells where they are from once their lists were read; before that, the address has to do.
	# shellcheck disable=SC2016 # these are for apt
	found=$(apt-get indextargets --format '$(SITE) $(COMPONENT) $(ORIGIN)/$(LABEL)' \
		'Created-By: Packages' 2>/dev/null)
	found=$(
		sed -n 's|/\{0,1\} main Debian/Debian$||p' <<<"$found"
		sed -n 's|^\(.*/debian\)/\{0,1\} main .*|\1|p' <<<"$found"
	)
	found=${found%%$'\n'*}
	[ -n "$found" ] ||
		die "apt's sources on this machine name no Debian archive: set KTT_APT_MIRROR to the address of a Debian mirror (http://HOST/debian)"
	echo "$found"
}

# view SUITES DEBARCH: makes the private view, sets $view (its directory). Several suites: "A+B".
view() {
	local suite
	view=$cache/apt/$1-$2
	if ! mkdir -p "$view/lists/partial" "$view/archives/partial" "$view/empty" ||
		! : >"$view/status"; then
		die "$view: cannot be written"
	fi
	for suite in ${1//+/ }; do
		echo "deb [arch=$2 signed-by=$key] $site $suite main"
	done >"$scratch/sources.list"
	# Lists of another mirror are not this one's.
	cmp -s "$scratch/sources.list" "$view/sources.list" || rm -f "$view/updated"
	mv -f "$scratch/sources.list" "$view/sources.list" || die "$view: cannot be written"
	# Read after the machine's own configuration (proxies are wanted from there), so lists are
	# cleared and everything that could weaken the checks is set.
	cat >"$view/apt.conf" <<-END
		Dir::Etc::sourcelist "$view/sources.list";
		Dir::Etc::sourceparts "$view/empty";
		Dir::Etc::preferences "$view/empty/none";
		Dir::Etc::preferencesparts "$view/empty";
		Dir::State "$view";
		Dir::State::lists "$view/lists";
		Dir::State::status "$view/status";
		Dir::State::extended_states "$view/extended_states";
		Dir::Cache "$view";
		Dir::Cache::archives "$view/archives";
		Dir::Cache::pkgcache "pkgcache.bin";
		Dir::Cache::srcpkgcache "";
		Dir::Log "$view";
		#clear APT::Architectures;
		APT::Architecture "$2";
		APT::Architectures { "$2"; };
		APT::Default-Release "";
		APT::Install-Recommends "false";
		APT::Sandbox::User "root";
		APT::Get::AllowUnauthenticated "false";
		APT::Get::Assume-Yes "true";
		APT::Update::Error-Mode "any";
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear DPkg::Pre-Install-Pkgs;
		#clear DPkg::Post-Invoke;
		Debug::NoLocking "true";
		Acquire::AllowInsecureRepositories "false";
		Acquire::AllowWeakRepositories "false";
		Acquire::AllowDowngradeToInsecureRepositories "false";
		Acquire::Languages "none";
		Acquire::PDiffs "false";
		Acquire::Retries "2";
		Acquire::http::Timeout "30";
		Acquire::https::Timeout "30";
	END
}

# The first of apt's own complaints, and what can be had without it.
apt_words() {
	local request have=()
	grep -E '^(E|W|Err):?' "$scratch/apt.log" | cut -c 1-300 | head -n 4 | sed 's/^/  /' >&2
	for request in "$cache"/requests/*; do
		requested "${request##*/}" >/dev/null && have+=("${request##*/}")
	done
	[ ${#have[@]} -eq 0 ] || say "without a network there are: ${have[*]}"
}

# apt_view COMMAND...: apt's command on the current view, its words in $scratch/apt.log
apt_view() {
	local command=$1
	shift
	"$command" -c "$view/apt.conf" "$@"
}

# update_lists [force]: the view's lists, where they are missing or old. 1: no such suite here.
update_lists() {
	if [ "${1:-}" != force ] && [ -f "$view/updated" ] &&
		[ -z "$(find "$view/updated" -mmin +$LISTS_MAX_AGE_MIN)" ]; then
		return 0
	fi
	say "reading the package lists of ${view##*/}"
	rm -f "$view/updated"
	if timeout $UPDATE_TIMEOUT_S apt-get -c "$view/apt.conf" -q update >"$scratch/apt.log" 2>&1 </dev/null; then
		touch "$view/updated"
		return 0
	fi
	if grep -qE ' 404 |File not found' "$scratch/apt.log"; then
		return 1
	fi
	if grep -qE 'NO_PUBKEY|EXPKEYSIG|BADSIG|not signed|signatures were invalid|cannot be authenticated' "$scratch/apt.log"; then
		apt_words
		die "$site: the signatures of ${view##*/} do not verify with $key: update the package debian-archive-keyring, or use another mirror"
	fi
	apt_words
	die "$site: the package lists of ${view##*/} could not be read (is there a network? KTT_APT_MIRROR names another mirror)"
}

# ---- kernels ------------------------------------------------------------------------------------

# list_kernels SUITE DEBARCH: "VERSION RELEASE SUITE PACKAGE..." a line, of the current view.
# Cloud kernels: KVM built in on arm64, modules on x86, and small. One package up to 6.18; later
# the bootable file and the modules are in two, of which superseded ones may be half gone.
list_kernels() {
	apt_view apt-cache dumpavail 2>/dev/null | awk -v suite="$1" -v end="-cloud-$2\$" '
		$1 == "Package:" { name = $2 }
		$1 == "Version:" && name ~ /^linux-(image|binary|modules)-[0-9]/ && name ~ end {
			kind = name
			sub(/^linux-/, "", kind)
			release = kind
			sub(/-.*/, "", kind)
			sub(/^[a-z]*-/, "", release)
			have[kind, release] = $2
			releases[release] = 1
		}
		END {
			for (release in releases) {
				if (("binary", release) in have && ("modules", release) in have)
					print have["binary", release], release, suite,
						"linux-binary-" release, "linux-modules-" release
				else if (("image", release) in have && !(("binary", release) in have))
					print have["image", release], release, suite, "linux-image-" release
			}
		}' | sort -V
}

# matching VERSION: of list_kernels' lines those whose package version or release is VERSION or
# goes on after it with another component (6.1 is not 6.12)
matching() {
	awk -v want="$1" '
		function begins(s) {
			return s == want || (index(s, want) == 1 && substr(s, length(want) + 1, 1) !~ /[0-9]/)
		}
		begins($1) || begins($2)'
}

# "6.1 (bookworm), 6.12 (bookworm-backports, trixie)" out of list_kernels' lines
summary() {
	awk '{
		split($1, part, /[.~+-]/)
		series = part[1] "." part[2]
		if (!(series in where)) order[++n] = series
		if (!((series, $3) in seen)) where[series] = where[series] (where[series] ? ", " : "") $3
		seen[series, $3] = 1
	}
	END { for (i = 1; i <= n; i++) printf "%s%s (%s)", (i > 1 ? "; " : ""), order[i], where[order[i]] }'
}

# download PACKAGE=VERSION...: into the scratch directory, verified by apt, and unpacked in root/
download_unpack() {
	local deb
	rm -rf "$scratch/debs" "$scratch/new"
	mkdir -p "$scratch/debs" "$scratch/new/root"
	(cd "$scratch/debs" &&
		timeout $DOWNLOAD_TIMEOUT_S apt-get -c "$view/apt.conf" -q download "$@") >"$scratch/apt.log" 2>&1 </dev/null ||
		return 1
	unpack
}

unpack() {
	local deb
	for deb in "$scratch"/debs/*.deb; do
		dpkg-deb -x "$deb" "$scratch/new/root" 2>"$scratch/apt.log" || {
			sed 's/^/  /' "$scratch/apt.log" >&2
			die "${deb##*/} cannot be unpacked into $cache (is the disk full?)"
		}
	done
	rm -rf "$scratch/debs"
	(cd "$scratch/new/root" && rm -rf usr/share/doc usr/share/man usr/share/locale usr/share/bug \
		usr/share/lintian usr/share/info)
}

# candidates FORCE: all kernels that answer $what, newest last, into $scratch/candidates; all that
# there are into $scratch/kernels
candidates() {
	local suite looked=0
	: >"$scratch/kernels"
	for suite in $where; do
		view "$suite" "$debarch"
		if update_lists "$1"; then
			looked=1
			list_kernels "$suite" "$debarch" >>"$scratch/kernels"
		else
			[ "$where" = "$what" ] &&
				die "$site has no suite '$suite'; those that a version is looked for in are: $suites"
			say "$site has no suite '$suite', going on without it"
		fi
	done
	[ $looked = 1 ] || die "$site has none of the suites $where"
	sort -V -o "$scratch/kernels" "$scratch/kernels"
	if [ "$where" = "$what" ]; then
		cp "$scratch/kernels" "$scratch/candidates"
	else
		matching "$what" <"$scratch/kernels" >"$scratch/candidates"
	fi
	[ -s "$scratch/candidates" ] ||
		die "no cloud kernel $what for $arch in $where; there are: $(summary <"$scratch/kernels" | grep . || echo none)"
}

# The newest candidate as a cache entry; sets $entry. 1: it could not be downloaded.
take_kernel() {
	local version release suite packages package wanted=() file modules
	read -r version release suite packages < <(tail -n 1 "$scratch/candidates")
	entry=$cache/kernels/$arch/$release
	discard_damaged "$entry"
	[ -e "$entry" ] && return 0
	for package in $packages; do
		wanted+=("$package=$version")
	done
	say "fetching kernel $release ($version, $suite) for $arch"
	view "$suite" "$debarch"
	download_unpack "${wanted[@]}" || return 1
	cd "$scratch/new" || exit 3
	file=$(first root/boot/vmlinuz-* "root/usr/lib/modules/$release/vmlinuz")
	modules=$(first "root/usr/lib/modules/$release" "root/lib/modules/$release")
	cd / || exit 3
	if [ -z "$file" ] || [ -z "$modules" ]; then
		die "package $packages $version has no vmlinuz or no modules where they are expected: report this, with the version"
	fi
	{
		echo "kernel=./$file"
		echo "modules=./$modules"
		echo "version=$release"
		echo "package_version=$version"
		echo "suite=$suite"
	} >"$scratch/new/entry"
	finish "$scratch/new" "$entry"
}

fetch_kernel() {
	local request=kernel-$arch-$what entry where
	if [ $update = no ] && entry=$(requested "$request"); then
		print_entry "$entry"
		return
	fi
	need_tools
	lock
	# Another process may have fetched it while we waited for the lock.
	if [ $update = no ] && entry=$(requested "$request"); then
		print_entry "$entry"
		return
	fi
	key=$(keyring) || exit 3
	site=$(mirror) || exit 3
	debarch=$(debian_arch "$arch")
	case $what in
	[0-9]*) where=$suites ;;
	*) where=$what ;;
	esac
	candidates "$([ $update = yes ] && echo force)"
	if ! take_kernel; then
		# Lists of yesterday name files that are gone today.
		candidates force
		take_kernel || {
			apt_words
			die "$site: kernel $what for $arch could not be downloaded (is there a network, is the disk full?)"
		}
	fi
	remember "$request" "$entry"
	print_entry "$entry"
}

# ---- QEMU ---------------------------------------------------------------------------------------

# write_wrapper NAME: a command that runs the unpacked QEMU through its own loader and libraries.
# It execs, so a parent-death signal set by its caller stays; paths are relative to it, so that
# the cache can be moved.
write_wrapper() {
	local loader dir libraries=() data=() modules
	cd "$scratch/new" || exit 3
	# The file itself: other names of it are links, some with a target outside the tree.
	loader=$(find root/lib root/usr/lib root/lib64 root/usr/lib64 -type f -name 'ld-linux-*.so.*' 2>/dev/null | head -n 1)
	[ -n "$loader" ] || loader=$(find root/lib root/usr/lib -type f -name 'ld-2.*.so' | head -n 1)
	[ -n "$loader" ] || die "libc6 of $what has no ld-linux where it is expected: report this"
	for dir in root/lib/*-linux-gnu root/usr/lib/*-linux-gnu; do
		[ -d "$dir" ] && libraries+=("\$here/$dir")
	done
	for dir in root/usr/share/qemu root/usr/share/seabios root/usr/lib/ipxe/qemu; do
		[ -d "$dir" ] && data+=("-L \"\$here/$dir\"")
	done
	modules=$(first root/usr/lib/*-linux-gnu/qemu)
	cat >"$1" <<-END
		#!/bin/sh
		# Written by kvm-time-tests' scripts/fetch.sh: runs the QEMU unpacked beside it.
		here=\${0%/*}
		export QEMU_MODULE_DIR="\$here/$modules"
		exec "\$here/$loader" --library-path "$(
			IFS=:
			echo "${libraries[*]}"
		)" \\
			"\$here/root/usr/bin/$1" ${data[*]} "\$@"
	END
	chmod +x "$1"
	cd / || exit 3
}

# The closure brings programs and data that no machine of ours reads: half of its size.
prune_qemu() {
	cd "$scratch/new/root" || exit 3
	rm -rf etc var sbin usr/sbin usr/lib/systemd usr/lib/*/systemd usr/lib/*/gconv usr/lib/locale
	find usr/bin bin ! -type d ! -name qemu-system-x86_64 ! -name qemu-system-aarch64 -delete 2>/dev/null
	cd / || exit 3
}

# take_qemu: packages of the view with all that they depend on, as a cache entry. 1: no download.
take_qemu() {
	local name version
	rm -rf "$scratch/debs" "$scratch/new"
	mkdir -p "$scratch/debs/partial" "$scratch/new/root"
	# Nothing is installed: with an empty status file, apt downloads the whole closure.
	timeout $DOWNLOAD_TIMEOUT_S apt-get -c "$view/apt.conf" -q -t "$what" --download-only \
		-o "Dir::Cache::archives=$scratch/debs" install qemu-system-x86 qemu-system-arm \
		>"$scratch/apt.log" 2>&1 </dev/null || return 1
	unpack
	prune_qemu
	for name in qemu-system-x86_64 qemu-system-aarch64; do
		[ -x "$scratch/new/root/usr/bin/$name" ] || die "QEMU of $what has no $name: report this"
		write_wrapper $name
		version=$(timeout 30 "$scratch/new/$name" --version 2>"$scratch/apt.log" |
			sed -n 's/^QEMU emulator version \([^ ]*\).*/\1/p')
		[ -n "$version" ] || {
			sed 's/^/  /' "$scratch/apt.log" >&2
			die "QEMU of $what does not run on this host (its own words above)"
		}
	done
	{
		echo "qemu_x86_64=./qemu-system-x86_64"
		echo "qemu_arm64=./qemu-system-aarch64"
		echo "version=$version"
		echo "package_version=$package_version"
		echo "suite=$what"
	} >"$scratch/new/entry"
	finish "$scratch/new" "$entry"
}

# find_qemu FORCE: sets $package_version of the view
find_qemu() {
	local base=${what%-backports}
	# Backports stand on their base suite.
	if [ "$base" = "$what" ]; then
		view "$what" "$debarch"
	else
		view "$base+$what" "$debarch"
	fi
	update_lists "$1" || die "$site has no suite '$what'; known are: $suites"
	package_version=$(apt_view apt-cache -t "$what" policy qemu-system-x86 2>/dev/null |
		sed -n 's/^ *Candidate: //p')
	case $package_version in
	"" | "(none)") die "suite $what has no package qemu-system-x86 for $debarch" ;;
	esac
}

fetch_qemu() {
	local debarch entry request package_version
	debarch=$(debian_arch "$(uname -m)") || exit 3
	request=qemu-$debarch-$what
	if [ $update = no ] && entry=$(requested "$request"); then
		print_entry "$entry"
		return
	fi
	need_tools
	lock
	if [ $update = no ] && entry=$(requested "$request"); then
		print_entry "$entry"
		return
	fi
	key=$(keyring) || exit 3
	site=$(mirror) || exit 3
	find_qemu "$([ $update = yes ] && echo force)"
	entry=$cache/qemu/${package_version#*:}-$debarch
	discard_damaged "$entry"
	if [ ! -e "$entry" ]; then
		say "fetching QEMU $package_version ($what, with its libraries) for $debarch"
		if ! take_qemu; then
			find_qemu force
			entry=$cache/qemu/${package_version#*:}-$debarch
			take_qemu || {
				apt_words
				die "$site: QEMU of $what could not be downloaded (is there a network, is the disk full?)"
			}
		fi
	fi
	remember "$request" "$entry"
	print_entry "$entry"
}

# ---- arguments ----------------------------------------------------------------------------------

update=no
if [ "${1:-}" = --update ]; then
	update=yes
	shift
fi
case ${1:-} in
-h | --help)
	usage
	exit 0
	;;
kernel) [ $# -eq 3 ] || die "kernel takes VERSION|SUITE and ARCH: scripts/fetch.sh kernel 6.12 arm64" ;;
qemu) [ $# -eq 2 ] || die "qemu takes SUITE: scripts/fetch.sh qemu trixie" ;;
*) die "'${1:-}': nothing that is fetched; it is kernel or qemu (scripts/fetch.sh --help)" ;;
esac

what=$2
[[ $what =~ ^[a-z0-9][a-z0-9.+~-]*$ ]] ||
	die "'$what' is neither a version (6.12) nor a suite's name (trixie)"
cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
case $cache in
/*) cache=$cache/kvm-time-tests ;;
"") die "neither HOME nor XDG_CACHE_HOME is set: no place for the cache" ;;
*) die "XDG_CACHE_HOME='$cache': it has to be an absolute path" ;;
esac
case $cache in
*[\"\|\\:\;\&\$\`]* | *$'\n'*) die "cache directory '$cache': its path has characters that apt or the program loader cannot take: set XDG_CACHE_HOME to another" ;;
esac

case $1 in
kernel)
	arch=$3
	case $arch in
	x86_64 | arm64) ;;
	*) die "unknown architecture '$arch': it is x86_64 or arm64" ;;
	esac
	fetch_kernel
	;;
qemu) fetch_qemu ;;
esac
