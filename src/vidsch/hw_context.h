/* SPDX-License-Identifier: MIT */
/* Hardware contexts and hardware queues, by the driver. PASSIVE_LEVEL. */
#ifndef DXGK_VIDSCH_HW_CONTEXT_H
#define DXGK_VIDSCH_HW_CONTEXT_H

#include "vidsch/hw_record.h"

struct vidsch_node;

void vidsch_hw_node_init(struct vidsch_node *node);
/* Before anything is submitted; nothing without a hardware-scheduled node (SUBMIT-119). */
void vidsch_hw_setup_bands(struct vidsch *vidsch);

/* Make the context one that owns hardware queues. False: out of memory. */
bool vidsch_hw_context_begin(struct vidsch_context *context, bool own_entries);
void vidsch_hw_context_free(struct vidsch_context *context);
/* DxgkDdiCreateHwContext in place of DxgkDdiCreateContext, with its arguments. */
NTSTATUS vidsch_hw_context_create(struct vidsch_context *context, DXGKARG_CREATECONTEXT *args);
void vidsch_hw_context_destroy(struct vidsch_context *context);
/* Tell the driver priority and quantum of a context of a hardware-scheduled node (KMT-157,
 * KMT-168). */
void vidsch_hw_context_tell(const struct vidsch_context *context);
/* The context with this handle of the host's; NULL: there is none. Any level. */
struct vidsch_hw_context *vidsch_hw_context_find(const struct vidsch *vidsch, HANDLE handle);

/* Whether the engine was reset and is not resumed yet: what is notified for it, `what`, is a bug
 * check (TDR-023). Any level. */
bool vidsch_hw_is_closed(const struct vidsch_node *node, const char *what);

/* DxgkDdiCreateHwQueue for the queue, whose hw_queue is set; DxgkDdiDestroyHwQueue. */
NTSTATUS vidsch_hw_queue_create(struct vidsch_context *queue, DXGKARG_CREATEHWQUEUE *args);
void vidsch_hw_queue_destroy(struct vidsch_context *queue);
/* Nothing for a context that is no hardware queue. */
void vidsch_hw_queue_free(struct vidsch_context *queue);

#endif
