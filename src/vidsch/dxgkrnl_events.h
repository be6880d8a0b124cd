/* SPDX-License-Identifier: MIT */
/*
 * What the scheduler does, as events of Microsoft-Windows-DxgKrnl (wintrace/emit.h). Each function
 * is called where that happens, and does nothing unless the machine records them.
 *
 * Any level. Packets of preemption requests belong to a context that the host has for each node.
 */
#ifndef DXGK_VIDSCH_DXGKRNL_EVENTS_H
#define DXGK_VIDSCH_DXGKRNL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "vidsch/vidsch.h"
#include "wintrace/emit.h"

struct packet;
struct vidsch_context;
struct vidsch_node;

/* UpdateContextStatus.Status: meanings of Windows' numbers, as they are seen beside other events */
enum context_status {
    STATUS_CONTEXT_IDLE = 0,
    STATUS_CONTEXT_TAKEN = 1,      /* all that it has queued is on the node */
    STATUS_CONTEXT_PREEMPTING = 2, /* its packets are to be preempted */
    STATUS_CONTEXT_WAITS = 4,      /* for a synchronization object */
    STATUS_CONTEXT_READY = 5,
    STATUS_CONTEXT_HELD = 8, /* until its memory is resident */
};

/* AttemptPreemption.AttemptResult: for the context that is to run next. */
enum preemption_attempt {
    ATTEMPT_ASKED = 1,
    ATTEMPT_IDLE = 2,         /* nothing is on the node */
    ATTEMPT_HIGHER_RUNS = 10, /* than the context */
    ATTEMPT_EQUAL_RUNS = 11,
    ATTEMPT_PENDING = 13, /* an earlier request is not answered */
    ATTEMPT_OWN_RUNS = 15,
};

/* Handles of events. */
uint64_t vidsch_adapter_handle(const struct vidsch *vidsch);
uint64_t vidsch_context_handle(const struct vidsch_context *context);
uint64_t vidsch_node_context_handle(const struct vidsch_node *node);
uint64_t vidsch_sync_handle(const struct vidsch_sync *sync);

/* ---- queues ---- */

/* The packet has been put into its context's queue: it gets its number there. */
void vidsch_tell_queued(struct packet *packet);
/* The scheduler takes the packet, which was at the head of its queue, to carry it out. */
void vidsch_tell_taken(const struct packet *packet);
/* A packet that was queued has ended, of whatever kind; once for each. */
void vidsch_tell_ended(struct packet *packet);
/* The wait at the head of the context's queue is satisfied. */
void vidsch_tell_unwait(const struct vidsch_context *context);
void vidsch_tell_status(const struct vidsch_context *context, enum context_status status);
/* The context is the one to be served next. */
void vidsch_tell_selected(const struct vidsch_node *node, const struct vidsch_context *context);
void vidsch_tell_attempt(const struct vidsch_context *context, enum preemption_attempt result);
/* The same for a context that is served, with the result that the state of the node gives. */
void vidsch_tell_no_attempt(const struct vidsch_node *node, const struct vidsch_context *context);
/* `ns` of its packets were charged to its quantum. */
void vidsch_tell_running_time(const struct vidsch_context *context, uint64_t ns);

/* ---- nodes ---- */

/* The driver is about to get the packet, which has its fence id. */
void vidsch_tell_submitted(const struct packet *packet);
/* The driver notifies that the node has completed all packets after `reported`, up to `fence`, of
 * which the last one with the given type of interrupt; `fault` NULL: no page fault. */
void vidsch_tell_reported(const struct vidsch_node *node, uint32_t reported, uint32_t fence,
                          DXGK_INTERRUPT_TYPE type, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *fault);
/* The driver notifies that all packets after `completed` were preempted, by the request of the
 * node. */
void vidsch_tell_preempted(const struct vidsch_node *node, uint32_t completed);
/* The packet leaves its node: completed, or to be submitted again. */
void vidsch_tell_left_node(const struct packet *packet, bool preempted);
/* A reset aborts the packet, which is on its node: it ends, and leaves the node. */
void vidsch_tell_aborted(struct packet *packet);
/* The driver is about to get the preemption request of the node; the request has ended. */
void vidsch_tell_request(const struct vidsch_node *node);
void vidsch_tell_request_ended(const struct vidsch_node *node);

#endif
