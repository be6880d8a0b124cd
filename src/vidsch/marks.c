/* SPDX-License-Identifier: MIT */
#include "vidsch/marks.h"
#include "sim/machine.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/doorbell.h"

#include <string.h>

/* NULL: it is none for submission from user mode. */
static struct vidsch_hw_queue *queue_of(const struct list *link)
{
    struct vidsch_hw_queue *hw = CONTAINER(link, struct vidsch_context, link)->hw_queue;

    return hw && hw->flags.UserModeSubmission ? hw : NULL;
}

static bool reached(const struct vidsch_hw_queue *hw, const struct vidsch_mark *mark)
{
    return vidsch_sync_current(hw->progress) >= mark->value || !vidsch_doorbell_pending(hw) ||
           sim_now() >= hw->moved_at + VIDSCH_PATIENCE_NS;
}

/* False: the youngest stands for it. */
static bool mark(struct vidsch_hw_queue *hw, uint64_t ticket)
{
    const uint64_t value = vidsch_doorbell_queued(hw);

    if (!hw->marks)
        hw->moved_at = sim_now();
    if (hw->marks == VIDSCH_MARKS) {
        hw->mark[VIDSCH_MARKS - 1].value = value;
        return false;
    }
    if (hw->marks && hw->mark[hw->marks - 1].value >= value)
        return false;
    hw->mark[hw->marks++] = (struct vidsch_mark){ticket, value};
    return true;
}

bool vidsch_marks_make(struct vidsch_device *device, uint64_t *ticket)
{
    bool any = false, made = false;

    if (device->user_queues)
        LIST_FOR(link, &device->contexts) {
            struct vidsch_hw_queue *hw = queue_of(link);

            if (!hw || !vidsch_doorbell_pending(hw))
                continue;
            any = true;
            made |= mark(hw, device->last_ticket + 1);
        }
    *ticket = device->last_ticket += made;
    return any;
}

bool vidsch_marks_reached(const struct vidsch_device *device, uint64_t ticket)
{
    if (device->user_queues)
        LIST_FOR(link, &device->contexts) {
            const struct vidsch_hw_queue *hw = queue_of(link);

            for (unsigned i = 0; hw && i < hw->marks && hw->mark[i].ticket <= ticket; i++)
                if (!reached(hw, &hw->mark[i]))
                    return false;
        }
    return true;
}

uint64_t vidsch_marks_oldest(const struct vidsch_hw_context *hw)
{
    uint64_t oldest = UINT64_MAX;

    LIST_FOR(link, &hw->queues) {
        const struct vidsch_hw_queue *queue = CONTAINER(link, struct vidsch_hw_queue, link);
        unsigned i = 0;

        while (i < queue->marks && reached(queue, &queue->mark[i]))
            i++;
        if (i < queue->marks && queue->mark[i].ticket < oldest)
            oldest = queue->mark[i].ticket;
    }
    return oldest;
}

bool vidsch_marks_look(struct vidsch_hw_queue *hw)
{
    unsigned gone = 0;

    while (gone < hw->marks && reached(hw, &hw->mark[gone]))
        gone++;
    if (!gone)
        return false;
    hw->marks -= gone;
    memmove(hw->mark, hw->mark + gone, hw->marks * sizeof(hw->mark[0]));
    return true;
}
