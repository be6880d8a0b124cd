/* SPDX-License-Identifier: MIT */
/* Strings, lists, and the small rest. */
#include "nt/base/nt_config.h"
#include "nt/base/status_name.h"
#include "nt/io/image_life.h"
#include "nt/routine.h"
#include "sim/point.h"
#include "support/harness.h"
#include "trace/trace.h"

#include <ntstrsafe.h>

#include <dlfcn.h>
#include <stdlib.h>

/* ---- strings ---- */

static void compare_strings(void)
{
    UNICODE_STRING a = unicode_text(L"abc"), b = unicode_text(L"ABC");

    RtlEqualUnicodeString(&a, &b, TRUE);
}

TEST_WITH(driver, strings_are_counted)
{
    WCHAR buffer[4] = L"xyz";
    UNICODE_STRING string = unicode_text(L"ab"), small = {0, 3 * sizeof(WCHAR), buffer}, before;
    ANSI_STRING ansi;

    CHECK_RULE("NT-153/a", string.Length == 4 && string.MaximumLength == 6 && sizeof(WCHAR) == 2);
    string = unicode_text(NULL);
    CHECK_RULE("NT-153/b", string.Length == 0 && string.MaximumLength == 0 && !string.Buffer);
    string = unicode_text(L"abcdef");
    RtlCopyUnicodeString(&small, &string);
    CHECK_RULE("NT-154/a", small.Length == 6 && memcmp(buffer, L"abc", 6) == 0);
    small.Length = 4;
    before = small;
    CHECK_RULE("NT-154/b", RtlAppendUnicodeToString(&small, L"xy") == STATUS_BUFFER_TOO_SMALL);
    CHECK_RULE("NT-154/b", before.Length == small.Length &&
                               before.MaximumLength == small.MaximumLength &&
                               before.Buffer == small.Buffer && buffer[2] == L'c');
    CHECK_RULE("NT-154/c", RtlAppendUnicodeToString(&small, L"x") == STATUS_SUCCESS &&
                               small.Length == 6 && buffer[2] == L'x');
    CHECK_RULE("NT-155/a", errors() == 0);
    in_dpc(compare_strings);
    CHECK_RULE("NT-155/b", broken("NT-155"));
    forget_reports();
    RtlInitAnsiString(&ansi, "hello");
    assert_int_equal(RtlAnsiStringToUnicodeString(&string, &ansi, TRUE), STATUS_SUCCESS);
    assert_memory_equal(string.Buffer, L"hello", 12);
    RtlFreeUnicodeString(&string);
    CHECK_RULE("NT-155/c", nt_image_leak_check(h.image) == 0);
    RtlAnsiStringToUnicodeString(&string, &ansi, TRUE);
    CHECK_RULE("NT-155/d", nt_image_leak_check(h.image) == 1);
}

TEST_WITH(driver, memory_is_compared)
{
    void *(NTAPI * copy)(void *, const void *, size_t);
    uint8_t a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[8];

    memcpy(b, a, 8);
    CHECK_RULE("NT-152/a", RtlCompareMemory(a, b, 8) == 8);
    b[5] = 0;
    CHECK_RULE("NT-152/a", RtlCompareMemory(a, b, 8) == 5);
    RtlMoveMemory(a + 1, a, 7);
    CHECK_RULE("NT-152/b", a[1] == 1 && a[7] == 7 && errors() == 0);
    *(void **)&copy = nt_routine_find("memcpy");
    copy(b, a, 8);
    CHECK_RULE("NT-152/c", memcmp(a, b, 8) == 0 && errors() == 0);
    copy(a + 1, a, 7);
    CHECK_RULE("NT-152/d", reported("NT-152", 0xC4, 0xF0));
}

static void check_numbers(void)
{
    WCHAR buffer[16];
    UNICODE_STRING string = {0, sizeof(buffer), buffer};
    GUID guid, again;
    ULONG value;

    assert_int_equal(RtlIntegerToUnicodeString(48879, 16, &string), STATUS_SUCCESS);
    assert_memory_equal(buffer, L"BEEF", 8);
    assert_int_equal(RtlUnicodeStringToInteger(&string, 16, &value), STATUS_SUCCESS);
    assert_int_equal(value, 48879);
    string = unicode_text(L"0x1f");
    RtlUnicodeStringToInteger(&string, 0, &value);
    assert_int_equal(value, 0x1F);
    assert_int_equal(ExUuidCreate(&guid), STATUS_SUCCESS);
    assert_int_equal(RtlStringFromGUID(&guid, &string), STATUS_SUCCESS);
    assert_int_equal(string.Length, 76);
    assert_int_equal(RtlGUIDFromString(&string, &again), STATUS_SUCCESS);
    assert_memory_equal(&guid, &again, sizeof(guid));
    RtlFreeUnicodeString(&string);
}

TEST_WITH(machine, numbers_and_guids_are_text)
{
    run(check_numbers);
    assert_int_equal(errors(), 0);
}

TEST_WITH(driver, bitmaps_are_searched)
{
    ULONG bits[4];
    RTL_BITMAP map;

    RtlInitializeBitMap(&map, bits, 100);
    RtlClearAllBits(&map);
    RtlSetBits(&map, 10, 70);
    assert_true(RtlAreBitsSet(&map, 10, 70));
    assert_false(RtlAreBitsSet(&map, 9, 2));
    assert_int_equal(RtlNumberOfSetBits(&map), 70);
    assert_int_equal(RtlFindClearBits(&map, 10, 0), 0);
    assert_int_equal(RtlFindClearBits(&map, 20, 0), 80);
    assert_int_equal(RtlFindClearBits(&map, 21, 0), 0xFFFFFFFF);
    assert_int_equal(RtlFindClearBitsAndSet(&map, 10, 50), 80);
    assert_int_equal(RtlFindClearBits(&map, 10, 50), 90);
    RtlClearBits(&map, 30, 5);
    assert_int_equal(RtlFindClearBits(&map, 5, 20), 30);
    assert_int_equal(errors(), 0);
    RtlSetBits(&map, 99, 2);
    assert_int_equal(errors(), 1);
}

TEST_WITH(driver, safe_strings_are_cut)
{
    WCHAR small[2], large[16];

    CHECK_RULE("NT-156/a",
               RtlStringCbPrintfW(small, sizeof(small), L"%ws", L"abc") == STATUS_BUFFER_OVERFLOW &&
                   small[0] == L'a' && small[1] == 0);
    CHECK_RULE("NT-156/b",
               RtlStringCbPrintfW(large, sizeof(large), L"%d-%ws", 12, L"abc") == STATUS_SUCCESS &&
                   memcmp(large, L"12-abc", 14) == 0);
    CHECK_RULE("NT-156/c",
               RtlStringCchPrintfW(small, 2, L"ab") == STATUS_BUFFER_OVERFLOW && small[1] == 0);
}

/* ---- lists ---- */

static void check_interlocked_lists(void)
{
    static KSPIN_LOCK lock;
    LIST_ENTRY head, a, b;

    lock = 0;
    InitializeListHead(&head);
    CHECK_RULE("NT-111/a", ExInterlockedInsertHeadList(&head, &a, &lock) == NULL);
    CHECK_RULE("NT-111/b", ExInterlockedInsertTailList(&head, &b, &lock) == &a);
    CHECK_RULE("NT-111/c", ExInterlockedRemoveHeadList(&head, &lock) == &a);
    CHECK_RULE("NT-111/c", ExInterlockedRemoveHeadList(&head, &lock) == &b);
    CHECK_RULE("NT-111/c", ExInterlockedRemoveHeadList(&head, &lock) == NULL);
    CHECK_RULE("NT-111/a", errors() == 0);
}

static void check_interlocked_numbers(void)
{
    static KSPIN_LOCK lock;
    SINGLE_LIST_ENTRY head = {NULL}, a, b;
    LARGE_INTEGER sum = {.QuadPart = -5}, step = {.QuadPart = 7};
    ULONG count = 0xFFFFFFFF;

    lock = 0;
    CHECK_RULE("NT-111/d", ExInterlockedPopEntryList(&head, &lock) == NULL);
    CHECK_RULE("NT-111/d", ExInterlockedPushEntryList(&head, &a, &lock) == NULL);
    CHECK_RULE("NT-111/d", ExInterlockedPushEntryList(&head, &b, &lock) == &a && head.Next == &b);
    CHECK_RULE("NT-111/d", ExInterlockedPopEntryList(&head, &lock) == &b);
    CHECK_RULE("NT-111/d", ExInterlockedPopEntryList(&head, &lock) == &a && !head.Next);
    CHECK_RULE("NT-111/e", ExInterlockedAddLargeInteger(&sum, step, &lock).QuadPart == -5);
    CHECK_RULE("NT-111/e", sum.QuadPart == 2);
    CHECK_RULE("NT-111/e", ExInterlockedAddUlong(&count, 3, &lock) == 0xFFFFFFFF && count == 2);
    CHECK_RULE("NT-111/e", errors() == 0);
}

static SLIST_HEADER stack_head;
static unsigned workers_done;
static SLIST_ENTRY *entries;

static void push_and_pop(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 3000; i++) {
        PSLIST_ENTRY entry = ExInterlockedPopEntrySList(&stack_head, NULL);

        if (entry) {
            sim_point();
            ExInterlockedPushEntrySList(&stack_head, entry, NULL);
        }
    }
    workers_done++;
}

static void check_sequenced_list(void)
{
    entries = ExAllocatePoolWithTag(NonPagedPoolNx, 5 * sizeof(*entries), TAG);
    ExInitializeSListHead(&stack_head);
    CHECK_RULE("NT-113/a", ExInterlockedPopEntrySList(&stack_head, NULL) == NULL);
    CHECK_RULE("NT-113/a", ExInterlockedPushEntrySList(&stack_head, &entries[0], NULL) == NULL);
    CHECK_RULE("NT-113/a",
               ExInterlockedPushEntrySList(&stack_head, &entries[1], NULL) == &entries[0]);
    CHECK_RULE("NT-113/a", ExInterlockedPopEntrySList(&stack_head, NULL) == &entries[1]);
    for (unsigned i = 1; i < 5; i++)
        ExInterlockedPushEntrySList(&stack_head, &entries[i], NULL);
    workers_done = 0;
    for (unsigned i = 0; i < 4; i++)
        start("worker", push_and_pop, NULL);
    while (workers_done < 4)
        pause_ns(100000);
    CHECK_RULE("NT-113/b", ExQueryDepthSList(&stack_head) == 5 && errors() == 0);
    CHECK_RULE("NT-113/b",
               ExInterlockedFlushSList(&stack_head) != NULL && ExQueryDepthSList(&stack_head) == 0);
    ExInterlockedPushEntrySList(&stack_head, (PSLIST_ENTRY)(void *)((uint8_t *)entries + 8), NULL);
    CHECK_RULE("NT-113/c", broken("NT-113") && ExQueryDepthSList(&stack_head) == 0);
    ExFreePool(entries);
}

static LONG shared_count;

static void count_up(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 20000; i++) {
        InterlockedIncrement(&shared_count);
        if (i % 64 == 0)
            sim_point();
    }
    workers_done++;
}

static void check_interlocked(void)
{
    LONG value = 5;

    CHECK_RULE("NT-110/a", InterlockedIncrement(&value) == 6);
    CHECK_RULE("NT-110/b", InterlockedCompareExchange(&value, 9, 6) == 6 && value == 9);
    CHECK_RULE("NT-110/c", InterlockedExchange(&value, 1) == 9);
    shared_count = 0;
    workers_done = 0;
    for (unsigned i = 0; i < 4; i++)
        start("counter", count_up, NULL);
    while (workers_done < 4)
        pause_ns(100000);
    CHECK_RULE("NT-110/d", shared_count == 80000);
}

TEST_WITH(machine_smp, lists_are_atomic)
{
    run(check_interlocked_lists);
    run(check_interlocked_numbers);
    forget_reports();
    run(check_sequenced_list);
    run(check_interlocked);
}

/* ---- the rest ---- */

static void check_version(void)
{
    RTL_OSVERSIONINFOEXW version = {.dwOSVersionInfoSize = sizeof(RTL_OSVERSIONINFOW),
                                    .wProductType = 0x55};
    UNICODE_STRING name = unicode_text(L"ExAllocatePool2"),
                   unknown = unicode_text(L"ExNoSuchRoutine");

    assert_int_equal(RtlGetVersion((PRTL_OSVERSIONINFOW)(void *)&version), STATUS_SUCCESS);
    CHECK_RULE("NT-157/a", version.dwMajorVersion == 10 && version.wProductType == 0x55);
    CHECK_RULE("NT-158", version.dwBuildNumber == 18362);
    version.dwOSVersionInfoSize = sizeof(version);
    RtlGetVersion((PRTL_OSVERSIONINFOW)(void *)&version);
    CHECK_RULE("NT-157/b", version.wProductType == 1);
    CHECK_RULE("NT-159/a", MmGetSystemRoutineAddress(&name) == NULL);
    CHECK_RULE("NT-159/a", MmGetSystemRoutineAddress(&unknown) == NULL && errors() == 0);
    name = unicode_text(L"KeSetEvent");
    CHECK_RULE("NT-159/b", MmGetSystemRoutineAddress(&name) == (PVOID)(uintptr_t)KeSetEvent);
}

TEST_WITH(machine, versions_are_as_configured)
{
    const struct nt_config config = {.os_build = 18362};

    harness_teardown();
    harness_boot(1, 1, &config);
    run(check_version);
}

static VOID NTAPI save_and_return(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    KFLOATING_SAVE save;

    (void)dpc;
    (void)context;
    (void)b;
    KeSaveFloatingPointState(&save);
    if (a)
        KeRestoreFloatingPointState(&save);
}

TEST_WITH(driver, floating_state_is_restored)
{
    static KDPC dpc;

    KeInitializeDpc(&dpc, save_and_return, NULL);
    KeInsertQueueDpc(&dpc, &dpc, NULL);
    KeFlushQueuedDpcs();
    CHECK_RULE("NT-160/a", errors() == 0);
    KeInsertQueueDpc(&dpc, NULL, NULL);
    KeFlushQueuedDpcs();
    CHECK_RULE("NT-160/b", broken("NT-160"));
}

static void check_etw(void)
{
    static const GUID id = {0x11223344, 1, 2, {3}};
    EVENT_DESCRIPTOR descriptor = {.Id = 7};
    EVENT_DATA_DESCRIPTOR data[129];
    REGHANDLE handle = 0;

    memset(data, 0, sizeof(data));
    trace_sink_install(NULL, NULL); /* nobody records */
    CHECK_RULE("NT-168/a", EtwRegister(&id, NULL, NULL, &handle) == STATUS_SUCCESS && handle != 0);
    CHECK_RULE("NT-169/a", EtwWrite(handle, &descriptor, NULL, 1, data) == STATUS_SUCCESS);
    CHECK_RULE("NT-169/b",
               EtwWrite(handle, &descriptor, NULL, 129, data) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-169/c",
               EtwWrite(handle + 5, &descriptor, NULL, 1, data) == STATUS_INVALID_HANDLE);
    CHECK_RULE("NT-169/d", !EtwEventEnabled(handle, &descriptor));
    CHECK_RULE("NT-169/d", !EtwProviderEnabled(handle, 0, 0));
    CHECK_RULE("NT-169/a", EtwWriteString(handle, 1, 0, NULL, L"text") == STATUS_SUCCESS);
    CHECK_RULE("NT-169/a", EtwWriteString(handle, 1, 0, NULL, NULL) == STATUS_SUCCESS);
    CHECK_RULE("NT-169/c", EtwWriteString(handle + 5, 1, 0, NULL, L"text") == STATUS_INVALID_HANDLE);
    CHECK_RULE("NT-168/b", EtwUnregister(handle) == STATUS_SUCCESS && errors() == 0);
    EtwUnregister(handle);
    CHECK_RULE("NT-168/b", reported("NT-168", 0xC4, 0xDC));
    EtwRegister(&id, NULL, NULL, &handle);
}

TEST_WITH(machine, events_need_a_registration)
{
    run(check_etw);
    nt_image_leak_check(h.image);
    CHECK_RULE("NT-168/c", reported("NT-168", 0xC4, 0xDD));
}

/* ---- the rest of the rest ---- */

TEST_WITH(driver, small_routines_answer)
{
    SECURITY_SUBJECT_CONTEXT subject = {0};
    LARGE_INTEGER time = {.QuadPart = 123456789012}, local = {.QuadPart = 0};
    PVOID caller[2] = {NULL, NULL};
    ULONG seed = 5, first, again = 5;

    ExSystemTimeToLocalTime(&time, &local);
    CHECK(local.QuadPart == time.QuadPart);
    first = RtlRandomEx(&seed);
    CHECK(first == seed && first < 0x80000000 && RtlRandomEx(&again) == first);
    CHECK(RtlRandomEx(&seed) != first);
    CHECK(RtlWalkFrameChain(caller, 2, 0) == 1 && caller[0] && !caller[1]);
    CHECK(RtlWalkFrameChain(caller + 1, 0, 0) == 0 && !caller[1]);
    SeLockSubjectContext(&subject);
    SeUnlockSubjectContext(&subject);
    CHECK(errors() == 0);
}

static void lock_subject(void)
{
    SECURITY_SUBJECT_CONTEXT subject = {0};

    SeLockSubjectContext(&subject);
    CHECK_RULE("NT-183/h", errors() == 1);
    SeUnlockSubjectContext(&subject);
    CHECK_RULE("NT-183/h", errors() == 2);
}

TEST_WITH(driver, subjects_are_locked_at_passive_level)
{
    in_dpc(lock_subject);
}

/* The committed table of names is what the sources export. */
TEST_WITH(machine, every_export_has_a_name)
{
    static const char *const names[] = {"KeSetEvent",  "READ_REGISTER_BUFFER_ULONG64",
                                        "ZwOpenKey",   "RtlGetVersion",
                                        "ExFreePool2", "WRITE_PORT_UCHAR"};
    POBJECT_TYPE *thread_type = nt_routine_find("PsThreadType");
    int(NTAPI * printing)(char *, const char *, ...) = NULL;
    char buffer[32];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_ptr_equal(nt_routine_find(names[i]), dlsym(RTLD_DEFAULT, names[i]));
    assert_ptr_equal(*thread_type, *PsThreadType);
    assert_ptr_equal(nt_routine_find("MmUserProbeAddress"), &MmUserProbeAddress);
    assert_ptr_not_equal(nt_routine_find("memcpy"), (void *)(uintptr_t)memcpy);
    assert_null(nt_routine_find("nt_create"));
    *(void **)&printing = nt_routine_find("sprintf");
    assert_int_equal(printing(buffer, "%d-%s", 12, "ab"), 5);
    assert_string_equal(buffer, "12-ab");
    assert_string_equal(nt_status_name(STATUS_NO_MEMORY), "STATUS_NO_MEMORY");
    assert_string_equal(nt_status_name(STATUS_SUCCESS), "STATUS_SUCCESS");
    assert_null(nt_status_name((NTSTATUS)0x12345678));
}
