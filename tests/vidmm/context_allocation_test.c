/* SPDX-License-Identifier: MIT */
/* Context allocations: who may have them, where they are, when they are initialised and freed. */
#include "bus/memory.h"
#include "sim/machine.h"
#include "support/gva_context.h"

#define INIT DXGK_OPERATION_INIT_CONTEXT_RESOURCE

/* ---- creation ---- */

/* A context with two allocations in video memory. */
struct pair {
    struct gva_context client;
    HANDLE first, second;
};

static void pair_create(struct gva_rig *rig, struct pair *pair)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args, second;

    *pair = (struct pair){0};
    gva_context_open(rig, &pair->client, true);
    args = gva_context_request(&pair->client);
    CHECK_RULE("CTXA-029",
               gva_context_create(rig, &args) == STATUS_SUCCESS && args.hAllocation != NULL);
    second = gva_context_request(&pair->client);
    CHECK_RULE("CTXA-026", gva_context_create(rig, &second) == STATUS_SUCCESS &&
                               second.hAllocation != args.hAllocation);
    gva_idle(rig);
    pair->first = args.hAllocation;
    pair->second = second.hAllocation;
}

static void pair_destroy(struct gva_rig *rig, struct pair *pair)
{
    CHECK(gva_context_destroy(rig, pair->first) == STATUS_SUCCESS);
    CHECK(gva_context_destroy(rig, pair->second) == STATUS_SUCCESS);
    gva_context_close(rig, &pair->client);
}

/* The first word of the allocation, in video memory. */
static uint32_t first_word(struct gva_rig *rig, HANDLE handle)
{
    const uint32_t *vram = (const uint32_t *)bus_device_memory(rig->base.device, 0);

    return vram[gva_context_allocation(rig, handle)->runs[0].first * 1024];
}

TEST_WITH(gva, a_context_allocation_is_initialised_once_before_its_context_runs)
{
    struct pair pair;

    pair_create(rig, &pair);
    CHECK_RULE("CTXA-036", gva_op_count(rig, INIT) == 0);
    gva_context_attach(&pair.client);
    CHECK_RULE("CTXA-035", gva_op_count(rig, INIT) == 2);
    /* The memory is not cleared for the driver. */
    CHECK_RULE("CTXA-036", first_word(rig, pair.first) == 0xCACACACA);
    CHECK(NT_SUCCESS(vidmm_context_prepare(&pair.client.context)));
    CHECK_RULE("CTXA-036", gva_op_count(rig, INIT) == 2);
    CHECK_RULE("PREEMPT-031", gva_op_count(rig, INIT) == 2);
    pair_destroy(rig, &pair);
}

TEST_WITH(gva, the_initialisation_says_what_and_where)
{
    const struct gva_op *op;
    struct pair pair;

    pair_create(rig, &pair);
    gva_context_attach(&pair.client);
    op = gva_op_at(rig, INIT, 0);
    CHECK_RULE("CTXA-038", op->args.InitContextResource.hAllocation == pair.first);
    CHECK_RULE("CTXA-039",
               op->args.InitContextResource.Destination.SegmentId == GVA_VRAM_SEGMENT &&
                   op->args.InitContextResource.Destination.SegmentAddress.QuadPart ==
                       (LONGLONG)gva_context_allocation(rig, pair.first)->runs[0].first << 12);
    CHECK_RULE("CTXA-040", op->args.InitContextResource.Destination.VirtualAddress == NULL);
    pair_destroy(rig, &pair);
}

TEST_WITH(gva, a_context_allocation_is_whole_pages_that_stay_in_their_segment)
{
    struct pair pair;

    pair_create(rig, &pair);
    CHECK_RULE("CTXA-016", gva_context_allocation(rig, pair.first)->pages == 2);
    gva_context_attach(&pair.client);
    CHECK_RULE("CTXA-019", gva_context_allocation(rig, pair.first)->segment == 1);
    CHECK_RULE("CTXA-030", gva_context_allocation(rig, pair.first)->resident);
    pair_destroy(rig, &pair);
}

TEST_WITH(gva, a_context_allocation_is_destroyed_once)
{
    struct pair pair;

    pair_create(rig, &pair);
    gva_context_attach(&pair.client);
    CHECK_RULE("CTXA-062", gva_context_destroy(rig, pair.first) == STATUS_SUCCESS);
    CHECK_RULE("CTXA-063", gva_context_destroy(rig, pair.first) == STATUS_INVALID_PARAMETER &&
                               verify_rule_count(rig->base.log, "CTXA-063") == 1);
    CHECK_RULE("PREEMPT-032", verify_rule_count(rig->base.log, "CTXA-063") == 1);
    CHECK_RULE("CTXA-065", gva_context_destroy(rig, pair.second) == STATUS_SUCCESS &&
                               verify_rule_count(rig->base.log, "CTXA-066") == 0);
    gva_context_close(rig, &pair.client);
}

TEST_WITH(gva, system_memory_is_described_by_an_mdl)
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args, visible;
    const struct gva_op *op;
    bool seen_view = false, seen_none = false;

    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    args.SupportedSegmentSet = 2;
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    visible = args;
    visible.Flags.Value = 1 | 8; /* CpuVisible, Protected */
    CHECK(gva_context_create(rig, &visible) == STATUS_SUCCESS);
    gva_context_attach(&client);
    for (uint32_t i = 0; i < 2; i++) {
        op = gva_op_at(rig, INIT, i);
        CHECK_RULE("CTXA-039", op->args.InitContextResource.Destination.SegmentId == 0);
        if (op->args.InitContextResource.hAllocation == visible.hAllocation)
            seen_view = op->args.InitContextResource.Destination.VirtualAddress != NULL;
        else
            seen_none = op->args.InitContextResource.Destination.VirtualAddress == NULL;
        if (op->args.InitContextResource.Destination.VirtualAddress)
            /* writable for good */
            *(volatile uint32_t *)op->args.InitContextResource.Destination.VirtualAddress = 7;
    }
    CHECK_RULE("CTXA-040", seen_view && seen_none);
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS &&
          gva_context_destroy(rig, visible.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

TEST_WITH(gva, a_shared_one_belongs_to_all_contexts_of_the_device)
{
    struct gva_context first = {0}, second = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    gva_context_open(rig, &first, true);
    second.device = first.device;
    gva_context_open(rig, &second, true);
    args = gva_context_request(&first);
    args.ContextAllocationFlags.SharedAcrossContexts = 1;
    CHECK_RULE("CTXA-008", gva_context_create(rig, &args) == STATUS_INVALID_PARAMETER &&
                               args.hAllocation == NULL);
    args.hContext = NULL;
    CHECK_RULE("PREEMPT-030", args.hAllocation == NULL);
    CHECK_RULE("CTXA-006", gva_context_create(rig, &args) == STATUS_SUCCESS);
    CHECK(!context_allocations_ready(&second.context));
    gva_context_attach(&second);
    CHECK_RULE("CTXA-031",
               gva_op_count(rig, INIT) == 1 && context_allocations_ready(&first.context));
    CHECK_RULE("PREEMPT-030", gva_context_allocation(rig, args.hAllocation)->resident &&
                                  context_allocations_ready(&first.context));
    second.device = NULL;
    gva_context_close(rig, &second);
    CHECK_RULE("CTXA-006", context_allocation_find(&rig->ddi, args.hAllocation) != NULL);
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &first);
}

TEST_WITH(gva, owners_must_fit_together)
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    args.hContext = NULL;
    CHECK_RULE("CTXA-010", gva_context_create(rig, &args) == STATUS_INVALID_PARAMETER &&
                               args.hAllocation == NULL);
    args = gva_context_request(&client);
    args.hDevice = (HANDLE)(uintptr_t)0xDE; /* the driver's own */
    CHECK_RULE("CTXA-007", gva_context_create(rig, &args) == STATUS_INVALID_PARAMETER);
    args.hDevice = NULL;
    CHECK_RULE("CTXA-011", gva_context_create(rig, &args) == STATUS_INVALID_PARAMETER);
    args = gva_context_request(&client);
    client.context.system = true;
    CHECK_RULE("CTXA-011", gva_context_create(rig, &args) == STATUS_INVALID_PARAMETER);
    client.context.system = false;
    CHECK_RULE("CTXA-010", verify_rule_count(rig->base.log, "CTXA-010") == 3);
    CHECK_RULE("CTXA-011", verify_rule_count(rig->base.log, "CTXA-011") == 1);
    CHECK_RULE("PREEMPT-030", verify_rule_count(rig->base.log, "CTXA-011") == 1);
    vidmm_context_detach(&client.context);
    CHECK_RULE("CTXA-012", gva_context_create(rig, &args) == STATUS_INVALID_DEVICE_REQUEST);
    CHECK(rig->vidmm->segment[1].mapped_bytes == segment_own_bytes(&rig->vidmm->segment[1]));
    gva_context_close(rig, &client);
}

/* For bodies with a context `client`: a request changed like that is refused. */
#define BAD(rule, expected, ...)                                                                    \
    do {                                                                                            \
        DXGKARGCB_CREATECONTEXTALLOCATION args = gva_context_request(&client);                      \
                                                                                                    \
        __VA_ARGS__;                                                                                \
        CHECK_RULE(rule, gva_context_create(rig, &args) == (expected) && args.hAllocation == NULL); \
    } while (0)

TEST_WITH(gva, requests_with_impossible_flags_are_refused)
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION good;

    gva_context_open(rig, &client, true);
    BAD("CTXA-014", STATUS_INVALID_PARAMETER, args.ContextAllocationFlags.Value = 4);
    BAD("CTXA-013", STATUS_INVALID_PARAMETER, args.ContextAllocationFlags.Value = 0x80000000);
    BAD("CTXA-024", STATUS_INVALID_PARAMETER, args.Flags.Value = 0x100);
    BAD("CTXA-024", STATUS_INVALID_PARAMETER, args.Flags.Value = 0x8 | 0x2);
    BAD("CTXA-024", STATUS_INVALID_PARAMETER, args.Flags.Value = 0x4);
    BAD("CTXA-024", STATUS_INVALID_PARAMETER, args.Flags.Value = 0x80000000);
    good = gva_context_request(&client);
    good.Flags.Value = 1 | 8;
    CHECK_RULE("CTXA-024", gva_context_create(rig, &good) == STATUS_SUCCESS);
    CHECK(gva_context_destroy(rig, good.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

TEST_WITH(gva, requests_of_impossible_sizes_are_refused)
{
    struct gva_context client = {0};

    gva_context_open(rig, &client, true);
    BAD("CTXA-018", STATUS_INVALID_PARAMETER, args.Size = 0);
    BAD("CTXA-018", STATUS_INVALID_PARAMETER, args.Alignment = 3);
    BAD("CTXA-028", STATUS_NO_MEMORY, args.Size = 1ull << 40);
    gva_context_close(rig, &client);
}

TEST_WITH(gva, requests_for_impossible_places_are_refused)
{
    struct gva_context client = {0};

    gva_context_open(rig, &client, true);
    BAD("CTXA-022", STATUS_INVALID_PARAMETER, args.SupportedSegmentSet = 0);
    BAD("CTXA-022", STATUS_INVALID_PARAMETER, args.SupportedSegmentSet = 4);
    BAD("CTXA-020", STATUS_INVALID_PARAMETER, args.EvictionSegmentSet = 1);
    BAD("CTXA-021", STATUS_INVALID_PARAMETER, args.PreferredSegment.SegmentId0 = 2);
    BAD("CTXA-027", STATUS_INVALID_PARAMETER, args.PhysicalAdapterIndex = 1);
    BAD("CTXA-028", STATUS_INVALID_PARAMETER, args.PhysicalAdapterIndex = 1);
    CHECK_RULE("CTXA-022", verify_rule_count(rig->base.log, "CTXA-022") >= 4);
    gva_context_close(rig, &client);
}

static void physical(struct gva_options *options)
{
    options->no_gpu_mmu = true;
}

TEST_WITH(gva, physical_adapters_have_them_without_addresses, physical(options))
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    DXGKARGCB_MAPCONTEXTALLOCATION map = {.SizeInPages = 1};
    DXGKARGCB_UPDATECONTEXTALLOCATION update = {0};

    gva_context_open(rig, &client, false);
    args = gva_context_request(&client);
    args.ContextAllocationFlags.MapGpuVirtualAddress = 1;
    CHECK_RULE("CTXA-015", gva_context_create(rig, &args) == STATUS_NOT_SUPPORTED);
    args.ContextAllocationFlags.Value = 0;
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    gva_context_attach(&client);
    CHECK_RULE("CTXA-035", gva_op_count(rig, INIT) == 1);
    map.hAllocation = update.hAllocation = args.hAllocation;
    CHECK_RULE("CTXA-050", vidmm_cb_map_context_allocation(&rig->ddi, &map) == 0);
    CHECK_RULE("CTXA-058",
               vidmm_cb_update_context_allocation(&rig->ddi, &update) == STATUS_NOT_SUPPORTED);
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

TEST_WITH(gva, initialisation_may_use_a_gpu_address)
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    const struct gva_op *op;

    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    args.ContextAllocationFlags.MapGpuVirtualAddress = 1;
    args.Alignment = 65536;
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    gva_context_attach(&client);
    op = gva_op_at(rig, INIT, 0);
    CHECK_RULE("CTXA-015", op->args.InitContextResource.Destination.GpuVirtualAddress >=
                               rig->vidmm->mmu->scratch.first << 12);
    /* The rig's GPU wrote through it, in the paging process. */
    CHECK_RULE("CTXA-041",
               ((uint32_t *)bus_device_memory(
                   rig->base.device,
                   0))[gva_context_allocation(rig, args.hAllocation)->runs[0].first * 1024] ==
                   0x1417);
    CHECK_RULE("CTXA-017", gva_context_allocation(rig, args.hAllocation)->runs[0].first % 16 == 0);
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

/* ---- the end ---- */

TEST_WITH(gva, what_is_left_is_a_leak)
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    gva_context_open(rig, &client, true);
    args = gva_context_request(&client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    gva_context_attach(&client);
    gva_context_close(rig, &client);
    CHECK_RULE("CTXA-066", verify_rule_count(rig->base.log, "CTXA-066") == 1);
    CHECK_RULE("CTXA-066", vidmm_cb_destroy_context_allocation(&rig->ddi, args.hAllocation) ==
                               STATUS_INVALID_PARAMETER);
    CHECK_RULE("CTXA-066",
               rig->vidmm->segment[1].mapped_bytes == segment_own_bytes(&rig->vidmm->segment[1]));
}

TEST_WITH(gva, a_reset_initialises_those_in_vram_again)
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION vram, sysmem;
    uint32_t cursor = 0;
    uint64_t key;
    void *value;

    gva_context_open(rig, &client, true);
    vram = gva_context_request(&client);
    sysmem = gva_context_request(&client);
    sysmem.SupportedSegmentSet = 2;
    CHECK(gva_context_create(rig, &vram) == STATUS_SUCCESS &&
          gva_context_create(rig, &sysmem) == STATUS_SUCCESS);
    gva_context_attach(&client);
    CHECK(gva_op_count(rig, INIT) == 2);
    vidmm_reset_cleanup(rig->vidmm);
    while (hash_next(&rig->tables, &cursor, &key, &value))
        ((struct gva_table *)value)->initialised = false;
    gva_mark(rig);
    CHECK(NT_SUCCESS(vidmm_reset_restore(rig->vidmm)));
    CHECK(NT_SUCCESS(vidmm_context_prepare(&client.context)));
    CHECK_RULE("CTXA-068", gva_op_count(rig, INIT) == 1 &&
                               gva_op_at(rig, INIT, 0)->args.InitContextResource.hAllocation ==
                                   vram.hAllocation);
    CHECK(gva_context_destroy(rig, vram.hAllocation) == STATUS_SUCCESS &&
          gva_context_destroy(rig, sysmem.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

TEST_WITH(gva, every_failed_allocation_leaves_nothing)
{
    struct gva_context client = {0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    struct util_heap *heap = &sim_current->heap;
    NTSTATUS status = STATUS_NO_MEMORY;

    gva_context_open(rig, &client, true);
    for (uint64_t n = 1; !NT_SUCCESS(status); n++) {
        args = gva_context_request(&client);
        heap->fail_at = heap->requests + n;
        status = gva_context_create(rig, &args);
        heap->fail_at = 0;
        CHECK_RULE("CTXA-028",
                   NT_SUCCESS(status) || (status == STATUS_NO_MEMORY && args.hAllocation == NULL &&
                                          list_empty(&client.context.allocations)));
        gva_idle(rig);
        CHECK(n < 100);
    }
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}
