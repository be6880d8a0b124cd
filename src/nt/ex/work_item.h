/* SPDX-License-Identifier: MIT */
/*
 * The queue of work items and the system worker threads that serve it.
 */
#ifndef DXGK_NT_WORK_ITEM_H
#define DXGK_NT_WORK_ITEM_H

#include <stdbool.h>

#include "nt/base/resource.h"
#include "nt/ke/driver_call.h"
#include "util/list.h"

struct nt_image;

/* Common part of the record of an executive or I/O work item. */
struct nt_work {
    struct list link; /* in the queue */
    bool queued;
    struct nt_image *image; /* the image that queued it */
    /* Called in a worker thread, after the item left the queue. The item may be freed during the
     * call. */
    void (*run)(struct nt_work *work);
};

void nt_work_queue(struct nt_work *work);

/* The call of a work item's routine, which keeps its driver loaded until it returns (LIFE-178). */
struct nt_work_call {
    struct nt_callback callback;
    struct nt_resource resource;
};
/* `routine`: for the report of one that never returns. */
void nt_work_call_begin(struct nt_work_call *call, struct nt_image *image, const void *routine);
void nt_work_call_end(struct nt_work_call *call);

#endif
