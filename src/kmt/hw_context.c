/* SPDX-License-Identifier: MIT */
/* Hardware contexts (KMT-169 to KMT-172). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "ddi/client_handle.h"
#include "kmt/call.h"
#include "kmt/context.h"
#include "verify/refusal.h"
#include "vidsch/client.h"

static NTSTATUS create_hw_context(struct kmt_call *call, void *arguments)
{
    D3DKMT_CREATEHWCONTEXT *args = arguments;
    const struct kmt_context_request creation = {
        .device = args->hDevice,
        .request =
            {
                .node = args->NodeOrdinal,
                .engine_affinity = args->EngineAffinity,
                .private_data = args->pPrivateDriverData,
                .private_bytes = args->PrivateDriverDataSize,
                .virtual_addressing = true,
                .hardware = true,
            },
    };
    struct vidsch_context *context;

    if (args->Flags.Value)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-170", "Flags 0x%x", args->Flags.Value);
    return kmt_context_create(call, &creation, &context, &args->hHwContext);
}

static NTSTATUS destroy_hw_context(struct kmt_call *call, void *arguments)
{
    const D3DKMT_DESTROYHWCONTEXT *args = arguments;

    return kmt_context_destroy(call, args->hHwContext, DDI_CLIENT_HW_CONTEXT);
}

KMT_IN_OUT(D3DKMTCreateHwContext, D3DKMT_CREATEHWCONTEXT, create_hw_context)
KMT_END(D3DKMTDestroyHwContext, D3DKMT_DESTROYHWCONTEXT, destroy_hw_context)
