/* SPDX-License-Identifier: MIT */
/* Handles and pointers of objects: of each kind, of none, of another process; and what is told about them. */
#include "nt/base/current.h"
#include "nt/io/device_object.h"
#include "nt/io/image_life.h"
#include "nt/ob/handle.h"
#include "nt/ob/user_handle.h"
#include "nt/ps/process.h"
#include "support/harness.h"

#include <ntifs.h>

static HANDLE event_handle;
static PVOID event;
static struct nt_process *client;

static void make_event(void)
{
    event = IoCreateSynchronizationEvent(NULL, &event_handle);
    assert_non_null(event);
}

static LONG_PTR count(PVOID object)
{
    (void)ObReferenceObject(object);
    return ObDereferenceObject(object);
}

/* ---- by pointer ---- */

TEST_WITH(driver, handles_are_opened_by_pointer)
{
    HANDLE handle = NULL, other;
    LONG_PTR before;

    make_event();
    before = count(event);
    CHECK(ObOpenObjectByPointer(event, OBJ_KERNEL_HANDLE, NULL, EVENT_MODIFY_STATE,
                                *ExEventObjectType, KernelMode, &handle) == STATUS_SUCCESS);
    CHECK(nt_handle_is_kernel(handle) && count(event) == before + 1);
    CHECK(ZwSetEvent(handle, NULL) == STATUS_SUCCESS && ZwClose(handle) == STATUS_SUCCESS);
    CHECK(count(event) == before);
    CHECK(ObOpenObjectByPointer(event, 0, NULL, 0, NULL, KernelMode, &handle) == STATUS_SUCCESS);
    CHECK(!nt_handle_is_kernel(handle) && ZwClose(handle) == STATUS_SUCCESS);
    handle = other = &before;
    CHECK(ObOpenObjectByPointer(event, OBJ_KERNEL_HANDLE, NULL, 0, *PsThreadType, KernelMode,
                                &handle) == STATUS_OBJECT_TYPE_MISMATCH);
    CHECK(ObOpenObjectByPointer(event, OBJ_KERNEL_HANDLE, NULL, 0, NULL, KernelMode, NULL) ==
          STATUS_INVALID_PARAMETER);
    CHECK(errors() == 0 && count(event) == before);
    CHECK(ObOpenObjectByPointer(&before, OBJ_KERNEL_HANDLE, NULL, 0, NULL, KernelMode, &handle) ==
          STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-105/c", reported("NT-105", 0xC4, 0x3F) && handle == other);
    forget_reports();
    CHECK(ObReferenceObjectByHandle(event_handle, 0, NULL, KernelMode, NULL, NULL) ==
          STATUS_INVALID_PARAMETER);
    CHECK(ZwClose(event_handle) == STATUS_SUCCESS && nt_image_leak_check(h.image) == 0);
}

/* Device objects are no counted ones; the current thread has a handle of its own. */
TEST_WITH(driver, some_objects_are_not_counted)
{
    static DEVICE_OBJECT device;
    PVOID thread = NULL;
    LONG_PTR before = count(KeGetCurrentThread());

    nt_device_object_register(&device);
    CHECK(ObReferenceObject(&device) == 0 && ObDereferenceObject(&device) == 0 && errors() == 0);
    CHECK(ObReferenceObjectByPointer(&device, 0, NULL, KernelMode) == STATUS_INVALID_PARAMETER);
    CHECK(errors() == 0);
    nt_device_object_unregister(&device);
    CHECK(ObReferenceObject(&device) == 0);
    CHECK_RULE("NT-105/c", reported("NT-105", 0xC4, 0x3F));
    forget_reports();
    CHECK(ObReferenceObjectByHandle(ZwCurrentThread(), 0, NULL, KernelMode, &thread, NULL) ==
          STATUS_SUCCESS);
    CHECK(thread == KeGetCurrentThread() && count(thread) == before + 1);
    ObDereferenceObject(thread);
    CHECK(errors() == 0 && count(thread) == before);
}

static LONG_PTR raised_count;

static void reference_raised(void)
{
    raised_count = ObReferenceObject(event);
    ObDereferenceObject(event);
}

TEST_WITH(driver, references_are_for_dispatch_level)
{
    make_event();
    in_dpc(reference_raised);
    CHECK_RULE("NT-105/a", raised_count == count(event) + 1 && errors() == 0);
    in_interrupt(reference_raised);
    CHECK(broken("NT-105") && errors() == 2 && raised_count == count(event) + 1);
    forget_reports();
    ZwClose(event_handle);
}

/* ---- values of handles ---- */

static void use_values(void)
{
    uint64_t value;
    PVOID object;

    make_event();
    value = (uintptr_t)event_handle;
    for (unsigned low = 1; low < 4; low++) {
        CHECK(ObReferenceObjectByHandle((HANDLE)(value | low), 0, NULL, KernelMode, &object,
                                        NULL) == STATUS_INVALID_HANDLE &&
              object == NULL);
        CHECK_RULE("NT-104/b", reported("NT-104", 0xC4, 0x3C));
        forget_reports();
    }
    CHECK(ZwClose((HANDLE)(value & 0x3FFFFFFF)) == STATUS_INVALID_HANDLE); /* no kernel handle */
    CHECK(ZwClose((HANDLE)((value & 0x3FFFFFFF) | 1ull << 30)) == STATUS_INVALID_HANDLE);
    CHECK(ZwClose((HANDLE)(value ^ 1ull << 34)) == STATUS_INVALID_HANDLE); /* high bits missing */
    CHECK(errors() == 0);
    CHECK(ZwClose((HANDLE)(value | 1ull << 30)) == STATUS_INVALID_HANDLE);
    CHECK_RULE("NT-106/c", reported("NT-106", 0x93, value | 1ull << 30));
    forget_reports();
    CHECK(ZwClose(event_handle) == STATUS_SUCCESS);
}

TEST_WITH(machine, handles_have_one_value)
{
    run(use_values);
}

/* Handles of a process, which it uses by itself and gives to the host. */
static HANDLE own, kernel;

static void use_own_handle(void)
{
    PVOID body = NULL;

    CHECK(ZwCreateEvent(&own, EVENT_MODIFY_STATE, NULL, NotificationEvent, FALSE) == STATUS_SUCCESS);
    forget_reports();
    event = nt_handle_object(own, NT_OBJECT_EVENT, NULL)->body;
    CHECK(nt_handle_event(client, own) == event && !nt_handle_event(nt_process_system(), own));
    CHECK(!nt_handle_event(client, (HANDLE)((uintptr_t)own | 1)) && !nt_handle_event(client, NULL));
    CHECK(!nt_handle_event(client, (HANDLE)((uintptr_t)own | 1ull << 30)) &&
          !nt_handle_event(client, (HANDLE)((uintptr_t)own | 1ull << 34)));
    CHECK(!nt_handle_event(client, (HANDLE)((uintptr_t)own + 4)));
    CHECK(ObOpenObjectByPointer(KeGetCurrentThread(), 0, NULL, 0, NULL, KernelMode, &kernel) ==
          STATUS_SUCCESS);
    CHECK(!nt_handle_event(client, kernel)); /* a thread */
    CHECK(nt_user_handle_open(kernel, NT_USER_EVENT, 0, &body) == STATUS_OBJECT_TYPE_MISMATCH);
    CHECK(nt_user_handle_open(kernel, NT_USER_PROCESS, 0, &body) == STATUS_OBJECT_TYPE_MISMATCH);
    ZwClose(kernel);

    CHECK(nt_user_handle_open(own, NT_USER_EVENT, EVENT_MODIFY_STATE, &body) == STATUS_SUCCESS &&
          body == event);
    CHECK(nt_user_handle_access(own) == EVENT_MODIFY_STATE &&
          nt_user_handle_access((HANDLE)((uintptr_t)own | 1ull << 34)) == 0);
    nt_user_handle_close(body);
    body = NULL;
    CHECK(nt_user_handle_open(own, NT_USER_EVENT, EVENT_MODIFY_STATE | EVENT_QUERY_STATE, &body) ==
          STATUS_ACCESS_DENIED);
    CHECK(nt_user_handle_open(own, NT_USER_SHARED_SYNC, 0, &body) == STATUS_OBJECT_TYPE_MISMATCH);
    CHECK(nt_user_handle_open(NULL, NT_USER_EVENT, 0, &body) == STATUS_INVALID_HANDLE);
    CHECK(ObOpenObjectByPointer(event, OBJ_KERNEL_HANDLE, NULL, EVENT_ALL_ACCESS, NULL, KernelMode,
                                &kernel) == STATUS_SUCCESS);
    CHECK(!nt_handle_event(client, kernel) && nt_user_handle_access(kernel) == 0);
    CHECK(nt_user_handle_open(kernel, NT_USER_EVENT, 0, &body) == STATUS_INVALID_HANDLE && !body);
    /* the driver in the client's process, by a kernel handle, for the client */
    forget_reports();
    CHECK(ObReferenceObjectByHandle(kernel, 0, NULL, UserMode, &body, NULL) ==
              STATUS_INVALID_HANDLE &&
          errors() == 0);
    CHECK(ObReferenceObjectByHandle(kernel, EVENT_ALL_ACCESS, NULL, KernelMode, &body, NULL) ==
              STATUS_SUCCESS &&
          errors() == 0);
    ObDereferenceObject(body);
    ZwClose(kernel);
}

static void use_foreign_handle(void)
{
    PVOID body = NULL;

    CHECK(nt_user_handle_open(own, NT_USER_EVENT, 0, &body) == STATUS_INVALID_HANDLE && !body);
    CHECK(nt_user_handle_access(own) == 0 && nt_handle_event(client, own) == event);
}

TEST_WITH(machine, handles_of_clients_are_their_own)
{
    client = nt_process_create("client");
    run_client(client, use_own_handle);
    run(use_foreign_handle);
    nt_process_destroy(client);
    CHECK(nt_image_leak_check(h.image) == 0);
}

/* ---- questions ---- */

static void ask_about(HANDLE handle, const WCHAR *type, ULONG chars)
{
    const ULONG needed = (ULONG)(sizeof(PUBLIC_OBJECT_TYPE_INFORMATION) +
                                 (chars + 1) * sizeof(WCHAR));
    union {
        PUBLIC_OBJECT_TYPE_INFORMATION type;
        OBJECT_NAME_INFORMATION name;
        uint8_t bytes[256];
    } answer;
    ULONG length = 0;

    memset(&answer, 0x5A, sizeof(answer));
    CHECK(ZwQueryObject(handle, ObjectTypeInformation, &answer, needed - 1, &length) ==
              STATUS_INFO_LENGTH_MISMATCH &&
          length == needed && answer.bytes[0] == 0x5A);
    CHECK(ZwQueryObject(handle, ObjectTypeInformation, NULL, needed, &length) ==
          STATUS_INFO_LENGTH_MISMATCH);
    CHECK(ZwQueryObject(handle, ObjectTypeInformation, &answer, needed, NULL) == STATUS_SUCCESS);
    CHECK(answer.type.TypeName.Length == chars * sizeof(WCHAR) &&
          answer.type.TypeName.MaximumLength == (chars + 1) * sizeof(WCHAR));
    CHECK((uint8_t *)answer.type.TypeName.Buffer == (uint8_t *)&answer + sizeof(answer.type) &&
          memcmp(answer.type.TypeName.Buffer, type, (chars + 1) * sizeof(WCHAR)) == 0);
    CHECK(answer.bytes[needed] == 0x5A);

    /* they have no names */
    memset(&answer, 0x5A, sizeof(answer));
    CHECK(ZwQueryObject(handle, ObjectNameInformation, &answer, sizeof(UNICODE_STRING) - 1,
                        &length) == STATUS_INFO_LENGTH_MISMATCH &&
          length == sizeof(UNICODE_STRING) && answer.bytes[0] == 0x5A);
    CHECK(ZwQueryObject(handle, ObjectNameInformation, NULL, 100, &length) ==
          STATUS_INFO_LENGTH_MISMATCH);
    length = 0;
    CHECK(ZwQueryObject(handle, ObjectNameInformation, &answer, sizeof(UNICODE_STRING), &length) ==
              STATUS_SUCCESS &&
          length == sizeof(UNICODE_STRING));
    CHECK(answer.name.Name.Length == 0 && answer.name.Name.MaximumLength == 0 &&
          !answer.name.Name.Buffer && answer.bytes[sizeof(UNICODE_STRING)] == 0x5A);
    length = 5;
    CHECK(ZwQueryObject(handle, (OBJECT_INFORMATION_CLASS)99, &answer, sizeof(answer), &length) ==
              STATUS_NOT_IMPLEMENTED &&
          length == 5);
}

TEST_WITH(driver, objects_tell_their_type)
{
    HANDLE handle;
    ULONG length = 5;

    make_event();
    ask_about(event_handle, L"Event", 5);
    CHECK(ZwQueryObject((HANDLE)((uintptr_t)event_handle + 4), ObjectTypeInformation, NULL, 0,
                        &length) == STATUS_INVALID_HANDLE &&
          length == 5);
    ZwClose(event_handle);
    CHECK(ObOpenObjectByPointer(KeGetCurrentThread(), OBJ_KERNEL_HANDLE, NULL, 0, NULL, KernelMode,
                                &handle) == STATUS_SUCCESS);
    ask_about(handle, L"Thread", 6);
    ZwClose(handle);
    CHECK(ObOpenObjectByPointer(IoGetCurrentProcess(), OBJ_KERNEL_HANDLE, NULL, 0, NULL, KernelMode,
                                &handle) == STATUS_SUCCESS);
    ask_about(handle, L"Process", 7);
    ZwClose(handle);
    CHECK(errors() == 0);
}

/* ---- threads in processes ---- */

static PEPROCESS seen_process;
static HANDLE seen_thread_id, seen_process_id;

static VOID NTAPI look(PVOID context)
{
    seen_process = IoGetCurrentProcess();
    seen_thread_id = PsGetCurrentThreadId();
    seen_process_id = PsGetCurrentProcessId();
    PsTerminateSystemThread(context ? STATUS_SUCCESS : STATUS_UNSUCCESSFUL);
}

static void create_in(HANDLE process, PEPROCESS expected)
{
    CLIENT_ID id = {NULL, NULL};
    HANDLE handle;

    seen_process = NULL;
    CHECK(PsCreateSystemThread(&handle, 0, NULL, process, &id, look, &id) == STATUS_SUCCESS);
    pause_ns(1000000);
    CHECK(seen_process == expected && seen_process_id == PsGetProcessId(expected));
    CHECK(id.UniqueProcess == seen_process_id && id.UniqueThread == seen_thread_id);
    CHECK(ZwClose(handle) == STATUS_SUCCESS);
}

static void create_in_processes(void)
{
    CLIENT_ID id = {&id, &id};
    HANDLE handle = &id, process;

    create_in(NULL, (PEPROCESS)(void *)nt_process_system());
    create_in(ZwCurrentProcess(), (PEPROCESS)(void *)nt_process_system());
    CHECK(ObOpenObjectByPointer(client, OBJ_KERNEL_HANDLE, NULL, 0, NULL, KernelMode, &process) ==
          STATUS_SUCCESS);
    create_in(process, (PEPROCESS)(void *)client);
    ZwClose(process);
    make_event();
    CHECK(PsCreateSystemThread(&handle, 0, NULL, event_handle, &id, look, NULL) ==
          STATUS_INVALID_HANDLE);
    ZwClose(event_handle);
    CHECK(PsCreateSystemThread(&handle, 0, NULL, NULL, &id, NULL, NULL) == STATUS_INVALID_PARAMETER);
    CHECK(PsCreateSystemThread(NULL, 0, NULL, NULL, &id, look, NULL) == STATUS_INVALID_PARAMETER);
    CHECK(handle == &id && id.UniqueProcess == &id && id.UniqueThread == &id);
    CHECK(KeQueryPriorityThread((PKTHREAD)(void *)client) == 0 && broken("NT-097"));
    forget_reports();
    CHECK(KeQueryPriorityThread(NULL) == 0 && broken("NT-097"));
    forget_reports();
    CHECK(nt_image_leak_check(h.image) == 0);
}

static void create_as_client(void)
{
    OBJECT_ATTRIBUTES attributes;
    HANDLE handle;

    InitializeObjectAttributes(&attributes, NULL, OBJ_KERNEL_HANDLE, NULL, NULL);
    CHECK(PsCreateSystemThread(&handle, 0, &attributes, ZwCurrentProcess(), NULL, look, NULL) ==
          STATUS_SUCCESS);
    pause_ns(1000000);
    CHECK(seen_process == (PEPROCESS)(void *)client);
    CHECK(PsGetCurrentProcessId() == seen_process_id && seen_thread_id != PsGetCurrentThreadId());
    ZwClose(handle);
}

TEST_WITH(machine, threads_belong_to_the_process_asked_for)
{
    client = nt_process_create("client");
    run(create_in_processes);
    run_client(client, create_as_client);
    nt_process_destroy(client);
}

/* A process that has ended is found no more, although its object is still there. */
static PVOID kept;

static void keep(void)
{
    HANDLE id = PsGetProcessId((PEPROCESS)(void *)client);
    PEPROCESS process;

    CHECK_RULE("NT-107/d", PsLookupProcessByProcessId(id, &process) == STATUS_SUCCESS);
    kept = process;
}

static void look_for_it(void)
{
    HANDLE id = PsGetProcessId(kept);
    PEPROCESS process = NULL;

    CHECK_RULE("NT-107/d",
               PsLookupProcessByProcessId(id, &process) == STATUS_INVALID_CID && !process);
    CHECK(KeWaitForSingleObject(kept, Executive, KernelMode, FALSE, NULL) == STATUS_SUCCESS);
    ObDereferenceObject(kept);
    CHECK(errors() == 0);
    CHECK_RULE("NT-107/e", PsGetProcessId(kept) == NULL && broken("NT-107"));
    forget_reports();
    CHECK_RULE("NT-107/e",
               PsGetProcessId((PEPROCESS)(void *)KeGetCurrentThread()) == NULL && broken("NT-107"));
    forget_reports();
}

TEST_WITH(machine, processes_that_have_ended_are_not_found)
{
    client = nt_process_create("client");
    run(keep);
    nt_process_destroy(client);
    run(look_for_it);
}
