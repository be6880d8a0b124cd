/* SPDX-License-Identifier: MIT */
/*
 * Structured exceptions for every way of building a driver.
 *
 *     DXGK_TRY {                                       DXGK_TRY {
 *         ProbeForRead(from, bytes, 1);                    status = Work();
 *         RtlCopyMemory(to, from, bytes);              }
 *     }                                                DXGK_FINALLY {
 *     DXGK_EXCEPT(EXCEPTION_EXECUTE_HANDLER) {             ExFreePoolWithTag(block, TAG);
 *         status = GetExceptionCode();                 }
 *     }
 *
 * With clang for Windows these are __try, __except and __finally (for --target=x86_64-w64-mingw32 they
 * need -fms-extensions). gcc for Windows has no structured
 * exceptions: the macros are errors there, and the source that uses them is to be compiled by clang.
 *
 * For ELF dxgkhost does it: an exception that a kernel routine raises (ExRaiseStatus, ProbeForRead,
 * MmProbeAndLockPages, ...) and a fault of the driver below DISPATCH_LEVEL go to the innermost block of
 * the thread. What differs from Windows:
 *
 *   - A variable that is changed in the block and read behind it must be volatile, as with setjmp.
 *   - The filter runs when the block has been left. EXCEPTION_CONTINUE_EXECUTION cannot go back, and
 *     means EXCEPTION_CONTINUE_SEARCH.
 *   - DXGK_FINALLY runs at the end of the block and for an exception, but not when `return`, `goto` or
 *     `break` leaves the block. DXGK_LEAVE ends the block; inside a loop of the block it would end a
 *     turn of the loop.
 *   - An exception does not pass a host routine that called the driver back: the handler must be in the
 *     same call of the driver.
 *
 * DXGK_HAS_SEH is 0 for gcc for Windows, else 1.
 *
 * With DXGK_SEH_KEYWORDS defined, __try, __except, __finally and __leave are these macros, so that a
 * source which uses them compiles unchanged. (Not for C++ together with a C++ library that uses __try
 * itself.)
 */
#ifndef DXGK_WDK_SEH_H
#define DXGK_WDK_SEH_H

#include <ntddk.h>

#if defined(_WIN32) && defined(__clang__)

#define DXGK_HAS_SEH        1
#define DXGK_TRY            __try
#define DXGK_EXCEPT(Filter) __except (Filter)
#define DXGK_FINALLY        __finally
#define DXGK_LEAVE          __leave
#ifndef GetExceptionCode
#define GetExceptionCode()        _exception_code()
#define GetExceptionInformation() ((struct _EXCEPTION_POINTERS *)_exception_info())
#define AbnormalTermination()     _abnormal_termination()
#endif

#elif defined(_WIN32)

#define DXGK_HAS_SEH        0
#define DXGK_NO_SEH         _Pragma("GCC error \"no structured exceptions: compile this by clang\"")
#define DXGK_TRY            DXGK_NO_SEH
#define DXGK_EXCEPT(Filter) DXGK_NO_SEH
#define DXGK_FINALLY        DXGK_NO_SEH
#define DXGK_LEAVE          DXGK_NO_SEH

#else

#define DXGK_HAS_SEH 1

/* One block in progress. The host knows the order of the members. */
typedef struct DECLSPEC_ALIGN(16) _DXGK_TRY_RECORD {
    ULONG64 Registers[10]; /* rbx rbp rdi rsi r12 r13 r14 r15, rsp and rip of the caller */
    M128A Xmm[10];         /* 6 to 15 */
    ULONG MxCsr;
    UCHAR Phase; /* 0: the block, 1: behind it, 2: over */
    BOOLEAN Linked, Raised, Handled;
    UCHAR Place;
    struct _DXGK_TRY_RECORD *Outer;
    PVOID Call; /* of the driver, in which the block is */
    EXCEPTION_RECORD Exception;
    EXCEPTION_POINTERS Pointers; /* without a context */
} DXGK_TRY_RECORD;

#ifdef __cplusplus
extern "C" {
#endif

/* 0: the block begins. It returns once more, with 1, when an exception has left the block. */
NTKERNELAPI LONG NTAPI DxgkTryEnter(DXGK_TRY_RECORD *Record) __attribute__((returns_twice));
NTKERNELAPI VOID NTAPI DxgkTryLeave(DXGK_TRY_RECORD *Record);

#ifdef __cplusplus
}
#endif

static inline DXGK_TRY_RECORD *DxgkTryBegin(DXGK_TRY_RECORD *Record)
{
    Record->Phase = 0;
    Record->Linked = Record->Raised = Record->Handled = FALSE;
    return Record;
}

/* However the scope is left. */
static inline void DxgkTryGone(DXGK_TRY_RECORD *Record)
{
    if (Record->Linked)
        DxgkTryLeave(Record);
}

static inline BOOLEAN DxgkTryTake(DXGK_TRY_RECORD *Record, LONG Filter)
{
    if (Filter <= 0)
        ExRaiseStatus(Record->Exception.ExceptionCode);
    Record->Handled = TRUE;
    return TRUE;
}

static inline void DxgkTryNext(DXGK_TRY_RECORD *Record)
{
    DxgkTryGone(Record);
    Record->Phase++;
    if (Record->Phase == 2 && Record->Raised && !Record->Handled)
        ExRaiseStatus(Record->Exception.ExceptionCode);
}

#define DXGK_TRY                                                        \
    for (DXGK_TRY_RECORD DxgkTry __attribute__((cleanup(DxgkTryGone))), \
         *volatile DxgkTryAt = DxgkTryBegin(&DxgkTry);                           \
         DxgkTryAt->Phase < 2; DxgkTryNext(&DxgkTry))                   \
        if (DxgkTry.Phase == 0 && DxgkTryEnter(&DxgkTry) == 0)
#define DXGK_EXCEPT(Filter)       else if (DxgkTry.Raised && DxgkTryTake(&DxgkTry, (Filter)))
#define DXGK_FINALLY              else
#define DXGK_LEAVE                continue

/* In a filter or a handler. */
#define GetExceptionCode()        (DxgkTry.Exception.ExceptionCode)
#define GetExceptionInformation() (&DxgkTry.Pointers)
/* In a termination handler. */
#define AbnormalTermination()     (DxgkTry.Raised)

#ifdef DXGK_SEH_KEYWORDS
#define __try            DXGK_TRY
#define __except(Filter) DXGK_EXCEPT(Filter)
#define __finally        DXGK_FINALLY
#define __leave          DXGK_LEAVE
#endif

#endif

#endif /* DXGK_WDK_SEH_H */
