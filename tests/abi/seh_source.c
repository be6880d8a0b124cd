/* SPDX-License-Identifier: MIT */
/*
 * A driver's source that uses structured exceptions, as written for Microsoft's compiler: compiled by clang for Windows, where
 * they are the compiler's, and for ELF with DXGK_SEH_KEYWORDS, where a test runs it.
 */
#ifndef _WIN32
#define DXGK_SEH_KEYWORDS
#endif
#include <ntddk.h>
#include <dxgk_seh.h>

#ifdef __cplusplus
extern "C" {
#endif

NTSTATUS NTAPI SampleCopy(PVOID To, const volatile VOID *From, SIZE_T Bytes);
ULONG NTAPI SampleFilter(NTSTATUS Raised, NTSTATUS Taken);
ULONG NTAPI SampleFinally(NTSTATUS Raised);
ULONG NTAPI SampleLeave(ULONG Until);
NTSTATUS NTAPI SampleReturn(NTSTATUS Raised);

NTSTATUS NTAPI SampleCopy(PVOID To, const volatile VOID *From, SIZE_T Bytes)
{
    volatile NTSTATUS status = STATUS_SUCCESS;

    __try {
        ProbeForRead((PVOID)(ULONG_PTR)From, Bytes, 1);
        RtlCopyMemory(To, (const VOID *)(ULONG_PTR)From, Bytes);
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        status = GetExceptionCode();
    }
    return status;
}

static LONG Takes(NTSTATUS Code, NTSTATUS Taken)
{
    return Code == Taken ? EXCEPTION_EXECUTE_HANDLER : EXCEPTION_CONTINUE_SEARCH;
}

/* Digits: 1 the inner handler ran, 2 the outer one, 4 what is behind the raise. */
ULONG NTAPI SampleFilter(NTSTATUS Raised, NTSTATUS Taken)
{
    volatile ULONG where = 0;

    __try {
        __try {
            if (Raised != STATUS_SUCCESS) {
                ExRaiseStatus(Raised);
            }
            where += 4;
        } __except (Takes(GetExceptionCode(), Taken)) {
            where += 1;
        }
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        where += 2;
    }
    return where;
}

/* 1: the block was left by an exception; 2: the termination handler ran; 4: the outer handler. */
ULONG NTAPI SampleFinally(NTSTATUS Raised)
{
    volatile ULONG where = 0;

    __try {
        __try {
            if (Raised != STATUS_SUCCESS) {
                ExRaiseStatus(Raised);
            }
        } __finally {
            where += AbnormalTermination() ? 3 : 2;
        }
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        where += 4;
    }
    return where;
}

ULONG NTAPI SampleLeave(ULONG Until)
{
    volatile ULONG count = 0;

    __try {
        count++;
        if (Until == 1) {
            __leave;
        }
        count++;
    } __finally {
        count += 10;
    }
    return count;
}

/* The block is left by return: what is raised afterwards is no business of it. */
static NTSTATUS ReturnFromBlock(void)
{
    __try {
        return STATUS_PENDING;
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        return STATUS_UNSUCCESSFUL;
    }
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SampleReturn(NTSTATUS Raised)
{
    volatile NTSTATUS status = STATUS_SUCCESS;

    __try {
        status = ReturnFromBlock();
        ExRaiseStatus(Raised);
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        if (status == STATUS_PENDING) {
            status = GetExceptionCode();
        }
    }
    return status;
}

#ifdef __cplusplus
}
#endif
