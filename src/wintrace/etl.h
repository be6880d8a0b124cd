/* SPDX-License-Identifier: MIT */
/* The file format of Event Tracing for Windows, as it is described in public (etl.c). */
#ifndef DXGK_WINTRACE_ETL_H
#define DXGK_WINTRACE_ETL_H

#include "wintrace/wintrace.h"

/* Whether the bytes begin like such a file. */
bool etl_is(const uint8_t *bytes, size_t length);
/* Read its events into an empty trace. False: *error says why, and the trace has what came before.
 * */
bool etl_read(struct wintrace *trace, const uint8_t *bytes, size_t length, char *error,
              size_t error_bytes);

#endif
