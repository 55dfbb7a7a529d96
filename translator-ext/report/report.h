/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stapwatch report: what a profile's trace tells. */
#ifndef STAPWATCH_REPORT_H
#define STAPWATCH_REPORT_H

/**
 * cmd_report - report [options] FILE|-
 * @argc: of @argv
 * @argv: argv[0] is "report"
 *
 * Return: the exit status: 0, also where something is lost, which lines on
 * stderr tell of; 1 if there is no trace to be read, or it could not be written
 * out
 */
int cmd_report(int argc, char **argv);

#endif
