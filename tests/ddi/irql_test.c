/* SPDX-License-Identifier: MIT */
/* At what level each entry is called, and in whose process. */
#include "ddi/support/catalogue.h"
#include "nt/base/current.h"

#include <string.h>

#include "sim/sim.h"
#include "sim/thread.h"

#define MS 1000000ull

static void answer(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
}

static struct probe *start(void)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    catalogue_provide(p);
    return p;
}

/* Calls an entry with the driver answering nothing; at what level it came. */
static uint8_t level_of(struct probe *p, const struct entry *entry)
{
    probe_hook *before = p->before[entry->ddi];
    uint8_t irql;

    probe_forget(p);
    p->before[entry->ddi] = answer;
    entry->call(port_adapter_ddi(p->adapter[0]));
    p->before[entry->ddi] = before;
    irql = probe_nth(p, entry->ddi, 0)->irql;
    CHECK(KeGetCurrentIrql() == PASSIVE_LEVEL);
    return irql;
}

static void each_body(struct probe *p)
{
    for (size_t i = 0; i < catalogue_count; i++)
        if (catalogue[i].irql_rule)
            CHECK_RULE(catalogue[i].irql_rule, level_of(p, &catalogue[i]) == catalogue[i].irql);
}

TEST(each_entry_has_its_level)
{
    struct probe *p = start();

    CHECK(probe_run(p, each_body) == SIM_DONE);
    probe_destroy(p);
}

static void low_preempt_body(struct probe *p)
{
    CHECK_RULE("THREAD-039", level_of(p, catalogue_find(PROBE_PreemptCommand)) == PASSIVE_LEVEL);
    CHECK_RULE("CAPS-052", level_of(p, catalogue_find(PROBE_PreemptCommand)) == PASSIVE_LEVEL);
    CHECK_RULE("THREAD-039", level_of(p, catalogue_find(PROBE_SubmitCommand)) == DISPATCH_LEVEL);
}

TEST(preemption_may_come_at_passive_level)
{
    struct probe *p = probe_create(NULL);

    p->caps.SchedulingCaps.LowIrqlPreemptCommand = 1;
    CHECK(NT_SUCCESS(probe_start(p)));
    catalogue_provide(p);
    CHECK(probe_run(p, low_preempt_body) == SIM_DONE);
    probe_destroy(p);
}

static void any_level_body(struct probe *p)
{
    struct ddi_adapter *door = port_adapter_ddi(p->adapter[0]);
    KIRQL before;

    for (KIRQL irql = PASSIVE_LEVEL; irql <= HIGH_LEVEL; irql++) {
        probe_forget(p);
        KeRaiseIrql(irql, &before);
        ddi_reset_device(door);
        KeLowerIrql(before);
        CHECK_RULE("THREAD-045/b", probe_nth(p, PROBE_ResetDevice, 0)->irql == irql);
    }
}

TEST(reset_device_at_any_level)
{
    struct probe *p = start();

    CHECK(probe_run(p, any_level_body) == SIM_DONE);
    probe_destroy(p);
}

/* ---- whose process ---- */

static void escape_body(struct probe *p)
{
    catalogue_find(PROBE_Escape)->call(port_adapter_ddi(p->adapter[0]));
}

static void process_body(struct probe *p)
{
    struct nt_process *process = probe_process(p, "client");
    struct sim_thread *thread = probe_thread(p, process, "client", escape_body);

    while (probe_count(p, PROBE_Escape) == 0)
        probe_sleep(MS);
    CHECK_RULE("THREAD-010", probe_nth(p, PROBE_Escape, 0)->process == process);
    for (size_t i = 0; i < probe_count(p, PROBE_BuildPagingBuffer); i++)
        CHECK_RULE("THREAD-010",
                   probe_nth(p, PROBE_BuildPagingBuffer, i)->process == nt_process_system());
    sim_thread_release(thread);
}

TEST(calls_run_in_a_process)
{
    struct probe *p = start();

    CHECK(probe_count(p, PROBE_BuildPagingBuffer) > 0); /* of the host itself, at the start */
    CHECK(probe_run(p, process_body) == SIM_DONE);
    probe_destroy(p);
}
