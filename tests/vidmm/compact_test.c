/* SPDX-License-Identifier: MIT */
/* Which hole is made of free pages and of what can be moved, and where what was moved goes. */
#include "sim/machine.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define MOST 260u

/* Contiguous allocations side by side in a segment of 256 pages. */
struct row {
    D3DKMT_HANDLE handle[MOST];
    unsigned count;
};

static D3DKMT_HANDLE block(struct mm_client *c, UINT set, uint64_t pages)
{
    return mm_make(c, set, pages, 0x8001); /* CpuVisible, AccessedPhysically */
}

static uint64_t place(struct mm_client *c, D3DKMT_HANDLE h)
{
    const struct vidmm_allocation *a = mm_allocation(c, h);

    CHECK(a->resident && a->segment);
    return a->segment == MM_APERTURE ? a->aperture.first : a->runs[0].first;
}

/* Sizes in pages, ended by 0: a negative one becomes free again. The rest of the segment is taken by one more. */
static void lay_out(struct mm_client *c, UINT set, const int *sizes, struct row *row)
{
    uint64_t at = 0;

    row->count = 0;
    for (; *sizes; sizes++) {
        uint64_t pages = (uint64_t)(*sizes < 0 ? -*sizes : *sizes);
        D3DKMT_HANDLE h = row->handle[row->count++] = block(c, set, pages);

        OK(mm_resident(c, h));
        CHECK(place(c, h) == at);
        at += pages;
        if (*sizes > 0)
            mm_write_content(c->rig, mm_allocation(c, h), (uint8_t)row->count);
    }
    row->handle[row->count] = block(c, set, 256 - at);
    OK(mm_resident(c, row->handle[row->count]));
    for (unsigned i = 0; i < row->count; i++)
        if (sizes[(int)i - (int)row->count] < 0)
            OK(mm_destroy(c, row->handle[i], 2));
    mm_idle(c->rig);
    mm_mark(c->rig);
}

/* Contents are as they were laid out. */
static bool intact(struct mm_client *c, const struct row *row, unsigned index)
{
    return mm_check_content(c->rig, mm_allocation(c, row->handle[index]), (uint8_t)(index + 1));
}

static bool stayed(struct mm_client *c, const struct row *row, unsigned index)
{
    return mm_allocation(c, row->handle[index])->absence == ABSENCE_NEVER;
}

static const int cheap[] = {-8, 2, -8, 8, -4, 0}; /* at 0, 8, 10, 18, 26; the rest from 30 on */

/* ---- which hole ---- */

TEST_WITH(mm, the_hole_with_the_fewest_pages_to_move_is_made, options->vram_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE big = block(c, MM_SET_VRAM, 16);
    uint64_t evictions = rig->vidmm->statistics.evictions;
    struct row row;

    lay_out(c, MM_SET_VRAM, cheap, &row);
    OK(mm_resident(c, big));
    mm_idle(rig);
    CHECK_RULE("RES-057", place(c, big) == 0 && place(c, row.handle[1]) == 16);
    CHECK_RULE("RES-057", !stayed(c, &row, 1) && stayed(c, &row, 3) && stayed(c, &row, 5));
    CHECK(mm_allocation(c, row.handle[1])->absence == ABSENCE_MOVED && intact(c, &row, 1));
    CHECK(mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 2); /* out and in */
    CHECK(rig->vidmm->statistics.evictions == evictions + 1);
    CHECK(c->device->missing == 0 && vidmm_validate(rig->vidmm));
}

/* The cheapest one that is aligned, too. */
TEST_WITH(mm, the_hole_is_aligned, options->vram_bytes = MM_MB)
{
    static const int sizes[] = {-8, 3, -13, 2, -6, 0}; /* at 0, 8, 11, 24, 26 */
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_VRAM, 65536);
    D3DKMT_HANDLE big;
    struct row row;

    lay_out(c, MM_SET_VRAM, sizes, &row);
    p.flags |= 0x8000;
    p.alignment = 65536;
    big = mm_create_ok(c, p);
    OK(mm_resident(c, big));
    mm_idle(rig);
    CHECK_RULE("ALLOC-028", place(c, big) == 16);
    CHECK_RULE("RES-057", stayed(c, &row, 1) && !stayed(c, &row, 3) && intact(c, &row, 3));
    CHECK(place(c, row.handle[3]) < 8);
}

/* Nothing that is locked is moved; the next hole is dearer. */
TEST_WITH(mm, what_is_locked_is_not_moved, options->vram_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE big = block(c, MM_SET_VRAM, 16);
    struct row row;
    void *address;

    lay_out(c, MM_SET_VRAM, cheap, &row);
    OK(vidmm_lock2(c->device, row.handle[1], &address));
    OK(mm_resident(c, big));
    mm_idle(rig);
    CHECK_RULE("RES-057", stayed(c, &row, 1) && place(c, row.handle[1]) == 8);
    CHECK_RULE("RES-057", place(c, big) == 10 && !stayed(c, &row, 3) && intact(c, &row, 3));
    CHECK(place(c, row.handle[3]) == 0);
    OK(vidmm_unlock2(c->device, row.handle[1]));
}

/* Two devices list what is in the way: its pages count once. */
TEST_WITH(mm, what_two_devices_list_counts_once, options->vram_bytes = MM_MB)
{
    static const int sizes[] = {-8, -2, -8, 3, -8, 0}; /* the second place is for the shared one */
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_HANDLE big, mine, theirs, opened, spare;
    struct vidmm_resource *resource;
    struct vidmm_open_item item;
    struct mm_request r;
    struct row row;

    OK(mm_client_open(rig, 1, 1));
    mm_request_init(&r, 1);
    r.data[0] = mm_private_default(MM_SET_VRAM, 2 * PAGE_BYTES);
    r.data[0].flags = 0x8000;
    r.request.flags.CreateResource = r.request.flags.CreateShared = 1;
    OK(mm_request_make(&r, c));
    mine = r.info[0].hAllocation;
    resource = vidmm_resource_get(c->device, r.resource);
    OK(vidmm_resource_open(d->device, resource, false, &item, 1, &opened));
    theirs = item.allocation;
    lay_out(c, MM_SET_VRAM, sizes, &row);
    spare = block(c, MM_SET_VRAM, 8);
    OK(mm_resident(c, spare));
    OK(mm_resident(c, mine));
    OK(mm_resident(d, theirs));
    CHECK(place(c, spare) == 0 && place(c, mine) == 8);
    OK(mm_destroy(c, spare, 2));
    big = block(c, MM_SET_VRAM, 16);
    OK(mm_resident(c, big));
    mm_idle(rig);
    CHECK_RULE("RES-057", place(c, big) == 0 && stayed(c, &row, 3));
    CHECK(mm_allocation(c, mine)->absence == ABSENCE_MOVED);
    vidmm_resource_put(resource);
    CHECK(vidmm_validate(rig->vidmm));
}

/* What no device lists is in the way like anything else. */
TEST_WITH(mm, what_nobody_lists_is_moved_too, options->vram_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_HANDLE big;
    struct row row;

    lay_out(c, MM_SET_VRAM, cheap, &row);
    OK(mm_evict(c, row.handle[1], 1));
    OK(mm_client_open(rig, 1, 1));
    big = block(d, MM_SET_VRAM, 16);
    OK(mm_resident(d, big));
    mm_idle(rig);
    CHECK_RULE("RES-057", place(d, big) == 0 && mm_is_out(c, row.handle[1]));
    CHECK(intact(c, &row, 1) && stayed(c, &row, 3) && stayed(c, &row, 5));
}

/* ---- apertures ---- */

TEST_WITH(mm, a_hole_of_an_aperture_is_made, options->aperture_bytes = MM_MB)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE big = block(c, MM_SET_APERTURE, 16);
    struct row row;

    lay_out(c, MM_SET_APERTURE, cheap, &row);
    OK(mm_resident(c, big));
    mm_idle(rig);
    CHECK_RULE("RES-057", place(c, big) == 0 && place(c, row.handle[1]) == 16);
    CHECK_RULE("RES-057", !stayed(c, &row, 1) && stayed(c, &row, 3) && intact(c, &row, 1));
    CHECK(mm_op_count(rig, DXGK_OPERATION_UNMAP_APERTURE_SEGMENT) == 1 &&
          mm_op_count(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2) == 2);
    CHECK(mm_gpu_memory(rig, MM_APERTURE, 17 * PAGE_BYTES) ==
          mm_page(rig, mm_allocation(c, row.handle[1]), 1));
    CHECK(vidmm_validate(rig->vidmm));
}
TEST_ALSO(mm, a_hole_of_an_aperture_is_made, although_pages_could_be_copied,
          options->aperture_bytes = MM_MB, options->move_paging = true)

/* ---- copying within the segment ---- */

TEST_WITH(mm, it_is_copied_to_where_it_is_not_in_the_way, options->vram_bytes = MM_MB,
          options->move_paging = true)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE big = block(c, MM_SET_VRAM, 16);
    uint64_t evictions = rig->vidmm->statistics.evictions;
    struct row row;

    lay_out(c, MM_SET_VRAM, cheap, &row);
    OK(mm_resident(c, big));
    mm_idle(rig);
    CHECK_RULE("RES-057", place(c, big) == 0 && place(c, row.handle[1]) == 16);
    CHECK(intact(c, &row, 1) && mm_allocation(c, row.handle[1])->ready);
    CHECK_RULE("SEG-088", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 1 &&
                              rig->vidmm->statistics.evictions == evictions);
    CHECK(mm_allocation(c, row.handle[1])->absence == ABSENCE_MOVED && c->device->missing == 0);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, a_copy_by_addresses_says_from_where_to_where, mm_options_physical(options),
          options->vram_bytes = MM_MB, options->move_paging = true)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE big = block(c, MM_SET_VRAM, 16);
    static const DXGKARG_BUILDPAGINGBUFFER shape;
    const __typeof__(shape.Transfer) *t;
    struct row row;

    lay_out(c, MM_SET_VRAM, cheap, &row);
    OK(mm_resident(c, big));
    mm_idle(rig);
    CHECK_RULE("SEG-088", mm_op_count(rig, DXGK_OPERATION_TRANSFER) == 1);
    t = &mm_op_at(rig, DXGK_OPERATION_TRANSFER, 0)->args.Transfer;
    CHECK_RULE("SEG-088", t->Source.SegmentId == MM_VRAM && t->Destination.SegmentId == MM_VRAM);
    CHECK_RULE("PAGE-029",
               t->Source.SegmentAddress.QuadPart == MM_BASE + 8 * (LONGLONG)PAGE_BYTES &&
                   t->Destination.SegmentAddress.QuadPart == MM_BASE + 16 * (LONGLONG)PAGE_BYTES);
    CHECK_RULE("PAGE-034", t->TransferSize == 2 * PAGE_BYTES && t->TransferOffset == 0);
    CHECK_RULE("PAGE-035", t->hAllocation == mm_allocation(c, row.handle[1])->driver_handle);
    CHECK_RULE("PAGE-032", t->Flags.TransferStart && t->Flags.TransferEnd);
    CHECK(place(c, row.handle[1]) == 16 && intact(c, &row, 1) && vidmm_validate(rig->vidmm));
}

/* With more than 64 pieces of free memory in the hole, the first one goes by way of system memory; that
 * makes one of three pieces, and the rest is copied. */
TEST_WITH(mm, a_hole_of_very_many_pieces, options->vram_bytes = MM_MB, options->move_paging = true)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h[256], big = block(c, MM_SET_VRAM, 130);
    unsigned copied = 0;

    for (unsigned i = 0; i < 256; i++) {
        h[i] = block(c, MM_SET_VRAM, 1);
        OK(mm_resident(c, h[i]));
        CHECK(place(c, h[i]) == i);
        mm_write_content(rig, mm_allocation(c, h[i]), (uint8_t)i);
    }
    for (unsigned i = 0; i < 256; i++) {
        if ((i < 140 && i % 2 == 0) || (i >= 150 && i < 220)) {
            OK(mm_destroy(c, h[i], 2));
            h[i] = 0;
        } else if ((i >= 140 && i < 150) || i >= 220) {
            mm_allocation(c, h[i])->pins++;
        }
    }
    mm_mark(rig);
    OK(mm_resident(c, big));
    mm_idle(rig);
    CHECK_RULE("RES-057", place(c, big) == 0);
    for (uint32_t i = 0; i < mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER); i++)
        copied += mm_op_at(rig, DXGK_OPERATION_VIRTUAL_TRANSFER, i)
                      ->args.TransferVirtual.TransferDirection ==
                  DXGK_MEMORY_TRANSFER_LOCAL_TO_LOCAL;
    CHECK(copied == 64 && mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) == 66);
    for (unsigned i = 0; i < 256; i++) {
        if (!h[i])
            continue;
        CHECK(mm_in_vram(c, h[i]) && mm_check_content(rig, mm_allocation(c, h[i]), (uint8_t)i));
        if ((i >= 140 && i < 150) || i >= 220)
            mm_allocation(c, h[i])->pins--;
    }
    CHECK(c->device->missing == 0 && c->error == 0 && vidmm_validate(rig->vidmm));
}

/* Every internal request of a move fails in turn: what is in the way keeps its content, wherever it is. */
static void every_fault(struct mm_rig *rig, UINT set)
{
    struct util_heap *heap = &rig->base.sim->heap;

    for (uint64_t nth = 1;; nth++) {
        struct mm_client *c = &rig->client[0];
        D3DKMT_HANDLE big = block(c, set, 16);
        uint64_t failures = heap->failures;
        NTSTATUS status;
        struct row row;

        CHECK(nth < 100);
        lay_out(c, set, cheap, &row);
        heap->fail_at = heap->requests + nth;
        status = mm_resident(c, big);
        mm_idle(rig);
        heap->fail_at = 0;
        CHECK(vidmm_validate(rig->vidmm) && (NT_SUCCESS(status) || status == STATUS_NO_MEMORY));
        CHECK(intact(c, &row, 1) && intact(c, &row, 3));
        if (heap->failures == failures) {
            CHECK(status == STATUS_PENDING && place(c, big) == 0 && nth > 5 && c->error == 0);
            return;
        }
        mm_client_close(rig, 0);
        OK(mm_client_open(rig, 0, 0));
    }
}

TEST_WITH(mm, a_move_survives_every_fault, options->vram_bytes = MM_MB)
{
    every_fault(rig, MM_SET_VRAM);
}
TEST_ALSO(mm, a_move_survives_every_fault, copying, options->vram_bytes = MM_MB,
          options->move_paging = true)
TEST_ALSO(mm, a_move_survives_every_fault, by_addresses, mm_options_physical(options),
          options->vram_bytes = MM_MB, options->move_paging = true)

TEST_WITH(mm, a_move_in_an_aperture_survives_every_fault, options->aperture_bytes = MM_MB)
{
    every_fault(rig, MM_SET_APERTURE);
}

/* ---- the last resort ---- */

/* No member fits into a hole that another leaves: the list is evicted and placed again, largest alignment first,
 * then the largest. */
static void placed_again(struct mm_rig *rig, bool locked)
{
    static const int sizes[] = {-40, 60, -40, 60, -55, 0}; /* the rest: 1 */
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_VRAM, 64 * (uint64_t)PAGE_BYTES);
    D3DKMT_HANDLE aligned;
    struct row row;
    void *address;

    lay_out(c, MM_SET_VRAM, sizes, &row);
    p.flags |= 0x8000;
    p.alignment = 64 * PAGE_BYTES;
    p.size = 120 * (uint64_t)PAGE_BYTES; /* charged as 128 */
    aligned = mm_create_ok(c, p);
    if (locked)
        OK(vidmm_lock2(c->device, aligned, &address));
    OK(mm_resident(c, aligned));
    mm_idle(rig);
    CHECK(c->error == 0 && mm_allocation(c, aligned)->ready);
    CHECK_RULE("ALLOC-028", place(c, aligned) == 0);
    CHECK(place(c, row.handle[1]) == 120 && place(c, row.handle[3]) == 180);
    CHECK(place(c, row.handle[5]) == 240);
    CHECK(intact(c, &row, 1) && intact(c, &row, 3));
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, the_whole_list_is_placed_again, options->vram_bytes = MM_MB)
{
    placed_again(rig, false);
}

TEST_WITH(mm, also_for_a_member_that_the_cpu_has_locked, options->vram_bytes = MM_MB)
{
    placed_again(rig, true);
}

/* What even that cannot place costs the device (RES-040); nobody tries for ever. */
static void beside_a_pin(struct mm_rig *rig, uint64_t pages)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE pinned, h = block(c, MM_SET_VRAM, pages);
    void *address;

    OK(mm_client_open(rig, 1, 1));
    pinned = block(&rig->client[1], MM_SET_VRAM, 8);
    OK(mm_resident(&rig->client[1], pinned));
    mm_allocation(&rig->client[1], pinned)->pins++;
    OK(vidmm_lock2(c->device, h, &address));
    OK(mm_resident(c, h));
    mm_idle(rig);
    CHECK_RULE("RES-040", (c->error != 0) == (pages > 248));
    CHECK_RULE("RES-040", mm_allocation(c, h)->ready == (pages <= 248));
    mm_allocation(&rig->client[1], pinned)->pins--;
    CHECK(vidmm_validate(rig->vidmm));
}

/* Work that is queued needs a member that has no room beside what the same work may still use. */
static void beside_its_own_work(struct mm_rig *rig, bool destroyed, bool pin)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE member = block(c, MM_SET_VRAM, 200), used = block(c, MM_SET_VRAM, 8), other;
    const struct vidmm_allocation *a = mm_allocation(c, used);

    OK(mm_resident(c, member));
    OK(mm_resident(c, used));
    mm_submit(c);
    OK(destroyed ? mm_destroy(c, used, 0) : mm_evict(c, used, 0));
    OK(mm_client_open(rig, 1, 1));
    other = block(&rig->client[1], MM_SET_VRAM, 100);
    OK(mm_resident(&rig->client[1], other));
    mm_idle(rig);
    CHECK(mm_is_out(c, member) && a->segment == MM_VRAM && a->users == 1);
    mm_allocation(&rig->client[1], other)->pins += pin;
    CHECK(!mm_dispatch(c));
    sim_block(sim_now() + 1900000000u, NULL);
    CHECK_RULE("RES-040", c->error == 0);
    sim_block(sim_now() + 200000000u, NULL);
    mm_idle(rig);
    CHECK_RULE("RES-040", (c->error != 0) == pin);
    CHECK_RULE("RES-026", mm_dispatch(c) == !pin && a->users == 1);
    mm_allocation(&rig->client[1], other)->pins -= pin;
    mm_finish(c);
    mm_idle(rig);
    CHECK((destroyed || mm_is_out(c, used)) && vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, a_member_is_placed_beside_what_is_in_use, options->vram_bytes = MM_MB)
{
    beside_its_own_work(rig, false, false);
}

TEST_WITH(mm, work_that_waits_for_itself_costs_the_device, options->vram_bytes = MM_MB)
{
    beside_its_own_work(rig, false, true);
}

TEST_WITH(mm, also_if_what_it_uses_was_destroyed, options->vram_bytes = MM_MB)
{
    beside_its_own_work(rig, true, true);
}

TEST_WITH(mm, a_member_is_placed_beside_a_pin, options->vram_bytes = MM_MB)
{
    beside_a_pin(rig, 248);
}

TEST_WITH(mm, a_member_that_no_repack_can_place_costs_the_device, options->vram_bytes = MM_MB)
{
    beside_a_pin(rig, 249);
}
