/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch top: the counters of a map, live.
 */
#ifndef STAPWATCH_TOP_H
#define STAPWATCH_TOP_H

/**
 * cmd_top - top [-n COUNT] [-d SECS] [--sort name|value|rate] [PATTERN] [MAP]
 * @argc: of @argv
 * @argv: argv[0] is "top"
 *
 * Return: the exit status: 0; 1 if there is nothing to show or no way to show
 * it, which a line on stderr then tells of
 */
int cmd_top(int argc, char **argv);

#endif
