/* SPDX-License-Identifier: MIT */
/* Services for workloads: they call what only a driver can call, and give back all that came of it. */
#include "seeds.h"

static void info(const struct seeds_adapter *adapter, struct seeds_escape *e)
{
    e->arg[0] = DXGKDDI_INTERFACE_VERSION;
    e->arg[1] = adapter->config;
    e->arg[2] = adapter->vram_bytes;
    e->arg[3] = (ULONGLONG)adapter->register_bus.QuadPart;
    e->arg[4] = (ULONGLONG)adapter->vram_bus.QuadPart;
    e->arg[5] = (ULONG_PTR)adapter->dxgk.DeviceHandle;
    e->arg[6] = DXGK_HAS_SEH;
    e->arg[7] = (ULONG)adapter->moved;
#ifndef _WIN32
    e->arg[8] =
        TRUE; /* the register routines are calls; Windows has them inline, accesses like any other */
#endif
    e->status = STATUS_SUCCESS;
}

static void turn_knob(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    e->status = STATUS_SUCCESS;
    if (e->arg[0] == SEEDS_EXPECT_NULL_RENDERING)
        adapter->expect_flags = e->arg[1] ? 8 : 0;
    else if (e->arg[0] == SEEDS_EXPECT_POWER_DOWN)
        adapter->expect_power = (ULONG)e->arg[1];
    else
        e->status = STATUS_INVALID_PARAMETER;
}

static void serve(struct seeds_adapter *adapter, const DXGKARG_ESCAPE *args, struct seeds_escape *e)
{
    switch (e->code) {
    case SEEDS_INFO:
        info(adapter, e);
        break;
    case SEEDS_RESULT:
        e->status = STATUS_SUCCESS;
        seeds_result(adapter, e);
        break;
    case SEEDS_SETTLE:
        seeds_settle(adapter);
        e->status = STATUS_SUCCESS;
        break;
    case SEEDS_KNOB:
        turn_knob(adapter, e);
        break;
    default:
        if (e->code >= SEEDS_CREATE_CONTEXT_ALLOCATION || e->code == SEEDS_VIRTUAL_PEEK)
            seeds_context_service(adapter, (struct seeds_context *)args->hContext,
                                  (struct seeds_context *)args->hDevice, e);
        else if (e->code >= SEEDS_CREATE_OBJECT && e->code <= SEEDS_FREE_ADL)
            seeds_object_service(adapter, e);
        else
            seeds_memory_service(adapter, e);
        break;
    }
}

/* ---- in what circumstances ---- */

struct job {
    struct seeds_adapter *adapter;
    const DXGKARG_ESCAPE *args;
    struct seeds_escape *e;
};

static VOID NTAPI run_in_system(PVOID context)
{
    const struct job *job = (const struct job *)context;

    serve(job->adapter, job->args, job->e);
    PsTerminateSystemThread(STATUS_SUCCESS);
}

static void serve_in_system(struct job *job)
{
    OBJECT_ATTRIBUTES attributes;
    HANDLE handle = NULL;
    PVOID thread = NULL;
    NTSTATUS status;

    InitializeObjectAttributes(&attributes, NULL, OBJ_KERNEL_HANDLE, NULL, NULL);
    status = PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, &attributes, NULL, NULL,
                                  run_in_system, job);

    if (NT_SUCCESS(status)) {
        status = ObReferenceObjectByHandle(handle, SYNCHRONIZE, NULL, KernelMode, &thread, NULL);
        ZwClose(handle);
    }
    if (!NT_SUCCESS(status)) {
        job->e->status = status;
        return;
    }
    KeWaitForSingleObject(thread, Executive, KernelMode, FALSE, NULL);
    ObDereferenceObject(thread);
}

NTSTATUS NTAPI SeedsEscape(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_ESCAPE pEscape)
{
    struct job job;
    KIRQL irql;

    job.adapter = (struct seeds_adapter *)hAdapter;
    job.args = pEscape;
    job.e = (struct seeds_escape *)pEscape->pPrivateDriverData;
    if (!job.e || pEscape->PrivateDriverDataSize < sizeof(*job.e) || job.e->magic != SEEDS_MAGIC)
        return STATUS_INVALID_PARAMETER;
    job.e->status = STATUS_NOT_SUPPORTED;
    if (job.e->how & SEEDS_IN_SYSTEM) {
        serve_in_system(&job);
    } else if (job.e->how & (SEEDS_AT_APC | SEEDS_AT_DISPATCH)) {
        KeRaiseIrql(job.e->how & SEEDS_AT_APC ? APC_LEVEL : DISPATCH_LEVEL, &irql);
        serve(job.adapter, pEscape, job.e);
        KeLowerIrql(irql);
    } else {
        serve(job.adapter, pEscape, job.e);
    }
    return STATUS_SUCCESS;
}
