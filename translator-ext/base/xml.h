/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text in XML, which knows no control characters, nor bytes that are no UTF-8. */
#ifndef STAPWATCH_XML_H
#define STAPWATCH_XML_H

#include <stddef.h>

#include "base/buf.h"

/** xml_text - TEXT, in an element or between quotes; MOST characters of it */
void xml_text(struct buf *out, const char *text, size_t most);

#endif
