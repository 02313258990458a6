// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * uart16550.c against a model of the device: what it sends arrives in order and whole, the FIFO is
 * used where there is one, and a transmitter that never drains holds nobody up for ever.
 */
#include "support.h"

#define FIFO 16

static struct model {
	bool has_fifo, fifo_on, dlab;
	u8 ier, mcr;
	unsigned polls_to_drain; /* LSR reads until the transmitter is empty */
	bool never_drains;
	unsigned busy_polls; /* still to go */
	unsigned in_fifo;
	char sent[4096];
	size_t nr_sent, lost;
	const char *input;
	unsigned lsr_reads;
} model;

static u8 read_lsr(void)
{
	bool empty;

	model.lsr_reads++;
	if (model.busy_polls && !model.never_drains)
		model.busy_polls--;
	empty = !model.busy_polls;
	if (empty)
		model.in_fifo = 0;
	return (empty ? 0x60 : 0) | (*model.input ? 1 : 0);
}

static u8 model_read(const struct uart16550 *u, unsigned int reg)
{
	assert_int_equal(u->base, 0x3f8);
	switch (reg) {
	case 0:
		assert_false(model.dlab);
		return *model.input ? (u8)*model.input++ : 0;
	case 2:
		return model.fifo_on ? 0xc1 : 0x01;
	case 5:
		return read_lsr();
	}
	fail_msg("read of register %u", reg);
	return 0;
}

static void transmit(u8 value)
{
	unsigned room = model.fifo_on ? FIFO : 1;

	if (model.in_fifo == room) {
		model.lost++;
		return;
	}
	model.in_fifo++;
	model.busy_polls = model.polls_to_drain;
	model.sent[model.nr_sent++] = (char)value;
}

static void model_write(const struct uart16550 *u, unsigned int reg, u8 value)
{
	switch (reg) {
	case 0:
		assert_false(model.dlab);
		transmit(value);
		break;
	case 1:
		model.ier = value;
		break;
	case 2:
		model.fifo_on = model.has_fifo && (value & 1);
		break;
	case 3:
		model.dlab = value & 0x80;
		assert_int_equal(value & 0x7f, 0x03);
		break;
	case 4:
		model.mcr = value;
		break;
	default:
		fail_msg("write of register %u", reg);
	}
}

static struct uart16550 start(bool has_fifo, unsigned polls_to_drain)
{
	struct uart16550 u = { .read = model_read, .write = model_write, .base = 0x3f8 };

	/* As firmware may leave it: divisor latch on, interrupts on. */
	model = (struct model){ .has_fifo = has_fifo,
				.polls_to_drain = polls_to_drain,
				.dlab = true,
				.ier = 0xf,
				.input = "" };
	uart16550_init(&u);
	unit_relax = NULL;
	return u;
}

static void test_init(void **state)
{
	struct uart16550 u = start(true, 1);

	assert_int_equal(u.fifo_bytes, FIFO);
	assert_int_equal(model.ier, 0);
	assert_int_equal(model.mcr & 3, 3);
	assert_false(model.dlab);
	assert_int_equal(start(false, 1).fifo_bytes, 1);
}

static void test_all_is_sent_in_order(void **state)
{
	char text[1000];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 7);
	for (int fifo = 0; fifo < 2; fifo++) {
		for (size_t len = 0; len < sizeof(text); len += 13) {
			struct uart16550 u = start(fifo, 3);

			uart16550_write(&u, text, len);
			assert_int_equal(model.lost, 0);
			assert_int_equal(model.nr_sent, len);
			assert_memory_equal(model.sent, text, len);
		}
	}
}

static void test_the_fifo_saves_polls(void **state)
{
	struct uart16550 u = start(true, 1);
	char text[64] = "";

	uart16550_write(&u, text, sizeof(text));
	assert_int_equal(model.nr_sent, 64);
	assert_int_equal(model.lsr_reads, 4);
	/* What comes later finds a FIFO that may not be empty: it has to ask. */
	uart16550_write(&u, text, 1);
	assert_int_equal(model.lsr_reads, 5);
}

static void test_a_transmitter_that_hangs(void **state)
{
	struct uart16550 u = start(true, 1);
	unsigned first;

	uart16550_write(&u, "begin", 5);
	model.busy_polls = 1;
	model.never_drains = true;
	uart16550_write(&u, "x", 1);
	assert_true(u.stuck);
	first = model.lsr_reads;
	/* From now on it costs little. */
	for (int i = 0; i < 100; i++)
		uart16550_write(&u, "y", 1);
	assert_true(model.lsr_reads - first < first / 10);
	/* When it comes to life all is as before. */
	model.never_drains = false;
	uart16550_write(&u, "end", 3);
	assert_false(u.stuck);
	assert_memory_equal(model.sent + model.nr_sent - 3, "end", 3);
}

static void test_reading_does_not_wait(void **state)
{
	struct uart16550 u = start(true, 1);

	assert_int_equal(uart16550_read(&u), -1);
	model.input = "a\xff";
	assert_int_equal(uart16550_read(&u), 'a');
	assert_int_equal(uart16550_read(&u), 0xff);
	assert_int_equal(uart16550_read(&u), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init),
		cmocka_unit_test(test_all_is_sent_in_order),
		cmocka_unit_test(test_the_fifo_saves_polls),
		cmocka_unit_test(test_a_transmitter_that_hangs),
		cmocka_unit_test(test_reading_does_not_wait),
	};

	return cmocka_run_group_tests_name("uart16550", tests, NULL, NULL);
}
