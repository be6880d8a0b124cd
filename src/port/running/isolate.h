/* SPDX-License-Identifier: MIT */
/* Switching a running adapter from physical to isolated DMA. For the adapter's start, for power,
 * and for the room that acts as a secure virtual machine. */
#ifndef DXGK_PORT_ISOLATE_H
#define DXGK_PORT_ISOLATE_H

#include <ntddk.h>

#include "iommu/iommu.h"

struct port_adapter;

/* Change the DMA mode; the only possible change is from physical to isolated (IOMMU-003), also with
 * clients on the adapter. STATUS_PENDING: it is made when the adapter is in D0 again (IOMMU-064).
 * STATUS_NOT_SUPPORTED: another change, or there is no IOMMU. Other failures are those of the
 * switch. */
NTSTATUS port_adapter_set_dma_mode(struct port_adapter *adapter, enum iommu_mode mode);
/* A secure virtual machine is created on the adapter: switch isolation on, if it is off
 * (IOMMU-042). */
NTSTATUS port_adapter_create_secure_vm(struct port_adapter *adapter);

/* Isolate the adapter if IOMMUFlags or the driver ask for it, once the driver has answered all
 * queries. */
NTSTATUS port_isolate_at_start(struct port_adapter *adapter);
/* In D0 again: make a switch that was put off. */
void port_isolate_power_up(struct port_adapter *adapter);
/* The adapter is about to stop: returns when no switch is under way, and lets none begin. */
void port_isolate_stopping(struct port_adapter *adapter);

#endif
