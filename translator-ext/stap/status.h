/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exit statuses of our own, as a shell's. */
#ifndef STAPWATCH_STATUS_H
#define STAPWATCH_STATUS_H

#define RUN_CANNOT 126		/* the program is there, but cannot be run */
#define RUN_NONE 127		/* there is none */
#define RUN_NO_STAP RUN_NONE

#endif
