/* SPDX-License-Identifier: MIT */
#include "physmem/physical_holding.h"

#include "physmem/physical_record.h"
#include "physmem/physical_tracked.h"
#include "util/list.h"

static const char *const kind_names[] = {
    [PHYSICAL_CONTIGUOUS] = "contiguous block",
    [PHYSICAL_MDL_PAGES] = "pages for an MDL",
    [PHYSICAL_IOMMU_MDL] = "MDL mapped to the IOMMU",
    [PHYSICAL_OBJECT] = "physical memory object",
    [PHYSICAL_ADAPTER_OBJECT] = "adapter memory object",
    [PHYSICAL_ADL] = "ADL",
    [PHYSICAL_MAPPING] = "CPU mapping",
    [PHYSICAL_PIN] = "frame buffer pin",
    [PHYSICAL_SAVE_MAPPING] = "frame buffer mapping",
};

const char *physical_kind_name(enum physical_kind kind)
{
    return kind_names[kind];
}

static uint64_t context_of(const struct physical_tracked *tracked)
{
    return tracked->class->context ? tracked->class->context(tracked) : 0;
}

size_t physical_holdings(const struct physical_memory *memory,
                         const struct physical_adapter *adapter, struct physical_holding *list,
                         size_t capacity)
{
    const struct list *held = adapter ? &adapter->held : &memory->unattached;
    size_t count = 0;

    LIST_FOR(link, held) {
        const struct physical_tracked *tracked = CONTAINER(link, const struct physical_tracked,
                                                           link);

        if (count < capacity) {
            list[count] = (struct physical_holding){
                .kind = tracked->class->kind,
                .bytes = tracked->bytes,
                .order = tracked->order,
                .context = context_of(tracked),
                .caller = tracked->caller,
            };
            list[count].has_cache = tracked->class->cache != NULL;
            if (tracked->class->cache)
                list[count].cache = tracked->class->cache(tracked);
        }
        count++;
    }
    return count;
}
