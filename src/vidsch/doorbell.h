/* SPDX-License-Identifier: MIT */
/*
 * Submission from user mode (SUBMIT-122 to SUBMIT-125): a queue made for it takes nothing from the
 * host; its client writes commands to a ring buffer and rings a doorbell, an address of its own.
 *
 *     disconnected    the address leads to a page of the host: ringing does nothing
 *     connected       it leads where the driver said
 *
 * The client finds which in the status, and connects again after DISCONNECTED_RETRY. What it has
 * queued it tells in the last queued value, before it rings.
 */
#ifndef DXGK_VIDSCH_DOORBELL_H
#define DXGK_VIDSCH_DOORBELL_H

#include "vidmm/context/client_pages.h"
#include "vidsch/hw_record.h"
#include "vidsch/sync_object.h"

struct vidmm_allocation;
struct vidsch_device;
struct vidsch_node;

/* How long it is waited for progress of what a client has told: it may have submitted less. */
#define VIDSCH_PATIENCE_NS 60000000000u

struct vidsch_doorbell {
    struct vidsch_context *queue;
    HANDLE host_handle, driver_handle;
    struct vidmm_client_pages bell, secondary, status, queued;
    struct vidmm_allocation *ring, *control; /* held */
    uint64_t rests;                          /* of the node, when it was disconnected for one */
    uint64_t round; /* vidsch->doorbell_rounds, when it was disconnected with all others */
    bool connected; /* as far as the driver knows */
    bool busy;      /* a thread is in the driver with it */
};

/* The value that the client has told last. */
static inline uint64_t vidsch_doorbell_queued(const struct vidsch_hw_queue *hw)
{
    return hw->doorbell ? *hw->doorbell->queued.kernel : hw->last_id;
}

/* Is there work that the client has queued and the progress fence has not reached? Any level up to
 * DISPATCH_LEVEL. */
static inline bool vidsch_doorbell_pending(const struct vidsch_hw_queue *hw)
{
    return hw->flags.UserModeSubmission && !hw->given_up &&
           vidsch_doorbell_queued(hw) > vidsch_sync_current(hw->progress);
}
/* The device is lost: what its clients ring does nothing any more, and never will again. On the
 * worker, yields. */
void vidsch_doorbells_abort(struct vidsch_device *device);
/* The adapter is to be reset, and then all devices are lost: what clients ring does nothing any
 * more, before the driver is told. PASSIVE_LEVEL. */
void vidsch_doorbells_blank(struct vidsch *vidsch);
/* Of a context that cannot be suspended. False: none is connected (yields). */
bool vidsch_doorbells_disconnect_context(struct vidsch_hw_context *hw);
/* The engine goes to F1: its clients have to connect theirs again (TDR-078). On the worker,
 * yields. */
void vidsch_doorbells_rest(struct vidsch_node *node);
/* The queue is to end: disconnect, wait for what was queued, and destroy it (yields). */
void vidsch_doorbell_finish(struct vidsch_hw_queue *hw);

#endif
