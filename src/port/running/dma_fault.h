/* SPDX-License-Identifier: MIT */
/* What a device did to memory and should not have, reported for the bus. */
#ifndef DXGK_PORT_DMA_FAULT_H
#define DXGK_PORT_DMA_FAULT_H

struct iommu_fault;

/* `context`: the adapter. */
void port_dma_fault(void *context, const struct iommu_fault *fault);

#endif
