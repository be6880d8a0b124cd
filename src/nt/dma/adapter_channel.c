/* SPDX-License-Identifier: MIT */
/*
 * Adapter channels (NT-191): a driver that maps its transfers itself owns the adapter object while
 * its AdapterControl routine runs, and keeps map registers as that says.
 *
 *   KeepObject                       it owns the adapter until FreeAdapterChannel
 *   DeallocateObjectKeepRegisters    it has the map registers until FreeMapRegisters
 *   DeallocateObject                 nothing is left
 *
 * Who asks meanwhile waits in turn.
 */
#include "nt/dma/adapter_channel.h"

#include <stdio.h>

#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/state.h"
#include "nt/dma/dma_context.h"
#include "nt/dma/dma_members.h"
#include "nt/dma/dma_record.h"
#include "nt/dma/dma_transfer.h"
#include "nt/dma/scatter_gather.h"
#include "nt/ke/driver_call.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "sim/order.h"
#include "util/alloc.h"
#include "verify/verify.h"

struct nt_dma_channel *nt_dma_channel_find(const struct nt_dma_adapter *adapter, const void *base,
                                           const char *routine)
{
    struct nt_dma_channel *channel = base ? hash_get(&nt_state()->dma->channels, (uintptr_t)base)
                                          : NULL;

    if (channel && channel->adapter == adapter && !channel->waiting)
        return channel;
    VIOLATION("NT-191", "%s with a MapRegisterBase that this adapter object does not have", routine);
    return NULL;
}

/* ---- life ---- */

static void destroy(struct nt_dma_channel *channel)
{
    LIST_FOR_SAFE(link, following, &channel->transfers) {
        struct nt_dma_transfer *transfer = CONTAINER(link, struct nt_dma_transfer, of_channel);

        list_remove(link);
        nt_dma_transfer_end(transfer);
    }
    hash_remove(&nt_state()->dma->channels, (uintptr_t)channel);
    list_remove(&channel->link);
    if (channel->adapter->channel == channel)
        channel->adapter->channel = NULL;
    channel->adapter->channels--;
    util_free(channel);
}

static void describe(const struct nt_resource *resource, char *text, size_t bytes)
{
    const struct nt_dma_channel *channel = CONTAINER(resource, struct nt_dma_channel, resource);

    snprintf(text, bytes, " with %u map registers", channel->registers);
}

static void reclaim(struct nt_resource *resource)
{
    destroy(CONTAINER(resource, struct nt_dma_channel, resource));
}

static const struct nt_resource_class channel_class = {
    .rule = "NT-191",
    .noun = "adapter channel",
    .describe = describe,
    .reclaim = reclaim,
};

static void release(struct nt_dma_channel *channel, const char *routine)
{
    if (!list_empty(&channel->transfers))
        VIOLATION("NT-191", "%s, and a transfer of its map registers was not flushed", routine);
    nt_resource_reclaim(&channel->resource);
}

static struct nt_dma_channel *create(struct nt_dma_adapter *adapter, ULONG registers,
                                     const void *caller)
{
    struct nt_dma_channel *channel = nt_faults_due() ? NULL : util_zalloc(1, sizeof(*channel));

    if (!channel)
        return NULL;
    if (!hash_put(&nt_state()->dma->channels, (uintptr_t)channel, channel)) {
        util_free(channel);
        return NULL;
    }
    channel->adapter = adapter;
    channel->registers = registers;
    list_init(&channel->link);
    list_init(&channel->transfers);
    adapter->channels++;
    nt_resource_track(&channel->resource, &channel_class, caller);
    return channel;
}

/* ---- ownership ---- */

static IO_ALLOCATION_ACTION call(struct nt_dma_channel *channel)
{
    struct nt_callback callback;
    IO_ALLOCATION_ACTION action;

    sim_order_take(channel); /* which another thread may have asked for */
    nt_callback_enter(&callback, channel->resource.image, "an AdapterControl routine");
    action = channel->control(channel->device_object, nt_dma_irp(channel->device_object), channel,
                              channel->context);
    nt_callback_leave(&callback);
    return action;
}

/* The adapter is free: whoever waits gets it. */
static void pass_on(struct nt_dma_adapter *adapter)
{
    while (!adapter->channel && !list_empty(&adapter->waiting)) {
        struct nt_dma_channel *channel = CONTAINER(list_pop_front(&adapter->waiting),
                                                   struct nt_dma_channel, link);
        IO_ALLOCATION_ACTION action;

        channel->waiting = false;
        adapter->channel = channel;
        action = channel->control ? call(channel) : KeepObject;
        if (adapter->channel != channel)
            continue; /* it freed the channel itself */
        switch (action) {
        case KeepObject:
            return;
        case DeallocateObjectKeepRegisters:
            adapter->channel = NULL;
            break;
        case DeallocateObject:
            release(channel, "AdapterControl returned DeallocateObject");
            break;
        default:
            VIOLATION("NT-191", "an AdapterControl routine returned %d, no IO_ALLOCATION_ACTION",
                      (int)action);
            release(channel, "AdapterControl");
        }
    }
}

/* `wait`: it may have to wait for the adapter. */
static NTSTATUS request(struct nt_dma_adapter *adapter, const struct nt_dma_channel *wanted,
                        bool wait, PVOID *base, const char *routine, const void *caller)
{
    struct nt_dma_channel *channel;

    if (wanted->registers > adapter->map_registers ||
        (!wait && (adapter->channel || !list_empty(&adapter->waiting)))) {
        NOTE("NT-191", "%s of %u map registers, IoGetDmaAdapter gave %u, and the adapter is %s",
             routine, wanted->registers, adapter->map_registers, adapter->channel ? "busy" : "free");
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    channel = create(adapter, wanted->registers, caller);
    if (!channel)
        return STATUS_INSUFFICIENT_RESOURCES;
    channel->device_object = wanted->device_object;
    channel->control = wanted->control;
    channel->context = wanted->context;
    channel->transfer_context = wanted->transfer_context;
    channel->waiting = true;
    sim_order_release(channel);
    list_push_back(&adapter->waiting, &channel->link);
    if (base)
        *base = channel;
    pass_on(adapter);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI nt_dma_allocate_channel(PDMA_ADAPTER DmaAdapter, PDEVICE_OBJECT DeviceObject,
                                       ULONG NumberOfMapRegisters, PDRIVER_CONTROL ExecutionRoutine,
                                       PVOID Context)
{
    static const char routine[] = "AllocateAdapterChannel";
    const struct nt_dma_channel wanted = {.registers = NumberOfMapRegisters,
                                          .device_object = DeviceObject,
                                          .control = ExecutionRoutine,
                                          .context = Context};
    struct nt_dma_adapter *adapter;
    NTSTATUS status;
    uint8_t before;

    NT_ENTER();
    adapter = nt_dma_adapter_find(DmaAdapter, routine);
    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    nt_dma_level_begin("NT-191", routine, &before);
    if (ExecutionRoutine) {
        status = request(adapter, &wanted, true, NULL, routine, NT_CALLER());
    } else {
        VIOLATION("NT-191", "%s without an ExecutionRoutine", routine);
        status = STATUS_INVALID_PARAMETER;
    }
    nt_dma_level_end(before);
    return status;
}

NTSTATUS NTAPI nt_dma_allocate_channel_ex(PDMA_ADAPTER DmaAdapter, PDEVICE_OBJECT DeviceObject,
                                          PVOID DmaTransferContext, ULONG NumberOfMapRegisters,
                                          ULONG Flags, PDRIVER_CONTROL ExecutionRoutine,
                                          PVOID ExecutionContext, PVOID *MapRegisterBase)
{
    static const char routine[] = "AllocateAdapterChannelEx";
    const struct nt_dma_channel wanted = {.registers = NumberOfMapRegisters,
                                          .device_object = DeviceObject,
                                          .control = ExecutionRoutine,
                                          .context = ExecutionContext,
                                          .transfer_context = DmaTransferContext};
    const bool synchronous = Flags & DMA_SYNCHRONOUS_CALLBACK;
    struct nt_dma_adapter *adapter;
    NTSTATUS status;
    uint8_t before;

    NT_ENTER();
    adapter = nt_dma_adapter_find_v3(DmaAdapter, routine);
    if (!adapter || !nt_dma_context_check(DmaTransferContext, routine))
        return STATUS_INVALID_PARAMETER;
    if (!ExecutionRoutine && (!synchronous || !MapRegisterBase)) {
        VIOLATION("NT-192",
                  "%s without an ExecutionRoutine needs DMA_SYNCHRONOUS_CALLBACK and a place for "
                  "the MapRegisterBase (flags 0x%x)",
                  routine, Flags);
        return STATUS_INVALID_PARAMETER;
    }
    nt_dma_level_begin("NT-191", routine, &before);
    status = request(adapter, &wanted, !synchronous, MapRegisterBase, routine, NT_CALLER());
    nt_dma_level_end(before);
    return status;
}

BOOLEAN NTAPI nt_dma_cancel_channel(PDMA_ADAPTER DmaAdapter, PDEVICE_OBJECT DeviceObject,
                                    PVOID DmaTransferContext)
{
    static const char routine[] = "CancelAdapterChannel";
    struct nt_dma_adapter *adapter;

    NT_ENTER();
    (void)DeviceObject;
    adapter = nt_dma_adapter_find_v3(DmaAdapter, routine);
    if (!adapter || !nt_level(NT_DISPATCH, "NT-191", NT_NO_CODE, routine))
        return FALSE;
    LIST_FOR(link, &adapter->waiting) {
        struct nt_dma_channel *channel = CONTAINER(link, struct nt_dma_channel, link);

        if (!DmaTransferContext || channel->transfer_context != DmaTransferContext)
            continue;
        nt_resource_reclaim(&channel->resource);
        return TRUE;
    }
    return FALSE;
}

/* ---- release ---- */

static void free_channel(struct nt_dma_adapter *adapter, const char *routine)
{
    struct nt_dma_channel *channel = adapter->channel;

    if (!channel) {
        VIOLATION("NT-191", "%s of an adapter object that nobody owns", routine);
        return;
    }
    release(channel, routine);
    pass_on(adapter);
}

void NTAPI nt_dma_free_channel(PDMA_ADAPTER DmaAdapter)
{
    static const char routine[] = "FreeAdapterChannel";
    struct nt_dma_adapter *adapter;
    uint8_t before;

    NT_ENTER();
    adapter = nt_dma_adapter_find(DmaAdapter, routine);
    if (!adapter)
        return;
    nt_dma_level_begin("NT-191", routine, &before);
    free_channel(adapter, routine);
    nt_dma_level_end(before);
}

void NTAPI nt_dma_free_object(PDMA_ADAPTER DmaAdapter, IO_ALLOCATION_ACTION AllocationAction)
{
    static const char routine[] = "FreeAdapterObject";
    struct nt_dma_adapter *adapter;
    uint8_t before = sim_irql();

    NT_ENTER();
    adapter = nt_dma_adapter_find_v3(DmaAdapter, routine);
    if (!adapter || !nt_level(NT_DISPATCH, "NT-191", NT_NO_CODE, routine) ||
        AllocationAction == KeepObject)
        return;
    if (AllocationAction != DeallocateObject && AllocationAction != DeallocateObjectKeepRegisters) {
        VIOLATION("NT-191", "%s with %d, no IO_ALLOCATION_ACTION", routine, (int)AllocationAction);
        return;
    }
    if (before < SIM_IRQL_DISPATCH)
        sim_raise_irql(SIM_IRQL_DISPATCH);
    nt_dma_lists_release(adapter);
    if (adapter->channel && AllocationAction == DeallocateObjectKeepRegisters) {
        adapter->channel = NULL;
        pass_on(adapter);
    } else if (adapter->channel) {
        free_channel(adapter, routine);
    }
    nt_dma_level_end(before);
}

void NTAPI nt_dma_free_registers(PDMA_ADAPTER DmaAdapter, PVOID MapRegisterBase,
                                 ULONG NumberOfMapRegisters)
{
    static const char routine[] = "FreeMapRegisters";
    struct nt_dma_adapter *adapter;
    struct nt_dma_channel *channel;
    uint8_t before;

    NT_ENTER();
    adapter = nt_dma_adapter_find(DmaAdapter, routine);
    if (!adapter)
        return;
    nt_dma_level_begin("NT-191", routine, &before);
    channel = nt_dma_channel_find(adapter, MapRegisterBase, routine);
    if (channel) {
        if (channel->registers != NumberOfMapRegisters)
            VIOLATION("NT-191", "%s of %u map registers, allocated were %u", routine,
                      NumberOfMapRegisters, channel->registers);
        release(channel, routine);
        pass_on(adapter);
    }
    nt_dma_level_end(before);
}
