/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exit statuses of our own, as a shell's. */
#ifndef STAPWATCH_STATUS_H
#define STAPWATCH_STATUS_H

#define RUN_CANNOT 126		/* stap is there, but cannot be run */
#define RUN_NO_STAP 127

#endif
