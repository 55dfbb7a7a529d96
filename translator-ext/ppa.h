/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch ppa: where the time of CPUs and threads goes.
 */
#ifndef STAPWATCH_PPA_CMD_H
#define STAPWATCH_PPA_CMD_H

/**
 * cmd_ppa - ppa [-p PID | -a] [-i SECS] [-n COUNT] [--sort KEY] [--json] [MODULE]
 * @argc: of @argv
 * @argv: argv[0] is "ppa"
 *
 * Return: the exit status
 */
int cmd_ppa(int argc, char **argv);

#endif
