/* SPDX-License-Identifier: MIT */
/*
 * Physical memory of the machine: frames of 4 KiB, who owns them, and the bytes behind them.
 *
 * The bytes are one sparse memory file of the host, mapped once in full (the kernel's direct view:
 * kernel address = ram_direct(physical)), and again page by page where a caller needs scattered
 * frames at contiguous addresses (ram_view_*). Untouched pages cost nothing, and bookkeeping takes
 * about fourteen bits for each frame that was ever used, so a machine of 1 TiB is as cheap as one
 * of 1 GiB. Requests are placed by best fit (ram/frame_pool.h); low memory is left to requests that
 * need it.
 *
 * Frame 0 is never handed out (PHYS-004).
 */
#ifndef DXGK_RAM_H
#define DXGK_RAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/address.h"

struct page_number;
struct ram;

struct ram_config {
    uint64_t bytes;          /* multiple of 4 KiB; 1 MiB .. 1 TiB */
    struct ram_depot *depot; /* supplies and takes back memory files; NULL: always new files */
};

enum ram_cache { RAM_NON_CACHED, RAM_CACHED, RAM_WRITE_COMBINED };

/* Who owns a frame; printed in leak and quarantine reports. */
enum ram_owner {
    RAM_FREE,
    RAM_HOST,
    RAM_POOL,
    RAM_CONTIGUOUS,
    RAM_DRIVER_BLOCK, /* contiguous, by the display port's callback */
    RAM_MDL_PAGES,
    RAM_OBJECT,
    RAM_ALLOCATION,
    RAM_CLIENT,
    RAM_QUARANTINED
};

struct ram *ram_create(const struct ram_config *config); /* NULL: out of memory */
void ram_destroy(struct ram *ram);

/* As configured; may be NULL. */
struct ram_depot *ram_depot(const struct ram *ram);
/* The file that holds the bytes of RAM. */
const struct ram_file *ram_memory(const struct ram *ram);
uint64_t ram_bytes(const struct ram *ram);
/* Address of the last byte (PHYS-002). */
struct phys_addr ram_highest(const struct ram *ram);
uint64_t ram_free_pages(const struct ram *ram);

struct ram_request {
    uint64_t pages;
    struct phys_addr low;    /* lowest address allowed */
    struct phys_addr high;   /* highest address allowed, inclusive; 0: top of RAM */
    uint64_t align_bytes;    /* 0: 4 KiB */
    uint64_t boundary_bytes; /* must not cross a multiple of this; 0: none */
    enum ram_owner owner;
    enum ram_cache cache;
    bool zero; /* else the content is undefined */
};

/* Takes one contiguous run, the best fit (ram/frame_pool.c). False: there is none. The cost does
 * not depend on the size of RAM or on how full it is. */
bool ram_take_contiguous(struct ram *ram, const struct ram_request *request,
                         struct page_number *first);
/* Takes `request->pages` frames anywhere from low to high, in as few runs as possible; all or
 * nothing. */
bool ram_take_pages(struct ram *ram, const struct ram_request *request, struct page_number *pages);
/* Takes as many of `request->pages` frames as the window has; returns how many. */
uint64_t ram_take_some_pages(struct ram *ram, const struct ram_request *request,
                             struct page_number *pages);
/* The lowest free frame at or above `from`; false if there is none. */
bool ram_next_free(const struct ram *ram, struct page_number from, struct page_number *next);
/* Number of consecutive free frames from this one; 0: it is in use. */
uint64_t ram_free_run(const struct ram *ram, struct page_number first);
/* Give frames back. A frame that is still locked or mapped by an IOMMU is reported, and stays
 * unavailable until neither holds (PHYS-003). */
void ram_give_contiguous(struct ram *ram, struct page_number first, uint64_t pages);
void ram_give_pages(struct ram *ram, const struct page_number *list, uint64_t pages);

/* Lock and IOMMU counts, which keep a frame from being reused. */
void ram_lock_page(struct ram *ram, struct page_number page);
void ram_unlock_page(struct ram *ram, struct page_number page);
uint32_t ram_page_locks(const struct ram *ram, struct page_number page);
void ram_iommu_map_page(struct ram *ram, struct page_number page);
void ram_iommu_unmap_page(struct ram *ram, struct page_number page);
/* The same for a list of frames; those beyond RAM are skipped. */
void ram_iommu_map_pages(struct ram *ram, const struct page_number *list, uint64_t count);
void ram_iommu_unmap_pages(struct ram *ram, const struct page_number *list, uint64_t count);
/* The same for `count` consecutive frames, all inside RAM. */
void ram_iommu_map_run(struct ram *ram, struct page_number first, uint64_t count);
void ram_iommu_unmap_run(struct ram *ram, struct page_number first, uint64_t count);
uint32_t ram_page_iommu_maps(const struct ram *ram, struct page_number page);
enum ram_owner ram_page_owner(const struct ram *ram, struct page_number page);
enum ram_cache ram_page_cache(const struct ram *ram, struct page_number page);

/* The direct view: the host pointer for a physical address; physically contiguous pages are
 * contiguous here. NULL outside RAM. */
void *ram_direct(const struct ram *ram, struct phys_addr address);
/* The inverse of ram_direct, also for addresses inside views (ram_view_*). False: neither. */
bool ram_physical(const struct ram *ram, const void *address, struct phys_addr *physical);

/* Views: host address ranges of whole pages, each page mapped to a frame (or to a page of another
 * memory file). Reserve a view once and point it elsewhere as content moves; its address stays.
 * Pages that are reserved but point nowhere fault. */
void *ram_view_reserve(struct ram *ram, uint64_t pages); /* NULL: out of memory */
bool ram_view_point(struct ram *ram, void *view, uint64_t first_page,
                    const struct page_number *pages, uint64_t count, bool writable);
/* Point pages of a view at pages [file_page, file_page + count) of another memory file (device
 * memory). */
bool ram_view_point_file(struct ram *ram, void *view, uint64_t first_page, int file,
                         uint64_t file_page, uint64_t count, bool writable);
/* What a run of consecutive pages of a view shows: consecutive pages of a memory file. Used to move
 * content behind a view: no fault injection applies, and on failure (the host has no more map
 * entries) the pages show what they showed before. */
struct ram_view_source {
    int file; /* -1: RAM; then `page` is a frame */
    uint64_t page;
    bool writable;
    bool copy_on_write; /* writes go to private pages, lost when the view is pointed elsewhere */
};
bool ram_view_point_run(struct ram *ram, void *view, uint64_t first_page,
                        const struct ram_view_source *source, uint64_t count);
/* Point pages of a view at pages of their own, zeroed, which are nobody else's and no frames. On
 * failure they point nowhere. */
bool ram_view_blank(struct ram *ram, void *view, uint64_t first_page, uint64_t count);
void ram_view_unpoint(struct ram *ram, void *view, uint64_t first_page, uint64_t count);
void ram_view_release(struct ram *ram, void *view, uint64_t pages);

/* Bytes of host memory that the bookkeeping takes, counting only what was touched, without the
 * simulated bytes themselves. O(RAM); for reports. */
uint64_t ram_bookkeeping_bytes(const struct ram *ram);
bool ram_validate(const struct ram *ram);

#endif
