/* SPDX-License-Identifier: MIT */
#include "vidmm/record/paging_record.h"
#include "sim/wait.h"
#include "util/alloc.h"
#include "util/list.h"

void paging_queue_init(struct paging_queue *queue, struct vidmm *vidmm, struct vidmm_device *device,
                       int priority)
{
    *queue = (struct paging_queue){.vidmm = vidmm, .device = device, .priority = priority};
    list_init(&queue->link);
    list_init(&queue->jobs);
    sim_waitq_init(&queue->idle);
}

struct paging_queue *paging_queue_create(struct vidmm *vidmm, int priority)
{
    struct paging_queue *queue = util_alloc(sizeof(*queue));

    if (queue)
        paging_queue_init(queue, vidmm, NULL, priority);
    return queue;
}

void paging_queue_destroy(struct paging_queue *queue)
{
    util_free(queue);
}
