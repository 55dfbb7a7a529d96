/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What must hold whatever a fuzzer comes up with. */
#ifndef ENSURE_H
#define ENSURE_H

#include <stdio.h>
#include <stdlib.h>

#define ensure(ok) do {							\
	if (!(ok)) {							\
		fprintf(stderr, "%s:%d: broken: %s\n", __FILE__,	\
			__LINE__, #ok);					\
		abort();						\
	}								\
} while (0)

#endif
