/* SPDX-License-Identifier: MIT */
/* The worker: in which order it serves queues, and what becomes of jobs when devices are lost or the adapter stops. */
#include "sim/mutex.h"
#include "sim/point.h"
#include "support/gva_gate.h"
#include "support/gva_rig.h"
#include "support/gva_updates.h"

#define GB (1ull << 30)

extern const struct vidmm_scheduler gva_scheduler;

static char order[16];
static unsigned ran;
static NTSTATUS released[16];
static unsigned releases;

static NTSTATUS note_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)vidmm;
    (void)turn;
    order[ran++] = *(const char *)arg;
    order[ran] = '\0';
    return STATUS_SUCCESS;
}

static void note_release(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    (void)vidmm;
    (void)arg;
    released[releases++] = status;
}

static void post(struct gva_rig *rig, struct paging_queue *queue, const char *name)
{
    sim_mutex_lock(&rig->vidmm->lock);
    CHECK(NT_SUCCESS(paging_post(queue, note_job, note_release, (void *)(uintptr_t)name)));
    sim_mutex_unlock(&rig->vidmm->lock);
}

static void begin(void)
{
    ran = releases = 0;
    order[0] = '\0';
}

static struct vidmm_paging_queue *make_queue(struct vidmm_device *device,
                                             D3DDDI_PAGINGQUEUE_PRIORITY priority)
{
    struct vidmm_paging_queue *queue;

    CHECK(NT_SUCCESS(vidmm_paging_queue_create(device, priority, NULL, NULL, &queue)));
    return queue;
}

/* ---- order ---- */

TEST_WITH(gva, priorities_count_inside_a_device)
{
    struct vidmm_paging_queue *low, *high, *other, *same;
    struct vidmm_device *device;
    struct gva_gate gate;

    begin();
    low = make_queue(rig->mm_device, D3DDDI_PAGINGQUEUE_PRIORITY_BELOW_NORMAL);
    high = make_queue(rig->mm_device, D3DDDI_PAGINGQUEUE_PRIORITY_ABOVE_NORMAL);
    same = make_queue(rig->mm_device, D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL);
    CHECK(NT_SUCCESS(vidmm_device_create(rig->process, NULL, &device, &device)));
    other = make_queue(device, D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL);
    gva_gate_close(rig, &gate);
    sim_stall(1000000);
    post(rig, &other->base, "o");
    post(rig, &low->base, "l");
    post(rig, &rig->queue->base, "n");
    post(rig, &same->base, "s");
    post(rig, &high->base, "h");
    post(rig, &high->base, "H");
    gva_gate_open(rig, &gate);
    /* the other device has waited longest; of ours the highest goes first */
    CHECK(strcmp(order, "ohHnsl") == 0);
    CHECK(ran == 6 && releases == 6);
    for (unsigned i = 0; i < 6; i++)
        CHECK(released[i] == STATUS_SUCCESS);
    vidmm_device_destroy(device);
}

TEST_WITH(gva, the_host_waits_for_no_device)
{
    struct vidmm_paging_queue *high;
    struct gva_gate gate;

    begin();
    high = make_queue(rig->mm_device, D3DDDI_PAGINGQUEUE_PRIORITY_ABOVE_NORMAL);
    gva_gate_close(rig, &gate);
    sim_stall(1000000);
    post(rig, &rig->vidmm->mmu->chores, "c");
    post(rig, &high->base, "h");
    post(rig, &rig->vidmm->mmu->chores, "C");
    gva_gate_open(rig, &gate);
    CHECK(strcmp(order, "chC") == 0);
}

TEST_WITH(gva, priorities_are_three)
{
    struct vidmm_paging_queue *queue = NULL;

    CHECK_RULE("GPUVA-065",
               vidmm_paging_queue_create(rig->mm_device, (D3DDDI_PAGINGQUEUE_PRIORITY)-2, NULL,
                                         NULL, &queue) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-065",
               vidmm_paging_queue_create(rig->mm_device, (D3DDDI_PAGINGQUEUE_PRIORITY)2, NULL, NULL,
                                         &queue) == STATUS_INVALID_PARAMETER);
    CHECK(queue == NULL);
    for (int priority = -1; priority <= 1; priority++) {
        queue = make_queue(rig->mm_device, (D3DDDI_PAGINGQUEUE_PRIORITY)priority);
        CHECK_RULE("GPUVA-065", queue->base.priority == priority);
        CHECK(vidmm_paging_queue_device(queue) == rig->mm_device);
        vidmm_paging_queue_destroy(queue);
    }
}

/* ---- jobs in jobs ---- */

struct nested {
    NTSTATUS status;
    bool owner, may_build;
};

static NTSTATUS inner_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct nested *nested = arg;

    (void)turn;
    nested->may_build = paging_may_build(vidmm);
    return STATUS_NOT_FOUND;
}

static NTSTATUS outer_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct nested *nested = arg;

    (void)turn;
    nested->status = paging_run(vidmm, inner_job, nested);
    nested->owner = vidmm->lock.owner == sim_current->thread;
    return STATUS_SUCCESS;
}

TEST_WITH(gva, a_job_may_run_another_one_inside)
{
    struct nested nested = {.status = STATUS_PENDING};

    CHECK(paging_run(rig->vidmm, outer_job, &nested) == STATUS_SUCCESS);
    CHECK(nested.status == STATUS_NOT_FOUND && nested.owner && nested.may_build);
    CHECK(!paging_may_build(rig->vidmm));
    CHECK(paging_run(rig->vidmm, inner_job, &nested) == STATUS_NOT_FOUND);
}

/* ---- losses ---- */

TEST_WITH(gva, the_fences_of_a_lost_device_are_signaled)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    D3DDDI_MAPGPUVIRTUALADDRESS first = gva_map_args(object, 8), second = gva_map_args(object, 8);
    struct gva_gate gate;

    gva_gate_close(rig, &gate);
    sim_stall(1000000);
    CHECK(gva_map(rig, &first) == STATUS_PENDING && gva_map(rig, &second) == STATUS_PENDING);
    CHECK(rig->progress == 0);
    vidmm_device_set_lost(rig->mm_device);
    sim_stall(1000000);
    CHECK_RULE("GPUVA-073", rig->progress == second.PagingFenceValue);
    CHECK(gva_map(rig, &first) == STATUS_DEVICE_REMOVED);
    gva_gate_open(rig, &gate);
    CHECK(rig->progress == second.PagingFenceValue && gva_valid(rig));
    CHECK(rig->queue->done == second.PagingFenceValue);
    CHECK(gva_free(rig, second.VirtualAddress, 8) == STATUS_SUCCESS);
    gva_object_destroy(rig, object);
}

/* On a lost adapter the jobs of clients are not run, those of the host clean up. */
TEST_WITH(gva, a_lost_adapter_does_nothing_for_clients)
{
    struct gva_gate gate;

    begin();
    gva_gate_close(rig, &gate);
    sim_stall(1000000);
    post(rig, &rig->queue->base, "n");
    post(rig, &rig->vidmm->mmu->chores, "c");
    rig->vidmm->lost = true;
    gate.open = true;
    sim_waitq_wake(&gate.changed, 1);
    sim_stall(1000000);
    CHECK(strcmp(order, "c") == 0 && releases == 2);
    CHECK_RULE("PAGE-082",
               released[0] == STATUS_DEVICE_REMOVED && released[1] == STATUS_DEVICE_REMOVED);
    rig->vidmm->lost = false;
}

/* Jobs that are left when the adapter stops are dropped, and told so. */
TEST_WITH(gva_bare, a_stop_drops_what_is_left)
{
    struct gva_gate gate;

    begin();
    CHECK(NT_SUCCESS(gva_start(rig)));
    gva_gate_close(rig, &gate);
    sim_stall(1000000);
    post(rig, &rig->vidmm->mmu->chores, "c");
    post(rig, &rig->vidmm->mmu->chores, "d");
    CHECK(rig->vidmm->mmu->chores.pending == 2);
    gate.open = true;
    rig->vidmm->stopping = true;
    sim_waitq_wake(&gate.changed, 1);
    gva_stop(rig);
    CHECK(ran == 0 && releases == 2);
    CHECK(released[0] == STATUS_DEVICE_REMOVED && released[1] == STATUS_DEVICE_REMOVED);
}

/* ---- without a buffer ---- */

/* Each operation of the tables of the paging process that was built since the mark. */
static void check_immediate(struct gva_rig *rig, HANDLE system_context)
{
    uint32_t seen = 0;

    for (uint32_t i = 0; i < gva_op_count(rig, -1); i++) {
        const DXGKARG_BUILDPAGINGBUFFER *args = &gva_op_at(rig, -1, i)->args;

        if (!gva_op_at(rig, -1, i)->immediate)
            continue;
        seen++;
        CHECK(args->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE);
        CHECK_RULE("GPUVA-186", !args->pDmaBuffer && args->DmaSize == 0);
        CHECK_RULE("GPUVA-186", !args->pDmaBufferPrivateData && args->DmaBufferPrivateDataSize == 0);
        CHECK(args->MultipassOffset == 0 && args->DmaBufferGpuVirtualAddress == 0 &&
              args->DmaBufferWriteOffset == 0);
        CHECK(args->hSystemContext == system_context);
    }
    CHECK(seen > 0);
}

TEST_WITH(gva_bare, what_is_built_without_a_buffer_has_none)
{
    struct vidmm_statistics before, after;
    uint32_t cursor = 0;
    uint64_t key;
    void *value;

    CHECK(NT_SUCCESS(gva_start(rig)));
    check_immediate(rig, gva_scheduler.system_context(&rig->ddi));
    vidmm_statistics(rig->vidmm, &before);
    CHECK(before.paging_operations == gva_op_count(rig, -1) && before.paging_buffers == 0);
    CHECK(before.page_table_updates >= 512 * 512);
    vidmm_reset_cleanup(rig->vidmm);
    while (hash_next(&rig->tables, &cursor, &key, &value))
        ((struct gva_table *)value)->initialised = false;
    gva_mark(rig);
    CHECK(NT_SUCCESS(vidmm_reset_restore(rig->vidmm)));
    check_immediate(rig, gva_scheduler.system_context(&rig->ddi));
    vidmm_statistics(rig->vidmm, &after);
    CHECK(after.paging_operations - before.paging_operations == gva_op_count(rig, -1));
    gva_stop(rig);
}
