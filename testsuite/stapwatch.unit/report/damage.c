/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * damage FILE: a trace that is cut off at every byte, and one of which every
 * byte is another: all of that goes through LLVMFuzzerTestOneInput(), and the
 * damaged ones stand in ./damaged meanwhile.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned int runs;

static void try(const uint8_t *bytes, size_t size)
{
	FILE *f = fopen("damaged", "w");

	if (!f || fwrite(bytes, 1, size, f) != size || fclose(f))
		abort();
	alarm(60);
	LLVMFuzzerTestOneInput(bytes, size);
	runs++;
}

int main(int argc, char **argv)
{
	static const uint8_t others[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	static uint8_t bytes[1 << 20];
	size_t size, i, k;
	uint8_t was;
	FILE *f;

	f = argc == 2 ? fopen(argv[1], "r") : NULL;
	if (!f)
		return 2;
	size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	for (i = 0; i <= size; i++)
		try(bytes, i);
	for (i = 0; i < size; i++) {
		was = bytes[i];
		for (k = 0; k < sizeof(others); k++) {
			bytes[i] = others[k];
			try(bytes, size);
		}
		bytes[i] = was ^ 1;
		try(bytes, size);
		bytes[i] = was;
	}
	printf("%u traces\n", runs);
	return 0;
}
