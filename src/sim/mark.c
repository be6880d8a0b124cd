/* SPDX-License-Identifier: MIT */
/* Recovery marks of client threads. */
#include "sim/mark.h"

#include "sim/core.h"

void sim_mark_push(struct sim_mark *mark)
{
    struct sim_thread *thread = sim_current->thread;

    mark->irql = sim_current->irql;
    mark->outer = NULL;
    if (!thread)
        return;
    mark->outer = thread->mark;
    thread->mark = mark;
}

void sim_unmark(struct sim_mark *mark)
{
    struct sim_thread *thread = sim_current->thread;

    if (thread)
        thread->mark = mark->outer;
}
