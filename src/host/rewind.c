/* SPDX-License-Identifier: MIT */
/* Runs from one point in one process, again and again. */
#include "host/rewind.h"

#include <signal.h>
#include <string.h>

#include "dxgkhost/fuzz.h"
#include "host/run.h"
#include "host/snapshot.h"

/* Where the restorer is: on its own stack, when the client has switched to it. */
static void restore_for_ever(void *arg)
{
    struct rewind *rewind = arg;

    for (;;) {
        if (!rewind->taken)
            rewind->taken = rewind_take(rewind);
        else
            (void)rewind_restore(rewind);
        fiber_switch(&rewind->restorer, &rewind->client, false);
    }
}

static void tell(const struct rewind *rewind, struct dxgk_repeat *repeat)
{
    repeat->pages = rewind->pages;
    repeat->nanoseconds = rewind->nanoseconds;
    repeat->different = rewind->different;
    repeat->first_different = rewind->first_different;
    repeat->reason = rewind->lost;
}

/* The client's stack is in what is set back: each return of fiber_switch is the first one. */
static int repeat_runs(struct rewind *rewind, bool (*run)(void *context), void *context,
                       struct dxgk_repeat *repeat)
{
    sigset_t all, before;
    bool more = true;

    sigfillset(&all);
    util_map_listener = &rewind->listener;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (more) {
        fiber_switch(&rewind->client, &rewind->restorer, false);
        tell(rewind, repeat);
        if (rewind->lost)
            break;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        more = run(context);
        pthread_sigmask(SIG_SETMASK, &all, NULL);
        repeat->runs++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    util_map_listener = NULL;
    return rewind->lost ? -1 : 0;
}

int dxgk_client_repeat(struct dxgk_snapshot *snapshot, bool (*run)(void *context), void *context,
                       struct dxgk_repeat *repeat)
{
    struct rewind *rewind;
    int result;

    repeat->runs = 0;
    repeat->reason = "the caller is no client of the machine";
    if (!host_snapshot_is_of_caller(snapshot))
        return -1;
    repeat->reason = "sanitizers keep records of memory that cannot be set back";
    if (SIM_ASAN)
        return -1;
    repeat->reason = "out of memory";
    rewind = rewind_create(host_snapshot_keep(snapshot), repeat->verify);
    if (!rewind)
        return -1;
    fiber_prepare(&rewind->restorer, restore_for_ever, rewind);
    result = repeat_runs(rewind, run, context, repeat);
    rewind_destroy(rewind);
    return result;
}
