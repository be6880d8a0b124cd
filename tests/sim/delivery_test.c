/* SPDX-License-Identifier: MIT */
/* Events, deferred calls and interrupts: in which order they come, and what holds them up. */
#include "sim/support/story.h"

#include "sim/dpc.h"
#include "sim/event.h"
#include "sim/fault.h"
#include "sim/inside.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/mark.h"
#include "sim/point.h"
#include "sim/stop.h"

/* ---- events ---- */

static struct sim_event event[40];

static void tell_event(struct sim_event *e)
{
    tell((char)('a' + (e - event)));
}

TEST_WITH(fiber, events_of_one_time_come_in_the_order_of_arming)
{
    const uint64_t now = sim_now();

    begin_story();
    memset(event, 0, sizeof(event));
    for (unsigned i = 0; i < 40; i++)
        event[i].fire = tell_event;
    CHECK(sim_event_arm(&event[2], now + 5000) && sim_event_arm(&event[0], now + 5000) &&
          sim_event_arm(&event[1], now + 5000) && sim_event_arm(&event[3], now + 4000));
    CHECK(sim_event_pending(&event[3]) && event[3].due == now + 4000);
    sim_event_cancel(&event[1]);
    sim_event_cancel(&event[1]);
    CHECK(!sim_event_pending(&event[1]));
    CHECK(sim_event_arm(&event[2], now + 5000)); /* behind the other now */
    CHECK(sim_event_arm(&event[4], SIM_END) && !sim_event_pending(&event[4]));
    CHECK(sim_event_arm(&event[5], now + 1) && sim_event_arm(&event[5], SIM_FOREVER) &&
          !sim_event_pending(&event[5]));
    sim_stall(10000);
    CHECK(story_is("dac"));
}

/* Whatever is taken out, in whatever place, the rest stays in order. */
TEST_WITH(fiber, events_stay_in_order_when_others_are_cancelled)
{
    memset(event, 0, sizeof(event));
    for (unsigned round = 0; round < 40; round++) {
        const uint64_t now = sim_now();
        char expected[64] = "";
        size_t length = 0;

        begin_story();
        for (unsigned i = 0; i < 40; i++) {
            event[i].fire = tell_event;
            CHECK(sim_event_arm(&event[i], now + 10000 + (i * 23 + round) % 40 * 100));
        }
        for (unsigned i = 0; i < 10; i++)
            sim_event_cancel(&event[(round + i * 7) % 40]);
        for (unsigned place = 0; place < 40; place++)
            for (unsigned i = 0; i < 40; i++)
                if ((i * 23 + round) % 40 == place && sim_event_pending(&event[i]))
                    expected[length++] = (char)('a' + i);
        CHECK(length == 30);
        sim_stall(20000);
        CHECK(story_is(expected));
    }
}

/* Time that passes for nobody else passes at once; a stall ends on time whatever comes meanwhile. */
TEST_WITH(fiber, a_stall_alone_goes_from_event_to_event)
{
    const uint64_t from = sim_now(), points = sim_current->points;

    begin_story();
    memset(event, 0, sizeof(event));
    event[0].fire = tell_event;
    event[1].fire = tell_event;
    CHECK(sim_event_arm(&event[0], from + 300000000) && sim_event_arm(&event[1], from + 1000000001));
    sim_stall(1000000000);
    CHECK(story_is("a") && sim_now() == from + 1000000000);
    CHECK(sim_current->points - points <= 3);
    sim_event_cancel(&event[1]);
}

static void count_turns(void *arg)
{
    unsigned *turns = arg;

    for (; *turns < 1000; ++*turns)
        sim_stall(500);
}

TEST_WITH(fiber, a_stall_lets_others_run)
{
    unsigned turns = 0;

    sim_thread_release(sim_thread_create("other", SIM_THREAD_KERNEL, count_turns, &turns));
    sim_stall(100000);
    CHECK(turns >= 20);
    while (turns < 1000)
        sim_stall(500);
}

static unsigned busy_turns;
static bool stall_over;

static void be_busy(void *arg)
{
    (void)arg;
    for (; !stall_over; busy_turns++)
        sim_stall(100);
}

static void stall_beside(void *arg)
{
    unsigned before;

    (void)arg;
    while (busy_turns == 0)
        sim_stall(100);
    before = busy_turns;
    sim_stall(100000);
    CHECK(busy_turns - before > 20);
    stall_over = true;
}

TEST(a_stall_lets_other_processors_run)
{
    boot(2);
    busy_turns = 0;
    stall_over = false;
    sim_thread_release(sim_thread_create("busy", SIM_THREAD_KERNEL, be_busy, NULL));
    sim_thread_release(sim_thread_create("t", SIM_THREAD_KERNEL, stall_beside, NULL));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && stall_over);
    (void)down();
}

static uint64_t stall_began, stall_noticed;

static void overdue(const struct sim_fault *fault)
{
    CHECK(fault->kind == SIM_FAULT_OVERDUE);
    stall_noticed = sim_now();
    sim_stop();
}

static void stall_in_call(void *arg)
{
    struct sim_mark mark;

    (void)arg;
    if (SIM_RECOVER(&mark))
        return;
    stall_began = sim_now();
    (void)sim_inside_enter(5000);
    sim_stall(1000000000);
}

TEST(a_stall_does_not_go_past_the_end_of_the_call_s_time)
{
    boot(1);
    sim_on_fault(overdue);
    sim_thread_release(sim_thread_create("t", SIM_THREAD_KERNEL, stall_in_call, NULL));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_STOPPED);
    CHECK(stall_noticed > stall_began + 5000 && stall_noticed <= stall_began + 5100);
    (void)down();
}

static void stall_a_second(void *arg)
{
    (void)arg;
    sim_stall(1000000000);
}

TEST(a_run_ends_in_a_stall)
{
    boot(1);
    sim_thread_release(sim_thread_create("t", SIM_THREAD_KERNEL, stall_a_second, NULL));
    CHECK(sim_run(NULL, NULL, 1000) == SIM_TIME_UP && sim_now() == 1000);
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && sim_now() >= 1000000000);
    (void)down();
}

static bool note_time(void *context, uint32_t message)
{
    (void)message;
    *(uint64_t *)context = sim_now();
    return true;
}

TEST_WITH(fiber, what_is_pending_does_not_wait_for_the_end_of_a_stall)
{
    struct sim_interrupt interrupt = {0};
    const uint64_t from = sim_now();
    uint64_t served = 0;

    sim_interrupt_connect(&interrupt, note_time, &served, 0, SIM_IRQL_DEVICE);
    sim_interrupt_raise(&interrupt);
    CHECK(interrupt.pending);
    sim_stall(1000000000);
    CHECK(served > from && served <= from + 1000);
    sim_interrupt_disconnect(&interrupt);
}

/* ---- deferred calls ---- */

static struct sim_dpc dpc[4];

static void tell_dpc(struct sim_dpc *d)
{
    CHECK(sim_irql() == SIM_IRQL_DISPATCH && sim_in_dpc() && !d->queued);
    tell((char)('a' + (d - dpc)));
}

static void make_dpcs(void)
{
    begin_story();
    memset(dpc, 0, sizeof(dpc));
    for (unsigned i = 0; i < 4; i++)
        dpc[i].routine = tell_dpc;
}

TEST_WITH(fiber, deferred_calls_wait_for_the_level)
{
    uint8_t before;

    make_dpcs();
    CHECK(sim_dpc_queue(&dpc[0]) && story_is("a") && !sim_in_dpc()); /* at once */
    before = sim_raise_irql(SIM_IRQL_DISPATCH);
    dpc[2].high = true;
    CHECK(sim_dpc_queue(&dpc[1]) && sim_dpc_queue(&dpc[0]) && sim_dpc_queue(&dpc[2]));
    CHECK(!sim_dpc_queue(&dpc[1]) && dpc[1].queued); /* it is there already */
    CHECK(sim_dpc_queue(&dpc[3]) && sim_dpc_remove(&dpc[3]) && !sim_dpc_remove(&dpc[3]));
    sim_stall(10000);
    CHECK(story_is("a"));
    sim_lower_irql(before);
    CHECK(story_is("acba"));
    sim_dpc_flush();
    CHECK(sim_irql() == SIM_IRQL_PASSIVE);
}

static unsigned ran_on;

static void note_processor(struct sim_dpc *d)
{
    (void)d;
    ran_on |= 1u << sim_current->processor;
    tell('d');
}

static void target_all(void *arg)
{
    unsigned *done = arg;

    for (uint16_t i = 0; i < 3; i++) {
        dpc[i].routine = note_processor;
        dpc[i].target = (uint16_t)(i + 1);
        CHECK(sim_dpc_queue(&dpc[i]));
    }
    sim_dpc_flush();
    CHECK(story_is("ddd") && ran_on == 7);
    ran_on = 0;
    dpc[3].routine = note_processor;
    dpc[3].target = 5; /* there is none: the one that queues it */
    (void)sim_raise_irql(SIM_IRQL_DISPATCH);
    CHECK(sim_dpc_queue(&dpc[3]));
    *done = sim_current->processor;
    sim_lower_irql(SIM_IRQL_PASSIVE);
    CHECK(ran_on == 1u << *done);
}

TEST(deferred_calls_run_on_their_processor)
{
    unsigned processor = 9;

    boot(4);
    make_dpcs();
    ran_on = 0;
    sim_thread_release(sim_thread_create("t", SIM_THREAD_KERNEL, target_all, &processor));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK && processor < 4);
    (void)down();
}

TEST_WITH(host, a_stopped_machine_queues_nothing)
{
    make_dpcs();
    CHECK(sim_dpc_queue(&dpc[0])); /* between runs it waits */
    CHECK(story_is(""));
    sim_stop();
    CHECK(!dpc[0].queued && !sim_dpc_queue(&dpc[1]) && !dpc[1].queued && !sim_dpc_remove(&dpc[1]));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_STOPPED && story_is(""));
}

/* ---- interrupts ---- */

static struct sim_interrupt low, high;
static bool claim;

static bool serve(void *context, uint32_t message)
{
    const struct sim_interrupt *interrupt = context;

    CHECK(sim_irql() == interrupt->irql && sim_in_interrupt() && interrupt->lock_owner == 1 &&
          !interrupt->pending);
    tell((char)message);
    return claim;
}

static bool under_lock(void *arg)
{
    CHECK(sim_irql() == low.irql && sim_in_interrupt() && low.lock_owner == 1);
    sim_interrupt_raise(&low);
    sim_stall(2000);
    tell('(');
    sim_interrupt_raise(&high); /* of a higher level */
    sim_stall(2000);
    tell(')');
    return *(const bool *)arg;
}

TEST_WITH(fiber, interrupts_come_by_level_and_once)
{
    static const bool yes = true, no = false;
    uint8_t before;

    begin_story();
    memset(&low, 0, sizeof(low));
    memset(&high, 0, sizeof(high));
    high.owner = "model";
    sim_interrupt_raise(&low); /* not connected: nothing */
    sim_interrupt_connect(&low, serve, &low, 'l', SIM_IRQL_DEVICE);
    sim_interrupt_connect(&high, serve, &high, 'h', SIM_IRQL_DEVICE + 1);
    CHECK(low.connected && !low.pending && !low.owner && strcmp(high.owner, "model") == 0);
    sim_interrupt_raise(&low);
    CHECK(low.pending);
    sim_interrupt_raise(&low);
    sim_stall(2000);
    CHECK(story_is("l") && low.delivered == 1 && !low.pending);
    before = sim_raise_irql(SIM_IRQL_DEVICE); /* holds off its own level */
    sim_interrupt_raise(&low);
    sim_stall(2000);
    CHECK(story_is("l") && low.pending);
    sim_interrupt_raise(&high);
    sim_stall(2000);
    CHECK(story_is("lh"));
    sim_lower_irql(SIM_IRQL_DEVICE - 1);
    sim_stall(200);
    CHECK(story_is("lhl"));
    (void)sim_raise_irql(SIM_IRQL_HIGH);
    sim_interrupt_send(&low, 0);
    sim_interrupt_send(&high, 0);
    CHECK(low.pending && high.pending);
    sim_stall(2000);
    CHECK(story_is("lhl"));
    sim_lower_irql(before); /* the higher one first */
    sim_stall(200);
    CHECK(story_is("lhlhl") && sim_irql() == SIM_IRQL_PASSIVE);
    begin_story();
    CHECK(sim_interrupt_synchronize(&low, under_lock, (void *)(uintptr_t)&yes));
    sim_stall(2000);
    CHECK(story_is("(h)l") && sim_irql() == SIM_IRQL_PASSIVE && low.lock_owner == 0);
    CHECK(!sim_interrupt_synchronize(&low, under_lock, (void *)(uintptr_t)&no));
    CHECK(!sim_in_interrupt());
    sim_stall(2000);
    begin_story();
    sim_interrupt_raise(&low);
    sim_interrupt_disconnect(&low); /* what is on its way is lost */
    sim_interrupt_disconnect(&low);
    CHECK(!low.connected && !low.pending);
    sim_interrupt_send(&low, 0);
    sim_interrupt_raise(&low);
    sim_stall(2000);
    CHECK(story_is("") && !low.pending);
    sim_interrupt_disconnect(&high);
}

TEST_WITH(host, a_stopped_machine_has_no_interrupts)
{
    begin_story();
    sim_interrupt_connect(&low, serve, &low, 'l', SIM_IRQL_DEVICE);
    sim_interrupt_send(&low, 0);
    sim_stop();
    low.pending = false;
    sim_interrupt_send(&low, 0);
    sim_interrupt_raise(&low);
    CHECK(!low.pending && sim_run(NULL, NULL, SIM_FOREVER) == SIM_STOPPED && story_is(""));
}
