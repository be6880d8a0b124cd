/* SPDX-License-Identifier: MIT */
/*
 * What the driver says of its engines against what they do, where the device model tells it
 * (dxgk_device_work): an engine executes the commands that the driver was given, nothing is
 * reported as completed before it is, everything is reported afterwards, and nothing goes on after
 * a reset.
 */
#ifndef DXGK_VIDSCH_ENGINE_CHECK_H
#define DXGK_VIDSCH_ENGINE_CHECK_H

#include "vidsch/vidsch.h"

struct vidsch_node;

void vidsch_engine_check_begin(struct vidsch *vidsch);
void vidsch_engine_check_end(struct vidsch *vidsch);
/* `what` reports the packets after `node->reported` up to `fence` as completed. Any level. */
void vidsch_engine_check_completed(const struct vidsch_node *node, uint32_t fence, const char *what);
/* The oldest packet of the node is overdue, whatever the driver was asked. */
void vidsch_engine_check_overdue(const struct vidsch_node *node);
/* A request for preemption was not answered in time. */
void vidsch_engine_check_unanswered(const struct vidsch_node *node);
/* The driver has reset the node's engine. */
void vidsch_engine_check_reset(const struct vidsch_node *node);
/* It has reset the adapter: until it is told to restart it, the device leaves memory alone,
 * and nothing may be notified. */
void vidsch_engine_check_stopped(struct vidsch *vidsch, bool stopped);

#endif
