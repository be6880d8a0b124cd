/* SPDX-License-Identifier: MIT */
/*
 * The queue of work items and the system worker threads that serve it.
 */
#ifndef DXGK_NT_WORK_ITEM_H
#define DXGK_NT_WORK_ITEM_H

#include <stdbool.h>

#include "util/list.h"

struct nt_image;

/* An item of either kind, in its record. */
struct nt_work {
    struct list link; /* in the queue */
    bool queued;
    struct nt_image *image; /* who queued it */
    /* In a worker; the item is out of the queue. It may be gone after this. */
    void (*run)(struct nt_work *work);
};

void nt_work_queue(struct nt_work *work);

#endif
