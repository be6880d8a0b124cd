/* SPDX-License-Identifier: MIT */
/* Timers and events that the system allocates, lookaside lists, and providers of events. */
#include "nt/io/image_life.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "support/harness.h"
#include "trace/trace.h"

static LARGE_INTEGER zero;

static bool one_told(const char *rule)
{
    bool one = errors() == 1 && broken(rule);

    forget_reports();
    return one;
}

/* ---- timers ---- */

static PEX_TIMER timer;
static unsigned runs, deletions;
static PVOID told;

static VOID NTAPI expired(PEX_TIMER which, PVOID context)
{
    CHECK(which == timer && context == &runs);
    runs++;
}

static VOID NTAPI deleted(PVOID context)
{
    told = context;
    deletions++;
}

static EXT_DELETE_PARAMETERS on_deletion = {.DeleteCallback = deleted, .DeleteContext = &told};

static void allocate_timer(PEXT_CALLBACK callback, ULONG attributes)
{
    runs = deletions = 0;
    told = NULL;
    timer = ExAllocateTimer(callback, &runs, attributes);
    CHECK(timer);
}

static bool is_signalled(void)
{
    return KeWaitForSingleObject(timer, Executive, KernelMode, FALSE, &zero) == STATUS_SUCCESS;
}

static void wait_for_timer(void *arg)
{
    CHECK(KeWaitForSingleObject(arg, Executive, KernelMode, FALSE, NULL) == STATUS_SUCCESS);
    runs++;
}

TEST_WITH(driver, timers_of_the_system_are_waited_for)
{
    static const ULONG attributes[] = {0, EX_TIMER_NOTIFICATION};

    for (unsigned i = 0; i < 2; i++) {
        allocate_timer(NULL, attributes[i] | EX_TIMER_HIGH_RESOLUTION | EX_TIMER_NO_WAKE);
        ExSetTimer(timer, -10000, 0, NULL);
        start("a", wait_for_timer, timer);
        start("b", wait_for_timer, timer);
        CHECK(!is_signalled());
        pause_ns(3000000);
        CHECK(runs == (attributes[i] ? 2 : 1));
        if (!attributes[i]) { /* it stays as it is */
            CHECK(!is_signalled());
            ExSetTimer(timer, -10000, 0, NULL);
            pause_ns(3000000);
            CHECK(runs == 2);
        } else {
            CHECK(is_signalled() && is_signalled());
            ExSetTimer(timer, -10000, 0, NULL);
            CHECK(!is_signalled());
        }
        ExDeleteTimer(timer, TRUE, FALSE, NULL);
    }
    CHECK(!ExAllocateTimer(NULL, NULL, 1u << 4) && one_told("NT-087"));
    CHECK(!ExAllocateTimer(NULL, NULL, EX_TIMER_NOTIFICATION | 1u << 30) && one_told("NT-087"));
    CHECK(nt_image_leak_check(h.image) == 0);
}

TEST_WITH(driver, timers_of_the_system_are_set_and_cancelled)
{
    allocate_timer(expired, 0);
    CHECK(!ExCancelTimer(timer, NULL));
    CHECK(!ExSetTimer(timer, -10000, -1, NULL) && one_told("NT-087"));
    pause_ns(5000000);
    CHECK_RULE("NT-087/c", runs == 1 && !ExCancelTimer(timer, NULL)); /* once */
    CHECK(!ExSetTimer(timer, -10000, 1000000, NULL));
    CHECK(ExSetTimer(timer, -20000, 0, NULL)); /* no longer periodic */
    pause_ns(1500000);
    CHECK(runs == 1);
    pause_ns(300000000);
    CHECK(runs == 2 && !ExCancelTimer(timer, NULL));
    ExSetTimer(timer, -10000, 20000, NULL);
    pause_ns(5500000);
    CHECK_RULE("NT-087/c", runs == 5 && ExCancelTimer(timer, NULL));
    ExSetTimer(timer, -10000, 0, NULL);
    pause_ns(5500000);
    CHECK(runs == 6); /* nor any more after it was cancelled */
    CHECK(!ExDeleteTimer(timer, TRUE, FALSE, &on_deletion) && deletions == 1 && told == &told);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST_WITH(driver, timers_of_the_system_are_deleted_at_once_or_later)
{
    /* At once; the answer says whether it was set. */
    allocate_timer(expired, 0);
    ExSetTimer(timer, -10000, 0, NULL);
    CHECK_RULE("NT-087/e", ExDeleteTimer(timer, TRUE, TRUE, &on_deletion) && deletions == 1);
    pause_ns(3000000);
    CHECK(runs == 0 && deletions == 1);

    /* When it has expired, and its callback has run. */
    allocate_timer(expired, 0);
    ExSetTimer(timer, -10000, 20000, NULL);
    CHECK(!ExDeleteTimer(timer, FALSE, FALSE, &on_deletion) && deletions == 0);
    CHECK(errors() == 0);
    CHECK(!ExSetTimer(timer, -10000, 0, NULL) && one_told("NT-005"));
    CHECK(!ExCancelTimer(timer, NULL) && one_told("NT-005"));
    CHECK(!ExDeleteTimer(timer, TRUE, FALSE, NULL) && one_told("NT-005"));
    pause_ns(900000);
    CHECK(runs == 0 && deletions == 0);
    pause_ns(9000000);
    CHECK(runs == 1 && deletions == 1 && told == &told);

    /* The same without a callback. */
    allocate_timer(NULL, EX_TIMER_NOTIFICATION);
    ExSetTimer(timer, -10000, 0, NULL);
    CHECK(!ExDeleteTimer(timer, FALSE, FALSE, &on_deletion) && deletions == 0);
    pause_ns(3000000);
    CHECK(deletions == 1);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
    CHECK(!ExCancelTimer(NULL, NULL) && one_told("NT-005"));
    CHECK(!ExDeleteTimer((PEX_TIMER)(void *)&runs, TRUE, FALSE, NULL) && one_told("NT-005"));
}

static VOID NTAPI delete_itself(PEX_TIMER which, PVOID context)
{
    (void)context;
    CHECK(ExDeleteTimer(which, TRUE, FALSE, &on_deletion)); /* set for the next period */
    CHECK(deletions == 0);                                  /* its callback still runs */
    runs++;
}

static void leave_queued(void)
{
    KIRQL old;

    allocate_timer(expired, 0);
    ExSetTimer(timer, -10000, 0, NULL);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    sim_stall(2000000); /* it has expired, and waits for the level */
    CHECK(nt_image_leak_check(h.image) == 1 && broken("NT-087"));
    KeLowerIrql(old);
    CHECK(runs == 0);
    forget_reports();
}

TEST_WITH(driver, timers_of_the_system_end_with_their_callback)
{
    allocate_timer(delete_itself, 0);
    ExSetTimer(timer, -10000, 10000, NULL);
    pause_ns(5500000);
    CHECK(runs == 1 && deletions == 1 && errors() == 0);
    CHECK(nt_image_leak_check(h.image) == 0);
    leave_queued();
}

static void delete_and_wait(void)
{
    CHECK(!ExDeleteTimer(timer, TRUE, TRUE, NULL));
}

static void set_and_cancel(void)
{
    ExSetTimer(timer, -10000, 0, NULL);
    ExCancelTimer(timer, NULL);
}

static void allocate_and_delete(void)
{
    ExDeleteTimer(ExAllocateTimer(NULL, NULL, 0), TRUE, FALSE, NULL);
}

TEST_WITH(driver, deletion_waits_at_a_low_level)
{
    KIRQL old;

    allocate_timer(expired, 0);
    ExSetTimer(timer, -10000, 0, NULL);
    CHECK(!ExDeleteTimer(timer, FALSE, TRUE, NULL)); /* would wait for something that is to come */
    CHECK_RULE("NT-087/d", reported("NT-087", 0xC4, 0) && one_told("NT-087"));
    in_dpc(delete_and_wait);
    CHECK_RULE("NT-087/d", reported("NT-087", 0xC4, 0) && one_told("NT-087"));
    CHECK(ExCancelTimer(timer, NULL)); /* it is still there */
    in_dpc(set_and_cancel);
    in_dpc(allocate_and_delete);
    CHECK(errors() == 0);
    in_interrupt(set_and_cancel);
    CHECK(errors() == 2 && broken("NT-087"));
    forget_reports();
    in_interrupt(allocate_and_delete);
    CHECK(errors() == 2 && broken("NT-087"));
    forget_reports();
    KeRaiseIrql(APC_LEVEL, &old);
    CHECK(!ExDeleteTimer(timer, TRUE, TRUE, NULL) && errors() == 0);
    KeLowerIrql(old);
}

static void leave_timer(void)
{
    allocate_timer(expired, 0);
    ExSetTimer(timer, -10000, 10000, NULL);
}

static void let_time_pass(void)
{
    pause_ns(5000000);
}

TEST_WITH(machine, timers_that_are_left_are_leaks)
{
    run_within(leave_timer, 500000);
    CHECK(nt_image_leak_check(h.image) == 1 && broken("NT-087"));
    run(let_time_pass);
    CHECK(runs == 0 && deletions == 0);
}

/* ---- events ---- */

TEST_WITH(driver, events_of_the_system_have_handles)
{
    OBJECT_ATTRIBUTES attributes;
    HANDLE handle = NULL, other = NULL;
    LONG before = 99;
    PKEVENT event;
    KIRQL old;

    CHECK(!IoCreateNotificationEvent(NULL, NULL) && !IoCreateSynchronizationEvent(NULL, NULL));
    event = IoCreateNotificationEvent(NULL, &handle);
    CHECK(event && handle && KeReadStateEvent(event) == 1);
    CHECK(ZwWaitForSingleObject(handle, FALSE, &zero) == STATUS_SUCCESS &&
          KeReadStateEvent(event) == 1);
    CHECK(ZwSetEvent(handle, &before) == STATUS_SUCCESS && before == 1);
    KeClearEvent(event);
    CHECK(ZwSetEvent(handle, &before) == STATUS_SUCCESS && before == 0);
    CHECK(ZwSetEvent(handle, NULL) == STATUS_SUCCESS && KeReadStateEvent(event) == 1);
    ZwClose(handle);
    event = IoCreateSynchronizationEvent(NULL, &handle);
    CHECK(event && KeReadStateEvent(event) == 1);
    CHECK(ZwWaitForSingleObject(handle, FALSE, &zero) == STATUS_SUCCESS &&
          KeReadStateEvent(event) == 0);
    CHECK(ZwWaitForSingleObject(handle, FALSE, &zero) == STATUS_TIMEOUT);

    InitializeObjectAttributes(&attributes, NULL, OBJ_KERNEL_HANDLE, NULL, NULL);
    CHECK(ZwCreateEvent(NULL, EVENT_ALL_ACCESS, &attributes, NotificationEvent, FALSE) ==
          STATUS_INVALID_PARAMETER);
    CHECK(ZwCreateEvent(&other, EVENT_ALL_ACCESS, &attributes, (EVENT_TYPE)2, FALSE) ==
              STATUS_INVALID_PARAMETER &&
          !other);
    for (int i = 0; i < 4; i++) {
        CHECK(ZwCreateEvent(&other, EVENT_ALL_ACCESS, &attributes, (EVENT_TYPE)(i & 1),
                            (BOOLEAN)(i & 2)) == STATUS_SUCCESS);
        CHECK(ZwWaitForSingleObject(other, FALSE, &zero) ==
              (i & 2 ? STATUS_SUCCESS : STATUS_TIMEOUT));
        CHECK(ZwWaitForSingleObject(other, FALSE, &zero) == /* the first may have used it up */
              (i == 2 ? STATUS_SUCCESS : STATUS_TIMEOUT));
        ZwClose(other);
    }
    CHECK(ZwSetEvent(ZwCurrentThread(), NULL) == STATUS_INVALID_HANDLE);
    CHECK(errors() == 0);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK(ZwSetEvent(handle, NULL) == STATUS_INVALID_DEVICE_REQUEST);
    CHECK(ZwWaitForSingleObject(handle, FALSE, &zero) == STATUS_INVALID_DEVICE_REQUEST);
    CHECK(ZwCreateEvent(&other, EVENT_ALL_ACCESS, &attributes, NotificationEvent, FALSE) ==
          STATUS_INVALID_PARAMETER);
    CHECK(!IoCreateNotificationEvent(NULL, &other) && !IoCreateSynchronizationEvent(NULL, &other));
    KeLowerIrql(old);
    CHECK_RULE("NT-145/a", errors() == 5 && reported("NT-145", 0xC4, 0xE6));
    CHECK(KeReadStateEvent(event) == 0);
    ZwClose(handle);
    forget_reports();
    CHECK(ZwWaitForSingleObject(handle, FALSE, &zero) == STATUS_INVALID_HANDLE);
}

TEST_WITH(driver, keys_are_not_waited_for)
{
    UNICODE_STRING name = unicode_text(L"\\Registry\\Machine");
    OBJECT_ATTRIBUTES attributes;
    HANDLE key;

    InitializeObjectAttributes(&attributes, &name, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, NULL,
                               NULL);
    CHECK(ZwOpenKey(&key, KEY_READ, &attributes) == STATUS_SUCCESS);
    CHECK(ZwWaitForSingleObject(key, FALSE, &zero) == STATUS_INVALID_HANDLE);
    ZwClose(key);
}

/* ---- lookaside lists ---- */

static LOOKASIDE_LIST_EX list;

static NTSTATUS init_list(ULONG flags, SIZE_T bytes, USHORT depth)
{
    return ExInitializeLookasideListEx(&list, NULL, NULL, NonPagedPoolNx, flags, bytes, TAG, depth);
}

static void init_and_delete(void)
{
    init_list(0, 48, 0);
    ExDeleteLookasideListEx(&list);
}

TEST_WITH(driver, extended_lists_have_flags)
{
    void *entry;

    CHECK(init_list(EX_LOOKASIDE_LIST_EX_FLAGS_RAISE_ON_FAIL |
                        EX_LOOKASIDE_LIST_EX_FLAGS_FAIL_NO_RAISE,
                    48, 0) == STATUS_INVALID_PARAMETER_5);
    CHECK(init_list(4, 48, 0) == STATUS_INVALID_PARAMETER_5 && errors() == 0);
    CHECK(init_list(0, 48, 0) == STATUS_SUCCESS);
    CHECK(list.L.Type == NonPagedPoolNx && list.L.Size == 48 && list.L.Tag == TAG);
    CHECK(init_list(0, 48, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-029/b", reported("NT-029", 0xC4, 0xCA));
    forget_reports();
    /* Without routines of its own it uses the pool. */
    entry = ExAllocateFromLookasideListEx(&list);
    CHECK(entry);
    ExFreeToLookasideListEx(&list, entry);
    ExDeleteLookasideListEx(&list);
    CHECK(init_list(EX_LOOKASIDE_LIST_EX_FLAGS_FAIL_NO_RAISE, 48, 0) == STATUS_SUCCESS);
    CHECK(list.L.Type == NonPagedPoolNx);
    ExDeleteLookasideListEx(&list);
    CHECK(init_list(EX_LOOKASIDE_LIST_EX_FLAGS_RAISE_ON_FAIL, 48, 0) == STATUS_SUCCESS);
    CHECK(list.L.Type == (POOL_TYPE)(NonPagedPoolNx | POOL_RAISE_IF_ALLOCATION_FAILURE));
    ExDeleteLookasideListEx(&list);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
    CHECK(init_list(0, 48, 1) == STATUS_SUCCESS && one_told("NT-033"));
    ExDeleteLookasideListEx(&list);
    CHECK(ExInitializeLookasideListEx(NULL, NULL, NULL, NonPagedPoolNx, 0, 48, TAG, 0) ==
              STATUS_INVALID_PARAMETER &&
          one_told("NT-005"));
    in_dpc(init_and_delete);
    CHECK(errors() == 0);
    in_interrupt(init_and_delete);
    CHECK(errors() == 2 && broken("NT-033"));
    forget_reports();
    ExDeleteLookasideListEx(&list);
    CHECK_RULE("NT-029/c", reported("NT-029", 0xC4, 0xCB) && one_told("NT-029"));
}

/* ---- sequenced lists ---- */

TEST_WITH(driver, sequenced_lists_are_aligned)
{
    static uint8_t storage[96] __attribute__((aligned(16)));
    PSLIST_HEADER head = (PSLIST_HEADER)(void *)(storage + 8);
    PSLIST_ENTRY entry = (PSLIST_ENTRY)(void *)(storage + 64);

    memset(storage, 0x5A, sizeof(storage));
    InitializeSListHead(head);
    CHECK_RULE("NT-113/c", one_told("NT-113") && storage[8] == 0x5A);
    CHECK(!ExInterlockedPushEntrySList(head, entry, NULL) && one_told("NT-113"));
    CHECK(!ExInterlockedPopEntrySList(head, NULL) && one_told("NT-113"));
    CHECK(!ExInterlockedFlushSList(head) && one_told("NT-113"));
    CHECK(ExQueryDepthSList(head) == 0 && one_told("NT-113"));
    InitializeSListHead(NULL);
    CHECK(one_told("NT-113"));
    head = (PSLIST_HEADER)(void *)storage;
    InitializeSListHead(head);
    CHECK(ExQueryDepthSList(head) == 0 && !ExInterlockedFlushSList(head));
    CHECK(!ExInterlockedPushEntrySList(head, entry, NULL) && ExQueryDepthSList(head) == 1);
    CHECK(ExInterlockedPushEntrySList(head, NULL, NULL) == entry && one_told("NT-113"));
    CHECK(ExInterlockedFlushSList(head) == entry && ExQueryDepthSList(head) == 0);
    CHECK(!ExInterlockedPopEntrySList(head, NULL) && errors() == 0);
}
