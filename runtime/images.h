/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STAPWATCH_IMAGES_H
#define STAPWATCH_IMAGES_H

#include "trace.h"

static bool sw_image_finish(struct trace_record *r)
{
	return true;
}

static void sw_image_drop(struct trace_record *r)
{
}

static int sw_images_start(void)
{
	return 0;
}

static void sw_images_stop(void)
{
}

#endif
