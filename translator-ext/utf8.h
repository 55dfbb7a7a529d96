/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UTF-8, of which what others named may be none.
 */
#ifndef STAPWATCH_UTF8_H
#define STAPWATCH_UTF8_H

#include <stddef.h>

/**
 * utf8_length - how many bytes of UTF-8 a text begins with; 0 if these are none
 */
size_t utf8_length(const char *text);

#endif
