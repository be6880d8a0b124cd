/* SPDX-License-Identifier: MIT */
/*
 * Ahead of mingw-w64's <wdm.h>, for C++: that header defines two functions that its <intrin.h>,
 * which it includes, has defined already. C takes the second definition, C++ does not. They get
 * other names here, and the first ones stand.
 */
#ifndef DXGK_WDK_MINGW_WDM_H
#define DXGK_WDK_MINGW_WDM_H

#ifdef __cplusplus
#include <ntdef.h>
#include <intrin.h>
#define InterlockedBitTestAndSet   DxgkSecondInterlockedBitTestAndSet
#define InterlockedBitTestAndReset DxgkSecondInterlockedBitTestAndReset
#endif

#include_next <wdm.h>

#ifdef __cplusplus
#undef InterlockedBitTestAndSet
#undef InterlockedBitTestAndReset
#endif

#endif /* DXGK_WDK_MINGW_WDM_H */
