/* SPDX-License-Identifier: MIT */
#include "util/text_line.h"

#include <stdarg.h>
#include <stdio.h>

struct text_line text_line_begin(char *text, size_t bytes)
{
    text[0] = '\0';
    return (struct text_line){text, bytes, 0};
}

void text_line_add(struct text_line *line, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(line->text + line->used, line->bytes - line->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        line->used += (size_t)length;
    if (line->used >= line->bytes)
        line->used = line->bytes - 1;
}
