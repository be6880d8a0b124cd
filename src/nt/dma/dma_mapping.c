/* SPDX-License-Identifier: MIT */
/* Memory that DMA adapters open to devices. */
#include "nt/dma/dma_mapping.h"
#include "bus/dma.h"
#include "iommu/iommu.h"
#include "nt/base/state.h"
#include "nt/dma/dma_record.h"
#include "util/list.h"
#include "verify/verify.h"

#define BOTH (IOMMU_READ | IOMMU_WRITE)

struct iommu_domain *nt_dma_domain(struct bus_device *device)
{
    return device ? bus_device_iommu(device)->domain : NULL;
}

static void enter_identity(struct nt_dma_mapping *mapping)
{
    mapping->logical_first = page_identity(mapping->first);
    for (uint64_t i = 0; mapping->list && i < mapping->pages; i++)
        mapping->logical[i] = page_identity(mapping->list[i]);
}

bool nt_dma_map(struct nt_dma_mapping *mapping, struct bus_device *device)
{
    mapping->device = device;
    mapping->domain = nt_dma_domain(device);
    if (!mapping->domain)
        enter_identity(mapping);
    else if (mapping->list
                 ? !iommu_map(mapping->domain, mapping->list, mapping->pages, BOTH, mapping->logical)
                 : !iommu_map_run(mapping->domain, mapping->first, mapping->pages, BOTH,
                                  &mapping->logical_first))
        return false;
    list_push_back(&nt_state()->dma->mappings, &mapping->link);
    return true;
}

static void leave(struct nt_dma_mapping *mapping)
{
    if (mapping->domain && mapping->list)
        iommu_unmap(mapping->domain, mapping->logical, mapping->pages);
    else if (mapping->domain)
        iommu_unmap_run(mapping->domain, mapping->logical_first, mapping->pages);
    mapping->domain = NULL;
}

void nt_dma_unmap(struct nt_dma_mapping *mapping)
{
    leave(mapping);
    list_remove(&mapping->link);
}

void nt_dma_domain_begins(struct bus_device *device, struct iommu_domain *domain)
{
    LIST_FOR(link, &nt_state()->dma->mappings) {
        struct nt_dma_mapping *mapping = CONTAINER(link, struct nt_dma_mapping, link);

        if (mapping->device != device || mapping->domain || mapping->list)
            continue;
        if (iommu_map_identity_run(domain, mapping->first, mapping->pages, BOTH))
            mapping->domain = domain;
        else
            WARNING("NT-188",
                    "the common buffer at logical address 0x%llx, made before StartDevice, cannot "
                    "be there once an IOMMU translates: allocate it in StartDevice",
                    (unsigned long long)mapping->logical_first.value << PAGE_BITS);
    }
}

void nt_dma_domain_ends(struct iommu_domain *domain)
{
    LIST_FOR(link, &nt_state()->dma->mappings) {
        struct nt_dma_mapping *mapping = CONTAINER(link, struct nt_dma_mapping, link);

        if (mapping->domain == domain)
            leave(mapping);
    }
}
