/* SPDX-License-Identifier: MIT */
/*
 * Bus-master access: logical address -> IOMMU domain -> physical address -> bytes of RAM.
 *
 * An access is cut into runs that are contiguous in host memory; without translation it is one run.
 * A page that is refused is recorded and passed over, those beside it are carried out (IOMMU-073).
 * Refused is: a device without domain, unplugged or not allowed to be bus master; an address that
 * it cannot put on the bus; a page that the domain does not map with that right; a physical address
 * where neither RAM nor the memory of another device answers (PHYS-174).
 *
 * Beside that there are accesses that go through and should not: during exclusive access, and to
 * RAM that nobody holds for DMA, which is possible without isolation, and with it by a translation
 * that nobody flushed. They are recorded too, once an access.
 */
#include <string.h>

#include "bus/dma.h"
#include "bus/bus_record.h"
#include "bus/config.h"
#include "bus/device_record.h"
#include "bus/memory.h"
#include "iommu/iommu.h"
#include "iommu/pasid.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "trace/trace.h"
#include "util/address.h"
#include "util/min_max.h"

/* A part of an access: the bytes behind it, or that they are refused. */
struct run {
    uint8_t *start; /* NULL: refused */
    uint64_t bytes;
    enum iommu_cause cause; /* why, or what else is to be said of it */
    uint64_t blame;         /* the logical address that is about */
};

#define NOWHERE UINT64_MAX

struct access {
    struct bus_device *device;
    enum iommu_access rights; /* or both */
    uint64_t bytes;           /* in all */
    struct run ahead;         /* the page at ahead_at, looked up already; NOWHERE: none */
    uint64_t ahead_at;
    bool said; /* what is carried out was recorded */
};

/* ---- faults ---- */

static bool same_fault(const struct iommu_fault *a, const struct iommu_fault *b)
{
    return a->count > 0 && a->address.value >> PAGE_BITS == b->address.value >> PAGE_BITS &&
           a->access == b->access && a->cause == b->cause && a->engine == b->engine &&
           a->command == b->command;
}

static void record(const struct access *access, uint64_t logical, enum iommu_cause cause)
{
    struct bus_device *device = access->device;
    const struct iommu_fault now = {
        .address = {logical},
        .access = access->rights & IOMMU_WRITE ? IOMMU_WRITE : IOMMU_READ,
        .cause = cause,
        .bytes = access->bytes,
        .requester = device->iommu.requester,
        .engine = device->dma_engine,
        .command = device->dma_command,
        .count = 1,
        .time = sim_now(),
    };
    struct iommu_fault *known = NULL;

    for (unsigned i = 0; i < BUS_FAULTS && !known; i++)
        if (same_fault(&device->fault[i], &now))
            known = &device->fault[i];
    if (!known) {
        known = &device->fault[device->next_fault++ % BUS_FAULTS];
        *known = now;
        trace_instant(device->track, "DMA fault", "address", logical, "access",
                      (uint64_t)now.access);
    } else {
        known->count++;
    }
    device->faults++;
    if (device->on_fault)
        device->on_fault(device->fault_context, known);
}

/* ---- runs ---- */

static uint64_t to_page_end(uint64_t logical)
{
    return PAGE_BYTES - (logical & (PAGE_BYTES - 1));
}

static bool is_held(const struct ram *ram, uint64_t physical)
{
    return ram_page_iommu_maps(ram, (struct page_number){physical >> PAGE_BITS}) > 0;
}

/* Where nothing translates, a driver may also give its device memory by its physical address:
 * contiguous memory, pages that it took for an MDL, nonpaged pool. Nobody tells the host. */
static bool is_given(const struct bus *bus, uint64_t physical, uint64_t bytes)
{
    if (is_held(bus->ram, physical))
        return true;
    switch (ram_page_owner(bus->ram, (struct page_number){physical >> PAGE_BITS})) {
    case RAM_CONTIGUOUS:
    case RAM_MDL_PAGES:
        return true;
    case RAM_POOL:
        return bus->pool_holds && bus->pool_holds(physical, bytes);
    default:
        return false;
    }
}

/* How much of a run that goes through untranslated is held for DMA; 0: the first page is not. */
static uint64_t held_bytes(const struct bus *bus, uint64_t physical, uint64_t bytes)
{
    uint64_t length = 0;

    while (length < bytes) {
        const uint64_t part = min_of(bytes - length, to_page_end(physical + length));

        if (!is_given(bus, physical + length, part))
            break;
        length += part;
    }
    return length;
}

/* What stops the access whatever is mapped. */
static enum iommu_cause check_device(const struct bus_device *device, uint64_t logical)
{
    if (device->unplugged || !bus_config_is_master(device))
        return IOMMU_CAUSE_MASTER;
    if (!device->iommu.domain)
        return IOMMU_CAUSE_DETACHED;
    return logical >> device->description.dma_bits ? IOMMU_CAUSE_WIDTH : IOMMU_CAUSE_NONE;
}

static struct run untranslated_run(const struct access *access, uint64_t logical, uint64_t bytes)
{
    const struct ram *ram = access->device->bus->ram;
    struct run run = {.start = ram_direct(ram, (struct phys_addr){logical}), .blame = logical};
    uint64_t held;

    if (!run.start) {
        run.start = bus_peer_memory(access->device, (struct phys_addr){logical}, &run.bytes);
        run.bytes = run.start ? min_of(bytes, run.bytes) : bytes;
        run.cause = run.start ? IOMMU_CAUSE_NONE : IOMMU_CAUSE_NO_RAM;
        return run;
    }
    run.bytes = min_of(bytes, ram_bytes(ram) - logical);
    held = access->device->dma_unheld ? run.bytes
                                      : held_bytes(access->device->bus, logical, run.bytes);
    if (held < run.bytes) {
        run.cause = IOMMU_CAUSE_NOT_HELD;
        run.blame = logical + held;
    }
    return run;
}

/* The part of the access in one page. */
static struct run translated_page(const struct access *access, uint64_t logical)
{
    const struct bus_device *device = access->device;
    struct run run = {.bytes = to_page_end(logical), .blame = logical};
    struct phys_addr physical;

    if (!iommu_translate(device->iommu.domain, (struct logical_addr){logical}, access->rights,
                         &physical)) {
        run.cause = iommu_refusal(device->iommu.domain, (struct logical_addr){logical},
                                  access->rights);
        return run;
    }
    run.start = ram_direct(device->bus->ram, physical);
    if (!run.start) {
        uint64_t rest;

        run.start = bus_peer_memory(device, physical, &rest);
        run.bytes = run.start ? min_of(run.bytes, rest) : run.bytes;
        run.cause = run.start ? IOMMU_CAUSE_NONE : IOMMU_CAUSE_NO_RAM;
    } else if (!device->dma_unheld && !is_held(device->bus->ram, physical.value)) {
        run.cause = IOMMU_CAUSE_NOT_HELD;
    }
    return run;
}

/* Pages as long as they are side by side. The one that is not is kept: it begins the next part. */
static struct run translated_run(struct access *access, uint64_t logical, uint64_t bytes)
{
    struct run run = access->ahead_at == logical ? access->ahead : translated_page(access, logical);

    access->ahead_at = NOWHERE;
    while (run.start && run.bytes < bytes) {
        const struct run next = translated_page(access, logical + run.bytes);

        if (next.start != run.start + run.bytes) {
            access->ahead = next;
            access->ahead_at = logical + run.bytes;
            break;
        }
        run.bytes += next.bytes;
        if (run.cause == IOMMU_CAUSE_NONE && next.cause != IOMMU_CAUSE_NONE) {
            run.cause = next.cause;
            run.blame = next.blame;
        }
    }
    run.bytes = min_of(run.bytes, bytes);
    return run;
}

/* The next part of an access, at most `bytes`, recorded if there is something to record; but once
 * an access if it is carried out. */
static struct run next_run(struct access *access, uint64_t logical, uint64_t bytes)
{
    const struct bus_device *device = access->device;
    struct run run = {.bytes = bytes, .cause = check_device(device, logical), .blame = logical};

    if (run.cause == IOMMU_CAUSE_NONE) {
        bytes = min_of(bytes, ((uint64_t)1 << device->description.dma_bits) - logical);
        run = iommu_domain_mode(device->iommu.domain) == IOMMU_OFF
                  ? untranslated_run(access, logical, bytes)
                  : translated_run(access, logical, bytes);
    }
    if (device->dma_quiet != IOMMU_CAUSE_NONE)
        run.cause = device->dma_quiet;
    if (run.cause != IOMMU_CAUSE_NONE && (!run.start || !access->said)) {
        access->said |= run.start != NULL;
        record(access, run.blame, run.cause);
    }
    return run;
}

/* ---- services ---- */

bool bus_dma_read(void *host, uint64_t logical, void *to, size_t bytes)
{
    struct access access = {
        .device = host, .rights = IOMMU_READ, .bytes = bytes, .ahead_at = NOWHERE};
    uint8_t *next = to, *end = next + bytes;
    bool whole = true;

    while (next < end) {
        const struct run run = next_run(&access, logical, (uint64_t)(end - next));

        if (run.start) {
            memcpy(next, run.start, run.bytes);
            access.device->dma_bytes += run.bytes;
        } else {
            memset(next, 0xFF, run.bytes);
            whole = false;
        }
        next += run.bytes;
        logical += run.bytes;
    }
    return whole;
}

bool bus_dma_write(void *host, uint64_t logical, const void *from, size_t bytes)
{
    struct access access = {
        .device = host, .rights = IOMMU_WRITE, .bytes = bytes, .ahead_at = NOWHERE};
    const uint8_t *next = from, *end = next + bytes;
    bool whole = true;

    while (next < end) {
        const struct run run = next_run(&access, logical, (uint64_t)(end - next));

        if (run.start) {
            memcpy(run.start, next, run.bytes);
            access.device->dma_bytes += run.bytes;
        } else {
            whole = false;
        }
        next += run.bytes;
        logical += run.bytes;
    }
    return whole;
}

void *bus_dma_window(void *host, uint64_t logical, enum dxgk_dma_access access, size_t bytes,
                     size_t *run)
{
    struct access wanted = {
        .device = host, .rights = (enum iommu_access)access, .bytes = bytes, .ahead_at = NOWHERE};
    struct run first;

    if (bytes == 0 || access == 0)
        return NULL;
    first = next_run(&wanted, logical, bytes);
    if (!first.start)
        return NULL;
    *run = first.bytes;
    wanted.device->dma_bytes += first.bytes;
    return first.start;
}

/* ---- address spaces of processes ---- */

static enum iommu_cause pasid_cause(const struct bus_device *device, uint32_t pasid)
{
    if (device->unplugged || !bus_config_is_master(device))
        return IOMMU_CAUSE_MASTER;
    switch (iommu_pasid_state(&device->bus->pasids, pasid)) {
    case PASID_UNKNOWN:
        return IOMMU_CAUSE_PASID;
    case PASID_RETIRED:
        return IOMMU_CAUSE_PASID_RETIRED;
    case PASID_LIVE:
        break;
    }
    return IOMMU_CAUSE_NONE;
}

static uint8_t *pasid_bytes(const struct access *access, uint32_t pasid, uint64_t address)
{
    const struct bus *bus = access->device->bus;
    struct phys_addr physical;

    if (!iommu_pasid_translate(&bus->pasids, pasid, address, access->rights, &physical))
        return NULL;
    return ram_direct(bus->ram, physical);
}

bool bus_dma_pasid(void *host, uint32_t pasid, uint64_t address, enum dxgk_dma_access access,
                   void *bytes, size_t count)
{
    const struct access wanted = {
        .device = host, .rights = (enum iommu_access)access, .bytes = count, .ahead_at = NOWHERE};
    const enum iommu_cause cause = pasid_cause(wanted.device, pasid);
    uint8_t *next = bytes, *end = next + count;
    bool whole = true;

    if (cause != IOMMU_CAUSE_NONE) {
        if (access == DXGK_DMA_READ)
            memset(bytes, 0xFF, count);
        record(&wanted, address, cause);
        return false;
    }
    while (next < end) {
        const uint64_t run = min_of(to_page_end(address), (uint64_t)(end - next));
        uint8_t *at = pasid_bytes(&wanted, pasid, address);

        if (!at) {
            record(&wanted, address, IOMMU_CAUSE_UNMAPPED);
            whole = false;
        }
        if (access == DXGK_DMA_READ) {
            if (at)
                memcpy(next, at, run);
            else
                memset(next, 0xFF, run);
        } else if (at) {
            memcpy(at, next, run);
        }
        next += run;
        address += run;
    }
    return whole;
}

/* ---- for the host ---- */

enum iommu_result bus_device_attach(struct bus_device *device, struct iommu_domain *domain)
{
    if (device->iommu.domain)
        iommu_detach(device->iommu.domain, &device->iommu);
    return domain ? iommu_attach(domain, &device->iommu) : IOMMU_DONE;
}

struct iommu_device *bus_device_iommu(struct bus_device *device)
{
    return &device->iommu;
}

void bus_device_set_quiet(struct bus_device *device, enum iommu_cause why)
{
    device->dma_quiet = why;
}

void bus_device_set_judged(struct bus_device *device, bool judged)
{
    device->dma_unheld = !judged;
}

void bus_on_pool(struct bus *bus, bool (*holds)(uint64_t physical, uint64_t bytes))
{
    bus->pool_holds = holds;
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
