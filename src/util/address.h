/* SPDX-License-Identifier: MIT */
/*
 * The kinds of address of the simulated machine. Each is a struct of one member, so that mixing
 * them does not compile. A byte count is a uint64_t; a page count is a uint64_t named *_pages.
 */
#ifndef DXGK_UTIL_ADDRESS_H
#define DXGK_UTIL_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#define PAGE_BYTES 4096u
#define PAGE_BITS  12u

/* System physical address: of a byte in simulated RAM, or in a device window of the bus. */
struct phys_addr {
    uint64_t value;
};

/* Logical address: what a device puts on the bus; the IOMMU translates it to a phys_addr. */
struct logical_addr {
    uint64_t value;
};

/* Offset of a byte from the start of one memory segment. */
struct segment_addr {
    uint64_t value;
};

/* GPU virtual address in one process's address space. */
struct gpu_va {
    uint64_t value;
};

/* Number of a 4 KiB page of physical memory: a phys_addr shifted right by PAGE_BITS. */
struct page_number {
    uint64_t value;
};

/* Number of a 4 KiB page that a device addresses: a logical_addr shifted right by PAGE_BITS. */
struct logical_page {
    uint64_t value;
};

static inline struct page_number phys_page(struct phys_addr a)
{
    return (struct page_number){a.value >> PAGE_BITS};
}

static inline struct phys_addr page_phys(struct page_number p)
{
    return (struct phys_addr){p.value << PAGE_BITS};
}

/* `page` counts from the start of the segment. */
static inline struct segment_addr segment_page_addr(uint64_t page)
{
    return (struct segment_addr){page << PAGE_BITS};
}

static inline struct logical_addr logical_page_addr(struct logical_page p)
{
    return (struct logical_addr){p.value << PAGE_BITS};
}

/* Where device and physical addresses are the same: without remapping, and in ranges that stand for
 * themselves. */
static inline struct logical_page page_identity(struct page_number p)
{
    return (struct logical_page){p.value};
}

/* Round up to a multiple of `align`, a power of two. Wraps on overflow; callers check the operand
 * first. */
static inline uint64_t align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

static inline uint64_t align_down(uint64_t value, uint64_t align)
{
    return value & ~(align - 1);
}

static inline bool is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

#endif
