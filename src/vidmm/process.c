/* SPDX-License-Identifier: MIT */
/* Processes on an adapter, their devices, and the paging queues of devices. */
#include "vidmm/process.h"
#include "ddi/ddi.h"
#include "iommu/pasid.h"
#include "nt/base/kprocess.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/allocation/destroy.h"
#include "vidmm/context/context_allocation.h"
#include "vidmm/context/fence_memory.h"
#include "vidmm/paging/follow.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/residency/lock_wait.h"
#include "vidmm/space/address_space.h"

#include <limits.h>

/* ---- processes ---- */

static struct vidmm_process *find_process(struct vidmm *vidmm, const struct nt_process *nt)
{
    LIST_FOR(node, &vidmm->processes) {
        struct vidmm_process *process = CONTAINER(node, struct vidmm_process, link);

        if (process->nt == nt)
            return process;
    }
    return NULL;
}

/* The name of the process, with its end; its length without. */
static UINT wide_name(const struct nt_process *nt, WCHAR *name)
{
    UINT length = 0;

    for (; length < sizeof(nt->name) - 1 && nt->name[length]; length++)
        name[length] = (WCHAR)(unsigned char)nt->name[length];
    name[length] = 0;
    return length;
}

static NTSTATUS tell_driver(struct vidmm_process *process)
{
    struct vidmm *vidmm = process->vidmm;
    DXGKARG_CREATEPROCESS args = {.hDxgkProcess = process->host_handle};
    ULONG pasid = process->pasid; /* the driver may use these only during the call */
    WCHAR name[sizeof(process->nt->name)];
    NTSTATUS status = STATUS_SUCCESS;

    if (!ddi_has(vidmm->ddi, DxgkDdiCreateProcess))
        return status;
    /* GPUVA-034, IOMMU-103: one per linked adapter, but there are no linked adapters */
    if (pasid) {
        args.NumPasid = 1;
        args.pPasid = &pasid;
    }
    if (process->nt && vidmm->config.wddm_version >= DXGKDDI_INTERFACE_VERSION_WDDM2_4) {
        args.ProcessNameLength = wide_name(process->nt, name); /* GPUVA-035 */
        args.pProcessName = args.ProcessNameLength ? name : NULL;
    }
    process->in_create_process = true;
    status = ddi_create_process(vidmm->ddi, &args);
    process->in_create_process = false;
    if (NT_SUCCESS(status)) {
        process->driver_handle = args.hKmdProcess;
        process->ready = true;
    }
    return status;
}

/* The process must be off the list. Lock not held. */
static void process_destroy(struct vidmm_process *process)
{
    struct vidmm *vidmm = process->vidmm;

    fence_memory_finish(process);
    if (process->space) {
        sim_mutex_lock(&vidmm->lock);
        if (process->privileged)
            space_destroy(process->privileged);
        space_destroy(process->space);
        sim_mutex_unlock(&vidmm->lock);
    }
    if (process->pasid)
        iommu_pasid_retire(vidmm->config.pasids, process->pasid); /* IOMMU-108 */
    if (process->ready) {
        NTSTATUS status = ddi_destroy_process(vidmm->ddi, process->driver_handle);

        if (ddi_driver_failed(vidmm->ddi, status))
            VIOLATION("GPUVA-038", "DxgkDdiDestroyProcess returned 0x%08X", (unsigned)status);
    }
    if (process->pasid)
        iommu_pasid_destroy(vidmm->config.pasids, process->pasid);
    process_record_free(process);
}

static NTSTATUS process_create(struct vidmm *vidmm, struct nt_process *nt,
                               struct vidmm_process **out)
{
    struct vidmm_process *process = process_record_new(vidmm, nt);
    NTSTATUS status = STATUS_SUCCESS;

    if (!process)
        return STATUS_NO_MEMORY;
    if (vidmm->config.pasids) { /* IOMMU-102 */
        process->pasid = iommu_pasid_create(vidmm->config.pasids);
        status = process->pasid ? STATUS_SUCCESS
                                : refuse(STATUS_NO_MEMORY, "IOMMU-102", "no PASID is left");
    }
    if (NT_SUCCESS(status) && vidmm->config.gpu_mmu) {
        sim_mutex_lock(&vidmm->lock);
        status = vidmm_status(space_create(vidmm, process, false, &process->space));
        sim_mutex_unlock(&vidmm->lock);
    }
    if (NT_SUCCESS(status))
        status = tell_driver(process);
    if (!NT_SUCCESS(status)) {
        process_destroy(process);
        return status;
    }
    *out = process;
    return status;
}

/*
 * A process of which one thread makes or unmakes the record, with calls of the driver in between:
 * others of that process wait meanwhile, those of other processes do not, since the driver is
 * called for them at the same time (THREAD-022).
 */
struct change {
    struct list link;
    const struct nt_process *nt;
};

static bool is_changing(struct vidmm *vidmm, const struct nt_process *nt)
{
    LIST_FOR(node, &vidmm->process_changes)
        if (CONTAINER(node, struct change, link)->nt == nt)
            return true;
    return false;
}

static void wait_for_change(struct vidmm *vidmm, const struct nt_process *nt)
{
    while (is_changing(vidmm, nt))
        sim_waitq_wait(&vidmm->process_changed, SIM_FOREVER);
}

static void begin_change(struct vidmm *vidmm, struct change *change, const struct nt_process *nt)
{
    change->nt = nt;
    list_push_back(&vidmm->process_changes, &change->link);
}

static void end_change(struct vidmm *vidmm, struct change *change)
{
    list_remove(&change->link);
    sim_waitq_wake(&vidmm->process_changed, UINT_MAX);
}

NTSTATUS vidmm_process_open(struct vidmm *vidmm, struct nt_process *nt, struct vidmm_process **out)
{
    struct vidmm_process *process;
    struct change change;
    NTSTATUS status;

    wait_for_change(vidmm, nt);
    process = find_process(vidmm, nt);
    if (process) {
        process->references++;
        *out = process;
        return STATUS_SUCCESS;
    }
    begin_change(vidmm, &change, nt);
    status = process_create(vidmm, nt, &process);
    if (NT_SUCCESS(status)) {
        list_push_back(&vidmm->processes, &process->link);
        *out = process;
    }
    end_change(vidmm, &change);
    return status;
}

void vidmm_process_close(struct vidmm_process *process)
{
    struct vidmm *vidmm = process->vidmm;
    struct change change;

    if (sim_current->stopped)
        return; /* the machine's heap frees what remains */
    if (--process->references > 0)
        return;
    list_remove(&process->link);
    begin_change(vidmm, &change, process->nt);
    while (process->holds)
        sim_waitq_wait(&process->idle, SIM_FOREVER);
    process_destroy(process);
    end_change(vidmm, &change);
}

ULONG vidmm_process_pasid(const struct vidmm_process *process)
{
    return process->pasid;
}

HANDLE vidmm_process_driver_handle(const struct vidmm_process *process)
{
    return process->driver_handle;
}

struct nt_process *vidmm_process_nt(const struct vidmm_process *process)
{
    return process->nt;
}

struct vidmm_process *vidmm_paging_process(struct vidmm *vidmm)
{
    return vidmm->paging_process;
}

/* ---- devices ---- */

static void device_free(struct vidmm_device *device)
{
    util_free(device->listed);
    util_free(device->charged);
    util_free(device);
}

NTSTATUS vidmm_device_create(struct vidmm_process *process, HANDLE driver_device, void *owner,
                             struct vidmm_device **out)
{
    struct vidmm *vidmm = process->vidmm;
    struct vidmm_device *device = util_zalloc(1, sizeof(*device));

    if (!device)
        return STATUS_NO_MEMORY;
    device->process = process;
    device->driver_handle = driver_device;
    device->owner = owner;
    list_init(&device->opens);
    list_init(&device->residency);
    list_init(&device->queues);
    list_init(&device->resource_opens);
    list_init(&device->missing_list);
    list_init(&device->joining_list);
    list_init(&device->portions);
    list_init(&device->dying);
    list_init(&device->tell_link);
    sim_waitq_init(&device->idle);
    paging_queue_init(&device->prepare, vidmm, device, 2);
    device->listed = util_zalloc(vidmm->segment_count + 1, sizeof(*device->listed));
    device->charged = util_zalloc(vidmm->segment_count + 1, sizeof(*device->charged));
    if (!device->listed || !device->charged || !NT_SUCCESS(allocation_prepare_close(device)) ||
        !NT_SUCCESS(follow_start(device))) {
        allocation_close_all(device);
        device_free(device);
        return STATUS_NO_MEMORY;
    }
    sim_mutex_lock(&vidmm->lock);
    list_push_back(&vidmm->devices, &device->link);
    sim_mutex_unlock(&vidmm->lock);
    *out = device;
    return STATUS_SUCCESS;
}

void vidmm_device_set_legacy(struct vidmm_device *device)
{
    device->legacy = true;
}

void vidmm_device_destroy(struct vidmm_device *device)
{
    struct vidmm *vidmm = device->process->vidmm;

    if (sim_current->stopped)
        return;
    while (!list_empty(&device->queues))
        vidmm_paging_queue_destroy(CONTAINER(device->queues.next, struct vidmm_paging_queue, link));
    device->held = false;
    allocation_close_all(device);
    sim_mutex_lock(&vidmm->lock);
    paging_queue_drain(&device->prepare);
    follow_stop(device);
    list_remove(&device->link);
    list_remove(&device->tell_link);
    sim_mutex_unlock(&vidmm->lock);
    while (device->pins)
        sim_waitq_wait(&device->idle, SIM_FOREVER);
    paging_poke(vidmm);
    device_free(device);
}

void vidmm_device_gone(struct vidmm *vidmm, HANDLE host_device)
{
    if (!sim_current->stopped)
        context_allocation_device_gone(vidmm, host_device);
}

void *vidmm_device_owner(const struct vidmm_device *device)
{
    return device->owner;
}

struct vidmm_process *vidmm_device_process(const struct vidmm_device *device)
{
    return device->process;
}

static void queue_news(struct vidmm_paging_queue *queue)
{
    if (queue->done > queue->told && list_empty(&queue->tell_link))
        list_push_back(&queue->base.vidmm->tell, &queue->tell_link);
}

/* Without the lock: atomic, since no sim point passes. */
void vidmm_device_set_lost(struct vidmm_device *device)
{
    struct vidmm *vidmm = device->process->vidmm;

    device->lost = true;
    LIST_FOR(node, &device->queues) {
        struct vidmm_paging_queue *queue = CONTAINER(node, struct vidmm_paging_queue, link);

        queue->done = queue->assigned; /* GPUVA-073: waiters are woken */
        queue_news(queue);
    }
    paging_tell(vidmm);
    lock_wait_wake(vidmm);
    paging_poke(vidmm); /* others may now take the memory of its list */
}

/* ---- paging queues ---- */

NTSTATUS vidmm_paging_queue_create(struct vidmm_device *device, D3DDDI_PAGINGQUEUE_PRIORITY priority,
                                   void (*progress)(void *context, uint64_t value), void *context,
                                   struct vidmm_paging_queue **out)
{
    struct vidmm *vidmm = device->process->vidmm;
    struct vidmm_paging_queue *queue;

    if (priority < D3DDDI_PAGINGQUEUE_PRIORITY_BELOW_NORMAL ||
        priority > D3DDDI_PAGINGQUEUE_PRIORITY_ABOVE_NORMAL)
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-065", "priority %d of a paging queue",
                      (int)priority);
    queue = util_zalloc(1, sizeof(*queue));
    if (!queue)
        return STATUS_NO_MEMORY;
    paging_queue_init(&queue->base, vidmm, device, priority);
    queue->base.client = true;
    queue->progress = progress;
    queue->context = context;
    list_init(&queue->tell_link);
    list_push_back(&device->queues, &queue->link);
    *out = queue;
    return STATUS_SUCCESS;
}

void vidmm_paging_queue_destroy(struct vidmm_paging_queue *queue)
{
    struct vidmm *vidmm = queue->base.vidmm;

    if (sim_current->stopped)
        return;
    sim_mutex_lock(&vidmm->lock);
    paging_queue_drain(&queue->base);
    sim_mutex_unlock(&vidmm->lock);
    while (queue->telling || !list_empty(&queue->tell_link))
        sim_waitq_wait(&queue->base.idle, SIM_FOREVER);
    list_remove(&queue->link);
    util_free(queue);
}

uint64_t vidmm_paging_queue_handle(const struct vidmm_paging_queue *queue)
{
    return vidmm_queue_handle(&queue->base);
}

struct vidmm_device *vidmm_paging_queue_device(const struct vidmm_paging_queue *queue)
{
    return queue->base.device;
}
