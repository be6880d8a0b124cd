/* SPDX-License-Identifier: MIT */
/* Recovery marks of client threads. */
#include "sim/mark.h"

#include "sim/core.h"
#include "sim/irql.h"

#define GUARD 0xA5C3D27E914B608Full

static uint64_t guard_of(const struct sim_mark *mark)
{
    return GUARD ^ (uintptr_t)mark;
}

void **sim_mark_push(struct sim_mark *mark)
{
    struct sim_thread *thread = sim_current->thread;

    mark->guard = guard_of(mark);
    mark->irql = sim_current->irql;
    mark->outer = NULL;
    if (!thread)
        return mark->jump;
    mark->outer = thread->mark;
    thread->mark = mark;
    if (mark->outer)
        return mark->jump;
    thread->outermost = mark;
    return thread->jump;
}

bool sim_mark_is_whole(const struct sim_mark *mark)
{
    return mark->guard == guard_of(mark) && !mark->outer && mark->irql < SIM_IRQL_DISPATCH;
}

void sim_unmark(struct sim_mark *mark)
{
    struct sim_thread *thread = sim_current->thread;

    if (thread)
        thread->mark = mark->outer;
}
