/* SPDX-License-Identifier: MIT */
/* Reports of forbidden memory accesses by a device, called by the bus. */
#ifndef DXGK_PORT_DMA_FAULT_H
#define DXGK_PORT_DMA_FAULT_H

struct iommu_fault;

/* `context`: the adapter. */
void port_dma_fault(void *context, const struct iommu_fault *fault);

#endif
