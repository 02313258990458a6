// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The registers of the 16550 (PC16550D data sheet, table 2).
 */
#include "kvm/x86/uart16550.h"

#include "kvm/vm.h"

enum {
	RBR_THR_DLL = 0,
	IER_DLM = 1,
	IIR_FCR = 2,
	LCR = 3,
	MCR = 4,
	LSR = 5,
	MSR = 6,
	SCR = 7,
	NR_REGISTERS = 8
};

#define IIR_NO_INTERRUPT 0x01
#define IIR_FIFOS	 0xc0
#define FCR_ENABLE	 0x01
#define LCR_DIVISOR	 0x80
#define MCR_LOOPBACK	 0x10
#define LSR_DATA_READY	 0x01
#define LSR_THR_EMPTY	 0x60 /* holding register and transmitter */
#define MSR_CONNECTED	 0xb0 /* DCD, DSR, CTS */

static u8 receive(struct vcpu *vcpu)
{
	int byte = console_get(vcpu->vm);

	return byte < 0 ? 0 : byte;
}

static u64 uart_read(struct vcpu *vcpu, void *ctx, u64 offset, unsigned int len)
{
	struct uart16550 *u = ctx;
	bool divisor = u->lcr & LCR_DIVISOR;

	switch (offset) {
	case RBR_THR_DLL:
		return divisor ? u->dll : receive(vcpu);
	case IER_DLM:
		return divisor ? u->dlm : u->ier;
	case IIR_FCR:
		return IIR_NO_INTERRUPT | (u->fifo ? IIR_FIFOS : 0);
	case LCR:
		return u->lcr;
	case MCR:
		return u->mcr;
	case LSR:
		return LSR_THR_EMPTY | (console_has_input(vcpu->vm) ? LSR_DATA_READY : 0);
	case MSR:
		return MSR_CONNECTED;
	default:
		return u->scr;
	}
}

static void transmit(struct vcpu *vcpu, struct uart16550 *u, u8 value)
{
	char byte = value;

	if (!(u->mcr & MCR_LOOPBACK))
		console_put(vcpu->vm, &byte, 1);
}

static void uart_write(struct vcpu *vcpu, void *ctx, u64 offset, u64 value, unsigned int len)
{
	struct uart16550 *u = ctx;
	bool divisor = u->lcr & LCR_DIVISOR;

	switch (offset) {
	case RBR_THR_DLL:
		if (divisor)
			u->dll = value;
		else
			transmit(vcpu, u, value);
		break;
	case IER_DLM:
		if (divisor)
			u->dlm = value;
		else
			u->ier = value & 0x0f;
		break;
	case IIR_FCR:
		u->fifo = value & FCR_ENABLE;
		break;
	case LCR:
		u->lcr = value;
		break;
	case MCR:
		u->mcr = value & 0x1f;
		break;
	case SCR:
		u->scr = value;
		break;
	}
}

struct device uart16550_device(struct uart16550 *u, u64 base)
{
	return (struct device){
		.name = "16550",
		.base = base,
		.size = NR_REGISTERS,
		.read = uart_read,
		.write = uart_write,
		.ctx = u,
	};
}
