/* SPDX-License-Identifier: MIT */
/* Batches of updates that the worker or the adapter does not outlive. */
#include "ddi/client_handle.h"
#include "nt/base/kprocess.h"
#include "nt/ps/process.h"
#include "nt/ps/thread.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/point.h"
#include "sim/thread.h"
#include "support/gva_gate.h"
#include "support/gva_rig.h"
#include "vidmm/residency/queued_use.h"
#include "vidmm/space/privileged_space.h"
#include "vidmm/space/table_residency.h"
#include "vidmm/va_update.h"

#include <string.h>

#define PAGES 16u

typedef D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION update_operation;

/* ---- a companion whose GPU copies nothing ---- */

static struct companion {
    struct vidmm_context context;
    struct vidmm_scheduler scheduler;
    struct vidmm_paging_buffer buffer;
    struct va_updates updates;
    unsigned submitted, errors;
    bool ends; /* at once; else never */
    bool done;
} companion;

static struct vidmm_paging_buffer *companion_buffer(struct vidmm_context *context)
{
    static _Alignas(4096) uint8_t memory[4096];

    (void)context;
    companion.buffer = (struct vidmm_paging_buffer){
        .data = memory, .capacity = sizeof(memory), .logical = {0x10000000}};
    return &companion.buffer;
}

static void companion_submit(struct vidmm_context *context, void (*done)(void *argument),
                             void *argument)
{
    (void)context;
    companion.submitted++;
    if (companion.ends)
        done(argument);
}

static void device_error(struct vidmm_device *device, D3DKMT_DEVICEEXECUTION_STATE state)
{
    (void)device;
    CHECK(state == D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    companion.errors++;
}

static void companion_open(struct gva_rig *rig)
{
    memset(&companion, 0, sizeof(companion));
    companion.scheduler = *rig->vidmm->scheduler;
    companion.scheduler.companion_buffer = companion_buffer;
    companion.scheduler.companion_submit = companion_submit;
    companion.scheduler.device_error = device_error;
    rig->vidmm->scheduler = &companion.scheduler;
    companion.context = (struct vidmm_context){
        .device = rig->mm_device, .adapter = &rig->ddi, .driver_handle = (HANDLE)(uintptr_t)0xC0};
    sim_mutex_lock(&rig->vidmm->lock);
    CHECK(NT_SUCCESS(privileged_space_create(rig->process)));
    sim_mutex_unlock(&rig->vidmm->lock);
    vidmm_updates_init(&companion.updates, rig->mm_device, &companion.context);
}

static void batch_done(void *context)
{
    (void)context;
    companion.done = true;
}

static update_operation map_of(const struct gva_object *object, uint64_t base)
{
    update_operation operation;

    memset(&operation, 0, sizeof(operation));
    operation.OperationType = D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP;
    operation.Map.BaseAddress = base;
    operation.Map.SizeInBytes = PAGES * GVA_PAGE;
    operation.Map.hAllocation = object->handle;
    return operation;
}

static uint64_t reserve(struct gva_rig *rig)
{
    uint64_t base = 1ull << 30; /* in a leaf table of its own */

    CHECK(NT_SUCCESS(gva_reserve(rig, PAGES, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    gva_idle(rig);
    return base;
}

/* Each allocation of the host fails in turn while a batch is carried out. Where the copy cannot be made, the device is in error,
 * and the entries are written without it. */
TEST_WITH(gva, a_copy_that_cannot_be_made_puts_the_device_in_error)
{
    struct gva_object *object = gva_object_resident(rig, PAGES, 0x1000);
    const uint64_t base = reserve(rig);
    const update_operation operation = map_of(object, base);
    unsigned failed = 0, written = 0;
    uint64_t failures;

    companion_open(rig);
    companion.ends = true;
    do {
        D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION unmap = {
            .OperationType = D3DDDI_UPDATEGPUVIRTUALADDRESS_UNMAP};
        struct va_batch *batch;

        unmap.Unmap.BaseAddress = base;
        unmap.Unmap.SizeInBytes = PAGES * GVA_PAGE;
        unmap.Unmap.Protection.NoAccess = 1;
        CHECK(NT_SUCCESS(vidmm_batch_create(rig->mm_device, &operation, 1, &batch)));
        companion.done = false;
        companion.errors = companion.submitted = 0;
        failures = sim_current->heap.failures;
        sim_current->heap.fail_at = sim_current->heap.requests + ++failed;
        vidmm_batch_run(batch, &companion.updates, batch_done, NULL);
        while (!companion.done)
            sim_stall(1000);
        sim_stall(1000);
        sim_current->heap.fail_at = 0;
        CHECK_RULE("GPUVA-151", companion.errors == 0 || companion.submitted == 0);
        if (companion.submitted == 0) /* in error, or the entries are written as by the CPU */
            CHECK_RULE("GPUVA-151", gva_look(rig, base) != GVA_FAULT);
        written += companion.errors;
        CHECK(gva_valid(rig) && object->allocation.claims.copied == 0);
        CHECK(NT_SUCCESS(vidmm_batch_create(rig->mm_device, &unmap, 1, &batch)));
        vidmm_batch_run(batch, &companion.updates, batch_done, NULL);
        CHECK(gva_look(rig, base) == GVA_FAULT);
    } while (sim_current->heap.failures != failures && failed < 1000);
    CHECK_RULE("GPUVA-151", written > 0 && failed > 3 && failed < 1000);
    CHECK(companion.submitted == 1);
    gva_object_destroy(rig, object);
}

/* The worker ends while the GPU copies entries: what the copy held is given back. */
TEST_WITH(gva, a_copy_does_not_outlive_the_worker)
{
    struct gva_object *object = gva_object_resident(rig, PAGES, 0x1000);
    const update_operation operation = map_of(object, reserve(rig));
    struct va_batch *batch;

    companion_open(rig);
    CHECK(NT_SUCCESS(vidmm_batch_create(rig->mm_device, &operation, 1, &batch)));
    vidmm_batch_run(batch, &companion.updates, batch_done, NULL);
    gva_idle(rig);
    CHECK(companion.submitted == 1 && !companion.done);
    CHECK(object->allocation.claims.copied == 1 && !list_empty(&rig->process->space->holds));
    vidmm_stop(rig->vidmm);
    CHECK(companion.done && companion.updates.queue.pending == 0);
    CHECK(object->allocation.claims.copied == 0 && object->allocation.users == 0 &&
          object->allocation.claims.queued == 0 && object->allocation.holds == 0);
    CHECK(list_empty(&rig->process->space->holds) && gva_valid(rig));
    gva_object_destroy(rig, object);
}

/* ---- an allocation of two processes ---- */

/* What another process maps counts with what is there, as everywhere. */
TEST_WITH(gva, a_mapping_of_another_process_excludes_protections)
{
    struct gva_object *object = gva_object_resident(rig, PAGES, 0x1000);
    struct nt_process *nt = nt_process_create("other");
    struct vidmm_process *process;
    struct vidmm_device *device;
    struct vidmm_open open = {.allocation = &object->allocation};
    update_operation operation = map_of(object, reserve(rig));
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, PAGES);
    D3DDDI_RESERVEGPUVIRTUALADDRESS range = {
        .Size = PAGES * GVA_PAGE, .ReservationType = D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS};
    struct va_batch *batch;

    CHECK(NT_SUCCESS(vidmm_process_open(rig->vidmm, nt, &process)));
    CHECK(NT_SUCCESS(vidmm_device_create(process, (HANDLE)(uintptr_t)0xDF, rig, &device)));
    args.DriverProtection = D3DGPU_UNIQUE_DRIVER_PROTECTION | 1;
    CHECK(NT_SUCCESS(gva_map(rig, &args)));
    gva_idle(rig);
    CHECK_RULE("GPUVA-101", !NT_SUCCESS(vidmm_batch_create(rig->mm_device, &operation, 1, &batch)));
    open.device = device;
    open.handle = handle_create(&nt->handles, DDI_CLIENT_ALLOCATION, &open);
    operation.Map.hAllocation = open.handle;
    CHECK(NT_SUCCESS(vidmm_reserve_gpu_va(process, NULL, &range)));
    operation.Map.BaseAddress = range.VirtualAddress;
    CHECK_RULE("GPUVA-101",
               vidmm_batch_create(device, &operation, 1, &batch) == STATUS_INVALID_PARAMETER);
    CHECK(NT_SUCCESS(gva_free(rig, args.VirtualAddress, PAGES)));
    CHECK(NT_SUCCESS(vidmm_batch_create(device, &operation, 1, &batch)));
    vidmm_batch_discard(batch);
    CHECK(handle_remove(&nt->handles, open.handle, DDI_CLIENT_ALLOCATION));
    vidmm_device_destroy(device);
    vidmm_process_close(process);
    nt_process_destroy(nt);
    gva_object_destroy(rig, object);
}

/* ---- the adapter is lost just when the batch has been made ---- */

static struct call {
    struct gva_rig *rig;
    update_operation operation;
    struct va_batch *batch;
    NTSTATUS status;
    bool over;
} call;

static void call_main(void *arg)
{
    (void)arg;
    call.status = vidmm_batch_create(call.rig->mm_device, &call.operation, 1, &call.batch);
    call.over = true;
}

struct hoard {
    struct vidmm_run run[65536];
    unsigned count;
};

static NTSTATUS hoard_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct hoard *hoard = arg;

    (void)turn;
    while (hoard->count < 65536 &&
           NT_SUCCESS(segment_take_pinned(vidmm, GVA_VRAM_SEGMENT, 1, 0, &hoard->run[hoard->count])))
        hoard->count++;
    return STATUS_SUCCESS;
}

static void give_back(struct gva_rig *rig, struct hoard *hoard)
{
    sim_mutex_lock(&rig->vidmm->lock);
    while (hoard->count)
        segment_give_pinned(rig->vidmm, &hoard->run[--hoard->count]);
    sim_mutex_unlock(&rig->vidmm->lock);
}

TEST_WITH(gva, a_batch_does_not_outlive_its_adapter)
{
    static struct hoard hoard;
    struct gva_object *object = gva_object_resident(rig, PAGES, 0x1000);
    struct gva_gate gate;
    struct sim_thread *thread;

    hoard.count = 0;
    call = (struct call){.rig = rig, .operation = map_of(object, reserve(rig))};
    call.status = STATUS_PENDING;
    (void)gva_map_simple(rig, object, PAGES);
    gva_idle(rig);
    sim_mutex_lock(&rig->vidmm->lock);
    CHECK(NT_SUCCESS(tables_stay(rig->process->space))); /* else they make room */
    sim_mutex_unlock(&rig->vidmm->lock);
    CHECK(NT_SUCCESS(paging_run(rig->vidmm, hoard_job, &hoard)));
    gva_gate_close(rig, &gate);
    sim_stall(1000000);
    rig->hold = true;
    (void)gva_map_simple(rig, object, PAGES); /* whose operations the GPU keeps */
    thread = nt_client_thread_create(rig->nt_process, "caller", call_main, NULL);
    CHECK(thread);
    sim_stall(1000000);
    give_back(rig, &hoard); /* it needs the worker, and then it does not */
    gate.open = true;
    sim_waitq_wake(&gate.changed, 1);
    sim_stall(1000000);
    CHECK(!call.over && object->allocation.claims.queued == 1);
    vidmm_set_lost(rig->vidmm);
    rig->hold = false;
    gva_release(rig);
    while (!call.over)
        sim_stall(1000);
    sim_thread_release(thread);
    CHECK(call.status == STATUS_DEVICE_REMOVED && !call.batch);
    CHECK(object->allocation.claims.queued == 0);
    rig->vidmm->lost = false; /* for what follows */
    gva_object_destroy(rig, object);
}
