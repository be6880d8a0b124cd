/* SPDX-License-Identifier: MIT */
/* The jump from a stopped machine to a recovery mark. */
#include "sim/throw.h"

#include "sim/core.h"
#include "sim/mark.h"
#include "verify/refusal.h"

void sim_check_stopped(struct sim_core *core)
{
    struct sim_machine *m = &core->public;
    const struct sim_mark *mark;

    if (!m->stopped || !m->thread || !m->thread->mark)
        return;
    mark = m->thread->outermost;
    m->thread->mark = NULL;
    m->irql = SIM_IRQL_PASSIVE;
    m->inside = 0;
    m->deadline = SIM_FOREVER;
    sim_set_frame(m, NULL);
    refusal_current = NULL;
#if SIM_ASAN
    extern void __asan_handle_no_return(void);
    __asan_handle_no_return();
#endif
    if (!sim_mark_is_whole(mark)) { /* nothing can return on this stack */
        m->thread->abandoned = true;
        core->report.end_thread();
        __builtin_unreachable();
    }
    m->irql = mark->irql;
    __builtin_longjmp(m->thread->jump, 1);
}
