/* SPDX-License-Identifier: MIT */
/* The events of a sink as a file, in the forms that Windows' tools write and read. */
#ifndef DXGK_WINTRACE_WRITE_H
#define DXGK_WINTRACE_WRITE_H

#include <stdbool.h>
#include <stdio.h>

struct wintrace_sink;

enum wintrace_form {
    WINTRACE_ETL, /* Event Tracing for Windows, as logman and xperf record it */
    WINTRACE_CSV, /* as tracerpt -of CSV */
    WINTRACE_XML, /* as tracerpt -of XML */
};

/* By the end of the file's name, in any case of letters. False: it is none of .etl, .csv, .xml. */
bool wintrace_form_of(const char *path, enum wintrace_form *form);
/* The same events give the same bytes. False: something could not be written, or memory ran out. */
bool wintrace_write(const struct wintrace_sink *sink, enum wintrace_form form, FILE *out);

#endif
