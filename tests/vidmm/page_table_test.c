/* SPDX-License-Identifier: MIT */
/* Page tables: their memory, their life, and the operations that write them. */
#include "support/gva_rig.h"

#include "sim/machine.h"
#include "sim/point.h"

#define SPAN   (512ull * 4096)
#define GB     (1ull << 30)
#define UPDATE DXGK_OPERATION_UPDATE_PAGE_TABLE
#define FLUSH  DXGK_OPERATION_FLUSH_TLB

static NTSTATUS map_at(struct gva_rig *rig, const struct gva_object *object, uint64_t base,
                       uint64_t offset, uint64_t pages)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, pages);

    args.BaseAddress = base;
    args.OffsetInPages = offset;
    return gva_map(rig, &args);
}

static const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update_at(const struct gva_rig *rig, uint32_t n)
{
    const struct gva_op *op = gva_op_at(rig, UPDATE, n);

    return op ? &op->args.UpdatePageTable : NULL;
}

/* The n-th update since the mark that writes a valid leaf entry. */
static const struct gva_op *leaf_write(const struct gva_rig *rig, uint32_t n)
{
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++) {
        const struct gva_op *op = gva_op_at(rig, UPDATE, i);

        if (op->args.UpdatePageTable.PageTableLevel == 0 && op->entries[0].Valid && n-- == 0)
            return op;
    }
    return NULL;
}

/* ---- the first map: order, initial updates, links ---- */

TEST_WITH(gva, tables_are_initialised_then_linked_then_written)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u;

    CHECK(NT_SUCCESS(map_at(rig, object, GB + 5 * 4096, 0, 2)));
    gva_idle(rig);
    /* root, level 2 + link, level 1 + link, leaf + link, entries */
    CHECK(gva_op_count(rig, UPDATE) == 8);
    for (uint32_t i = 0; i < 8; i++) {
        u = update_at(rig, i);
        CHECK_RULE("GPUVA-180", u->hProcess == rig->process->driver_handle);
        CHECK_RULE("GPUVA-182", u->UpdateMode == DXGK_PAGETABLEUPDATE_GPU_PHYSICAL);
        CHECK_RULE("GPUVA-209", u->pPageTableEntries64KB == NULL);
        if (u->PageTableLevel > 0 || u->Flags.InitialUpdate)
            CHECK_RULE("GPUVA-147", u->hAllocation == NULL);
    }
    CHECK_RULE("GPUVA-011",
               update_at(rig, 0)->PageTableLevel == 3 && update_at(rig, 0)->Flags.InitialUpdate);
    for (uint32_t i = 0; i < 4; i++) {
        u = update_at(rig, i == 0 ? 0 : 2 * i - 1);
        CHECK_RULE("GPUVA-175", u->Flags.InitialUpdate && u->Flags.Repeat && u->StartIndex == 0 &&
                                    u->NumPageTableEntries == 512);
        CHECK_RULE("GPUVA-149",
                   u->PageTableLevel == 3 - i &&
                       !gva_op_at(rig, UPDATE, i == 0 ? 0 : 2 * i - 1)->entries[0].Valid);
    }
    for (uint32_t i = 0; i < 3; i++) {
        const struct gva_op *link = gva_op_at(rig, UPDATE, 2 * i + 2);
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *below = update_at(rig, 2 * i + 1);

        u = &link->args.UpdatePageTable;
        CHECK_RULE("GPUVA-149",
                   u->PageTableLevel == 3 - i && !u->Flags.InitialUpdate && link->entries[0].Valid);
        CHECK_RULE("GPUVA-198",
                   link->entries[0].PageTableAddress ==
                           below->PageTableAddress.GpuPhysical.SegmentOffset >> 12 &&
                       link->entries[0].Segment == below->PageTableAddress.GpuPhysical.SegmentId);
        CHECK_RULE("GPUVA-199", (link->entries[0].Flags & ~0x3FFull) == 0);
    }
    CHECK_RULE("GPUVA-012", update_at(rig, 6)->StartIndex == (GB >> 21 & 511) &&
                                update_at(rig, 4)->StartIndex == 1 &&
                                update_at(rig, 2)->StartIndex == 0 &&
                                update_at(rig, 7)->StartIndex == 5);
    CHECK_RULE("GPUVA-181", update_at(rig, 7)->FirstPteVirtualAddress == GB + 5 * 4096 &&
                                update_at(rig, 6)->FirstPteVirtualAddress == GB);
    CHECK_RULE("GPUVA-185", update_at(rig, 7)->PageTableAddress.GpuPhysical.SegmentOffset ==
                                update_at(rig, 5)->PageTableAddress.GpuPhysical.SegmentOffset);
    CHECK_RULE("GPUVA-016",
               update_at(rig, 7)->PageTableAddress.GpuPhysical.SegmentId == GVA_VRAM_SEGMENT);
    CHECK_RULE("GPUVA-219", gva_op_position(rig, FLUSH, 0) > gva_op_position(rig, UPDATE, 7));
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, leaf_updates_describe_what_they_map)
{
    struct gva_object *object = gva_object_resident(rig, 64, 0x1000);
    const struct gva_op *op;

    CHECK(NT_SUCCESS(map_at(rig, object, GB, 4, 4)) &&
          NT_SUCCESS(map_at(rig, object, GB + 65536, 10, 1)));
    gva_idle(rig);
    op = leaf_write(rig, 0);
    CHECK_RULE("GPUVA-178",
               op->args.UpdatePageTable.AllocationOffsetInBytes == 16384 &&
                   leaf_write(rig, 1)->args.UpdatePageTable.AllocationOffsetInBytes == 40960);
    CHECK_RULE("GPUVA-176",
               op->args.UpdatePageTable.hAllocation == object->allocation.driver_handle);
    CHECK_RULE("GPUVA-172", op->args.UpdatePageTable.NumPageTableEntries == 4 &&
                                op->entries[3].PageAddress == 0x1007);
    CHECK_RULE("GPUVA-197", op->entries[0].PageAddress == 0x1004);
    CHECK_RULE("GPUVA-196", op->entries[0].Segment == GVA_VRAM_SEGMENT);
    CHECK_RULE("GPUVA-189", op->args.UpdatePageTable.NumPageTableEntries == 4);
    CHECK_RULE("GPUVA-195", !op->entries[0].CacheCoherent);
    CHECK_RULE("GPUVA-199", op->entries[0].PhysicalAdapterIndex == 0 &&
                                op->entries[0].Reserved == 0 && op->entries[0].SystemReserved0 == 0);
    CHECK_RULE("GPUVA-191", op->entries[0].Valid && !op->entries[0].Zero);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, one_operation_addresses_one_table)
{
    struct gva_object *object = gva_object_resident(rig, 64, 0x1000);

    CHECK(NT_SUCCESS(map_at(rig, object, GB + SPAN - 4 * 4096, 0, 8)));
    gva_idle(rig);
    CHECK_RULE("GPUVA-170", leaf_write(rig, 0)->args.UpdatePageTable.NumPageTableEntries == 4 &&
                                leaf_write(rig, 1)->args.UpdatePageTable.NumPageTableEntries == 4 &&
                                leaf_write(rig, 1)->args.UpdatePageTable.StartIndex == 0 &&
                                !leaf_write(rig, 2));
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++)
        CHECK_RULE("GPUVA-171",
                   update_at(rig, i)->NumPageTableEntries >= 1 &&
                       update_at(rig, i)->StartIndex + update_at(rig, i)->NumPageTableEntries <=
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
    CHECK(NT_SUCCESS(map_at(rig, a, GB, 0, 8)) && NT_SUCCESS(map_at(rig, b, GB + 8 * 4096, 0, 8)));
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
    CHECK_RULE("GPUVA-179", leaf_write(rig, 0)->args.UpdatePageTable.DriverProtection !=
                                    leaf_write(rig, 1)->args.UpdatePageTable.DriverProtection ||
                                leaf_write(rig, 1)->args.UpdatePageTable.DriverProtection !=
                                    leaf_write(rig, 2)->args.UpdatePageTable.DriverProtection);
    CHECK_RULE("GPUVA-179", leaf_write(rig, 2) && !leaf_write(rig, 3));
    gva_object_destroy(rig, a);
    gva_object_destroy(rig, b);
}

TEST_WITH(gva, repeat_is_for_invalid_and_zero)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    uint64_t zero = 0;

    CHECK(NT_SUCCESS(map_at(rig, object, GB, 0, 8)) &&
          NT_SUCCESS(map_at(rig, object, 2 * GB, 3, 1)));
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
    CHECK(NT_SUCCESS(map_at(rig, object, GB, 0, 8)));
    gva_idle(rig);
    rig->on_build = NULL;
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, multipass_repeats_the_same_arguments)
{
    struct gva_object *object = gva_object_resident(rig, 64, 0x1000);

    rig->insufficient_every = 2;
    for (uint64_t i = 0; i < 20; i++)
        CHECK(NT_SUCCESS(map_at(rig, object, GB + i * 65536, i, 3)));
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
    CHECK(NT_SUCCESS(map_at(rig, object, SPAN + 65536, 0, 1)));
    gva_idle(rig);
    flush = &gva_op_at(rig, FLUSH, 0)->args.FlushTlb;
    CHECK_RULE("GPUVA-217", flush->hProcess == rig->process->driver_handle &&
                                flush->RootPageTableAddress.SegmentOffset ==
                                    table_address(rig->process->space->root).SegmentOffset);
    CHECK_RULE("GPUVA-218", flush->StartVirtualAddress == SPAN + 65536 &&
                                flush->EndVirtualAddress == SPAN + 65536 + 4096);
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
    CHECK_RULE("CAPS-090", gva_op_count(rig, FLUSH) == 0);
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
    gva_map_simple(rig, object, 8);
    gva_idle(rig);
    rig->on_build = NULL;
    CHECK_RULE("GPUVA-221", rig->suspends > 0 && rig->suspends == rig->resumes);
    CHECK_RULE("CAPS-089", rig->suspends > 0);
    vidmm_context_detach(&context);
    vidmm_context_finish(&context);
    gva_object_destroy(rig, object);
}

/* ---- memory ---- */

static void odd_sizes(struct gva_options *options)
{
    options->level[0].PageTableSizeInBytes = 8192;
    options->level[0].PageTableAlignmentInBytes = 65536;
}

TEST_WITH(gva, tables_take_their_size_and_alignment, odd_sizes(options))
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 1024);
    uint64_t before = gva_pinned(rig), va;

    va = gva_map_simple(rig, object, 512);
    CHECK_RULE("GPUVA-148",
               gva_pinned(rig) == before + 4096 * 2 + 8192); /* levels 2 and 1, a leaf */
    CHECK(NT_SUCCESS(map_at(rig, object, va + SPAN, 0, 512)));
    CHECK_RULE("GPUVA-148", gva_pinned(rig) == before + 4096 * 2 + 8192 * 2);
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x1000);
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++)
        if (update_at(rig, i)->PageTableLevel == 0)
            CHECK_RULE("GPUVA-020",
                       update_at(rig, i)->PageTableAddress.GpuPhysical.SegmentOffset % 65536 == 0);
    CHECK(gva_free(rig, va, 512) == STATUS_SUCCESS &&
          gva_free(rig, va + SPAN, 512) == STATUS_SUCCESS);
    gva_idle(rig);
    CHECK_RULE("GPUVA-148", gva_pinned(rig) == before);
    gva_object_destroy(rig, object);
}

static void tiny(struct gva_options *options)
{
    options->vram_bytes = 4u << 20;
}

TEST_WITH(gva, no_room_for_tables_fails_the_map_and_nothing_else, tiny(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x100);
    uint64_t first = gva_map_simple(rig, object, 8), base = 4 * GB, mapped = 0;
    NTSTATUS status;

    gva_idle(rig);
    while (NT_SUCCESS(status = map_at(rig, object, base, 0, 1))) {
        base += SPAN;
        CHECK(++mapped < 100000);
    }
    CHECK_RULE("GPUVA-151", status == STATUS_NO_MEMORY && mapped > 0);
    CHECK(gva_valid(rig));
    CHECK_RULE("GPUVA-151", gva_entry_page(gva_look(rig, first)) == 0x100 &&
                                gva_entry_page(gva_look(rig, 4 * GB)) == 0x100);
    CHECK(gva_free(rig, 4 * GB, 1) == STATUS_SUCCESS);
    gva_idle(rig);
    CHECK_RULE("GPUVA-151", NT_SUCCESS(map_at(rig, object, base, 0, 1)));
    CHECK(gva_entry_page(gva_look(rig, base)) == 0x100);
    gva_object_destroy(rig, object);
}

static void explicit_invalidation(struct gva_options *options)
{
    options->mmu.ExplicitPageTableInvalidation = 1;
}

/* Level-0 entries invalidated by updates that are not initial. */
static uint32_t invalidated(const struct gva_rig *rig)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++)
        if (update_at(rig, i)->PageTableLevel == 0 &&
            !gva_op_at(rig, UPDATE, i)->entries[0].Valid && !update_at(rig, i)->Flags.InitialUpdate)
            count += update_at(rig, i)->NumPageTableEntries;
    return count;
}

TEST_WITH(gva, explicit_invalidation_pairs_up, explicit_invalidation(options))
{
    struct gva_object *object = gva_object_resident(rig, 1024, 0x1000);
    uint64_t va = gva_map_simple(rig, object, 1024);

    gva_idle(rig);
    gva_mark(rig);
    CHECK(gva_free(rig, va, 1024) == STATUS_SUCCESS);
    gva_idle(rig);
    CHECK_RULE("GPUVA-152", invalidated(rig) >= 1024);
    CHECK_RULE("CAPS-089", invalidated(rig) >= 1024);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, tables_are_freed_whole_without_explicit_invalidation)
{
    struct gva_object *object = gva_object_resident(rig, 1024, 0x1000);
    uint64_t before = gva_pinned(rig), va = gva_map_simple(rig, object, 1024);

    gva_idle(rig);
    gva_mark(rig);
    rig->hold = true;
    CHECK(gva_free(rig, va, 1024) == STATUS_SUCCESS);
    sim_stall(1000000);
    CHECK_RULE("GPUVA-153", gva_pinned(rig) > before); /* not before the GPU is done */
    gva_release(rig);
    gva_idle(rig);
    CHECK_RULE("GPUVA-152", invalidated(rig) == 0);
    CHECK_RULE("GPUVA-153", gva_pinned(rig) == before && gva_op_count(rig, FLUSH) == 1 &&
                                gva_op_position(rig, FLUSH, 0) > gva_op_position(rig, UPDATE, 0));
    gva_object_destroy(rig, object);
}

/* ---- large pages ---- */

static void large(struct gva_options *options)
{
    options->mmu.LargePageSupported = 1;
}

static void large_unaligned(struct gva_options *options)
{
    options->mmu.LargePageSupported = 1;
    options->mmu.AllowNonAlignedLargePageAddress = 1;
}

TEST_WITH(gva, a_whole_block_is_one_large_page, large(options))
{
    struct gva_object *object = gva_object_resident(rig, 512, 0x1000),
                      *off = gva_object_resident(rig, 512, 0x1100);
    const struct vidmm_run system = {.segment = 0, .first = 0x2000, .pages = 512};
    uint64_t entry;

    CHECK(NT_SUCCESS(map_at(rig, object, GB, 0, 512)));
    entry = gva_look(rig, GB + 7 * 4096);
    CHECK_RULE("GPUVA-213",
               (entry & GVA_LARGE) && gva_entry_page(entry) == 0x1007 && !leaf_write(rig, 0));
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++)
        if (gva_op_at(rig, UPDATE, i)->entries[0].LargePage)
            CHECK_RULE("GPUVA-177",
                       update_at(rig, i)->hAllocation == object->allocation.driver_handle &&
                           update_at(rig, i)->PageTableLevel == 1);
    CHECK(NT_SUCCESS(map_at(rig, off, 2 * GB, 0, 512)));
    CHECK_RULE("GPUVA-214", !(gva_look(rig, 2 * GB) & GVA_LARGE));
    gva_object_place(rig, object, &system, 1);
    CHECK_RULE("GPUVA-216",
               !(gva_look(rig, GB) & GVA_LARGE) && gva_entry_page(gva_look(rig, GB)) == 0x2000);
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x1000);
    CHECK(gva_look(rig, GB) & GVA_LARGE);
    CHECK(NT_SUCCESS(map_at(rig, off, GB + 4096, 3, 1))); /* breaks it up */
    CHECK_RULE("GPUVA-091", gva_entry_page(gva_look(rig, GB + 4096)) == 0x1103 &&
                                gva_entry_page(gva_look(rig, GB)) == 0x1000 &&
                                gva_entry_page(gva_look(rig, GB + 8192)) == 0x1002);
    object->allocation.flags.DisableLargePageMapping = 1;
    CHECK(NT_SUCCESS(map_at(rig, object, 3 * GB, 0, 512)));
    CHECK_RULE("GPUVA-215", !(gva_look(rig, 3 * GB) & GVA_LARGE));
    CHECK(gva_valid(rig));
    gva_object_destroy(rig, object);
    gva_object_destroy(rig, off);
}

TEST_WITH(gva, unaligned_blocks_with_their_cap, large_unaligned(options))
{
    struct gva_object *off = gva_object_resident(rig, 512, 0x1100);

    CHECK(NT_SUCCESS(map_at(rig, off, 2 * GB, 0, 512)));
    CHECK_RULE("GPUVA-214", gva_look(rig, 2 * GB) & GVA_LARGE);
    gva_object_destroy(rig, off);
}

static void dual(struct gva_options *options)
{
    options->mmu.DualPteSupported = 1;
    options->mmu.LeafPageTableSizeFor64KPagesInBytes = 4096;
}

TEST_WITH(gva, dual_entries_come_in_two_arrays, dual(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    CHECK(NT_SUCCESS(map_at(rig, object, GB, 0, 8)));
    gva_idle(rig);
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++)
        CHECK_RULE("GPUVA-209", (update_at(rig, i)->pPageTableEntries64KB != NULL) ==
                                    (update_at(rig, i)->PageTableLevel == 1));
    gva_object_destroy(rig, object);
}

/* ---- every failure of memory ---- */

static bool same_tables(struct gva_rig *rig, uint64_t tables, uint64_t free_pages)
{
    return rig->vidmm->mmu->tables == tables &&
           rig->process->space->free.free_units == free_pages && gva_valid(rig);
}

TEST_WITH(gva, every_failed_allocation_leaves_things_as_they_were)
{
    struct gva_object *object = gva_object_resident(rig, 64, 0x1000);
    uint64_t reserved = GB, tables, pages;
    struct util_heap *heap = &sim_current->heap;
    D3DDDI_MAPGPUVIRTUALADDRESS fresh = gva_map_args(object, 8), inside = gva_map_args(object, 2);
    NTSTATUS status = STATUS_NO_MEMORY;
    unsigned failures = 0;

    CHECK(NT_SUCCESS(gva_reserve(rig, 64, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &reserved)));
    CHECK(NT_SUCCESS(map_at(rig, object, GB + 4096, 0, 9)));
    gva_idle(rig);
    fresh.BaseAddress = 3 * GB;
    inside.BaseAddress = GB + 4 * 4096;
    for (uint64_t n = 1; !NT_SUCCESS(status); n++, failures++) { /* a new range, new tables */
        tables = rig->vidmm->mmu->tables;
        pages = rig->process->space->free.free_units;
        heap->fail_at = heap->requests + n;
        status = gva_map(rig, &fresh);
        heap->fail_at = 0;
        CHECK(NT_SUCCESS(status) || (status == STATUS_NO_MEMORY && same_tables(rig, tables, pages)));
        CHECK(n < 200);
    }
    CHECK(failures >= 4);
    status = STATUS_NO_MEMORY;
    for (uint64_t n = 1; !NT_SUCCESS(status); n++) { /* cuts a piece in two */
        tables = rig->vidmm->mmu->tables;
        pages = rig->process->space->free.free_units;
        heap->fail_at = heap->requests + n;
        status = gva_map(rig, &inside);
        heap->fail_at = 0;
        CHECK(NT_SUCCESS(status) || (status == STATUS_NO_MEMORY && same_tables(rig, tables, pages)));
        CHECK(n < 200);
    }
    status = STATUS_NO_MEMORY;
    for (uint64_t n = 1; !NT_SUCCESS(status); n++) { /* a Zero reservation with two edges */
        D3DDDI_RESERVEGPUVIRTUALADDRESS args = {
            .BaseAddress = 6 * GB + 65536,
            .Size = SPAN * 3,
            .ReservationType = D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO};

        tables = rig->vidmm->mmu->tables;
        pages = rig->process->space->free.free_units;
        heap->fail_at = heap->requests + n;
        status = vidmm_reserve_gpu_va(rig->process, rig->queue, &args);
        heap->fail_at = 0;
        CHECK(NT_SUCCESS(status) || (status == STATUS_NO_MEMORY && same_tables(rig, tables, pages)));
        CHECK(n < 200);
    }
    CHECK(gva_entry_page(gva_look(rig, GB + 5 * 4096)) == 0x1001 &&
          gva_entry_page(gva_look(rig, GB + 6 * 4096)) == 0x1005);
    CHECK(gva_valid(rig));
    gva_object_destroy(rig, object);
}
