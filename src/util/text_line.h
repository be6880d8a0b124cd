/* SPDX-License-Identifier: MIT */
/* A line of text that grows by parts; what does not fit is left out. */
#ifndef DXGK_UTIL_TEXT_LINE_H
#define DXGK_UTIL_TEXT_LINE_H

#include <stddef.h>

struct text_line {
    char *text;
    size_t bytes, used;
};

/* An empty line in `text`. */
struct text_line text_line_begin(char *text, size_t bytes);
void text_line_add(struct text_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
