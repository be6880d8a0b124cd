/* SPDX-License-Identifier: MIT */
/* Threads that are attached to another process. */
#include "nt/base/current.h"
#include "nt/base/kprocess.h"
#include "nt/ke/driver_call.h"
#include "nt/nt.h"
#include "nt/ps/process.h"
#include "support/harness.h"

static struct nt_process *first, *second;

static PRKPROCESS kernel_process(struct nt_process *process)
{
    return (PRKPROCESS)(void *)process;
}

static bool current_is(const struct nt_process *process)
{
    return IoGetCurrentProcess() == (const void *)process;
}

static void nested(void)
{
    HANDLE own = PsGetCurrentProcessId();
    KAPC_STATE outer, inner;

    KeStackAttachProcess(kernel_process(first), &outer);
    CHECK_RULE("NT-177/a", current_is(first) && PsGetCurrentProcessId() == own);
    KeStackAttachProcess(kernel_process(second), &inner);
    CHECK_RULE("NT-177/a", current_is(second) && PsGetCurrentProcessId() == own);
    KeUnstackDetachProcess(&inner);
    CHECK_RULE("NT-177/a", current_is(first));
    KeUnstackDetachProcess(&outer);
    CHECK_RULE("NT-177/a", current_is(nt_process_system()) && errors() == 0);

    KeAttachProcess(kernel_process(second));
    CHECK_RULE("NT-177/a", current_is(second));
    KeAttachProcess(kernel_process(second)); /* where it is already */
    KeDetachProcess();
    CHECK_RULE("NT-177/a", current_is(second));
    KeDetachProcess();
    CHECK_RULE("NT-177/a", current_is(nt_process_system()) && errors() == 0);
}

static void wrong(void)
{
    KAPC_STATE outer, inner, none;

    KeUnstackDetachProcess(&none);
    CHECK_RULE("NT-177/b", reported("NT-177", 0x6, 0));
    forget_reports();
    KeDetachProcess();
    CHECK_RULE("NT-177/b", reported("NT-177", 0x6, 0));
    forget_reports();
    KeStackAttachProcess((PRKPROCESS)(void *)&none, &outer);
    CHECK_RULE("NT-177/b", broken("NT-177") && current_is(nt_process_system()));
    forget_reports();
    KeStackAttachProcess(kernel_process(first), &outer);
    KeStackAttachProcess(kernel_process(second), &inner);
    KeUnstackDetachProcess(&outer); /* not the newest */
    CHECK_RULE("NT-177/b", reported("NT-177", 0x6, 2) && current_is(second));
    forget_reports();
    KeAttachProcess(kernel_process(first));
    CHECK_RULE("NT-177/c", reported("NT-177", 0x5, (uintptr_t)first) && current_is(second));
    forget_reports();
    KeUnstackDetachProcess(&inner);
    KeUnstackDetachProcess(&outer);
    CHECK(errors() == 0 && current_is(nt_process_system()));
}

static void returns_attached(void)
{
    struct nt_call_state before;
    KAPC_STATE states[2];

    nt_call_state(&before);
    KeStackAttachProcess(kernel_process(first), &states[0]);
    KeStackAttachProcess(kernel_process(second), &states[1]);
    nt_call_check(&before, "a routine");
    CHECK_RULE("NT-177/d", broken("NT-177") && current_is(nt_process_system()));
    forget_reports();
}

static void too_deep(void)
{
    KAPC_STATE states[NT_ATTACHES + 1];

    for (unsigned i = 0; i <= NT_ATTACHES; i++)
        KeStackAttachProcess(kernel_process(i % 2 ? first : second), &states[i]);
    CHECK_RULE("NT-177/c", reported("NT-177", 0x5, (uintptr_t)second));
    forget_reports();
    for (unsigned i = NT_ATTACHES; i-- > 0;)
        KeUnstackDetachProcess(&states[i]);
    CHECK(errors() == 0 && current_is(nt_process_system()));
}

static void attach_here(void)
{
    KAPC_STATE state;

    KeStackAttachProcess(kernel_process(first), &state);
}

static VOID NTAPI attach_and_end(PVOID context)
{
    (void)context;
    attach_here();
}

static void from_a_dpc(void)
{
    in_dpc(attach_here);
    CHECK_RULE("NT-177/d", broken("NT-177"));
    forget_reports();
}

static void ends_attached(void)
{
    PVOID thread;
    HANDLE handle;

    CHECK(PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, NULL, NULL, NULL, attach_and_end,
                               NULL) == STATUS_SUCCESS);
    CHECK(ObReferenceObjectByHandle(handle, SYNCHRONIZE, *PsThreadType, KernelMode, &thread,
                                    NULL) == STATUS_SUCCESS);
    KeWaitForSingleObject(thread, Executive, KernelMode, FALSE, NULL);
    ObDereferenceObject(thread);
    ZwClose(handle);
    CHECK_RULE("NT-177/d", broken("NT-177"));
    forget_reports();
}

/* A process that ends while a thread is attached to it stays until the thread is detached. */
static void outlived(void)
{
    KAPC_STATE state;

    KeStackAttachProcess(kernel_process(first), &state);
    nt_process_destroy(first);
    CHECK(current_is(first));
    KeUnstackDetachProcess(&state);
    CHECK_RULE("NT-177/a", errors() == 0);
    first = NULL;
}

static void with_processes(void (*body)(void))
{
    first = nt_process_create("first");
    second = nt_process_create("second");
    run(body);
    nt_process_destroy(first);
    nt_process_destroy(second);
}

TEST_WITH(machine, attaching_nests)
{
    with_processes(nested);
}

TEST_WITH(machine, detaching_must_match)
{
    with_processes(wrong);
}

TEST_WITH(machine, a_routine_must_not_return_attached)
{
    with_processes(returns_attached);
}

TEST_WITH(machine, attaching_has_a_limit)
{
    with_processes(too_deep);
}

TEST_WITH(machine, attaching_is_not_for_dispatch_level)
{
    with_processes(from_a_dpc);
}

TEST_WITH(machine, a_thread_must_not_end_attached)
{
    with_processes(ends_attached);
}

TEST_WITH(machine, an_attached_process_outlives_its_end)
{
    with_processes(outlived);
}
