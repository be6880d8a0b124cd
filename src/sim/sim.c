/* SPDX-License-Identifier: MIT */
/* Creating a machine, entering and leaving it. See sim.h for the theory of operation. */
#include <pthread.h>
#include <string.h>

#include "sim/sim.h"
#include "race/race.h"
#include "sim/core.h"
#include "sim/run.h"
#include "sim/signals.h"
#include "sim/slice.h"
#include "sim/thread.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/arena.h"

#define DEFAULT_STACK (SIM_ASAN ? 1024u * 1024u : 256u * 1024u)

/* Where this thread's stack is, for the sanitizer. Found once: of the first thread in a file. */
static void host_stack(struct fiber *host)
{
#if SIM_ASAN
    static _Thread_local void *stack;
    static _Thread_local size_t bytes;
    pthread_attr_t attributes;

    if (!stack && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &stack, &bytes);
        pthread_attr_destroy(&attributes);
    }
    host->stack = stack;
    host->stack_bytes = bytes;
#else
    (void)host;
#endif
}

static void free_core(struct sim_core *core)
{
    if (!core->arena)
        util_free(core);
}

struct sim_machine *sim_machine_create(const struct sim_config *config)
{
    struct util_heap *outer = util_heap_current;
    struct sim_core *core;

    if (config->processors < 1 || config->processors > SIM_MAX_PROCESSORS)
        return NULL;
    util_heap_current = NULL;
    core = config->arena ? util_arena_alloc(config->arena, sizeof(*core))
                         : util_zalloc(1, sizeof(*core));
    util_heap_current = outer;
    if (!core)
        return NULL;
    core->arena = config->arena;
    core->public.core = core;
    core->public.rng.state = config->seed;
    core->public.processors = config->processors;
    core->public.deadline = SIM_FOREVER;
    core->stack_bytes = config->stack_bytes ? align_up(config->stack_bytes, 4096) : DEFAULT_STACK;
    core->client_stack_bytes = config->client_stack_bytes
                                   ? align_up(config->client_stack_bytes, 4096)
                                   : core->stack_bytes;
    core->watchdog_ms = config->watchdog_ms;
    list_init(&core->ready);
    list_init(&core->threads);
    list_init(&core->ended);
    for (unsigned i = 0; i < config->processors; i++) {
        struct processor *p = &core->processor[i];

        list_init(&p->interrupts);
        list_init(&p->dpcs);
        p->deadline = SIM_FOREVER;
        if (!fiber_init(&p->idle, core->stack_bytes))
            goto fail;
        p->head.records = p->idle.first_record;
        fiber_prepare(&p->idle, sim_idle_loop, core);
    }
    core->public.head = &core->processor[0].head;
    if (!sim_signals_setup(core))
        goto fail;
    core->report.end_thread = sim_thread_exit;
    if (config->races)
        core->public.races = race_create(config->processors);
    core->public.stress = config->stress;
    core->longest = sim_longest_slice(core);
    sim_new_slice(core);
    sim_refuel(core);
    return &core->public;

fail:
    for (unsigned i = 0; i < config->processors; i++)
        fiber_finish(&core->processor[i].idle);
    free_core(core);
    return NULL;
}

void sim_machine_destroy(struct sim_machine *machine)
{
    struct sim_core *core;

    if (!machine)
        return;
    core = core_of(machine);
    if (sim_current == machine)
        sim_leave();
    LIST_FOR(node, &core->threads) {
        struct sim_thread *thread = CONTAINER(node, struct sim_thread, all);

        fiber_finish(&thread->fiber);
    }
    for (unsigned i = 0; i < machine->processors; i++)
        fiber_finish(&core->processor[i].idle);
    sim_signals_teardown(core);
    race_destroy(machine->races);
    util_heap_release(&machine->heap);
    free_core(core);
}

void sim_enter(struct sim_machine *machine)
{
    struct sim_core *core = core_of(machine);

    core->outer = sim_current;
    core->outer_heap = util_heap_current;
    sim_current = machine;
    util_heap_current = &machine->heap;
    host_stack(&core->host);
    sim_signals_enter(core);
    if (core->on_switch)
        core->on_switch(SIM_SWITCH_ENTER);
}

void sim_leave(void)
{
    struct sim_core *core = core_of(sim_current);

    if (core->on_switch)
        core->on_switch(SIM_SWITCH_LEAVE);
    sim_signals_leave(core);
    util_heap_current = core->outer_heap;
    sim_current = core->outer;
}

void sim_forked(void)
{
    sim_signals_forked(core_of(sim_current));
}
