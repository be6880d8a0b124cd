/* SPDX-License-Identifier: MIT */
/* The jump from a stopped machine to a recovery mark. */
#include "sim/throw.h"

#include "sim/core.h"
#include "verify/refusal.h"

void sim_check_stopped(struct sim_core *core)
{
    struct sim_machine *m = &core->public;
    struct sim_mark *mark;

    if (!m->stopped || !m->thread || !m->thread->mark)
        return;
    mark = m->thread->mark;
    while (mark->outer)
        mark = mark->outer;
    m->thread->mark = NULL;
    m->irql = mark->irql;
    m->inside = 0;
    m->deadline = SIM_FOREVER;
    sim_set_frame(m, NULL);
    refusal_current = NULL;
#if SIM_ASAN
    extern void __asan_handle_no_return(void);
    __asan_handle_no_return();
#endif
    __builtin_longjmp(mark->jump, 1);
}
