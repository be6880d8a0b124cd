/* SPDX-License-Identifier: MIT */
/* Faults of an ELF driver inside a block of <dxgk_seh.h>, and calls that an exception does not pass. */
#include "port/support/probe.h"

#include <string.h>

#include <dxgk_seh.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static volatile ULONG_PTR nowhere = 0x10;

static struct {
    volatile NTSTATUS code;
    volatile ULONG_PTR write, address;
    volatile unsigned handled;
} seen;

static LONG look(const EXCEPTION_POINTERS *pointers)
{
    seen.code = pointers->ExceptionRecord->ExceptionCode;
    seen.write = pointers->ExceptionRecord->ExceptionInformation[0];
    seen.address = pointers->ExceptionRecord->ExceptionInformation[1];
    return EXCEPTION_EXECUTE_HANDLER;
}

static NTSTATUS fault_in_a_block(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    for (volatile unsigned i = 0; i < 3; i++) {
        DXGK_TRY
        {
            *(volatile ULONG *)nowhere = 1;
        }
        DXGK_EXCEPT(look(GetExceptionInformation()))
        {
            seen.handled++;
        }
    }
    return DxgkInitialize(object, path, &p->table);
}

TEST(a_fault_is_handled)
{
    struct probe *p = probe_create(NULL);

    memset((void *)&seen, 0, sizeof(seen));
    p->driver_entry = fault_in_a_block;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK(seen.handled == 3 && IS(seen.code, STATUS_ACCESS_VIOLATION) && seen.write == 1 &&
          seen.address == 0x10);
    CHECK(probe_stop(p) == 0 && probe_reports(p, VERIFY_WARNING) == 0);
    probe_destroy(p);
}

static NTSTATUS fault_behind_a_block(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    DXGK_TRY
    {
        seen.handled++;
    }
    DXGK_EXCEPT(EXCEPTION_EXECUTE_HANDLER)
    {
        seen.handled += 100;
    }
    *(volatile ULONG *)nowhere = 1;
    return DxgkInitialize(object, path, &p->table);
}

TEST(behind_the_block_it_is_a_bug_check)
{
    struct probe *p = probe_create(NULL);

    memset((void *)&seen, 0, sizeof(seen));
    p->driver_entry = fault_behind_a_block;
    CHECK(IS(probe_start(p), STATUS_DEVICE_REMOVED));
    CHECK_RULE("NT-002", seen.handled == 1 && probe_rule(p, "NT-002") == 1);
    probe_destroy(p);
}

/* ---- the host between block and exception ---- */

static BOOLEAN NTAPI raise_there(PVOID context)
{
    (void)context;
    ExRaiseStatus(STATUS_NO_MEMORY);
}

static void raise_through_the_host(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = probe_adapter_of(p, call->arg[0]);
    BOOLEAN result;

    DXGK_TRY
    {
        a->dxgk.DxgkCbSynchronizeExecution(a->dxgk.DeviceHandle, raise_there, NULL, 0, &result);
    }
    DXGK_EXCEPT(EXCEPTION_EXECUTE_HANDLER)
    {
        seen.handled++;
    }
}

TEST(an_exception_does_not_pass_the_host)
{
    struct probe *p = probe_create(NULL);

    memset((void *)&seen, 0, sizeof(seen));
    p->after[PROBE_StartDevice] = raise_through_the_host;
    CHECK(!NT_SUCCESS(probe_start(p)));
    CHECK_RULE("NT-002", seen.handled == 0 && probe_rule(p, "NT-002") == 1);
    probe_destroy(p);
}
