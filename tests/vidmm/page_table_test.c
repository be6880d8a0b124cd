/* SPDX-License-Identifier: MIT */
/* The operations that write page tables: their order, what they say, the flushes behind them. */
#include "support/gva_rig.h"
#include "support/gva_updates.h"

#define SPAN   (512ull * 4096)
#define GB     (1ull << 30)
#define UPDATE DXGK_OPERATION_UPDATE_PAGE_TABLE
#define FLUSH  DXGK_OPERATION_FLUSH_TLB

/* ---- the first map: order, initial updates, links ---- */

/* Two pages, and with them the first tables: updates of the root, level 2 + link, level 1 + link,
 * leaf + link, entries. */
static struct gva_object *first_map(struct gva_rig *rig)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB + 5 * 4096, 0, 2)));
    gva_idle(rig);
    CHECK(gva_op_count(rig, UPDATE) == 8);
    return object;
}

/* Of the first map: which update initialises a table of the level, and which links it. */
static uint32_t initialises(uint32_t level)
{
    return level == 3 ? 0 : 2 * (3 - level) - 1;
}

static uint32_t links(uint32_t level)
{
    return initialises(level) + 1;
}

TEST_WITH(gva, updates_are_of_the_process_and_by_the_gpu)
{
    struct gva_object *object = first_map(rig);

    for (uint32_t i = 0; i < 8; i++) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = gva_update_at(rig, i);

        CHECK_RULE("GPUVA-180", u->hProcess == rig->process->driver_handle);
        CHECK_RULE("GPUVA-182", u->UpdateMode == DXGK_PAGETABLEUPDATE_GPU_PHYSICAL);
        CHECK_RULE("GPUVA-209", u->pPageTableEntries64KB == NULL);
        if (u->PageTableLevel > 0 || u->Flags.InitialUpdate)
            CHECK_RULE("GPUVA-147", u->hAllocation == NULL);
    }
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, tables_are_initialised_from_the_root_down)
{
    struct gva_object *object = first_map(rig);

    CHECK_RULE("GPUVA-011", gva_update_at(rig, 0)->PageTableLevel == 3 &&
                                gva_update_at(rig, 0)->Flags.InitialUpdate);
    for (uint32_t level = 0; level < 4; level++) {
        const struct gva_op *op = gva_op_at(rig, UPDATE, initialises(level));
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &op->args.UpdatePageTable;

        CHECK_RULE("GPUVA-175", u->Flags.InitialUpdate && u->Flags.Repeat && u->StartIndex == 0 &&
                                    u->NumPageTableEntries == 512);
        CHECK_RULE("GPUVA-149", u->PageTableLevel == level && !op->entries[0].Valid);
    }
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, tables_are_linked_once_they_are_initialised)
{
    struct gva_object *object = first_map(rig);

    for (uint32_t level = 0; level < 3; level++) {
        const struct gva_op *link = gva_op_at(rig, UPDATE, links(level));
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &link->args.UpdatePageTable;
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *below = gva_update_at(rig, initialises(level));

        CHECK_RULE("GPUVA-149", u->PageTableLevel == level + 1 && !u->Flags.InitialUpdate &&
                                    link->entries[0].Valid);
        CHECK_RULE("GPUVA-198",
                   link->entries[0].PageTableAddress ==
                           below->PageTableAddress.GpuPhysical.SegmentOffset >> 12 &&
                       link->entries[0].Segment == below->PageTableAddress.GpuPhysical.SegmentId);
        CHECK_RULE("GPUVA-199", (link->entries[0].Flags & ~0x3FFull) == 0);
    }
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, entries_stand_where_the_address_says)
{
    struct gva_object *object = first_map(rig);

    CHECK_RULE("GPUVA-012", gva_update_at(rig, links(0))->StartIndex == (GB >> 21 & 511) &&
                                gva_update_at(rig, links(1))->StartIndex == 1 &&
                                gva_update_at(rig, links(2))->StartIndex == 0 &&
                                gva_update_at(rig, 7)->StartIndex == 5);
    CHECK_RULE("GPUVA-181", gva_update_at(rig, 7)->FirstPteVirtualAddress == GB + 5 * 4096 &&
                                gva_update_at(rig, links(0))->FirstPteVirtualAddress == GB);
    CHECK_RULE("GPUVA-185",
               gva_update_at(rig, 7)->PageTableAddress.GpuPhysical.SegmentOffset ==
                   gva_update_at(rig, initialises(0))->PageTableAddress.GpuPhysical.SegmentOffset);
    CHECK_RULE("GPUVA-016",
               gva_update_at(rig, 7)->PageTableAddress.GpuPhysical.SegmentId == GVA_VRAM_SEGMENT);
    CHECK_RULE("GPUVA-219", gva_op_position(rig, FLUSH, 0) > gva_op_position(rig, UPDATE, 7));
    gva_object_destroy(rig, object);
}

/* Four pages of an allocation, and further on a lone one. */
static struct gva_object *map_in_two_places(struct gva_rig *rig)
{
    struct gva_object *object = gva_object_resident(rig, 64, 0x1000);

    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 4, 4)) &&
          NT_SUCCESS(gva_map_part(rig, object, GB + 65536, 10, 1)));
    gva_idle(rig);
    return object;
}

TEST_WITH(gva, leaf_updates_name_the_allocation_and_the_offset)
{
    struct gva_object *object = map_in_two_places(rig);
    const struct gva_op *op = gva_leaf_write(rig, 0);

    CHECK_RULE("GPUVA-178",
               op->args.UpdatePageTable.AllocationOffsetInBytes == 16384 &&
                   gva_leaf_write(rig, 1)->args.UpdatePageTable.AllocationOffsetInBytes == 40960);
    CHECK_RULE("GPUVA-176",
               op->args.UpdatePageTable.hAllocation == object->allocation.driver_handle);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, leaf_entries_name_the_pages)
{
    struct gva_object *object = map_in_two_places(rig);
    const struct gva_op *op = gva_leaf_write(rig, 0);

    CHECK_RULE("GPUVA-172", op->args.UpdatePageTable.NumPageTableEntries == 4 &&
                                op->entries[3].PageAddress == 0x1007);
    CHECK_RULE("GPUVA-197", op->entries[0].PageAddress == 0x1004);
    CHECK_RULE("GPUVA-196", op->entries[0].Segment == GVA_VRAM_SEGMENT);
    CHECK_RULE("GPUVA-189", op->args.UpdatePageTable.NumPageTableEntries == 4);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, leaf_entries_are_valid_and_have_no_other_bits)
{
    struct gva_object *object = map_in_two_places(rig);
    const struct gva_op *op = gva_leaf_write(rig, 0);

    CHECK_RULE("GPUVA-195", !op->entries[0].CacheCoherent);
    CHECK_RULE("GPUVA-199", op->entries[0].PhysicalAdapterIndex == 0 &&
                                op->entries[0].Reserved == 0 && op->entries[0].SystemReserved0 == 0);
    CHECK_RULE("GPUVA-191", op->entries[0].Valid && !op->entries[0].Zero);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, one_operation_addresses_one_table)
{
    struct gva_object *object = gva_object_resident(rig, 64, 0x1000);

    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB + SPAN - 4 * 4096, 0, 8)));
    gva_idle(rig);
    CHECK_RULE("GPUVA-170",
               gva_leaf_write(rig, 0)->args.UpdatePageTable.NumPageTableEntries == 4 &&
                   gva_leaf_write(rig, 1)->args.UpdatePageTable.NumPageTableEntries == 4 &&
                   gva_leaf_write(rig, 1)->args.UpdatePageTable.StartIndex == 0 &&
                   !gva_leaf_write(rig, 2));
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++)
        CHECK_RULE("GPUVA-171", gva_update_at(rig, i)->NumPageTableEntries >= 1 &&
                                    gva_update_at(rig, i)->StartIndex +
                                            gva_update_at(rig, i)->NumPageTableEntries <=
                                        512);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, operations_split_at_changes_of_allocation_and_protection)
{
    struct gva_object *a = gva_object_resident(rig, 8, 0x1000),
                      *b = gva_object_resident(rig, 8, 0x1008);
    uint64_t base = GB;
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(a, 2);

    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    CHECK(NT_SUCCESS(gva_map_part(rig, a, GB, 0, 8)) &&
          NT_SUCCESS(gva_map_part(rig, b, GB + 8 * 4096, 0, 8)));
    args.BaseAddress = GB + 4096;
    args.DriverProtection = 5;
    args.OffsetInPages = 1;
    CHECK(NT_SUCCESS(gva_map(rig, &args)));
    gva_idle(rig);
    gva_mark(rig);
    CHECK(NT_SUCCESS(paging_process_rebuild(rig->vidmm)));
    gva_object_place(rig, a, NULL, 0);
    gva_mark(rig);
    gva_object_place_at(rig, a, GVA_VRAM_SEGMENT, 0x1000);
    /* 0..1 with 0, 1..3 with 5, 3..8 with 0; b is another allocation, though its pages follow */
    CHECK_RULE("GPUVA-179", gva_leaf_write(rig, 0)->args.UpdatePageTable.DriverProtection !=
                                    gva_leaf_write(rig, 1)->args.UpdatePageTable.DriverProtection ||
                                gva_leaf_write(rig, 1)->args.UpdatePageTable.DriverProtection !=
                                    gva_leaf_write(rig, 2)->args.UpdatePageTable.DriverProtection);
    CHECK_RULE("GPUVA-179", gva_leaf_write(rig, 2) && !gva_leaf_write(rig, 3));
    gva_object_destroy(rig, a);
    gva_object_destroy(rig, b);
}

TEST_WITH(gva, repeat_is_for_invalid_and_zero)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    uint64_t zero = 0;

    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 8)) &&
          NT_SUCCESS(gva_map_part(rig, object, 2 * GB, 3, 1)));
    CHECK(NT_SUCCESS(gva_reserve(rig, 32, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &zero)));
    gva_object_place(rig, object, NULL, 0);
    gva_idle(rig);
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++) {
        const struct gva_op *op = gva_op_at(rig, UPDATE, i);

        if (op->args.UpdatePageTable.Flags.Repeat)
            CHECK_RULE("GPUVA-174", !op->entries[0].Valid || op->entries[0].Zero);
        if (op->entries[0].Zero)
            CHECK_RULE("GPUVA-192", op->entries[0].Valid && op->entries[0].PageAddress == 0);
        if (op->args.UpdatePageTable.Flags.Repeat)
            CHECK_RULE("GPUVA-173", op->args.UpdatePageTable.NumPageTableEntries >= 1);
        /* tables are pinned */
        CHECK_RULE("GPUVA-167", !op->args.UpdatePageTable.Flags.NotifyEviction);
    }
    gva_object_destroy(rig, object);
}

static void expect_poison(struct gva_rig *rig, const DXGKARG_BUILDPAGINGBUFFER *args)
{
    static DXGK_PTE *kept;
    static DXGK_PTE value;

    (void)rig;
    if (kept)
        CHECK_RULE("GPUVA-172", kept->Flags != value.Flags);
    kept = NULL;
    if (args->Operation == UPDATE && !args->UpdatePageTable.Flags.Repeat &&
        args->UpdatePageTable.PageTableLevel == 0) {
        kept = args->UpdatePageTable.pPageTableEntries;
        value = *kept;
    }
}

TEST_WITH(gva, arrays_are_poisoned_after_the_call)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    rig->on_build = expect_poison;
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 8)));
    gva_idle(rig);
    rig->on_build = NULL;
    gva_object_destroy(rig, object);
}

static unsigned arrays, repeats;

/* Past the array that the driver is told, which is shorter than what the host has for it. */
static void write_past_the_array(struct gva_rig *rig, const DXGKARG_BUILDPAGINGBUFFER *args)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &args->UpdatePageTable;
    const UINT count = update->Flags.Repeat ? 1 : update->NumPageTableEntries;

    (void)rig;
    if (args->Operation != UPDATE)
        return;
    *(update->Flags.Repeat ? &repeats : &arrays) += 1;
    update->pPageTableEntries[count].Flags ^= 1;
}

static void write_the_last_entry(struct gva_rig *rig, const DXGKARG_BUILDPAGINGBUFFER *args)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &args->UpdatePageTable;

    (void)rig;
    if (args->Operation == UPDATE && !update->Flags.Repeat)
        update->pPageTableEntries[update->NumPageTableEntries - 1].Flags ^= 0;
}

TEST_WITH(gva, writes_past_arrays_are_reported)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    arrays = repeats = 0;
    rig->on_build = write_past_the_array;
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 8)));
    gva_idle(rig);
    CHECK_RULE("LIFE-191", arrays && repeats &&
                               verify_rule_count(rig->base.log, "LIFE-191") == arrays + repeats);
    rig->on_build = write_the_last_entry;
    CHECK(NT_SUCCESS(gva_map_part(rig, object, 2 * GB, 0, 8)));
    gva_idle(rig);
    CHECK_RULE("LIFE-191",
               verify_rule_count(rig->base.log, "LIFE-191") == arrays + repeats); /* as before */
    rig->on_build = NULL;
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, multipass_repeats_the_same_arguments)
{
    struct gva_object *object = gva_object_resident(rig, 64, 0x1000);

    rig->insufficient_every = 2;
    for (uint64_t i = 0; i < 20; i++)
        CHECK(NT_SUCCESS(gva_map_part(rig, object, GB + i * 65536, i, 3)));
    gva_idle(rig);
    for (uint64_t i = 0; i < 20; i++)
        CHECK_RULE("GPUVA-188", gva_entry_page(gva_look(rig, GB + i * 65536 + 8192)) == 0x1002 + i);
    rig->insufficient_every = 0;
    gva_object_destroy(rig, object);
}

/* ---- flushes ---- */

TEST_WITH(gva, flushes_name_the_space_and_the_range)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    const DXGK_BUILDPAGINGBUFFER_FLUSHTLB *flush;

    gva_map_simple(rig, object, 1);
    gva_idle(rig);
    gva_mark(rig);
    CHECK(NT_SUCCESS(gva_map_part(rig, object, 2 * 65536, 0, 1)));
    gva_idle(rig);
    flush = &gva_op_at(rig, FLUSH, 0)->args.FlushTlb;
    CHECK_RULE("GPUVA-217", flush->hProcess == rig->process->driver_handle &&
                                flush->RootPageTableAddress.SegmentOffset ==
                                    table_address(rig->process->space->root).SegmentOffset);
    CHECK_RULE("GPUVA-218", flush->StartVirtualAddress == 2 * 65536 &&
                                flush->EndVirtualAddress == 2 * 65536 + 4096);
    CHECK_RULE("GPUVA-190", gva_op_position(rig, FLUSH, 0) > gva_op_position(rig, UPDATE, 0));
    gva_object_destroy(rig, object);
}

static void not_cached(struct gva_options *options)
{
    options->mmu.InvalidTlbEntriesNotCached = 1;
}

static void not_cached_old(struct gva_options *options)
{
    options->mmu.InvalidTlbEntriesNotCached = 1;
    options->version = DXGKDDI_INTERFACE_VERSION_WDDM2_0;
}

TEST_WITH(gva, fresh_entries_need_no_flush_where_invalid_ones_are_not_cached, not_cached(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    uint64_t va = gva_map_simple(rig, object, 8);

    gva_idle(rig);
    CHECK_RULE("GPUVA-220", gva_op_count(rig, UPDATE) > 0 && gva_op_count(rig, FLUSH) == 0);
    CHECK_RULE("CAPS-090/a", gva_op_count(rig, FLUSH) == 0);
    gva_mark(rig);
    CHECK(gva_free(rig, va, 8) == STATUS_SUCCESS);
    gva_idle(rig);
    CHECK_RULE("GPUVA-220", gva_op_count(rig, FLUSH) == 1);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, caps_newer_than_the_driver_are_ignored, not_cached_old(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    gva_map_simple(rig, object, 8);
    gva_idle(rig);
    CHECK_RULE("GPUVA-026", gva_op_count(rig, FLUSH) > 0);
    gva_object_destroy(rig, object);
}

static void idle_spaces(struct gva_options *options)
{
    options->mmu.PageTableUpdateRequireAddressSpaceIdle = 1;
}

static void expect_suspended(struct gva_rig *rig, const DXGKARG_BUILDPAGINGBUFFER *args)
{
    if (args->Operation == UPDATE && args->UpdatePageTable.hProcess == rig->process->driver_handle)
        CHECK_RULE("GPUVA-221", rig->suspends == rig->resumes + 1);
}

TEST_WITH(gva, contexts_are_suspended_around_updates_if_asked, idle_spaces(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct vidmm_context context;

    vidmm_context_init(&context, rig->mm_device, true, false);
    context.driver_handle = (HANDLE)(uintptr_t)0xCC;
    CHECK(NT_SUCCESS(vidmm_context_attach(&context)));
    rig->on_build = expect_suspended;
    rig->delay = 1000;
    gva_map_simple(rig, object, 8);
    gva_idle(rig);
    rig->on_build = NULL;
    CHECK_RULE("GPUVA-221", rig->suspends > 0 && rig->suspends == rig->resumes);
    CHECK_RULE("CAPS-089/a", rig->suspends > 0);
    CHECK_RULE("GPUVA-221", rig->early_resumes == 0);
    vidmm_context_detach(&context);
    vidmm_context_finish(&context);
    gva_object_destroy(rig, object);
}
