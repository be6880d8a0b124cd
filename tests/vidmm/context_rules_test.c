/* SPDX-License-Identifier: MIT */
/* Requests for context allocations at the edge of what is good, where the good ones are put, and updates that end in other ways. */
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/point.h"
#include "sim/thread.h"
#include "support/gva_context.h"
#include "support/gva_gate.h"

#include <string.h>

#define INIT DXGK_OPERATION_INIT_CONTEXT_RESOURCE

static struct gva_context client;

/* Create one with these flags, and destroy it if that works. */
static NTSTATUS try_flags(struct gva_rig *rig, UINT flags)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = gva_context_request(&client);
    NTSTATUS status;

    args.Flags.Value = flags;
    status = gva_context_create(rig, &args);
    if (status == STATUS_SUCCESS)
        CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    else
        CHECK_RULE("CTXA-028", args.hAllocation == NULL);
    return status;
}

static void open_client(struct gva_rig *rig, bool virtual_addressing)
{
    client = (struct gva_context){0};
    gva_context_open(rig, &client, virtual_addressing);
}

/* Each flag by itself: those of the mask are good. */
static void try_each_flag(struct gva_rig *rig, UINT known)
{
    unsigned refused = 0;

    for (unsigned bit = 0; bit < 32; bit++) {
        bool good = known >> bit & 1;

        CHECK_RULE("CTXA-024", try_flags(rig, (UINT)1 << bit) ==
                                   (good ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER));
        refused += !good;
        CHECK_RULE("CTXA-024", verify_rule_count(rig->base.log, "CTXA-024") == refused);
    }
}

#define CPU_VISIBLE 0x1u
#define PERMANENT   0x2u
#define CACHED      0x4u
#define PROTECTED   0x8u
#define APERTURE    0x2000u /* MapApertureCpuVisible */
#define PHYSICALLY  0x8000u /* AccessedPhysically */
#define NOTIFIED    0x10000u

/* CACHED is good with CPU_VISIBLE only. */
#define KNOWN_2_0 (CPU_VISIBLE | PERMANENT | PROTECTED | 0xC0u | PHYSICALLY | NOTIFIED | 0x60000u)

TEST_WITH(gva, each_flag_is_known_or_refused)
{
    open_client(rig, true);
    try_each_flag(rig, KNOWN_2_0 | APERTURE);
    CHECK_RULE("GPUVA-241", verify_rule_count(rig->base.log, "GPUVA-241") == 1);
    CHECK(try_flags(rig, NOTIFIED | PHYSICALLY) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-241", verify_rule_count(rig->base.log, "GPUVA-241") == 1);
    CHECK(verify_set_severity(rig->base.log, "GPUVA-241", VERIFY_ERROR));
    CHECK_RULE("GPUVA-241", try_flags(rig, NOTIFIED) == STATUS_INVALID_PARAMETER);
    CHECK(try_flags(rig, NOTIFIED | PHYSICALLY) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

TEST_WITH(gva, flags_go_together_or_not)
{
    open_client(rig, true);
    CHECK_RULE("CTXA-024", try_flags(rig, CACHED | CPU_VISIBLE) == STATUS_SUCCESS);
    CHECK_RULE("CTXA-024", try_flags(rig, CACHED | PROTECTED) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("CTXA-024", try_flags(rig, PROTECTED | PERMANENT) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("CTXA-024", try_flags(rig, CPU_VISIBLE | PERMANENT) == STATUS_SUCCESS);
    CHECK_RULE("CTXA-024", verify_rule_count(rig->base.log, "CTXA-024") == 2);
    gva_context_close(rig, &client);
}

TEST_WITH(gva, a_flag_is_as_old_as_its_version, options->version = DXGKDDI_INTERFACE_VERSION_WDDM2_8)
{
    open_client(rig, true);
    try_each_flag(rig, KNOWN_2_0);
    gva_context_close(rig, &client);
}

static void old_driver(struct gva_options *options)
{
    options->version = DXGKDDI_INTERFACE_VERSION_WDDM1_3;
    options->no_gpu_mmu = true;
}

TEST_WITH(gva, old_drivers_have_other_flags, old_driver(options))
{
    DXGK_ALLOCATIONINFOFLAGS known = {.Value = 0};
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    known.CpuVisible = known.PermanentSysMem = known.Protected = known.FromEndOfSegment = 1;
    known.Swizzled = known.SynchronousPaging = known.LinkMirrored = known.LinkInstanced = 1;
    open_client(rig, false);
    try_each_flag(rig, known.Value);
    CHECK(try_flags(rig, CACHED | CPU_VISIBLE) == STATUS_SUCCESS);
    args = gva_context_request(&client);
    args.ContextAllocationFlags.Value = 2;
    CHECK_RULE("CTXA-014", gva_context_create(rig, &args) == STATUS_INVALID_PARAMETER &&
                               verify_rule_count(rig->base.log, "CTXA-014") == 1);
    args.ContextAllocationFlags.Value = 0;
    args.PhysicalAdapterIndex = 7; /* not of their structure */
    args.Flags.Value = known.Value & ~(PERMANENT | PROTECTED);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    CHECK_RULE("CTXA-023",
               gva_context_allocation(rig, args.hAllocation)->flags.Value == (CPU_VISIBLE | 0x40));
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

/* ---- sizes and segments ---- */

static NTSTATUS create_in(struct gva_rig *rig, DXGKARGCB_CREATECONTEXTALLOCATION *args,
                          UINT alignment, UINT set, UINT eviction, UINT preferred)
{
    *args = gva_context_request(&client);
    args->Alignment = alignment;
    args->SupportedSegmentSet = set;
    args->EvictionSegmentSet = eviction;
    args->PreferredSegment.Value = preferred;
    return gva_context_create(rig, args);
}

static bool fits(struct gva_rig *rig, UINT alignment, UINT set, UINT eviction, UINT preferred)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    NTSTATUS status = create_in(rig, &args, alignment, set, eviction, preferred);

    if (status != STATUS_SUCCESS) {
        CHECK(status == STATUS_INVALID_PARAMETER && args.hAllocation == NULL);
        return false;
    }
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    return true;
}

TEST_WITH(gva, segments_of_large_pages_want_their_alignment)
{
    struct vidmm_segment *segment = &rig->vidmm->segment[GVA_VRAM_SEGMENT];

    open_client(rig, true);
    CHECK(fits(rig, 4096, 1, 0, 0) && fits(rig, 1, 1, 0, 0));
    segment->page_bytes = 65536;
    CHECK_RULE("CTXA-018", !fits(rig, 4096, 1, 0, 0) && !fits(rig, 32768, 3, 0, 0));
    CHECK_RULE("CTXA-018", verify_rule_count(rig->base.log, "CTXA-018") == 2);
    CHECK_RULE("CTXA-018", fits(rig, 65536, 1, 0, 0) && fits(rig, 131072, 1, 0, 0));
    CHECK_RULE("CTXA-018", fits(rig, 0, 1, 0, 0)); /* the host chooses */
    CHECK_RULE("CTXA-018", fits(rig, 4096, 2, 0, 0));
    segment->page_bytes = 4096;
    gva_context_close(rig, &client);
}

TEST_WITH(gva, sets_name_segments_of_the_adapter)
{
    open_client(rig, true);
    CHECK_RULE("CTXA-022", fits(rig, 0, 3, 0, 0) && fits(rig, 0, 2, 0, 0) && fits(rig, 0, 1, 2, 0));
    CHECK(verify_rule_count(rig->base.log, "CTXA-022") == 0);
    CHECK_RULE("CTXA-022",
               !fits(rig, 0, 0, 0, 0) && !fits(rig, 0, 4, 0, 0) && !fits(rig, 0, 7, 0, 0));
    CHECK_RULE("CTXA-022", !fits(rig, 0, 0x80000001, 0, 0));
    CHECK_RULE("CTXA-020",
               !fits(rig, 0, 3, 1, 0) && !fits(rig, 0, 3, 3, 0) && !fits(rig, 0, 3, 4, 0));
    CHECK_RULE("CTXA-022", verify_rule_count(rig->base.log, "CTXA-022") == 7);
    gva_context_close(rig, &client);
}

TEST_WITH(gva, each_preference_is_of_the_set)
{
    open_client(rig, true);
    for (unsigned place = 0; place < 5; place++) {
        DXGK_SEGMENTPREFERENCE preference = {.Value = 0};

        for (UINT id = 0; id < 4; id++) {
            const UINT ids[5] = {place == 0 ? id : 0, place == 1 ? id : 0, place == 2 ? id : 0,
                                 place == 3 ? id : 0, place == 4 ? id : 0};

            preference.SegmentId0 = ids[0] & 0x1F;
            preference.SegmentId1 = ids[1] & 0x1F;
            preference.SegmentId2 = ids[2] & 0x1F;
            preference.SegmentId3 = ids[3] & 0x1F;
            preference.SegmentId4 = ids[4] & 0x1F;
            CHECK_RULE("CTXA-022", fits(rig, 0, 1, 0, preference.Value) == (id <= 1));
            CHECK_RULE("CTXA-022", fits(rig, 0, 2, 0, preference.Value) == (id == 0 || id == 2));
            CHECK_RULE("CTXA-022", fits(rig, 0, 3, 0, preference.Value) == (id <= 2));
        }
    }
    gva_context_close(rig, &client);
}

/* ---- where it is, and who sees it ---- */

struct seen {
    UINT segment;
    bool view;
    void *address;
};

/* Of one that its context has used. */
static struct seen use_one(struct gva_rig *rig, UINT flags, UINT set, UINT preferred)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    struct seen seen = {.segment = 0};
    const struct gva_op *op;

    args = gva_context_request(&client);
    args.Flags.Value = flags;
    args.SupportedSegmentSet = set;
    args.PreferredSegment.SegmentId0 = preferred & 0x1F;
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    gva_mark(rig);
    CHECK(NT_SUCCESS(vidmm_context_prepare(&client.context)));
    op = gva_op_at(rig, INIT, 0);
    CHECK(gva_op_count(rig, INIT) == 1 &&
          op->args.InitContextResource.hAllocation == args.hAllocation);
    seen.segment = op->args.InitContextResource.Destination.SegmentId;
    seen.view = op->args.InitContextResource.Destination.VirtualAddress != NULL;
    CHECK(seen.segment == gva_context_allocation(rig, args.hAllocation)->segment);
    if (seen.view) {
        const struct vidmm_allocation *allocation = gva_context_allocation(rig, args.hAllocation);
        volatile uint8_t *view = op->args.InitContextResource.Destination.VirtualAddress;
        const uint8_t *last = ram_direct(rig->base.ram, page_phys(allocation->backing[1]));

        view[5000 - 1] = 0x5A;
        CHECK_RULE("CTXA-040", last[5000 - 1 - 4096] == 0x5A);
    }
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    return seen;
}

TEST_WITH(gva, preferences_choose_the_segment)
{
    open_client(rig, true);
    gva_context_attach(&client);
    CHECK_RULE("CTXA-021", use_one(rig, 0, 3, 1).segment == 1);
    CHECK_RULE("CTXA-021", use_one(rig, 0, 3, 2).segment == 0);
    CHECK(use_one(rig, 0, 1, 0).segment == 1);
    CHECK(use_one(rig, 0, 2, 0).segment == 0);
    gva_context_close(rig, &client);
}

TEST_WITH(gva, a_view_is_for_the_visible_and_protected_in_the_aperture)
{
    open_client(rig, true);
    gva_context_attach(&client);
    CHECK_RULE("CTXA-040", use_one(rig, CPU_VISIBLE | PROTECTED, 2, 0).view);
    CHECK_RULE("CTXA-040", !use_one(rig, CPU_VISIBLE, 2, 0).view);
    CHECK_RULE("CTXA-040", !use_one(rig, PROTECTED, 2, 0).view);
    CHECK_RULE("CTXA-040", !use_one(rig, CPU_VISIBLE | PROTECTED, 3, 2).view);
    CHECK_RULE("CTXA-040", !use_one(rig, CPU_VISIBLE | PROTECTED, 3, 1).view);
    gva_context_close(rig, &client);
}

/* ---- updates ---- */

/* The pages of one that the device reaches through the aperture are system memory all the same. */
TEST_WITH(gva, an_update_of_one_in_the_aperture_reaches_its_pages)
{
    const uint8_t data[4] = {9, 8, 7, 6};
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    DXGKARGCB_UPDATECONTEXTALLOCATION update = {.pPrivateDriverData = (void *)data,
                                                .PrivateDriverDataSize = sizeof(data)};
    const struct vidmm_allocation *allocation;

    open_client(rig, true);
    args = gva_context_request(&client);
    args.SupportedSegmentSet = 2;
    args.Flags.Value = PHYSICALLY;
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    update.hAllocation = args.hAllocation;
    CHECK_RULE("CTXA-054", vidmm_cb_update_context_allocation(&rig->ddi, &update) == STATUS_SUCCESS);
    allocation = gva_context_allocation(rig, args.hAllocation);
    CHECK(allocation->segment == GVA_APERTURE_SEGMENT);
    CHECK_RULE("CTXA-056",
               memcmp(ram_direct(rig->base.ram, page_phys(allocation->backing[0])), data, 4) == 0);
    CHECK(gva_context_destroy(rig, args.hAllocation) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

struct updater {
    struct gva_rig *rig;
    HANDLE handle;
    NTSTATUS status;
    bool done;
};

static void update_main(void *arg)
{
    struct updater *updater = arg;
    const DXGKARGCB_UPDATECONTEXTALLOCATION args = {.hAllocation = updater->handle};

    updater->status = vidmm_cb_update_context_allocation(&updater->rig->ddi, &args);
    updater->done = true;
}

TEST_WITH(gva, an_update_of_one_that_is_destroyed_meanwhile_fails)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    struct updater updater = {.rig = rig, .status = STATUS_PENDING};
    struct sim_thread *thread;
    struct gva_gate gate;

    open_client(rig, true);
    args = gva_context_request(&client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    updater.handle = args.hAllocation;
    gva_gate_close(rig, &gate);
    thread = sim_thread_create("updater", SIM_THREAD_KERNEL, update_main, &updater);
    sim_stall(1000000);
    CHECK(!updater.done);
    CHECK(vidmm_cb_destroy_context_allocation(&rig->ddi, args.hAllocation) == STATUS_SUCCESS);
    CHECK_RULE("CTXA-063", vidmm_cb_destroy_context_allocation(&rig->ddi, args.hAllocation) ==
                               STATUS_INVALID_PARAMETER);
    gva_gate_open(rig, &gate);
    sim_stall(1000000);
    CHECK_RULE("CTXA-058", updater.done && updater.status == STATUS_INVALID_PARAMETER &&
                               verify_rule_count(rig->base.log, "CTXA-058") == 1);
    CHECK(gva_op_count(rig, DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION) == 0);
    CHECK(rig->vidmm->contexts.uncommitted == 0);
    sim_thread_release(thread);
    gva_context_close(rig, &client);
}

TEST_WITH(gva, an_update_of_a_lost_adapter_fails)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;
    DXGKARGCB_UPDATECONTEXTALLOCATION update = {0};

    open_client(rig, true);
    args = gva_context_request(&client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    update.hAllocation = args.hAllocation;
    rig->vidmm->lost = true;
    CHECK_RULE("CTXA-061",
               vidmm_cb_update_context_allocation(&rig->ddi, &update) == STATUS_UNSUCCESSFUL &&
                   verify_rule_count(rig->base.log, "CTXA-061") == 1);
    CHECK_RULE("CTXA-044", gva_context_map(rig, args.hAllocation, 0, 0, 1, 0) == 0 &&
                               verify_rule_count(rig->base.log, "CTXA-044") == 1);
    CHECK(vidmm_cb_destroy_context_allocation(&rig->ddi, args.hAllocation) == STATUS_SUCCESS);
    sim_stall(1000000);
    CHECK(list_empty(&rig->vidmm->contexts.all));
    CHECK(rig->vidmm->segment[1].mapped_bytes == segment_own_bytes(&rig->vidmm->segment[1]));
    rig->vidmm->lost = false;
    gva_context_close(rig, &client);
}

/* ---- committed again ---- */

static HANDLE commit_one(struct gva_rig *rig)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    open_client(rig, true);
    args = gva_context_request(&client);
    CHECK(gva_context_create(rig, &args) == STATUS_SUCCESS);
    gva_context_attach(&client);
    CHECK(context_allocations_ready(&client.context) && rig->vidmm->contexts.uncommitted == 0);
    CHECK(gva_op_count(rig, INIT) == 1);
    CHECK(gva_context_allocation(rig, args.hAllocation)->pins == 1);
    CHECK_RULE("CTXA-030", gva_context_allocation(rig, args.hAllocation)->victim.segment == 0);
    CHECK(gva_context_allocation(rig, args.hAllocation)->alignment == 4096);
    return args.hAllocation;
}

static void check_lost(struct gva_rig *rig, HANDLE handle)
{
    CHECK(!context_allocations_ready(&client.context) && rig->vidmm->contexts.uncommitted == 1);
    CHECK(gva_context_allocation(rig, handle)->pins == 0);
}

static void check_restored(struct gva_rig *rig, HANDLE handle)
{
    CHECK(context_allocations_ready(&client.context) && rig->vidmm->contexts.uncommitted == 0);
    CHECK(gva_context_allocation(rig, handle)->pins == 1);
    CHECK(gva_context_allocation(rig, handle)->resident);
    CHECK(gva_context_destroy(rig, handle) == STATUS_SUCCESS);
    gva_context_close(rig, &client);
}

TEST_WITH(gva, a_reset_commits_again_what_was_committed)
{
    HANDLE handle = commit_one(rig);
    uint32_t cursor = 0;
    uint64_t key;
    void *value;

    vidmm_reset_cleanup(rig->vidmm);
    check_lost(rig, handle);
    while (hash_next(&rig->tables, &cursor, &key, &value))
        ((struct gva_table *)value)->initialised = false;
    CHECK(NT_SUCCESS(vidmm_reset_restore(rig->vidmm)));
    CHECK_RULE("CTXA-068", gva_op_count(rig, INIT) == 2);
    check_restored(rig, handle);
}

TEST_WITH(gva, an_evacuation_commits_again_what_was_committed)
{
    HANDLE handle = commit_one(rig);

    CHECK(NT_SUCCESS(vidmm_evacuate(rig->vidmm, NULL, false)));
    check_lost(rig, handle);
    CHECK(!gva_context_allocation(rig, handle)->resident);
    CHECK(NT_SUCCESS(vidmm_return(rig->vidmm)));
    CHECK(gva_op_count(rig, INIT) == 1); /* its content was kept */
    check_restored(rig, handle);
}
