/* SPDX-License-Identifier: MIT */
/* Error text that explains a refusal, for callers that may pass no buffer for it. */
#ifndef DXGK_UTIL_EXPLAIN_H
#define DXGK_UTIL_EXPLAIN_H

#include <stddef.h>

/* Write one line, truncated to the buffer. With `error` NULL or `error_bytes` 0, nothing is
 * written. */
void util_explain(char *error, size_t error_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
