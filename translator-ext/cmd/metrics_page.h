/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page at / of stapwatch metrics --listen, in the parts that a browser asks for:
 * page.html, page.css and page.js of page/, which ask this server and no other.
 */
#ifndef STAPWATCH_METRICS_PAGE_H
#define STAPWATCH_METRICS_PAGE_H

struct metrics_part {
	const char *url;
	const char *type;
	const char *text;
};

/* What a browser may do with any of them: no script but ours, nothing from elsewhere. */
#define METRICS_POLICY "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** metrics_part - what is at @url; NULL if it is none of the page's */
const struct metrics_part *metrics_part(const char *url);

#endif
