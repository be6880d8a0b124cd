/* SPDX-License-Identifier: MIT */
/* What pages held, and putting it back. */
#include "host/rewind.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/address.h"
#include "util/min_max.h"

#define COPIES ((size_t)1 << 16)

static const uint8_t zeroes[PAGE_BYTES];

/* ---- taking copies ---- */

static uint8_t *add_copy(struct rewind *rewind, struct rewind_copies *copies, uintptr_t first,
                         uintptr_t end)
{
    uint8_t *bytes = rewind_store(rewind, end - first);

    if (!copies->copy && bytes) {
        copies->copy = rewind_store(rewind, COPIES * sizeof(*copies->copy));
        copies->room = copies->copy ? COPIES : 0;
    }
    if (!bytes || copies->count == copies->room) {
        rewind->lost = "there is no room for a copy of the process";
        return NULL;
    }
    copies->copy[copies->count++] = (struct rewind_copy){first, end, bytes};
    return bytes;
}

static bool copy_file(struct rewind *rewind, struct rewind_file *file)
{
    const struct ram_file *ram = &file->ram;
    off_t first, end = 0;

    while ((uint64_t)end < ram->size && (first = lseek(ram->file, end, SEEK_DATA)) >= 0) {
        uint8_t *copy;

        end = lseek(ram->file, first, SEEK_HOLE);
        if (end < 0)
            return false;
        first = (off_t)align_down((uint64_t)first, PAGE_BYTES);
        end = (off_t)align_up((uint64_t)end, PAGE_BYTES);
        copy = add_copy(rewind, &file->copies, (uintptr_t)first, (uintptr_t)end);
        if (!copy)
            return false;
        memcpy(copy, ram->bytes + first, (size_t)(end - first));
    }
    return true;
}

/* Pages that lie side by side are one region, whatever mappings they are of. */
static bool copy_region(struct rewind *rewind, const struct rewind_region *region)
{
    uintptr_t first = region->first;

    for (size_t i = rewind_find_area(rewind, first); first < region->end; i++) {
        const struct rewind_area *area = &rewind->area[i];
        const uintptr_t end = min_of(area->end, region->end);
        uint8_t *copy;

        if (!area->shared) {
            copy = add_copy(rewind, &rewind->copies, first, end);
            if (!copy || !rewind_peek(rewind, copy, first, end - first))
                return false;
        }
        first = end;
    }
    return true;
}

/* Those of private memory that are there now. */
bool rewind_copy_all(struct rewind *rewind)
{
    const uintptr_t end = rewind->area[rewind->areas - 1].end;
    uintptr_t at = rewind->area[0].first;

    while (at < end) {
        const int count = rewind_scan(rewind, &at, end, false, false);

        for (int i = 0; i < count; i++)
            if (!copy_region(rewind, &rewind->region[i]))
                return false;
        if (count < 0)
            return false;
    }
    return true;
}

bool rewind_copy_files(struct rewind *rewind)
{
    for (int i = 0; i < rewind->files; i++)
        if (!copy_file(rewind, &rewind->file[i]))
            return false;
    return true;
}

/* ---- putting them back ---- */

/* The first one that ends above `at`. */
static size_t find_copy(const struct rewind_copies *copies, uintptr_t at)
{
    size_t low = 0, high = copies->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (copies->copy[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool put(const struct rewind *rewind, uintptr_t to, const uint8_t *from, size_t bytes,
                bool writable)
{
    if (!writable)
        return rewind_poke(rewind, to, from, bytes);
    memcpy((void *)to, from, bytes); // NOLINT: a page by its address
    return true;
}

static bool clear(const struct rewind *rewind, uintptr_t at, uintptr_t end, bool writable)
{
    if (writable) {
        memset((void *)at, 0, end - at); // NOLINT: pages by their address
        return true;
    }
    for (; at < end; at += PAGE_BYTES)
        if (!rewind_poke(rewind, at, zeroes, PAGE_BYTES))
            return false;
    return true;
}

/* [first, end) of the copied, which lies `shift` further in memory, is again what it was. */
static bool put_range(struct rewind *rewind, const struct rewind_copies *copies, uintptr_t first,
                      uintptr_t end, uintptr_t shift, bool writable)
{
    bool done = true;

    rewind->pages += (end - first) / PAGE_BYTES;
    for (size_t i = find_copy(copies, first); done && first < end; i++) {
        const struct rewind_copy *copy = i < copies->count ? &copies->copy[i] : NULL;
        const uintptr_t from = copy && copy->first < end ? max_of(copy->first, first) : end;
        const uintptr_t until = copy ? min_of(copy->end, end) : end;

        done = clear(rewind, first + shift, from + shift, writable);
        if (from < end && done)
            done = put(rewind, from + shift, copy->bytes + (from - copy->first), until - from,
                       writable);
        first = from < end ? until : end;
    }
    if (!done)
        rewind->lost = "a page could not be written";
    return done;
}

bool rewind_put_back(struct rewind *rewind, const struct rewind_area *area, uintptr_t first,
                     uintptr_t end)
{
    const bool writable = (area->protection & PROT_WRITE) != 0;
    const size_t copy = find_copy(&rewind->copies, first);

    /* What has no copy is as a new mapping is, or does not matter. */
    if (copy == rewind->copies.count || rewind->copies.copy[copy].first >= end)
        return true;
    return put_range(rewind, &rewind->copies, first, end, 0, writable);
}

static bool put_area(struct rewind *rewind, const struct rewind_area *area, uintptr_t first,
                     uintptr_t end)
{
    const bool writable = (area->protection & PROT_WRITE) != 0;
    const uintptr_t shift = area->first - (uintptr_t)area->offset;

    if (area->file >= 0)
        return put_range(rewind, &rewind->file[area->file].copies, first - shift, end - shift,
                         shift, writable);
    return put_range(rewind, &rewind->copies, first, end, 0, writable);
}

static bool put_dirty(struct rewind *rewind)
{
    for (size_t i = 0; i < rewind->dirties; i++) {
        const struct rewind_page *page = &rewind->dirty[i];
        const struct rewind_file *file = &rewind->file[page->file];

        if (!put_range(rewind, &file->copies, page->offset, page->offset + PAGE_BYTES,
                       (uintptr_t)file->ram.bytes, true))
            return false;
    }
    rewind->dirties = 0;
    return true;
}

/* Pages that were written, with their areas: *area is where to look first. */
static bool put_region(struct rewind *rewind, const struct rewind_region *region, size_t *area)
{
    uintptr_t first = region->first;

    while (first < region->end) {
        uintptr_t until;

        while (*area < rewind->areas && rewind->area[*area].end <= first)
            ++*area;
        if (*area == rewind->areas || rewind->area[*area].first > first) {
            rewind->lost = "memory was written that was not there";
            return false;
        }
        until = min_of(rewind->area[*area].end, region->end);
        if (!put_area(rewind, &rewind->area[*area], first, until))
            return false;
        first = until;
    }
    return true;
}

static bool put_span(struct rewind *rewind, const struct rewind_span *span, size_t *area)
{
    uintptr_t at = span->first;

    while (at < span->end) {
        const int count = rewind_scan(rewind, &at, span->end, true, false);

        if (count < 0) {
            rewind->lost = "the kernel does not tell written pages any more";
            return false;
        }
        for (int i = 0; i < count; i++)
            if (!put_region(rewind, &rewind->region[i], area))
                return false;
    }
    return true;
}

bool rewind_put_back_written(struct rewind *rewind)
{
    size_t area = 0;

    if (!put_dirty(rewind) || !rewind_extend_spans(rewind))
        return false;
    for (size_t i = 0; i < rewind->small_areas; i++) {
        const struct rewind_area *small = &rewind->area[rewind->small_area[i]];

        if (!put_area(rewind, small, small->first, small->end))
            return false;
    }
    for (size_t i = 0; i < rewind->spans; i++)
        if (!put_span(rewind, &rewind->span[i], &area))
            return false;
    return true;
}

/* ---- mappings of files that go ---- */

/* The page of a file that is shown at the address. False: none is. */
static bool page_shown(const struct rewind *rewind, uintptr_t address, struct rewind_page *page)
{
    const struct rewind_area *area;

    for (size_t i = rewind->edits; i-- > 0;) {
        const struct rewind_edit *edit = &rewind->edit[i];

        if (!edit->replaced || address < edit->first || address >= edit->end)
            continue;
        *page = (struct rewind_page){edit->file, edit->offset + (address - edit->first)};
        return edit->file >= 0;
    }
    area = &rewind->area[rewind_find_area(rewind, address)];
    if (area == &rewind->area[rewind->areas] || area->first > address)
        return false;
    *page = (struct rewind_page){area->file, area->offset + (address - area->first)};
    return area->file >= 0;
}

void rewind_note_dirty(struct rewind *rewind, uintptr_t first, uintptr_t end)
{
    int count;

    while (first < end && (count = rewind_scan(rewind, &first, end, true, false)) >= 0)
        for (int i = 0; i < count; i++)
            for (uintptr_t at = rewind->region[i].first; at < rewind->region[i].end;
                 at += PAGE_BYTES) {
                if (!page_shown(rewind, at, &rewind->dirty[rewind->dirties]))
                    continue;
                if (++rewind->dirties == REWIND_DIRTY) {
                    rewind->lost = "too many pages were written in mappings that went";
                    rewind->dirties--;
                }
            }
}
