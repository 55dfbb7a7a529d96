/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of metrics; metrics_page.h says what is wanted of it. */
#include "cmd/metrics_page.h"

#include <stddef.h>
#include <string.h>

#include "page_text.h"

const struct metrics_part *metrics_part(const char *url)
{
	static const struct metrics_part parts[] = {
		{ "/", "text/html; charset=utf-8", page_html },
		{ "/page.css", "text/css; charset=utf-8", page_css },
		{ "/page.js", "text/javascript; charset=utf-8", page_js },
	};
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(url, parts[i].url))
			return &parts[i];
	return NULL;
}
