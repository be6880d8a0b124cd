/* SPDX-License-Identifier: MIT */
/* Runtime power: announcements, references, F-states. */
#include "nt/base/current.h"
#include "port/support/probe.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk
#define MS                 1000000ull

static struct probe *with_components(UINT count)
{
    struct probe *p = probe_create(NULL);

    probe_use_components(p, count);
    return p;
}

static void start(struct probe *p)
{
    CHECK(NT_SUCCESS(probe_start(p)));
}

static void active(struct probe *p, UINT component)
{
    DXGK.DxgkCbSetPowerComponentActive(DXGK.DeviceHandle, component);
}

static void idle(struct probe *p, UINT component)
{
    DXGK.DxgkCbSetPowerComponentIdle(DXGK.DeviceHandle, component);
}

/* Component and F-state of the n-th transition. */
static bool went(const struct probe *p, size_t n, UINT component, UINT state)
{
    const struct probe_call *call = probe_nth(p, PROBE_SetPowerComponentFState, n);

    return (UINT)call->arg[1] == component && (UINT)call->arg[2] == state;
}

static size_t transitions(const struct probe *p)
{
    return probe_count(p, PROBE_SetPowerComponentFState);
}

/* ---- announcements ---- */

static struct {
    GUID code;
    uint64_t order;
} announced[8];
static unsigned announcements;

static void note_announcement(struct probe *p, struct probe_call *call)
{
    (void)p;
    CHECK(announcements < 8);
    announced[announcements].code = *(const GUID *)(uintptr_t)call->arg[1];
    announced[announcements++].order = call->order;
}

static bool was(unsigned n, const GUID *code)
{
    return n < announcements && memcmp(&announced[n].code, code, sizeof(*code)) == 0;
}

static bool is_code(const struct probe_call *call, const GUID *code)
{
    return memcmp((const void *)(uintptr_t)call->arg[1], code, sizeof(*code)) == 0;
}

TEST(three_announcements)
{
    struct probe *p = with_components(1);

    announcements = 0;
    p->before[PROBE_PowerRuntimeControlRequest] = note_announcement;
    start(p);
    CHECK_RULE("LIFE-158/a", announcements == 2 &&
                                 was(0, &GUID_DXGKDDI_POWER_MANAGEMENT_PREPARE_TO_START) &&
                                 was(1, &GUID_DXGKDDI_POWER_MANAGEMENT_STARTED));
    CHECK_RULE("LIFE-158/a",
               announced[0].order > probe_query(p, DXGKQAITYPE_POWERCOMPONENTINFO, 0)->order);
    (void)probe_stop(p);
    CHECK_RULE("LIFE-158/b", announcements == 3 && was(2, &GUID_DXGKDDI_POWER_MANAGEMENT_STOPPED) &&
                                 announced[2].order < probe_nth(p, PROBE_StopDevice, 0)->order);
    probe_destroy(p);
}

static void sleep_body(struct probe *p)
{
    (void)p;
    probe_sleep(PROBE_SECOND);
}

TEST(only_with_the_flag)
{
    struct probe *p = with_components(0);

    p->caps.SupportRuntimePowerManagement = FALSE;
    start(p);
    CHECK(probe_run(p, sleep_body) == SIM_DONE);
    (void)probe_stop(p);
    CHECK_RULE("LIFE-157/c",
               transitions(p) == 0 && probe_count(p, PROBE_PowerRuntimeControlRequest) == 0);
    probe_destroy(p);
}

/* ---- windows ---- */

static uint64_t reports[4];

static void call_early(struct probe *p, struct probe_call *call)
{
    if (is_code(call, &GUID_DXGKDDI_POWER_MANAGEMENT_PREPARE_TO_START)) {
        active(p, 0);
        DXGK.DxgkCbSetPowerComponentLatency(DXGK.DeviceHandle, 0, 100000);
        DXGK.DxgkCbSetPowerComponentResidency(DXGK.DeviceHandle, 0, 100000);
        reports[0] = probe_rule(p, "LIFE-159");
        idle(p, 0);
        reports[1] = probe_rule(p, "LIFE-159");
        DXGK.DxgkCbCompleteFStateTransition(DXGK.DeviceHandle, 0);
        reports[2] = probe_rule(p, "LIFE-159");
    } else if (is_code(call, &GUID_DXGKDDI_POWER_MANAGEMENT_STARTED)) {
        idle(p, 0);
        reports[3] = probe_rule(p, "LIFE-159");
    }
}

static void call_late(struct probe *p, struct probe_call *call)
{
    (void)call;
    active(p, 0);
    DXGK.DxgkCbSetPowerComponentLatency(DXGK.DeviceHandle, 0, 100000);
}

TEST(callbacks_have_their_time)
{
    struct probe *p = with_components(1);

    p->before[PROBE_PowerRuntimeControlRequest] = call_early;
    p->before[PROBE_StopDevice] = call_late;
    start(p);
    CHECK_RULE("LIFE-159", reports[0] == 0 && reports[1] == 1 && reports[2] == 2 && reports[3] == 2);
    (void)probe_stop(p);
    CHECK_RULE("LIFE-159", probe_rule(p, "LIFE-159") == 4 &&
                               probe_said(p, "LIFE-159", "after POWER_MANAGEMENT_STOPPED"));
    probe_destroy(p);
}

/* ---- references and F-states ---- */

static void references_body(struct probe *p)
{
    active(p, 0);
    active(p, 0);
    idle(p, 0);
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-160/a", transitions(p) == 0); /* one is left */
    idle(p, 0);
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-160/b", transitions(p) == 1 && went(p, 0, 0, 2));
    CHECK_RULE("LIFE-163/a", went(p, 0, 0, 2));
    active(p, 0);
    CHECK_RULE("LIFE-160/b", transitions(p) == 2 &&
                                 went(p, 1, 0, 0)); /* when it returns the component is at F0 */
    CHECK_RULE("LIFE-160/b", probe_rule(p, "LIFE-160") == 0);
    idle(p, 0);
    idle(p, 0);
    CHECK_RULE("LIFE-160/c", probe_rule(p, "LIFE-160") == 1);
    idle(p, 1);
    CHECK_RULE("LIFE-160/c", probe_rule(p, "LIFE-160") == 2); /* no such component */
}

TEST(references_are_counted)
{
    struct probe *p = with_components(1);

    start(p);
    probe_end(p, references_body);
}

static void wishes_body(struct probe *p)
{
    uint8_t levels = 0;

    active(p, 0);
    idle(p, 0);
    probe_sleep(10 * MS);
    CHECK(transitions(p) == 1 && went(p, 0, 0, 2));
    DXGK.DxgkCbSetPowerComponentLatency(DXGK.DeviceHandle, 0, 500); /* F1 has 10, F2 1000 */
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-163/a", transitions(p) == 3 && went(p, 1, 0, 0) && went(p, 2, 0, 1));
    DXGK.DxgkCbSetPowerComponentResidency(DXGK.DeviceHandle, 0, 50); /* F1 wants 100 */
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-163/a", transitions(p) == 4 && went(p, 3, 0, 0));
    DXGK.DxgkCbSetPowerComponentResidency(DXGK.DeviceHandle, 0, 100);
    DXGK.DxgkCbSetPowerComponentLatency(DXGK.DeviceHandle, 0, 1000);
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-163/a", transitions(p) == 5 && went(p, 4, 0, 1));
    for (size_t i = 0; i < transitions(p); i++)
        levels |= (uint8_t)(1u << probe_nth(p, PROBE_SetPowerComponentFState, i)->irql);
    CHECK_RULE("THREAD-046", levels == (1u << PASSIVE_LEVEL | 1u << DISPATCH_LEVEL));
    CHECK_RULE("LIFE-163/b", probe_rule(p, "LIFE-163") == 0);
}

TEST(the_way_leads_through_f0)
{
    struct probe *p = with_components(1);

    start(p);
    probe_end(p, wishes_body);
}

static void refuse_call(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_UNSUCCESSFUL;
}

TEST(a_transition_does_not_fail)
{
    struct probe *p = with_components(1);

    start(p);
    p->before[PROBE_SetPowerComponentFState] = refuse_call;
    CHECK(probe_run(p, references_body) == SIM_DONE);
    CHECK_RULE("LIFE-163/b", probe_rule(p, "LIFE-163") >= 2);
    probe_destroy(p);
}

static unsigned running, overlaps;

static void take_time(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->irql > PASSIVE_LEVEL)
        return;
    overlaps += ++running > 1;
    probe_sleep(MS);
    running--;
}

static void toggler(struct probe *p)
{
    for (unsigned i = 0; i < 20; i++) {
        active(p, 0);
        probe_sleep(MS / 3);
        idle(p, 0);
        probe_sleep(MS / 2);
    }
}

static void togglers_body(struct probe *p)
{
    struct sim_thread *thread[3];

    for (unsigned i = 0; i < 3; i++)
        thread[i] = probe_thread(p, nt_process_system(), "toggler", toggler);
    probe_sleep(PROBE_SECOND);
    for (unsigned i = 0; i < 3; i++)
        sim_thread_release(thread[i]);
    CHECK_RULE("LIFE-163/c", transitions(p) > 10 && overlaps == 0);
    for (size_t i = 0; i < transitions(p); i++)
        CHECK_RULE("LIFE-163/a", went(p, i, 0, i % 2 ? 0 : 2));
}

TEST(one_thread_per_component)
{
    struct probe *p = with_components(1);

    running = overlaps = 0;
    p->before[PROBE_SetPowerComponentFState] = take_time;
    start(p);
    probe_end(p, togglers_body);
}

/* ---- kinds ---- */

static void kinds_body(struct probe *p)
{
    KIRQL before;

    active(p, 0); /* of an engine */
    active(p, 1);
    active(p, 0);
    active(p, 1);
    KeRaiseIrql(DISPATCH_LEVEL, &before);
    idle(p, 1);
    CHECK_RULE("LIFE-161/a", probe_rule(p, "LIFE-161") == 0);
    idle(p, 0);
    CHECK_RULE("LIFE-161/b", probe_rule(p, "LIFE-161") == 1);
    KeLowerIrql(before);
    idle(p, 0);
    CHECK_RULE("LIFE-161/b", probe_rule(p, "LIFE-161") == 1);
    DXGK.DxgkCbSetPowerComponentLatency(DXGK.DeviceHandle, 0, 0);
    CHECK_RULE("LIFE-162/a", probe_rule(p, "LIFE-162") == 1);
    DXGK.DxgkCbSetPowerComponentResidency(DXGK.DeviceHandle, 0, 0);
    CHECK_RULE("LIFE-162/b", probe_rule(p, "LIFE-162") == 2);
    DXGK.DxgkCbSetPowerComponentLatency(DXGK.DeviceHandle, 1, 100);
    CHECK_RULE("LIFE-162/b", probe_rule(p, "LIFE-162") == 2);
}

TEST(some_callbacks_are_for_own_components)
{
    struct probe *p = with_components(2);

    p->component[0].ComponentMapping.ComponentType = DXGK_POWER_COMPONENT_ENGINE;
    start(p);
    probe_end(p, kinds_body);
}

/* ---- completion by the driver ---- */

static void late_body(struct probe *p)
{
    active(p, 0);
    idle(p, 0);
    probe_sleep(10 * MS);
    CHECK(transitions(p) == 1 && went(p, 0, 0, 2));
    DXGK.DxgkCbSetPowerComponentLatency(DXGK.DeviceHandle, 0, 500);
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-164/a", transitions(p) == 1);
    DXGK.DxgkCbCompleteFStateTransition(DXGK.DeviceHandle, 0);
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-164/a",
               transitions(p) == 2 && went(p, 1, 0, 0) && probe_rule(p, "LIFE-164") == 0);
    DXGK.DxgkCbCompleteFStateTransition(DXGK.DeviceHandle, 0);
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-164/a", transitions(p) == 3 && went(p, 2, 0, 1));
    DXGK.DxgkCbCompleteFStateTransition(DXGK.DeviceHandle, 0);
    CHECK_RULE("LIFE-164/a", probe_rule(p, "LIFE-164") == 0);
    DXGK.DxgkCbCompleteFStateTransition(DXGK.DeviceHandle, 0);
    CHECK_RULE("LIFE-164/c", probe_rule(p, "LIFE-164") == 1);
}

static void complete_inside(struct probe *p, struct probe_call *call)
{
    DXGK.DxgkCbCompleteFStateTransition(DXGK.DeviceHandle, (UINT)call->arg[1]);
}

static void inside_body(struct probe *p)
{
    active(p, 0);
    idle(p, 0);
    probe_sleep(10 * MS);
    active(p, 0);
    CHECK_RULE("LIFE-164/b", transitions(p) == 2 && probe_rule(p, "LIFE-164") == 0);
}

static void unasked_body(struct probe *p)
{
    active(p, 0);
    idle(p, 0);
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-164/d", transitions(p) == 1 && probe_rule(p, "LIFE-164") == 1 &&
                                 probe_said(p, "LIFE-164", "does not complete"));
    p->before[PROBE_SetPowerComponentFState] = NULL;
}

TEST(the_driver_completes)
{
    struct probe *p = with_components(1);

    p->component[0].Flags.DriverCompletesFStateTransition = 1;
    start(p);
    CHECK(probe_run(p, late_body) == SIM_DONE);
    p->before[PROBE_SetPowerComponentFState] = complete_inside; /* for the stop */
    probe_destroy(p);

    p = with_components(1);
    p->component[0].Flags.DriverCompletesFStateTransition = 1;
    p->before[PROBE_SetPowerComponentFState] = complete_inside;
    start(p);
    probe_end(p, inside_body);

    p = with_components(1); /* without the flag */
    p->before[PROBE_SetPowerComponentFState] = complete_inside;
    start(p);
    probe_end(p, unasked_body);
}

static bool at_f0;

static void wait_for_f0(struct probe *p)
{
    active(p, 0);
    at_f0 = true;
}

/* Who waits for F0 waits for the driver's word. */
static void waiting_body(struct probe *p)
{
    struct sim_thread *thread;

    active(p, 0);
    idle(p, 0);
    probe_sleep(10 * MS);
    DXGK.DxgkCbCompleteFStateTransition(DXGK.DeviceHandle, 0);
    CHECK(transitions(p) == 1 && went(p, 0, 0, 2));
    at_f0 = false;
    thread = probe_thread(p, nt_process_system(), "waiting", wait_for_f0);
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-164/a", transitions(p) == 2 && went(p, 1, 0, 0) && !at_f0);
    DXGK.DxgkCbCompleteFStateTransition(DXGK.DeviceHandle, 0);
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-164/a", at_f0 && transitions(p) == 2 && probe_rule(p, "LIFE-164") == 0);
    sim_thread_release(thread);
}

TEST(f0_comes_with_the_drivers_word)
{
    struct probe *p = with_components(1);

    p->component[0].Flags.DriverCompletesFStateTransition = 1;
    start(p);
    CHECK(probe_run(p, waiting_body) == SIM_DONE);
    p->before[PROBE_SetPowerComponentFState] = complete_inside; /* for the stop */
    probe_destroy(p);
}

/* A call that has failed is over, also if the driver would have completed it. */
static void failed_body(struct probe *p)
{
    active(p, 0);
    idle(p, 0);
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-163/b", transitions(p) == 1 && went(p, 0, 0, 2) &&
                                 probe_rule(p, "LIFE-163") == 1 &&
                                 probe_said(p, "LIFE-163", "of component 0 to F2 returned"));
    DXGK.DxgkCbCompleteFStateTransition(DXGK.DeviceHandle, 0);
    CHECK_RULE("LIFE-164/c", probe_rule(p, "LIFE-164") == 1); /* nothing is to be completed */
    active(p, 0);
    CHECK(transitions(p) == 2 && went(p, 1, 0, 0) && probe_rule(p, "LIFE-163") == 2);
    p->before[PROBE_SetPowerComponentFState] = NULL;
}

TEST(what_failed_is_not_completed)
{
    struct probe *p = with_components(1);

    p->component[0].Flags.DriverCompletesFStateTransition = 1;
    start(p);
    p->before[PROBE_SetPowerComponentFState] = refuse_call;
    probe_end(p, failed_body);
}

/* ---- waiting for oneself ---- */

static void activate_inside(struct probe *p, struct probe_call *call)
{
    if (call->irql != PASSIVE_LEVEL || (UINT)call->arg[2] == 0)
        return;
    active(p, 0);
    p->before[PROBE_SetPowerComponentFState] = NULL;
}

static void deadlock_body(struct probe *p)
{
    for (unsigned i = 0; i < 4 && p->before[PROBE_SetPowerComponentFState]; i++) {
        active(p, 0);
        idle(p, 0);
        probe_sleep(10 * MS);
    }
    CHECK_RULE("LIFE-165", probe_rule(p, "LIFE-165") == 1);
    CHECK_RULE("LIFE-165", went(p, transitions(p) - 1, 0, 0)); /* it counts all the same */
}

TEST(no_deadlock)
{
    struct probe *p = with_components(1);

    p->before[PROBE_SetPowerComponentFState] = activate_inside;
    start(p);
    probe_end(p, deadlock_body);
}

/* ---- with device power ---- */

static void dx_body(struct probe *p)
{
    size_t left;

    for (UINT i = 0; i < 2; i++) {
        active(p, i);
        idle(p, i);
    }
    probe_sleep(10 * MS);
    CHECK(transitions(p) == 2);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK_RULE("LIFE-166/a", transitions(p) == 3 && went(p, 2, 0, 0) &&
                                 probe_nth(p, PROBE_SetPowerComponentFState, 2)->left <=
                                     probe_nth(p, PROBE_SetPowerState, 0)->order);
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-166/b", transitions(p) == 3);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    left = probe_nth(p, PROBE_SetPowerState, 1)->left;
    probe_sleep(10 * MS);
    CHECK_RULE("LIFE-166/b", transitions(p) == 4 && went(p, 3, 0, 2) &&
                                 probe_nth(p, PROBE_SetPowerComponentFState, 3)->order >= left);
}

TEST(f0_before_dx)
{
    struct probe *p = with_components(2);

    p->component[0].Flags.TransitionTo_F0_OnDx = 1; /* the second one may sleep on */
    start(p);
    probe_end(p, dx_body);
}
