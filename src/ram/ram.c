/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   Three sparse mappings of the host hold everything, each reserved in full and paid for page by
 *   page as it is touched:
 *
 *     direct   the memory file, whole: byte at physical address A stands at direct + A
 *     frames   one 16-byte record for each frame: owner, cache attribute, lock and IOMMU counts
 *     arena    address space for views, with a table that gives the frame behind each of its pages
 *
 *         physical   0        4K                                     top
 *         direct     |--------|--------|--------|-- ... --|--------|
 *         arena      [ view 1: frames 7,3,9 ]gap[ view 2 ]gap[ reserved, faults ] ...
 *
 *   Free frames are an extent tree; so is the free address space of the arena. Both give back whole
 *   what they took; only frames may come back in other pieces than they went, and then the tree may
 *   find no memory for a node. Such frames are kept on a list threaded through their records
 *   (`late`) and are offered to the tree again at each later call.
 *
 *   A frame is *dirty* from the day it is first handed out until a hole is punched in the file at
 *   its place. Clean frames read as zero, so that a request for zeroed memory costs nothing where
 *   the file has never been written.
 *
 *   Low memory (below 1 MiB, 16 MiB, 4 GiB) is what devices with short addresses need, so every
 *   request is served from the top of its window down: frames below such a limit go to those who ask
 *   for them, and to others when nothing above is left.
 *
 *   Views are laid out by next fit with one page between neighbours: a stale pointer keeps faulting
 *   for as long as possible. Pages that are consecutive in the file and in the view are mapped by
 *   one call.
 */
#include "ram/ram_private.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/mman.h>

#include "util/alloc.h"
#include "verify/verify.h"

#define PUNCH_PAGES      512u /* runs of 2 MiB and more go back to the host at once */
#define NO_FRAME         UINT32_MAX
#define ARENA_BASE_BYTES ((uint64_t)256 << 30)

/* ---- set-up ---- */

static void *map_sparse(uint64_t bytes, int protection)
{
    void *memory;

    if (util_fault_point())
        return NULL;
    memory = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void unmap(void *memory, uint64_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

struct ram *ram_create(const struct ram_config *config)
{
    struct ram *ram;

    if (config->bytes % PAGE_BYTES != 0 || config->bytes < (uint64_t)1 << 20 ||
        config->bytes > (uint64_t)1 << 40)
        return NULL;
    ram = util_zalloc(1, sizeof(*ram));
    if (!ram)
        return NULL;
    ram->pages = config->bytes / PAGE_BYTES;
    ram->arena_pages = (ARENA_BASE_BYTES + 4 * config->bytes) / PAGE_BYTES;
    ram->depot = config->depot;
    ram->late_first = NO_FRAME;
    extent_tree_init(&ram->free);
    extent_tree_init(&ram->arena_free);
    if (!ram_file_open(ram->depot, config->bytes, &ram->memory))
        goto failed;
    ram->direct = (char *)ram->memory.bytes;
    ram->file = ram->memory.file;
    ram->frames = map_sparse(ram->pages * sizeof(*ram->frames), PROT_READ | PROT_WRITE);
    ram->arena = map_sparse(ram->arena_pages * PAGE_BYTES, PROT_NONE);
    ram->arena_frames = map_sparse(ram->arena_pages * sizeof(*ram->arena_frames),
                                   PROT_READ | PROT_WRITE);
    if (!ram->frames || !ram->arena || !ram->arena_frames)
        goto failed;
    /* PHYS-004: frame 0 stays the host's. */
    ram->frames[0].owner = RAM_HOST;
    if (!extent_give(&ram->free, 1, ram->pages - 1) ||
        !extent_give(&ram->arena_free, 0, ram->arena_pages))
        goto failed;
    return ram;

failed:
    ram_destroy(ram);
    return NULL;
}

void ram_destroy(struct ram *ram)
{
    if (!ram)
        return;
    extent_tree_finish(&ram->arena_free);
    extent_tree_finish(&ram->free);
    unmap(ram->arena_frames, ram->arena_pages * sizeof(*ram->arena_frames));
    unmap(ram->arena, ram->arena_pages * PAGE_BYTES);
    unmap(ram->frames, ram->pages * sizeof(*ram->frames));
    ram_file_close(ram->depot, &ram->memory);
    util_free(ram);
}

struct ram_depot *ram_depot(const struct ram *ram)
{
    return ram->depot;
}

uint64_t ram_bytes(const struct ram *ram)
{
    return ram->pages * PAGE_BYTES;
}

struct phys_addr ram_highest(const struct ram *ram)
{
    return (struct phys_addr){ram->pages * PAGE_BYTES - 1};
}

uint64_t ram_free_pages(const struct ram *ram)
{
    return ram->free.free_units + ram->late_pages;
}

/* ---- frames out ---- */

/* Offer frames the tree had no node for once more. */
static void settle_late(struct ram *ram)
{
    while (ram->late_first != NO_FRAME) {
        struct ram_frame *frame = &ram->frames[ram->late_first];

        if (!extent_give(&ram->free, ram->late_first, 1))
            return;
        frame->late = false;
        ram->late_first = frame->next_late;
        ram->late_pages--;
    }
}

/* The window of a request in pages: [low, high). False if it holds none. */
static bool window(const struct ram *ram, const struct ram_request *request, uint64_t *low,
                   uint64_t *high)
{
    uint64_t top = request->high.value ? request->high.value : UINT64_MAX;

    if (top > ram_highest(ram).value)
        top = ram_highest(ram).value;
    *low = request->low.value / PAGE_BYTES + (request->low.value % PAGE_BYTES != 0);
    *high = (top + 1) / PAGE_BYTES;
    return request->pages > 0 && *low < *high;
}

/* Turn the bytes of a run into a hole of the file; they read as zero from then on. */
static bool punch(struct ram *ram, uint64_t first, uint64_t pages)
{
    if (fallocate(ram->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(first * PAGE_BYTES), (off_t)(pages * PAGE_BYTES)) != 0)
        return false;
    for (uint64_t i = first; i < first + pages; i++)
        ram->frames[i].dirty = false;
    return true;
}

static void zero_run(struct ram *ram, uint64_t first, uint64_t pages)
{
    uint64_t end = first + pages;

    while (first < end) {
        uint64_t run = 0;

        while (first + run < end && ram->frames[first + run].dirty)
            run++;
        if (run > 0 && (run < PUNCH_PAGES || !punch(ram, first, run)))
            memset(ram->direct + first * PAGE_BYTES, 0, run * PAGE_BYTES);
        first += run + 1; /* the frame after the run is clean, or past the end */
    }
}

static void own_run(struct ram *ram, const struct ram_request *request, uint64_t first,
                    uint64_t pages)
{
    if (request->zero)
        zero_run(ram, first, pages);
    for (uint64_t i = first; i < first + pages; i++)
        ram->frames[i] = (struct ram_frame){
            .owner = (uint8_t)request->owner, .cache = (uint8_t)request->cache, .dirty = true};
}

bool ram_take_contiguous(struct ram *ram, const struct ram_request *request,
                         struct page_number *first)
{
    struct extent_request want = {.size = request->pages};
    uint64_t start;

    if (util_fault_point())
        return false;
    settle_late(ram);
    if (!window(ram, request, &want.low, &want.high))
        return false;
    want.align = request->align_bytes > PAGE_BYTES ? request->align_bytes / PAGE_BYTES : 1;
    if (request->boundary_bytes) {
        if (request->boundary_bytes < PAGE_BYTES)
            return false;
        want.boundary = request->boundary_bytes / PAGE_BYTES;
    }
    want.from_end = true;
    if (!extent_take(&ram->free, &want, &start))
        return false;
    own_run(ram, request, start, request->pages);
    first->value = start;
    return true;
}

/* One run of at most `pages`, the longest there is in the window. Returns its length. */
static uint64_t take_longest(struct ram *ram, uint64_t pages, uint64_t low, uint64_t high,
                             uint64_t *start)
{
    uint64_t longest = extent_largest_in(&ram->free, low, high);
    struct extent_request want = {
        .size = longest < pages ? longest : pages, .low = low, .high = high};

    want.from_end = true;
    return want.size > 0 && extent_take(&ram->free, &want, start) ? want.size : 0;
}

/* Undo: the runs in the list go back as they were taken. */
static void untake(struct ram *ram, const struct page_number *pages, uint64_t count)
{
    for (uint64_t i = 0; i < count;) {
        uint64_t first = i++;

        while (i < count && pages[i].value == pages[i - 1].value + 1)
            i++;
        ram_give_contiguous(ram, pages[first], i - first);
    }
}

/* Fill the list from the window; *done is how far it came. */
static bool take_runs(struct ram *ram, const struct ram_request *request, struct page_number *pages,
                      uint64_t *done)
{
    uint64_t low, high, start = 0;

    *done = 0;
    if (util_fault_point())
        return false;
    settle_late(ram);
    if (!window(ram, request, &low, &high))
        return false;
    while (*done < request->pages) {
        uint64_t run = take_longest(ram, request->pages - *done, low, high, &start);

        if (run == 0)
            return false;
        own_run(ram, request, start, run);
        for (uint64_t i = 0; i < run; i++)
            pages[*done + i].value = start + i;
        *done += run;
    }
    return true;
}

bool ram_take_pages(struct ram *ram, const struct ram_request *request, struct page_number *pages)
{
    uint64_t done;

    if (request->pages > ram_free_pages(ram))
        return false;
    if (take_runs(ram, request, pages, &done))
        return true;
    untake(ram, pages, done);
    return false;
}

uint64_t ram_take_some_pages(struct ram *ram, const struct ram_request *request,
                             struct page_number *pages)
{
    uint64_t done;

    take_runs(ram, request, pages, &done);
    return done;
}

bool ram_next_free(const struct ram *ram, struct page_number from, struct page_number *next)
{
    uint64_t start, size;

    if (!extent_next(&ram->free, from.value, &start, &size))
        return false;
    next->value = start > from.value ? start : from.value;
    return true;
}

uint64_t ram_free_run(const struct ram *ram, struct page_number first)
{
    uint64_t start, size;

    return extent_next(&ram->free, first.value, &start, &size) && start <= first.value
               ? start + size - first.value
               : 0;
}

/* ---- frames back ---- */

static bool held(const struct ram_frame *frame)
{
    return frame->locks > 0 || frame->iommu_maps > 0;
}

/* PHYS-003: what a lock or the IOMMU still holds stays out of the free list until the last of them
 * lets go (PHYS-083). */
static void quarantine(struct ram *ram, uint64_t page)
{
    struct ram_frame *frame = &ram->frames[page];

    frame->owner = RAM_QUARANTINED;
    VIOLATION("PHYS-003",
              "page 0x%llx was released while locked %u times and mapped %u times by an IOMMU",
              (unsigned long long)page, frame->locks, frame->iommu_maps);
}

static void give_run(struct ram *ram, uint64_t first, uint64_t pages)
{
    for (uint64_t i = first; i < first + pages; i++)
        ram->frames[i] = (struct ram_frame){.owner = RAM_FREE, .dirty = true};
    if (pages >= PUNCH_PAGES)
        punch(ram, first, pages);
    if (extent_give(&ram->free, first, pages))
        return;
    for (uint64_t i = first; i < first + pages; i++) {
        ram->frames[i].late = true;
        ram->frames[i].next_late = ram->late_first;
        ram->late_first = (uint32_t)i;
    }
    ram->late_pages += pages;
}

static bool can_be_given(const struct ram *ram, uint64_t page)
{
    return page > 0 && page < ram->pages && ram->frames[page].owner != RAM_FREE &&
           ram->frames[page].owner != RAM_QUARANTINED;
}

void ram_give_contiguous(struct ram *ram, struct page_number first, uint64_t pages)
{
    uint64_t page = first.value, end = first.value + pages;

    settle_late(ram);
    while (page < end) {
        uint64_t run = 0;

        for (; page + run < end && can_be_given(ram, page + run) && !held(&ram->frames[page + run]);
             run++)
            ;
        if (run > 0)
            give_run(ram, page, run);
        else if (can_be_given(ram, page))
            quarantine(ram, page);
        page += run > 0 ? run : 1;
    }
}

void ram_give_pages(struct ram *ram, const struct page_number *list, uint64_t pages)
{
    for (uint64_t i = 0; i < pages;) {
        uint64_t low = list[i].value, high = low;

        /* Neighbours in the list that are neighbours in memory go together, in either order. */
        for (i++; i < pages; i++) {
            if (list[i].value == high + 1)
                high++;
            else if (low > 0 && list[i].value == low - 1)
                low--;
            else
                break;
        }
        ram_give_contiguous(ram, (struct page_number){low}, high - low + 1);
    }
}

/* ---- frame records ---- */

void ram_lock_page(struct ram *ram, struct page_number page)
{
    ram->frames[page.value].locks++;
}

/* A frame that was released too early is free once nothing holds it any more. */
static void end_quarantine(struct ram *ram, uint64_t page)
{
    const struct ram_frame *frame = &ram->frames[page];

    if (frame->owner == RAM_QUARANTINED && !held(frame))
        give_run(ram, page, 1);
}

void ram_unlock_page(struct ram *ram, struct page_number page)
{
    ram->frames[page.value].locks--;
    end_quarantine(ram, page.value);
}

uint32_t ram_page_locks(const struct ram *ram, struct page_number page)
{
    return ram->frames[page.value].locks;
}

void ram_iommu_map_page(struct ram *ram, struct page_number page)
{
    ram->frames[page.value].iommu_maps++;
}

void ram_iommu_unmap_page(struct ram *ram, struct page_number page)
{
    ram->frames[page.value].iommu_maps--;
    end_quarantine(ram, page.value);
}

/* A record in words: locks, iommu_maps, owner and what is beside it, next_late. */
typedef uint32_t record __attribute__((vector_size(16), aligned(4), may_alias));

_Static_assert(offsetof(struct ram_frame, iommu_maps) == 4 && offsetof(struct ram_frame, owner) == 8,
               "as a record has them");

void ram_iommu_map_run(struct ram *ram, struct page_number first, uint64_t count)
{
    const record one = {0, 1, 0, 0};
    record *records = (record *)&ram->frames[first.value], *end = records + count;

    for (; end - records >= 4; records += 4) {
        records[0] += one;
        records[1] += one;
        records[2] += one;
        records[3] += one;
    }
    for (; records < end; records++)
        *records += one;
}

void ram_iommu_unmap_run(struct ram *ram, struct page_number first, uint64_t count)
{
    const record one = {0, 1, 0, 0}, owner = {0, 0, 0xFF, 0},
                 quarantined = {1, 1, RAM_QUARANTINED, 1};
    record *records = (record *)&ram->frames[first.value], *end = records + count, any = {0};

    for (; end - records >= 2; records += 2) {
        const record a = records[0], b = records[1];

        records[0] = a - one;
        records[1] = b - one;
        any |= (record)((a & owner) == quarantined) | (record)((b & owner) == quarantined);
    }
    for (; records < end; records++) {
        any |= (record)((*records & owner) == quarantined);
        *records -= one;
    }
    for (uint64_t i = 0; any[2] != 0 && i < count; i++)
        end_quarantine(ram, first.value + i);
}

uint32_t ram_page_iommu_maps(const struct ram *ram, struct page_number page)
{
    return ram->frames[page.value].iommu_maps;
}

enum ram_owner ram_page_owner(const struct ram *ram, struct page_number page)
{
    return (enum ram_owner)ram->frames[page.value].owner;
}

enum ram_cache ram_page_cache(const struct ram *ram, struct page_number page)
{
    return (enum ram_cache)ram->frames[page.value].cache;
}

/* ---- figures ---- */

/* Of a sparse mapping, what has been touched. */
static uint64_t resident_bytes(const void *memory, uint64_t bytes)
{
    unsigned char in_core[4096];
    uint64_t resident = 0;

    for (uint64_t at = 0; at < bytes; at += sizeof(in_core) * PAGE_BYTES) {
        uint64_t here = bytes - at < sizeof(in_core) * PAGE_BYTES ? bytes - at
                                                                  : sizeof(in_core) * PAGE_BYTES;

        if (mincore((char *)(uintptr_t)memory + at, here, in_core) != 0)
            continue;
        for (uint64_t i = 0; i < align_up(here, PAGE_BYTES) / PAGE_BYTES; i++)
            resident += (in_core[i] & 1) * PAGE_BYTES;
    }
    return resident;
}

static uint64_t tree_bytes(const struct extent_tree *tree)
{
    return tree->nodes.objects * tree->nodes.object_bytes;
}

uint64_t ram_bookkeeping_bytes(const struct ram *ram)
{
    return sizeof(*ram) + tree_bytes(&ram->free) + tree_bytes(&ram->arena_free) +
           resident_bytes(ram->frames, ram->pages * sizeof(*ram->frames)) +
           resident_bytes(ram->arena_frames, ram->arena_pages * sizeof(*ram->arena_frames));
}

/* ---- validation ---- */

bool ram_validate(const struct ram *ram)
{
    uint64_t late = 0, free_frames = 0, start = 0, size = 0;

    if (!extent_tree_validate(&ram->free) || !extent_tree_validate(&ram->arena_free))
        return false;
    for (uint32_t i = ram->late_first; i != NO_FRAME; i = ram->frames[i].next_late)
        if (!ram->frames[i].late || late++ > ram->pages)
            return false;
    for (uint64_t i = 0; i < ram->pages; i++) {
        const struct ram_frame *frame = &ram->frames[i];
        bool in_tree;

        if (i >= start + size && !extent_next(&ram->free, i, &start, &size)) {
            start = ram->pages;
            size = 0;
        }
        in_tree = i >= start && i < start + size;
        if (in_tree != (frame->owner == RAM_FREE && !frame->late) ||
            (frame->late && frame->owner != RAM_FREE))
            return false;
        if (held(frame) ? frame->owner == RAM_FREE : frame->owner == RAM_QUARANTINED)
            return false;
        free_frames += frame->owner == RAM_FREE;
    }
    return late == ram->late_pages && free_frames == ram_free_pages(ram);
}
