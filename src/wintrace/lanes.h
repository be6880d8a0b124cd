/* SPDX-License-Identifier: MIT */
/*
 * The events of a subject, sorted into lanes: what within a lane has an order, on every machine. A
 * lane is
 *
 *     LANE_CONTEXT     the packets of a context, as they enter, are taken from, and leave its queue
 *     LANE_NODE        submissions, interrupts and retirements on a node, and preemption requests
 *     LANE_ALLOCATION  the paging operations of an allocation
 *     LANE_SOURCE      flips and VSyncs of a source of video
 *     LANE_QUEUE       the packets of a paging queue
 *     LANE_CALLS       the calls of a thread for residency
 *
 * Packets of other processes on a node are left out, and submissions numbered as if they were not
 * there. So are allocations and queues of which is known that another process has them.
 */
#ifndef DXGK_WINTRACE_LANES_H
#define DXGK_WINTRACE_LANES_H

#include "wintrace/subject.h"

enum lane_kind { LANE_CONTEXT, LANE_NODE, LANE_ALLOCATION, LANE_SOURCE, LANE_QUEUE, LANE_CALLS };

struct lane_item {
    size_t event;        /* index in the trace */
    uint64_t submission; /* of LANE_NODE: its number without those of other processes */
};

struct lane {
    enum lane_kind kind;
    uint64_t key; /* the handle or number that all its events have */
    struct lane_item *item;
    size_t items, room;
};

struct lanes {
    const struct subject *subject;
    struct lane *lane; /* in the order of their first events */
    size_t count, room;
    struct hash_map by_key;
    struct hash_map foreign;   /* submissions of other processes on a node so far */
    struct hash_map submitted; /* number of a submission without those */
    uint64_t known_events;     /* left out, as known_event allows */
};

/* False: out of memory; lanes_finish is to be called in either case. */
bool lanes_init(struct lanes *lanes, const struct subject *subject);
void lanes_finish(struct lanes *lanes);

#endif
