/* SPDX-License-Identifier: MIT */
/* The host's side: starts, stops, failing memory, processes that end, the device. */
#include "physical_memory_fuzz.h"

static void nothing_passed(void)
{
    struct fuzz_books before = fuzz_books();
    struct physical_adapter *adapter = fuzz_run->adapter[0];

    MUST(physical_contiguous_allocate(adapter, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_contiguous_free(adapter, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_mdl_allocate(adapter, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_mdl_free(adapter, NULL) == STATUS_INVALID_PARAMETER);
    MUST(physical_iommu_mdl_map(adapter, NULL) == STATUS_INVALID_PARAMETER);
    physical_iommu_mdl_unmap(adapter, NULL);
    MUST(physical_object_create(fuzz_run->memory, adapter, fuzz_run, NULL, NULL) ==
         STATUS_INVALID_PARAMETER);
    MUST(physical_object_open(fuzz_run->memory, adapter, NULL) == STATUS_INVALID_PARAMETER);
    physical_object_close(fuzz_run->memory, NULL);
    physical_object_destroy(fuzz_run->memory, NULL);
    MUST(physical_object_map(fuzz_run->memory, NULL, NULL) == STATUS_INVALID_PARAMETER);
    physical_object_unmap(fuzz_run->memory, NULL, NULL);
    MUST(physical_adl_allocate(fuzz_run->memory, NULL) == STATUS_INVALID_PARAMETER);
    physical_adl_free(fuzz_run->memory, NULL);
    fuzz_must_be_unchanged(&before);
}

static void drop_mappings_of(unsigned who)
{
    for (unsigned i = 0; i < MOST_THINGS; i++)
        if (fuzz_run->things[i].kind == PHYSICAL_MAPPING && fuzz_run->things[i].owner == who)
            fuzz_forget(&fuzz_run->things[i]);
}

void fuzz_device_access(unsigned adapter)
{
    uint64_t page = fuzz_byte() & 1 ? fuzz_number(2) : fuzz_quantity() / PAGE_BYTES;
    struct phys_addr physical;

    if (!iommu_translate(fuzz_run->domain[adapter], (struct logical_addr){page * PAGE_BYTES},
                         IOMMU_READ, &physical) ||
        iommu_domain_mode(fuzz_run->domain[adapter]) == IOMMU_OFF)
        return;
    MUST(iommu_page_mapped(fuzz_run->domain[adapter], (struct logical_page){page}));
    if (physical.value < RAM_SIZE)
        MUST(ram_page_iommu_maps(fuzz_run->ram, (struct page_number){physical.value / PAGE_BYTES}) >
                 0 &&
             ram_page_owner(fuzz_run->ram, (struct page_number){physical.value / PAGE_BYTES}) !=
                 RAM_FREE);
}

void fuzz_host_does(void)
{
    unsigned adapter = fuzz_below(ADAPTERS);

    switch (fuzz_below(8)) {
    case 0:
        physical_adapter_set_started(fuzz_run->adapter[adapter], fuzz_byte() & 1);
        break;
    case 1:
        fuzz_run->heap.fail_at = fuzz_run->heap.requests + fuzz_byte();
        break;
    case 2:
        physical_memory_process_ended(fuzz_run->memory, fuzz_process(1));
        drop_mappings_of(1);
        break;
    case 3:
        physical_adapter_report_leaks(fuzz_run->adapter[adapter]);
        break;
    case 4:
        physical_memory_set_commit_limit(fuzz_run->memory, physical_memory_commit(fuzz_run->memory) +
                                                               fuzz_quantity() % RAM_SIZE);
        break;
    case 5:
        iommu_domain_isolate(fuzz_run->domain[adapter]);
        break;
    case 6:
        physical_memory_set_guard(fuzz_run->memory, fuzz_byte() & 1);
        physical_memory_set_scatter(fuzz_run->memory, fuzz_byte() & 1);
        break;
    default:
        nothing_passed();
    }
}
