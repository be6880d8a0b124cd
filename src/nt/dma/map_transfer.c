/* SPDX-License-Identifier: MIT */
/*
 * Transfers that a driver maps itself, under the map registers of a channel: MapTransfer makes one
 * run at a time, MapTransferEx a list; FlushAdapterBuffers ends what it names (NT-191).
 */
#include "nt/dma/adapter_channel.h"
#include "nt/dma/dma_members.h"
#include "nt/dma/dma_record.h"
#include "nt/dma/dma_transfer.h"
#include "nt/dma/scatter_gather.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "util/checked.h"
#include "verify/verify.h"

static struct nt_dma_channel *enter(PDMA_ADAPTER adapter, PVOID base, bool extended,
                                    const char *routine)
{
    struct nt_dma_adapter *found = extended ? nt_dma_adapter_find_v3(adapter, routine)
                                            : nt_dma_adapter_find(adapter, routine);

    if (!found || !nt_level(NT_DISPATCH, "NT-191", NT_NO_CODE, routine))
        return NULL;
    return nt_dma_channel_find(found, base, routine);
}

/* ---- mapping ---- */

PHYSICAL_ADDRESS NTAPI nt_dma_map_transfer(PDMA_ADAPTER DmaAdapter, PMDL Mdl, PVOID MapRegisterBase,
                                           PVOID CurrentVa, PULONG Length, BOOLEAN WriteToDevice)
{
    static const char routine[] = "MapTransfer";
    const PHYSICAL_ADDRESS none = {.QuadPart = 0};
    struct nt_dma_transfer *transfer;
    struct nt_dma_channel *channel;
    struct nt_dma_range range;

    NT_ENTER();
    channel = enter(DmaAdapter, MapRegisterBase, false, routine);
    if (!channel || !Length)
        return none;
    range = nt_dma_range_at(Mdl, CurrentVa, *Length, WriteToDevice);
    *Length = 0;
    if (nt_dma_range_check(&range, routine) != STATUS_SUCCESS)
        return none;
    range.length = nt_dma_range_contiguous(channel->adapter, &range);
    if (nt_dma_transfer_begin(channel->adapter, &range, routine, &transfer) != STATUS_SUCCESS)
        return none;
    list_push_back(&channel->transfers, &transfer->of_channel);
    *Length = transfer->element[0].Length;
    return transfer->element[0].Address;
}

/* Bytes of the first elements that a buffer has room for. */
static uint32_t first_bytes(const struct nt_dma_transfer *transfer, uint64_t room)
{
    uint32_t bytes = 0;

    for (uint32_t i = 0; i < transfer->elements && nt_dma_list_bytes(i + 1) <= room; i++)
        bytes += transfer->element[i].Length;
    return bytes;
}

static NTSTATUS map_list(struct nt_dma_channel *channel, struct nt_dma_range *range, void *buffer,
                         uint64_t room, const char *routine)
{
    struct nt_dma_transfer *transfer;
    NTSTATUS status = nt_dma_transfer_begin(channel->adapter, range, routine, &transfer);
    uint32_t bytes;

    if (status != STATUS_SUCCESS)
        return status;
    bytes = first_bytes(transfer, room);
    if (bytes < range->length) { /* the driver maps the rest later */
        nt_dma_transfer_end(transfer);
        range->length = bytes;
        status = nt_dma_transfer_begin(channel->adapter, range, routine, &transfer);
        if (status != STATUS_SUCCESS)
            return status;
    }
    list_push_back(&channel->transfers, &transfer->of_channel);
    nt_dma_list_write(transfer, buffer);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI nt_dma_map_transfer_ex(PDMA_ADAPTER DmaAdapter, PMDL Mdl, PVOID MapRegisterBase,
                                      ULONGLONG Offset, ULONG DeviceOffset, PULONG Length,
                                      BOOLEAN WriteToDevice,
                                      PSCATTER_GATHER_LIST ScatterGatherBuffer,
                                      ULONG ScatterGatherBufferLength,
                                      PDMA_COMPLETION_ROUTINE DmaCompletionRoutine,
                                      PVOID CompletionContext)
{
    static const char routine[] = "MapTransferEx";
    struct nt_dma_range range = {.mdl = Mdl, .offset = Offset, .write = WriteToDevice};
    struct nt_dma_channel *channel;
    NTSTATUS status;

    NT_ENTER();
    (void)DeviceOffset; /* these are of system DMA */
    (void)DmaCompletionRoutine;
    (void)CompletionContext;
    channel = enter(DmaAdapter, MapRegisterBase, true, routine);
    if (!channel || !Length)
        return STATUS_INVALID_PARAMETER;
    if (!ScatterGatherBuffer || ScatterGatherBufferLength < nt_dma_list_bytes(1)) {
        VIOLATION("NT-192", "%s with a buffer of %u bytes, a list of one element has %llu", routine,
                  ScatterGatherBuffer ? ScatterGatherBufferLength : 0,
                  (unsigned long long)nt_dma_list_bytes(1));
        return STATUS_INVALID_PARAMETER;
    }
    range.length = *Length;
    status = map_list(channel, &range, ScatterGatherBuffer, ScatterGatherBufferLength, routine);
    if (status == STATUS_SUCCESS)
        *Length = range.length;
    return status;
}

/* ---- flushing ---- */

/* End all transfers of the range. False: there is none. */
static bool flush(struct nt_dma_channel *channel, const struct nt_dma_range *range,
                  const char *routine)
{
    bool any = false;

    LIST_FOR_SAFE(link, following, &channel->transfers) {
        struct nt_dma_transfer *transfer = CONTAINER(link, struct nt_dma_transfer, of_channel);

        if (transfer->range.mdl != range->mdl ||
            !ranges_overlap(transfer->range.offset, transfer->range.length, range->offset,
                            range->length))
            continue;
        if (transfer->range.write != range->write)
            VIOLATION("NT-191", "%s with WriteToDevice %u of a transfer that was mapped with %u",
                      routine, range->write, transfer->range.write);
        list_remove(link);
        nt_dma_transfer_end(transfer);
        any = true;
    }
    if (!any)
        VIOLATION("NT-191", "%s of %u bytes at offset 0x%llx of an MDL, which are not mapped",
                  routine, range->length, (unsigned long long)range->offset);
    return any;
}

BOOLEAN NTAPI nt_dma_flush_buffers(PDMA_ADAPTER DmaAdapter, PMDL Mdl, PVOID MapRegisterBase,
                                   PVOID CurrentVa, ULONG Length, BOOLEAN WriteToDevice)
{
    static const char routine[] = "FlushAdapterBuffers";
    struct nt_dma_channel *channel;
    struct nt_dma_range range;

    NT_ENTER();
    channel = enter(DmaAdapter, MapRegisterBase, false, routine);
    if (!channel)
        return FALSE;
    range = nt_dma_range_at(Mdl, CurrentVa, Length, WriteToDevice);
    return flush(channel, &range, routine);
}

NTSTATUS NTAPI nt_dma_flush_buffers_ex(PDMA_ADAPTER DmaAdapter, PMDL Mdl, PVOID MapRegisterBase,
                                       ULONGLONG Offset, ULONG Length, BOOLEAN WriteToDevice)
{
    static const char routine[] = "FlushAdapterBuffersEx";
    const struct nt_dma_range range = {Mdl, Offset, Length, WriteToDevice};
    struct nt_dma_channel *channel;

    NT_ENTER();
    channel = enter(DmaAdapter, MapRegisterBase, true, routine);
    return channel && flush(channel, &range, routine) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

/* Caches are coherent with DMA on this processor. */
NTSTATUS NTAPI nt_dma_flush_buffer(PDMA_ADAPTER DmaAdapter, PMDL Mdl, BOOLEAN ReadOperation)
{
    static const char routine[] = "FlushDmaBuffer";

    NT_ENTER();
    (void)ReadOperation;
    if (!nt_dma_adapter_find_v3(DmaAdapter, routine) || !Mdl)
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}
