/* SPDX-License-Identifier: MIT */
/* The form of etl.h, written. */
#ifndef DXGK_WINTRACE_ETL_WRITE_H
#define DXGK_WINTRACE_ETL_WRITE_H

#include <stdbool.h>
#include <stdio.h>

struct wintrace_sink;

/* False: it could not be written, or memory ran out. */
bool etl_write(const struct wintrace_sink *sink, FILE *out);

#endif
