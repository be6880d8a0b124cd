/* SPDX-License-Identifier: MIT */
/*
 * A device with memory that the CPU sees through a window of 64 KiB or so: segment 3, of the size that the test says, with a CPU host
 * aperture in the second half of the BAR. The driver's entries point its pages at the memory, and check what they are told.
 *
 *     p = host_window_create(...); ... probe_start(p) ...
 */
#ifndef DXGK_TESTS_PORT_HOST_WINDOW_H
#define DXGK_TESTS_PORT_HOST_WINDOW_H

#include "port/support/client.h"

#define WINDOW_PAGES 256u
#define WINDOW_LIST  16u
#define WINDOW_CALLS 8192u

struct host_window_call {
    uint64_t order; /* of the probe's calls */
    bool map, failed;
    HANDLE allocation;
    UINT64 count;
    UINT32 window[WINDOW_LIST];
    UINT64 page[WINDOW_LIST];
};

/* Of the latest host_window_create. */
extern struct host_window {
    UINT64 bytes; /* of the segment */
    UINT32 page_bytes, pages;
    bool mapped[WINDOW_PAGES];
    UINT64 behind[WINDOW_PAGES];
    uint8_t *memory; /* the segment's */
    struct host_window_call call[WINDOW_CALLS];
    unsigned calls;
    unsigned inside, most_inside;
    uint64_t delay_ns;       /* of each call */
    unsigned fail_map_count; /* maps to fail from now on; unmaps */
    unsigned fail_unmap_count;
} host_window;

/* `large`: pages of 64 KiB. `tables`: the page tables are there, too. */
struct probe *host_window_create(const struct probe_options *options, UINT64 bytes, UINT32 pages,
                                 bool large, bool tables);
/* What is mapped at the moment. */
unsigned host_window_mapped(void);
/* The window as the CPU sees it. */
uint8_t *host_window_cpu(const struct probe *p);
void host_window_end(struct probe *p);

#endif
