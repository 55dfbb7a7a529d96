/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stapwatch ppa alone, for a guest that has no libpfm. */
#include "cmd/cmd.h"

int main(int argc, char **argv)
{
	return cmd_ppa(argc, argv);
}
