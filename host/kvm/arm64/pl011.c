// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The registers of the PL011 (Arm DDI 0183G, table 3-1).
 */
#include "kvm/arm64/pl011.h"

#include "kvm/vm.h"

#define UARTDR	      0x000
#define UARTFR	      0x018
#define UARTIBRD      0x024
#define UARTFBRD      0x028
#define UARTLCR_H     0x02c
#define UARTCR	      0x030
#define UARTIFLS      0x034
#define UARTIMSC      0x038
#define UARTPERIPHID0 0xfe0

#define FR_RXFE BIT(4)
#define FR_TXFE BIT(7)

/* UARTPeriphID0 to 3 and UARTPCellID0 to 3, of revision r1p5. */
static const u8 identification[] = { 0x11, 0x10, 0x34, 0x00, 0x0d, 0xf0, 0x05, 0xb1 };

static u64 read_identification(u64 offset)
{
	u64 index = (offset - UARTPERIPHID0) / 4;

	return index < sizeof(identification) ? identification[index] : 0;
}

static u64 pl011_read(struct vcpu *vcpu, void *ctx, u64 offset, unsigned int len)
{
	struct pl011 *p = ctx;
	int byte;

	switch (offset) {
	case UARTDR:
		byte = console_get(vcpu->vm);
		return byte < 0 ? 0 : byte;
	case UARTFR:
		return FR_TXFE | (console_has_input(vcpu->vm) ? 0 : FR_RXFE);
	case UARTIBRD:
		return p->ibrd;
	case UARTFBRD:
		return p->fbrd;
	case UARTLCR_H:
		return p->lcr_h;
	case UARTCR:
		return p->cr;
	case UARTIMSC:
		return p->imsc;
	default:
		return offset >= UARTPERIPHID0 ? read_identification(offset) : 0;
	}
}

static void pl011_write(struct vcpu *vcpu, void *ctx, u64 offset, u64 value, unsigned int len)
{
	struct pl011 *p = ctx;
	char byte = value;

	switch (offset) {
	case UARTDR:
		console_put(vcpu->vm, &byte, 1);
		break;
	case UARTIBRD:
		p->ibrd = value & 0xffff;
		break;
	case UARTFBRD:
		p->fbrd = value & 0x3f;
		break;
	case UARTLCR_H:
		p->lcr_h = value & 0xff;
		break;
	case UARTCR:
		p->cr = value & 0xffff;
		break;
	case UARTIMSC:
		p->imsc = value & 0x7ff;
		break;
	}
}

struct device pl011_device(struct pl011 *p, u64 base, u64 size)
{
	return (struct device){
		.name = "PL011",
		.base = base,
		.size = size,
		.read = pl011_read,
		.write = pl011_write,
		.ctx = p,
	};
}
