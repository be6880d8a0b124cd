/* SPDX-License-Identifier: MIT */
/* Large pages: which memory they can map, how they are broken up and put together again, and what a reset leaves of them. */
#include "bus/memory.h"
#include "support/gva_rig.h"
#include "support/gva_updates.h"

#include <string.h>

#define GB     (1ull << 30)
#define UPDATE DXGK_OPERATION_UPDATE_PAGE_TABLE

static void large(struct gva_options *options)
{
    options->mmu.LargePageSupported = 1;
}

static void large_system(struct gva_options *options)
{
    options->mmu.LargePageSupported = 1;
    options->mmu.SysMemLargePageSupported = 1;
}

static bool is_large(struct gva_rig *rig, uint64_t va)
{
    uint64_t entry = gva_look(rig, va);

    CHECK(entry != GVA_FAULT);
    return (entry & GVA_LARGE) != 0;
}

/* What the GPU finds on a page that is no part of a large page. */
static bool small(struct gva_rig *rig, uint64_t va, uint64_t page)
{
    uint64_t entry = gva_look(rig, va);

    return entry != GVA_FAULT && !(entry & GVA_LARGE) && gva_entry_page(entry) == page;
}

static void place_two(struct gva_rig *rig, struct gva_object *object, struct vidmm_run first,
                      struct vidmm_run second)
{
    const struct vidmm_run runs[2] = {first, second};

    gva_object_place(rig, object, runs, 2);
}

TEST_WITH(gva, a_large_page_is_one_stretch_of_one_segment, large_system(options))
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 512);
    const struct vidmm_run low = {.segment = 1, .first = 0x1000, .pages = 511};
    struct vidmm_run high = {.segment = 1, .first = 0x11FF, .pages = 1};

    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 512)));
    place_two(rig, object, low, high);
    CHECK_RULE("GPUVA-213", is_large(rig, GB));
    high.first = 0x1200;
    place_two(rig, object, low, high);
    CHECK_RULE("GPUVA-213",
               small(rig, GB, 0x1000) && gva_entry_page(gva_look(rig, GB + 511 * 4096)) == 0x1200);
    high.first = 0x11FF;
    high.segment = 0;
    place_two(rig, object, low, high);
    CHECK_RULE("GPUVA-213", !is_large(rig, GB) && !is_large(rig, GB + 511 * 4096));
    CHECK(gva_entry_segment(gva_look(rig, GB + 511 * 4096)) == 0);
    CHECK(gva_valid(rig));
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, system_memory_has_large_pages_with_their_cap, large_system(options))
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 512);
    const struct vidmm_run run = {.segment = 0, .first = 0x2000, .pages = 512};
    static struct logical_page logical[512];
    static struct page_number frames[512];

    for (uint64_t i = 0; i < 512; i++) {
        logical[i].value = 0x4000 + i;
        frames[i].value = i + 1;
    }
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 512)));
    gva_object_place(rig, object, &run, 1);
    CHECK_RULE("GPUVA-216", is_large(rig, GB) && gva_entry_page(gva_look(rig, GB)) == 0x2000);
    object->allocation.logical = logical;
    object->allocation.backing = frames;
    gva_object_place(rig, object, &run, 1);
    CHECK_RULE("GPUVA-216",
               is_large(rig, GB) && gva_entry_page(gva_look(rig, GB + 511 * 4096)) == 0x41FF);
    logical[511].value++;
    gva_object_place(rig, object, &run, 1);
    CHECK(small(rig, GB, 0x4000) && small(rig, GB + 511 * 4096, 0x4200));
    object->allocation.logical = NULL;
    object->allocation.backing = NULL;
    gva_object_destroy(rig, object);
}

/* A range that begins inside a span and ends inside another has large pages only between. */
TEST_WITH(gva, only_whole_spans_are_large_pages, large(options))
{
    struct gva_object *object = gva_object_resident(rig, 2048, 0x1000);

    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB - 4096, 511, 1025)));
    CHECK_RULE("GPUVA-213", small(rig, GB - 4096, 0x11FF));
    CHECK_RULE("GPUVA-213", is_large(rig, GB) && is_large(rig, GB + 512 * 4096));
    CHECK(gva_look(rig, GB + 1024 * 4096) == GVA_FAULT);
    CHECK(NT_SUCCESS(gva_map_part(rig, object, 2 * GB, 512, 511)));
    CHECK_RULE("GPUVA-213", small(rig, 2 * GB, 0x1200) && small(rig, 2 * GB + 510 * 4096, 0x13FE));
    gva_object_destroy(rig, object);
}

static NTSTATUS map_nothing(struct gva_rig *rig, uint64_t base, uint64_t pages, bool zero)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(NULL, pages);

    args.BaseAddress = base;
    args.Protection.Zero = zero;
    args.Protection.NoAccess = !zero;
    return gva_map(rig, &args);
}

/* Pages of a reservation lose a page of a large page, and get another. */
TEST_WITH(gva, a_hole_breaks_a_large_page_up, large(options))
{
    struct gva_object *object = gva_object_resident(rig, 1024, 0x1000);
    uint64_t base = GB;

    CHECK(NT_SUCCESS(gva_reserve(rig, 1024, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 1024)));
    CHECK(is_large(rig, GB) && is_large(rig, GB + 512 * 4096));
    CHECK(NT_SUCCESS(map_nothing(rig, GB + 5 * 4096, 2, false)));
    CHECK_RULE("GPUVA-091", gva_look(rig, GB + 5 * 4096) == GVA_FAULT &&
                                gva_look(rig, GB + 6 * 4096) == GVA_FAULT);
    CHECK(small(rig, GB + 4 * 4096, 0x1004) && small(rig, GB + 7 * 4096, 0x1007));
    CHECK(is_large(rig, GB + 512 * 4096));
    CHECK(NT_SUCCESS(map_nothing(rig, GB + 1023 * 4096, 1, true)));
    CHECK((gva_look(rig, GB + 1023 * 4096) & GVA_ZERO) && small(rig, GB + 512 * 4096, 0x1200));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 1024)));
    CHECK(is_large(rig, GB) && is_large(rig, GB + 1023 * 4096));
    CHECK(NT_SUCCESS(map_nothing(rig, GB, 512, true)));
    CHECK((gva_look(rig, GB) & GVA_ZERO) && (gva_look(rig, GB + 511 * 4096) & GVA_ZERO));
    CHECK(is_large(rig, GB + 512 * 4096) && gva_valid(rig));
    gva_object_destroy(rig, object);
    CHECK(gva_look(rig, GB + 512 * 4096) == GVA_FAULT && (gva_look(rig, GB) & GVA_ZERO));
}

TEST_WITH(gva, large_pages_stand_again_after_a_reset, large(options))
{
    struct gva_object *object = gva_object_resident(rig, 1536, 0x1000);
    struct gva_object *gone = gva_object_resident(rig, 512, 0x2000);
    uint32_t cursor = 0, entries = 0;
    uint64_t key, base = GB;
    void *value;

    CHECK(NT_SUCCESS(gva_reserve(rig, 2048, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &base)));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, GB, 0, 1536)));
    CHECK(NT_SUCCESS(gva_map_part(rig, gone, 2 * GB, 0, 512)));
    CHECK(is_large(rig, GB) && is_large(rig, 2 * GB));
    CHECK(NT_SUCCESS(map_nothing(rig, GB + 513 * 4096, 1, false)));
    gva_idle(rig);
    vidmm_reset_cleanup(rig->vidmm);
    gone->allocation.resident = false; /* lost with the memory */
    memset(bus_device_memory(rig->base.device, 0), 0xEE, rig->options.vram_bytes);
    while (hash_next(&rig->tables, &cursor, &key, &value))
        ((struct gva_table *)value)->initialised = false;
    gva_mark(rig);
    CHECK(NT_SUCCESS(vidmm_reset_restore(rig->vidmm)));
    CHECK_RULE("GPUVA-259", is_large(rig, GB) && gva_entry_page(gva_look(rig, GB)) == 0x1000);
    CHECK_RULE("GPUVA-259", is_large(rig, GB + 1024 * 4096) &&
                                gva_entry_page(gva_look(rig, GB + 1535 * 4096)) == 0x15FF);
    CHECK_RULE("GPUVA-259", small(rig, GB + 512 * 4096, 0x1200) &&
                                gva_look(rig, GB + 513 * 4096) == GVA_FAULT &&
                                small(rig, GB + 514 * 4096, 0x1202));
    CHECK(gva_look(rig, GB + 1536 * 4096) & GVA_ZERO);
    CHECK(gva_look(rig, GB + 2047 * 4096) & GVA_ZERO);
    CHECK(gva_look(rig, 2 * GB) == GVA_FAULT);
    for (uint32_t i = 0; i < gva_op_count(rig, UPDATE); i++)
        entries += gva_op_at(rig, UPDATE, i)->entries[0].LargePage;
    CHECK(entries == 2 && gva_valid(rig));
    gva_object_place_at(rig, gone, GVA_VRAM_SEGMENT, 0x2000);
    CHECK(is_large(rig, 2 * GB) && gva_valid(rig));
    gva_object_destroy(rig, gone);
    gva_object_destroy(rig, object);
}

static void two_levels(struct gva_options *options)
{
    options->mmu.LargePageSupported = 1;
    options->mmu.PageTableLevelCount = 2;
    options->mmu.VirtualAddressBitCount = 40;
    options->level[1].PageTableIndexBitCount = 0;
    options->level[1].PageTableSizeInBytes = 0;
}

/* The new root has what stood in the old one: large pages, Zero, and tables. */
TEST_WITH(gva, a_root_that_grows_keeps_its_entries, two_levels(options))
{
    struct gva_object *object = gva_object_resident(rig, 1024, 0x1000);
    uint64_t zero = 8ull << 21, entries;

    CHECK(NT_SUCCESS(gva_map_part(rig, object, 2ull << 21, 0, 512)));
    CHECK(NT_SUCCESS(gva_map_part(rig, object, (4ull << 21) + 4096, 1, 3)));
    CHECK(NT_SUCCESS(gva_reserve(rig, 1024, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &zero)));
    CHECK(is_large(rig, 2ull << 21) && (gva_look(rig, zero + GB / 512) & GVA_ZERO));
    entries = rig->process->space->root->entries;
    gva_mark(rig);
    CHECK(NT_SUCCESS(gva_map_part(rig, object, 64 * GB, 512, 512)));
    gva_idle(rig);
    CHECK(rig->process->space->root->entries >= 64 * GB >> 21 && entries < 64 * GB >> 21);
    CHECK_RULE("GPUVA-164", is_large(rig, 2ull << 21) &&
                                gva_entry_page(gva_look(rig, (2ull << 21) + 511 * 4096)) == 0x11FF);
    CHECK_RULE("GPUVA-164", small(rig, (4ull << 21) + 4096, 0x1001) &&
                                gva_look(rig, (4ull << 21) + 4 * 4096) == GVA_FAULT);
    CHECK_RULE("GPUVA-164", (gva_look(rig, zero) & GVA_ZERO) &&
                                (gva_look(rig, zero + (2ull << 21) - 4096) & GVA_ZERO) &&
                                gva_look(rig, zero + (2ull << 21)) == GVA_FAULT);
    CHECK(is_large(rig, 64 * GB) && gva_valid(rig));
    CHECK(gva_free(rig, 2ull << 21, 512) == STATUS_SUCCESS);
    CHECK(gva_look(rig, 2ull << 21) == GVA_FAULT && gva_valid(rig));
    gva_object_destroy(rig, object);
}
