/* SPDX-License-Identifier: MIT */
/* What goes on without end, though nobody loops: when it is reported, and what is said. */
#include "sim/support/story.h"

#include "sim/dpc.h"
#include "sim/event.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/point.h"
#include "sim/wait.h"
#include "verify/verify.h"

#include <stdio.h>

static struct verify_log *heard;

static int up_with_log(void)
{
    heard = verify_log_create();
    verify_log_install(heard);
    return up();
}

static int down_with_log(void)
{
    (void)down();
    verify_log_destroy(heard);
    return 0;
}

#define RIG_ARGUMENT_storm void
#define RIG_RUN_storm(body)                  \
    test_set_up(up_with_log, down_with_log); \
    body()

static bool is_over(void)
{
    return verify_bugcheck_state(heard)->happened;
}

/* The bug check, and the one thing that was said. */
static bool said(const char *rule, uint32_t code, const char *text)
{
    const struct verify_record *record = verify_record_at(heard, 0);

    if (!record || !is_over())
        return false;
    if (strcmp(record->rule, rule) == 0 && record->code == code && strstr(record->seen, text))
        return true;
    print_error("%s %x: %s\n", record->rule, record->code, record->seen);
    return false;
}

static void run_thread(enum sim_thread_kind kind, void (*entry)(void *arg), void *arg)
{
    sim_thread_release(sim_thread_create("looper", kind, entry, arg));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_DEADLOCK);
}

/* ---- events ---- */

static struct sim_event event;
static unsigned fired;

static void again(struct sim_event *e)
{
    fired++;
    if (!is_over() && fired < 3000000)
        CHECK(sim_event_arm(e, sim_now()));
}

static void stall_a_little(void *arg)
{
    CHECK(sim_event_arm(arg, sim_now() + 1));
    sim_stall(10000);
}

static void name_timer(const struct sim_event *e, char *text, size_t bytes)
{
    CHECK(e == &event);
    snprintf(text, bytes, "timer 3 of the model");
}

TEST_WITH(storm, events_at_one_time_end_the_run)
{
    event = (struct sim_event){.fire = again};
    fired = 0;
    run_thread(SIM_THREAD_KERNEL, stall_a_little, &event);
    CHECK(fired == 1000001);
    CHECK(said("NT-196", 0x124, "1000000 events within "));
    CHECK(said("NT-196", 0x124,
               " ns of virtual time, and no end of them; the last one is a timer of the host"));
    CHECK(verify_bugcheck_state(heard)->parameter[0] == 0);
}

TEST_WITH(storm, who_has_the_event_is_told)
{
    event = (struct sim_event){.fire = again, .describe = name_timer};
    fired = 0;
    run_thread(SIM_THREAD_KERNEL, stall_a_little, &event);
    CHECK(said("NT-196", 0x124, "the last one is timer 3 of the model"));
}

/* Spread over more than a millisecond each, they may be as many as they like. */
static void spread(struct sim_event *e)
{
    if (++fired % 900000 == 0)
        CHECK(fired >= 2700000 || sim_event_arm(e, sim_now() + 1100000));
    else
        CHECK(sim_event_arm(e, sim_now()));
}

static void stall_long(void *arg)
{
    CHECK(sim_event_arm(arg, sim_now() + 1));
    sim_stall(10000000);
}

TEST_WITH(storm, events_that_take_their_time_go_on)
{
    event = (struct sim_event){.fire = spread};
    fired = 0;
    run_thread(SIM_THREAD_KERNEL, stall_long, &event);
    CHECK(fired == 2700000 && verify_records(heard) == 0);
}

static void waits_for_nothing(void *arg)
{
    for (unsigned *count = arg; *count < 1100000 && !is_over(); ++*count)
        CHECK(sim_block(sim_now(), NULL) == SIM_TIMED_OUT);
}

TEST_WITH(storm, time_outs_of_kernel_threads_count)
{
    unsigned count = 0;

    run_thread(SIM_THREAD_KERNEL, waits_for_nothing, &count);
    CHECK(count < 1100000 &&
          said("NT-196", 0x124, "the last one is the time-out of a wait of thread looper"));
}

TEST_WITH(storm, time_outs_of_clients_do_not)
{
    unsigned count = 0;

    run_thread(SIM_THREAD_CLIENT, waits_for_nothing, &count);
    CHECK(count == 1100000 && verify_records(heard) == 0);
}

/* ---- deferred calls ---- */

static struct sim_dpc dpc;
static unsigned calls, most_calls;
static uint64_t each_ns;

static void queue_again(struct sim_dpc *d)
{
    calls++;
    sim_stall(each_ns);
    if (!is_over() && calls < most_calls)
        CHECK(sim_dpc_queue(d));
}

static void queue_first(void *arg)
{
    (void)arg;
    CHECK(sim_dpc_queue(&dpc));
}

static void name_dpc(const struct sim_dpc *d, char *text, size_t bytes)
{
    CHECK(d == &dpc);
    snprintf(text, bytes, "the DPC of the rig");
}

static void begin_dpcs(uint64_t ns, unsigned most)
{
    dpc = (struct sim_dpc){.routine = queue_again, .describe = ns ? name_dpc : NULL};
    calls = 0;
    each_ns = ns;
    most_calls = most;
    run_thread(SIM_THREAD_KERNEL, queue_first, NULL);
}

TEST_WITH(storm, calls_without_a_pause_end_the_run)
{
    begin_dpcs(0, 2000000);
    CHECK(calls == 1000001 &&
          said("NT-195", 0x133, "processor 0 has run 1000000 DPCs one after another for "));
    CHECK(said("NT-195", 0x133, " s, and could do nothing else; the next one is a DPC"));
    CHECK(verify_bugcheck_state(heard)->parameter[0] == 1 &&
          verify_bugcheck_state(heard)->parameter[1] == 2000);
}

TEST_WITH(storm, calls_that_take_too_long_together_end_the_run)
{
    begin_dpcs(100000000, 40);
    CHECK(calls >= 21 && calls <= 22 && said("NT-195", 0x133, "the next one is the DPC of the rig"));
}

TEST_WITH(storm, calls_that_end_in_time_are_nothing)
{
    begin_dpcs(90000000, 20);
    CHECK(calls == 20 && verify_records(heard) == 0);
    begin_dpcs(90000000, 20); /* counted anew */
    CHECK(calls == 20 && verify_records(heard) == 0);
}

/* ---- interrupts ---- */

static struct sim_interrupt line;
static unsigned served, claims;

static bool serve(void *context, uint32_t message)
{
    CHECK(context == &line && message == 7);
    return ++served % claims == 0;
}

static unsigned raises;

static void raise_often(void *arg)
{
    void (*between)(unsigned i);

    memcpy(&between, arg, sizeof(between));
    for (unsigned i = 0; i < raises && !is_over(); i++) {
        sim_interrupt_send(&line, 0);
        for (unsigned k = 0; k < 5 && line.pending; k++)
            sim_point();
        CHECK(!line.pending);
        if (between)
            between(i);
    }
}

static void raise_all(const char *owner, unsigned count, void (*between)(unsigned i))
{
    line = (struct sim_interrupt){.owner = owner};
    sim_interrupt_connect(&line, serve, &line, 7, SIM_IRQL_DEVICE);
    served = 0;
    claims = 4;
    raises = count;
    run_thread(SIM_THREAD_KERNEL, raise_often, &between);
}

TEST_WITH(storm, interrupts_of_a_device_without_work_end_the_run)
{
    raise_all("model", 100000, NULL);
    CHECK(served == 100000 && verify_records(heard) == 0);
    sim_interrupt_disconnect(&line);
    raise_all("model", 110000, NULL);
    CHECK(served == 100001 && line.delivered == 100001);
    CHECK(said("NT-197", 0xF2,
               "device model model raised interrupt message 7 100000 times within 0."));
    CHECK(said("NT-197", 0xF2, " s while nothing was submitted; the driver claimed 25000 of them"));
    CHECK(verify_bugcheck_state(heard)->parameter[0] == 7);
}

TEST_WITH(storm, interrupts_of_the_host_do_not_count)
{
    raise_all(NULL, 110000, NULL);
    CHECK(served == 110000 && verify_records(heard) == 0);
}

static void submit(unsigned i)
{
    if (i % 90000 == 0)
        sim_current->submissions++;
}

static void let_time_pass(unsigned i)
{
    if (i % 90000 == 89999)
        sim_stall(1100000000);
}

TEST_WITH(storm, interrupts_for_work_count_anew)
{
    raise_all("model", 190000, submit);
    CHECK(served == 190000 && verify_records(heard) == 0);
}

TEST_WITH(storm, interrupts_count_within_a_second)
{
    raise_all("model", 190000, let_time_pass);
    CHECK(served == 190000 && verify_records(heard) == 0);
}
