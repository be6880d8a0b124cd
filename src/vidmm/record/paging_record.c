/* SPDX-License-Identifier: MIT */
#include "vidmm/record/paging_record.h"
#include "vidmm/record/vidmm_record.h"
#include "sim/wait.h"
#include "util/list.h"

void paging_queue_init(struct paging_queue *queue, struct vidmm *vidmm, struct vidmm_device *device,
                       int priority)
{
    *queue = (struct paging_queue){
        .vidmm = vidmm, .device = device, .priority = priority, .serial = ++vidmm->serials.queues};
    list_init(&queue->link);
    list_init(&queue->jobs);
    sim_waitq_init(&queue->idle);
}
