/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What CPUs did in interrupts and in each kind of softirq in an interval. */
#ifndef STAPWATCH_PPA_IRQS_H
#define STAPWATCH_PPA_IRQS_H

#include "cmd/ppa_interval.h"

/** ppa_irqs_table - the kinds that there were on each CPU, sorted; else CPU by CPU */
void ppa_irqs_table(const struct ppa_interval *p, struct buf *out);

/** ppa_irqs_json - for each CPU all kinds, which with the rest sum to its time;
 * the CPUs sorted by all of it */
void ppa_irqs_json(const struct ppa_interval *p, struct buf *out);

#endif
