/* SPDX-License-Identifier: MIT */
/* Updates of context allocations, and callbacks from within the driver's own calls. */
#include "bus/memory.h"
#include "support/gva_context.h"

#include <string.h>

#define INIT           DXGK_OPERATION_INIT_CONTEXT_RESOURCE
#define UPDATE_CONTEXT DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION

TEST_WITH(gva, updates_are_done_when_the_callback_returns)
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    uint8_t data[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    DXGKARGCB_UPDATECONTEXTALLOCATION update = {.pPrivateDriverData = data,
                                                .PrivateDriverDataSize = sizeof(data)};
    const struct gva_op *op;
    uint8_t *memory;

    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    update.hAllocation = args.hAllocation;
    rig->delay = 100000; /* a slow GPU */
    CHECK_RULE("CTXA-054", vidmm_cb_update_context_allocation(&rig->ddi, &update) == STATUS_SUCCESS);
    rig->delay = 0;
    op = gva_op_at(rig, UPDATE_CONTEXT, 0);
    CHECK_RULE("CTXA-054", gva_op_count(rig, UPDATE_CONTEXT) == 1 && op->executed);
    CHECK_RULE("CTXA-055", op->args.UpdateContextAllocation.DriverPrivateDataSize == 16 &&
                               memcmp(op->data, data, 16) == 0);
    CHECK_RULE("CTXA-057", op->args.UpdateContextAllocation.ContextAllocationSize == 5000);
    CHECK_RULE("CTXA-056", op->args.UpdateContextAllocation.ContextAllocation >=
                               rig->vidmm->mmu->scratch.first << 12);
    memory = (uint8_t *)bus_device_memory(rig->base.device, 0) +
             (gva_context_allocation(rig, args.hAllocation)->runs[0].first << 12);
    CHECK_RULE("CTXA-056", memcmp(memory, data, 16) == 0 && memory[4999] == 0x99);
    CHECK_RULE("CTXA-058",
               gva_op_count(rig, INIT) == 1 &&
                   gva_op_position(rig, INIT, 0) < gva_op_position(rig, UPDATE_CONTEXT, 0));
    update.pPrivateDriverData = NULL;
    CHECK_RULE("CTXA-058",
               vidmm_cb_update_context_allocation(&rig->ddi, &update) == STATUS_INVALID_PARAMETER);
    update.PrivateDriverDataSize = 0;
    CHECK_RULE("CTXA-058", vidmm_cb_update_context_allocation(&rig->ddi, &update) == STATUS_SUCCESS);
    update.hAllocation = (HANDLE)(uintptr_t)0x5555;
    CHECK_RULE("CTXA-058",
               vidmm_cb_update_context_allocation(&rig->ddi, &update) == STATUS_INVALID_PARAMETER);
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

static HANDLE callback_handle;
static NTSTATUS callback_status[4];

static void update_in_set_root(struct gva_rig *rig, const DXGKARG_SETROOTPAGETABLE *args)
{
    uint64_t root = args->Address.SegmentOffset;
    DXGKARGCB_UPDATECONTEXTALLOCATION update = {
        .hAllocation = callback_handle, .pPrivateDriverData = &root, .PrivateDriverDataSize = 8};

    callback_status[0] = vidmm_cb_update_context_allocation(&rig->ddi, &update);
}

TEST_WITH(gva, updates_work_inside_set_root_page_table)
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    uint64_t *memory;

    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    callback_handle = args.hAllocation;
    rig->on_set_root = update_in_set_root;
    gva_context_attach(&client);
    memory = (uint64_t *)(void *)((uint8_t *)bus_device_memory(rig->base.device, 0) +
                                  (gva_context_allocation(rig, args.hAllocation)->runs[0].first
                                   << 12));
    CHECK_RULE("CTXA-059", callback_status[0] == STATUS_SUCCESS &&
                               memory[0] == rig->last_root.Address.SegmentOffset);
    CHECK_RULE("GPUVA-162", callback_status[0] == STATUS_SUCCESS);
    rig->on_set_root = NULL;
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

static struct gva_context *callback_client;

static void callbacks_in_build(struct gva_rig *rig, const DXGKARG_BUILDPAGINGBUFFER *build)
{
    DXGKARGCB_UPDATECONTEXTALLOCATION update = {.hAllocation = callback_handle};
    DXGKARGCB_CREATECONTEXTALLOCATION args = gva_context_request(callback_client);

    (void)build;
    rig->on_build = NULL;
    callback_status[0] = vidmm_cb_update_context_allocation(&rig->ddi, &update);
    callback_status[1] = gva_context_create(rig, &args);
    callback_status[2] = gva_context_map(rig, callback_handle, 0, 0, 1, 0) == 0
                             ? STATUS_INVALID_DEVICE_REQUEST
                             : STATUS_SUCCESS;
    callback_status[3] = vidmm_cb_destroy_context_allocation(&rig->ddi, callback_handle);
}

TEST_WITH(gva, callbacks_inside_build_paging_buffer_are_refused)
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    callback_handle = args.hAllocation;
    callback_client = &client;
    rig->on_build = callbacks_in_build;
    gva_context_attach(&client);
    CHECK_RULE("CTXA-060", callback_status[0] == STATUS_INVALID_DEVICE_REQUEST &&
                               verify_rule_count(rig->base.log, "CTXA-060") == 1);
    CHECK_RULE("CTXA-067", callback_status[1] == STATUS_INVALID_DEVICE_REQUEST &&
                               callback_status[2] == STATUS_INVALID_DEVICE_REQUEST &&
                               callback_status[3] == STATUS_INVALID_DEVICE_REQUEST &&
                               verify_rule_count(rig->base.log, "CTXA-067") == 3);
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}
