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

#include "ddi/entry.h"
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
    return (a->group == VIDMM || a->group == ROOT || a->group == SWIZZLING ||
            a->group == CHILD_ONE || a->group == CHILD_TWO) &&
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

/* The group whose rule says whether these two meet. */
static enum group deciding_group(const struct entry *first, const struct entry *second)
{
    if (first->group == EVENT || second->group == EVENT)
        return EVENT;
    if (is_level_two_or_three(second) && !is_level_two_or_three(first))
        return second->group;
    if (first->group == SCHEDULER && second->group == SCHEDULER_LATER)
        return SCHEDULER_LATER;
    return first->group;
}

/* A walk over the pairs that some groups decide. */
struct walk {
    struct probe *p;
    struct nt_process *one, *two;
    unsigned groups; /* bit n: group n */
    size_t next;     /* a pair: the first times catalogue_count, plus the second */
    /* the pair that met, or did not */
    const struct entry *first, *second;
    const char *rule;
    bool met, expected;
    unsigned wrong; /* so far */
};

static struct walk walk_begin(struct probe *p, unsigned groups)
{
    return (struct walk){
        .p = p, .one = probe_process(p, "one"), .two = probe_process(p, "two"), .groups = groups};
}

/* false: that was all. */
static bool walk_on(struct walk *w)
{
    static const char *const rules[] = {
        [ZERO] = "THREAD-014",      [ZERO_LATER] = "THREAD-015", [ZERO_OTHER] = "THREAD-022",
        [EVENT] = "THREAD-034",     [SCHEDULER] = "THREAD-019",  [SCHEDULER_LATER] = "THREAD-020",
        [VIDMM] = "THREAD-021/a",   [ROOT] = "THREAD-021/a",     [CHILD_ONE] = "THREAD-024",
        [CHILD_TWO] = "THREAD-024", [TWO] = "THREAD-027",        [THREE] = "THREAD-030",
        [EXCLUSIVE] = "THREAD-012", [SWIZZLING] = "THREAD-023",
    };
    enum group group;

    do {
        if (w->next == catalogue_count * catalogue_count)
            return false;
        w->first = &catalogue[w->next / catalogue_count];
        w->second = &catalogue[w->next++ % catalogue_count];
        group = deciding_group(w->first, w->second);
    } while (!(w->groups >> group & 1));
    w->rule = rules[group];
    w->expected = may_meet(w->first, w->second);
    w->met = meets(w->p, w->first, w->second, w->one, w->two);
    w->wrong += w->met != w->expected;
    if (w->met != w->expected)
        print_message("%s, then %s: %s\n", w->first->name, w->second->name,
                      w->met ? "met" : "did not meet");
    return true;
}

static void level_zero_body(struct probe *p)
{
    struct walk w = walk_begin(p, 1u << ZERO | 1u << ZERO_LATER | 1u << ZERO_OTHER);
    unsigned zero = 0;

    while (walk_on(&w)) {
        CHECK_RULE(w.rule, w.met == w.expected);
        zero += w.first->group == ZERO && w.second->group == ZERO && w.met;
    }
    CHECK_RULE("THREAD-013/a", zero > 0);
}

static void events_body(struct probe *p)
{
    struct walk w = walk_begin(p, 1u << EVENT);

    while (walk_on(&w))
        CHECK_RULE(w.rule, w.met == w.expected);
}

static void scheduler_body(struct probe *p)
{
    struct walk w = walk_begin(p, 1u << SCHEDULER | 1u << SCHEDULER_LATER);
    unsigned classes = 0;

    while (walk_on(&w)) {
        CHECK_RULE(w.rule, w.met == w.expected);
        classes += (w.second->group == VIDMM || w.second->group == ROOT) && w.met;
        if (is_scheduler(w.first) && is_scheduler(w.second))
            CHECK_RULE("THREAD-018/a", !w.met);
    }
    CHECK_RULE("THREAD-018/b", classes > 0);
}

static void memory_and_children_body(struct probe *p)
{
    struct walk w = walk_begin(p, 1u << VIDMM | 1u << ROOT | 1u << SWIZZLING | 1u << CHILD_ONE |
                                      1u << CHILD_TWO);

    while (walk_on(&w))
        CHECK_RULE(w.rule, w.met == w.expected);
}

static void levels_two_and_three_body(struct probe *p)
{
    struct walk w = walk_begin(p, 1u << TWO | 1u << THREE | 1u << EXCLUSIVE);

    while (walk_on(&w)) {
        CHECK_RULE(w.rule, w.met == w.expected);
        if (is_level_two_or_three(w.first) && !is_level_two_or_three(w.second) &&
            is_exception(w.first, w.second))
            CHECK_RULE(is_power(w.second) ? "THREAD-033/b" : "THREAD-032", w.met);
    }
    CHECK_RULE("THREAD-012", w.wrong == 0);
}

static void run_alone(void (*body)(struct probe *p))
{
    struct probe *p = start(1);

    CHECK(probe_run(p, body) == SIM_DONE);
    probe_destroy(p);
}

TEST(calls_of_level_zero_meet)
{
    run_alone(level_zero_body);
}

TEST(events_meet_everything)
{
    run_alone(events_body);
}

TEST(calls_of_the_scheduler_take_turns_among_themselves)
{
    run_alone(scheduler_body);
}

TEST(calls_of_the_memory_manager_or_of_one_child_take_turns)
{
    run_alone(memory_and_children_body);
}

TEST(calls_of_levels_two_and_three_are_alone_but_for_exceptions)
{
    run_alone(levels_two_and_three_body);
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
        if (entry->group == EVENT || is_power(entry) || is_scheduler(entry))
            CHECK_RULE("THREAD-017/a", met);
        else
            CHECK_RULE("THREAD-016", !met);
    }
    /* the host's own threads belong to the system process */
    CHECK_RULE("THREAD-017/b",
               meets(p, create, catalogue_find(PROBE_SubmitCommand), one, nt_process_system()));
    CHECK_RULE("THREAD-017/b",
               meets(p, catalogue_find(PROBE_BuildPagingBuffer), create, nt_process_system(), one));
}

TEST(threads_of_one_process_take_turns)
{
    run_alone(process_body);
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
    run_alone(driver_thread_body);
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
    CHECK_RULE("THREAD-037/a", sim_now() - before >= 60 * PROBE_SECOND &&
                                   sim_now() - before < 61 * PROBE_SECOND &&
                                   probe_count(p, PROBE_SetPowerState) == 0);
    CHECK_RULE("THREAD-037/b", probe_said(p, "THREAD-037", "DxgkDdiCreateDevice"));
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

static void stall_for_ever(struct probe *p, struct probe_call *call)
{
    p->before[PROBE_CollectDbgInfo] = NULL; /* it is called again for the bug check */
    call->answered = true;
    for (;;)
        KeStallExecutionProcessor(1000000);
}

static void debug_report_body(struct probe *p)
{
    p->before[PROBE_CollectDbgInfo] = stall_for_ever;
    catalogue_find(PROBE_CollectDbgInfo)->call(port_adapter_ddi(p->adapter[0]));
}

/* Also not one that is made outside of a bug check, as by a reset of an engine. */
TEST(no_call_may_take_for_ever)
{
    struct probe *p;

    for (int entry = DDI_NONE + 1; entry < DDI_ENTRIES; entry++)
        CHECK(ddi_entry_info((enum ddi_entry)entry)->limit <= 60 * PROBE_SECOND);
    p = start(1);
    CHECK(probe_run(p, debug_report_body) == SIM_STOPPED);
    CHECK_RULE("THREAD-037/b", probe_rule(p, "THREAD-037") == 1 &&
                                   probe_said(p, "THREAD-037", "DxgkDdiCollectDbgInfo"));
    probe_destroy(p);
}
