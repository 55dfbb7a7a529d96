/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * damage FILE N: a trace that is cut off at every byte, and one of which every
 * byte is another, N others of six in turn: all of that goes through
 * LLVMFuzzerTestOneInput(), and the damaged ones stand in ./damaged meanwhile.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try(const uint8_t *bytes, size_t size)
{
	FILE *f = fopen("damaged", "w");

	if (!f || fwrite(bytes, 1, size, f) != size || fclose(f))
		abort();
	alarm(60);
	LLVMFuzzerTestOneInput(bytes, size);
}

int main(int argc, char **argv)
{
	uint8_t others[] = { 0x00, 0x01, 0x7f, 0x80, 0xff, 0 };
	static uint8_t bytes[1 << 20];
	size_t size, i, k, n;
	uint8_t was;
	FILE *f;

	f = argc == 3 ? fopen(argv[1], "r") : NULL;
	if (!f)
		return 2;
	n = strtoul(argv[2], NULL, 10);
	size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	for (i = 0; i <= size; i++)
		try(bytes, i);
	for (i = 0; i < size; i++) {
		was = bytes[i];
		others[sizeof(others) - 1] = was ^ 1;
		for (k = i; k < i + n; k++) {
			bytes[i] = others[k % sizeof(others)];
			try(bytes, size);
		}
		bytes[i] = was;
	}
	return 0;
}
