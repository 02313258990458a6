# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prints the comment at the head of a C file, the line with its licence left out, as plain text.

/SPDX-License-Identifier/ { next }
!within && !/^\/\*/ { exit }
{
	within = 1
	last = /\*\//
	sub(/^\/\*+ ?/, "")
	sub(/ ?\*+\/.*/, "")
	sub(/^ \* ?/, "")
	if ($0 != "" || printed) {
		print
		printed = 1
	}
	if (last)
		exit
}
