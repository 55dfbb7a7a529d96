/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stap says when it is asked something that it answers in lines. */
#ifndef STAPWATCH_ASK_H
#define STAPWATCH_ASK_H

/**
 * ask_stap - run a stap to its end
 * @path: which one
 * @argv: its arguments, NULL after the last; the first is its name
 * @on_line: gets each line of its stdout, without the line's end
 *
 * It reads nothing, and its messages are dropped: a caller that wants an answer
 * and gets none has one of its own.
 *
 * Return: -1 if it could not be started
 */
int ask_stap(const char *path, char *const argv[],
	     void (*on_line)(void *data, const char *line), void *data);

#endif
