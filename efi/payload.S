/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The image that the application carries, PAYLOAD, and its arguments, PAYLOAD_ARGS.
 */
	.section .rodata.payload, "a"
	.global	payload, payload_end, payload_args
	.balign	4096
payload:
	.incbin	PAYLOAD
payload_end:
	.byte	0
payload_args:
	.asciz	PAYLOAD_ARGS
