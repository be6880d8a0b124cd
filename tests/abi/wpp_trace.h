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

/* Hooks: a condition of its own, and something to be done behind every message that has it. */
#define WPP_LEVEL_FLAGS_MUST_HOLD_ENABLED(Level, Flags, MustHold) (!(MustHold))
#define WPP_LEVEL_FLAGS_MUST_HOLD_POST(Level, Flags, MustHold) \
    , (void)((MustHold) ? 0 : (SampleBroken += WPP_BIT_##Flags))
extern int SampleBroken;

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
 * FUNC TraceAssert{LEVEL=TRACE_LEVEL_ERROR, FLAGS=TRACE_MEMORY}(MUST_HOLD);
 * USEPREFIX (TraceAssert, "%!STDPREFIX! [line %u] broken: %s", __LINE__, #MUST_HOLD);
 * FUNC TracePlace{LEVEL=TRACE_LEVEL_ERROR, FLAGS=TRACE_START}(MSG, ...);
 * USEPREFIX (TracePlace, "%!STDPREFIX! [line %u] ", __LINE__);
 * CUSTOM_TYPE(bool, ItemListByte(FALSE, TRUE));
 * USEPREFIX (TraceWrapped, "%!STDPREFIX! [line %u] ", __LINE__);
 * USESUFFIX (TraceWrapped, " (%!STATUS!)", STATUS_NO_MEMORY);
 * TraceWrapped{FLAG = TRACE_MEMORY}(LEVEL, (MSG, ...));
 * end_wpp
 */

#endif
