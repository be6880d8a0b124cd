/* SPDX-License-Identifier: MIT */
/* RAM of which only single frames are free: what is taken then is not contiguous. */
#ifndef DXGK_TESTS_PORT_SCATTERED_H
#define DXGK_TESTS_PORT_SCATTERED_H

#include "port/support/probe.h"
#include "ram/ram.h"

#define SCATTERED_MOST 16384u

static struct page_number scattered[SCATTERED_MOST];
static uint64_t scattered_count;

/* Takes all of RAM but `runs` of so many frames, of which no two are side by side. */
static inline void scattered_begin(struct probe *p, uint64_t runs, uint64_t length)
{
    const struct ram_request all = {
        .pages = ram_free_pages(p->ram), .owner = RAM_HOST, .cache = RAM_CACHED};

    scattered_count = all.pages;
    CHECK(all.pages <= SCATTERED_MOST && all.pages > runs * (length + 1));
    CHECK(ram_take_pages(p->ram, &all, scattered));
    for (uint64_t i = 0; i < runs; i++)
        ram_give_pages(p->ram, &scattered[(length + 1) * i], length);
}

/* With the same numbers. */
static inline void scattered_end(struct probe *p, uint64_t runs, uint64_t length)
{
    for (uint64_t i = 0; i < scattered_count; i++)
        if (i % (length + 1) == length || i >= (length + 1) * runs)
            ram_give_contiguous(p->ram, scattered[i], 1);
}

#endif
