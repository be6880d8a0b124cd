/* SPDX-License-Identifier: MIT */
/* System threads, processes, objects and handles. */
#include "nt/base/current.h"
#include "nt/io/image_life.h"
#include "nt/ps/process.h"
#include "support/harness.h"

#include "sim/machine.h"

static LARGE_INTEGER zero;

static KIRQL thread_irql;
static BOOLEAN thread_apcs_disabled;
static PEPROCESS thread_process;
static PKTHREAD thread_self;
static KPROCESSOR_MODE thread_mode;
static KEVENT go;
static bool went_on;

static VOID NTAPI thread_main(PVOID context)
{
    thread_irql = KeGetCurrentIrql();
    thread_apcs_disabled = KeAreApcsDisabled();
    thread_process = IoGetCurrentProcess();
    thread_self = KeGetCurrentThread();
    thread_mode = ExGetPreviousMode();
    KeWaitForSingleObject(&go, Executive, KernelMode, FALSE, NULL);
    if (context)
        PsTerminateSystemThread(STATUS_SUCCESS);
    went_on = true;
}

static PVOID object_of(HANDLE handle)
{
    PVOID object = NULL;

    assert_int_equal(ObReferenceObjectByHandle(handle, 0, *PsThreadType, KernelMode, &object, NULL),
                     STATUS_SUCCESS);
    return object;
}

static void check_system_thread(void)
{
    for (int by_return = 0; by_return <= 1; by_return++) {
        HANDLE handle;
        PVOID object;

        went_on = false;
        KeInitializeEvent(&go, NotificationEvent, FALSE);
        assert_int_equal(PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, NULL, NULL, NULL,
                                              thread_main, by_return ? NULL : &go),
                         STATUS_SUCCESS);
        pause_ns(1000000);
        CHECK_RULE("NT-092/a", thread_irql == PASSIVE_LEVEL);
        CHECK_RULE("NT-092/b", thread_apcs_disabled);
        CHECK_RULE("NT-092/c", thread_process == (void *)nt_process_system());
        CHECK_RULE("NT-107/a",
                   thread_mode == KernelMode && thread_process == (void *)nt_process_system());
        CHECK_RULE("NT-107/c", thread_self != KeGetCurrentThread());
        object = object_of(handle);
        assert_ptr_equal(object, thread_self);
        CHECK_RULE("NT-106/a", ZwClose(handle) == STATUS_SUCCESS);
        CHECK_RULE("NT-106/d", KeWaitForSingleObject(object, Executive, KernelMode, FALSE, &zero) ==
                                   STATUS_TIMEOUT);
        CHECK_RULE("NT-092/d", KeWaitForSingleObject(object, Executive, KernelMode, FALSE, &zero) ==
                                       STATUS_TIMEOUT &&
                                   errors() == 0);
        KeSetEvent(&go, 0, FALSE);
        CHECK_RULE(by_return ? "NT-095" : "NT-096/c",
                   KeWaitForSingleObject(object, Executive, KernelMode, FALSE, NULL) ==
                       STATUS_SUCCESS);
        CHECK_RULE("NT-094/a", went_on == by_return);
        CHECK_RULE("NT-038/b", KeWaitForSingleObject(object, Executive, KernelMode, FALSE, &zero) ==
                                   STATUS_SUCCESS);
        ObDereferenceObject(object);
    }
    CHECK_RULE("NT-094/b", !NT_SUCCESS(PsTerminateSystemThread(STATUS_SUCCESS)));
}

TEST_WITH(machine, system_threads_live_and_end)
{
    run(check_system_thread);
    assert_int_equal(errors(), 1);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

static VOID NTAPI end_raised(PVOID context)
{
    KIRQL old;

    (void)context;
    KeRaiseIrql(APC_LEVEL, &old);
}

static VOID NTAPI end_in_region(PVOID context)
{
    (void)context;
    KeEnterCriticalRegion();
}

TEST_WITH(driver, threads_end_tidily)
{
    HANDLE handle;

    PsCreateSystemThread(&handle, 0, NULL, NULL, NULL, end_in_region, NULL);
    ZwClose(handle);
    pause_ns(1000000);
    CHECK_RULE("NT-096/a", verify_bugcheck_state(h.log)->code == 0x20);
    forget_reports();
    PsCreateSystemThread(&handle, 0, NULL, NULL, NULL, end_raised, NULL);
    ZwClose(handle);
    pause_ns(1000000);
    CHECK_RULE("NT-096/a", reported("NT-096", 0x20, 0));
    CHECK_RULE("NT-096/a", KeGetCurrentIrql() == PASSIVE_LEVEL);
}

static NTSTATUS create_with(ULONG flags, HANDLE *handle)
{
    OBJECT_ATTRIBUTES attributes;

    InitializeObjectAttributes(&attributes, NULL, flags, NULL, NULL);
    return PsCreateSystemThread(handle, 0, &attributes, NULL, NULL, thread_main, NULL);
}

static void check_attributes(void)
{
    HANDLE handle;

    KeInitializeEvent(&go, NotificationEvent, TRUE);
    CHECK_RULE("NT-093/a", create_with(OBJ_PERMANENT, &handle) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-093/b", create_with(OBJ_EXCLUSIVE, &handle) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-093/c", create_with(OBJ_OPENIF, &handle) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-093/d", create_with(OBJ_KERNEL_HANDLE, &handle) == STATUS_SUCCESS);
    ZwClose(handle);
    assert_int_equal(errors(), 0);
    CHECK_RULE("NT-093/e", create_with(0, &handle) == STATUS_SUCCESS && broken("NT-093"));
    ZwClose(handle);
}

TEST_WITH(machine, attributes_are_checked)
{
    struct nt_process *process = nt_process_create("client");

    run_client(process, check_attributes);
    nt_process_destroy(process);
}

TEST_WITH(driver, priorities_are_recorded)
{
    PKTHREAD self = KeGetCurrentThread();
    KPRIORITY first = KeQueryPriorityThread(self);

    CHECK_RULE("NT-097/a", KeSetPriorityThread(self, 12) == first);
    CHECK_RULE("NT-097/a", KeSetPriorityThread(self, LOW_REALTIME_PRIORITY) == 12);
    CHECK_RULE("NT-097/a", KeQueryPriorityThread(self) == LOW_REALTIME_PRIORITY);
    CHECK_RULE("NT-097/b", KeSetPriorityThread(self, HIGH_PRIORITY) == LOW_REALTIME_PRIORITY);
    CHECK_RULE("NT-097/b", KeSetPriorityThread(self, LOW_PRIORITY + 1) == HIGH_PRIORITY);
    CHECK_RULE("NT-097/b", errors() == 0);
    CHECK_RULE("NT-097/c", KeSetPriorityThread(self, LOW_PRIORITY) == LOW_PRIORITY + 1);
    CHECK_RULE("NT-097/c", KeSetPriorityThread(self, HIGH_PRIORITY + 1) == LOW_PRIORITY + 1);
    CHECK_RULE("NT-097/c", errors() == 2);
    CHECK_RULE("NT-097/d", KeSetPriorityThread((PKTHREAD)&first, 9) == 0);
    CHECK_RULE("NT-097/d", KeQueryPriorityThread(self) == LOW_PRIORITY + 1);
}

TEST_WITH(driver, priorities_are_set_at_passive_level)
{
    PKTHREAD self = KeGetCurrentThread();
    KPRIORITY first = KeQueryPriorityThread(self);
    KIRQL old;

    KeRaiseIrql(APC_LEVEL, &old);
    (void)KeSetPriorityThread(self, 12); /* reported, and carried out: THREAD-009 */
    KeLowerIrql(old);
    CHECK_RULE("NT-097/e", errors() == 1);
    CHECK_RULE("NT-097/e", KeSetPriorityThread(self, first) == 12 && errors() == 1);
}

static struct nt_process *client;

static void check_client_context(void)
{
    CHECK_RULE("NT-107/b", ExGetPreviousMode() == UserMode);
    CHECK_RULE("NT-107/b", IoGetCurrentProcess() == (void *)client);
    CHECK(nt_process_current() == client);
}

static void check_system_context(void)
{
    CHECK(nt_process_current() == nt_process_system());
}

TEST_WITH(machine, client_threads_have_their_process)
{
    client = nt_process_create("client");
    run_client(client, check_client_context);
    run(check_system_context);
    nt_process_destroy(client);
    assert_int_equal(errors(), 0);
}

/* ---- handles ---- */

static void check_references(void)
{
    HANDLE handle;
    PVOID object = &handle, again;

    KeInitializeEvent(&go, NotificationEvent, FALSE);
    PsCreateSystemThread(&handle, 0, NULL, NULL, NULL, thread_main, &go);
    CHECK_RULE("NT-103/a", ObReferenceObjectByHandle(handle, 0, *ExEventObjectType, KernelMode,
                                                     &object, NULL) == STATUS_OBJECT_TYPE_MISMATCH &&
                               object == NULL);
    CHECK_RULE("NT-103/b", ObReferenceObjectByHandle(handle, 0, *PsThreadType, KernelMode, &object,
                                                     NULL) == STATUS_SUCCESS &&
                               object != NULL);
    CHECK_RULE("NT-104/a", ObReferenceObjectByHandle(NULL, 0, NULL, KernelMode, &again, NULL) ==
                               STATUS_INVALID_HANDLE);
    CHECK_RULE("NT-104/a", reported("NT-104", 0xC4, 0xF5));
    ObReferenceObjectByHandle((HANDLE)(uintptr_t)0x12345678, 0, NULL, KernelMode, &again, NULL);
    CHECK_RULE("NT-104/b", reported("NT-104", 0xC4, 0x3C));
    ObReferenceObjectByHandle(handle, 0, NULL, UserMode, &again, NULL);
    CHECK_RULE("NT-104/c", reported("NT-104", 0xC4, 0xF7));
    ObDereferenceObject(again);

    forget_reports();
    ObDereferenceObject(object);
    assert_int_equal(errors(), 0);
    KeSetEvent(&go, 0, FALSE);
    pause_ns(1000000);
    /* Ended, no pointer left: the handle alone keeps the object. */
    CHECK_RULE("NT-105/a", ObReferenceObjectByHandle(handle, 0, NULL, KernelMode, &object, NULL) ==
                               STATUS_SUCCESS);
    ObDereferenceObject(object);
    ObDereferenceObject(object);
    CHECK_RULE("NT-105/e", reported("NT-105", 0xC4, 0x3F));
    forget_reports();
    CHECK_RULE("NT-105/d", KeWaitForSingleObject(object, Executive, KernelMode, FALSE, &zero) ==
                               STATUS_SUCCESS);
    CHECK_RULE("NT-106/a", ZwClose(handle) == STATUS_SUCCESS && errors() == 0);
    CHECK_RULE("NT-106/b", ZwClose(handle) == STATUS_INVALID_HANDLE);
    CHECK_RULE("NT-106/c", reported("NT-106", 0x93, (uintptr_t)handle));
    ObReferenceObject(object);
    CHECK_RULE("NT-105/f", reported("NT-105", 0xC4, 0x3F));
}

TEST_WITH(machine, references_and_handles_keep_objects)
{
    run(check_references);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

static HANDLE user_handle;

static void open_user_handle(void)
{
    PVOID object;

    assert_int_equal(ZwCreateEvent(&user_handle, EVENT_MODIFY_STATE, NULL, NotificationEvent, FALSE),
                     STATUS_SUCCESS);
    forget_reports();
    ObReferenceObjectByHandle(user_handle, 0, NULL, KernelMode, &object, NULL);
    CHECK_RULE("NT-104/d", reported("NT-104", 0xC4, 0xF6));
    ObDereferenceObject(object);
    CHECK_RULE("NT-103/c", ObReferenceObjectByHandle(user_handle, EVENT_ALL_ACCESS, NULL, UserMode,
                                                     &object, NULL) == STATUS_ACCESS_DENIED);
    forget_reports();
    CHECK_RULE("NT-103/c",
               ObReferenceObjectByHandle(user_handle, EVENT_MODIFY_STATE, *ExEventObjectType,
                                         UserMode, &object, NULL) == STATUS_SUCCESS &&
                   errors() == 0);
    KeSetEvent(object, 0, FALSE);
    ObDereferenceObject(object);
}

static void check_foreign_handle(void)
{
    assert_int_equal(ZwClose(user_handle), STATUS_INVALID_HANDLE);
}

TEST_WITH(machine, user_handles_belong_to_a_process)
{
    client = nt_process_create("client");
    run_client(client, open_user_handle);
    run(check_foreign_handle);
    nt_process_destroy(client);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

static void leak_handle(void)
{
    HANDLE handle;

    assert_non_null(IoCreateNotificationEvent(NULL, &handle));
}

TEST_WITH(machine, leaked_handles_are_listed)
{
    run(leak_handle);
    CHECK_RULE("NT-109", nt_image_leak_check(h.image) == 1 && broken("NT-109"));
    assert_non_null(strstr(verify_record_at(h.log, verify_records(h.log) - 1)->seen, "event"));
}

/* Create threads until no internal allocation fails; after each failure nothing is left behind. */
static void create_with_failures(void)
{
    KeInitializeEvent(&go, NotificationEvent, TRUE);
    for (uint64_t n = 1; n < 40; n++) {
        HANDLE handle;
        NTSTATUS status;

        h.machine->heap.fail_at = h.machine->heap.requests + n;
        status = PsCreateSystemThread(&handle, 0, NULL, NULL, NULL, thread_main, NULL);
        h.machine->heap.fail_at = 0;
        if (NT_SUCCESS(status)) {
            CHECK_RULE("NT-003/e", n > 2);
            ZwClose(handle);
            pause_ns(1000000);
            return;
        }
        assert_int_equal(status, STATUS_INSUFFICIENT_RESOURCES);
        assert_int_equal(nt_image_leak_check(h.image), 0);
    }
    fail();
}

TEST_WITH(machine, failed_creation_leaves_nothing)
{
    run(create_with_failures);
    assert_int_equal(errors(), 0);
}
