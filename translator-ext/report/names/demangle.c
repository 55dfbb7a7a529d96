/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names as their sources have them; demangle.h says what is wanted of it. */
#include "report/names/demangle.h"

#include <stddef.h>

#ifdef HAVE_LIBIBERTY

#include <string.h>

/* Debian's place, and Fedora's */
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

/* What a name is made of may be in it again and again. */
#define LONGEST 4096

char *demangle(const char *name)
{
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    strnlen(name, LONGEST) == LONGEST)
		return NULL;
	return cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
}

#else /* !HAVE_LIBIBERTY */

char *demangle(const char *name)
{
	(void)name;
	return NULL;
}

#endif
