/* SPDX-License-Identifier: MIT */
/*
 * Ahead of mingw-w64's <wdm.h>: that header and its <intrin.h>, which it includes, define two
 * functions each. C++ refuses the second definition, and clang makes the first one a global function
 * of every object. <intrin.h> leaves out what these macros say is there. What it lacks is in
 * dxgk_annotations.h and dxgk_supplement.h.
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

/*
 * In C, __forceinline there says extern as well, so that "static __forceinline" is an error. Without it the meaning is the same:
 * gcc and clang then make no function of it that could be called from elsewhere.
 */
#include <_mingw.h>
#if !defined(__cplusplus) && defined(__GNUC_STDC_INLINE__)
#undef __forceinline
#define __forceinline __inline__ __attribute__((__always_inline__))
#endif

/*
 * libstdc++ defines NOMINMAX by itself, also behind <stdlib.h>; a driver that did not has min and max (dxgk_base_kernel.h), unless
 * it uses that library's own.
 */
#if !defined(NOMINMAX) || (defined(_GLIBCXX_OS_DEFINES) && !defined(_STL_ALGOBASE_H))
#define DXGK_MINMAX
#endif

/* One member more for the union of CM_PARTIAL_RESOURCE_DESCRIPTOR, which alone has one of this name. */
#define DeviceSpecificData        \
    DeviceSpecificData;           \
    struct {                      \
        UCHAR Class;              \
        UCHAR Type;               \
        UCHAR Reserved1;          \
        UCHAR Reserved2;          \
        ULONG IdLowPart;          \
        ULONG IdHighPart;         \
    } Connection

/* Replaced in dxgk_supplement.h. */
#define READ_REGISTER_BUFFER_UCHAR   DxgkReplacedReadUchar
#define READ_REGISTER_BUFFER_USHORT  DxgkReplacedReadUshort
#define READ_REGISTER_BUFFER_ULONG   DxgkReplacedReadUlong
#define WRITE_REGISTER_BUFFER_UCHAR  DxgkReplacedWriteUchar
#define WRITE_REGISTER_BUFFER_USHORT DxgkReplacedWriteUshort
#define WRITE_REGISTER_BUFFER_ULONG  DxgkReplacedWriteUlong
#define MmMapLockedPagesSpecifyCache DxgkReplacedMapLockedPages
#define CmKeyObjectType                DxgkReplacedCmKeyObjectType
#define ExEventObjectType              DxgkReplacedExEventObjectType
#define ExSemaphoreObjectType          DxgkReplacedExSemaphoreObjectType
#define IoFileObjectType               DxgkReplacedIoFileObjectType
#define PsProcessType                  DxgkReplacedPsProcessType
#define PsThreadType                   DxgkReplacedPsThreadType
#define SeTokenObjectType              DxgkReplacedSeTokenObjectType
#define TmEnlistmentObjectType         DxgkReplacedTmEnlistmentObjectType
#define TmResourceManagerObjectType    DxgkReplacedTmResourceManagerObjectType
#define TmTransactionManagerObjectType DxgkReplacedTmTransactionManagerObjectType
#define TmTransactionObjectType        DxgkReplacedTmTransactionObjectType

#include_next <wdm.h>

#undef DeviceSpecificData
#undef READ_REGISTER_BUFFER_UCHAR
#undef READ_REGISTER_BUFFER_USHORT
#undef READ_REGISTER_BUFFER_ULONG
#undef WRITE_REGISTER_BUFFER_UCHAR
#undef WRITE_REGISTER_BUFFER_USHORT
#undef WRITE_REGISTER_BUFFER_ULONG
#undef MmMapLockedPagesSpecifyCache
#undef CmKeyObjectType
#undef ExEventObjectType
#undef ExSemaphoreObjectType
#undef IoFileObjectType
#undef PsProcessType
#undef PsThreadType
#undef SeTokenObjectType
#undef TmEnlistmentObjectType
#undef TmResourceManagerObjectType
#undef TmTransactionManagerObjectType
#undef TmTransactionObjectType

#include <dxgk_annotations.h>
#include <dxgk_supplement.h>

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
