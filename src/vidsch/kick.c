/* SPDX-License-Identifier: MIT */
#include "vidsch/kick.h"
#include "sim/wait.h"
#include "vidsch/node.h"
#include "vidsch/scheduler.h"

void vidsch_kick_worker(struct vidsch *vidsch)
{
    if (vidsch->worker.idle) {
        vidsch->worker.idle = false;
        sim_waitq_wake(&vidsch->worker.wait, 1);
    }
}

void vidsch_kick_node(struct vidsch_node *node)
{
    node->vidsch->worker.kicked |= 1ull << node->ordinal;
    vidsch_kick_worker(node->vidsch);
}

void vidsch_kick_all(struct vidsch *vidsch)
{
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        vidsch_kick_node(&vidsch->node[i]);
}
