/* SPDX-License-Identifier: MIT */
#include "vidmm/context/client_pages.h"
#include "bus/bus.h"
#include "bus/device.h"
#include "bus/memory.h"
#include "bus/window.h"
#include "ram/ram.h"
#include "util/checked.h"
#include "vidmm/record/vidmm_record.h"

static bool point(struct vidmm *vidmm, const struct vidmm_client_pages *pages, int file,
                  uint64_t page, bool same)
{
    struct ram_view_source source = {.file = file, .page = page, .writable = pages->writable};

    if (!same)
        return ram_view_point_run(vidmm->config.ram, pages->client, 0, &source, pages->pages);
    for (uint32_t i = 0; i < pages->pages; i++)
        if (!ram_view_point_run(vidmm->config.ram, pages->client, i, &source, 1))
            return false;
    return true;
}

NTSTATUS vidmm_client_pages_create(struct vidmm *vidmm, uint32_t pages, bool writable,
                                   struct vidmm_client_pages *out)
{
    const struct ram_request request = {
        .pages = 1, .owner = RAM_OBJECT, .cache = RAM_CACHED, .zero = true};
    struct ram *ram = vidmm->config.ram;

    *out = (struct vidmm_client_pages){.pages = pages, .writable = writable};
    out->taken = ram_take_contiguous(ram, &request, &out->frame);
    if (out->taken)
        out->client = ram_view_reserve(ram, pages);
    if (!out->client || !point(vidmm, out, -1, out->frame.value, true)) {
        vidmm_client_pages_destroy(vidmm, out);
        return STATUS_NO_MEMORY;
    }
    out->kernel = ram_direct(ram, page_phys(out->frame));
    return STATUS_SUCCESS;
}

/* The page of the memory file behind one of the device's memory BARs. */
static bool find_in_bar(const struct vidmm *vidmm, struct phys_addr address, uint64_t bytes,
                        int *file, uint64_t *page)
{
    const struct dxgk_device_description *d = bus_device_description(vidmm->config.device);

    for (unsigned bar = 0; bar < DXGK_DEVICE_BARS; bar++) {
        const uint64_t base = bus_device_bar(vidmm->config.device, bar).value;

        if (d->bar[bar].kind != DXGK_BAR_MEMORY || address.value < base ||
            !range_inside(address.value - base, bytes, d->bar[bar].bytes))
            continue;
        *file = bus_device_memory_file(vidmm->config.device, bar);
        *page = (address.value - base) >> PAGE_BITS;
        return true;
    }
    return false;
}

/* A driver's addresses may follow each other where pages of RAM do not. */
static bool point_at_ram(struct vidmm *vidmm, const struct vidmm_client_pages *pages,
                         const uint8_t *address)
{
    struct ram *ram = vidmm->config.ram;
    struct phys_addr place;

    for (uint32_t i = 0; i < pages->pages; i++)
        if (!ram_physical(ram, address + i * PAGE_BYTES, &place))
            return false;
    for (uint32_t i = 0; i < pages->pages; i++) {
        struct ram_view_source source = {.file = -1, .writable = pages->writable};

        (void)ram_physical(ram, address + i * PAGE_BYTES, &place);
        source.page = place.value >> PAGE_BITS;
        if (!ram_view_point_run(ram, pages->client, i, &source, 1)) {
            vidmm_client_pages_own(vidmm, pages);
            return false;
        }
    }
    return true;
}

bool vidmm_client_pages_point(struct vidmm *vidmm, struct vidmm_client_pages *pages,
                              const void *address)
{
    struct phys_addr place;
    uint64_t page;
    int file;

    if (!address || (uintptr_t)address % PAGE_BYTES)
        return false;
    if (ram_physical(vidmm->config.ram, address, &place))
        return point_at_ram(vidmm, pages, address);
    return bus_physical(bus_current(), address, &place) &&
           find_in_bar(vidmm, place, (uint64_t)pages->pages * PAGE_BYTES, &file, &page) &&
           point(vidmm, pages, file, page, false);
}

bool vidmm_client_pages_are_registers(const struct vidmm *vidmm, const void *address)
{
    const struct dxgk_device_description *d = bus_device_description(vidmm->config.device);
    struct phys_addr place;

    if (!bus_physical(bus_current(), address, &place))
        return false;
    for (unsigned bar = 0; bar < DXGK_DEVICE_BARS; bar++)
        if (d->bar[bar].kind == DXGK_BAR_REGISTERS &&
            place.value - bus_device_bar(vidmm->config.device, bar).value < d->bar[bar].bytes)
            return true;
    return false;
}

void vidmm_client_pages_own(struct vidmm *vidmm, const struct vidmm_client_pages *pages)
{
    if (pages->client)
        (void)point(vidmm, pages, -1, pages->frame.value, true);
}

void vidmm_client_pages_destroy(struct vidmm *vidmm, struct vidmm_client_pages *pages)
{
    struct ram *ram = vidmm->config.ram;

    if (pages->client)
        ram_view_release(ram, pages->client, pages->pages);
    if (pages->taken)
        ram_give_contiguous(ram, pages->frame, 1);
    *pages = (struct vidmm_client_pages){.client = NULL};
}
