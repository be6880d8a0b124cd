/* SPDX-License-Identifier: MIT */
/* Inside and outside of a machine. */
#include "host/enter.h"
#include "host/machine_record.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/slot.h"
#include "trace/trace.h"
#include "util/explain.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "wintrace/sink.h"

#include <pthread.h>
#include <unistd.h>

static struct sim_slot host_slot;
SIM_SLOT_CLAIM(host_slot)

struct dxgk_machine *host_current(void)
{
    return sim_current ? sim_slot_get(&host_slot) : NULL;
}

/* A fork that takes the machine along is in progress. */
static _Thread_local bool taking_along;

void host_enter_fork(bool begins)
{
    taking_along = begins;
}

/* What the child of a fork has of a machine is a copy of its records beside the same simulated
 * memory: it is in no machine. */
static void in_child(void)
{
    if (taking_along)
        return;
    sim_current = NULL;
    util_heap_current = NULL;
    refusal_sink = NULL;
    verify_log_install(NULL);
    trace_sink_install(NULL, NULL);
    wintrace_sink_install(NULL, NULL);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, in_child);
}

void host_enter_own(struct dxgk_machine *machine)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, watch_forks);
    machine->owner = getpid();
}

static const char *why_not(const struct dxgk_machine *machine)
{
    if (!machine)
        return "there is no machine";
    if (machine->owner != getpid())
        return "the machine is that of the process that forked this one";
    if (sim_current == machine->sim)
        return "it was called from inside the machine: by a client, a hook, a device model or a "
               "driver";
    return host_current() ? "it was called from inside another machine" : NULL;
}

bool host_begin(struct dxgk_machine *machine, char *error, size_t error_bytes)
{
    const char *why = why_not(machine);

    if (!why && atomic_exchange(&machine->busy, true))
        why = "another thread uses the machine";
    if (why) {
        util_explain(error, error_bytes, "%s", why);
        return false;
    }
    (void)host_enter(machine);
    return true;
}

bool host_may_look(const struct dxgk_machine *machine)
{
    return machine && (sim_current == machine->sim || !atomic_load(&machine->busy));
}

void host_enter_claim(struct dxgk_machine *machine)
{
    sim_slot_set(&host_slot, machine);
}

bool host_enter(struct dxgk_machine *machine)
{
    if (sim_current == machine->sim)
        return false;
    atomic_store(&machine->busy, true);
    sim_enter(machine->sim);
    verify_log_install(machine->log);
    refusal_sink = &machine->refusals.sink;
    trace_sink_install(machine->trace, &machine->sim->now);
    wintrace_sink_install(machine->windows_trace, &machine->sim->now);
    return true;
}

void host_leave(bool entered)
{
    struct dxgk_machine *machine;

    if (!entered)
        return;
    machine = host_current();
    trace_sink_install(NULL, NULL);
    wintrace_sink_install(NULL, NULL);
    verify_log_install(NULL);
    refusal_sink = NULL;
    sim_leave();
    if (machine)
        atomic_store(&machine->busy, false);
}
