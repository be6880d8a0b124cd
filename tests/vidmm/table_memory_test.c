/* SPDX-License-Identifier: MIT */
/* The memory of page tables: its size, its life, what large pages make of it, and running out. */
#include "support/gva_rig.h"
#include "support/gva_updates.h"

#include "sim/machine.h"
#include "sim/point.h"

#define SPAN   (512ull * 4096)
#define GB     (1ull << 30)
#define UPDATE DXGK_OPERATION_UPDATE_PAGE_TABLE
#define FLUSH  DXGK_OPERATION_FLUSH_TLB

static void odd_sizes(struct gva_options *options)
{
    options->level[0].PageTableSizeInBytes = 8192;
    options->level[0].PageTableAlignmentInBytes = 65536;
}

TEST_WITH(gva, tables_take_their_size_and_alignment, odd_sizes(options))
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 1024);
    uint64_t before = gva_pinned(rig), va = SPAN;

    CHECK(NT_SUCCESS(gva_map_at(rig, object, va, 512)));
    CHECK_RULE("GPUVA-148",
               gva_pinned(rig) == before + 4096 * 2 + 8192); /* levels 2 and 1, a leaf */
    CHECK(NT_SUCCESS(gva_map_part(rig, object, va + SPAN, 0, 512)));
    CHECK_RULE("GPUVA-148", gva_pinned(rig) == before + 4096 * 2 + 8192 * 2);
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x1000);
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++)
        if (gva_update_at(rig, i)->PageTableLevel == 0)
            CHECK_RULE("GPUVA-020",
                       gva_update_at(rig, i)->PageTableAddress.GpuPhysical.SegmentOffset % 65536 ==
                           0);
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
    while (NT_SUCCESS(status = gva_map_part(rig, object, base, 0, 1))) {
        base += SPAN;
        CHECK(++mapped < 100000);
    }
    CHECK_RULE("GPUVA-151", status == STATUS_NO_MEMORY && mapped > 0);
    CHECK(gva_valid(rig));
    CHECK_RULE("GPUVA-151", gva_entry_page(gva_look(rig, first)) == 0x100 &&
                                gva_entry_page(gva_look(rig, 4 * GB)) == 0x100);
    CHECK(gva_free(rig, 4 * GB, 1) == STATUS_SUCCESS);
    gva_idle(rig);
    CHECK_RULE("GPUVA-151", NT_SUCCESS(gva_map_part(rig, object, base, 0, 1)));
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
        if (gva_update_at(rig, i)->PageTableLevel == 0 &&
            !gva_op_at(rig, UPDATE, i)->entries[0].Valid &&
            !gva_update_at(rig, i)->Flags.InitialUpdate)
            count += gva_update_at(rig, i)->NumPageTableEntries;
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
    CHECK_RULE("CAPS-089/d", invalidated(rig) >= 1024);
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

    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 512)));
    entry = gva_look(rig, GB + 7 * 4096);
    CHECK_RULE("GPUVA-213",
               (entry & GVA_LARGE) && gva_entry_page(entry) == 0x1007 && !gva_leaf_write(rig, 0));
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++)
        if (gva_op_at(rig, UPDATE, i)->entries[0].LargePage)
            CHECK_RULE("GPUVA-177",
                       gva_update_at(rig, i)->hAllocation == object->allocation.driver_handle &&
                           gva_update_at(rig, i)->PageTableLevel == 1);
    CHECK(NT_SUCCESS(gva_map_part(rig, off, 2 * GB, 0, 512)));
    CHECK_RULE("GPUVA-214", !(gva_look(rig, 2 * GB) & GVA_LARGE));
    gva_object_place(rig, object, &system, 1);
    CHECK_RULE("GPUVA-216",
               !(gva_look(rig, GB) & GVA_LARGE) && gva_entry_page(gva_look(rig, GB)) == 0x2000);
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x1000);
    CHECK(gva_look(rig, GB) & GVA_LARGE);
    CHECK(NT_SUCCESS(gva_map_part(rig, off, GB + 4096, 3, 1))); /* breaks it up */
    CHECK_RULE("GPUVA-091", gva_entry_page(gva_look(rig, GB + 4096)) == 0x1103 &&
                                gva_entry_page(gva_look(rig, GB)) == 0x1000 &&
                                gva_entry_page(gva_look(rig, GB + 8192)) == 0x1002);
    object->allocation.flags.DisableLargePageMapping = 1;
    CHECK(NT_SUCCESS(gva_map_part(rig, object, 3 * GB, 0, 512)));
    CHECK_RULE("GPUVA-215", !(gva_look(rig, 3 * GB) & GVA_LARGE));
    CHECK(gva_valid(rig));
    gva_object_destroy(rig, object);
    gva_object_destroy(rig, off);
}

TEST_WITH(gva, unaligned_blocks_with_their_cap, large_unaligned(options))
{
    struct gva_object *off = gva_object_resident(rig, 512, 0x1100);

    CHECK(NT_SUCCESS(gva_map_part(rig, off, 2 * GB, 0, 512)));
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

    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 8)));
    gva_idle(rig);
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++)
        CHECK_RULE("GPUVA-209", (gva_update_at(rig, i)->pPageTableEntries64KB != NULL) ==
                                    (gva_update_at(rig, i)->PageTableLevel == 1));
    gva_object_destroy(rig, object);
}

/* ---- every failure of memory ---- */

static bool same_tables(struct gva_rig *rig, uint64_t tables, uint64_t free_pages)
{
    return rig->vidmm->mmu->tables == tables &&
           rig->process->space->ranges.free_units == free_pages && gva_valid(rig);
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
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB + 4096, 0, 9)));
    gva_idle(rig);
    fresh.BaseAddress = 3 * GB;
    inside.BaseAddress = GB + 4 * 4096;
    for (uint64_t n = 1; !NT_SUCCESS(status); n++, failures++) { /* a new range, new tables */
        tables = rig->vidmm->mmu->tables;
        pages = rig->process->space->ranges.free_units;
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
        pages = rig->process->space->ranges.free_units;
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
        pages = rig->process->space->ranges.free_units;
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

/* ---- tables in system memory ---- */

static void tables_in_system_memory(struct gva_options *options, UINT version, bool cached)
{
    options->version = version;
    options->mmu.CachedPageTables = cached;
    for (unsigned level = 0; level < options->mmu.PageTableLevelCount; level++)
        options->level[level].PageTableSegmentId = 0;
}

static enum ram_cache cache_of_root(const struct gva_rig *rig)
{
    return ram_page_cache(rig->vidmm->config.ram, rig->process->space->root->place.frame);
}

TEST_WITH(gva, tables_are_cached_where_the_driver_supports_it,
          tables_in_system_memory(options, DXGKDDI_INTERFACE_VERSION_WDDM3_1, true))
{
    CHECK_RULE("GPUVA-027", cache_of_root(rig) == RAM_CACHED);
}

TEST_WITH(gva, tables_are_write_combined_elsewhere,
          tables_in_system_memory(options, DXGKDDI_INTERFACE_VERSION_WDDM3_1, false))
{
    CHECK_RULE("GPUVA-027", cache_of_root(rig) == RAM_WRITE_COMBINED);
}

/* The bit has no meaning in older versions. */
TEST_WITH(gva, tables_of_older_drivers_are_write_combined,
          tables_in_system_memory(options, DXGKDDI_INTERFACE_VERSION_WDDM2_9, true))
{
    CHECK_RULE("GPUVA-027", cache_of_root(rig) == RAM_WRITE_COMBINED);
}
