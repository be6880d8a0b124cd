/* SPDX-License-Identifier: MIT */
/* Giving packets of hardware queues to the driver, on the worker, and watching how long they
 * take. */
#ifndef DXGK_VIDSCH_HW_SUBMIT_H
#define DXGK_VIDSCH_HW_SUBMIT_H

#include "vidsch/hw_record.h"

struct packet;
struct vidsch_node;

/* The queue whose head may be submitted now; NULL: none. */
struct vidsch_context *vidsch_hw_first_ready(const struct vidsch_node *node);
/* DxgkDdiSubmitCommandToHwQueue; afterwards the packet may be freed already (yields). */
void vidsch_hw_submit(struct packet *packet);
/* Contexts that were suspended only to see whether the GPU responds go on (yields). */
void vidsch_hw_go_on(struct vidsch_node *node);

void vidsch_hw_watch_init(struct vidsch_node *node);
/* A client may have queued something for itself, or somebody waits for it. */
void vidsch_hw_watch_begin(struct vidsch_node *node);
/* The watch fired: suspend the contexts of queues without progress for TdrDelay (yields). */
void vidsch_hw_watch_check(struct vidsch_node *node);

#endif
