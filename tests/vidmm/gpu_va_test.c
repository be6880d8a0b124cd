/* SPDX-License-Identifier: MIT */
/* What clients may ask of their GPU virtual address space, and what comes of it in the page
 * tables. */
#include "ddi/client_handle.h"
#include "nt/base/kprocess.h"
#include "nt/ps/process.h"
#include "support/gva_rig.h"

#include "sim/mutex.h"
#include "sim/point.h"
#include "vidmm/space/address_text.h"

#define SPAN      (512ull * 4096)
#define GB        (1ull << 30)
#define TOP       (1ull << 48)
#define OPS(kind) DXGK_OPERATION_##kind

static void no_progress(void *context, uint64_t value)
{
    (void)context;
    (void)value;
}

/* ---- placement ---- */

TEST_WITH(gva, automatic_maps_are_packed)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 64);
    uint64_t first = gva_map_simple(rig, object, 1), second = gva_map_simple(rig, object, 40);

    CHECK_RULE("GPUVA-058/b", first == 65536);
    CHECK_RULE("GPUVA-062/a", second == first + 4096);
    CHECK_RULE("GPUVA-062/a", gva_map_simple(rig, object, 1) == second + 40 * 4096);
    CHECK(gva_free(rig, first, 1) == STATUS_SUCCESS);
    gva_idle(rig);
    CHECK_RULE("GPUVA-062/a", gva_map_simple(rig, object, 1) == first);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, maps_of_64k_are_aligned_where_entries_may_be_as_large,
          options->mmu.DualPteSupported = 1)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 64);

    CHECK_RULE("GPUVA-062/b", gva_map_simple(rig, object, 1) == 65536);
    CHECK_RULE("GPUVA-062/b", gva_map_simple(rig, object, 15) == 65536 + 4096);
    CHECK_RULE("GPUVA-062/b", gva_map_simple(rig, object, 16) == 2 * 65536);
    CHECK_RULE("GPUVA-062/b", gva_map_simple(rig, object, 17) == 3 * 65536);
    gva_object_destroy(rig, object);
}
TEST_ALSO(gva, maps_of_64k_are_aligned_where_entries_may_be_as_large, segment,
          options->large_vram = true)

TEST_WITH(gva, automatic_maps_are_64k_apart, options->sparse_addresses = true)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    uint64_t first = gva_map_simple(rig, object, 1), second = gva_map_simple(rig, object, 1);

    CHECK_RULE("GPUVA-058/c", first >= SPAN && second >= SPAN);
    CHECK_RULE("GPUVA-062/d", first == SPAN && second == first + 65536);
    CHECK_RULE("GPUVA-058/c", gva_map_at(rig, object, SPAN - 4096, 2) == STATUS_INVALID_PARAMETER);
    gva_object_destroy(rig, object);
}

static void large(struct gva_options *options)
{
    options->mmu.LargePageSupported = 1;
}

TEST_WITH(gva, automatic_maps_of_a_span_are_aligned_to_it, large(options))
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 1024);

    gva_map_simple(rig, object, 1);
    CHECK_RULE("GPUVA-062/c", gva_map_simple(rig, object, 512) % SPAN == 0);
    CHECK_RULE("GPUVA-062/c", gva_map_simple(rig, object, 300) % SPAN != 0);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, the_start_is_never_given_out)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);

    CHECK_RULE("GPUVA-058/a", gva_map_at(rig, object, 4096, 1) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-058/a", gva_map_at(rig, object, 65536 - 4096, 2) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-058/a", NT_SUCCESS(gva_map_at(rig, object, 65536, 1)));
    CHECK(gva_look(rig, 0) == GVA_FAULT);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, space_ends_with_the_address_bits)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 2);

    CHECK_RULE("GPUVA-061", gva_map_at(rig, object, TOP - 4096, 2) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-061",
               gva_map_at(rig, object, UINT64_MAX - 4095, 2) == STATUS_INVALID_PARAMETER);
    CHECK(NT_SUCCESS(gva_map_at(rig, object, TOP - 2 * 4096, 2)));
    args.MinimumAddress = TOP - GB;
    args.MaximumAddress = TOP * 2;
    CHECK_RULE("GPUVA-061",
               NT_SUCCESS(gva_map(rig, &args)) && args.VirtualAddress + 2 * 4096 <= TOP);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, base_address_rules_over_the_window)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 2);

    args.BaseAddress = GB;
    args.MinimumAddress = 77;
    args.MaximumAddress = 3;
    CHECK_RULE("GPUVA-077", NT_SUCCESS(gva_map(rig, &args)) && args.VirtualAddress == GB);
    CHECK_RULE("GPUVA-077", gva_map_at(rig, object, 2 * GB + 1, 1) == STATUS_INVALID_PARAMETER);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, window_bounds_the_choice)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 32);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 16);

    args.MinimumAddress = GB;
    args.MaximumAddress = GB + 65536;
    CHECK_RULE("GPUVA-080", NT_SUCCESS(gva_map(rig, &args)) && args.VirtualAddress == GB);
    CHECK_RULE("GPUVA-081", gva_map(rig, &args) == STATUS_NO_MEMORY);
    args.SizeInPages = 17;
    CHECK_RULE("GPUVA-081", gva_map(rig, &args) == STATUS_INVALID_PARAMETER);
    args.SizeInPages = 1;
    args.MaximumAddress = GB + 100;
    CHECK_RULE("GPUVA-080", gva_map(rig, &args) == STATUS_INVALID_PARAMETER);
    gva_object_destroy(rig, object);
}

static void narrow(struct gva_options *options)
{
    options->internal_start = GB;
    options->internal_end = GB + 65536 * 4;
}

TEST_WITH(gva, internal_range_is_for_the_host_and_for_explicit_requests, narrow(options))
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 32);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 16);
    struct vidmm_fence_slot slot;

    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot)));
    CHECK_RULE("GPUVA-059", slot.va.value >= GB && slot.va.value < GB + 65536 * 4);
    args.MinimumAddress = GB - 65536;
    for (int i = 0; i < 8; i++) {
        CHECK(NT_SUCCESS(gva_map(rig, &args)));
        CHECK_RULE("GPUVA-060",
                   args.VirtualAddress + 65536 <= GB || args.VirtualAddress >= GB + 65536 * 4);
    }
    CHECK_RULE("GPUVA-060", NT_SUCCESS(gva_map_at(rig, object, GB, 1)));
    vidmm_fence_slot_destroy(rig->process, &slot);
    gva_object_destroy(rig, object);
}

/* ---- arguments ---- */

TEST_WITH(gva, zero_and_no_access_take_no_allocation)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 1);

    args.Protection.Value = 0;
    args.Protection.Zero = 1;
    CHECK_RULE("GPUVA-082", gva_map(rig, &args) == STATUS_INVALID_PARAMETER);
    args = gva_map_args(NULL, 1);
    CHECK_RULE("GPUVA-082", gva_map(rig, &args) == STATUS_INVALID_PARAMETER);
    args = gva_map_args(object, 1);
    args.hAllocation ^= 0x100;
    CHECK_RULE("GPUVA-082", gva_map(rig, &args) == STATUS_INVALID_PARAMETER);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, pages_must_lie_in_the_allocation)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 9);

    CHECK_RULE("GPUVA-083", gva_map(rig, &args) == STATUS_INVALID_PARAMETER);
    args.OffsetInPages = UINT64_MAX;
    args.SizeInPages = 2;
    CHECK_RULE("GPUVA-083", gva_map(rig, &args) == STATUS_INVALID_PARAMETER);
    args.OffsetInPages = 0;
    args.SizeInPages = 0;
    CHECK_RULE("GPUVA-084", gva_map(rig, &args) == STATUS_INVALID_PARAMETER);
    args.SizeInPages = UINT64_MAX;
    CHECK(gva_map(rig, &args) == STATUS_INVALID_PARAMETER);
    args.OffsetInPages = 3;
    args.SizeInPages = 2;
    CHECK(NT_SUCCESS(gva_map(rig, &args)));
    CHECK_RULE("GPUVA-083",
               gva_entry_page(gva_look(rig, args.VirtualAddress)) == 0x1003 &&
                   gva_entry_page(gva_look(rig, args.VirtualAddress + 4096)) == 0x1004 &&
                   gva_look(rig, args.VirtualAddress + 8192) == GVA_FAULT);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, protections_that_contradict_are_refused)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    static const UINT64 bad[] = {4 | 8, 4 | 1, 8 | 1, 8 | 2, 4 | 2, 16, 16 | 1, 32, 1ull << 63};
    D3DDDI_MAPGPUVIRTUALADDRESS args;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        args = gva_map_args(bad[i] & 12 ? NULL : object, 1);
        args.Protection.Value = bad[i];
        CHECK_RULE("GPUVA-087", gva_map(rig, &args) == STATUS_INVALID_PARAMETER);
    }
    args = gva_map_args(object, 1);
    args.Reserved0 = 1;
    CHECK_RULE("GPUVA-087", gva_map(rig, &args) == STATUS_INVALID_PARAMETER);
    args = gva_map_args(object, 1);
    args.Reserved1 = 1;
    CHECK_RULE("GPUVA-087", gva_map(rig, &args) == STATUS_INVALID_PARAMETER);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, fixed_places_are_free_or_inside_one_own_range)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 64);
    uint64_t base = GB, second = GB + 65536;
    struct vidmm_fence_slot slot;

    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &second)));
    CHECK_RULE("GPUVA-078", NT_SUCCESS(gva_map_at(rig, object, GB + 4096, 2)));
    CHECK_RULE("GPUVA-079", gva_map_at(rig, object, GB + 15 * 4096, 2) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-079",
               gva_map_at(rig, object, second + 15 * 4096, 2) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-079", gva_map_at(rig, object, GB - 4096, 2) == STATUS_INVALID_PARAMETER);
    CHECK(NT_SUCCESS(vidmm_fence_slot_create(rig->process, &slot)));
    CHECK_RULE("GPUVA-078",
               gva_map_at(rig, object, slot.va.value & ~4095ull, 1) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-096",
               gva_map_at(rig, object, slot.va.value & ~4095ull, 1) == STATUS_INVALID_PARAMETER &&
                   gva_free(rig, slot.va.value & ~4095ull, 1) == STATUS_INVALID_PARAMETER);
    /* A map inside makes no range of its own (GPUVA-079). */
    CHECK_RULE("GPUVA-079", gva_free(rig, GB + 4096, 2) == STATUS_INVALID_PARAMETER &&
                                gva_free(rig, GB, 16) == STATUS_SUCCESS);
    vidmm_fence_slot_destroy(rig->process, &slot);
    gva_object_destroy(rig, object);
}

/* ---- what the GPU sees ---- */

TEST_WITH(gva, nothing_is_mapped_unasked)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    gva_idle(rig);
    CHECK_RULE("GPUVA-040", gva_op_count(rig, OPS(UPDATE_PAGE_TABLE)) == 0);
    CHECK_RULE("GPUVA-150", gva_op_count(rig, OPS(UPDATE_PAGE_TABLE)) == 0);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, an_allocation_may_be_mapped_many_times)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    D3DDDI_MAPGPUVIRTUALADDRESS first = gva_map_args(object, 8), second = gva_map_args(object, 4);
    uint64_t a, b;

    second.Protection.Value = 2;
    second.OffsetInPages = 4;
    CHECK(NT_SUCCESS(gva_map(rig, &first)) && NT_SUCCESS(gva_map(rig, &second)));
    a = gva_look(rig, first.VirtualAddress + 4 * 4096);
    b = gva_look(rig, second.VirtualAddress);
    CHECK_RULE("GPUVA-041", gva_entry_page(a) == 0x1004 && gva_entry_page(b) == 0x1004);
    CHECK_RULE("GPUVA-041", (a & (GVA_READ_ONLY | GVA_NO_EXECUTE)) == GVA_NO_EXECUTE &&
                                (b & (GVA_READ_ONLY | GVA_NO_EXECUTE)) == GVA_READ_ONLY);
    gva_object_destroy(rig, object);
}

static void no_protection_caps(struct gva_options *options)
{
    options->mmu.ReadOnlyMemorySupported = 0;
    options->mmu.NoExecuteMemorySupported = 0;
}

TEST_WITH(gva, protection_reaches_the_entries)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    for (UINT64 protection = 0; protection < 4; protection++) {
        D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 1);
        uint64_t entry;

        args.Protection.Value = protection;
        CHECK(NT_SUCCESS(gva_map(rig, &args)));
        entry = gva_look(rig, args.VirtualAddress);
        CHECK_RULE("GPUVA-085", ((entry & GVA_READ_ONLY) == 0) == (protection & 1) &&
                                    ((entry & GVA_NO_EXECUTE) == 0) == (protection >> 1));
        CHECK_RULE("GPUVA-193", ((entry & GVA_READ_ONLY) == 0) == (protection & 1));
        CHECK_RULE("GPUVA-194", ((entry & GVA_NO_EXECUTE) == 0) == (protection >> 1));
    }
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, protection_without_caps_stays_out_of_the_entries, no_protection_caps(options))
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 1);

    args.Protection.Value = 0;
    CHECK(NT_SUCCESS(gva_map(rig, &args)));
    CHECK_RULE("GPUVA-193", !(gva_look(rig, args.VirtualAddress) & GVA_READ_ONLY));
    CHECK_RULE("GPUVA-194", !(gva_look(rig, args.VirtualAddress) & GVA_NO_EXECUTE));
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, entries_follow_residency)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 8);
    const struct vidmm_run runs[] = {{.segment = 0, .first = 0x70, .pages = 3},
                                     {.segment = 0, .first = 0x90, .pages = 5}};

    CHECK_RULE("GPUVA-076", gva_map(rig, &args) == STATUS_SUCCESS && args.PagingFenceValue == 0);
    CHECK_RULE("GPUVA-092", gva_look(rig, args.VirtualAddress) == GVA_FAULT);
    CHECK(gva_op_count(rig, -1) == 0);
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x1000);
    CHECK_RULE("GPUVA-092", gva_entry_page(gva_look(rig, args.VirtualAddress + 4096)) == 0x1001);
    gva_object_place(rig, object, runs, 2);
    CHECK_RULE("GPUVA-093", gva_entry_page(gva_look(rig, args.VirtualAddress + 4 * 4096)) == 0x91 &&
                                gva_entry_segment(gva_look(rig, args.VirtualAddress)) == 0);
    gva_object_place(rig, object, NULL, 0);
    CHECK_RULE("GPUVA-092", gva_look(rig, args.VirtualAddress) == GVA_FAULT);
    gva_object_destroy(rig, object);
}

/* ---- queues and fences ---- */

TEST_WITH(gva, fence_follows_the_entries)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 8);
    uint64_t before = 0;

    rig->hold = true;
    for (int i = 0; i < 3; i++) {
        args.VirtualAddress = 0;
        CHECK_RULE("GPUVA-076", gva_map(rig, &args) == STATUS_PENDING && args.PagingFenceValue != 0);
        CHECK_RULE("GPUVA-075", args.VirtualAddress != 0);
        CHECK_RULE("GPUVA-067", args.PagingFenceValue > before);
        before = args.PagingFenceValue;
    }
    sim_stall(1000000);
    CHECK_RULE("GPUVA-067", rig->progress == 0);
    gva_release(rig);
    gva_idle(rig);
    sim_stall(1000000);
    CHECK_RULE("GPUVA-067", rig->progress == before);
    CHECK(gva_entry_page(gva_look(rig, args.VirtualAddress)) == 0x1000);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, queued_maps_of_a_freed_range_are_dropped)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    D3DDDI_MAPGPUVIRTUALADDRESS first = gva_map_args(object, 8), second = gva_map_args(object, 8);

    sim_mutex_lock(&rig->vidmm->lock); /* the worker cannot begin */
    sim_mutex_unlock(&rig->vidmm->lock);
    rig->hold = true;
    CHECK(gva_map(rig, &first) == STATUS_PENDING);
    CHECK(gva_map(rig, &second) == STATUS_PENDING);
    CHECK(gva_free(rig, second.VirtualAddress, 8) == STATUS_SUCCESS);
    gva_release(rig);
    gva_idle(rig);
    sim_stall(1000000);
    CHECK_RULE("GPUVA-120", rig->progress == second.PagingFenceValue);
    CHECK_RULE("GPUVA-120", gva_look(rig, second.VirtualAddress) == GVA_FAULT);
    CHECK(gva_valid(rig));
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, free_is_synchronous_and_ordered_before_the_next_range)
{
    struct gva_object *a = gva_object_resident(rig, 8, 0x1000),
                      *b = gva_object_resident(rig, 8, 0x2000);
    uint64_t va = gva_map_simple(rig, a, 8);
    uint32_t invalid = UINT32_MAX, flush = UINT32_MAX, valid = UINT32_MAX;

    gva_idle(rig);
    gva_mark(rig);
    rig->hold = true;
    CHECK_RULE("GPUVA-119",
               gva_free(rig, va, 8) == STATUS_SUCCESS && NT_SUCCESS(gva_map_at(rig, b, va, 8)));
    gva_release(rig);
    CHECK(gva_entry_page(gva_look(rig, va)) == 0x2000);
    for (uint32_t i = 0; i < gva_op_count(rig, -1); i++) {
        const struct gva_op *op = gva_op_at(rig, -1, i);
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->args.UpdatePageTable;

        if (op->args.Operation == OPS(FLUSH_TLB) && invalid != UINT32_MAX && flush == UINT32_MAX)
            flush = i;
        if (op->args.Operation != OPS(UPDATE_PAGE_TABLE))
            continue;
        if (update->PageTableLevel == 0 && !op->entries[0].Valid && !update->Flags.InitialUpdate &&
            invalid == UINT32_MAX)
            invalid = i;
        if (update->PageTableLevel == 0 && op->entries[0].Valid)
            valid = i;
    }
    CHECK_RULE("GPUVA-121", invalid < flush && flush < valid);
    gva_object_destroy(rig, a);
    gva_object_destroy(rig, b);
}

TEST_WITH(gva, free_takes_exactly_one_range_of_the_client)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 64);
    uint64_t va = gva_map_simple(rig, object, 32), base = 0;

    CHECK(NT_SUCCESS(gva_reserve(rig, 32, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    CHECK_RULE("GPUVA-117",
               vidmm_free_gpu_va(rig->process, va + 1, 32 * 4096) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-117",
               vidmm_free_gpu_va(rig->process, va, 32 * 4096 + 1) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-118", gva_free(rig, base, 16) == STATUS_INVALID_PARAMETER &&
                                gva_free(rig, base + 65536, 16) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-118", gva_free(rig, va, 64) == STATUS_INVALID_PARAMETER &&
                                gva_free(rig, 5 * GB, 16) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-117", gva_free(rig, va, 32) == STATUS_SUCCESS &&
                                gva_free(rig, base, 32) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-118", gva_free(rig, va, 32) == STATUS_INVALID_PARAMETER);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, a_lost_device_gets_no_addresses_but_may_free)
{
    struct gva_object *object = gva_object_create(rig, rig->mm_device, 8);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 8);
    uint64_t va = gva_map_simple(rig, object, 8), base = 0;

    rig->mm_device->lost = true;
    CHECK_RULE("GPUVA-073", gva_map(rig, &args) == STATUS_DEVICE_REMOVED);
    CHECK_RULE("GPUVA-073", gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS,
                                        &base) == STATUS_DEVICE_REMOVED);
    CHECK_RULE("GPUVA-073", gva_free(rig, va, 8) == STATUS_SUCCESS);
    rig->mm_device->lost = false;
    gva_object_destroy(rig, object);
}

static void no_mmu(struct gva_options *options)
{
    options->no_gpu_mmu = true;
}

TEST_WITH(gva, without_gpu_mmu_there_are_no_address_services, no_mmu(options))
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(NULL, 8);
    uint64_t base = 0;

    args.Protection.NoAccess = 1;
    CHECK_RULE("GPUVA-074", gva_map(rig, &args) == STATUS_NOT_SUPPORTED);
    CHECK_RULE("GPUVA-074", gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS,
                                        &base) == STATUS_NOT_SUPPORTED);
    CHECK_RULE("GPUVA-074", gva_free(rig, GB, 16) == STATUS_NOT_SUPPORTED);
    CHECK(gva_op_count(rig, -1) == 0);
}

/* ---- allocations that go ---- */

TEST_WITH(gva, ranges_of_a_destroyed_allocation_are_released)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000),
                      *other = gva_object_resident(rig, 8, 0x2000), *third;
    uint64_t va = gva_map_simple(rig, object, 8), mixed = gva_map_simple(rig, object, 8);

    CHECK(NT_SUCCESS(gva_map_at(rig, other, mixed + 4096, 2)));
    gva_idle(rig);
    gva_object_destroy(rig, object);
    CHECK_RULE("GPUVA-097", gva_look(rig, va) == GVA_FAULT);
    third = gva_object_create(rig, rig->mm_device, 8);
    CHECK_RULE("GPUVA-097", NT_SUCCESS(gva_map_at(rig, third, va, 8)));
    CHECK_RULE("GPUVA-098", gva_look(rig, mixed) == GVA_FAULT &&
                                gva_entry_page(gva_look(rig, mixed + 4096)) == 0x2000);
    CHECK_RULE("GPUVA-098", gva_free(rig, mixed, 8) == STATUS_SUCCESS);
    CHECK(gva_valid(rig));
    mixed = gva_map_simple(rig, other, 8);
    gva_object_destroy(rig, other);
    CHECK_RULE("GPUVA-098", gva_free(rig, mixed, 8) == STATUS_INVALID_PARAMETER);
    gva_object_destroy(rig, third);
}

TEST_WITH(gva, reserved_pages_return_to_their_initial_state)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    uint64_t base = 0;

    CHECK(NT_SUCCESS(gva_reserve(rig, 32, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &base)));
    CHECK(NT_SUCCESS(gva_map_at(rig, object, base + 4096, 2)));
    CHECK(gva_entry_page(gva_look(rig, base + 4096)) == 0x1000);
    gva_object_destroy(rig, object);
    CHECK_RULE("GPUVA-098",
               (gva_look(rig, base + 4096) & (GVA_VALID | GVA_ZERO)) == (GVA_VALID | GVA_ZERO));
    CHECK_RULE("GPUVA-098", gva_free(rig, base, 32) == STATUS_SUCCESS);
    CHECK(gva_look(rig, base) == GVA_FAULT);
}

struct closed {
    struct vidmm_space *space;
    struct vidmm_allocation *allocation;
};

static NTSTATUS closed_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct closed *closed = arg;

    (void)turn;
    (void)vidmm;
    space_allocation_closed(closed->space, closed->allocation);
    return STATUS_SUCCESS;
}

TEST_WITH(gva, a_shared_allocation_goes_for_one_process_only)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    struct nt_process *nt = nt_process_create("other");
    struct vidmm_process *process;
    struct vidmm_device *device;
    struct vidmm_paging_queue *queue;
    struct vidmm_open open = {.allocation = &object->allocation};
    struct closed closed = {.allocation = &object->allocation};
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 8);
    DXGKARG_SETROOTPAGETABLE root;
    struct vidmm_address_text text;
    uint64_t va = gva_map_simple(rig, object, 8), entry;

    CHECK(nt);
    CHECK(NT_SUCCESS(vidmm_process_open(rig->vidmm, nt, &process)));
    CHECK(NT_SUCCESS(vidmm_device_create(process, NULL, nt, &device)));
    CHECK(NT_SUCCESS(vidmm_paging_queue_create(device, D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL,
                                               no_progress, NULL, &queue)));
    open.device = device;
    /* The handle is the other process's: unknown here (GPUVA-082). */
    CHECK(handle_create(&nt->handles, DDI_CLIENT_DEVICE, nt) != 0);
    CHECK_RULE("GPUVA-082", vidmm_map_gpu_va(queue, &args) == STATUS_INVALID_PARAMETER);
    args.hAllocation = handle_create(&nt->handles, DDI_CLIENT_ALLOCATION, &open);
    CHECK(NT_SUCCESS(vidmm_map_gpu_va(queue, &args)));
    gva_idle(rig);
    root = gva_root(process->space);
    CHECK_RULE("GPUVA-041", gva_walk(rig, &root, args.VirtualAddress, &entry) &&
                                gva_entry_page(entry) == 0x1000);
    closed.space = rig->process->space;
    CHECK(NT_SUCCESS(paging_run(rig->vidmm, closed_job, &closed)));
    CHECK_RULE("GPUVA-097",
               gva_look(rig, va) == GVA_FAULT && gva_walk(rig, &root, args.VirtualAddress, &entry));
    CHECK_RULE("GPUVA-097", gva_free(rig, va, 8) == STATUS_INVALID_PARAMETER);
    vidmm_address_text(rig->process, va, &text);
    CHECK_RULE("TDR-083", strstr(text.owner, ", until its last open in the process was closed "));
    vidmm_address_text(process, args.VirtualAddress, &text);
    CHECK_RULE("TDR-083", strstr(text.owner, " is mapped there, resident in segment "));
    gva_object_destroy(rig, object);
    vidmm_address_text(process, args.VirtualAddress, &text);
    CHECK_RULE("TDR-083", strstr(text.owner, ", until it was destroyed "));
    CHECK_RULE("GPUVA-097", !gva_walk(rig, &root, args.VirtualAddress, &entry));
    vidmm_device_destroy(device);
    vidmm_process_close(process);
    nt_process_destroy(nt);
}
