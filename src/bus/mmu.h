/* SPDX-License-Identifier: MIT */
/* What a device model tells of its MMU: the format of its tables, walks, and uses of translations
 * that its TLB kept. */
#ifndef DXGK_BUS_MMU_H
#define DXGK_BUS_MMU_H

#include <stdbool.h>
#include <stdint.h>

#include "dxgkhost/device.h"
#include "dxgkhost/page_tables.h"

struct bus;
struct bus_device;

/* Have models compare what their TLBs keep with the tables; before a device is added. */
void bus_check_translations(struct bus *bus, bool check);
/* NULL: the model describes none. */
const struct dxgk_table_format *bus_device_table_format(const struct bus_device *device);
/* Have the model walk its tables from the root at this offset of its segment. False: it cannot. */
bool bus_device_walk(struct bus_device *device, uint64_t root, uint64_t address,
                     struct dxgk_walk *walk);
bool bus_device_walks(const struct bus_device *device);
/* Who is told of stale translations, at any level, from inside the model; NULL: nobody. */
void bus_device_on_stale(struct bus_device *device,
                         void (*fn)(void *context, const struct dxgk_stale_translation *stale),
                         void *context);
/* Who is told which root table an engine begins work by; NULL: nobody. */
void bus_device_on_root(struct bus_device *device,
                        void (*fn)(void *context, unsigned node, uint32_t fence, uint64_t root),
                        void *context);
/* Who is told which work an engine begins and is rid of; NULL: nobody. */
void bus_device_on_work(struct bus_device *device,
                        void (*fn)(void *context, const struct dxgk_device_work *work),
                        void *context);
/* Register accesses that have reached the model. */
uint64_t bus_device_touches(const struct bus_device *device);

#endif
