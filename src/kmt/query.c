/* SPDX-License-Identifier: MIT */
/*
 * D3DKMTQueryAdapterInfo (KMT-055 to KMT-111). Answers come from three places: the driver's caps as
 * the host knows them (query_caps.c), the machine and its registry (query_machine.c), and, for the
 * user-mode driver's private data alone, the driver itself, asked each time.
 */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "ddi/ddi.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/handle.h"
#include "kmt/query_buffer.h"
#include "kmt/query_caps.h"
#include "kmt/query_display.h"
#include "kmt/query_machine.h"
#include "port/record/adapter_info.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidmm/process.h"

/* KMT-064, CAPS-016: the same copy in and out, and back to the client on success only. */
static NTSTATUS ask_driver(const struct kmt_query *query)
{
    DXGKARG_QUERYADAPTERINFO args;
    void *copy;
    NTSTATUS status;

    if (!query->bytes)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-056", "a buffer of 0 bytes");
    status = kmt_client_copy_private(query->user, query->bytes, &copy);
    if (!NT_SUCCESS(status))
        return status;
    memset(&args, 0, sizeof(args));
    args.Type = DXGKQAITYPE_UMDRIVERPRIVATE;
    args.hKmdProcessHandle = query->adapter->mm ? vidmm_process_driver_handle(query->adapter->mm)
                                                : NULL; /* LIFE-140 */
    args.pInputData = copy;
    args.InputDataSize = query->bytes;
    args.pOutputData = copy;
    args.OutputDataSize = query->bytes;
    status = ddi_query_adapter_info(port_adapter_ddi(query->adapter->port), &args);
    if (NT_SUCCESS(status) && !kmt_client_put(query->user, copy, query->bytes))
        status = STATUS_INVALID_PARAMETER;
    util_free(copy);
    return status;
}

/* KMT-059, KMT-060: what only a display could answer. */
static NTSTATUS display_type(const struct kmt_query *query)
{
    static const BOOL no = FALSE;

    switch (query->type) {
    case KMTQAITYPE_DIRECTFLIP_SUPPORT:
    case KMTQAITYPE_INDEPENDENTFLIP_SUPPORT:
    case KMTQAITYPE_INDEPENDENTFLIP_SECONDARY_SUPPORT:
    case KMTQAITYPE_MULTIPLANEOVERLAY_SUPPORT:
    case KMTQAITYPE_MULTIPLANEOVERLAY_HUD_SUPPORT:
    case KMTQAITYPE_MULTIPLANEOVERLAY_SECONDARY_SUPPORT:
    case KMTQAITYPE_MULTIPLANEOVERLAY_STRETCH_SUPPORT:
    case KMTQAITYPE_QUERY_MULTIPLANEOVERLAY_DECODE_SUPPORT:
    case KMTQAITYPE_PANELFITTER_SUPPORT:
    case KMTQAITYPE_MPO3DDI_SUPPORT:
    case KMTQAITYPE_MPOKERNELCAPS_SUPPORT:
    case KMTQAITYPE_HWDRM_SUPPORT:
    case KMTQAITYPE_QUERY_ISBADDRIVERFORHWPROTECTIONDISABLED:
        return kmt_query_put(query, &no, sizeof(no));
    default:
        return refuse(STATUS_NOT_SUPPORTED, NULL, "this host does not answer this type of query");
    }
}

/* The *_RENDER types: no adapter here is paired with a display adapter (KMT-085). */
static KMTQUERYADAPTERINFOTYPE plain(KMTQUERYADAPTERINFOTYPE type)
{
    switch (type) {
    case KMTQAITYPE_ADAPTERGUID_RENDER:
        return KMTQAITYPE_ADAPTERGUID;
    case KMTQAITYPE_ADAPTERADDRESS_RENDER:
        return KMTQAITYPE_ADAPTERADDRESS;
    case KMTQAITYPE_ADAPTERREGISTRYINFO_RENDER:
        return KMTQAITYPE_ADAPTERREGISTRYINFO;
    case KMTQAITYPE_CHECKDRIVERUPDATESTATUS_RENDER:
        return KMTQAITYPE_CHECKDRIVERUPDATESTATUS;
    case KMTQAITYPE_DRIVERVERSION_RENDER:
        return KMTQAITYPE_DRIVERVERSION;
    case KMTQAITYPE_ADAPTERTYPE_RENDER:
        return KMTQAITYPE_ADAPTERTYPE;
    case KMTQAITYPE_WDDM_1_2_CAPS_RENDER:
        return KMTQAITYPE_WDDM_1_2_CAPS;
    case KMTQAITYPE_WDDM_1_3_CAPS_RENDER:
        return KMTQAITYPE_WDDM_1_3_CAPS;
    case KMTQAITYPE_DRIVER_DESCRIPTION_RENDER:
        return KMTQAITYPE_DRIVER_DESCRIPTION;
    default:
        return type;
    }
}

static NTSTATUS query_adapter_info(struct kmt_call *call, void *arguments)
{
    const D3DKMT_QUERYADAPTERINFO *args = arguments;
    struct kmt_query query = {
        .type = plain(args->Type),
        .user = args->pPrivateDriverData,
        .bytes = args->PrivateDriverDataSize,
    };
    NTSTATUS status;

    if (!query.user || (int)args->Type < 0 || args->Type > KMTQAITYPE_WDDM_3_1_CAPS ||
        args->Type == 14)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-058", /* KMT-056 */
                      "type %d of query, buffer %p", (int)args->Type, query.user);
    query.adapter = kmt_handle_adapter(call, args->hAdapter);
    if (!query.adapter)
        return STATUS_INVALID_PARAMETER;
    status = kmt_adapter_check(query.adapter);
    if (!NT_SUCCESS(status))
        return status; /* KMT-057 */
    query.caps = port_adapter_caps(query.adapter->port);
    if (query.type == KMTQAITYPE_UMDRIVERPRIVATE)
        return ask_driver(&query);
    status = kmt_query_caps(&query);
    if (status == STATUS_NOT_IMPLEMENTED)
        status = kmt_query_machine(&query);
    if (status == STATUS_NOT_IMPLEMENTED)
        status = kmt_query_display(&query);
    return status == STATUS_NOT_IMPLEMENTED ? display_type(&query) : status;
}

KMT_IN(D3DKMTQueryAdapterInfo, D3DKMT_QUERYADAPTERINFO, query_adapter_info)
