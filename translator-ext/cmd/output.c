/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What -o does to a file; output.h says what is wanted of it. */
#include "cmd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/shown.h"
#include "report/input/trace_read.h"

bool output_is_trace(const char *file)
{
	struct buf why = { 0 };
	struct trace *t;
	struct stat st;

	/* what comes from a pipe would be gone */
	if (stat(file, &st) || !S_ISREG(st.st_mode))
		return false;
	t = trace_open(file, &why);
	free(why.s);
	if (t)
		trace_close(t);
	return t;
}

int output_spare_trace(const char *command, const char *option, const char *file)
{
	if (!output_is_trace(file))
		return 0;
	shown_line(stderr, "stapwatch %s: %s would overwrite a trace: %s; give another FILE, or remove that one",
		   command, option, file);
	return -1;
}

int output_open(const char *command, const char *file)
{
	int fd;

	if (output_spare_trace(command, "-o", file))
		return -1;
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		shown_line(stderr, "stapwatch %s: %s: %s", command, file,
			   strerror(errno));
	return fd;
}
