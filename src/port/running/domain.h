/* SPDX-License-Identifier: MIT */
/* How the device reaches memory: the DMA mode, and the life of the IOMMU domain. For the start and
 * end of an adapter. */
#ifndef DXGK_PORT_DOMAIN_H
#define DXGK_PORT_DOMAIN_H

#include <ntddk.h>

#include "iommu/iommu.h"

struct port_adapter;

/* The NTSTATUS for a result of the simulated IOMMU. */
NTSTATUS port_iommu_status(enum iommu_result result);
/* Choose the mode from the driver's answers before StartDevice and from what the machine has. */
NTSTATUS port_domain_choose_mode(struct port_adapter *adapter);
NTSTATUS port_domain_create(struct port_adapter *adapter);
void port_domain_destroy(struct port_adapter *adapter);

#endif
