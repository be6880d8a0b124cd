/* SPDX-License-Identifier: MIT */
/* DMA transfer contexts, and the level of members that are documented for DISPATCH_LEVEL. */
#include "nt/dma/dma_context.h"

#include <string.h>

#include "nt/dma/dma_record.h"
#include "nt/io/device_object.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "verify/verify.h"

#define MAGIC 0x43616D44u /* "DmaC" */

struct context {
    ULONG version, magic;
    UCHAR rest[DMA_TRANSFER_CONTEXT_SIZE_V1 - 2 * sizeof(ULONG)];
};

NTSTATUS NTAPI nt_dma_initialize_context(PDMA_ADAPTER DmaAdapter, PVOID DmaTransferContext)
{
    static const char routine[] = "InitializeDmaTransferContext";
    struct context *context = DmaTransferContext;

    NT_ENTER();
    if (!nt_level(NT_DISPATCH, "NT-192", NT_NO_CODE, routine) ||
        !nt_dma_adapter_find_v3(DmaAdapter, routine) || !context)
        return STATUS_INVALID_PARAMETER;
    memset(context, 0, sizeof(*context));
    context->version = DMA_TRANSFER_CONTEXT_VERSION1;
    context->magic = MAGIC;
    return STATUS_SUCCESS;
}

bool nt_dma_context_check(const void *address, const char *routine)
{
    const struct context *context = address;

    if (context && context->version == DMA_TRANSFER_CONTEXT_VERSION1 && context->magic == MAGIC)
        return true;
    VIOLATION("NT-192", "%s with a DmaTransferContext that %s", routine,
              context ? "InitializeDmaTransferContext did not initialize" : "is NULL");
    return false;
}

void nt_dma_level_begin(const char *rule, const char *routine, uint8_t *before)
{
    *before = sim_irql();
    nt_level(NT_DISPATCH, rule, NT_NO_CODE, routine);
    if (*before < SIM_IRQL_DISPATCH) {
        WARNING(rule, "%s at %s, it is documented for DISPATCH_LEVEL", routine,
                nt_irql_name(*before));
        sim_raise_irql(SIM_IRQL_DISPATCH);
    }
}

void nt_dma_level_end(uint8_t before)
{
    if (before < sim_irql())
        sim_lower_irql(before);
}

struct _IRP *nt_dma_irp(const DEVICE_OBJECT *device_object)
{
    return device_object && nt_device_object_known(device_object) ? device_object->CurrentIrp : NULL;
}
