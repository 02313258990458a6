/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The console that the devicetree names.
 */
#ifndef ARM64_UART_H
#define ARM64_UART_H

/* Sets the console to machine()'s UART; without one there is no console. */
void uart_init(void);

/* The driver of pl011.c; its registers are mapped. */
void pl011_init(void);

#endif
