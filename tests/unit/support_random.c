// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random numbers that a seed repeats: SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom
 * number generators, 2014).
 */
#include "support.h"

static u64 state;

u64 unit_seed(void)
{
	const char *text = getenv("UNIT_SEED");

	return text ? strtoull(text, NULL, 0) : 0x74696d65;
}

void random_start(u64 seed)
{
	state = seed;
}

u64 random_u64(void)
{
	u64 z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

u64 random_below(u64 n)
{
	return (u64)(((u128)random_u64() * n) >> 64);
}

u64 random_edgy_u64(void)
{
	unsigned int bits = (unsigned int)random_below(65);
	u64 mask = bits < 64 ? (1ULL << bits) - 1 : UINT64_MAX;

	switch (random_below(4)) {
	case 0:
		return mask;
	case 1:
		return mask + 1;
	case 2:
		return mask + 2;
	default:
		return random_u64() & mask;
	}
}
