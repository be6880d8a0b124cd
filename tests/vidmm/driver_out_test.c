/* SPDX-License-Identifier: MIT */
/* Callbacks of drivers that wait while a reset wants the driver out, contexts that leave while a root is announced, and context allocations that are left. */
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/point.h"
#include "sim/thread.h"
#include "support/gva_context.h"
#include "support/gva_rig.h"
#include "support/gva_updates.h"
#include "vidmm/paging/driver_run.h"

#define SPAN (512ull * 4096)
#define GB   (1ull << 30)
#define INIT DXGK_OPERATION_INIT_CONTEXT_RESOURCE

/* ---- let out ---- */

static struct gva_context client;

struct caller {
    struct gva_rig *rig;
    void (*call)(struct caller *caller);
    DXGKARGCB_CREATECONTEXTALLOCATION create;
    HANDLE handle;
    D3DGPU_VIRTUAL_ADDRESS address;
    NTSTATUS status;
    bool done;
};

static void call_main(void *arg)
{
    struct caller *caller = arg;

    caller->call(caller);
    caller->done = true;
}

static void begin(struct gva_rig *rig, struct caller *caller, void (*call)(struct caller *caller))
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    client = (struct gva_context){0};
    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    *caller = (struct caller){.rig = rig,
                              .call = call,
                              .create = gva_context_request(&client),
                              .handle = args.hAllocation,
                              .address = 0x77,
                              .status = STATUS_PENDING};
}

/* One call waits for the lock, is let out, and finds nothing done. */
static void let_out(struct caller *caller)
{
    struct vidmm *vidmm = caller->rig->vidmm;

    sim_mutex_lock(&vidmm->lock);
    sim_thread_release(sim_thread_create("caller", SIM_THREAD_KERNEL, call_main, caller));
    sim_stall(1000000);
    CHECK(!caller->done && !list_empty(&vidmm->driver.waiters));
    vidmm_let_driver_out(vidmm, true);
    sim_stall(1000000);
    CHECK(caller->done);
    CHECK(list_empty(&vidmm->driver.waiters));
}

/* Another one does not even wait. */
static void once_more(struct caller *caller)
{
    caller->done = false;
    caller->status = STATUS_PENDING;
    sim_thread_release(sim_thread_create("caller", SIM_THREAD_KERNEL, call_main, caller));
    sim_stall(1000000);
    CHECK(caller->done);
}

static void end(struct caller *caller)
{
    struct vidmm *vidmm = caller->rig->vidmm;

    vidmm_let_driver_out(vidmm, false);
    sim_mutex_unlock(&vidmm->lock);
    gva_idle(caller->rig);
    CHECK(gva_valid(caller->rig));
    if (context_allocation_find(&caller->rig->ddi, caller->handle))
        CHECK(gva_context_destroy(caller->rig, caller->handle) == STATUS_SUCCESS);
    gva_context_close(caller->rig, &client);
}

static void create(struct caller *caller)
{
    caller->create.hAllocation = (HANDLE)(uintptr_t)0x77;
    caller->status = gva_context_create(caller->rig, &caller->create);
}

TEST_WITH(gva, a_creation_is_let_out)
{
    struct caller caller;

    begin(rig, &caller, create);
    let_out(&caller);
    CHECK_RULE("CTXA-028",
               caller.status == STATUS_UNSUCCESSFUL && caller.create.hAllocation == NULL);
    CHECK_RULE("CTXA-028", verify_rule_count(rig->base.log, "CTXA-028") == 1);
    once_more(&caller);
    CHECK_RULE("CTXA-028", caller.status == STATUS_UNSUCCESSFUL &&
                               verify_rule_count(rig->base.log, "CTXA-028") == 2);
    CHECK(rig->vidmm->contexts.uncommitted == 1);
    end(&caller);
}

static void map(struct caller *caller)
{
    caller->address = gva_context_map(caller->rig, caller->handle, GB, 0, 1, 0);
}

TEST_WITH(gva, a_mapping_is_let_out)
{
    struct caller caller;

    begin(rig, &caller, map);
    let_out(&caller);
    CHECK_RULE("CTXA-044", caller.address == 0 && verify_rule_count(rig->base.log, "CTXA-044") == 1);
    once_more(&caller);
    CHECK_RULE("CTXA-044", verify_rule_count(rig->base.log, "CTXA-044") == 2);
    end(&caller);
}

static void update(struct caller *caller)
{
    const DXGKARGCB_UPDATECONTEXTALLOCATION args = {.hAllocation = caller->handle};

    caller->status = vidmm_cb_update_context_allocation(&caller->rig->ddi, &args);
}

TEST_WITH(gva, an_update_is_let_out)
{
    struct caller caller;

    begin(rig, &caller, update);
    let_out(&caller);
    CHECK_RULE("CTXA-061", caller.status == STATUS_UNSUCCESSFUL &&
                               verify_rule_count(rig->base.log, "CTXA-061") == 1);
    once_more(&caller);
    CHECK_RULE("CTXA-061", caller.status == STATUS_UNSUCCESSFUL &&
                               verify_rule_count(rig->base.log, "CTXA-061") == 2);
    CHECK(gva_op_count(rig, DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION) == 0);
    end(&caller);
}

static void reserve(struct caller *caller)
{
    DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE args = {.hDxgkProcess = caller->handle,
                                                    .SizeInBytes = SPAN};

    caller->status = vidmm_cb_reserve_gpu_va(&caller->rig->ddi, &args);
}

TEST_WITH(gva, a_reservation_is_let_out)
{
    struct caller caller;

    begin(rig, &caller, reserve);
    let_out(&caller);
    CHECK(caller.status == STATUS_UNSUCCESSFUL && verify_rule_count(rig->base.log, "TDR-011") == 1);
    end(&caller);
}

static void destroy(struct caller *caller)
{
    caller->status = vidmm_cb_destroy_context_allocation(&caller->rig->ddi, caller->handle);
}

/* The handle is gone at once, the memory when the worker goes on. */
TEST_WITH(gva, a_destruction_is_let_out_and_made_later)
{
    struct caller caller;

    begin(rig, &caller, destroy);
    let_out(&caller);
    CHECK_RULE("CTXA-062", caller.status == STATUS_SUCCESS);
    CHECK(!context_allocation_find(&rig->ddi, caller.handle));
    CHECK(!list_empty(&rig->vidmm->contexts.all));
    once_more(&caller);
    CHECK_RULE("CTXA-063", caller.status == STATUS_INVALID_PARAMETER &&
                               verify_rule_count(rig->base.log, "CTXA-063") == 1);
    end(&caller);
    CHECK(list_empty(&rig->vidmm->contexts.all) && rig->vidmm->contexts.uncommitted == 0);
    CHECK(verify_rule_count(rig->base.log, "CTXA-066") == 0);
    CHECK(rig->vidmm->segment[1].mapped_bytes == segment_own_bytes(&rig->vidmm->segment[1]));
}

/* ---- announcements ---- */

static void dawdle(struct gva_rig *rig, const DXGKARG_SETROOTPAGETABLE *args)
{
    (void)args;
    rig->on_set_root = NULL;
    sim_stall(5000000);
}

static void attach(struct caller *caller)
{
    (void)caller;
    gva_context_attach(&client);
}

TEST_WITH(gva, a_context_leaves_after_the_announcement)
{
    struct caller caller = {.rig = rig, .call = attach};
    struct vidmm_context other;
    uint64_t begun;

    client = (struct gva_context){0};
    gva_context_open(rig, &client, true);
    vidmm_context_init(&other, rig->mm_device, true, false);
    rig->on_set_root = dawdle;
    begun = sim_now();
    sim_thread_release(sim_thread_create("caller", SIM_THREAD_KERNEL, call_main, &caller));
    sim_stall(1000000);
    CHECK(!caller.done && rig->process->space->announcing == 1);
    vidmm_context_detach(&other);
    CHECK(rig->process->space->announcing == 0 && sim_now() - begun >= 5000000);
    CHECK(!other.virtual_addressing);
    sim_stall(1000000);
    CHECK(caller.done);
    vidmm_context_finish(&other);
    gva_context_close(rig, &client);
}

/* ---- what is left ---- */

static HANDLE make_shared(struct gva_rig *rig, HANDLE device)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = gva_context_request(&client);

    args.hDevice = device;
    args.hContext = NULL;
    args.ContextAllocationFlags.SharedAcrossContexts = 1;
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    return args.hAllocation;
}

TEST_WITH(gva, a_device_that_goes_takes_its_own_along)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    HANDLE one, two;

    client = (struct gva_context){0};
    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    one = make_shared(rig, client.device);
    two = make_shared(rig, client.device);
    CHECK(rig->vidmm->contexts.uncommitted == 3);
    vidmm_device_gone(rig->vidmm, (HANDLE)(uintptr_t)0x77);
    CHECK(verify_rule_count(rig->base.log, "CTXA-066") == 0);
    vidmm_device_gone(rig->vidmm, client.device);
    gva_idle(rig);
    CHECK_RULE("CTXA-066", verify_rule_count(rig->base.log, "CTXA-066") == 2);
    CHECK(!context_allocation_find(&rig->ddi, one) && !context_allocation_find(&rig->ddi, two));
    CHECK(context_allocation_find(&rig->ddi, args.hAllocation));
    CHECK(rig->vidmm->contexts.uncommitted == 1);
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

/* ---- without memory ---- */

TEST_WITH(gva, a_first_use_without_memory_is_tried_again)
{
    struct util_heap *heap = &sim_current->heap;
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    NTSTATUS status = STATUS_NO_MEMORY;
    unsigned failures = 0;

    client = (struct gva_context){0};
    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    args.SupportedSegmentSet = 2;
    args.Flags.Value = 1 | 8; /* with a view */
    args.ContextAllocationFlags.MapGpuVirtualAddress = 1;
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    for (uint64_t n = 1; !NT_SUCCESS(status); n++) {
        CHECK(!context_allocations_ready(&client.context));
        heap->fail_at = heap->requests + n;
        status = vidmm_context_prepare(&client.context);
        heap->fail_at = 0;
        failures += !NT_SUCCESS(status);
        CHECK(NT_SUCCESS(status) || status == STATUS_NO_MEMORY);
        CHECK(gva_op_count(rig, INIT) == (NT_SUCCESS(status) ? 1 : 0));
        CHECK(n < 100 && gva_valid(rig));
    }
    CHECK(failures > 3 && context_allocations_ready(&client.context));
    CHECK(gva_op_at(rig, INIT, 0)->args.InitContextResource.Destination.VirtualAddress);
    CHECK(gva_op_at(rig, INIT, 0)->args.InitContextResource.Destination.pMdl);
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

static void in_system_memory(struct gva_options *options)
{
    for (unsigned level = 0; level < 4; level++)
        options->level[level].PageTableSegmentId = 0;
}

TEST_WITH(gva, tables_of_system_memory_without_memory, in_system_memory(options))
{
    struct gva_object *object = gva_object_resident(rig, 64, 0x1000);
    struct util_heap *heap = &sim_current->heap;
    NTSTATUS status = STATUS_NO_MEMORY;
    uint64_t tables, frames, failures = 0;

    gva_idle(rig);
    tables = rig->vidmm->mmu->tables;
    frames = ram_free_pages(rig->base.ram);
    for (uint64_t n = 1; !NT_SUCCESS(status); n++) {
        heap->fail_at = heap->requests + n;
        status = gva_map_part(rig, object, 5 * GB - 8 * 4096, 0, 16);
        heap->fail_at = 0;
        if (!NT_SUCCESS(status))
            CHECK_RULE("GPUVA-151", status == STATUS_NO_MEMORY &&
                                        rig->vidmm->mmu->tables == tables &&
                                        ram_free_pages(rig->base.ram) == frames && gva_valid(rig));
        failures += !NT_SUCCESS(status);
        CHECK(n < 200);
    }
    CHECK(failures > 8 && rig->vidmm->mmu->tables == tables + 5);
    CHECK(frames - ram_free_pages(rig->base.ram) >= 5);
    CHECK(gva_entry_page(gva_look(rig, 5 * GB)) == 0x1008);
    CHECK(gva_free(rig, 5 * GB - 8 * 4096, 16) == STATUS_SUCCESS);
    gva_idle(rig);
    CHECK(rig->vidmm->mmu->tables == tables && ram_free_pages(rig->base.ram) == frames);
    gva_object_destroy(rig, object);
}

/* Zero on pages of a reservation holds the tables at both of its edges. */
TEST_WITH(gva, an_edge_without_memory_leaves_none)
{
    struct util_heap *heap = &sim_current->heap;
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(NULL, 3 * 512);
    uint64_t base = 4 * GB, tables, failures = 0;
    NTSTATUS status = STATUS_NO_MEMORY;

    CHECK(NT_SUCCESS(gva_reserve(rig, 8 * 512, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    gva_idle(rig);
    tables = rig->vidmm->mmu->tables;
    args.Protection.Zero = 1;
    args.BaseAddress = base + SPAN + 8 * 4096;
    for (uint64_t n = 1; !NT_SUCCESS(status); n++) {
        heap->fail_at = heap->requests + n;
        status = gva_map(rig, &args);
        heap->fail_at = 0;
        if (!NT_SUCCESS(status))
            CHECK_RULE("GPUVA-151", status == STATUS_NO_MEMORY &&
                                        rig->vidmm->mmu->tables == tables && gva_valid(rig));
        failures += !NT_SUCCESS(status);
        CHECK(n < 200);
    }
    CHECK(failures > 3);
    CHECK((gva_look(rig, args.BaseAddress) & GVA_ZERO) &&
          (gva_look(rig, args.BaseAddress + 3 * SPAN - 4096) & GVA_ZERO) &&
          (gva_look(rig, base + 2 * SPAN) & GVA_ZERO));
    CHECK(gva_look(rig, args.BaseAddress - 4096) == GVA_FAULT);
    CHECK(gva_look(rig, args.BaseAddress + 3 * SPAN) == GVA_FAULT && gva_valid(rig));
    CHECK(gva_free(rig, base, 8 * 512) == STATUS_SUCCESS);
    gva_idle(rig);
    CHECK(rig->vidmm->mmu->tables == tables);
}

/* The IOMMU has no address for a table, nor for the memory of a fence. */
TEST_WITH(gva, what_the_device_cannot_reach_is_not_made, in_system_memory(options))
{
    struct gva_object *object = gva_object_resident(rig, 64, 0x1000);
    struct vidmm_fence_memory *memory = NULL;
    uint64_t tables, frames;

    gva_idle(rig);
    tables = rig->vidmm->mmu->tables;
    frames = ram_free_pages(rig->base.ram);
    iommu_domain_set_highest(rig->base.domain, (struct logical_addr){4096 - 1});
    CHECK(gva_map_part(rig, object, 5 * GB, 0, 16) == STATUS_NO_MEMORY);
    CHECK(rig->vidmm->mmu->tables == tables && ram_free_pages(rig->base.ram) == frames);
    CHECK(vidmm_fence_memory_create(rig->process, &memory) == STATUS_NO_MEMORY && !memory);
    CHECK(ram_free_pages(rig->base.ram) == frames && gva_valid(rig));
    gva_object_destroy(rig, object);
}
