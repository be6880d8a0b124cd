/* SPDX-License-Identifier: MIT */
/* References of objects by pointer and by handle, and those of processes and their tokens. */
#include "nt/base/kprocess.h"
#include "nt/ps/process.h"
#include "support/harness.h"

static HANDLE event_handle;
static PVOID event;

static void make_event(void)
{
    UNICODE_STRING none = unicode_text(NULL);

    event = IoCreateSynchronizationEvent(&none, &event_handle);
    assert_non_null(event);
}

/* Each form adds or takes one, and answers how many there are. */
static void count_references(void)
{
    POBJECT_TYPE types[] = {NULL, *ExEventObjectType, *PsThreadType};
    OBJECT_HANDLE_INFORMATION about;
    PVOID again = NULL;
    LONG_PTR first;

    make_event();
    first = ObReferenceObject(event);
    CHECK_RULE("NT-105/a", ObfReferenceObjectWithTag(event, TAG) == first + 1);
    CHECK_RULE("NT-105/a", ObfDereferenceObjectWithTag(event, TAG) == first);
    CHECK_RULE("NT-105/a", ObReferenceObject(event) == first + 1);
    ObDereferenceObjectDeferDelete(event);
    CHECK_RULE("NT-105/a", ObReferenceObject(event) == first + 1);
    ObDereferenceObjectDeferDeleteWithTag(event, TAG);
    CHECK_RULE("NT-105/a", ObDereferenceObject(event) == first - 1);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_RULE("NT-105/b",
                   ObReferenceObjectByPointer(event, 0, types[i], KernelMode) == STATUS_SUCCESS);
        CHECK_RULE("NT-105/a", ObDereferenceObject(event) == first - 1);
    }
    CHECK_RULE("NT-105/b", ObReferenceObjectByPointer(event, 0, types[2], KernelMode) ==
                               STATUS_OBJECT_TYPE_MISMATCH);
    CHECK_RULE("NT-103/b",
               ObReferenceObjectByHandleWithTag(event_handle, 0, *ExEventObjectType, KernelMode,
                                                TAG, &again, &about) == STATUS_SUCCESS &&
                   again == event && about.GrantedAccess == EVENT_ALL_ACCESS);
    CHECK_RULE("NT-105/a", ObDereferenceObject(event) == first - 1);
    CHECK_RULE("NT-103/a",
               ObReferenceObjectByHandleWithTag(event_handle, 0, *PsThreadType, KernelMode, TAG,
                                                &again, NULL) == STATUS_OBJECT_TYPE_MISMATCH);
    CHECK_RULE("NT-105/a", errors() == 0);
    CHECK_RULE("NT-106/a", ObCloseHandle(event_handle, KernelMode) == STATUS_SUCCESS);
    CHECK_RULE("NT-106/b", ObCloseHandle(event_handle, KernelMode) == STATUS_INVALID_HANDLE);
    forget_reports();
    CHECK_RULE("NT-105/c", ObfReferenceObjectWithTag(&first, TAG) == 0);
    CHECK_RULE("NT-105/c", reported("NT-105", 0xC4, 0x3F));
    forget_reports();
    CHECK_RULE("NT-105/c", ObfDereferenceObjectWithTag(&first, TAG) == 0);
    CHECK_RULE("NT-105/c", reported("NT-105", 0xC4, 0x3F));
    CHECK_RULE("NT-105/c",
               ObReferenceObjectByPointer(&first, 0, NULL, KernelMode) == STATUS_INVALID_PARAMETER);
    forget_reports();
}

TEST_WITH(machine, references_are_counted)
{
    run(count_references);
}

/* More are given back than were taken: the last one is the handle's. */
static void give_back_too_many(void)
{
    make_event();
    (void)ObReferenceObject(event);
    CHECK_RULE("NT-105/d", ObDereferenceObject(event) > 0 && errors() == 0);
    CHECK_RULE("NT-105/e", ObDereferenceObject(event) == 0);
    CHECK_RULE("NT-105/e", reported("NT-105", 0xC4, 0x3F));
    forget_reports();
    CHECK_RULE("NT-105/d", ZwClose(event_handle) == STATUS_SUCCESS && errors() == 0);
}

TEST_WITH(machine, the_references_of_handles_stay)
{
    run(give_back_too_many);
}

/* ---- events by handle ---- */

static void set_by_handle(void)
{
    LONG before = 7;

    make_event();
    CHECK(KeReadStateEvent(event) == 1); /* from the start */
    KeClearEvent(event);
    CHECK(ZwSetEvent(event_handle, &before) == STATUS_SUCCESS && before == 0);
    CHECK(ZwSetEvent(event_handle, &before) == STATUS_SUCCESS && before == 1);
    CHECK(ZwSetEvent(event_handle, NULL) == STATUS_SUCCESS && KeReadStateEvent(event) == 1);
    /* a synchronization event: one wait takes it */
    CHECK(KeWaitForSingleObject(event, Executive, KernelMode, FALSE, NULL) == STATUS_SUCCESS);
    CHECK(KeReadStateEvent(event) == 0);
    CHECK(ZwSetEvent(ZwCurrentThread(), NULL) == STATUS_INVALID_HANDLE);
    CHECK(IoCreateSynchronizationEvent(NULL, NULL) == NULL);
    ZwClose(event_handle);
    forget_reports();
}

TEST_WITH(machine, events_are_set_by_handle)
{
    run(set_by_handle);
}

/* ---- processes ---- */

static struct nt_process *client;

static bool is_system;

static VOID NTAPI look_at_itself(PVOID context)
{
    (void)context;
    is_system = PsIsSystemThread(PsGetCurrentThread());
}

static void look_up(void)
{
    PEPROCESS process = NULL;
    PACCESS_TOKEN token;
    HANDLE id = PsGetProcessId((PEPROCESS)(void *)client);

    CHECK_RULE("NT-107/d", id && id != PsGetCurrentProcessId() && (uintptr_t)id % 4 == 0);
    CHECK_RULE("NT-107/d", PsLookupProcessByProcessId(id, &process) == STATUS_SUCCESS &&
                               process == (PEPROCESS)(void *)client);
    ObDereferenceObject(process);
    CHECK_RULE("NT-107/d",
               PsLookupProcessByProcessId(PsGetCurrentProcessId(), &process) == STATUS_SUCCESS &&
                   process == PsGetCurrentProcess());
    ObDereferenceObject(process);
    process = NULL;
    CHECK_RULE("NT-107/d", PsLookupProcessByProcessId((HANDLE)(uintptr_t)0x10004, &process) ==
                                   STATUS_INVALID_CID &&
                               !process);
    CHECK_RULE("NT-107/d", PsLookupProcessByProcessId(id, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-107/e", PsGetProcessId((PEPROCESS)(void *)&process) == NULL);
    forget_reports();
    token = PsReferencePrimaryToken(PsGetCurrentProcess());
    CHECK(token && SeTokenIsAdmin(token));
    PsDereferencePrimaryToken(token);
    token = PsReferencePrimaryToken((PEPROCESS)(void *)client);
    CHECK(token && !SeTokenIsAdmin(token));
    PsDereferencePrimaryToken(token);
    CHECK(PsReferencePrimaryToken((PEPROCESS)(void *)&process) == NULL);
    forget_reports();
    CHECK(PsCreateSystemThread(&id, 0, NULL, NULL, NULL, look_at_itself, NULL) == STATUS_SUCCESS);
    ZwClose(id);
    pause_ns(100000);
    CHECK(is_system);
    CHECK(!PsIsSystemThread((PETHREAD)(void *)client) && !PsIsSystemThread(NULL));
    CHECK(PsGetCurrentThreadId() && PsGetCurrentThreadId() != PsGetCurrentProcessId());
    CHECK(SeSinglePrivilegeCheck((LUID){2, 0}, KernelMode));
    CHECK(SeSinglePrivilegeCheck((LUID){2, 0}, UserMode));
    CHECK(errors() == 0);
}

static void ask_as_client(void)
{
    CHECK(!PsIsSystemThread(PsGetCurrentThread()));
    CHECK(SeSinglePrivilegeCheck((LUID){2, 0}, KernelMode));
    CHECK(!SeSinglePrivilegeCheck((LUID){2, 0}, UserMode));
}

TEST_WITH(machine, processes_are_found_by_their_id)
{
    client = nt_process_create("client");
    run(look_up);
    run_client(client, ask_as_client);
    nt_process_destroy(client);
}
