/* SPDX-License-Identifier: MIT */
/* The validators notice each record that does not agree with another one. */
#include "sim/mutex.h"
#include "sim/point.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"
#include "util/bits.h"

#define OK(call)    CHECK(NT_SUCCESS(call))
#define PHYSICAL    0x8000u /* AccessedPhysically */
#define NECESSARY   1u      /* evict only if necessary */
#define VALID       vidmm_validate(rig->vidmm)
#define SPACE_VALID space_validate(space)

/* With another value of one member the records do not hold. */
#define WRONG_IN(valid, member, value)         \
    do {                                       \
        __typeof__(member) before_ = (member); \
                                               \
        CHECK(valid);                          \
        (member) = (value);                    \
        CHECK(!(valid));                       \
        (member) = before_;                    \
    } while (0)
#define WRONG(member, value) WRONG_IN(VALID, member, value)
#define RIGHT(member, value)                   \
    do {                                       \
        __typeof__(member) before_ = (member); \
                                               \
        (member) = (value);                    \
        CHECK(VALID);                          \
        (member) = before_;                    \
    } while (0)

/* ---- allocations ---- */

struct scene {
    /* on a residency list; in video memory still, but on no list; in an aperture; in system memory; nowhere */
    D3DKMT_HANDLE listed, kept, mapped, system, none;
};

static struct scene make_scene(struct mm_client *c)
{
    struct scene s = {.listed = mm_make(c, MM_SET_VRAM, 4, 0),
                      .kept = mm_make(c, MM_SET_VRAM, 4, 0),
                      .mapped = mm_make(c, MM_SET_APERTURE, 4, PHYSICAL),
                      .system = mm_make(c, MM_SET_APERTURE, 4, 0),
                      .none = mm_make(c, MM_SET_VRAM, 4, 0)};

    OK(mm_resident(c, s.listed));
    OK(mm_resident(c, s.kept));
    OK(mm_resident(c, s.mapped));
    OK(mm_resident(c, s.system));
    OK(mm_evict(c, s.kept, NECESSARY));
    mm_idle(c->rig);
    CHECK(mm_in_vram(c, s.kept) && mm_allocation(c, s.kept)->device_references == 0);
    CHECK(mm_allocation(c, s.mapped)->segment == MM_APERTURE);
    CHECK(mm_allocation(c, s.system)->segment == 0 && mm_allocation(c, s.system)->runs);
    return s;
}

TEST_WITH(mm, places_agree_with_states)
{
    struct mm_client *c = &rig->client[0];
    struct scene s = make_scene(c);
    struct vidmm_allocation *listed = mm_allocation(c, s.listed), *kept = mm_allocation(c, s.kept);
    struct vidmm_allocation *system = mm_allocation(c, s.system), *none = mm_allocation(c, s.none);
    struct vidmm_run *runs = kept->runs, two[2] = {runs[0], runs[0]};
    struct logical_page logical = {5};

    WRONG(listed->resident, false);
    WRONG(none->resident, true);
    WRONG(listed->arrival.pending, true);
    WRONG(none->content, CONTENT_SYSTEM);
    WRONG(none->content, CONTENT_SEGMENT);
    WRONG(none->logical, &logical);
    WRONG(none->segment, MM_VRAM);
    WRONG(kept->pages, kept->pages + 1);
    WRONG(kept->content, CONTENT_NONE);
    WRONG(kept->runs[0].segment, MM_APERTURE);
    WRONG(kept->runs[0].first, (rig->vidmm->segment[MM_VRAM].bytes >> PAGE_BITS) - 3);
    RIGHT(kept->runs[0].first, (rig->vidmm->segment[MM_VRAM].bytes >> PAGE_BITS) - 4);
    WRONG(system->content, CONTENT_NONE);
    WRONG(system->logical, NULL);
    two[0].pages = 1;
    two[1].first++;
    two[1].pages--;
    kept->runs = two;
    kept->run_count = 2;
    CHECK(VALID);
    WRONG(kept->accessed_physically, true);
    kept->runs = runs;
    kept->run_count = 1;
    RIGHT(kept->accessed_physically, true);
    CHECK(VALID);
}

TEST_WITH(mm, counts_agree_with_opens)
{
    struct mm_client *c = &rig->client[0];
    struct scene s = make_scene(c);
    struct vidmm_allocation *listed = mm_allocation(c, s.listed), *kept = mm_allocation(c, s.kept);
    struct vidmm_open *open = mm_open(c, s.kept);

    WRONG(mm_open(c, s.listed)->charged, false);
    WRONG(listed->ready, false);
    listed->offer.in_force = true;
    RIGHT(listed->ready, false);
    listed->offer.in_force = false;
    WRONG(mm_open(c, s.none)->ordered, true);
    open->order_segment = MM_VRAM;
    RIGHT(open->ordered, true);
    open->order_segment = MM_APERTURE;
    WRONG(open->ordered, true);
    open->order_segment = 0;
    WRONG(kept->device_references, 1);
    WRONG(open->offered, true);
    WRONG(kept->offer.count, 1);
    WRONG(open->lock_count, 1);
    WRONG(kept->view.address, (void *)open);
    RIGHT(kept->view.lock_count, 1);
    open->residency_count = 1;
    open->charged = true;
    kept->device_references = 1;
    CHECK(!VALID);
    open->residency_count = 0;
    open->charged = false;
    kept->device_references = 0;
    CHECK(kept->victim.segment == MM_VRAM);
    WRONG(kept->victim.segment, MM_APERTURE);
    WRONG(kept->victim.segment, 0);
    WRONG(kept->victim.leaving_segment, MM_VRAM);
    CHECK(VALID);
}

TEST_WITH(mm, segments_and_devices_agree_with_allocations)
{
    struct mm_client *c = &rig->client[0];
    struct scene s = make_scene(c);
    struct vidmm_segment *vram = &rig->vidmm->segment[MM_VRAM];
    struct vidmm_segment *aperture = &rig->vidmm->segment[MM_APERTURE];
    struct vidmm_device *device = c->device;

    OK(mm_client_open(rig, 1, 1));
    WRONG(vram->mapped_bytes, vram->mapped_bytes + 4096);
    WRONG(vram->pinned_bytes, vram->pinned_bytes + 4096);
    WRONG(vram->bad_bytes, vram->bad_bytes + 4096);
    WRONG(vram->leaving, vram->leaving + 1);
    WRONG(vram->commit_limit, vram->mapped_bytes - 1);
    RIGHT(vram->commit_limit, vram->mapped_bytes);
    WRONG(vram->victims.count, vram->victims.count + 1);
    WRONG(aperture->mapped_bytes, aperture->mapped_bytes - 4096);
    WRONG(rig->vidmm->aperture_mapped, rig->vidmm->aperture_mapped + 4096);
    WRONG(rig->vidmm->aperture_limit, rig->vidmm->aperture_mapped - 1);
    RIGHT(rig->vidmm->aperture_limit, rig->vidmm->aperture_mapped);
    WRONG(device->missing, device->missing + 1);
    for (UINT id = 0; id <= rig->vidmm->segment_count; id++)
        WRONG(device->charged[id], device->charged[id] + 1);
    WRONG(mm_open(c, s.listed)->device, rig->client[1].device);
    WRONG(rig->vidmm->budget.usage[0], rig->vidmm->budget.usage[0] + 1);
    WRONG(rig->vidmm->budget.usage[1], rig->vidmm->budget.usage[1] + 1);
    WRONG(c->process->usage[0], c->process->usage[0] + 1);
    WRONG(rig->client[1].process->usage[1], 1);
    WRONG(c->process->space->ranges.free_units, 5);
    WRONG(rig->vidmm->paging_process->space->ranges.free_units, 5);
    CHECK(VALID);
}

/* ---- address spaces ---- */

static void no_mapping(struct va_piece *piece, struct vidmm_space *space)
{
    struct list *list = &piece->allocation->mappings;

    list_remove(&piece->mapping);
    CHECK(!SPACE_VALID);
    list_push_back(list, &piece->mapping);
    CHECK(SPACE_VALID);
}

/* A bit of a table is not what the records say. */
static void wrong_bit(uint64_t *bits, uint32_t index, struct vidmm_space *space)
{
    bits_put(bits, index, 1, !bit_test(bits, index));
    CHECK(!SPACE_VALID);
    bits_put(bits, index, 1, !bit_test(bits, index));
    CHECK(SPACE_VALID);
}

static NTSTATUS map_pages(struct mm_client *c, D3DKMT_HANDLE handle, uint64_t base, uint64_t offset,
                          uint64_t pages)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args = {
        .hAllocation = handle, .BaseAddress = base, .OffsetInPages = offset, .SizeInPages = pages};
    NTSTATUS status;

    args.Protection.Write = handle != 0;
    args.Protection.NoAccess = handle == 0;
    status = vidmm_map_gpu_va(c->queue, &args);
    mm_idle(c->rig);
    return status;
}

#define BASE   (1ull << 30)
#define UNIQUE D3DGPU_UNIQUE_DRIVER_PROTECTION

TEST_WITH(mm, spaces_agree_with_their_tables)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 8, 0);
    D3DDDI_RESERVEGPUVIRTUALADDRESS reserve = {.BaseAddress = BASE, .Size = 65536};
    struct vidmm_space *space = c->process->space;
    struct va_range *range, *other;
    struct va_piece *piece, *empty;
    struct page_table *root, *middle, *leaf;

    OK(mm_resident(c, h));
    OK(vidmm_reserve_gpu_va(c->process, c->queue, &reserve));
    OK(map_pages(c, h, BASE + 2 * 4096, 3, 2));
    OK(map_pages(c, 0, BASE + 8 * 4096, 0, 1));
    OK(map_pages(c, h, 2 * BASE, 0, 8));
    range = range_at(space, BASE >> 12);
    other = range_at(space, 2 * BASE >> 12);
    CHECK(range && other && range->owners == 1);
    piece = CONTAINER(span_at(&range->pieces, (BASE >> 12) + 2), struct va_piece, span);
    empty = CONTAINER(span_at(&range->pieces, (BASE >> 12) + 8), struct va_piece, span);
    root = space->root;
    middle = root->child[1];
    leaf = middle->child[0];
    CHECK(SPACE_VALID && leaf->level == 0 && leaf->uses > 0);

    WRONG_IN(SPACE_VALID, piece->range, other);
    WRONG_IN(SPACE_VALID, piece->span.pages, 0);
    WRONG_IN(SPACE_VALID, piece->offset, 7);
    WRONG_IN(SPACE_VALID, piece->state, ENTRY_INVALID);
    WRONG_IN(SPACE_VALID, empty->state, ENTRY_PAGES);
    WRONG_IN(SPACE_VALID, empty->allocation, mm_allocation(c, h));
    WRONG_IN(SPACE_VALID, piece->job, (struct va_job *)(void *)piece);
    WRONG_IN(SPACE_VALID, range->space, rig->vidmm->paging_process->space);
    WRONG_IN(SPACE_VALID, range->owners, 2);
    WRONG_IN(SPACE_VALID, range->initial, ENTRY_ZERO);
    WRONG_IN(SPACE_VALID, range->span.pages, 17);
    no_mapping(piece, space);
    /* unique driver protections come first: it is the last now */
    WRONG_IN(SPACE_VALID, piece->driver_protection, UNIQUE);

    WRONG_IN(SPACE_VALID, leaf->uses, leaf->uses + 1);
    WRONG_IN(SPACE_VALID, middle->uses, middle->uses - 1);
    WRONG_IN(SPACE_VALID, root->uses, root->uses + 1);
    WRONG_IN(SPACE_VALID, leaf->place.pages, 0);
    WRONG_IN(SPACE_VALID, leaf->parent, root);
    WRONG_IN(SPACE_VALID, leaf->index, 1);
    WRONG_IN(SPACE_VALID, middle->level, 2);
    WRONG_IN(SPACE_VALID, leaf->ready, false);
    wrong_bit(leaf->set, 2, space);
    wrong_bit(leaf->set, 0, space);
    wrong_bit(leaf->set, 8, space);
    wrong_bit(leaf->set, 511, space);
    wrong_bit(middle->set, 0, space);
    wrong_bit(middle->set, 1, space);
    wrong_bit(middle->large, 0, space);
    wrong_bit(root->set, 0, space);
    wrong_bit(root->set, 511, space);
    WRONG_IN(SPACE_VALID, space->ranges.free_units, space->ranges.free_units - 1);
}

/* What waits in a paging queue belongs to the space, too. */
static NTSTATUS look_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct vidmm_space *space = arg;
    struct va_range *range = range_at(space, BASE >> 12);
    struct va_job *job;

    (void)turn;
    (void)vidmm;
    sim_mutex_unlock(&vidmm->lock);
    sim_stall(1000000);
    sim_mutex_lock(&vidmm->lock);
    CHECK(!list_empty(&range->jobs));
    job = CONTAINER(range->jobs.next, struct va_job, link);
    CHECK(job->piece && job->piece->job == job && range->owners == 1);
    WRONG_IN(SPACE_VALID, job->range, NULL);
    WRONG_IN(SPACE_VALID, job->piece->job, NULL);
    WRONG_IN(SPACE_VALID, job->piece->offset, 8);
    WRONG_IN(SPACE_VALID, job->piece->span.pages, 17);
    WRONG_IN(SPACE_VALID, range->owners, 0);
    WRONG_IN(SPACE_VALID, space->root->child[1]->child[0]->uses, 0);
    CHECK(SPACE_VALID);
    return STATUS_SUCCESS;
}

TEST_WITH(mm, what_waits_agrees_with_its_range)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_VRAM, 8, 0);
    D3DDDI_RESERVEGPUVIRTUALADDRESS reserve = {.BaseAddress = BASE, .Size = 65536};

    OK(mm_resident(c, h));
    OK(vidmm_reserve_gpu_va(c->process, c->queue, &reserve));
    sim_mutex_lock(&rig->vidmm->lock);
    OK(paging_post(&rig->vidmm->chores, look_job, NULL, c->process->space));
    sim_mutex_unlock(&rig->vidmm->lock);
    CHECK(map_pages(c, h, BASE, 0, 4) == STATUS_PENDING);
    CHECK(VALID);
}
