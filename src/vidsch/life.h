/* SPDX-License-Identifier: MIT */
/*
 * The life of a packet as it is shown to people: in the trace, and in the journal that the report
 * of submissions is made from. Each function is called where that happens, and does nothing unless
 * the machine is traced or keeps a journal. Any level.
 *
 * In the trace a packet is a span of its context from when it was queued to its end, with three
 * inside:
 *
 *     queued -> on the node -> until the DPC
 *        ^          |
 *        +----------+  preempted, or returned by a reset
 */
#ifndef DXGK_VIDSCH_LIFE_H
#define DXGK_VIDSCH_LIFE_H

#include "vidsch/journal.h"
#include "vidsch/vidsch.h"

struct packet;
struct vidsch_node;

/* False: out of memory. */
bool vidsch_life_begin(struct vidsch *vidsch);
void vidsch_life_finish(struct vidsch *vidsch);

/* It is in its context's queue. */
void vidsch_life_queued(struct packet *packet);
/* DxgkDdiPatch is about to be called. */
void vidsch_life_patched(const struct packet *packet);
/* The driver is about to get it; it is not on its node yet. */
void vidsch_life_submitted(struct packet *packet);
/* The driver notifies that the packets after `before` have ended, up to `fence`, of which the last
 * one by an interrupt of that type. `status`: of a fault. */
void vidsch_life_reported(const struct vidsch_node *node, uint32_t before, uint32_t fence,
                          DXGK_INTERRUPT_TYPE type, NTSTATUS status);
/* A packet of a hardware queue whose progress fence has reached its id: the driver notifies that
 * fences were signaled. */
void vidsch_life_hw_reported(const struct vidsch_node *node);
/* DxgkCbNotifyDpc is being served, and no longer. */
void vidsch_life_dpc(struct vidsch *vidsch, bool begins);
/* It is taken off its node, to be submitted again. */
void vidsch_life_returned(struct packet *packet, bool by_reset);
/* Its end will not be completion, unless something else was said before. */
void vidsch_life_fails(struct packet *packet, enum journal_end end);
/* It has ended. */
void vidsch_life_ended(struct packet *packet);

/* What happens to a node or, if it is NULL, to the adapter. */
void vidsch_life_event(struct vidsch *vidsch, const struct vidsch_node *node,
                       enum journal_event_kind kind, uint64_t value0, uint64_t value1,
                       uint64_t value2);

#endif
