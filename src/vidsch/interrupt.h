/* SPDX-License-Identifier: MIT */
/* Records of what the driver notifies at DIRQL, kept until the DPC; see interrupt.c. */
#ifndef DXGK_VIDSCH_INTERRUPT_H
#define DXGK_VIDSCH_INTERRUPT_H

#include "vidsch/vidsch.h"

struct irq_record {
    DXGK_INTERRUPT_TYPE type;
    uint32_t node;
    uint32_t fence; /* completed or faulted; of a preemption: last completed */
    NTSTATUS status;
    uint64_t generation; /* of the node at that time */
    DXGK_PAGE_FAULT_FLAGS page_fault_flags;
    D3DKMT_DEVICEPAGEFAULT_STATE fault;
    HANDLE culprit; /* of a fault of a hardware queue: the host's handle, as the flags say */
};

struct vidsch_interrupts {
    struct irq_record *records; /* ring; interrupts write at head, the DPC reads at tail */
    uint32_t mask, head, tail;
    struct iommu_fault bus_fault; /* the last DMA access of the device that was refused */
    bool bus_fault_noted;
};

bool vidsch_interrupt_init(struct vidsch *vidsch);

#endif
