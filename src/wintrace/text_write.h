/* SPDX-License-Identifier: MIT */
/* What Windows' tracerpt makes of a trace: one of its two forms of text. */
#ifndef DXGK_WINTRACE_TEXT_WRITE_H
#define DXGK_WINTRACE_TEXT_WRITE_H

#include <stdbool.h>
#include <stdio.h>

struct wintrace_sink;

/* False: it could not be written. */
bool csv_write(const struct wintrace_sink *sink, FILE *out);
bool xml_write(const struct wintrace_sink *sink, FILE *out);

#endif
