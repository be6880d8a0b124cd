/* SPDX-License-Identifier: MIT */
/* Reservations of clients and drivers, the Zero and NoAccess states, and driver protections. */
#include "nt/ps/process.h"
#include "support/gva_rig.h"

#define SPAN      (512ull * 4096)
#define GB        (1ull << 30)
#define OPS(kind) DXGK_OPERATION_##kind
#define IS_ZERO(entry) \
    ((entry) != GVA_FAULT && ((entry) & (GVA_VALID | GVA_ZERO)) == (GVA_VALID | GVA_ZERO))

static NTSTATUS map_at(struct gva_rig *rig, const struct gva_object *object, uint64_t base,
                       uint64_t pages, uint64_t protection)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, pages);

    args.BaseAddress = base;
    args.DriverProtection = protection;
    return gva_map(rig, &args);
}

static NTSTATUS map_state(struct gva_rig *rig, bool zero, uint64_t *base, uint64_t pages)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(NULL, pages);
    NTSTATUS status;

    args.BaseAddress = *base;
    args.Protection.Zero = zero;
    args.Protection.NoAccess = !zero;
    status = gva_map(rig, &args);
    if (NT_SUCCESS(status))
        *base = args.VirtualAddress;
    return status;
}

/* ---- clients' reservations ---- */

TEST_WITH(gva, reservations_are_in_64k)
{
    D3DDDI_RESERVEGPUVIRTUALADDRESS args = {.Size = 65536};

    args.BaseAddress = 65536 * 100 + 4096;
    CHECK_RULE("GPUVA-106",
               vidmm_reserve_gpu_va(rig->process, rig->queue, &args) == STATUS_INVALID_PARAMETER);
    args.BaseAddress = 0;
    args.MinimumAddress = 4096;
    CHECK_RULE("GPUVA-106",
               vidmm_reserve_gpu_va(rig->process, rig->queue, &args) == STATUS_INVALID_PARAMETER);
    args.MinimumAddress = 0;
    args.Size = 4096;
    CHECK_RULE("GPUVA-106",
               vidmm_reserve_gpu_va(rig->process, rig->queue, &args) == STATUS_INVALID_PARAMETER);
    args.Size = 0;
    CHECK_RULE("GPUVA-106",
               vidmm_reserve_gpu_va(rig->process, rig->queue, &args) == STATUS_INVALID_PARAMETER);
    args.Size = 65536;
    CHECK_RULE("GPUVA-106",
               vidmm_reserve_gpu_va(rig->process, rig->queue, &args) == STATUS_SUCCESS &&
                   args.VirtualAddress % 65536 == 0);
}

TEST_WITH(gva, reservations_never_overlay)
{
    uint64_t base = GB, again = GB, straddle = GB + 65536;
    D3DDDI_RESERVEGPUVIRTUALADDRESS args = {
        .Size = 65536, .BaseAddress = 2 * GB, .MinimumAddress = 77, .MaximumAddress = 3};

    CHECK(NT_SUCCESS(gva_reserve(rig, 32, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    CHECK_RULE("GPUVA-107", gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS,
                                        &again) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-109", gva_reserve(rig, 32, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS,
                                        &straddle) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-107",
               vidmm_reserve_gpu_va(rig->process, rig->queue, &args) == STATUS_SUCCESS &&
                   args.VirtualAddress == 2 * GB);
    args = (D3DDDI_RESERVEGPUVIRTUALADDRESS){
        .Size = 65536, .ReservationType = (D3DDDIGPUVIRTUALADDRESS_RESERVATION_TYPE)9};
    CHECK_RULE("GPUVA-109",
               vidmm_reserve_gpu_va(rig->process, rig->queue, &args) == STATUS_INVALID_PARAMETER);
    CHECK(gva_valid(rig));
}

TEST_WITH(gva, reservations_keep_to_the_window)
{
    D3DDDI_RESERVEGPUVIRTUALADDRESS args = {.Size = 65536, .MinimumAddress = GB};

    CHECK_RULE("GPUVA-108", NT_SUCCESS(vidmm_reserve_gpu_va(rig->process, rig->queue, &args)) &&
                                args.VirtualAddress == GB);
    args.MinimumAddress = 0;
    args.MaximumAddress = 2 * 65536;
    CHECK_RULE("GPUVA-108", NT_SUCCESS(vidmm_reserve_gpu_va(rig->process, rig->queue, &args)) &&
                                args.VirtualAddress == 65536);
    CHECK_RULE("GPUVA-109",
               vidmm_reserve_gpu_va(rig->process, rig->queue, &args) == STATUS_NO_MEMORY);
}

TEST_WITH(gva, reservation_types_show_in_the_entries)
{
    uint64_t none = 0, zero = 0, commit = 0;
    D3DDDI_RESERVEGPUVIRTUALADDRESS args = {
        .Size = 65536, .ReservationType = D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO};

    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &none)));
    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_COMMIT, &commit)));
    CHECK_RULE("GPUVA-110",
               gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &zero) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-112",
               gva_look(rig, none) == GVA_FAULT && gva_look(rig, commit) == GVA_FAULT &&
                   IS_ZERO(gva_look(rig, zero)) && IS_ZERO(gva_look(rig, zero + 65536 - 4096)) &&
                   gva_look(rig, zero + 65536) == GVA_FAULT);
    CHECK_RULE("GPUVA-111", NT_SUCCESS(vidmm_reserve_gpu_va(rig->process, NULL, &args)) &&
                                args.PagingFenceValue == 0);
    /* ... complete on return: nothing was waited for since. */
    {
        DXGKARG_SETROOTPAGETABLE root = gva_root(rig->process->space);
        uint64_t entry;

        CHECK_RULE("GPUVA-111", gva_walk(rig, &root, args.VirtualAddress, &entry) && IS_ZERO(entry));
    }
    args = (D3DDDI_RESERVEGPUVIRTUALADDRESS){
        .Size = 65536, .ReservationType = D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO};
    rig->hold = true;
    CHECK_RULE("GPUVA-110",
               vidmm_reserve_gpu_va(rig->process, rig->queue, &args) == STATUS_SUCCESS &&
                   args.PagingFenceValue != 0);
    args = (D3DDDI_RESERVEGPUVIRTUALADDRESS){.Size = 65536};
    CHECK_RULE("GPUVA-110",
               vidmm_reserve_gpu_va(rig->process, rig->queue, &args) == STATUS_SUCCESS &&
                   args.PagingFenceValue == 0);
    gva_release(rig);
}

TEST_WITH(gva, huge_reservations_cost_nothing)
{
    uint64_t first = GB, commit = 1ull << 40, none = 1ull << 42, zero = 1ull << 45, before;
    uint32_t tables = 0;

    /* the first one makes the privileged space */
    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_COMMIT, &first)));
    before = gva_pinned(rig);
    CHECK(NT_SUCCESS(
        gva_reserve(rig, 1ull << 28, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_COMMIT, &commit)));
    CHECK_RULE("GPUVA-113", gva_pinned(rig) == before);
    CHECK(
        NT_SUCCESS(gva_reserve(rig, 1ull << 28, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &none)));
    CHECK(gva_pinned(rig) == before);
    gva_mark(rig);
    /* Two root entries (512 GB each) say Zero. */
    CHECK(NT_SUCCESS(gva_reserve(rig, 1ull << 28, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &zero)));
    gva_idle(rig);
    for (uint32_t i = 0; i < gva_op_count(rig, OPS(UPDATE_PAGE_TABLE)); i++)
        tables += gva_op_at(rig, OPS(UPDATE_PAGE_TABLE), i)->args.UpdatePageTable.PageTableLevel < 3;
    CHECK_RULE("GPUVA-114",
               gva_pinned(rig) == before && tables == 0 && IS_ZERO(gva_look(rig, zero + GB)));
    CHECK(gva_free(rig, zero, 1ull << 28) == STATUS_SUCCESS);
    CHECK(gva_look(rig, zero + GB) == GVA_FAULT);
}

TEST_WITH(gva, full_spans_of_zero_need_no_leaf_table)
{
    uint64_t zero = 4 * SPAN;

    CHECK(NT_SUCCESS(gva_reserve(rig, 512, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &zero)));
    gva_idle(rig);
    for (uint32_t i = 0; i < gva_op_count(rig, OPS(UPDATE_PAGE_TABLE)); i++)
        CHECK_RULE("GPUVA-114",
                   gva_op_at(rig, OPS(UPDATE_PAGE_TABLE), i)->args.UpdatePageTable.PageTableLevel >
                       0);
    CHECK_RULE("GPUVA-114", IS_ZERO(gva_look(rig, zero)) &&
                                IS_ZERO(gva_look(rig, zero + SPAN - 4096)) &&
                                gva_look(rig, zero + SPAN) == GVA_FAULT);
}

TEST_WITH(gva, reservations_belong_to_the_process)
{
    struct vidmm_device *device;
    struct vidmm_paging_queue *queue;
    D3DDDI_RESERVEGPUVIRTUALADDRESS args = {.Size = 65536, .BaseAddress = GB};

    CHECK(NT_SUCCESS(vidmm_device_create(rig->process, NULL, rig, &device)));
    CHECK(NT_SUCCESS(
        vidmm_paging_queue_create(device, D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL, NULL, NULL, &queue)));
    CHECK(NT_SUCCESS(vidmm_reserve_gpu_va(rig->process, queue, &args)));
    vidmm_device_destroy(device);
    CHECK_RULE("GPUVA-116",
               vidmm_reserve_gpu_va(rig->process, rig->queue, &args) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-116", gva_free(rig, GB, 16) == STATUS_SUCCESS);
}

/* ---- states ---- */

TEST_WITH(gva, zero_and_no_access_change_reserved_pages)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    uint64_t base = 0, page;

    CHECK(NT_SUCCESS(gva_reserve(rig, 32, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    page = base + 4096;
    CHECK(NT_SUCCESS(map_state(rig, true, &page, 2)));
    CHECK_RULE("GPUVA-086", IS_ZERO(gva_look(rig, page)) && IS_ZERO(gva_look(rig, page + 4096)) &&
                                gva_look(rig, page + 8192) == GVA_FAULT);
    CHECK_RULE("GPUVA-192",
               IS_ZERO(gva_look(rig, page)) && gva_entry_page(gva_look(rig, page)) == 0);
    CHECK(NT_SUCCESS(map_at(rig, object, page, 1, 0)));
    CHECK(gva_entry_page(gva_look(rig, page)) == 0x1000 && IS_ZERO(gva_look(rig, page + 4096)));
    CHECK_RULE("GPUVA-088", NT_SUCCESS(map_state(rig, false, &page, 2)));
    CHECK_RULE("GPUVA-086",
               gva_look(rig, page) == GVA_FAULT && gva_look(rig, page + 4096) == GVA_FAULT);
    CHECK(gva_valid(rig));
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, mapped_ranges_cannot_become_zero_or_no_access)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    uint64_t va = gva_map_simple(rig, object, 8), at = va;

    CHECK_RULE("GPUVA-088", map_state(rig, false, &at, 1) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-088", map_state(rig, true, &at, 8) == STATUS_INVALID_PARAMETER);
    CHECK(gva_entry_page(gva_look(rig, va)) == 0x1000);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, ranges_without_an_allocation_stay)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    uint64_t none = 0, zero = 3 * GB, again;

    CHECK_RULE("GPUVA-089", NT_SUCCESS(map_state(rig, false, &none, 8)) && none != 0);
    CHECK_RULE("GPUVA-089", NT_SUCCESS(map_state(rig, true, &zero, 8)) && zero == 3 * GB);
    CHECK(NT_SUCCESS(map_at(rig, object, zero, 2, 0)));
    gva_object_destroy(rig, object);
    again = zero;
    CHECK_RULE("GPUVA-089", map_state(rig, true, &again, 9) == STATUS_INVALID_PARAMETER &&
                                IS_ZERO(gva_look(rig, zero)));
    CHECK_RULE("GPUVA-089", gva_free(rig, none, 8) == STATUS_SUCCESS &&
                                gva_free(rig, zero, 8) == STATUS_SUCCESS);
    CHECK(gva_look(rig, zero) == GVA_FAULT);
}

static void no_zero(struct gva_options *options)
{
    options->mmu.ZeroInPteSupported = 0;
}

TEST_WITH(gva, zero_needs_its_cap, no_zero(options))
{
    uint64_t base = 0, va = 0;

    CHECK_RULE("GPUVA-090", gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO, &base) ==
                                STATUS_NOT_SUPPORTED);
    CHECK_RULE("GPUVA-090", map_state(rig, true, &va, 1) == STATUS_NOT_SUPPORTED);
    CHECK_RULE("GPUVA-090", gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS,
                                        &base) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-090", map_state(rig, false, &va, 1) == STATUS_SUCCESS);
}

/* ---- driver protections ---- */

/* The driver protection of the last level-0 update that covers the address. */
static uint64_t last_protection(struct gva_rig *rig, uint64_t va)
{
    uint64_t found = UINT64_MAX;

    gva_idle(rig);
    for (uint32_t i = 0; i < gva_op_count(rig, OPS(UPDATE_PAGE_TABLE)); i++) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update =
            &gva_op_at(rig, OPS(UPDATE_PAGE_TABLE), i)->args.UpdatePageTable;

        if (update->PageTableLevel == 0 && !update->Flags.InitialUpdate &&
            va >= update->FirstPteVirtualAddress &&
            va < update->FirstPteVirtualAddress + 4096ull * update->NumPageTableEntries)
            found = update->DriverProtection;
    }
    return found;
}

TEST_WITH(gva, driver_protection_comes_back_in_every_update)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);
    CHECK(NT_SUCCESS(map_at(rig, object, GB, 8, 0xABCD)));
    CHECK_RULE("GPUVA-099", last_protection(rig, GB) == 0xABCD);
    gva_mark(rig);
    gva_object_place(rig, object, NULL, 0);
    CHECK_RULE("GPUVA-099", last_protection(rig, GB) == 0xABCD);
    gva_mark(rig);
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x3000);
    CHECK_RULE("GPUVA-099", last_protection(rig, GB + 7 * 4096) == 0xABCD);
    CHECK(NT_SUCCESS(map_at(rig, object, 2 * GB, 8, 0)));
    CHECK_RULE("GPUVA-099", last_protection(rig, 2 * GB) == 0);
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, reserved_pages_carry_the_protection_of_the_reservation)
{
    D3DDDI_RESERVEGPUVIRTUALADDRESS args = {.Size = SPAN + 65536,
                                            .BaseAddress = 4 * SPAN,
                                            .ReservationType = D3DDDIGPUVIRTUALADDRESS_RESERVE_ZERO,
                                            .DriverProtection = 0x55};
    bool upper = false;

    CHECK(NT_SUCCESS(vidmm_reserve_gpu_va(rig->process, rig->queue, &args)));
    CHECK_RULE("GPUVA-099", last_protection(rig, 5 * SPAN + 4096) == 0x55);
    /* The first span is Zero by an entry of level 1, which has no driver protection. */
    for (uint32_t i = 0; i < gva_op_count(rig, OPS(UPDATE_PAGE_TABLE)); i++) {
        const struct gva_op *op = gva_op_at(rig, OPS(UPDATE_PAGE_TABLE), i);

        if (op->args.UpdatePageTable.PageTableLevel == 1 && op->entries[0].Zero) {
            CHECK_RULE("GPUVA-100", op->args.UpdatePageTable.DriverProtection == 0);
            upper = true;
        }
    }
    CHECK(upper);
}

TEST_WITH(gva, freed_pages_keep_their_protection_to_the_end)
{
    struct gva_object *object = gva_object_resident(rig, 8, 0x1000);

    CHECK(NT_SUCCESS(map_at(rig, object, GB, 8, 0xABCD)));
    CHECK(NT_SUCCESS(map_at(rig, object, GB + 65536, 8, 0))); /* keeps the leaf */
    gva_idle(rig);
    gva_mark(rig);
    CHECK(gva_free(rig, GB, 8) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-099", last_protection(rig, GB) == 0xABCD);
    gva_object_destroy(rig, object);
}

#define UNIQUE D3DGPU_UNIQUE_DRIVER_PROTECTION

TEST_WITH(gva, unique_driver_protection_binds)
{
    struct gva_object *object = gva_object_resident(rig, 16, 0x1000);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 8);

    args.DriverProtection = UNIQUE | 1;
    CHECK(NT_SUCCESS(gva_map(rig, &args)));
    CHECK_RULE("GPUVA-101", map_at(rig, object, 2 * GB, 1, UNIQUE | 2) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-101", map_at(rig, object, 2 * GB, 1, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-101", map_at(rig, object, 2 * GB, 8, UNIQUE | 1) == STATUS_PENDING);
    args.OffsetInPages = 8;
    args.DriverProtection = 7;
    CHECK_RULE("GPUVA-102", NT_SUCCESS(gva_map(rig, &args)));
    args.DriverProtection = UNIQUE | 9;
    CHECK_RULE("GPUVA-102", NT_SUCCESS(gva_map(rig, &args)));
    CHECK(gva_valid(rig));
    gva_object_destroy(rig, object);
}

TEST_WITH(gva, unique_driver_protection_is_given_up)
{
    struct gva_object *object = gva_object_resident(rig, 16, 0x1000);
    uint64_t base = 0, at;

    CHECK(NT_SUCCESS(gva_reserve(rig, 16, D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, &base)));
    CHECK(NT_SUCCESS(map_at(rig, object, base, 4, UNIQUE | 1)));
    CHECK(map_at(rig, object, base, 4, UNIQUE | 2) == STATUS_INVALID_PARAMETER);
    at = base;
    CHECK(NT_SUCCESS(map_state(rig, false, &at, 4)));
    gva_idle(rig);
    CHECK_RULE("GPUVA-103", NT_SUCCESS(map_at(rig, object, base, 4, UNIQUE | 2)));
    at = base;
    CHECK(NT_SUCCESS(map_state(rig, false, &at, 4)));
    gva_idle(rig);
    CHECK(NT_SUCCESS(map_at(rig, object, GB, 4, UNIQUE | 3)));
    CHECK(gva_free(rig, GB, 4) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-103", NT_SUCCESS(map_at(rig, object, GB, 4, UNIQUE | 4)));
    gva_object_destroy(rig, object);
}

struct scratch {
    struct gva_object *object;
    uint64_t page, pages;
    struct gpu_va va;
};

static NTSTATUS scratch_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct scratch *scratch = arg;
    const struct vidmm_run run = {
        .segment = GVA_VRAM_SEGMENT, .first = 0x1000 + scratch->page, .pages = scratch->pages};
    NTSTATUS status = scratch_map_allocation(vidmm, &scratch->object->allocation, scratch->page,
                                             &run, 1, true, &scratch->va);

    (void)turn;
    if (NT_SUCCESS(status))
        scratch_release(vidmm, scratch->va, scratch->pages);
    return status;
}

TEST_WITH(gva, paging_uses_unique_driver_protections)
{
    struct gva_object *object = gva_object_resident(rig, 16, 0x1000);
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(object, 4);
    struct scratch scratch = {.object = object, .page = 4, .pages = 4};
    const struct gva_op *op;
    uint64_t pages;

    args.OffsetInPages = 4;
    args.DriverProtection = UNIQUE | 5;
    CHECK(NT_SUCCESS(gva_map(rig, &args)));
    gva_idle(rig);
    CHECK_RULE("GPUVA-104",
               space_driver_protection(&object->allocation, 0, &pages) == 0 && pages == 4);
    CHECK_RULE("GPUVA-104",
               space_driver_protection(&object->allocation, 4, &pages) == (UNIQUE | 5) &&
                   pages == 4);
    CHECK_RULE("GPUVA-104",
               space_driver_protection(&object->allocation, 8, &pages) == 0 && pages == 8);
    gva_mark(rig);
    CHECK(NT_SUCCESS(paging_run(rig->vidmm, scratch_job, &scratch)));
    op = gva_op_at(rig, OPS(UPDATE_PAGE_TABLE), 0);
    CHECK_RULE("GPUVA-104", op->args.UpdatePageTable.DriverProtection == (UNIQUE | 5));
    CHECK_RULE("GPUVA-176",
               op->args.UpdatePageTable.hAllocation == object->allocation.driver_handle &&
                   op->args.UpdatePageTable.AllocationOffsetInBytes == 4 * 4096);
    CHECK(gva_free(rig, args.VirtualAddress, 4) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-105",
               space_driver_protection(&object->allocation, 4, &pages) == 0 && pages == 12);
    gva_object_destroy(rig, object);
}

/* ---- the driver's reservations ---- */

static NTSTATUS driver_status[8];
static DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE driver_range[8];

static NTSTATUS reserve_for_driver(struct gva_rig *rig, HANDLE process, unsigned slot,
                                   uint64_t size, UINT alignment, uint64_t base, bool user)
{
    driver_range[slot] = (DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE){.hDxgkProcess = process,
                                                                   .SizeInBytes = size,
                                                                   .Alignment = alignment,
                                                                   .BaseAddress = base,
                                                                   .StartVirtualAddress = 0x77};
    driver_range[slot].AllowUserModeMapping = user;
    driver_status[slot] = vidmm_cb_reserve_gpu_va(&rig->ddi, &driver_range[slot]);
    return driver_status[slot];
}

static void reserve_good_and_bad(struct gva_rig *rig, HANDLE process)
{
    rig->on_create_process = NULL;
    CHECK_RULE("GPUVA-048", reserve_for_driver(rig, process, 0, SPAN / 2, 0, 0, false) ==
                                STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-048",
               reserve_for_driver(rig, process, 0, 0, 0, 0, false) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-049", reserve_for_driver(rig, process, 0, SPAN, 3 * (UINT)SPAN, 0, false) ==
                                STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-049", reserve_for_driver(rig, process, 0, SPAN, 4096, 0, false) ==
                                STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-050", reserve_for_driver(rig, process, 0, SPAN, 0, 5 * SPAN + 4096, false) ==
                                STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-051", reserve_for_driver(rig, process, 0, SPAN, 0, 1ull << 48, false) ==
                                STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-051",
               reserve_for_driver(rig, process, 0, 1ull << 48, 0, 0, false) == STATUS_NO_MEMORY);
    CHECK_RULE("GPUVA-046", reserve_for_driver(rig, (HANDLE)(uintptr_t)0x12345, 0, SPAN, 0, 0,
                                               false) == STATUS_INVALID_PARAMETER &&
                                driver_range[0].StartVirtualAddress == 0x77);
    /* each has said why */
    CHECK_RULE("GPUVA-048", verify_rule_count(rig->base.log, "GPUVA-048") == 2);
    CHECK_RULE("GPUVA-049", verify_rule_count(rig->base.log, "GPUVA-049") == 2);
    CHECK_RULE("GPUVA-050", verify_rule_count(rig->base.log, "GPUVA-050") == 1);
    CHECK_RULE("GPUVA-051", verify_rule_count(rig->base.log, "GPUVA-051") == 2);
    CHECK_RULE("GPUVA-048",
               reserve_for_driver(rig, process, 0, 2 * SPAN, 0, 0, false) == STATUS_SUCCESS);
    CHECK_RULE("GPUVA-052", driver_range[0].StartVirtualAddress == SPAN);
    CHECK_RULE("GPUVA-050",
               reserve_for_driver(rig, process, 1, SPAN, 0, 5 * SPAN, true) == STATUS_SUCCESS &&
                   driver_range[1].StartVirtualAddress == 5 * SPAN);
    CHECK_RULE("GPUVA-051", reserve_for_driver(rig, process, 2, SPAN, 0, 5 * SPAN, true) ==
                                STATUS_INVALID_PARAMETER);
    CHECK_RULE("GPUVA-049", reserve_for_driver(rig, process, 2, SPAN, 4 * (UINT)SPAN, 0, false) ==
                                    STATUS_SUCCESS &&
                                driver_range[2].StartVirtualAddress % (4 * SPAN) == 0);
    CHECK_RULE("GPUVA-056",
               driver_range[2].StartVirtualAddress != driver_range[0].StartVirtualAddress);
}

TEST_WITH(gva, driver_reservations)
{
    struct nt_process *nt = nt_process_create("other");
    struct vidmm_process *process;
    struct vidmm_device *device;
    struct vidmm_paging_queue *queue;
    D3DDDI_RESERVEGPUVIRTUALADDRESS reserve = {.Size = SPAN};
    D3DDDI_MAPGPUVIRTUALADDRESS args = gva_map_args(NULL, 16);

    rig->on_create_process = reserve_good_and_bad;
    CHECK(nt);
    CHECK(NT_SUCCESS(vidmm_process_open(rig->vidmm, nt, &process)));
    CHECK(NT_SUCCESS(vidmm_device_create(process, NULL, nt, &device)));
    CHECK(NT_SUCCESS(
        vidmm_paging_queue_create(device, D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL, NULL, NULL, &queue)));
    args.Protection.NoAccess = 1;
    args.BaseAddress = SPAN;
    CHECK_RULE("GPUVA-053", vidmm_map_gpu_va(queue, &args) == STATUS_INVALID_PARAMETER);
    args.BaseAddress = 5 * SPAN;
    CHECK_RULE("GPUVA-053", NT_SUCCESS(vidmm_map_gpu_va(queue, &args)));
    CHECK_RULE("GPUVA-078", NT_SUCCESS(vidmm_map_gpu_va(queue, &args)));
    CHECK_RULE("GPUVA-118", vidmm_free_gpu_va(process, 5 * SPAN, SPAN) == STATUS_INVALID_PARAMETER);
    reserve.BaseAddress = 5 * SPAN;
    CHECK_RULE("GPUVA-053",
               vidmm_reserve_gpu_va(process, queue, &reserve) == STATUS_INVALID_PARAMETER);
    reserve.BaseAddress = 0;
    for (int i = 0; i < 12; i++) {
        CHECK(NT_SUCCESS(vidmm_reserve_gpu_va(process, queue, &reserve)));
        for (unsigned k = 0; k < 3; k++)
            CHECK_RULE("GPUVA-056", !ranges_overlap(reserve.VirtualAddress, SPAN,
                                                    driver_range[k].StartVirtualAddress,
                                                    driver_range[k].SizeInBytes));
    }
    CHECK_RULE("GPUVA-045", reserve_for_driver(rig, process->host_handle, 4, SPAN, 0, 0, false) ==
                                    STATUS_INVALID_DEVICE_REQUEST &&
                                verify_rule_count(rig->base.log, "GPUVA-045") > 0);
    CHECK_RULE("GPUVA-046", driver_status[4] == STATUS_INVALID_DEVICE_REQUEST &&
                                verify_rule_count(rig->base.log, "GPUVA-046") > 0);
    vidmm_device_destroy(device);
    vidmm_process_close(process);
    nt_process_destroy(nt);
}

TEST_WITH(gva, user_mappings_inside_a_driver_reservation_get_host_tables)
{
    struct nt_process *nt = nt_process_create("other");
    struct vidmm_process *process;
    struct vidmm_device *device;
    struct vidmm_paging_queue *queue;
    struct gva_object *object;
    D3DDDI_MAPGPUVIRTUALADDRESS args;
    DXGKARG_SETROOTPAGETABLE root;
    uint64_t entry;

    rig->on_create_process = reserve_good_and_bad;
    CHECK(nt);
    CHECK(NT_SUCCESS(vidmm_process_open(rig->vidmm, nt, &process)));
    CHECK(NT_SUCCESS(vidmm_device_create(process, NULL, nt, &device)));
    CHECK(NT_SUCCESS(
        vidmm_paging_queue_create(device, D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL, NULL, NULL, &queue)));
    object = gva_object_create(rig, device, 8);
    gva_object_place_at(rig, object, GVA_VRAM_SEGMENT, 0x1000);
    args = gva_map_args(object, 8);
    args.BaseAddress = 5 * SPAN + 4096;
    CHECK(NT_SUCCESS(vidmm_map_gpu_va(queue, &args)));
    gva_idle(rig);
    root = gva_root(process->space);
    CHECK_RULE("GPUVA-055",
               gva_walk(rig, &root, args.BaseAddress, &entry) && gva_entry_page(entry) == 0x1000);
    CHECK_RULE("GPUVA-054", !gva_walk(rig, &root, SPAN, &entry));
    gva_object_destroy(rig, object);
    vidmm_device_destroy(device);
    vidmm_process_close(process);
    nt_process_destroy(nt);
}

static void reserve_in_system_process(struct gva_rig *rig, HANDLE process)
{
    rig->on_create_process = NULL;
    reserve_for_driver(rig, process, 0, 64 * SPAN, 0, 256 * SPAN, false);
}

TEST_WITH(gva_bare, scratch_area_avoids_driver_reservations)
{
    struct vidmm_space *space;

    rig->on_create_process = reserve_in_system_process;
    CHECK(NT_SUCCESS(gva_start(rig)));
    CHECK_RULE("GPUVA-047", driver_status[0] == STATUS_SUCCESS);
    space = rig->vidmm->paging_process->space;
    for (uint64_t page = 256 * 512; page < 320 * 512; page += 512)
        CHECK_RULE("GPUVA-047", !extent_is_free(&rig->vidmm->mmu->scratch.free, page, 1));
    CHECK(space_validate(space));
    gva_stop(rig);
}
