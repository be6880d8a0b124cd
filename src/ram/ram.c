/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   Everything is kept in sparse mappings of the host. Each is reserved in full and takes memory
 *   only where it is touched:
 *
 *     direct   the memory file, whole: the byte at physical address A is at direct + A
 *     books    a byte for each frame (owner, cache attribute), the free frames (frame_pool.c), and
 *              the lock and IOMMU counts (ram_frame.c)
 *     arena    address space for views, with a table that gives the frame behind each of its pages
 *
 *         physical   0        4K                                     top
 *         direct     |--------|--------|--------|-- ... --|--------|
 *         arena      [ view 1: frames 7,3,9 ]gap[ view 2 ]gap[ reserved, faults ] ...
 *
 *   So bookkeeping costs about fourteen bits for each frame that was ever used and nothing for the
 *   others; there is no node per block, and nothing is allocated when frames are taken or given
 *   back. An extent tree keeps the free address space of the arena.
 *
 *   A frame is *dirty* from when it is first handed out until a hole is punched in the file at its
 *   place. Clean frames read as zero, so zeroed memory costs nothing where the file was never
 *   written.
 *
 *   Views are laid out by next fit with one unmapped page between neighbors, so that a stale
 *   pointer faults for as long as possible. Pages that are consecutive in the file and in the view
 *   are mapped by one call.
 */
#include "ram/ram.h"
#include "ram/file.h"
#include "ram/frame_map.h"
#include "ram/frame_pool.h"
#include "ram/ram_frame.h"
#include "ram/ram_record.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/extent.h"
#include "util/map.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/mman.h>

#define PUNCH_PAGES      512u /* runs of 2 MiB and more go back to the host at once */
#define ARENA_BASE_BYTES ((uint64_t)256 << 30)

/* ---- set-up ---- */

static void *map_sparse(uint64_t bytes, int protection)
{
    void *memory;

    if (util_fault_point())
        return NULL;
    memory = util_map(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void unmap(void *memory, uint64_t bytes)
{
    if (memory)
        util_unmap(memory, bytes);
}

static bool open_books(struct ram *ram)
{
    uint64_t frames = align_up(ram->pages, 8), pool = frame_pool_bytes(ram->pages);

    ram->books_bytes = align_up(frames + pool + ram_frame_counts_bytes(ram->pages), PAGE_BYTES);
    ram->books = map_sparse(ram->books_bytes, PROT_READ | PROT_WRITE);
    if (!ram->books)
        return false;
    ram->frames = (uint8_t *)ram->books;
    frame_pool_init(&ram->pool, ram->books + frames, ram->pages);
    ram_frame_counts_init(ram, ram->books + frames + pool);
    /* PHYS-004: frame 0 stays the host's. */
    ram->frames[0] = RAM_HOST | RAM_CACHED << FRAME_CACHE_SHIFT;
    return true;
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
    extent_tree_init(&ram->arena_free);
    if (!ram_file_open(ram->depot, config->bytes, &ram->memory))
        goto failed;
    ram->direct = (char *)ram->memory.bytes;
    ram->file = ram->memory.file;
    if (!open_books(ram))
        goto failed;
    ram->arena = map_sparse(ram->arena_pages * PAGE_BYTES, PROT_NONE);
    ram->arena_frames = map_sparse(ram->arena_pages * sizeof(*ram->arena_frames),
                                   PROT_READ | PROT_WRITE);
    if (!ram->arena || !ram->arena_frames || !extent_give(&ram->arena_free, 0, ram->arena_pages))
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
    unmap(ram->arena_frames, ram->arena_pages * sizeof(*ram->arena_frames));
    unmap(ram->arena, ram->arena_pages * PAGE_BYTES);
    unmap(ram->books, ram->books_bytes);
    ram_file_close(ram->depot, &ram->memory);
    util_free(ram);
}

struct ram_depot *ram_depot(const struct ram *ram)
{
    return ram->depot;
}

const struct ram_file *ram_memory(const struct ram *ram)
{
    return &ram->memory;
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
    return ram->pool.free_frames;
}

/* ---- frames out ---- */

/* The window of a request in pages: [low, high). False if it is empty. */
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

/* Punch a hole in the file for a run of frames; they read as zero from then on. */
static bool punch(struct ram *ram, uint64_t first, uint64_t pages)
{
    if (fallocate(ram->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(first * PAGE_BYTES), (off_t)(pages * PAGE_BYTES)) != 0)
        return false;
    for (uint64_t i = first; i < first + pages; i++)
        ram->frames[i] &= (uint8_t)~FRAME_DIRTY;
    return true;
}

static void zero_run(struct ram *ram, uint64_t first, uint64_t pages)
{
    uint64_t end = first + pages;

    while (first < end) {
        uint64_t run = 0;

        while (first + run < end && ram->frames[first + run] & FRAME_DIRTY)
            run++;
        if (run > 0 && (run < PUNCH_PAGES || !punch(ram, first, run)))
            memset(ram->direct + first * PAGE_BYTES, 0, run * PAGE_BYTES);
        first += run + 1; /* the frame after the run is clean, or past the end */
    }
}

static void own_run(struct ram *ram, const struct ram_request *request, uint64_t first,
                    uint64_t pages)
{
    uint8_t *frames = ram->frames + first;
    uint8_t record = (uint8_t)(request->owner | (unsigned)request->cache << FRAME_CACHE_SHIFT |
                               FRAME_DIRTY);

    if (request->zero)
        zero_run(ram, first, pages);
    for (uint64_t i = 0; i < pages; i++)
        frames[i] = (uint8_t)(record | (frames[i] & FRAME_HELD));
}

static void take_place(struct ram *ram, const struct ram_request *request,
                       const struct frame_place *place)
{
    /* Prefetch the record: it is far away, and needed only after the other bookkeeping. */
    __builtin_prefetch(&ram->frames[place->first], 1);
    frame_pool_take(&ram->pool, place);
    own_run(ram, request, place->first, place->count);
}

bool ram_take_contiguous(struct ram *ram, const struct ram_request *request,
                         struct page_number *first)
{
    struct frame_want want = {.count = request->pages, .align = 1};
    struct frame_place place;

    if (util_fault_point() || !window(ram, request, &want.low, &want.high))
        return false;
    if (request->align_bytes > PAGE_BYTES)
        want.align = request->align_bytes / PAGE_BYTES;
    if (request->boundary_bytes) {
        if (request->boundary_bytes < PAGE_BYTES)
            return false;
        want.boundary = request->boundary_bytes / PAGE_BYTES;
    }
    if (!frame_pool_find(&ram->pool, &want, &place))
        return false;
    take_place(ram, request, &place);
    first->value = place.first;
    return true;
}

/* Find one run for the whole request if there is one, else the longest run. */
static bool find_run(const struct ram *ram, uint64_t pages, uint64_t low, uint64_t high,
                     struct frame_place *place)
{
    struct frame_want want = {.count = pages, .low = low, .high = high, .align = 1};

    return frame_pool_find(&ram->pool, &want, place) ||
           frame_pool_find_longest(&ram->pool, low, high, place);
}

/* Undo: give the runs in the list back as they were taken. */
static void untake(struct ram *ram, const struct page_number *pages, uint64_t count)
{
    for (uint64_t i = 0; i < count;) {
        uint64_t first = i++;

        while (i < count && pages[i].value == pages[i - 1].value + 1)
            i++;
        ram_give_contiguous(ram, pages[first], i - first);
    }
}

/* Fill the list from the window; *done says how many were taken. */
static bool take_runs(struct ram *ram, const struct ram_request *request, struct page_number *pages,
                      uint64_t *done)
{
    struct frame_place place;
    uint64_t low, high;

    *done = 0;
    if (util_fault_point() || !window(ram, request, &low, &high))
        return false;
    while (*done < request->pages) {
        struct page_number *next = pages + *done;

        if (!find_run(ram, request->pages - *done, low, high, &place))
            return false;
        take_place(ram, request, &place);
        for (uint64_t i = 0; i < place.count; i++)
            next[i].value = place.first + i;
        *done += place.count;
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
    uint64_t found = frame_map_next_free(&ram->pool.map, from.value);

    if (found >= ram->pages)
        return false;
    next->value = found;
    return true;
}

uint64_t ram_free_run(const struct ram *ram, struct page_number first)
{
    if (first.value >= ram->pages || !frame_pool_is_free(&ram->pool, first.value))
        return 0;
    return frame_map_next_used(&ram->pool.map, first.value) - first.value;
}

/* ---- frames back ---- */

void ram_release_run(struct ram *ram, uint64_t first, uint64_t pages)
{
    memset(ram->frames + first, RAM_FREE | FRAME_DIRTY, pages);
    if (pages >= PUNCH_PAGES)
        punch(ram, first, pages);
    frame_pool_give(&ram->pool, first, pages);
}

static bool given_before(uint8_t frame)
{
    return frame_owner(frame) == RAM_FREE || frame_owner(frame) == RAM_QUARANTINED;
}

/* How many frames from `first` on can become free at once. */
static uint64_t releasable(const struct ram *ram, uint64_t first, uint64_t end)
{
    const uint8_t *frames = ram->frames;
    uint64_t page = first;

    if (given_before(frames[first]) || frames[first] & FRAME_HELD)
        return 0;
    /* Usually all records are the same. */
    if (memcmp(frames + first, frames + first + 1, end - first - 1) == 0)
        return end - first;
    while (page < end && !given_before(frames[page]) && !(frames[page] & FRAME_HELD))
        page++;
    return page - first;
}

void ram_give_contiguous(struct ram *ram, struct page_number first, uint64_t pages)
{
    uint64_t page = first.value, end = first.value + pages;

    if (end > ram->pages)
        end = ram->pages;
    page += page == 0; /* frame 0 is never given back */
    if (page >= end)
        return;
    __builtin_prefetch(&ram->frames[page], 1);
    frame_pool_prefetch(&ram->pool, page);
    while (page < end) {
        uint64_t run = releasable(ram, page, end);

        if (run > 0)
            ram_release_run(ram, page, run);
        else if (!given_before(ram->frames[page]))
            ram_frame_quarantine(ram, page);
        page += run > 0 ? run : 1;
    }
}

void ram_give_pages(struct ram *ram, const struct page_number *list, uint64_t pages)
{
    for (uint64_t i = 0; i < pages;) {
        uint64_t low = list[i].value, high = low;

        if (low < ram->pages) {
            __builtin_prefetch(&ram->frames[low], 1);
            frame_pool_prefetch(&ram->pool, low);
        }
        /* List neighbors that are also neighbors in memory are given back together, in either
         * order. */
        while (++i < pages && list[i].value == high + 1)
            high++;
        for (; i < pages; i++) {
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

/* ---- figures ---- */

/* How much of a sparse mapping was touched. */
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
    return sizeof(*ram) + tree_bytes(&ram->arena_free) +
           resident_bytes(ram->books, ram->books_bytes) +
           resident_bytes(ram->arena_frames, ram->arena_pages * sizeof(*ram->arena_frames));
}

/* ---- validation ---- */

bool ram_validate(const struct ram *ram)
{
    if (!frame_pool_validate(&ram->pool) || !extent_tree_validate(&ram->arena_free))
        return false;
    for (uint64_t i = 0; i < ram->pages; i++) {
        bool held = ram_page_locks(ram, (struct page_number){i}) > 0 ||
                    ram_page_iommu_maps(ram, (struct page_number){i}) > 0;
        enum ram_owner owner = frame_owner(ram->frames[i]);

        if (frame_pool_is_free(&ram->pool, i) != (owner == RAM_FREE) ||
            held != ((ram->frames[i] & FRAME_HELD) != 0) ||
            (held ? owner == RAM_FREE : owner == RAM_QUARANTINED))
            return false;
    }
    return true;
}
