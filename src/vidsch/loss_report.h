/* SPDX-License-Identifier: MIT */
/*
 * What is said of a fault or a reset when it happens (TDR-083): one line, which vidsch_config.loss
 * gets, and which devices that are lost for it keep (vidsch_device_loss_text). Reports are made
 * before packets are retired and requests for preemption closed, so that the line can tell of
 * them.
 */
#ifndef DXGK_VIDSCH_LOSS_REPORT_H
#define DXGK_VIDSCH_LOSS_REPORT_H

#include "vidsch/node.h"

struct irq_record;
struct packet;
struct vidsch_context;

#define VIDSCH_LOSS_WALK "; page tables: " /* begins the last part of a line */

struct vidsch_loss {
    char text[1536];
};

/* Of a packet; NULL: none is known, then `node` alone. Level up to DISPATCH_LEVEL. */
void vidsch_loss_dma_fault(struct vidsch_loss *loss, const struct vidsch_node *node,
                           const struct packet *packet, NTSTATUS status);
void vidsch_loss_page_fault(struct vidsch_loss *loss, const struct vidsch_node *node,
                            const struct packet *packet, const struct irq_record *r);
/* `responsive`: DxgkDdiQueryEngineStatus said so. */
void vidsch_loss_engine_reset(struct vidsch_loss *loss, const struct vidsch_node *node,
                              const struct packet *aborted, bool responsive);
/* Of a hardware-scheduled node: the context that the driver invalidated; NULL: it did none. */
void vidsch_loss_hw_reset(struct vidsch_loss *loss, const struct vidsch_node *node,
                          const struct vidsch_context *invalidated);
/* Of the node that hung, or the first with work; its oldest packet is named. */
void vidsch_loss_adapter_reset(struct vidsch_loss *loss, const struct vidsch *vidsch,
                               enum recover_cause cause);

#endif
