/* SPDX-License-Identifier: MIT */
/*
 * Ahead of mingw-w64's <wdm.h>: that header and its <intrin.h>, which it includes, define two
 * functions each. C++ refuses the second definition, and clang makes the first one a global function
 * of every object. <intrin.h> leaves out what these macros say is there.
 */
#ifndef DXGK_WDK_MINGW_WDM_H
#define DXGK_WDK_MINGW_WDM_H

#ifndef __INTRINSIC_DEFINED_InterlockedBitTestAndSet
#define __INTRINSIC_DEFINED_InterlockedBitTestAndSet
#endif
#ifndef __INTRINSIC_DEFINED_InterlockedBitTestAndReset
#define __INTRINSIC_DEFINED_InterlockedBitTestAndReset
#endif

/* #pragma alloc_text, code_seg, prefast and the like, as far as the compiler does not know them. */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#include_next <wdm.h>

#include <dxgk_annotations.h>

#ifndef DEFAULT_UNREACHABLE
#define DEFAULT_UNREACHABLE \
    default:                \
        __builtin_unreachable()
#endif

/* There, an assignment to itself: not for the const parameters of the display interface. */
#undef UNREFERENCED_PARAMETER
#undef DBG_UNREFERENCED_PARAMETER
#undef DBG_UNREFERENCED_LOCAL_VARIABLE
#define UNREFERENCED_PARAMETER(P)          ((void)(P))
#define DBG_UNREFERENCED_PARAMETER(P)      ((void)(P))
#define DBG_UNREFERENCED_LOCAL_VARIABLE(V) ((void)(V))

#endif /* DXGK_WDK_MINGW_WDM_H */
