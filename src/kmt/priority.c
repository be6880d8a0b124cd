/* SPDX-License-Identifier: MIT */
/* Priorities of contexts, and of a process as a whole (KMT-163 to KMT-168). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "ddi/client_handle.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/handle.h"
#include "kmt/process.h"
#include "nt/base/kprocess.h"
#include "util/handle.h"
#include "verify/refusal.h"
#include "vidsch/client.h"

/* ---- of a context ---- */

static struct vidsch_context *with_priority(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct vidsch_context *hardware = handle_lookup(&call->process->nt->handles, handle,
                                                    DDI_CLIENT_HW_CONTEXT);

    if (!hardware)
        return kmt_handle_context(call, handle);
    kmt_call_pin(call, hardware);
    return hardware;
}

static NTSTATUS set_priority(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SETCONTEXTSCHEDULINGPRIORITY *args = arguments;
    struct vidsch_context *context = with_priority(call, args->hContext);

    return context ? vidsch_context_set_priority(context, args->Priority) : STATUS_INVALID_PARAMETER;
}

static NTSTATUS get_priority(struct kmt_call *call, void *arguments)
{
    D3DKMT_GETCONTEXTSCHEDULINGPRIORITY *args = arguments;
    struct vidsch_context *context = with_priority(call, args->hContext);

    if (!context)
        return STATUS_INVALID_PARAMETER;
    args->Priority = vidsch_context_priority(context);
    return STATUS_SUCCESS;
}

static NTSTATUS set_in_process_priority(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SETCONTEXTINPROCESSSCHEDULINGPRIORITY *args = arguments;
    struct vidsch_context *context = with_priority(call, args->hContext);

    return context ? vidsch_context_set_in_process_priority(context, args->Priority)
                   : STATUS_INVALID_PARAMETER;
}

static NTSTATUS get_in_process_priority(struct kmt_call *call, void *arguments)
{
    D3DKMT_GETCONTEXTINPROCESSSCHEDULINGPRIORITY *args = arguments;
    struct vidsch_context *context = with_priority(call, args->hContext);

    if (!context)
        return STATUS_INVALID_PARAMETER;
    args->Priority = vidsch_context_in_process_priority(context);
    return STATUS_SUCCESS;
}

KMT_IN(D3DKMTSetContextSchedulingPriority, D3DKMT_SETCONTEXTSCHEDULINGPRIORITY, set_priority)
KMT_IN_OUT(D3DKMTGetContextSchedulingPriority, D3DKMT_GETCONTEXTSCHEDULINGPRIORITY, get_priority)
KMT_IN(D3DKMTSetContextInProcessSchedulingPriority, D3DKMT_SETCONTEXTINPROCESSSCHEDULINGPRIORITY,
       set_in_process_priority)
KMT_IN_OUT(D3DKMTGetContextInProcessSchedulingPriority,
           D3DKMT_GETCONTEXTINPROCESSSCHEDULINGPRIORITY, get_in_process_priority)

/* ---- of a process ---- */

struct class_arguments {
    HANDLE process;
    D3DKMT_SCHEDULINGPRIORITYCLASS value;
    D3DKMT_SCHEDULINGPRIORITYCLASS *out;
};

static NTSTATUS find(struct kmt_call *call, HANDLE handle, ACCESS_MASK wanted,
                     struct kmt_process **process)
{
    struct nt_process *nt;
    NTSTATUS status = kmt_handle_process(call, handle, wanted, &nt);

    if (!NT_SUCCESS(status))
        return status;
    *process = nt->client;
    return *process ? STATUS_SUCCESS
                    : refuse(STATUS_INVALID_PARAMETER, "KMT-166", "process %u has ended", nt->id);
}

static NTSTATUS set_class(struct kmt_call *call, void *arguments)
{
    const struct class_arguments *args = arguments;
    struct kmt_process *process;
    NTSTATUS status;

    if ((unsigned)args->value > D3DKMT_SCHEDULINGPRIORITYCLASS_REALTIME)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-167", "priority class %d, 0 to %d are known",
                      (int)args->value, (int)D3DKMT_SCHEDULINGPRIORITYCLASS_REALTIME);
    status = find(call, args->process, KMT_PROCESS_SET_INFORMATION, &process);
    if (!NT_SUCCESS(status))
        return status;
    process->priority_class = args->value;
    vidsch_set_process_class(process->nt->id, args->value);
    return STATUS_SUCCESS;
}

static NTSTATUS get_class(struct kmt_call *call, void *arguments)
{
    const struct class_arguments *args = arguments;
    struct kmt_process *process;
    NTSTATUS status = find(call, args->process, KMT_PROCESS_QUERY_INFORMATION, &process);

    if (!NT_SUCCESS(status))
        return status;
    return kmt_client_put(args->out, &process->priority_class, sizeof(process->priority_class))
               ? STATUS_SUCCESS
               : STATUS_INVALID_PARAMETER;
}

NTSTATUS APIENTRY D3DKMTSetProcessSchedulingPriorityClass(HANDLE hProcess,
                                                          D3DKMT_SCHEDULINGPRIORITYCLASS Priority)
{
    struct class_arguments given = {.process = hProcess, .value = Priority};
    struct class_arguments arguments;

    return kmt_call_run(__func__, set_class, &given, &arguments, sizeof(arguments), 0);
}

NTSTATUS APIENTRY D3DKMTGetProcessSchedulingPriorityClass(HANDLE hProcess,
                                                          D3DKMT_SCHEDULINGPRIORITYCLASS *pPriority)
{
    struct class_arguments given = {.process = hProcess, .out = pPriority};
    struct class_arguments arguments;

    return kmt_call_run(__func__, get_class, &given, &arguments, sizeof(arguments), 0);
}
