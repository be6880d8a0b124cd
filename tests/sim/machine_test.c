/* SPDX-License-Identifier: MIT */
/* The simulated machine: threads, time, interrupts, deferred calls, repeatability, stop and faults. */
#include "support/check_rule.h"

#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "sim/dpc.h"
#include "sim/event.h"
#include "sim/fault.h"
#include "sim/inside.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/mark.h"
#include "sim/mutex.h"
#include "sim/point.h"
#include "sim/sim.h"
#include "sim/stop.h"
#include "sim/switch.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "util/address.h"
#include "util/alloc.h"

static struct sim_machine *machine(uint64_t seed, unsigned processors)
{
    struct sim_config config = {.seed = seed, .processors = processors, .watchdog_ms = 1000};
    struct sim_machine *m = sim_machine_create(&config);

    assert_non_null(m);
    sim_enter(m);
    return m;
}

static void destroy(struct sim_machine *m)
{
    sim_leave();
    sim_machine_destroy(m);
}

/* ---- threads and blocking ---- */

struct ping {
    struct sim_thread *thread[2];
    unsigned turns, finished;
};

static void ping_entry(void *arg)
{
    struct ping *p = arg;
    unsigned me = sim_current->thread == p->thread[1];

    for (unsigned i = 0; i < 1000; i++) {
        intptr_t value = 0;

        if (me == 0)
            while (!sim_unblock(p->thread[1], (intptr_t)i))
                sim_stall(100);
        else
            assert_int_equal(sim_block(SIM_FOREVER, &value), SIM_WOKEN);
        if (me && value == (intptr_t)i)
            p->turns++;
        sim_point();
    }
    p->finished++;
}

TEST(threads_wake_each_other_and_end)
{
    for (unsigned processors = 1; processors <= 4; processors += 3) {
        struct sim_machine *m = machine(7, processors);
        struct ping p = {0};

        p.thread[0] = sim_thread_create("a", SIM_THREAD_CLIENT, ping_entry, &p);
        p.thread[1] = sim_thread_create("b", SIM_THREAD_CLIENT, ping_entry, &p);
        CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
        CHECK(p.finished == 2 && p.turns == 1000);
        CHECK(sim_thread_ended(p.thread[0]) && sim_thread_ended(p.thread[1]));
        sim_thread_release(p.thread[0]);
        sim_thread_release(p.thread[1]);
        destroy(m);
    }
}

static void sleeper(void *arg)
{
    uint64_t *woke = arg;

    CHECK(sim_block(sim_now() + 5000000, NULL) == SIM_TIMED_OUT);
    *woke = sim_now();
}

TEST(time_jumps_when_everybody_waits)
{
    struct sim_machine *m = machine(1, 2);
    uint64_t woke = 0;

    sim_thread_release(sim_thread_create("sleeper", SIM_THREAD_KERNEL, sleeper, &woke));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
    CHECK(woke >= 5000000 && woke < 5001000);
    destroy(m);
}

TEST(limit_of_time_is_kept_and_run_resumes)
{
    struct sim_machine *m = machine(1, 1);
    uint64_t woke = 0;

    sim_thread_release(sim_thread_create("sleeper", SIM_THREAD_KERNEL, sleeper, &woke));
    CHECK(sim_run(NULL, NULL, 1000) == SIM_TIME_UP);
    CHECK(woke == 0 && sim_now() == 1000);
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
    CHECK(woke >= 5000000);
    destroy(m);
}

static void nothing(void *arg)
{
    (void)arg;
}

TEST(thread_creation_survives_every_allocation_failure)
{
    struct sim_machine *m = machine(1, 1);
    unsigned failures = 0;

    for (uint64_t n = 1;; n++) {
        uint64_t live = m->heap.live_blocks;
        struct sim_thread *thread;

        m->heap.fail_at = m->heap.requests + n;
        thread = sim_thread_create("t", SIM_THREAD_KERNEL, nothing, NULL);
        m->heap.fail_at = 0;
        if (thread) {
            sim_thread_release(thread);
            break;
        }
        failures++;
        CHECK(m->heap.live_blocks <= live + 1); /* the event heap may have grown for good */
    }
    CHECK(failures >= 2);
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
    destroy(m);
}

/* ---- locks ---- */

struct locked {
    struct sim_mutex mutex;
    unsigned inside, peak, count;
};

static void lock_user(void *arg)
{
    struct locked *l = arg;

    for (unsigned i = 0; i < 200; i++) {
        sim_mutex_lock(&l->mutex);
        l->inside++;
        l->peak = l->inside > l->peak ? l->inside : l->peak;
        sim_stall(sim_random(500));
        l->count++;
        l->inside--;
        sim_mutex_unlock(&l->mutex);
        sim_point();
    }
}

TEST(mutex_excludes_on_several_processors)
{
    struct sim_machine *m = machine(3, 4);
    struct locked l = {0};

    sim_mutex_init(&l.mutex);
    for (unsigned i = 0; i < 6; i++)
        sim_thread_release(sim_thread_create("user", SIM_THREAD_KERNEL, lock_user, &l));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
    CHECK(l.count == 1200 && l.peak == 1 && !l.mutex.owner);
    destroy(m);
}

/* ---- interrupts and deferred calls ---- */

struct device {
    struct sim_interrupt interrupt;
    struct sim_dpc dpc;
    struct sim_event event;
    unsigned raised, served, deferred, in_lock, violations;
    uint64_t signature;
    struct sim_thread *waiter;
};

static void dpc_routine(struct sim_dpc *dpc)
{
    struct device *d = CONTAINER(dpc, struct device, dpc);

    if (sim_irql() != SIM_IRQL_DISPATCH || !sim_in_dpc())
        d->violations++;
    d->deferred++;
    sim_point();
    if (d->waiter)
        sim_unblock(d->waiter, 1);
}

static bool service(void *context, uint32_t message)
{
    struct device *d = context;

    if (sim_irql() != SIM_IRQL_DEVICE || message != 3 || d->in_lock || !sim_in_interrupt())
        d->violations++;
    d->served++;
    for (unsigned i = 0; i < 20; i++)
        sim_point();
    sim_dpc_queue(&d->dpc);
    return true;
}

static void tick(struct sim_event *event)
{
    struct device *d = CONTAINER(event, struct device, event);

    if (++d->raised < 500) {
        sim_interrupt_raise(&d->interrupt);
        sim_event_arm(event, sim_now() + 300 + sim_random(3000));
    }
}

static bool locked_section(void *arg)
{
    struct device *d = arg;

    d->in_lock++;
    sim_stall(500);
    d->in_lock--;
    return true;
}

static void busy(void *arg)
{
    struct device *d = arg;

    while (d->raised < 500) {
        sim_stall(200);
        d->signature = d->signature * 31 + d->served + sim_current->processor;
        if (sim_random(4) == 0)
            CHECK(sim_interrupt_synchronize(&d->interrupt, locked_section, d));
        if (sim_random(4) == 0) {
            uint8_t before = sim_raise_irql(SIM_IRQL_DISPATCH);
            unsigned deferred = d->deferred;

            sim_stall(1000);
            if (sim_current->processors == 1 && d->deferred != deferred)
                d->violations++; /* nothing deferred runs above DISPATCH on this processor */
            sim_lower_irql(before);
        }
        if (sim_irql() != SIM_IRQL_PASSIVE)
            d->violations++;
    }
}

static uint64_t run_device(uint64_t seed, unsigned processors)
{
    struct sim_machine *m = machine(seed, processors);
    struct device d = {.event = {.fire = tick}, .dpc = {.routine = dpc_routine}};
    uint64_t signature;

    sim_interrupt_connect(&d.interrupt, service, &d, 3, SIM_IRQL_DEVICE);
    sim_event_arm(&d.event, 100);
    for (unsigned i = 0; i < processors + 1; i++)
        sim_thread_release(sim_thread_create("busy", SIM_THREAD_KERNEL, busy, &d));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
    CHECK(d.violations == 0);
    CHECK(d.served > 100 && d.served <= d.raised);
    CHECK(d.deferred > 100 && d.deferred <= d.served);
    CHECK(d.interrupt.lock_owner == 0);
    signature = d.signature ^ sim_now();
    destroy(m);
    return signature;
}

TEST(interrupts_respect_levels_and_locks)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        run_device(seed, 1);
        run_device(seed, 4);
    }
}

TEST(same_seed_same_run)
{
    uint64_t first = run_device(42, 4);

    CHECK(run_device(42, 4) == first);
    CHECK(run_device(43, 4) != first);
}

/* ---- stop and faults ---- */

struct stopper {
    bool thrown, finished_call, kernel_ran_on;
    struct sim_fault fault;
    uint64_t after;
};

static struct stopper *current_stopper; /* on_fault has no context */

static void fault_seen(const struct sim_fault *fault)
{
    current_stopper->fault = *fault;
    sim_stop();
}

static volatile int *volatile null_pointer;
static volatile int sink;

__attribute__((no_sanitize("undefined"))) static void misbehave(int how)
{
    if (how == 0)
        sink = *null_pointer;
    else if (how == 1)
        *null_pointer = 1;
    else if (how == 2)
        for (;;)
            sink = sink + 1;
    else if (how == 3)
        for (;;)
            sim_stall(100);
    else if (how == 4)
        __builtin_trap();
}

static int how_to;

static void victim(void *arg)
{
    struct stopper *s = arg;
    struct sim_mark mark;
    uint64_t outer;

    if (SIM_RECOVER(&mark)) {
        s->thrown = true;
        CHECK(sim_irql() == SIM_IRQL_PASSIVE);
        s->after = sim_now();
        return;
    }
    outer = sim_inside_enter(1000000);
    sim_raise_irql(SIM_IRQL_DISPATCH);
    misbehave(how_to);
    sim_lower_irql(SIM_IRQL_PASSIVE);
    sim_inside_leave(outer);
    sim_unmark(&mark);
    s->finished_call = true;
}

static void kernel_side(void *arg)
{
    struct stopper *s = arg;

    while (sim_now() < 3000000)
        sim_block(sim_now() + 1000, NULL);
    if (sim_current->stopped)
        s->kernel_ran_on = true;
}

TEST(faults_of_a_driver_stop_the_machine_not_the_process)
{
    static const enum sim_fault_kind expected[] = {SIM_FAULT_READ, SIM_FAULT_WRITE, SIM_FAULT_HANG,
                                                   SIM_FAULT_OVERDUE, SIM_FAULT_INSTRUCTION};

    for (how_to = 0; how_to < 5; how_to++) {
        struct sim_machine *m = machine(5, 2);
        struct stopper s = {0};

        current_stopper = &s;
        sim_on_fault(fault_seen);
        sim_thread_release(sim_thread_create("kernel", SIM_THREAD_KERNEL, kernel_side, &s));
        sim_thread_release(sim_thread_create("victim", SIM_THREAD_CLIENT, victim, &s));
        CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_STOPPED);
        CHECK(s.thrown && !s.finished_call && !s.kernel_ran_on);
        CHECK(s.fault.kind == expected[how_to]);
        destroy(m);
    }
}

/* ---- waits inside of a call ---- */

/* ns behind the limit of a call, from which on a wait is reported */
#define GRACE UINT64_C(120000000000)

struct long_wait {
    struct stopper stopper;
    uint64_t beyond; /* ns of the grace that the wait takes */
    uint64_t woke;
    enum sim_wake how;
};

static void wait_inside(void *arg)
{
    struct long_wait *w = arg;
    struct sim_mark mark;
    uint64_t deadline;

    if (SIM_RECOVER(&mark))
        return;
    sim_inside_enter(1000000);
    deadline = sim_current->deadline + w->beyond;
    w->how = sim_block(deadline, NULL);
    w->woke = sim_now() - (deadline - w->beyond);
    sim_stop();
}

/* A wait that ends by itself when the grace does is one that ends; one that takes a ns more is reported. */
TEST(a_wait_inside_of_a_call_has_a_grace)
{
    for (unsigned more = 0; more < 2; more++) {
        struct sim_machine *m = machine(5, 1);
        struct long_wait w = {.beyond = GRACE + more};

        current_stopper = &w.stopper;
        sim_on_fault(fault_seen);
        sim_thread_release(sim_thread_create("waits", SIM_THREAD_CLIENT, wait_inside, &w));
        CHECK(sim_run(NULL, NULL, SIM_FOREVER) == (more ? SIM_DEADLOCK : SIM_STOPPED));
        CHECK(more || (w.how == SIM_TIMED_OUT && w.woke == GRACE));
        destroy(m);
    }
}

static void waiting_client(void *arg)
{
    struct stopper *s = arg;
    struct sim_mark mark;

    if (SIM_RECOVER(&mark)) {
        s->thrown = true;
        return;
    }
    sim_block(SIM_FOREVER, NULL);
    sim_unmark(&mark);
}

TEST(blocked_client_is_thrown_when_another_stops_the_machine)
{
    struct sim_machine *m = machine(5, 1);
    struct stopper a = {0}, b = {0};

    how_to = 0;
    current_stopper = &a;
    sim_on_fault(fault_seen);
    /* b waits inside the kernel side for ever */
    sim_thread_release(sim_thread_create("b", SIM_THREAD_CLIENT, waiting_client, &b));
    sim_thread_release(sim_thread_create("a", SIM_THREAD_CLIENT, victim, &a));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_STOPPED);
    CHECK(a.thrown && b.thrown);
    destroy(m);
}

/* ---- processes ---- */

static struct {
    const void *last; /* current when the handler was last called */
    unsigned changes;
    bool right;
} told;

static const void *current_process(void)
{
    return sim_current->thread ? *sim_thread_process(sim_current->thread) : NULL;
}

static void process_changed(void)
{
    told.right &= current_process() != told.last;
    told.last = current_process();
    told.changes++;
}

static void process_body(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 300; i++) {
        told.right &= told.last == current_process();
        if (i % 7 == 0)
            (void)sim_block(sim_now() + 100, NULL);
        else
            sim_point();
    }
}

TEST(a_change_of_process_is_told)
{
    int process[2];

    for (unsigned processors = 1; processors <= 4; processors += 3) {
        struct sim_machine *m = machine(5, processors);
        struct sim_thread *thread[4];
        unsigned before;

        told.last = NULL;
        told.changes = 0;
        told.right = true;
        sim_on_process(process_changed, NULL);
        for (unsigned i = 0; i < 4; i++) { /* two of one process, one of another, one of none */
            thread[i] = sim_thread_create("t", SIM_THREAD_CLIENT, process_body, NULL);
            *sim_thread_process(thread[i]) = i < 3 ? &process[i / 2] : NULL;
        }
        CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
        CHECK_RULE("PHYS-195", told.right && told.changes > 10);
        before = told.changes;
        sim_notify_switch(); /* nothing has changed */
        CHECK_RULE("PHYS-195", told.changes == before);
        for (unsigned i = 0; i < 4; i++)
            sim_thread_release(thread[i]);
        destroy(m);
    }
}

static struct {
    char *page;
    volatile unsigned outer, reported, through;
} denied;

static bool is_denied(const void *address)
{
    return (const char *)address >= denied.page && (const char *)address < denied.page + PAGE_BYTES;
}

static void end_thread(const struct sim_fault *fault)
{
    CHECK(fault->kind == SIM_FAULT_WRITE && (char *)fault->address == denied.page + 8);
    denied.reported++;
    sim_thread_exit();
}

/* The process's own handler lets it through. */
static void outer_handler(int signal)
{
    (void)signal;
    denied.outer++;
    mprotect(denied.page, PAGE_BYTES, PROT_READ | PROT_WRITE);
}

static void touch_denied(void *arg)
{
    struct sim_mark mark;

    if (arg) {
        if (SIM_RECOVER(&mark))
            return;
        *(volatile char *)(denied.page + 8) = 1;
        sim_unmark(&mark);
    } else {
        *(volatile char *)(denied.page + 8) = 1;
    }
    denied.through++;
}

static void run_denied(enum sim_thread_kind kind, bool marked)
{
    struct sim_machine *m = machine(1, 1);
    struct sim_thread *thread = sim_thread_create("c", kind, touch_denied, marked ? m : NULL);

    denied.outer = denied.reported = denied.through = 0;
    mprotect(denied.page, PAGE_BYTES, PROT_NONE);
    sim_on_fault(end_thread);
    sim_on_process(NULL, is_denied);
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && sim_thread_ended(thread));
    sim_thread_release(thread);
    destroy(m);
}

/* Of a client's own code only: what the host does in its call, or on a thread of the kernel, is the host's mistake. */
TEST(a_denied_client_may_end)
{
    struct sigaction action = {.sa_handler = outer_handler}, before;

    sigaction(SIGSEGV, &action, &before);
    denied.page = mmap(NULL, PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    run_denied(SIM_THREAD_CLIENT, false);
    CHECK_RULE("PHYS-195", denied.reported == 1 && denied.outer == 0 && denied.through == 0);
    run_denied(SIM_THREAD_CLIENT, true);
    CHECK_RULE("PHYS-195", denied.reported == 0 && denied.outer == 1 && denied.through == 1);
    run_denied(SIM_THREAD_KERNEL, false);
    CHECK_RULE("PHYS-195", denied.reported == 0 && denied.outer == 1 && denied.through == 1);
    munmap(denied.page, PAGE_BYTES);
    sigaction(SIGSEGV, &before, NULL);
}

TEST(checked_copy_tells_bad_addresses)
{
    struct sim_machine *m = machine(1, 1);
    char from[300], to[300];

    memset(from, 'x', sizeof(from));
    memset(to, 0, sizeof(to));
    for (size_t bytes = 0; bytes <= sizeof(from); bytes += 7) {
        CHECK(sim_copy_checked(to, from, bytes));
        CHECK(memcmp(to, from, bytes) == 0);
        CHECK(bytes == 0 || !sim_copy_checked(to, (const void *)8, bytes));
        CHECK(bytes == 0 || !sim_copy_checked((void *)8, from, bytes));
    }
    destroy(m);
}

/* ---- events come at their time ---- */

struct lateness {
    struct sim_event near, far;
    uint64_t due, came;
};

static void note_time(struct sim_event *event)
{
    CONTAINER(event, struct lateness, near)->came = sim_now();
}

static void nothing_more(struct sim_event *event)
{
    (void)event;
}

/* Whatever else is due, and however long the processor's turn still is. */
/* A machine that is entered inside another one has a heap of its own, and gives the other one's back. */
TEST(machines_that_are_entered_in_each_other_keep_their_heaps)
{
    struct util_heap *before = util_heap_current;
    struct sim_machine *outer = machine(1, 1), *inner;

    CHECK(util_heap_current == &outer->heap);
    inner = machine(2, 1);
    CHECK(sim_current == inner && util_heap_current == &inner->heap);
    destroy(inner);
    CHECK(sim_current == outer && util_heap_current == &outer->heap);
    destroy(outer);
    CHECK(!sim_current && util_heap_current == before);
}

/* What nobody freed goes with its machine. */
TEST(a_machine_that_ends_takes_its_heap_along)
{
    size_t first = 0;

    for (unsigned i = 0; i < 20; i++) {
        struct sim_machine *m = machine(1, 1);
        struct mallinfo2 host;

        CHECK(util_alloc(100000));
        destroy(m);
        host = mallinfo2();
        if (i == 4)
            first = host.uordblks + host.hblkhd;
        CHECK(i < 4 || host.uordblks + host.hblkhd < first + 100000);
    }
}

static void busy_entry(void *arg)
{
    struct lateness *l = arg;

    for (unsigned ns = 40; ns < 20000; ns += 220) {
        CHECK(sim_event_arm(&l->far, sim_now() + 50000));
        sim_stall(100);
        l->due = sim_now() + ns;
        l->came = 0;
        CHECK(sim_event_arm(&l->near, l->due));
        for (unsigned i = 0; i < 2000 && !l->came; i++)
            sim_point();
        CHECK(l->came >= l->due && l->came <= l->due + SIM_POINT_NS);
    }
    sim_event_cancel(&l->far);
}

TEST(events_come_at_their_time)
{
    struct sim_machine *m = machine(1, 1);
    static struct lateness l;

    memset(&l, 0, sizeof(l));
    l.near.fire = note_time;
    l.far.fire = nothing_more;
    sim_thread_release(sim_thread_create("busy", SIM_THREAD_KERNEL, busy_entry, &l));
    assert_int_equal(sim_run(NULL, NULL, 1000000000), SIM_DEADLOCK);
    CHECK(l.came != 0);
    destroy(m);
}
