/* SPDX-License-Identifier: MIT */
/* The run of a machine as events of Windows' provider Microsoft-Windows-DxgKrnl. */
#ifndef DXGK_HOST_WINDOWS_TRACE_H
#define DXGK_HOST_WINDOWS_TRACE_H

#include "dxgkhost/dxgkhost.h"

struct util_arena;
struct wintrace_sink;

/* A sink for the events of a machine, in the arena if there is one. NULL: out of memory. */
struct wintrace_sink *host_windows_trace_create(unsigned processors, struct util_arena *arena);
/* False: there is no sink (NULL), or writing failed. */
bool host_windows_trace_write(const struct wintrace_sink *sink, enum dxgk_windows_trace form,
                              FILE *out);

#endif
