/* SPDX-License-Identifier: MIT */
#include "bus/mmu.h"
#include "bus/bus_record.h"
#include "bus/device_record.h"
#include "bus/model_call.h"

#include <string.h>

void bus_check_translations(struct bus *bus, bool check)
{
    bus->check_translations = check;
}

const struct dxgk_table_format *bus_device_table_format(const struct bus_device *device)
{
    return device->table_format.levels ? &device->table_format : NULL;
}

bool bus_device_walk(struct bus_device *device, uint64_t root, uint64_t address,
                     struct dxgk_walk *walk)
{
    memset(walk, 0, sizeof(*walk));
    return bus_model_walk(device, root, address, walk) && walk->steps <= DXGK_TABLE_LEVELS;
}

bool bus_device_walks(const struct bus_device *device)
{
    return device->mmu && device->mmu->walk;
}

void bus_device_on_stale(struct bus_device *device,
                         void (*fn)(void *context, const struct dxgk_stale_translation *stale),
                         void *context)
{
    device->on_stale = fn;
    device->stale_context = context;
}

void bus_device_on_work(struct bus_device *device,
                        void (*fn)(void *context, const struct dxgk_device_work *work),
                        void *context)
{
    device->on_work = fn;
    device->work_context = context;
}

void bus_device_on_root(struct bus_device *device,
                        void (*fn)(void *context, unsigned node, uint32_t fence, uint64_t root),
                        void *context)
{
    device->on_root = fn;
    device->root_context = context;
}

uint64_t bus_device_touches(const struct bus_device *device)
{
    return device->touches;
}
