/* SPDX-License-Identifier: MIT */
/*
 * Operations on runs of entries of one IO page table, vectorized: mapping and unmapping then cost
 * little more than the memory accesses. Short runs are cheaper entry by entry, so callers use these
 * from IO_ENTRIES_MANY entries on.
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
    /* The bits in which any entry differs from the pattern. */
    uint64_t (*differ)(const uint64_t *entries, uint64_t count, uint64_t pattern);
    /* entries[i] == entries[0] + i * step for all of them. */
    bool (*rising)(const uint64_t *entries, uint64_t count, uint64_t step);
};

/* The fastest implementation that this processor supports. */
const struct io_entry_work *io_entry_work(void);
/* The implementation of that name, or NULL if this processor does not support it; for tests. */
const struct io_entry_work *io_entry_work_named(const char *name);

#endif
