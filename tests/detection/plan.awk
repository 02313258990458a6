# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes the plan of a run: a config in the dialect of unittests.cfg. Reads lines "NAME FAULT TEST CHECK"
# (FAULT "-": none, CHECK "-": all) and then unittests.cfg, of which each TEST's section for the
# architecture -v arch= is copied under the name NAME, with the key fault. See run.sh.

FNR == 1 { file++ }

file == 1 {
	wanted[$3] = wanted[$3] "\n" $1 " " $2 " " $4
	next
}

/^\[/ {
	emit()
	section = substr($1, 2, length($1) - 2)
	body = args = ""
	other_arch = has_image = 0
	next
}

/^arch *=/ {
	other_arch = index($0, arch) == 0
	body = body "\n" $0
	next
}

/^(groups|default|timeout) *=/ { next }
/^args *=/ {
	args = $0
	sub(/^args *= */, "", args)
	next
}
/^image *=/ { has_image = 1 }
/=/ { body = body "\n" $0 }

END { emit() }

function emit(    lines, n, i, words) {
	if (section == "" || other_arch || !(section in wanted))
		return
	n = split(wanted[section], lines, "\n")
	for (i = 2; i <= n; i++) {
		split(lines[i], words, " ")
		printf "[%s]%s\n", words[1], body
		if (!has_image)
			printf "image = %s\n", section
		if (body !~ /\narch *=/)
			printf "arch = %s\n", arch
		printf "timeout = 90\n"
		if (words[3] != "-")
			printf "args = %s check=%s\n", args, words[3]
		else if (args != "")
			printf "args = %s\n", args
		if (words[2] != "-")
			printf "fault = %s\n", words[2]
		printf "\n"
	}
}
