/* SPDX-License-Identifier: MIT */
/* Transfers of DMA adapters. */
#include "nt/dma/dma_transfer.h"

#include <string.h>

#include "iommu/iommu.h"
#include "nt/base/faults.h"
#include "nt/base/state.h"
#include "nt/dma/dma_mapping.h"
#include "nt/mm/mdl_record.h"
#include "ram/ram.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/min_max.h"
#include "verify/verify.h"

#define LOCKED (MDL_PAGES_LOCKED | MDL_SOURCE_IS_NONPAGED_POOL | MDL_PARTIAL)

/* ---- ranges ---- */

struct nt_dma_range nt_dma_range_at(PMDL mdl, PVOID va, uint32_t length, bool write)
{
    const struct nt_dma_range range = {
        .mdl = mdl,
        .offset = mdl ? (uintptr_t)va - (uintptr_t)MmGetMdlVirtualAddress(mdl) : 0,
        .length = length,
        .write = write,
    };

    return range;
}

NTSTATUS nt_dma_range_check(const struct nt_dma_range *range, const char *routine)
{
    uint64_t bytes = 0;

    if (!range->mdl || range->length == 0) {
        VIOLATION("NT-190", "%s of %u bytes of %s", routine, range->length,
                  range->mdl ? "an MDL" : "no MDL");
        return STATUS_INVALID_PARAMETER;
    }
    for (PMDL mdl = range->mdl; mdl && !range_inside(range->offset, range->length, bytes);
         mdl = mdl->Next) {
        if (!nt_mdl_check(mdl, "NT-190", routine))
            return STATUS_INVALID_PARAMETER;
        if (!(mdl->MdlFlags & LOCKED)) {
            VIOLATION("NT-190", "%s of an MDL whose pages are not locked (flags 0x%x)", routine,
                      (unsigned)(USHORT)mdl->MdlFlags);
            return STATUS_INVALID_PARAMETER;
        }
        bytes += mdl->ByteCount;
    }
    if (range_inside(range->offset, range->length, bytes))
        return STATUS_SUCCESS;
    VIOLATION("NT-190", "%s of %u bytes at offset 0x%llx of an MDL of %llu bytes", routine,
              range->length, (unsigned long long)range->offset, (unsigned long long)bytes);
    return STATUS_BUFFER_TOO_SMALL;
}

struct cursor {
    const MDL *mdl;
    uint64_t offset;
    uint32_t left;
};

static struct cursor start_of(const struct nt_dma_range *range)
{
    return (struct cursor){range->mdl, range->offset, range->length};
}

/* False: it is at the end. */
static bool next_piece(struct cursor *cursor, struct nt_dma_piece *piece)
{
    uint64_t at;

    if (cursor->left == 0)
        return false;
    while (cursor->offset >= cursor->mdl->ByteCount) {
        cursor->offset -= cursor->mdl->ByteCount;
        cursor->mdl = cursor->mdl->Next;
    }
    at = cursor->mdl->ByteOffset + cursor->offset;
    piece->frame.value = MmGetMdlPfnArray(cursor->mdl)[at / PAGE_BYTES];
    piece->offset = (uint32_t)(at % PAGE_BYTES);
    piece->length = (uint32_t)min_of(min_of(PAGE_BYTES - piece->offset, cursor->left),
                                     cursor->mdl->ByteCount - cursor->offset);
    cursor->offset += piece->length;
    cursor->left -= piece->length;
    return true;
}

uint32_t nt_dma_range_pages(const struct nt_dma_range *range)
{
    struct cursor cursor = start_of(range);
    struct nt_dma_piece piece;
    uint32_t pages = 0;

    while (next_piece(&cursor, &piece))
        pages++;
    return pages;
}

static uint64_t physical_of(const struct nt_dma_piece *piece)
{
    return (piece->frame.value << PAGE_BITS) + piece->offset;
}

static bool reaches(const struct nt_dma_adapter *adapter, uint64_t address, uint32_t length)
{
    return address <= nt_dma_reach(adapter) && length - 1 <= nt_dma_reach(adapter) - address;
}

uint32_t nt_dma_range_contiguous(const struct nt_dma_adapter *adapter,
                                 const struct nt_dma_range *range)
{
    const struct iommu_domain *domain = nt_dma_domain(adapter->device);
    struct cursor cursor = start_of(range);
    struct nt_dma_piece piece;
    uint64_t end = 0;
    uint32_t length = 0;

    if (!adapter->scatter_gather || (domain && iommu_domain_mode(domain) == IOMMU_REMAP))
        return range->length;
    while (next_piece(&cursor, &piece)) {
        if (length != 0 && physical_of(&piece) != end)
            break;
        if (!reaches(adapter, physical_of(&piece), piece.length))
            return length ? length : range->length;
        length += piece.length;
        end = physical_of(&piece) + piece.length;
    }
    return length;
}

/* ---- the pages ---- */

static bool in_ram(const struct page_number frame)
{
    return frame.value < ram_bytes(nt_state()->ram) / PAGE_BYTES;
}

static NTSTATUS list_pieces(struct nt_dma_transfer *transfer, const char *routine)
{
    struct cursor cursor = start_of(&transfer->range);

    for (uint32_t i = 0; next_piece(&cursor, &transfer->piece[i]); i++) {
        const struct page_number frame = transfer->piece[i].frame;

        if (in_ram(frame) && ram_page_owner(nt_state()->ram, frame) == RAM_FREE) {
            VIOLATION("NT-190", "%s of an MDL whose page %u, 0x%llx, is free memory", routine, i,
                      (unsigned long long)frame.value);
            return STATUS_INVALID_PARAMETER;
        }
    }
    return STATUS_SUCCESS;
}

/* Runs of the pages where they are, joined where they touch. */
static void list_elements(struct nt_dma_transfer *transfer)
{
    transfer->elements = 0;
    for (uint32_t i = 0; i < transfer->pieces; i++) {
        const struct nt_dma_piece *piece = &transfer->piece[i];
        const uint64_t address = (transfer->mapping.logical[i].value << PAGE_BITS) + piece->offset;
        SCATTER_GATHER_ELEMENT *last = transfer->elements
                                           ? &transfer->element[transfer->elements - 1]
                                           : NULL;

        if (last && (uint64_t)last->Address.QuadPart + last->Length == address) {
            last->Length += piece->length;
            continue;
        }
        last = &transfer->element[transfer->elements++];
        memset(last, 0, sizeof(*last));
        last->Address.QuadPart = (LONGLONG)address;
        last->Length = piece->length;
    }
}

static bool device_can(const struct nt_dma_transfer *transfer)
{
    if (!transfer->adapter->scatter_gather && transfer->elements > 1)
        return false;
    for (uint32_t i = 0; i < transfer->elements; i++)
        if (!reaches(transfer->adapter, (uint64_t)transfer->element[i].Address.QuadPart,
                     transfer->element[i].Length))
            return false;
    return true;
}

static bool map_pages(struct nt_dma_transfer *transfer)
{
    struct page_number *frames = util_zalloc(transfer->pieces, sizeof(*frames));

    if (!frames)
        return false;
    for (uint32_t i = 0; i < transfer->pieces; i++)
        frames[i] = transfer->piece[i].frame;
    transfer->mapping.list = frames;
    transfer->mapping.pages = transfer->pieces;
    if (nt_dma_map(&transfer->mapping, transfer->adapter->device)) {
        list_elements(transfer);
        return true;
    }
    util_free(frames);
    transfer->mapping.list = NULL;
    return false;
}

static void unmap_pages(struct nt_dma_transfer *transfer)
{
    nt_dma_unmap(&transfer->mapping);
    util_free((void *)(uintptr_t)transfer->mapping.list);
    transfer->mapping.list = NULL;
}

/* ---- another run in their place ---- */

static void copy(const struct nt_dma_transfer *transfer, bool to_device)
{
    struct ram *ram = nt_state()->ram;
    uint8_t *run = ram_direct(ram, page_phys(transfer->mapping.first));

    for (uint32_t i = 0; i < transfer->pieces; i++) {
        const struct nt_dma_piece *piece = &transfer->piece[i];
        uint8_t *page = ram_direct(ram, (struct phys_addr){physical_of(piece)});

        if (to_device)
            memcpy(run, page, piece->length);
        else
            memcpy(page, run, piece->length);
        run += piece->length;
    }
}

static bool map_copy(struct nt_dma_transfer *transfer)
{
    struct nt_dma_mapping *mapping = &transfer->mapping;
    struct ram_request request = {
        .pages = BYTES_TO_PAGES((uint64_t)transfer->range.length),
        .high = {nt_dma_reach(transfer->adapter)},
        .owner = RAM_CONTIGUOUS,
        .cache = RAM_CACHED,
        .zero = true,
    };

    for (uint32_t i = 0; i < transfer->pieces; i++)
        if (!in_ram(transfer->piece[i].frame))
            return false;
    if (!ram_take_contiguous(nt_state()->ram, &request, &mapping->first))
        return false;
    mapping->pages = request.pages;
    if (!nt_dma_map(mapping, transfer->adapter->device)) {
        ram_give_contiguous(nt_state()->ram, mapping->first, mapping->pages);
        return false;
    }
    transfer->copied = true;
    copy(transfer, true); /* for reading, too: the device may write less than all */
    memset(transfer->element, 0, sizeof(*transfer->element));
    transfer->element->Address.QuadPart = (LONGLONG)mapping->logical_first.value << PAGE_BITS;
    transfer->element->Length = transfer->range.length;
    transfer->elements = 1;
    if (device_can(transfer))
        return true;
    nt_dma_unmap(mapping);
    ram_give_contiguous(nt_state()->ram, mapping->first, mapping->pages);
    return false;
}

static bool map(struct nt_dma_transfer *transfer)
{
    if (!map_pages(transfer))
        return false;
    if (device_can(transfer))
        return true;
    unmap_pages(transfer);
    return map_copy(transfer);
}

/* ---- life ---- */

static void free_transfer(struct nt_dma_transfer *transfer)
{
    util_free(transfer->piece);
    util_free(transfer->element);
    util_free(transfer->mapping.logical);
    util_free(transfer);
}

static struct nt_dma_transfer *new_transfer(struct nt_dma_adapter *adapter,
                                            const struct nt_dma_range *range, uint32_t pages)
{
    struct nt_dma_transfer *transfer = util_zalloc(1, sizeof(*transfer));

    if (!transfer)
        return NULL;
    transfer->adapter = adapter;
    transfer->range = *range;
    transfer->pieces = pages;
    list_init(&transfer->of_channel);
    transfer->piece = util_zalloc(pages, sizeof(*transfer->piece));
    transfer->element = util_zalloc(pages, sizeof(*transfer->element));
    transfer->mapping.logical = util_zalloc(pages, sizeof(*transfer->mapping.logical));
    if (transfer->piece && transfer->element && transfer->mapping.logical)
        return transfer;
    free_transfer(transfer);
    return NULL;
}

NTSTATUS nt_dma_transfer_begin(struct nt_dma_adapter *adapter, const struct nt_dma_range *range,
                               const char *routine, struct nt_dma_transfer **out)
{
    NTSTATUS status = nt_dma_range_check(range, routine);
    struct nt_dma_transfer *transfer;
    uint32_t pages;

    if (status != STATUS_SUCCESS)
        return status;
    pages = nt_dma_range_pages(range);
    if (pages > adapter->map_registers) {
        NOTE("NT-190", "%s of %u pages: IoGetDmaAdapter gave %u map registers", routine, pages,
             adapter->map_registers);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    transfer = nt_faults_due() ? NULL : new_transfer(adapter, range, pages);
    if (!transfer)
        return STATUS_INSUFFICIENT_RESOURCES;
    status = list_pieces(transfer, routine);
    if (status == STATUS_SUCCESS && !map(transfer)) {
        NOTE("NT-190",
             "%s: no way for the device to reach %u bytes in %u pages with %u address "
             "bits",
             routine, range->length, pages, adapter->bits);
        status = STATUS_INSUFFICIENT_RESOURCES;
    }
    if (status != STATUS_SUCCESS) {
        free_transfer(transfer);
        return status;
    }
    adapter->transfers++;
    *out = transfer;
    return STATUS_SUCCESS;
}

void nt_dma_transfer_end(struct nt_dma_transfer *transfer)
{
    if (transfer->copied) {
        if (!transfer->range.write)
            copy(transfer, false);
        nt_dma_unmap(&transfer->mapping);
        ram_give_contiguous(nt_state()->ram, transfer->mapping.first, transfer->mapping.pages);
    } else {
        unmap_pages(transfer);
    }
    transfer->adapter->transfers--;
    free_transfer(transfer);
}
