/* SPDX-License-Identifier: MIT */
/* Page faults of hardware queues (SUBMIT-084, SUBMIT-085, GPUVA-251). */
#ifndef DXGK_VIDSCH_HW_FAULT_H
#define DXGK_VIDSCH_HW_FAULT_H

#include "vidsch/hw_record.h"

struct irq_record;
struct vidsch_node;

/* At DIRQL: is what the driver notifies good enough to be recorded? */
bool vidsch_hw_fault_notified(const struct vidsch_node *node,
                              const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
/* Its record; its DPC: who is to blame is lost, and a reset asked for. */
void vidsch_hw_fault_record(struct irq_record *record, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
void vidsch_hw_fault_dpc(struct vidsch_node *node, const struct irq_record *record);

#endif
