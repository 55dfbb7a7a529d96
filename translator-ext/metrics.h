/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch metrics: the counters of maps, as OpenMetrics text.
 */
#ifndef STAPWATCH_METRICS_H
#define STAPWATCH_METRICS_H

/**
 * cmd_metrics - metrics [--listen ADDR:PORT] [MAP...]
 * @argc: of @argv
 * @argv: argv[0] is "metrics"
 *
 * Return: the exit status: 0; 1 if a map could not be read, or not all of it be
 * written, which a line on stderr then tells of
 */
int cmd_metrics(int argc, char **argv);

#endif
