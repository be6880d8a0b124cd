/* SPDX-License-Identifier: MIT */
/* Calls by the wrong thread, at the wrong level or without the lock end the program. */
#include "sim/irql.h"
#include "vidsch/engine_reset.h"
#include "vidsch/kick.h"
#include "vidsch/render_resize.h"
#include "vidsch/support/fixture.h"
#include "vidsch/timeout.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a process of its own, which has the whole machine to lose. */
static bool aborts(struct fixture *f, void (*mistake)(struct fixture *f))
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        (void)signal(SIGABRT, SIG_DFL);
        mistake(f);
        _exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void work_of_the_worker(struct fixture *f)
{
    vidsch_timeout_check(&f->vidsch->node[0]);
}

static void work_of_the_recovery_thread(struct fixture *f)
{
    vidsch_engine_reset(&f->vidsch->node[0]);
}

static void a_wait_at_dispatch_level(struct fixture *f)
{
    sim_raise_irql(SIM_IRQL_DISPATCH);
    vidsch_change_wait(f->vidsch, 0);
}

static void a_reset_of_the_adapter_at_device_level(struct fixture *f)
{
    sim_raise_irql(SIM_IRQL_DEVICE);
    vidsch_recovery_want_adapter(f->vidsch, RECOVER_DRIVER);
}

static void a_notification_outside_the_interrupt(struct fixture *f)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED};

    vidsch_notify_interrupt(f->vidsch, &data);
}

static void new_sizes_without_the_lock(struct fixture *f)
{
    D3DKMT_RENDER args = {.CommandLength = 0};

    vidsch_render_resize(make_context(make_device(f), 0), &args);
}

static void nothing_wrong(struct fixture *f)
{
    vidsch_kick_node(&f->vidsch->node[0]);
}

TEST_WITH(fixture, mistakes_are_noticed)
{
    CHECK(!aborts(f, nothing_wrong));
    CHECK(aborts(f, work_of_the_worker));
    CHECK(aborts(f, work_of_the_recovery_thread));
    CHECK(aborts(f, a_wait_at_dispatch_level));
    CHECK(aborts(f, a_reset_of_the_adapter_at_device_level));
    CHECK(aborts(f, a_notification_outside_the_interrupt));
    CHECK(aborts(f, new_sizes_without_the_lock));
}
