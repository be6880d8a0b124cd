/* SPDX-License-Identifier: MIT */
/* A driver's tracing header, as WPP wants it. */
#ifndef WPP_TRACE_H
#define WPP_TRACE_H

#include <evntrace.h>

#define WPP_CONTROL_GUIDS                                                                \
    WPP_DEFINE_CONTROL_GUID(SampleTraceGuid, (3B1F9C22, 5E1D, 4A77, 9C0B, 66F2E0A9D4C1), \
                            WPP_DEFINE_BIT(TRACE_START) WPP_DEFINE_BIT(TRACE_MEMORY))

#define WPP_LEVEL_FLAGS_LOGGER(Level, Flags)  WPP_LEVEL_LOGGER(Flags)
#define WPP_LEVEL_FLAGS_ENABLED(Level, Flags) (WPP_LEVEL_ENABLED(Flags))

/*
 * begin_wpp config
 * FUNC TraceEvents(LEVEL, FLAGS, MSG, ...);
 * FUNC TraceError{LEVEL=TRACE_LEVEL_ERROR,
 *                 FLAGS=TRACE_START}(MSG, ...);
 * FUNC TraceEnter{LEVEL=TRACE_LEVEL_VERBOSE}(FLAGS);
 * FUNC TraceStatus{LEVEL=TRACE_LEVEL_WARNING}(FLAGS, RESULT, MSG, ...);
 * USEPREFIX (TraceError, "%!STDPREFIX!");
 * USESUFFIX (TraceEnter, "Enter %!FUNC!");
 * USESUFFIX (TraceStatus, " (%!STATUS!)", RESULT);
 * end_wpp
 */

#endif
