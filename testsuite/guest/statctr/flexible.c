// SPDX-License-Identifier: GPL-2.0-or-later
/* fixed.c with the flexible allocator. */
#define STATCTR_FLEXIBLE
#include "fixed.c"
