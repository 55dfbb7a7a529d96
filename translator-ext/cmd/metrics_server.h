/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics for whoever scrapes them, over HTTP.
 */
#ifndef STAPWATCH_METRICS_SERVER_H
#define STAPWATCH_METRICS_SERVER_H

/**
 * metrics_serve - answer until SIGINT or SIGTERM comes
 * @listen: ADDR:PORT
 * @maps: as metrics_collect() has them, which is asked for each answer
 *
 * Return: the exit status: 0; 1 after a message
 */
int metrics_serve(const char *listen, char *const *maps, int nr);

#endif
