/* SPDX-License-Identifier: MIT */
/*
 * Bus-master access: logical address -> IOMMU domain -> physical address -> bytes of RAM.
 *
 * An access is cut into runs that are contiguous in host memory. A write is checked to its end
 * before its first byte is stored, since a refused write must change nothing. Where no translation
 * happens the whole access is one run. Refused is: a device without domain, unplugged or not
 * allowed to be bus master; an address that it cannot put on the bus; a page that the domain does
 * not map with that right; a physical address where no RAM answers.
 */
#include <string.h>

#include "bus/bus_private.h"

static void fault(struct bus_device *device, uint64_t logical, enum iommu_access access)
{
    struct iommu_fault record = {
        .address = {logical},
        .access = access,
        .time = sim_now(),
    };

    device->faults++;
    trace_instant(device->track, "DMA fault", "address", logical, "access", (uint64_t)access);
    if (device->on_fault)
        device->on_fault(device->fault_context, &record);
}

/* Host bytes behind one page's worth of the access; NULL: refused. */
static uint8_t *page_bytes(struct bus_device *device, uint64_t logical, enum iommu_access access)
{
    struct phys_addr physical;

    if (!iommu_translate(device->domain, (struct logical_addr){logical}, access, &physical))
        return NULL;
    return ram_direct(device->bus->ram, physical);
}

/* The longest run at `logical` of at most `bytes` bytes; NULL: the first byte is refused. */
static uint8_t *find_run(struct bus_device *device, uint64_t logical, enum iommu_access access,
                         size_t bytes, size_t *run)
{
    uint64_t limit = (uint64_t)1 << device->description.dma_bits;
    size_t length;
    uint8_t *start;

    if (!device->domain || device->unplugged || !bus_config_is_master(device) || logical >= limit)
        return NULL;
    if (bytes > limit - logical)
        bytes = (size_t)(limit - logical);
    if (iommu_domain_mode(device->domain) == IOMMU_OFF) {
        start = ram_direct(device->bus->ram, (struct phys_addr){logical});
        if (!start)
            return NULL;
        length = (size_t)(ram_bytes(device->bus->ram) - logical);
        *run = bytes < length ? bytes : length;
        return start;
    }
    start = page_bytes(device, logical, access);
    if (!start)
        return NULL;
    length = PAGE_BYTES - (size_t)(logical & (PAGE_BYTES - 1));
    while (length < bytes && page_bytes(device, logical + length, access) == start + length)
        length += PAGE_BYTES;
    *run = length < bytes ? length : bytes;
    return start;
}

/*
 * True if the whole access may happen; otherwise the fault is recorded at its first refused byte.
 */
static bool check(struct bus_device *device, uint64_t logical, enum iommu_access access,
                  size_t bytes)
{
    while (bytes > 0) {
        size_t run;

        if (!find_run(device, logical, access, bytes, &run)) {
            fault(device, logical, access);
            return false;
        }
        logical += run;
        bytes -= run;
    }
    return true;
}

bool bus_dma_read(void *host, uint64_t logical, void *to, size_t bytes)
{
    struct bus_device *device = host;
    uint8_t *next = to;
    size_t left = bytes;

    while (left > 0) {
        size_t run;
        const uint8_t *from = find_run(device, logical, IOMMU_READ, left, &run);

        if (!from) {
            fault(device, logical, IOMMU_READ);
            memset(to, 0xFF, bytes);
            return false;
        }
        memcpy(next, from, run);
        next += run;
        logical += run;
        left -= run;
    }
    device->dma_bytes += bytes;
    return true;
}

bool bus_dma_write(void *host, uint64_t logical, const void *from, size_t bytes)
{
    struct bus_device *device = host;
    const uint8_t *next = from;
    size_t left = bytes;
    bool checked = false;

    while (left > 0) {
        size_t run;
        uint8_t *to = find_run(device, logical, IOMMU_WRITE, left, &run);

        if (!to) {
            fault(device, logical, IOMMU_WRITE);
            return false;
        }
        if (!checked && run < left) {
            if (!check(device, logical + run, IOMMU_WRITE, left - run))
                return false;
        }
        checked = true;
        memcpy(to, next, run);
        next += run;
        logical += run;
        left -= run;
    }
    device->dma_bytes += bytes;
    return true;
}

void *bus_dma_window(void *host, uint64_t logical, enum dxgk_dma_access access, size_t bytes,
                     size_t *run)
{
    struct bus_device *device = host;
    enum iommu_access right = access == DXGK_DMA_WRITE ? IOMMU_WRITE : IOMMU_READ;
    uint8_t *start = find_run(device, logical, right, bytes, run);

    if (!start) {
        fault(device, logical, right);
        return NULL;
    }
    device->dma_bytes += *run;
    return start;
}

void bus_device_attach(struct bus_device *device, struct iommu_domain *domain)
{
    device->domain = domain;
}

void bus_device_on_fault(struct bus_device *device,
                         void (*handler)(void *context, const struct iommu_fault *fault),
                         void *context)
{
    device->on_fault = handler;
    device->fault_context = context;
}

uint64_t bus_device_faults(const struct bus_device *device)
{
    return device->faults;
}

uint64_t bus_device_dma_bytes(const struct bus_device *device)
{
    return device->dma_bytes;
}
