/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/bar.h"

const char *bar(unsigned int level, bool utf8)
{
	static const char *const bars[][2] = {
		{ "_", "▁" }, { ".", "▂" }, { ":", "▃" }, { "-", "▄" },
		{ "=", "▅" }, { "+", "▆" }, { "*", "▇" }, { "#", "█" },
	};

	return bars[level][utf8];
}
