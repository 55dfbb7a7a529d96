/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file for what a subcommand prints. */
#ifndef STAPWATCH_OUTPUT_H
#define STAPWATCH_OUTPUT_H

#include <stdbool.h>

/** output_is_trace - would a trace be lost if that file were written? */
bool output_is_trace(const char *file);

/**
 * output_spare_trace - refuse to write where a trace is
 * @option: that the file was given for
 *
 * Return: 0, or -1 after a message
 */
int output_spare_trace(const char *command, const char *option, const char *file);

/**
 * output_open - open the file of -o, and empty it; a trace is refused
 *
 * Before anything is measured: what could not be written would be lost.
 *
 * Return: its descriptor, or -1 after a message
 */
int output_open(const char *command, const char *file);

#endif
