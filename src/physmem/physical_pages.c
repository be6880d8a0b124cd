/* SPDX-License-Identifier: MIT */
/*
 * Frames for the services: which places a driver may request, and the order in which they are
 * handed out. There are two forms of request:
 *
 *   contiguous   one run. The *bytes* asked for (not the whole pages) lie inside inclusive bounds
 *                and cross no multiple of the boundary
 *   MDL          pages of the window [low, high]; when it has no more, the window moves up by
 *                SkipBytes, again and again. Or contiguous chunks of SkipBytes each
 */
#include "physmem/physical_pages.h"

#include <stdlib.h>
#include <string.h>

#include "physmem/physical_backing.h"
#include "physmem/physical_record.h"
#include "physmem/physical_refuse.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "verify/refusal.h"
#include "verify/verify.h"

#define KNOWN_MDL_FLAGS                                                                            \
    (MM_DONT_ZERO_ALLOCATION | MM_ALLOCATE_FROM_LOCAL_NODE_ONLY | MM_ALLOCATE_FULLY_REQUIRED |     \
     MM_ALLOCATE_NO_WAIT | MM_ALLOCATE_PREFER_CONTIGUOUS | MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS | \
     MM_ALLOCATE_FAST_LARGE_PAGES | MM_ALLOCATE_TRIM_IF_NECESSARY | MM_ALLOCATE_AND_HOT_REMOVE)
#define MOST_MDL_BYTES   0xFFFFF000u
#define LARGE_PAGE_BYTES ((uint64_t)2 << 20)

NTSTATUS physical_pages_check_cache(DXGK_MEMORY_CACHING_TYPE type)
{
    if ((ULONG)type > DXGK_MEMORY_CACHING_TYPE_WRITE_COMBINED)
        return physical_refuse("PHYS-024", "CacheType %u is none of the three", (unsigned)type);
    return STATUS_SUCCESS;
}

/* ---- contiguous ---- */

static NTSTATUS check_contiguous(const struct physical_contiguous_limits *limits)
{
    if (limits->bytes == 0)
        return physical_refuse("PHYS-044", "a contiguous block of 0 bytes was asked for");
    if (limits->lowest > limits->highest)
        return physical_refuse(
            "PHYS-048", "lowest acceptable address 0x%llx is above the highest, 0x%llx",
            (unsigned long long)limits->lowest, (unsigned long long)limits->highest);
    if (limits->boundary != 0 && !is_power_of_two(limits->boundary))
        return physical_refuse("PHYS-049", "BoundaryAddressMultiple 0x%llx is not a power of two",
                               (unsigned long long)limits->boundary);
    if (limits->boundary != 0 && limits->bytes > limits->boundary)
        return physical_refuse("PHYS-051", "0x%llx bytes cannot stay between multiples of 0x%llx",
                               (unsigned long long)limits->bytes,
                               (unsigned long long)limits->boundary);
    return STATUS_SUCCESS;
}

NTSTATUS physical_pages_take_contiguous(struct physical_memory *memory,
                                        const struct physical_contiguous_limits *limits,
                                        enum ram_cache cache, enum ram_owner owner,
                                        struct physical_backing *backing)
{
    struct ram_request request = {.owner = owner, .cache = cache, .low.value = limits->lowest};
    NTSTATUS status = check_contiguous(limits);
    uint64_t rounded, top = limits->highest;

    if (status != STATUS_SUCCESS)
        return status;
    if (top > ram_highest(memory->ram).value)
        top = ram_highest(memory->ram).value;
    if (limits->bytes > top + 1)
        return refuse(STATUS_NO_MEMORY, NULL, "%llu bytes, physical addresses end at 0x%llx",
                      (unsigned long long)limits->bytes, (unsigned long long)top);
    rounded = align_up(limits->bytes, PAGE_BYTES);
    /* The requested bytes must end at or below `top`; the rest of their last page may be above
     * it. */
    request.pages = rounded / PAGE_BYTES;
    request.high.value = align_down(top + 1 - limits->bytes, PAGE_BYTES) + rounded - 1;
    /* A boundary smaller than a page imposes no limit: the block is no larger, and starts on a
     * page. */
    request.boundary_bytes = limits->boundary >= PAGE_BYTES ? limits->boundary : 0;
    if (!ram_take_contiguous(memory->ram, &request, &backing->first))
        return refuse(STATUS_NO_MEMORY, NULL,
                      "no %llu contiguous bytes of RAM are free between 0x%llx and 0x%llx, boundary "
                      "0x%llx",
                      (unsigned long long)limits->bytes, (unsigned long long)request.low.value,
                      (unsigned long long)request.high.value,
                      (unsigned long long)request.boundary_bytes);
    backing->list = NULL;
    backing->pages = request.pages;
    return STATUS_SUCCESS;
}

/* ---- order ---- */

static int compare_pages(const void *a, const void *b)
{
    uint64_t x = ((const struct page_number *)a)->value, y = ((const struct page_number *)b)->value;

    return x < y ? -1 : x > y;
}

/* PHYS-059: an order in which no page follows its lower neighbor in memory. From the sorted list,
 * take every second page first, then those between: within each half, addresses grow by two pages
 * or more, and where the halves meet they decrease. False: out of memory. */
static bool scatter(struct page_number *pages, uint64_t count)
{
    struct page_number *sorted;
    uint64_t out = 0;

    if (count < 2)
        return true;
    sorted = util_alloc(count * sizeof(*sorted));
    if (!sorted)
        return false;
    memcpy(sorted, pages, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), compare_pages);
    for (uint64_t i = 1; i < count; i += 2)
        pages[out++] = sorted[i];
    for (uint64_t i = 0; i < count; i += 2)
        pages[out++] = sorted[i];
    util_free(sorted);
    return true;
}

bool physical_pages_take_scattered(struct physical_memory *memory,
                                   const struct ram_request *request, struct page_number *pages)
{
    if (!ram_take_pages(memory->ram, request, pages))
        return false;
    if (memory->scatter && !scatter(pages, request->pages)) {
        ram_give_pages(memory->ram, pages, request->pages);
        return false;
    }
    return true;
}

/* ---- MDL pages ---- */

static NTSTATUS check_chunks(const struct physical_mdl_limits *limits)
{
    bool chunks = limits->flags & MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS;

    if (chunks && limits->skip != 0 &&
        (!is_power_of_two(limits->skip) || limits->bytes % limits->skip != 0))
        return physical_refuse("PHYS-071", "chunks of 0x%llx bytes do not make up 0x%llx",
                               (unsigned long long)limits->skip, (unsigned long long)limits->bytes);
    if ((limits->flags & MM_ALLOCATE_FAST_LARGE_PAGES) &&
        (!chunks || limits->skip == 0 || limits->skip % LARGE_PAGE_BYTES != 0))
        return physical_refuse(
            "PHYS-072", "MM_ALLOCATE_FAST_LARGE_PAGES needs contiguous chunks of whole large pages");
    return STATUS_SUCCESS;
}

static NTSTATUS check_mdl(const struct physical_mdl_limits *limits)
{
    if (limits->bytes == 0 || limits->bytes > MOST_MDL_BYTES)
        return physical_refuse("PHYS-065", "0x%llx bytes: one call gives 1 to 4 GB - PAGE_SIZE",
                               (unsigned long long)limits->bytes);
    if (limits->low > limits->high)
        return physical_refuse("PHYS-060", "LowAddress 0x%llx is above HighAddress 0x%llx",
                               (unsigned long long)limits->low, (unsigned long long)limits->high);
    if (limits->skip % PAGE_BYTES != 0)
        return physical_refuse("PHYS-062", "SkipBytes 0x%llx is not a multiple of PAGE_SIZE",
                               (unsigned long long)limits->skip);
    if (limits->flags & ~(ULONG)KNOWN_MDL_FLAGS)
        return physical_refuse("PHYS-067", "Flags 0x%x has unknown bits", limits->flags);
    if (limits->flags & MM_ALLOCATE_AND_HOT_REMOVE)
        return physical_refuse(
            "PHYS-068",
            "MM_ALLOCATE_AND_HOT_REMOVE contradicts MM_ALLOCATE_FULLY_REQUIRED, which is implied");
    return check_chunks(limits);
}

/* Allocate from the window [low, high], then from windows that are `skip` bytes higher each
 * time. */
static bool take_windows(struct physical_memory *memory, const struct physical_mdl_limits *limits,
                         struct ram_request *request, struct page_number *pages)
{
    uint64_t low = limits->low, length = limits->high - limits->low, wanted = request->pages,
             done = 0;
    uint64_t top = ram_highest(memory->ram).value;

    /* If the first window contains no whole page, no window does: SkipBytes is a multiple of a
     * page. */
    if (length < PAGE_BYTES - 1 ||
        (low % PAGE_BYTES != 0 && length - (PAGE_BYTES - low % PAGE_BYTES) < PAGE_BYTES - 1))
        return false;
    while (low <= top) {
        struct page_number next;
        uint64_t jump;

        request->low.value = low;
        if (ckd_add(&request->high.value, low, length))
            request->high.value = UINT64_MAX;
        request->pages = wanted - done;
        done += ram_take_some_pages(memory->ram, request, pages + done);
        if (done == wanted)
            return true;
        if (limits->skip == 0 ||
            !ram_next_free(memory->ram, (struct page_number){low / PAGE_BYTES}, &next))
            break;
        /* Skip to the next window that ends above a free page. */
        jump = 1;
        if (next.value * PAGE_BYTES > low + length)
            jump += (next.value * PAGE_BYTES - (low + length) - 1) / limits->skip;
        if (ckd_mul(&jump, jump, limits->skip) || ckd_add(&low, low, jump))
            break;
    }
    ram_give_pages(memory->ram, pages, done);
    return false;
}

static bool take_chunks(struct physical_memory *memory, const struct physical_mdl_limits *limits,
                        struct ram_request *request, struct page_number *pages)
{
    uint64_t wanted = request->pages, chunk = limits->skip ? limits->skip / PAGE_BYTES : wanted;

    request->low.value = limits->low;
    request->high.value = limits->high;
    request->align_bytes = limits->skip;
    request->pages = chunk;
    for (uint64_t done = 0; done < wanted; done += chunk) {
        struct page_number first;

        if (limits->high < PAGE_BYTES - 1 || !ram_take_contiguous(memory->ram, request, &first)) {
            ram_give_pages(memory->ram, pages, done);
            return false;
        }
        for (uint64_t i = 0; i < chunk; i++)
            pages[done + i].value = first.value + i;
    }
    return true;
}

static bool take_mdl_pages(struct physical_memory *memory, const struct physical_mdl_limits *limits,
                           struct ram_request *request, struct page_number *pages)
{
    uint64_t count = request->pages;

    if (limits->flags & MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS)
        return take_chunks(memory, limits, request, pages);
    if (limits->low == 0 && limits->high == 0 && limits->skip == 0)
        return physical_pages_take_scattered(memory, request, pages);
    if (!take_windows(memory, limits, request, pages))
        return false;
    if (memory->scatter && !scatter(pages, count)) {
        ram_give_pages(memory->ram, pages, count);
        return false;
    }
    return true;
}

NTSTATUS physical_pages_take_mdl(struct physical_memory *memory,
                                 const struct physical_mdl_limits *limits, enum ram_cache cache,
                                 enum ram_owner owner, struct physical_backing *backing)
{
    struct ram_request request = {.owner = owner, .cache = cache};
    NTSTATUS status = check_mdl(limits);

    if (status != STATUS_SUCCESS)
        return status;
    if (limits->low == 0 && limits->high == 0 && limits->skip == 0)
        NOTE("PHYS-061", "LowAddress, HighAddress and SkipBytes are all zero: read as no limit");
    request.pages = align_up(limits->bytes, PAGE_BYTES) / PAGE_BYTES;
    request.zero = !(limits->flags & MM_DONT_ZERO_ALLOCATION);
    /* PHYS-072: there is no cache of large pages to serve this from. */
    if ((limits->flags & MM_ALLOCATE_FAST_LARGE_PAGES) ||
        request.pages > ram_free_pages(memory->ram))
        return refuse(STATUS_NO_MEMORY, "PHYS-072",
                      "%llu pages, flags 0x%x: %llu are free, and none is large",
                      (unsigned long long)request.pages, (unsigned)limits->flags,
                      (unsigned long long)ram_free_pages(memory->ram));
    backing->pages = request.pages;
    backing->list = util_alloc(backing->pages * sizeof(*backing->list));
    if (!backing->list)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!take_mdl_pages(memory, limits, &request, backing->list)) {
        util_free(backing->list);
        backing->list = NULL;
        return refuse(STATUS_NO_MEMORY, NULL, "no %llu pages of RAM are free within the limits",
                      (unsigned long long)request.pages);
    }
    if (limits->flags & MM_DONT_ZERO_ALLOCATION)
        physical_backing_fill_undefined(memory, backing);
    return STATUS_SUCCESS;
}
