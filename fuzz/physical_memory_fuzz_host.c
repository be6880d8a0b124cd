/* SPDX-License-Identifier: MIT */
/* The host's side: starts, stops, failing memory, processes that end, the device. */
#include "physical_memory_fuzz.h"

static void nothing_passed(void)
{
    struct books before = books();
    struct physical_adapter *adapter = run->adapter[0];

    MUST(physical_contiguous_allocate(adapter, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_contiguous_free(adapter, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_mdl_allocate(adapter, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_mdl_free(adapter, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_iommu_mdl_map(adapter, NULL) == STATUS_INVALID_PARAMETER);
    physical_iommu_mdl_unmap(adapter, NULL);
    MUST(physical_object_create(run->memory, adapter, run, NULL, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_object_open(run->memory, adapter, NULL) == STATUS_INVALID_PARAMETER);
    physical_object_close(run->memory, NULL);
    physical_object_destroy(run->memory, NULL);
    MUST(physical_object_map(run->memory, NULL, NULL) == STATUS_INVALID_PARAMETER);
    physical_object_unmap(run->memory, NULL, NULL);
    MUST(physical_adl_allocate(run->memory, NULL) == STATUS_INVALID_PARAMETER);
    physical_adl_free(run->memory, NULL);
    must_be_unchanged(&before);
}

static void drop_mappings_of(unsigned who)
{
    for (unsigned i = 0; i < MOST_THINGS; i++)
        if (run->things[i].kind == PHYSICAL_MAPPING && run->things[i].owner == who)
            forget(&run->things[i]);
}

void device_access(unsigned adapter)
{
    uint64_t page = byte() & 1 ? number(2) : quantity() / PAGE_BYTES;
    struct phys_addr physical;

    if (!iommu_translate(run->domain[adapter], (struct logical_addr){page * PAGE_BYTES}, IOMMU_READ,
                         &physical) ||
        iommu_domain_mode(run->domain[adapter]) == IOMMU_OFF)
        return;
    MUST(iommu_page_mapped(run->domain[adapter], (struct logical_page){page}));
    if (physical.value < RAM_SIZE)
        MUST(ram_page_iommu_maps(run->ram, (struct page_number){physical.value / PAGE_BYTES}) > 0 &&
             ram_page_owner(run->ram, (struct page_number){physical.value / PAGE_BYTES}) !=
                 RAM_FREE);
}

void host_does(void)
{
    unsigned adapter = below(ADAPTERS);

    switch (below(8)) {
    case 0:
        physical_adapter_set_started(run->adapter[adapter], byte() & 1);
        break;
    case 1:
        run->heap.fail_at = run->heap.requests + byte();
        break;
    case 2:
        physical_memory_process_ended(run->memory, process(1));
        drop_mappings_of(1);
        break;
    case 3:
        physical_adapter_report_leaks(run->adapter[adapter]);
        break;
    case 4:
        physical_memory_set_commit_limit(run->memory, physical_memory_commit(run->memory) +
                                                          quantity() % RAM_SIZE);
        break;
    case 5:
        iommu_domain_isolate(run->domain[adapter]);
        break;
    case 6:
        physical_memory_set_guard(run->memory, byte() & 1);
        physical_memory_set_scatter(run->memory, byte() & 1);
        break;
    default:
        nothing_passed();
    }
}
