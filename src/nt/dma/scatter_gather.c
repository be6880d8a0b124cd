/* SPDX-License-Identifier: MIT */
/*
 * Scatter/gather lists (NT-190): the pages of an MDL as runs that the device can reach, from
 * GetScatterGatherList or BuildScatterGatherList, which hand them to a routine of the driver, to
 * PutScatterGatherList. The adapter is never busy, so that the routine is called at once.
 */
#include "nt/dma/scatter_gather.h"

#include <stdio.h>
#include <string.h>

#include "nt/base/export.h"
#include "nt/base/image.h"
#include "nt/base/state.h"
#include "nt/dma/dma_context.h"
#include "nt/dma/dma_members.h"
#include "nt/dma/dma_record.h"
#include "nt/dma/dma_transfer.h"
#include "nt/ke/driver_call.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "util/alloc.h"
#include "verify/verify.h"

/* One call of a member that makes a list. */
struct request {
    const char *routine;
    const void *caller;
    DMA_ADAPTER *adapter;
    DEVICE_OBJECT *device_object;
    struct nt_dma_range range;
    DRIVER_LIST_CONTROL *control; /* NULL: the caller uses the list itself */
    void *context;
    void *buffer; /* the driver's; NULL: the host allocates */
    uint64_t buffer_bytes;
    SCATTER_GATHER_LIST **out; /* NULL: it does not want it */
};

uint64_t nt_dma_list_bytes(uint32_t elements)
{
    return sizeof(SCATTER_GATHER_LIST) + (uint64_t)elements * sizeof(SCATTER_GATHER_ELEMENT);
}

void nt_dma_list_write(const struct nt_dma_transfer *transfer, void *buffer)
{
    SCATTER_GATHER_LIST *list = buffer;

    memset(list, 0, sizeof(*list));
    list->NumberOfElements = transfer->elements;
    memcpy(list + 1, transfer->element, transfer->elements * sizeof(*transfer->element));
}

/* ---- life ---- */

static void destroy(struct nt_dma_transfer *transfer)
{
    hash_remove(&nt_state()->dma->lists, (uintptr_t)transfer->list);
    if (transfer->owns_list)
        util_free(transfer->list);
    nt_dma_transfer_end(transfer);
}

static void describe(const struct nt_resource *resource, char *text, size_t bytes)
{
    const struct nt_dma_transfer *transfer = CONTAINER(resource, struct nt_dma_transfer, resource);

    snprintf(text, bytes, " of %u bytes", transfer->range.length);
}

static void reclaim(struct nt_resource *resource)
{
    destroy(CONTAINER(resource, struct nt_dma_transfer, resource));
}

static const struct nt_resource_class list_class = {
    .rule = "NT-190",
    .noun = "scatter/gather list",
    .describe = describe,
    .reclaim = reclaim,
};

/* Write the list to its buffer and enter it. On failure the caller still has the transfer. */
static NTSTATUS furnish(struct nt_dma_transfer *transfer, const struct request *request)
{
    const uint64_t bytes = nt_dma_list_bytes(transfer->elements);

    if (request->buffer && request->buffer_bytes < bytes) {
        NOTE("NT-190", "%s with a buffer of %llu bytes, the list of %u elements has %llu",
             request->routine, (unsigned long long)request->buffer_bytes, transfer->elements,
             (unsigned long long)bytes);
        return STATUS_BUFFER_TOO_SMALL;
    }
    transfer->owns_list = !request->buffer;
    transfer->list = request->buffer ? request->buffer : util_zalloc(1, bytes);
    if (!transfer->list)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!hash_get(&nt_state()->dma->lists, (uintptr_t)transfer->list)) {
        if (hash_put(&nt_state()->dma->lists, (uintptr_t)transfer->list, transfer)) {
            nt_dma_list_write(transfer, transfer->list);
            return STATUS_SUCCESS;
        }
        if (transfer->owns_list)
            util_free(transfer->list);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    VIOLATION("NT-190", "%s with a buffer whose list was not put back", request->routine);
    return STATUS_INVALID_PARAMETER;
}

static NTSTATUS make(const struct request *request)
{
    struct nt_dma_adapter *adapter = nt_dma_adapter_find(request->adapter, request->routine);
    struct nt_dma_transfer *transfer;
    NTSTATUS status;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = nt_dma_transfer_begin(adapter, &request->range, request->routine, &transfer);
    if (status != STATUS_SUCCESS)
        return status;
    status = furnish(transfer, request);
    if (status != STATUS_SUCCESS) {
        nt_dma_transfer_end(transfer);
        return status;
    }
    nt_resource_track(&transfer->resource, &list_class, request->caller);
    if (request->out)
        *request->out = transfer->list;
    transfer->released_by_object = !request->control;
    if (request->control) {
        struct nt_callback callback;

        nt_callback_enter(&callback, transfer->resource.image, "an AdapterListControl routine");
        request->control(request->device_object, nt_dma_irp(request->device_object), transfer->list,
                         request->context);
        nt_callback_leave(&callback);
    }
    return STATUS_SUCCESS;
}

static NTSTATUS make_raised(const struct request *request)
{
    NTSTATUS status;
    uint8_t before;

    nt_dma_level_begin("NT-190", request->routine, &before);
    status = make(request);
    nt_dma_level_end(before);
    return status;
}

static NTSTATUS needs_routine(const struct request *request)
{
    if (request->control)
        return make_raised(request);
    VIOLATION("NT-190", "%s without an ExecutionRoutine", request->routine);
    return STATUS_INVALID_PARAMETER;
}

NTSTATUS NTAPI nt_dma_get_list(PDMA_ADAPTER DmaAdapter, PDEVICE_OBJECT DeviceObject, PMDL Mdl,
                               PVOID CurrentVa, ULONG Length, PDRIVER_LIST_CONTROL ExecutionRoutine,
                               PVOID Context, BOOLEAN WriteToDevice)
{
    struct request request = {.routine = "GetScatterGatherList",
                              .caller = NT_CALLER(),
                              .adapter = DmaAdapter,
                              .device_object = DeviceObject,
                              .control = ExecutionRoutine,
                              .context = Context};

    NT_ENTER();
    request.range = nt_dma_range_at(Mdl, CurrentVa, Length, WriteToDevice);
    return needs_routine(&request);
}

NTSTATUS NTAPI nt_dma_build_list(PDMA_ADAPTER DmaAdapter, PDEVICE_OBJECT DeviceObject, PMDL Mdl,
                                 PVOID CurrentVa, ULONG Length,
                                 PDRIVER_LIST_CONTROL ExecutionRoutine, PVOID Context,
                                 BOOLEAN WriteToDevice, PVOID ScatterGatherBuffer,
                                 ULONG ScatterGatherLength)
{
    struct request request = {.routine = "BuildScatterGatherList",
                              .caller = NT_CALLER(),
                              .adapter = DmaAdapter,
                              .device_object = DeviceObject,
                              .control = ExecutionRoutine,
                              .context = Context,
                              .buffer = ScatterGatherBuffer,
                              .buffer_bytes = ScatterGatherLength};

    NT_ENTER();
    request.range = nt_dma_range_at(Mdl, CurrentVa, Length, WriteToDevice);
    if (!ScatterGatherBuffer) {
        VIOLATION("NT-190", "%s without a buffer", request.routine);
        return STATUS_INVALID_PARAMETER;
    }
    return needs_routine(&request);
}

/* What the extended forms have in common: they may do without a routine if they are synchronous. */
static NTSTATUS make_extended(const struct request *request, const void *transfer_context,
                              ULONG flags)
{
    if (!nt_dma_adapter_find_v3(request->adapter, request->routine) ||
        !nt_dma_context_check(transfer_context, request->routine))
        return STATUS_INVALID_PARAMETER;
    if (!request->control && (!(flags & DMA_SYNCHRONOUS_CALLBACK) || !request->out)) {
        VIOLATION("NT-192",
                  "%s without an ExecutionRoutine needs DMA_SYNCHRONOUS_CALLBACK and a place for "
                  "the list (flags 0x%x)",
                  request->routine, flags);
        return STATUS_INVALID_PARAMETER;
    }
    return make_raised(request);
}

NTSTATUS NTAPI nt_dma_get_list_ex(PDMA_ADAPTER DmaAdapter, PDEVICE_OBJECT DeviceObject,
                                  PVOID DmaTransferContext, PMDL Mdl, ULONGLONG Offset,
                                  ULONG Length, ULONG Flags, PDRIVER_LIST_CONTROL ExecutionRoutine,
                                  PVOID Context, BOOLEAN WriteToDevice,
                                  PDMA_COMPLETION_ROUTINE DmaCompletionRoutine,
                                  PVOID CompletionContext, PSCATTER_GATHER_LIST *ScatterGatherList)
{
    struct request request = {.routine = "GetScatterGatherListEx",
                              .caller = NT_CALLER(),
                              .adapter = DmaAdapter,
                              .device_object = DeviceObject,
                              .range = {Mdl, Offset, Length, WriteToDevice},
                              .control = ExecutionRoutine,
                              .context = Context,
                              .out = ScatterGatherList};

    NT_ENTER();
    (void)DmaCompletionRoutine; /* of system DMA */
    (void)CompletionContext;
    return make_extended(&request, DmaTransferContext, Flags);
}

NTSTATUS NTAPI nt_dma_build_list_ex(PDMA_ADAPTER DmaAdapter, PDEVICE_OBJECT DeviceObject,
                                    PVOID DmaTransferContext, PMDL Mdl, ULONGLONG Offset,
                                    ULONG Length, ULONG Flags, PDRIVER_LIST_CONTROL ExecutionRoutine,
                                    PVOID Context, BOOLEAN WriteToDevice, PVOID ScatterGatherBuffer,
                                    ULONG ScatterGatherLength,
                                    PDMA_COMPLETION_ROUTINE DmaCompletionRoutine,
                                    PVOID CompletionContext, PVOID ScatterGatherList)
{
    struct request request = {.routine = "BuildScatterGatherListEx",
                              .caller = NT_CALLER(),
                              .adapter = DmaAdapter,
                              .device_object = DeviceObject,
                              .range = {Mdl, Offset, Length, WriteToDevice},
                              .control = ExecutionRoutine,
                              .context = Context,
                              .buffer = ScatterGatherBuffer,
                              .buffer_bytes = ScatterGatherLength,
                              .out = ScatterGatherList};

    NT_ENTER();
    (void)DmaCompletionRoutine;
    (void)CompletionContext;
    if (!ScatterGatherBuffer) {
        VIOLATION("NT-190", "%s without a buffer", request.routine);
        return STATUS_INVALID_PARAMETER;
    }
    return make_extended(&request, DmaTransferContext, Flags);
}

void NTAPI nt_dma_put_list(PDMA_ADAPTER DmaAdapter, PSCATTER_GATHER_LIST ScatterGather,
                           BOOLEAN WriteToDevice)
{
    static const char routine[] = "PutScatterGatherList";
    struct nt_dma_adapter *adapter;
    struct nt_dma_transfer *transfer;
    uint8_t before;

    NT_ENTER();
    adapter = nt_dma_adapter_find(DmaAdapter, routine);
    if (!adapter)
        return;
    nt_dma_level_begin("NT-190", routine, &before);
    transfer = ScatterGather ? hash_get(&nt_state()->dma->lists, (uintptr_t)ScatterGather) : NULL;
    if (!transfer || transfer->adapter != adapter) {
        VIOLATION("NT-190", "%s of a list that this adapter object did not make", routine);
    } else {
        if (transfer->range.write != (WriteToDevice != FALSE))
            VIOLATION("NT-190", "%s with WriteToDevice %u, the list was made with %u", routine,
                      WriteToDevice, transfer->range.write);
        nt_resource_reclaim(&transfer->resource);
    }
    nt_dma_level_end(before);
}

void nt_dma_lists_release(struct nt_dma_adapter *adapter)
{
    uint32_t cursor = 0;
    uint64_t key;
    void *value;

    while (hash_next(&nt_state()->dma->lists, &cursor, &key, &value)) {
        struct nt_dma_transfer *transfer = value;

        if (transfer->adapter != adapter || !transfer->released_by_object)
            continue;
        nt_resource_reclaim(&transfer->resource);
        cursor = 0; /* a removal moves others */
    }
}

/* ---- sizes ---- */

NTSTATUS NTAPI nt_dma_calculate_list(PDMA_ADAPTER DmaAdapter, PMDL Mdl, PVOID CurrentVa,
                                     ULONG Length, PULONG ScatterGatherListSize,
                                     PULONG pNumberOfMapRegisters)
{
    static const char routine[] = "CalculateScatterGatherList";
    struct nt_dma_adapter *adapter;
    struct nt_dma_range range;
    uint32_t pages;

    NT_ENTER();
    adapter = nt_dma_adapter_find(DmaAdapter, routine);
    if (!adapter || !ScatterGatherListSize)
        return STATUS_INVALID_PARAMETER;
    pages = (uint32_t)ADDRESS_AND_SIZE_TO_SPAN_PAGES(CurrentVa, Length);
    if (Mdl) {
        NTSTATUS status;

        range = nt_dma_range_at(Mdl, CurrentVa, Length, true);
        status = nt_dma_range_check(&range, routine);
        if (status != STATUS_SUCCESS)
            return status;
        pages = nt_dma_range_pages(&range);
    }
    if (pages > adapter->map_registers)
        return STATUS_INSUFFICIENT_RESOURCES;
    *ScatterGatherListSize = (ULONG)nt_dma_list_bytes(pages);
    if (pNumberOfMapRegisters)
        *pNumberOfMapRegisters = pages;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI nt_dma_transfer_info(PDMA_ADAPTER DmaAdapter, PMDL Mdl, ULONGLONG Offset,
                                    ULONG Length, BOOLEAN WriteOnly, PDMA_TRANSFER_INFO TransferInfo)
{
    static const char routine[] = "GetDmaTransferInfo";
    const struct nt_dma_range range = {Mdl, Offset, Length, WriteOnly};
    NTSTATUS status;
    ULONG pages;

    NT_ENTER();
    if (!nt_level(NT_DISPATCH, "NT-192", NT_NO_CODE, routine) ||
        !nt_dma_adapter_find_v3(DmaAdapter, routine) || !TransferInfo)
        return STATUS_INVALID_PARAMETER;
    if (TransferInfo->Version != DMA_TRANSFER_INFO_VERSION1 &&
        TransferInfo->Version != DMA_TRANSFER_INFO_VERSION2)
        return STATUS_NOT_SUPPORTED;
    status = nt_dma_range_check(&range, routine);
    if (status != STATUS_SUCCESS)
        return status;
    pages = nt_dma_range_pages(&range);
    TransferInfo->V1.MapRegisterCount = pages;
    TransferInfo->V1.ScatterGatherElementCount = pages;
    TransferInfo->V1.ScatterGatherListSize = (ULONG)nt_dma_list_bytes(pages);
    if (TransferInfo->Version == DMA_TRANSFER_INFO_VERSION2)
        TransferInfo->V2.LogicalPageCount = pages;
    return STATUS_SUCCESS;
}
