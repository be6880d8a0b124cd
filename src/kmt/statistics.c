/* SPDX-License-Identifier: MIT */
/* D3DKMTQueryStatistics, as far as it is about displays (KMT-457, KMT-458, PRES-309). */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/handle.h"
#include "kmt/kmt.h"
#include "kmt/process.h"
#include "port/record/adapter_info.h"
#include "verify/refusal.h"

/* Zeros: the host counts nothing for a source. */
static NTSTATUS of_source(const struct port_adapter *port, D3DKMT_QUERYSTATISTICS *args)
{
    const ULONG source = args->QueryVidPnSource.VidPnSourceId;

    if (source >= port_adapter_sources(port))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-309", "the adapter has no source %u",
                      (UINT)source);
    memset(&args->QueryResult, 0, sizeof(args->QueryResult));
    return STATUS_SUCCESS;
}

static NTSTATUS query(struct kmt_call *call, void *arguments)
{
    D3DKMT_QUERYSTATISTICS *args = arguments;
    const struct port_adapter *port = port_adapter_by_luid(call->process->kmt->port,
                                                           args->AdapterLuid);
    struct nt_process *process;
    NTSTATUS status;

    if ((unsigned)args->Type > D3DKMT_QUERYSTATISTICS_PROCESS_NODE2)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-458", "type %d is unknown", (int)args->Type);
    if (!port || !kmt_adapter_is_listed(port))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-457", "no adapter has the LUID %08x:%08x",
                      (UINT)args->AdapterLuid.HighPart, (UINT)args->AdapterLuid.LowPart);
    switch (args->Type) {
    case D3DKMT_QUERYSTATISTICS_VIDPNSOURCE:
        return of_source(port, args);
    case D3DKMT_QUERYSTATISTICS_PROCESS_VIDPNSOURCE:
        status = kmt_handle_process(call, args->hProcess, KMT_PROCESS_QUERY_INFORMATION, &process);
        return NT_SUCCESS(status) ? of_source(port, args) : status;
    default:
        return refuse(STATUS_NOT_SUPPORTED, NULL,
                      "this host has statistics of video present sources alone");
    }
}

KMT_IN_OUT_CONST(D3DKMTQueryStatistics, D3DKMT_QUERYSTATISTICS, query)
