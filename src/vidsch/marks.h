/* SPDX-License-Identifier: MIT */
/*
 * Tickets of a device for work that its clients submitted themselves. A mark holds the value that a
 * queue had queued when the ticket was given out, and is reached with that value of the progress
 * fence, or when it is clear that it will not come (doorbell.h). When a queue has no mark left, the
 * youngest stands for what is queued later, too.
 */
#ifndef DXGK_VIDSCH_MARKS_H
#define DXGK_VIDSCH_MARKS_H

#include "vidsch/hw_record.h"

struct vidsch_device;

/* The last ticket of the device, after a new one if its clients have queued something since. True:
 * there is such work, and *ticket may have to wait for it. */
bool vidsch_marks_make(struct vidsch_device *device, uint64_t *ticket);
/* Have the queues of the device come to all marks up to this ticket? */
bool vidsch_marks_reached(const struct vidsch_device *device, uint64_t ticket);
/* The ticket of the oldest mark that a queue of the context has not reached; UINT64_MAX: none. */
uint64_t vidsch_marks_oldest(const struct vidsch_hw_context *hw);
/* The fence of the queue may have risen: forget the marks that it has reached. False: there are
 * none. */
bool vidsch_marks_look(struct vidsch_hw_queue *hw);

#endif
