/* SPDX-License-Identifier: MIT */
/*
 * Who may be inside the driver together: every pair of entries, one thread inside the first while another calls the second.
 *
 * The first thread stays inside until the second has come in, or for HOLD_NS if it does not.
 */
#include "ddi/support/catalogue.h"
#include "nt/base/current.h"
#include "nt/base/image.h"

#include <string.h>

#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/sim.h"
#include "sim/thread.h"

#define HOLD_NS 20000u
#define MS      1000000ull

struct pair {
    const struct entry *first, *second;
    struct ddi_adapter *door, *other_door;
    const struct sim_thread *holder; /* the thread that calls the first */
    bool inside;                     /* it is inside */
    bool called;                     /* the second call is under way */
    bool met;                        /* the second came in while the first was inside */
    bool second_in;
    unsigned done;
};

static struct pair pair;

static void pass_time(uint64_t ns)
{
    if (sim_irql() >= SIM_IRQL_DISPATCH)
        sim_stall(ns);
    else
        probe_sleep(ns);
}

static void meet(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    if (sim_current->thread != pair.holder) {
        pair.second_in = true;
        pair.met |= pair.inside;
        return;
    }
    pair.inside = true;
    while (!pair.called)
        pass_time(500);
    for (uint64_t end = sim_now() + HOLD_NS; !pair.second_in && sim_now() < end;)
        pass_time(1000);
    pair.inside = false;
}

static void call_first(struct probe *p)
{
    (void)p;
    pair.holder = sim_current->thread;
    pair.first->call(pair.door);
    pair.done++;
}

static void call_second(struct probe *p)
{
    (void)p;
    pair.called = true;
    pair.second->call(pair.other_door);
    pair.done++;
}

/* Do the two meet? */
static bool meets(struct probe *p, const struct entry *first, const struct entry *second,
                  struct nt_process *one, struct nt_process *two)
{
    struct ddi_adapter *door = port_adapter_ddi(p->adapter[0]);
    struct ddi_adapter *other = pair.other_door ? pair.other_door : door;
    struct sim_thread *a, *b;

    memset(&pair, 0, sizeof(pair));
    pair.first = first;
    pair.second = second;
    pair.door = door;
    pair.other_door = other;
    p->before[first->ddi] = p->before[second->ddi] = meet;
    a = probe_thread(p, one, "first", call_first);
    while (!pair.inside && pair.done == 0)
        probe_sleep(500);
    b = probe_thread(p, two, "second", call_second);
    while (pair.done < 2)
        probe_sleep(1000);
    p->before[first->ddi] = p->before[second->ddi] = NULL;
    pair.other_door = NULL;
    sim_thread_release(a);
    sim_thread_release(b);
    probe_forget(p);
    return pair.met;
}

static struct probe *start(unsigned adapters)
{
    struct probe_options options = {.processors = 4, .adapters = adapters};
    struct probe *p = probe_create(&options);

    CHECK(NT_SUCCESS(probe_start(p)));
    catalogue_provide(p);
    return p;
}

/* ---- what is expected ---- */

static bool is_power(const struct entry *entry)
{
    return entry->ddi == PROBE_SetPowerComponentFState ||
           entry->ddi == PROBE_PowerRuntimeControlRequest;
}

static bool is_scheduler(const struct entry *entry)
{
    return entry->group == SCHEDULER || entry->group == SCHEDULER_LATER;
}

static bool is_same_class(const struct entry *a, const struct entry *b)
{
    if (is_scheduler(a))
        return is_scheduler(b);
    return (a->group == VIDMM || a->group == ROOT || a->group == CHILD_ONE ||
            a->group == CHILD_TWO) &&
           a->group == b->group;
}

/* The calls that the rules let in beside one that is alone. */
static bool is_exception(const struct entry *alone, const struct entry *other)
{
    if (other->ddi == PROBE_QueryAdapterInfo)
        return alone->ddi == PROBE_SetPowerState || alone->ddi == PROBE_QueryChildRelations;
    return is_power(other) && alone->ddi == PROBE_ResetFromTimeout;
}

static bool may_meet(const struct entry *first, const struct entry *second)
{
    if (first->group == EVENT || second->group == EVENT)
        return true;
    if (is_level_two_or_three(first))
        return !is_level_two_or_three(second) && is_exception(first, second);
    if (is_level_two_or_three(second))
        return false;
    return !is_same_class(first, second);
}

/* ---- all pairs ---- */

static const char *rule_of(const struct entry *first, const struct entry *second)
{
    static const char *const rules[] = {
        [ZERO] = "THREAD-014",      [ZERO_LATER] = "THREAD-015", [ZERO_OTHER] = "THREAD-022",
        [EVENT] = "THREAD-034",     [SCHEDULER] = "THREAD-019",  [SCHEDULER_LATER] = "THREAD-020",
        [VIDMM] = "THREAD-021",     [ROOT] = "THREAD-021",       [CHILD_ONE] = "THREAD-024",
        [CHILD_TWO] = "THREAD-024", [TWO] = "THREAD-027",        [THREE] = "THREAD-030",
        [EXCLUSIVE] = "THREAD-012",
    };

    if (first->group == EVENT || second->group == EVENT)
        return rules[EVENT];
    if (is_level_two_or_three(second) && !is_level_two_or_three(first))
        return rules[second->group];
    if (first->group == SCHEDULER && second->group == SCHEDULER_LATER)
        return rules[SCHEDULER_LATER];
    return rules[first->group];
}

static void pairs_body(struct probe *p)
{
    struct nt_process *one = probe_process(p, "one"), *two = probe_process(p, "two");
    unsigned wrong = 0, zero = 0, classes = 0;

    for (size_t i = 0; i < catalogue_count; i++) {
        for (size_t k = 0; k < catalogue_count; k++) {
            const struct entry *a = &catalogue[i], *b = &catalogue[k];
            bool met = meets(p, a, b, one, two), expected = may_meet(a, b);

            if (met != expected)
                print_message("%s, then %s: %s\n", a->name, b->name, met ? "met" : "did not meet");
            wrong += met != expected;
            CHECK_RULE(rule_of(a, b), met == expected);
            if (is_level_two_or_three(a) && !is_level_two_or_three(b) && is_exception(a, b))
                CHECK_RULE(is_power(b) ? "THREAD-033" : "THREAD-032", met);
            zero += a->group == ZERO && b->group == ZERO && met;
            classes += is_scheduler(a) && (b->group == VIDMM || b->group == ROOT) && met;
            if (is_scheduler(a) && is_scheduler(b))
                CHECK_RULE("THREAD-018", !met);
        }
    }
    CHECK_RULE("THREAD-013", zero > 0);
    CHECK_RULE("THREAD-018", classes > 0);
    CHECK_RULE("THREAD-012", wrong == 0);
}

TEST(every_pair_meets_as_its_levels_say)
{
    struct probe *p = start(1);

    CHECK(probe_run(p, pairs_body) == SIM_DONE);
    probe_destroy(p);
}

/* ---- one process, no process, two adapters ---- */

static void process_body(struct probe *p)
{
    struct nt_process *one = probe_process(p, "one");
    const struct entry *create = catalogue_find(PROBE_CreateAllocation);

    for (size_t i = 0; i < catalogue_count; i++) {
        const struct entry *entry = &catalogue[i];
        bool met;

        if (is_level_two_or_three(entry))
            continue;
        met = meets(p, create, entry, one, one);
        if (entry->group == EVENT || is_power(entry))
            CHECK_RULE("THREAD-017", met);
        else
            CHECK_RULE("THREAD-016", !met);
    }
    /* the host's own threads belong to the system process */
    CHECK_RULE("THREAD-017",
               meets(p, create, catalogue_find(PROBE_SubmitCommand), one, nt_process_system()));
    CHECK_RULE("THREAD-017",
               meets(p, catalogue_find(PROBE_BuildPagingBuffer), create, nt_process_system(), one));
}

TEST(threads_of_one_process_take_turns)
{
    struct probe *p = start(1);

    CHECK(probe_run(p, process_body) == SIM_DONE);
    probe_destroy(p);
}

static void adapters_body(struct probe *p)
{
    struct nt_process *one = probe_process(p, "one"), *two = probe_process(p, "two");
    static const enum probe_ddi alone[] = {PROBE_StartDevice, PROBE_StopDevice, PROBE_SetPowerState,
                                           PROBE_ResetFromTimeout};

    port_adapter_ddi(p->adapter[1])->table = p->table;
    for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++) {
        pair.other_door = port_adapter_ddi(p->adapter[1]);
        CHECK_RULE("THREAD-025",
                   meets(p, catalogue_find(alone[i]), catalogue_find(alone[i]), one, two));
    }
    pair.other_door = port_adapter_ddi(p->adapter[1]);
    CHECK_RULE("THREAD-025", meets(p, catalogue_find(PROBE_BuildPagingBuffer),
                                   catalogue_find(PROBE_BuildPagingBuffer), one, two));
}

TEST(levels_hold_for_one_adapter)
{
    struct probe *p = start(2);

    CHECK(probe_run(p, adapters_body) == SIM_DONE);
    probe_destroy(p);
}

/* ---- threads of the driver ---- */

static bool thread_runs, thread_may_end;

static VOID NTAPI driver_thread(PVOID context)
{
    LARGE_INTEGER interval = {.QuadPart = -10};

    (void)context;
    thread_runs = true;
    while (!thread_may_end)
        (void)KeDelayExecutionThread(KernelMode, FALSE, &interval);
    (void)PsTerminateSystemThread(STATUS_SUCCESS);
}

static void driver_thread_body(struct probe *p)
{
    struct nt_image *outer = nt_image_enter(p->image);
    struct ddi_adapter *door = port_adapter_ddi(p->adapter[0]);
    HANDLE handle = NULL;

    thread_runs = thread_may_end = false;
    CHECK(NT_SUCCESS(
        PsCreateSystemThread(&handle, THREAD_ALL_ACCESS, NULL, NULL, NULL, driver_thread, NULL)));
    while (!thread_runs)
        probe_sleep(1000);
    probe_forget(p);
    catalogue_find(PROBE_SetPowerState)->call(door);
    CHECK_RULE("THREAD-011", probe_count(p, PROBE_SetPowerState) == 1 && !thread_may_end);
    thread_may_end = true;
    (void)ZwClose(handle);
    nt_image_enter(outer);
}

TEST(a_thread_of_the_driver_is_not_inside_it)
{
    struct probe *p = start(1);

    CHECK(probe_run(p, driver_thread_body) == SIM_DONE);
    probe_destroy(p);
}

/* ---- a call that does not end ---- */

static KEVENT never;

static void wait_for_ever(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    (void)KeWaitForSingleObject(&never, Executive, KernelMode, FALSE, NULL);
}

static void block_body(struct probe *p)
{
    catalogue_find(PROBE_CreateDevice)->call(port_adapter_ddi(p->adapter[0]));
}

static void watchdog_body(struct probe *p)
{
    struct nt_process *one = probe_process(p, "one");
    uint64_t before;
    struct sim_thread *thread;

    KeInitializeEvent(&never, NotificationEvent, FALSE);
    p->before[PROBE_CreateDevice] = wait_for_ever;
    thread = probe_thread(p, one, "blocked", block_body);
    probe_sleep(MS);
    before = sim_now();
    catalogue_find(PROBE_SetPowerState)->call(port_adapter_ddi(p->adapter[0]));
    CHECK_RULE("THREAD-037", sim_now() - before >= 60 * PROBE_SECOND &&
                                 sim_now() - before < 61 * PROBE_SECOND &&
                                 probe_count(p, PROBE_SetPowerState) == 0);
    CHECK_RULE("THREAD-037", probe_said(p, "THREAD-037", "DxgkDdiCreateDevice"));
    KeSetEvent(&never, IO_NO_INCREMENT, FALSE);
    probe_sleep(MS);
    sim_thread_release(thread);
}

TEST(whoever_waits_to_be_alone_says_for_whom)
{
    struct probe *p = start(1);

    probe_run(p, watchdog_body);
    probe_destroy(p);
}
