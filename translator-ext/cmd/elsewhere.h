/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words that are typed out of habit: commands and options of perf, bcc and
 * bpftrace, and mistyped ones of ours.
 */
#ifndef STAPWATCH_ELSEWHERE_H
#define STAPWATCH_ELSEWHERE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * elsewhere_command - say of a first word that it is no command of ours
 * @word: what stands where a command or a script's file does
 *
 * Return: true after a message; false if the word has the form of a file's name, or is
 * the name of one
 */
bool elsewhere_command(const char *word);

/**
 * elsewhere_option - what an option of perf's or bcc's is here
 * @command: the subcommand
 * @option: as the user wrote it, up to @len; one that the subcommand does not have
 *
 * Return: the end of a sentence; NULL if nothing is known of it
 */
const char *elsewhere_option(const char *command, const char *option,
			     size_t len);

#endif
