/* SPDX-License-Identifier: MIT */
/* What calls into the driver order for the detector of races: those that one after the other are in the driver, not those that are
 * there together, though both call the host. */
#include "ddi/support/catalogue.h"

#include <string.h>

#include "nt/mm/race_access.h"
#include "race/race.h"
#include "sim/machine.h"
#include "sim/thread.h"

#define FIRST  PROBE_CreateAllocation
#define SECOND PROBE_DescribeAllocation

enum how {
    TOGETHER, /* the second call begins before the first calls the host, and is over before it ends */
    ENDED,    /* it begins then, too, but goes on when the first has ended */
    AFTER_A_CALLBACK /* it begins when the first has called the host, and is over before it ends */
};

/* Two calls; each writes the bytes, the first one before a callback, the second one after a callback, or its beginning. */
static struct {
    enum how how;
    bool second_in, told, ended, done;
    uint32_t bytes;
} both;

static void call_back(struct probe *p)
{
    DXGK_DEVICE_INFO info;

    CHECK(NT_SUCCESS(
        p->state[0].dxgk.DxgkCbGetDeviceInformation(p->state[0].dxgk.DeviceHandle, &info)));
}

static void in_first(struct probe *p, struct probe_call *call)
{
    call->answered = true;
    while (both.how != AFTER_A_CALLBACK && !both.second_in)
        probe_sleep(500);
    nt_race_access(&both.bytes, sizeof(both.bytes), RACE_WRITE, 1);
    call_back(p);
    both.told = true;
    while (both.how != ENDED && !both.done)
        probe_sleep(500);
}

static void in_second(struct probe *p, struct probe_call *call)
{
    call->answered = true;
    both.second_in = true;
    while (both.how == ENDED ? !both.ended : !both.told)
        probe_sleep(500);
    if (both.how != AFTER_A_CALLBACK)
        call_back(p);
    nt_race_access(&both.bytes, sizeof(both.bytes), RACE_WRITE, 2);
}

static void call_first(struct probe *p)
{
    catalogue_find(FIRST)->call(port_adapter_ddi(p->adapter[0]));
    both.ended = true;
}

static void call_second(struct probe *p)
{
    catalogue_find(SECOND)->call(port_adapter_ddi(p->adapter[0]));
    both.done = true;
}

static void both_body(struct probe *p)
{
    struct sim_thread *a = probe_thread(p, probe_process(p, "one"), "first", call_first), *b;

    while (both.how == AFTER_A_CALLBACK && !both.told)
        probe_sleep(500);
    b = probe_thread(p, probe_process(p, "two"), "second", call_second);
    while (!both.ended || !both.done)
        probe_sleep(1000);
    sim_thread_release(a);
    sim_thread_release(b);
}

/* Whether there is a race, with these calls. */
static bool races_in(void (*body)(struct probe *p), probe_hook *first, probe_hook *second)
{
    struct probe_options options = {.processors = 4};
    struct probe *p = probe_create(&options);
    bool found;

    CHECK(NT_SUCCESS(probe_start(p)));
    catalogue_provide(p);
    p->before[FIRST] = first;
    p->before[SECOND] = second;
    sim_current->races = race_create(4); /* the machine's from now on */
    race_watch(sim_current->races, &both.bytes, sizeof(both.bytes));
    CHECK(probe_run(p, body) == SIM_DONE);
    found = probe_rule(p, "THREAD-080") != 0;
    p->before[FIRST] = p->before[SECOND] = NULL;
    probe_destroy(p);
    return found;
}

static bool races(enum how how)
{
    memset(&both, 0, sizeof(both));
    both.how = how;
    return races_in(both_body, in_first, in_second);
}

/* ---- the protected callback ---- */

static bool protected;

static VOID NTAPI in_protected(PVOID context, PVOID protected_context, NTSTATUS status)
{
    (void)context;
    (void)protected_context;
    CHECK(NT_SUCCESS(status));
    nt_race_access(&both.bytes, sizeof(both.bytes), RACE_WRITE, 3);
    protected = true;
}

/* The second call is over before the request, which does not come after it. */
static void ask_for_exclusion(struct probe *p, struct probe_call *call)
{
    call->answered = true;
    both.told = true;
    while (!both.done)
        probe_sleep(500);
    CHECK(NT_SUCCESS(p->state[0].dxgk.DxgkCbExcludeAdapterAccess(p->state[0].dxgk.DeviceHandle, 0,
                                                                 in_protected, NULL)));
}

static void write_alone(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    nt_race_access(&both.bytes, sizeof(both.bytes), RACE_WRITE, protected ? 5 : 4);
}

static void exclusion_body(struct probe *p)
{
    struct sim_thread *thread[3];

    thread[0] = probe_thread(p, probe_process(p, "one"), "first", call_first);
    while (!both.told)
        probe_sleep(500);
    thread[1] = probe_thread(p, probe_process(p, "two"), "second", call_second);
    while (!both.ended || !protected)
        probe_sleep(1000);
    both.done = false;
    thread[2] = probe_thread(p, probe_process(p, "three"), "third", call_second);
    while (!both.done)
        probe_sleep(1000);
    for (unsigned i = 0; i < 3; i++)
        sim_thread_release(thread[i]);
}

TEST(a_protected_callback_comes_between_the_calls_that_it_excludes)
{
    protected = false;
    memset(&both, 0, sizeof(both));
    CHECK_RULE("THREAD-080/a", !races_in(exclusion_body, ask_for_exclusion, write_alone));
}

TEST(calls_that_overlap_are_in_order_only_where_one_begins_or_ends)
{
    CHECK_RULE("THREAD-080/b", races(TOGETHER));
    CHECK_RULE("THREAD-080/a", !races(ENDED));
    CHECK_RULE("THREAD-080/a", !races(AFTER_A_CALLBACK));
}
