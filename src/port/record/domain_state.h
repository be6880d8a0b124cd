/* SPDX-License-Identifier: MIT */
/* How the device reaches memory, as the adapter's record keeps it. Only domain*.c and isolate.c use
 * the members; other files call port_adapter_dma_mode, port_adapter_domain and
 * port_adapter_physical. */
#ifndef DXGK_PORT_DOMAIN_STATE_H
#define DXGK_PORT_DOMAIN_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "iommu/iommu.h"

struct port_domain {
    struct iommu_domain *domain; /* NULL: before the first start, after the end */
    enum iommu_mode mode;
    bool remapping;     /* DmaRemappingSupported is valid and in force */
    uint32_t isolation; /* PORT_IOMMU_DOMAIN, _MAPPINGS, _ATTACHED in force */
    bool isolation_due; /* switch when the adapter is in D0 again (IOMMU-064) */
    bool settled;       /* the adapter stops: no switch is asked for any more (IOMMU-064) */
    unsigned switches;  /* under way; the stop waits for them */
    struct physical_adapter *physical;
};

#endif
