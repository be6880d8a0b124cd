/* SPDX-License-Identifier: MIT */
/* Providers of events, while somebody records; resolutions of the clock; doubly linked lists. */
#include "support/harness.h"
#include "trace/trace.h"

#include <stdlib.h>

static bool one_told(const char *rule)
{
    bool told = errors() == 1 && broken(rule);

    forget_reports();
    return told;
}

/* ---- events ---- */

static const GUID provider = {0x01234567, 0x89AB, 0xCDEF, {1, 2, 3, 4, 5, 6, 7, 8}};
static unsigned enabled;

static VOID NTAPI note_enabled(LPCGUID id, ULONG control, UCHAR level, ULONGLONG any, ULONGLONG all,
                               PVOID filter, PVOID context)
{
    CHECK(control == 1 && level == 0xFF && any == ~0ull && all == 0 && !filter);
    CHECK(memcmp(id, &provider, sizeof(provider)) == 0 && context == &enabled);
    enabled++;
}

static REGHANDLE handle;

static void write_and_unregister(void)
{
    const EVENT_DESCRIPTOR descriptor = {.Id = 77};
    uint8_t *paged = ExAllocatePoolWithTag(PagedPool, 16, TAG);
    EVENT_DATA_DESCRIPTOR data[2] = {{.Ptr = (uintptr_t)&provider, .Size = 5},
                                     {.Ptr = (uintptr_t)paged, .Size = 11}};
    REGHANDLE other;
    KIRQL old;

    CHECK(EtwRegister(NULL, NULL, NULL, &handle) == STATUS_INVALID_PARAMETER);
    CHECK(EtwRegister(&provider, NULL, NULL, NULL) == STATUS_INVALID_PARAMETER);
    CHECK(EtwRegister(&provider, note_enabled, &enabled, &handle) == STATUS_SUCCESS);
    CHECK(enabled == 1);
    CHECK(EtwRegister(&provider, NULL, NULL, &other) == STATUS_SUCCESS && other != handle);
    CHECK(EtwUnregister(other) == STATUS_SUCCESS && enabled == 1);
    CHECK_RULE("NT-169/d",
               EtwEventEnabled(handle, &descriptor) && EtwProviderEnabled(handle, 0, 0) &&
                   !EtwEventEnabled(other, &descriptor) && !EtwProviderEnabled(0, 0, 0));
    CHECK_RULE("NT-169/a", EtwWrite(handle, &descriptor, NULL, 2, data) == STATUS_SUCCESS);
    CHECK_RULE("NT-169/a", EtwWrite(handle, &descriptor, NULL, 0, NULL) == STATUS_SUCCESS);
    CHECK_RULE("NT-169/a", EtwWriteString(handle, 4, 0, NULL, L"seven..") == STATUS_SUCCESS);
    CHECK_RULE("NT-169/b", EtwWrite(handle, &descriptor, NULL, 1, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-169/b", EtwWrite(handle, NULL, NULL, 0, NULL) == STATUS_INVALID_PARAMETER);
    CHECK(EtwWrite(0, &descriptor, NULL, 0, NULL) == STATUS_INVALID_HANDLE && errors() == 0);
    KeRaiseIrql(APC_LEVEL, &old);
    EtwWrite(handle, &descriptor, NULL, 2, data);
    CHECK(errors() == 0);
    KeRaiseIrql(DISPATCH_LEVEL, &(KIRQL){0});
    EtwWrite(handle, &descriptor, NULL, 1, data);
    CHECK(errors() == 0);
    EtwWrite(handle, &descriptor, NULL, 2, data);
    CHECK(one_told("NT-169"));
    CHECK(EtwRegister(&provider, NULL, NULL, &other) == STATUS_INVALID_PARAMETER);
    CHECK(one_told("NT-168"));
    CHECK(EtwUnregister(handle) == STATUS_INVALID_DEVICE_REQUEST && one_told("NT-168"));
    KeLowerIrql(APC_LEVEL);
    KeLowerIrql(old);
    CHECK(EtwUnregister(handle) == STATUS_SUCCESS && errors() == 0);
    CHECK(EtwUnregister(0) == STATUS_INVALID_HANDLE && one_told("NT-168"));
    ExFreePool(paged);
}

TEST_WITH(machine, events_go_to_the_track_of_their_provider)
{
    static uint64_t now;
    struct trace_sink *sink = trace_sink_create();
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    enabled = 0;
    trace_sink_install(sink, &now);
    run(write_and_unregister);
    CHECK(trace_write_json(sink, file));
    fclose(file);
    trace_sink_destroy(sink);
    CHECK(strstr(text, "{01234567-89AB-CDEF}") && strstr(text, "ETW providers"));
    CHECK(strstr(text, "\"id\":77,\"bytes\":16"));
    CHECK(strstr(text, "\"id\":77,\"bytes\":0"));
    CHECK(strstr(text, "\"level\":4,\"characters\":7"));
    free(text);
}

/* ---- the clock ---- */

TEST_WITH(driver, resolutions_are_set_and_asked_for_at_a_low_level)
{
    ULONG longest = 1, shortest = 2, current = 3;
    KIRQL old;

    CHECK(ExSetTimerResolution(10000, TRUE) == 10000);
    ExQueryTimerResolution(NULL, &shortest, &current);
    ExQueryTimerResolution(&longest, NULL, &current);
    ExQueryTimerResolution(&longest, &shortest, NULL);
    CHECK(longest == 1 && shortest == 2 && current == 3 && errors() == 0);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK(ExSetTimerResolution(0, FALSE) == 10000 && one_told("NT-178"));
    CHECK(ExSetTimerResolution(5000, TRUE) == 10000 && one_told("NT-178"));
    ExQueryTimerResolution(&longest, &shortest, &current);
    CHECK(longest == 1 && shortest == 2 && current == 3 && one_told("NT-178"));
    KeLowerIrql(old);
    ExQueryTimerResolution(&longest, &shortest, &current);
    CHECK(longest > current && current == 10000 && shortest < 10000);
    KeRaiseIrql(APC_LEVEL, &old);
    CHECK(ExSetTimerResolution(0, FALSE) == longest && errors() == 0);
    KeLowerIrql(old);
}

TEST_WITH(driver, two_clocks_are_read_at_once)
{
    ULONG64 counter = 0;
    ULONGLONG now;

    pause_ns(1234500);
    now = KeQueryInterruptTimePrecise(&counter);
    CHECK(now == counter && now >= 12345 && now < 12445);
    CHECK(KeQueryInterruptTimePrecise(NULL) >= now);
}

/* ---- lists ---- */

TEST_WITH(driver, lists_with_a_lock_tell_who_was_there)
{
    LIST_ENTRY head, a, b, c;
    KSPIN_LOCK lock;

    KeInitializeSpinLock(&lock);
    InitializeListHead(&head);
    CHECK_RULE("NT-111/a", !ExInterlockedInsertHeadList(&head, &a, &lock));
    CHECK(ExInterlockedInsertHeadList(&head, &b, &lock) == &a);
    CHECK_RULE("NT-111/b", ExInterlockedInsertTailList(&head, &c, &lock) == &a);
    CHECK(head.Flink == &b && b.Flink == &a && a.Flink == &c && c.Flink == &head &&
          head.Blink == &c);
    CHECK(ExInterlockedRemoveHeadList(&head, &lock) == &b);
    CHECK(ExInterlockedRemoveHeadList(&head, &lock) == &a);
    CHECK(ExInterlockedRemoveHeadList(&head, &lock) == &c);
    CHECK(!ExInterlockedRemoveHeadList(&head, &lock));
    CHECK_RULE("NT-111/b", !ExInterlockedInsertTailList(&head, &c, &lock) && errors() == 0);
}
