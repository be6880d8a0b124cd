/* SPDX-License-Identifier: MIT */
/* From physical to isolated DMA under a running adapter. For the adapter's start, for power, and
 * for the room that plays a secure virtual machine. */
#ifndef DXGK_PORT_ISOLATE_H
#define DXGK_PORT_ISOLATE_H

#include <ntddk.h>

#include "iommu/iommu.h"

struct port_adapter;

/* The only change of mode is from physical to isolated (IOMMU-003), also with clients on the
 * adapter. STATUS_PENDING: when it is in D0 again (IOMMU-064). STATUS_NOT_SUPPORTED: another
 * change, or there is no IOMMU. Otherwise a failure of the switch. */
NTSTATUS port_adapter_set_dma_mode(struct port_adapter *adapter, enum iommu_mode mode);
/* A secure virtual machine is made on it: isolation is switched on if it is not (IOMMU-042). */
NTSTATUS port_adapter_create_secure_vm(struct port_adapter *adapter);

/* What IOMMUFlags or the driver ask for, once the driver has answered everything. */
NTSTATUS port_isolate_at_start(struct port_adapter *adapter);
/* In D0 again: a switch that was put off is made. */
void port_isolate_power_up(struct port_adapter *adapter);

#endif
