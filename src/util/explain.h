/* SPDX-License-Identifier: MIT */
/* Why something is refused, in words, for a caller who may not want to know. */
#ifndef DXGK_UTIL_EXPLAIN_H
#define DXGK_UTIL_EXPLAIN_H

#include <stddef.h>

/* Write one line, cut to the buffer. `error` may be NULL or of no bytes: nothing is written
 * then. */
void util_explain(char *error, size_t error_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
