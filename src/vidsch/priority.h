/* SPDX-License-Identifier: MIT */
/*
 * What clients say of who comes first, from the coarse to the fine: the class of a process, the
 * priority of a context, and whether a context is ahead of the others of its process. The first two
 * make the level of the context on its node; the third changes only who of its process has the turn
 * at that level (ready.h).
 */
#ifndef DXGK_VIDSCH_PRIORITY_H
#define DXGK_VIDSCH_PRIORITY_H

#include <stdint.h>

struct vidsch_context;

/* Of a client's context. */
uint32_t vidsch_priority_level(const struct vidsch_context *context);
/* Of a context that is about to join those of its device, which a change of class goes through:
 * tell the driver of it, and take the class that its process has by now (yields, but not at the
 * end). */
void vidsch_priority_begin(struct vidsch_context *context);
/* Of a context that is to end: until the driver was told of a change that is under way. */
void vidsch_priority_await_told(const struct vidsch_context *context);
/* The context ends. */
void vidsch_priority_end(struct vidsch_context *context);

#endif
