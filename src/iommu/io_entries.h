/* SPDX-License-Identifier: MIT */
/*
 * Stretches of entries of one IO page table, worked on as vectors: what makes mapping and unmapping
 * a matter of the memory's speed. Few entries are cheaper one by one, so callers ask here from
 * IO_ENTRIES_MANY on only.
 */
#ifndef DXGK_IOMMU_IO_ENTRIES_H
#define DXGK_IOMMU_IO_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

struct page_number;

enum { IO_ENTRIES_MANY = 8 };

struct io_entry_work {
    const char *name; /* of the instruction set */
    /* entries[i] = value + i * step */
    void (*fill_run)(uint64_t *entries, uint64_t count, uint64_t value, uint64_t step);
    /* entries[i] = frames[i] << shift | flags */
    void (*fill_list)(uint64_t *entries, const struct page_number *frames, uint64_t count,
                      unsigned shift, uint64_t flags);
    /* The bits in which any of them differs from the pattern. */
    uint64_t (*differ)(const uint64_t *entries, uint64_t count, uint64_t pattern);
    /* entries[i] == entries[0] + i * step for all of them. */
    bool (*rising)(const uint64_t *entries, uint64_t count, uint64_t step);
};

/* The best that this processor has. */
const struct io_entry_work *io_entry_work(void);
/* The one of that name, or NULL if it does not run here; for tests. */
const struct io_entry_work *io_entry_work_named(const char *name);

#endif
