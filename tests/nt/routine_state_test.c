/* SPDX-License-Identifier: MIT */
/* What routines of a driver leave behind, bug checks, and work items that are none. */
#include "nt/io/image_life.h"
#include "sim/machine.h"
#include "support/harness.h"

static bool one_told(const char *rule)
{
    bool told = errors() == 1 && broken(rule);

    forget_reports();
    return told;
}

/* ---- what is left by a DPC ---- */

static void (*left)(void);

static VOID NTAPI run_left(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc;
    (void)context;
    (void)a;
    (void)b;
    left();
}

static void in_routine(void (*fn)(void))
{
    KDPC dpc;

    left = fn;
    KeInitializeDpc(&dpc, run_left, NULL);
    KeInsertQueueDpc(&dpc, NULL, NULL);
    KeFlushQueuedDpcs();
}

static void nothing(void)
{
}

static void leave_level_high(void)
{
    KfRaiseIrql(DISPATCH_LEVEL + 1);
}

static void leave_floating(void)
{
    KeSaveFloatingPointState(NULL);
}

static void restore_floating(void)
{
    KeRestoreFloatingPointState(NULL);
}

TEST_WITH(driver, routines_that_change_nothing_say_nothing)
{
    in_routine(nothing);
    CHECK(errors() == 0);
    in_routine(leave_level_high);
    CHECK(one_told("THREAD-006") && KeGetCurrentIrql() == PASSIVE_LEVEL);
    in_routine(nothing);
    CHECK(errors() == 0);
    in_routine(leave_floating);
    CHECK(one_told("NT-160"));
    KeRestoreFloatingPointState(NULL); /* it was taken back */
    CHECK(one_told("NT-160"));
    KeSaveFloatingPointState(NULL);
    in_routine(restore_floating);
    CHECK(one_told("NT-160"));
    KeRestoreFloatingPointState(NULL); /* it is still there */
    CHECK(errors() == 0);
}

/* ---- what is left by a work item ---- */

static WORK_QUEUE_ITEM item;
static unsigned worked;

static VOID NTAPI enter_region(PVOID context)
{
    (void)context;
    worked++;
    KeEnterCriticalRegion();
}

static VOID NTAPI leave_region(PVOID context)
{
    (void)context;
    worked++;
    KeLeaveCriticalRegion();
}

static VOID NTAPI count_work(PVOID context)
{
    CHECK(context == &worked && KeGetCurrentIrql() == PASSIVE_LEVEL);
    worked++;
}

static void queue(PWORKER_THREAD_ROUTINE routine)
{
    ExInitializeWorkItem(&item, routine, &worked);
    ExQueueWorkItem(&item, DelayedWorkQueue);
    pause_ns(1000000);
}

static void check_left_regions(void)
{
    worked = 0;
    queue(enter_region);
    CHECK(one_told("THREAD-007") && worked == 1);
    queue(leave_region);
    CHECK(worked == 2);
    forget_reports();
}

static void queue_in_interrupt(void)
{
    ExQueueWorkItem(&item, DelayedWorkQueue);
}

static void check_items(void)
{
    WORK_QUEUE_ITEM *freed = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*freed), TAG);
    KIRQL old;

    worked = 0;
    ExQueueWorkItem(NULL, DelayedWorkQueue);
    CHECK(one_told("NT-005"));
    ExInitializeWorkItem(&item, NULL, NULL);
    ExQueueWorkItem(&item, DelayedWorkQueue);
    CHECK(one_told("NT-005"));
    ExInitializeWorkItem(freed, count_work, &worked);
    ExFreePool(freed);
    ExQueueWorkItem(freed, DelayedWorkQueue);
    CHECK(one_told("NT-005"));
    ExInitializeWorkItem(&item, count_work, &worked);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    ExQueueWorkItem(&item, DelayedWorkQueue);
    CHECK(errors() == 0);
    ExQueueWorkItem(&item, CriticalWorkQueue);
    CHECK_RULE("NT-099/a", one_told("NT-099"));
    KeLowerIrql(old);
    pause_ns(1000000);
    CHECK(worked == 1);
    in_interrupt(queue_in_interrupt);
    CHECK(one_told("NT-101"));
    pause_ns(1000000);
    CHECK(worked == 2 && errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST_WITH(machine, work_items_return_as_they_were_called)
{
    run(check_left_regions);
    run(check_items);
    h.threads_left = 4;
}

/* ---- bug checks ---- */

static unsigned stopped, reasons;
static KBUGCHECK_CALLBACK_RECORD plain;
static KBUGCHECK_REASON_CALLBACK_RECORD reason;
static char buffer[8];

static VOID NTAPI on_stop(PVOID given, ULONG length)
{
    CHECK(given == buffer && length == 8 && KeGetCurrentIrql() == HIGH_LEVEL && reasons == 0);
    stopped++;
}

static VOID NTAPI on_reason(KBUGCHECK_CALLBACK_REASON why, PKBUGCHECK_REASON_CALLBACK_RECORD given,
                            PVOID data, ULONG length)
{
    CHECK(why == KbCallbackSecondaryDumpData && given == &reason && !data && length == 0);
    reasons++;
}

static void stop_here(void *arg)
{
    (void)arg;
    CHECK(!KeRegisterBugCheckCallback(NULL, on_stop, buffer, 8, NULL) && one_told("NT-005"));
    CHECK(!KeRegisterBugCheckReasonCallback(NULL, on_reason, KbCallbackSecondaryDumpData, NULL) &&
          one_told("NT-005"));
    CHECK(!KeRegisterBugCheckReasonCallback(&reason, NULL, KbCallbackSecondaryDumpData, NULL));
    CHECK(KeRegisterBugCheckCallback(&plain, on_stop, buffer, 8, NULL));
    CHECK(KeRegisterBugCheckReasonCallback(&reason, on_reason, KbCallbackSecondaryDumpData,
                                           (PUCHAR)buffer));
    CHECK(!KeRegisterBugCheckReasonCallback(&reason, on_reason, KbCallbackSecondaryDumpData, NULL));
    CHECK(reason.Component == (PUCHAR)buffer && reason.State == BufferInserted &&
          reason.Reason == KbCallbackSecondaryDumpData && reason.CallbackRoutine == on_reason);
    KeBugCheck(0x321);
}

static void start_stop(void)
{
    start("stop", stop_here, NULL);
}

TEST_WITH(machine, bug_checks_have_no_parameters_of_their_own)
{
    const struct verify_bugcheck *bugcheck;

    stopped = reasons = 0;
    run(start_stop);
    bugcheck = verify_bugcheck_state(h.log);
    CHECK_RULE("NT-166/a", bugcheck->code == 0x321 && bugcheck->parameter[0] == 0 &&
                               bugcheck->parameter[1] == 0 && bugcheck->parameter[2] == 0 &&
                               bugcheck->parameter[3] == 0);
    CHECK_RULE("NT-166/b", stopped == 1 && reasons == 1 && h.machine->stopped);
    h.threads_left = 8;
}

/* ---- regions ---- */

TEST_WITH(driver, in_a_guarded_region_nobody_opens_keys)
{
    UNICODE_STRING name = unicode_text(L"\\Registry\\Machine");
    OBJECT_ATTRIBUTES attributes;
    HANDLE key;

    InitializeObjectAttributes(&attributes, &name, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, NULL,
                               NULL);
    KeEnterGuardedRegion();
    CHECK(ZwOpenKey(&key, KEY_READ, &attributes) == STATUS_SUCCESS);
    CHECK(reported("NT-145", 0xC4, 0xE6));
    forget_reports();
    ZwClose(key);
    KeLeaveGuardedRegion();
    forget_reports();
    KeEnterCriticalRegion();
    CHECK(ZwOpenKey(&key, KEY_READ, &attributes) == STATUS_SUCCESS && errors() == 0);
    ZwClose(key);
    KeLeaveCriticalRegion();
    CHECK(errors() == 0);
}

/* ---- announced waits ---- */

static KEVENT event, other;

static void set_other(void)
{
    KeSetEvent(&other, 0, FALSE);
}

/* Code that interrupts the thread does not wait for it. */
TEST_WITH(driver, interruptions_are_no_next_call)
{
    LARGE_INTEGER zero = {.QuadPart = 0};

    KeInitializeEvent(&event, NotificationEvent, FALSE);
    KeInitializeEvent(&other, NotificationEvent, FALSE);
    KeSetEvent(&event, 0, TRUE);
    in_dpc(set_other);
    CHECK_RULE("NT-036/c", errors() == 0);
    CHECK(KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, &zero) == STATUS_SUCCESS);
    CHECK(KeReadStateEvent(&other) == 1 && errors() == 0);
}
