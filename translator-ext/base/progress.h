/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is being done, and how much of it is, for who waits at a terminal.
 */
#ifndef STAPWATCH_PROGRESS_H
#define STAPWATCH_PROGRESS_H

/**
 * progress - say how far it is
 * @what: "reading"
 * @permille: of all of it; -1 if nobody knows
 *
 * May be called often: nothing is shown in the first half second, and then
 * twice a second at most, and never where stderr is no terminal.
 */
void progress(const char *what, int permille);

/** progress_end - take away what was shown */
void progress_end(void);

#endif
