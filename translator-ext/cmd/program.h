/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program of a COMMAND. */
#ifndef STAPWATCH_PROGRAM_H
#define STAPWATCH_PROGRAM_H

/**
 * program_check - can it be run?
 * @who: the subcommand, for the message
 * @name: COMMAND's first word; NULL where there is none, or a shell finds it
 *
 * Return: 0, or a shell's status after a message: RUN_CANNOT if it cannot be executed,
 * RUN_NONE if there is none
 */
int program_check(const char *who, const char *name);

#endif
