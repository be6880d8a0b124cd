/* SPDX-License-Identifier: MIT */
/* Where written pages may be: all private memory, and the parts of files that have pages. */
#include "host/rewind.h"

#include <sys/stat.h>
#include <unistd.h>

#include "util/address.h"
#include "util/min_max.h"

#define TABLE_BYTES ((uint64_t)1 << 21) /* of a page table */
#define SMALL_BYTES TABLE_BYTES
#define PASSED_MOST 8u /* areas: to pass over more costs as much as to begin anew */

/* ---- files ---- */

static bool count_blocks(const struct rewind_file *file, uint64_t *blocks)
{
    struct stat about;

    if (fstat(file->ram.file, &about) != 0)
        return false;
    *blocks = (uint64_t)about.st_blocks;
    return true;
}

static void add_extent(struct rewind_file *file, uint64_t first, uint64_t end)
{
    struct rewind_span *last = file->extents ? &file->extent[file->extents - 1] : NULL;

    if (last && (first <= last->end || file->extents == REWIND_EXTENTS))
        last->end = end;
    else
        file->extent[file->extents++] = (struct rewind_span){first, end};
}

/* By page tables: parts of one cost as much as all of it. */
static bool find_extents(struct rewind_file *file)
{
    const struct ram_file *ram = &file->ram;
    off_t first, end = 0;

    file->extents = 0;
    if (!count_blocks(file, &file->blocks))
        return false;
    while ((uint64_t)end < ram->size && (first = lseek(ram->file, end, SEEK_DATA)) >= 0) {
        end = lseek(ram->file, first, SEEK_HOLE);
        if (end < 0)
            return false;
        add_extent(file, align_down((uint64_t)first, TABLE_BYTES),
                   align_up((uint64_t)end, TABLE_BYTES));
    }
    return true;
}

/* ---- spans ---- */

static bool add_span(struct rewind *rewind, uintptr_t first, uintptr_t end)
{
    if (rewind->spans == REWIND_SPANS) {
        rewind->lost = "there are too many mappings of files";
        return false;
    }
    rewind->span[rewind->spans++] = (struct rewind_span){first, end};
    return true;
}

static bool add_file_spans(struct rewind *rewind, const struct rewind_area *area)
{
    const struct rewind_file *file = &rewind->file[area->file];
    const uint64_t begin = area->offset, end = begin + (area->end - area->first);

    for (size_t i = 0; i < file->extents; i++) {
        const uint64_t first = max_of(file->extent[i].first, begin);
        const uint64_t last = min_of(file->extent[i].end, end);

        if (first < last && !add_span(rewind, area->first + (uintptr_t)(first - begin),
                                      area->first + (uintptr_t)(last - begin)))
            return false;
    }
    return true;
}

bool rewind_plan_spans(struct rewind *rewind)
{
    bool joins = false; /* the next area is looked through together with the last one */
    unsigned passed = 0;

    rewind->spans = 0;
    for (int i = 0; i < rewind->files; i++)
        if (!find_extents(&rewind->file[i]))
            return false;
    for (size_t i = 0; i < rewind->areas; i++) {
        const struct rewind_area *area = &rewind->area[i];

        if (area->always || (!area->tracked && !area->lazy)) {
            if (++passed > PASSED_MOST)
                joins = false;
            continue;
        }
        passed = 0;
        if (area->file >= 0 && area->end - area->first > SMALL_BYTES) {
            joins = false;
            if (!add_file_spans(rewind, area))
                return false;
        } else if (joins) {
            rewind->span[rewind->spans - 1].end = area->end;
        } else {
            joins = true;
            if (!add_span(rewind, area->first, area->end))
                return false;
        }
    }
    return true;
}

bool rewind_extend_spans(struct rewind *rewind)
{
    uint64_t blocks;

    for (int i = 0; i < rewind->files; i++) {
        if (!count_blocks(&rewind->file[i], &blocks))
            return false;
        if (blocks != rewind->file[i].blocks)
            return rewind_plan_spans(rewind);
    }
    return true;
}
