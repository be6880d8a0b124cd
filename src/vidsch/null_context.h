/* SPDX-License-Identifier: MIT */
/*
 * The null context. Hardware may keep the state of the context whose commands it ran last, so that
 * context is the current one of its node until another one's packet is submitted. Before memory of
 * the current context moves, the GPU is made to leave it: by a packet without commands and context,
 * flagged ContextSwitch (CTXA-033, PREEMPT-033 to PREEMPT-036).
 */
#ifndef DXGK_VIDSCH_NULL_CONTEXT_H
#define DXGK_VIDSCH_NULL_CONTEXT_H

#include <ntddk.h>

struct packet;
struct vidmm_context;
struct vidmm_device;
struct vidsch_context;
struct vidsch_node;

/* The packet is submitted now. */
void vidsch_null_context_note(struct vidsch_node *node, const struct packet *packet);
/* The context goes, or the node was reset. */
void vidsch_null_context_forget(struct vidsch_node *node, const struct vidsch_context *context);
/* Have every node leave that context of the device, or each of its contexts (`context` NULL), and
 * wait until it has. Their work has ended, and none is submitted meanwhile. */
NTSTATUS vidsch_null_context_enter(struct vidmm_device *device, struct vidmm_context *context);

#endif
