/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subcommands, each in the file of its name: cmd_top() in top.c, with what
 * it alone needs in files beside it, top_rows.c and top_table.c.
 *
 * Of each: @argv[0] is its name, @argc is of @argv.  It says on stderr what went
 * wrong, and returns the exit status.
 */
#ifndef STAPWATCH_CMD_H
#define STAPWATCH_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/suggest.h"

/** cmd_name - the name of the Ith subcommand; NULL after the last */
const char *cmd_name(size_t i);

/** cmd_wants_help - is there a --help or -h among the arguments? */
bool cmd_wants_help(int argc, char **argv);

/**
 * cmd_put_options - the options that a subcommand has, as a message's end: "there are ..."
 * @name: one of cmd_name()
 */
void cmd_put_options(const char *name, struct buf *out);

/** cmd_offer_options - its long options, for one that is not known */
void cmd_offer_options(const char *name, struct suggest *s);

/** cmd_help - what a subcommand's --help prints; false if there is none of that name */
bool cmd_help(const char *name);

/**
 * cmd_help_of - the same
 *
 * help COMMAND
 *
 * Return: 0; 1 if there is no such command
 */
int cmd_help_of(int argc, char **argv);

/**
 * cmd_json_schema - the keys of what --json prints, as a JSON Schema
 *
 * --json-schema [COMMAND]
 *
 * Return: 0, with what stdout has not taken for the caller to find; 1 if there is no such
 * command
 */
int cmd_json_schema(int argc, char **argv);

/**
 * cmd_list - what can be counted, by whatever name
 *
 * list [PATTERN] [--json] [--pmu NAME]
 *
 * Return: 0; 1 if nothing was listed, or not all of it
 */
int cmd_list(int argc, char **argv);

/**
 * cmd_top - the counters of a map, live
 *
 * top [-n COUNT] [-d SECS] [--sort name|value|rate] [PATTERN] [MAP]
 *
 * Return: 0; 1 if there is nothing to show or no way to show it
 */
int cmd_top(int argc, char **argv);

/**
 * cmd_metrics - the counters of maps, as OpenMetrics text
 *
 * metrics [--listen ADDR:PORT | --prometheus] [MAP...]
 *
 * Return: 0; 1 if a map could not be read, or not all of it be written
 */
int cmd_metrics(int argc, char **argv);

/**
 * cmd_report - what a profile's trace tells
 *
 * report [options] FILE|-
 *
 * Return: 0, also where something is lost, which lines on stderr tell of; 1 if
 * there is no trace to be read, or it could not be written out
 */
int cmd_report(int argc, char **argv);

/**
 * cmd_ppa - where the time of CPUs and threads goes
 *
 * ppa [[-p] PID | -a] [-i SECS] [-n COUNT] [--sort KEY] [--json] [MODULE]
 *
 * Return: 0; 1 if there is no accounting, or no such process
 */
int cmd_ppa(int argc, char **argv);

/**
 * cmd_stat - what a command, or others, count
 *
 * stat [options] [COMMAND [ARGS]]
 *
 * Return: stap's exit status; 1 if there is nothing to count, or no counts came
 */
int cmd_stat(int argc, char **argv);

/**
 * cmd_latency - how long calls of functions take, and what they count
 *
 * latency [options] FUNCTION... [-- COMMAND [ARGS]]
 *
 * Return: stap's exit status; 1 if there is nothing to record, or nothing came
 */
int cmd_latency(int argc, char **argv);

/**
 * cmd_record - a trace of samples, for cmd_report()
 *
 * record [options] [COMMAND [ARGS]]
 *
 * Return: stap's exit status; 1 if there is nothing to sample
 */
int cmd_record(int argc, char **argv);

#endif
