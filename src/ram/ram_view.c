/* SPDX-License-Identifier: MIT */
/* Addresses of the host for simulated memory: the direct view, and views. The theory of operation
 * is in ram.c. */
#include "ram/ram.h"
#include "ram/ram_record.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/extent.h"
#include "util/map.h"

#include <string.h>
#include <sys/mman.h>

/* ---- addresses ---- */

void *ram_direct(const struct ram *ram, struct phys_addr address)
{
    return address.value < ram->pages * PAGE_BYTES ? ram->direct + address.value : NULL;
}

bool ram_physical(const struct ram *ram, const void *address, struct phys_addr *physical)
{
    uintptr_t at = (uintptr_t)address;
    uint64_t page;

    if (at - (uintptr_t)ram->direct < ram->pages * PAGE_BYTES) {
        physical->value = at - (uintptr_t)ram->direct;
        return true;
    }
    at -= (uintptr_t)ram->arena;
    page = at / PAGE_BYTES;
    if (page >= ram->arena_pages || ram->arena_frames[page] == 0)
        return false;
    physical->value = (uint64_t)(ram->arena_frames[page] - 1) * PAGE_BYTES + at % PAGE_BYTES;
    return true;
}

/* ---- views ---- */

void *ram_view_reserve(struct ram *ram, uint64_t pages)
{
    struct extent_request want = {.size = pages + 1, .low = ram->arena_cursor};
    uint64_t start;

    if (pages == 0 || pages >= ram->arena_pages || util_fault_point())
        return NULL;
    if (!extent_take(&ram->arena_free, &want, &start)) {
        want.low = 0;
        if (!extent_take(&ram->arena_free, &want, &start))
            return NULL;
    }
    ram->arena_cursor = start + want.size;
    return ram->arena + start * PAGE_BYTES;
}

/* From this size on a view is kept out of core dumps; for smaller ones, that costs more than it
 * saves. */
#define NO_DUMP_PAGES 256u

static uint64_t arena_page(const struct ram *ram, const void *view, uint64_t page)
{
    return ((uintptr_t)view - (uintptr_t)ram->arena) / PAGE_BYTES + page;
}

bool ram_view_point_run(struct ram *ram, void *view, uint64_t first_page,
                        const struct ram_view_source *source, uint64_t count)
{
    uint64_t at = arena_page(ram, view, first_page);
    bool in_ram = source->file < 0;
    int protection = source->writable || source->copy_on_write ? PROT_READ | PROT_WRITE : PROT_READ;
    int sharing = source->copy_on_write ? MAP_PRIVATE : MAP_SHARED;

    if (util_map(ram->arena + at * PAGE_BYTES, count * PAGE_BYTES, protection,
                 sharing | MAP_FIXED | MAP_NORESERVE, in_ram ? ram->file : source->file,
                 (off_t)(source->page * PAGE_BYTES)) == MAP_FAILED)
        return false;
    if (count >= NO_DUMP_PAGES)
        util_advise(ram->arena + at * PAGE_BYTES, count * PAGE_BYTES, MADV_DONTDUMP);
    for (uint64_t i = 0; i < count; i++)
        ram->arena_frames[at + i] = in_ram ? (uint32_t)(source->page + i) + 1 : 0;
    return true;
}

bool ram_view_point(struct ram *ram, void *view, uint64_t first_page,
                    const struct page_number *pages, uint64_t count, bool writable)
{
    if (util_fault_point())
        return false;
    for (uint64_t i = 0; i < count;) {
        struct ram_view_source source = {.file = -1, .page = pages[i].value, .writable = writable};
        uint64_t first = i++;

        while (i < count && pages[i].value == pages[i - 1].value + 1)
            i++;
        if (!ram_view_point_run(ram, view, first_page + first, &source, i - first)) {
            ram_view_unpoint(ram, view, first_page, count);
            return false;
        }
    }
    return true;
}

bool ram_view_point_file(struct ram *ram, void *view, uint64_t first_page, int file,
                         uint64_t file_page, uint64_t count, bool writable)
{
    struct ram_view_source source = {.file = file, .page = file_page, .writable = writable};

    return !util_fault_point() && ram_view_point_run(ram, view, first_page, &source, count);
}

void ram_view_unpoint(struct ram *ram, void *view, uint64_t first_page, uint64_t count)
{
    uint64_t at = arena_page(ram, view, first_page);
    char *address = ram->arena + at * PAGE_BYTES;

    /* If the host has no more map entries, at least remove the access rights. */
    if (util_map(address, count * PAGE_BYTES, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        util_protect(address, count * PAGE_BYTES, PROT_NONE);
    memset(&ram->arena_frames[at], 0, count * sizeof(*ram->arena_frames));
}

bool ram_view_blank(struct ram *ram, void *view, uint64_t first_page, uint64_t count)
{
    uint64_t at = arena_page(ram, view, first_page);

    ram_view_unpoint(ram, view, first_page, count);
    return util_protect(ram->arena + at * PAGE_BYTES, count * PAGE_BYTES, PROT_READ | PROT_WRITE) ==
           0;
}

void ram_view_release(struct ram *ram, void *view, uint64_t pages)
{
    ram_view_unpoint(ram, view, 0, pages);
    extent_give(&ram->arena_free, arena_page(ram, view, 0), pages + 1);
}
