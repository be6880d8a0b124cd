/* SPDX-License-Identifier: MIT */
/* The driver and the scheduler of the rig. */
#include "gva_rig.h"

#include <stdlib.h>
#include <string.h>

#include "sim/event.h"
#include "sim/machine.h"
#include "sim/wait.h"

struct gva_rig *gva_rig;

/* ---- driver ---- */

#define COMMAND_BYTES 64u

static struct gva_op *record(struct gva_rig *rig, const DXGKARG_BUILDPAGINGBUFFER *args)
{
    struct gva_op *op = &rig->ops[rig->op_count];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &args->UpdatePageTable;

    CHECK(rig->op_count < GVA_MAX_OPS);
    rig->op_count++;
    *op = (struct gva_op){
        .args = *args, .immediate = args->pDmaBuffer == NULL, .ticket_hint = rig->submitted};
    if (args->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE) {
        size_t count = update->Flags.Repeat ? 1 : update->NumPageTableEntries;

        CHECK(update->NumPageTableEntries >= 1);
        op->entries = malloc(count * sizeof(DXGK_PTE));
        CHECK(op->entries);
        memcpy(op->entries, update->pPageTableEntries, count * sizeof(DXGK_PTE));
    }
    if (args->Operation == DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION &&
        args->UpdateContextAllocation.DriverPrivateDataSize) {
        op->data = malloc(args->UpdateContextAllocation.DriverPrivateDataSize);
        CHECK(op->data);
        memcpy(op->data, args->UpdateContextAllocation.pDriverPrivateData,
               args->UpdateContextAllocation.DriverPrivateDataSize);
    }
    return op;
}

static NTSTATUS NTAPI build_paging_buffer(HANDLE adapter, DXGKARG_BUILDPAGINGBUFFER *args)
{
    struct gva_rig *rig = gva_rig;

    (void)adapter;
    if (rig->on_build)
        rig->on_build(rig, args);
    rig->calls[args->Operation]++;
    if (args->pDmaBuffer && rig->insufficient_every && args->DmaBufferWriteOffset != 0 &&
        rig->op_count % rig->insufficient_every == 0)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    if (!args->pDmaBuffer || rig->write_nothing) {
        gva_gpu_execute(rig, record(rig, args));
        return STATUS_SUCCESS;
    }
    if (args->DmaSize < COMMAND_BYTES)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    memcpy(args->pDmaBuffer, &rig->op_count, sizeof(rig->op_count));
    record(rig, args);
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + COMMAND_BYTES;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI create_process(HANDLE adapter, DXGKARG_CREATEPROCESS *args)
{
    struct gva_rig *rig = gva_rig;

    (void)adapter;
    CHECK(args->hDxgkProcess != NULL);
    if (rig->create_process_calls < 8)
        rig->process_flags[rig->create_process_calls] = args->Flags;
    rig->create_process_calls++;
    args->hKmdProcess = (HANDLE)(uintptr_t)(0x1000 + rig->create_process_calls);
    if (rig->on_create_process)
        rig->on_create_process(rig, args->hDxgkProcess);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI destroy_process(HANDLE adapter, HANDLE process)
{
    (void)adapter;
    (void)process;
    gva_rig->destroy_process_calls++;
    return STATUS_SUCCESS;
}

static void NTAPI set_root_page_table(HANDLE adapter, const DXGKARG_SETROOTPAGETABLE *args)
{
    (void)adapter;
    gva_rig->set_root_calls++;
    gva_rig->last_root = *args;
    if (gva_rig->on_set_root)
        gva_rig->on_set_root(gva_rig, args);
}

static SIZE_T NTAPI get_root_page_table_size(HANDLE adapter, DXGKARG_GETROOTPAGETABLESIZE *args)
{
    struct gva_rig *rig = gva_rig;
    UINT entries = args->NumberOfPte;

    (void)adapter;
    rig->root_size_calls++;
    if (rig->root_round)
        entries = (entries + rig->root_round - 1) / rig->root_round * rig->root_round;
    args->NumberOfPte = entries - rig->root_short;
    if (rig->root_bytes)
        return rig->root_bytes == GVA_NO_ROOT ? 0 : rig->root_bytes;
    return (entries * (rig->options.whole_entries ? sizeof(DXGK_PTE) : sizeof(uint64_t)) +
            GVA_PAGE - 1) /
           GVA_PAGE * GVA_PAGE;
}

static DRIVER_INITIALIZATION_DATA driver_table(UINT version)
{
    DRIVER_INITIALIZATION_DATA table = {.Version = version};

    table.DxgkDdiBuildPagingBuffer = build_paging_buffer;
    table.DxgkDdiCreateProcess = create_process;
    table.DxgkDdiDestroyProcess = destroy_process;
    table.DxgkDdiSetRootPageTable = set_root_page_table;
    table.DxgkDdiGetRootPageTableSize = get_root_page_table_size;
    return table;
}

void gva_driver_init(struct gva_rig *rig);
void gva_driver_init(struct gva_rig *rig)
{
    DRIVER_INITIALIZATION_DATA table = driver_table(rig->options.version);

    CHECK(NT_SUCCESS(ddi_adapter_init(&rig->ddi, &table, NULL, "gva_driver")));
    rig->ddi.context = rig;
}

/* ---- scheduler ---- */

static HANDLE system_context(struct ddi_adapter *adapter)
{
    (void)adapter;
    return (HANDLE)(uintptr_t)0xC0;
}

static HANDLE system_device(struct ddi_adapter *adapter)
{
    (void)adapter;
    return (HANDLE)(uintptr_t)0xD0;
}

static NTSTATUS paging_buffer_get(struct ddi_adapter *adapter, struct vidmm_paging_buffer **out)
{
    struct gva_rig *rig = gva_rig;

    (void)adapter;
    for (;;) {
        for (unsigned i = 0; i < 4; i++) {
            if (rig->buffer_busy[i])
                continue;
            rig->buffer_busy[i] = true;
            rig->buffer[i].used = rig->buffer[i].private_used = 0;
            *out = &rig->buffer[i];
            return STATUS_SUCCESS;
        }
        sim_waitq_wait(&rig->done, SIM_FOREVER);
    }
}

static void execute(struct gva_rig *rig, unsigned i)
{
    for (uint32_t at = 0; at < rig->buffer[i].used; at += COMMAND_BYTES) {
        uint32_t number;

        memcpy(&number, (uint8_t *)rig->buffer[i].data + at, sizeof(number));
        gva_gpu_execute(rig, &rig->ops[number]);
    }
    rig->completed = rig->buffer_ticket[i];
    rig->buffer_busy[i] = false;
}

void gva_execute_one(struct gva_rig *rig)
{
    for (unsigned i = 0; i < 4; i++) {
        if (rig->buffer_busy[i] && rig->buffer_ticket[i] == rig->completed + 1) {
            execute(rig, i);
            sim_waitq_wake(&rig->done, UINT32_MAX);
            return;
        }
    }
}

void gva_release(struct gva_rig *rig)
{
    rig->hold = false;
    while (rig->completed < rig->submitted)
        gva_execute_one(rig);
}

static void gpu_later(struct gva_rig *rig);

static void gpu_fires(struct sim_event *event)
{
    struct gva_rig *rig = CONTAINER(event, struct gva_rig, gpu);

    gva_execute_one(rig);
    if (rig->completed < rig->submitted)
        gpu_later(rig);
}

static void gpu_later(struct gva_rig *rig)
{
    rig->gpu.fire = gpu_fires;
    CHECK(sim_event_arm(&rig->gpu, sim_now() + 1 + sim_random(rig->delay)));
}

static NTSTATUS paging_buffer_submit(struct ddi_adapter *adapter,
                                     struct vidmm_paging_buffer *buffer, uint64_t *ticket)
{
    struct gva_rig *rig = gva_rig;
    unsigned i = (unsigned)(buffer - rig->buffer);

    (void)adapter;
    rig->buffer_ticket[i] = *ticket = ++rig->submitted;
    if (rig->hold)
        return STATUS_SUCCESS;
    if (rig->delay == 0)
        gva_execute_one(rig);
    else if (!sim_event_pending(&rig->gpu))
        gpu_later(rig);
    return STATUS_SUCCESS;
}

static bool paging_done(struct ddi_adapter *adapter, uint64_t ticket)
{
    (void)adapter;
    return ticket <= gva_rig->completed;
}

static NTSTATUS paging_wait(struct ddi_adapter *adapter, uint64_t ticket)
{
    (void)adapter;
    while (gva_rig->completed < ticket)
        sim_waitq_wait(&gva_rig->done, SIM_FOREVER);
    return STATUS_SUCCESS;
}

static uint64_t device_ticket(struct vidmm_device *device)
{
    (void)device;
    return 0;
}

static bool device_done(struct vidmm_device *device, uint64_t ticket)
{
    (void)device;
    (void)ticket;
    return true;
}

static bool device_rings(struct vidmm_device *device)
{
    (void)device;
    return false;
}

static NTSTATUS device_wait(struct vidmm_device *device, uint64_t ticket)
{
    (void)device;
    (void)ticket;
    return STATUS_SUCCESS;
}

static void device_nudge(struct vidmm_device *device)
{
    (void)device;
}

static NTSTATUS context_leave(struct vidmm_device *device, struct vidmm_context *context)
{
    (void)device;
    (void)context;
    return STATUS_SUCCESS;
}

static NTSTATUS process_suspend(struct vidmm_process *process)
{
    (void)process;
    gva_rig->suspends++;
    return STATUS_SUCCESS;
}

static void process_resume(struct vidmm_process *process)
{
    (void)process;
    gva_rig->resumes++;
    gva_rig->early_resumes += gva_rig->completed != gva_rig->submitted;
}

static void device_error(struct vidmm_device *device, D3DKMT_DEVICEEXECUTION_STATE state)
{
    (void)device;
    (void)state;
}

static void device_resident(struct vidmm_device *device)
{
    (void)device;
}

const struct vidmm_scheduler gva_scheduler = {
    .system_context = system_context,
    .system_device = system_device,
    .paging_buffer_get = paging_buffer_get,
    .paging_buffer_submit = paging_buffer_submit,
    .paging_done = paging_done,
    .paging_wait = paging_wait,
    .device_ticket = device_ticket,
    .device_done = device_done,
    .device_rings = device_rings,
    .device_wait = device_wait,
    .device_nudge = device_nudge,
    .process_suspend = process_suspend,
    .context_leave = context_leave,
    .process_resume = process_resume,
    .device_error = device_error,
    .device_resident = device_resident,
};
