/* SPDX-License-Identifier: MIT */
/*
 * What a driver built with /GS brings along: the cookie, its check, and the language handlers that check the cookies of the frames
 * that an exception passes, written from the public descriptions of their data. On Windows they come from a library of the
 * compiler that is linked into the image; the kernel gives __C_specific_handler and KeBugCheckEx. The test calls DriverEntry with a
 * struct guard_report in the place of the registry path.
 */
#include <ntddk.h>

#include "guard.h"

DRIVER_INITIALIZE DriverEntry;

#define DRIVER_OVERRAN_STACK_BUFFER_CODE 0xF7

struct _DISPATCHER_CONTEXT {
    ULONG64 ControlPc, ImageBase;
    ULONG *FunctionEntry; /* begin, end, unwind information */
    ULONG64 EstablisherFrame, TargetIp;
    PCONTEXT ContextRecord;
    PVOID LanguageHandler, HandlerData, HistoryTable;
    ULONG ScopeIndex, Fill0;
};

__declspec(dllimport) VOID NTAPI RtlUnwindEx(PVOID frame, PVOID ip, PEXCEPTION_RECORD record,
                                             PVOID value, PCONTEXT context, PVOID history);

int __GSHandlerCheck(PEXCEPTION_RECORD record, ULONG64 frame, PCONTEXT context,
                     struct _DISPATCHER_CONTEXT *dispatcher);
int __GSHandlerCheck_SEH(PEXCEPTION_RECORD record, ULONG64 frame, PCONTEXT context,
                         struct _DISPATCHER_CONTEXT *dispatcher);
int own_handler(PEXCEPTION_RECORD record, ULONG64 frame, PCONTEXT context,
                struct _DISPATCHER_CONTEXT *dispatcher);
LONG guard_filter(PEXCEPTION_POINTERS pointers, PVOID frame);
void guard_finally(BOOLEAN abnormal, PVOID frame);
void fault_now(void);
void __security_check_cookie(ULONG_PTR cookie);

unsigned frame_plain(unsigned overrun);
unsigned frame_aligned(unsigned overrun);
unsigned frame_seh(unsigned overrun);
unsigned frame_finally(unsigned overrun);
unsigned frame_local_unwind(void);
ULONG64 frame_own(void);

ULONG_PTR __security_cookie = 0x00002B992DDFA232;

__attribute__((used)) const struct {
    ULONG size;
    ULONG unused[21];
    ULONG_PTR *cookie;
} _load_config_used = {.size = 96, .cookie = &__security_cookie};

static struct guard_report *report;

static __attribute__((noinline)) void note(unsigned event)
{
    if (report->count < GUARD_EVENTS)
        report->event[report->count++] = event;
}

__attribute__((noinline)) void fault_now(void)
{
    note(*(volatile unsigned *)0x18);
}

/* ---- cookies ---- */

static void overran(ULONG_PTR cookie)
{
    KeBugCheckEx(DRIVER_OVERRAN_STACK_BUFFER_CODE, cookie, __security_cookie, ~__security_cookie, 0);
}

__attribute__((no_stack_protector)) void __security_check_cookie(ULONG_PTR cookie)
{
    if (cookie != __security_cookie)
        overran(cookie);
}

/* `data`: behind the scopes, if there are any. */
static void check_frame(ULONG64 frame, const struct _DISPATCHER_CONTEXT *dispatcher,
                        const LONG *data)
{
    const UCHAR *unwind = (const UCHAR *)(dispatcher->ImageBase + dispatcher->FunctionEntry[2]);
    ULONG64 base = frame, place = frame;

    if (data[0] & 4)
        place = (frame + (ULONG64)(LONG64)data[1]) & ~(ULONG64)(data[2] - 1);
    if ((unwind[3] & 0xF) != 0) /* a frame register: its distance from the frame, in units of 16 */
        base += unwind[3] & 0xF0;
    __security_check_cookie(*(ULONG64 *)(place + (ULONG64)(data[0] & ~7)) ^ base);
}

int __GSHandlerCheck(PEXCEPTION_RECORD record, ULONG64 frame, PCONTEXT context,
                     struct _DISPATCHER_CONTEXT *dispatcher)
{
    (void)context;
    note(record->ExceptionFlags & 6 ? 12 : 11);
    check_frame(frame, dispatcher, dispatcher->HandlerData);
    return ExceptionContinueSearch;
}

int __GSHandlerCheck_SEH(PEXCEPTION_RECORD record, ULONG64 frame, PCONTEXT context,
                         struct _DISPATCHER_CONTEXT *dispatcher)
{
    const ULONG *scopes = dispatcher->HandlerData;
    const LONG *data = (const LONG *)(scopes + 1 + 4 * scopes[0]);
    BOOLEAN unwinding = (record->ExceptionFlags & 6) != 0;

    note(unwinding ? 14 : 13);
    check_frame(frame, dispatcher, data);
    if (data[0] & (unwinding ? 2 : 1))
        return __C_specific_handler(record, (PVOID)frame, context, dispatcher);
    return ExceptionContinueSearch;
}

LONG guard_filter(PEXCEPTION_POINTERS pointers, PVOID frame)
{
    (void)frame;
    note(1);
    report->code = pointers->ExceptionRecord->ExceptionCode;
    return 1;
}

void guard_finally(BOOLEAN abnormal, PVOID frame)
{
    (void)frame;
    note(abnormal ? 2 : 3);
}

/* A function with a buffer, protected by the compiler; `bytes` may be more than there are. */
static __attribute__((noinline)) unsigned fill(unsigned bytes)
{
    volatile UCHAR buffer[40] = {0};
    unsigned sum = 0;

    for (unsigned i = 0; i < bytes; i++)
        /* cppcheck-suppress arrayIndexOutOfBounds ; the overrun that is to be found */
        buffer[i] = (UCHAR)i;
    for (unsigned i = 0; i < sizeof(buffer); i++)
        sum += buffer[i];
    return sum;
}

/* ---- a handler of the driver's own ---- */

int own_handler(PEXCEPTION_RECORD record, ULONG64 frame, PCONTEXT context,
                struct _DISPATCHER_CONTEXT *dispatcher)
{
    ULONG64 wrong = report->scenario == GUARD_NO_SUCH_FRAME ? 8 : 0;

    if (record->ExceptionFlags & 6) {
        note(record->ExceptionFlags & 0x20 ? 22 : 23); /* the target itself */
        return ExceptionContinueSearch;
    }
    note(21);
    report->code = record->ExceptionCode;
    RtlUnwindEx((PVOID)(frame + wrong),
                (PVOID)(dispatcher->ImageBase + *(ULONG *)dispatcher->HandlerData), record,
                (PVOID)77, context, dispatcher->HistoryTable);
    note(99);
    return ExceptionContinueSearch;
}

/* ---- */

static __attribute__((noinline)) void pass(unsigned (*frame)(unsigned), unsigned overrun)
{
    __try {
        frame(overrun);
        note(98);
    } __except (guard_filter((PEXCEPTION_POINTERS)_exception_info(), NULL)) {
        note(4);
    }
}

static void play(void)
{
    switch (report->scenario) {
    case GUARD_PLAIN:
    case GUARD_PLAIN_BROKEN:
        pass(frame_plain, report->scenario == GUARD_PLAIN_BROKEN);
        break;
    case GUARD_ALIGNED:
    case GUARD_ALIGNED_BROKEN:
        pass(frame_aligned, report->scenario == GUARD_ALIGNED_BROKEN);
        break;
    case GUARD_SEH:
    case GUARD_SEH_BROKEN:
        report->value = frame_seh(report->scenario == GUARD_SEH_BROKEN);
        break;
    case GUARD_SEH_FINALLY:
        pass(frame_finally, 0);
        break;
    case GUARD_RETURN:
        report->value = fill(40);
        break;
    case GUARD_RETURN_BROKEN:
        report->value = fill(56);
        break;
    case GUARD_LOCAL_UNWIND:
        report->value = frame_local_unwind();
        break;
    case GUARD_OWN_HANDLER:
    case GUARD_NO_SUCH_FRAME:
        report->value = (unsigned)frame_own();
        break;
    }
}

NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    UNREFERENCED_PARAMETER(DriverObject);
    report = (struct guard_report *)(PVOID)RegistryPath;
    play();
    return STATUS_SUCCESS;
}
