/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where data came from, as the PMU tells: perf's union perf_mem_data_src. */
#ifndef STAPWATCH_DATA_SOURCE_H
#define STAPWATCH_DATA_SOURCE_H

#include <stdint.h>

#include "base/buf.h"

/** data_source_text - "load L3 hit"; "-" where it tells nothing */
void data_source_text(uint64_t data_src, struct buf *out);

#endif
