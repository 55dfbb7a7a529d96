/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch list: what can be counted, by whatever name.
 */
#ifndef STAPWATCH_LIST_H
#define STAPWATCH_LIST_H

/**
 * cmd_list - list [PATTERN] [--json] [--pmu NAME]
 * @argc: of @argv
 * @argv: argv[0] is "list"
 *
 * Return: the exit status: 0; 1 if nothing was listed, or not all of it, which
 * a line on stderr then tells of
 */
int cmd_list(int argc, char **argv);

#endif
