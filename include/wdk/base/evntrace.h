/* SPDX-License-Identifier: MIT */
/* The levels of trace messages: all that a driver's source takes from <evntrace.h>. */
#ifndef DXGK_WDK_EVNTRACE_H
#define DXGK_WDK_EVNTRACE_H

#define TRACE_LEVEL_NONE        0
#define TRACE_LEVEL_CRITICAL    1
#define TRACE_LEVEL_FATAL       1
#define TRACE_LEVEL_ERROR       2
#define TRACE_LEVEL_WARNING     3
#define TRACE_LEVEL_INFORMATION 4
#define TRACE_LEVEL_VERBOSE     5

#endif /* DXGK_WDK_EVNTRACE_H */
