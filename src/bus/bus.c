/* SPDX-License-Identifier: MIT */
/*
 * The bus itself: its devices, and who owns which physical address above RAM.
 *
 * A device is a model (dxgkhost/device.h) plus what a PCI function has on this side of the wire:
 * BARs with bus addresses (bus.c), configuration space (config.c), memory files behind its memory
 * BARs (memory.c), DMA through an IOMMU domain (dma.c), interrupt messages (services.c) and timers
 * (timers.c). The kernel reaches BARs through windows (window.c); an access to a register window
 * becomes a call of the model, an access to a memory window is plain.
 */
#include "bus/bus.h"
#include "bus/bus_record.h"
#include "bus/device.h"
#include "bus/device_record.h"
#include "bus/window.h"
#include "iommu/pasid.h"
#include "ram/keep.h"
#include "ram/ram.h"
#include "sim/slot.h"
#include "util/alloc.h"
#include "util/list.h"

static struct sim_slot bus_slot;
SIM_SLOT_CLAIM(bus_slot)

struct bus *bus_create(struct ram *ram)
{
    struct bus *bus = util_zalloc(1, sizeof(*bus));

    if (!bus)
        return NULL;
    bus->ram = ram;
    bus->next_address = ram_highest(ram).value + 1;
    list_init(&bus->devices);
    iommu_pasids_init(&bus->pasids);
    if (!bus_window_init(bus)) {
        util_free(bus);
        return NULL;
    }
    sim_slot_set(&bus_slot, bus);
    return bus;
}

void bus_destroy(struct bus *bus)
{
    if (!bus)
        return;
    LIST_FOR_SAFE(node, following, &bus->devices)
        bus_device_remove(CONTAINER(node, struct bus_device, link));
    bus_window_finish(bus);
    iommu_pasids_finish(&bus->pasids);
    sim_slot_set(&bus_slot, NULL);
    util_free(bus);
}

struct bus *bus_current(void)
{
    return sim_slot_get(&bus_slot);
}

struct ram *bus_ram(struct bus *bus)
{
    return bus->ram;
}

struct iommu_pasids *bus_pasids(struct bus *bus)
{
    return &bus->pasids;
}

bool bus_claims(const struct bus *bus, struct phys_addr address, uint64_t bytes)
{
    LIST_FOR(node, &bus->devices) {
        const struct bus_device *device = CONTAINER(node, struct bus_device, link);

        for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++) {
            const struct bus_bar *bar = &device->bar[i];
            uint64_t offset = address.value - bar->address.value;

            if (bus_bar_in_memory(bar) && offset < bar->bytes && bytes <= bar->bytes - offset)
                return true;
        }
    }
    return false;
}

bool bus_keep(const struct bus *bus, struct ram_keep *keep)
{
    LIST_FOR(node, &bus->devices) {
        const struct bus_device *device = CONTAINER(node, struct bus_device, link);

        for (unsigned i = 0; i <= DXGK_DEVICE_BARS; i++)
            if (device->memory[i].bytes && !ram_keep_add(keep, &device->memory[i]))
                return false;
    }
    return true;
}
