/* SPDX-License-Identifier: MIT */
/* Device power, profiling clocks, mains. */
#include "port/running/acpi.h"
#include "port/support/probe.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 1000000ull

static struct probe *start_with(void (*prepare)(struct probe *p))
{
    struct probe *p = probe_create(NULL);

    if (prepare)
        prepare(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

static NTSTATUS suspend(struct probe *p)
{
    return port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep);
}

static NTSTATUS resume(struct probe *p)
{
    return port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone);
}

static bool is_transition(const struct probe *p, size_t n, ULONG uid, DEVICE_POWER_STATE state)
{
    const struct probe_call *call = probe_nth(p, PROBE_SetPowerState, n);

    return (ULONG)call->arg[1] == uid && (DEVICE_POWER_STATE)call->arg[2] == state;
}

/* ---- device power ---- */

TEST_WITH(probe, suspend_and_resume)
{
    CHECK_RULE("LIFE-155/a", probe_count(p, PROBE_SetPowerState) == 0 &&
                                 port_adapter_power(p->adapter[0]) == PowerDeviceD0);
    CHECK_RULE("LIFE-152/a", IS(suspend(p), STATUS_SUCCESS) &&
                                 is_transition(p, 0, DISPLAY_ADAPTER_HW_ID, PowerDeviceD3));
    CHECK_RULE("LIFE-152/a",
               probe_nth(p, PROBE_SetPowerState, 0)->irql == PASSIVE_LEVEL &&
                   (POWER_ACTION)probe_nth(p, PROBE_SetPowerState, 0)->arg[3] == PowerActionSleep);
    CHECK_RULE("LIFE-155/b",
               IS(suspend(p), STATUS_SUCCESS) && probe_count(p, PROBE_SetPowerState) == 1);
    CHECK_RULE("LIFE-152/b", IS(resume(p), STATUS_SUCCESS) &&
                                 is_transition(p, 1, DISPLAY_ADAPTER_HW_ID, PowerDeviceD0));
    CHECK_RULE("LIFE-155/b",
               IS(resume(p), STATUS_SUCCESS) && probe_count(p, PROBE_SetPowerState) == 2);
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceUnspecified, PowerActionNone),
             STATUS_INVALID_PARAMETER));
}

static void one_child(struct probe *p)
{
    p->children = 1;
    p->child[0].ChildDeviceType = TypeOther;
    p->child[0].ChildUid = 7;
    probe_set_entry(p, PROBE_QueryChildRelations, true);
    probe_set_entry(p, PROBE_QueryChildStatus, true);
    probe_set_entry(p, PROBE_QueryDeviceDescriptor, true);
}

static void child_body(struct probe *p)
{
    CHECK(IS(suspend(p), STATUS_SUCCESS) && IS(resume(p), STATUS_SUCCESS) &&
          probe_count(p, PROBE_SetPowerState) == 4);
    CHECK_RULE("LIFE-155/c", is_transition(p, 0, 7, PowerDeviceD3) &&
                                 is_transition(p, 1, DISPLAY_ADAPTER_HW_ID, PowerDeviceD3));
    CHECK_RULE("LIFE-155/d", is_transition(p, 2, DISPLAY_ADAPTER_HW_ID, PowerDeviceD0) &&
                                 is_transition(p, 3, 7, PowerDeviceD0));
}

TEST(children_go_first_and_come_last)
{
    probe_end(start_with(one_child), child_body);
}

TEST_WITH(probe, a_driver_must_not_fail)
{
    p->before[PROBE_SetPowerState] = probe_fail_call;
    CHECK_RULE("LIFE-153", IS(suspend(p), STATUS_SUCCESS) && probe_rule(p, "LIFE-153") == 1 &&
                               port_adapter_power(p->adapter[0]) == PowerDeviceD3);
    CHECK_RULE("LIFE-153", IS(resume(p), STATUS_SUCCESS) && probe_rule(p, "LIFE-153") == 2 &&
                               port_adapter_power(p->adapter[0]) == PowerDeviceD0);
}

static void fail_children(struct probe *p, struct probe_call *call)
{
    if ((ULONG)call->arg[1] != DISPLAY_ADAPTER_HW_ID)
        probe_fail_call(p, call);
}

static void failing_child_body(struct probe *p)
{
    p->before[PROBE_SetPowerState] = fail_children;
    CHECK_RULE("LIFE-153", IS(suspend(p), STATUS_SUCCESS) && probe_rule(p, "LIFE-153") == 1 &&
                               probe_said(p, "LIFE-153", "SetPowerState of child 0x7 returned "));
    CHECK_RULE("LIFE-153", IS(resume(p), STATUS_SUCCESS) && probe_rule(p, "LIFE-153") == 2);
    p->before[PROBE_SetPowerState] = NULL;
}

TEST(nor_for_a_child)
{
    probe_end(start_with(one_child), failing_child_body);
}

/* From one sleeping state to another the driver is told, and nothing else happens. */
TEST_WITH(probe, states_without_power)
{
    struct port_adapter *adapter = p->adapter[0];

    CHECK(IS(port_adapter_set_power(adapter, PowerDeviceD3 + 1, PowerActionNone),
             STATUS_INVALID_PARAMETER) &&
          probe_count(p, PROBE_SetPowerState) == 0);
    CHECK(IS(port_adapter_set_power(adapter, PowerDeviceD1, PowerActionSleep), STATUS_SUCCESS) &&
          is_transition(p, 0, DISPLAY_ADAPTER_HW_ID, PowerDeviceD1));
    CHECK(IS(port_adapter_set_power(adapter, PowerDeviceD2, PowerActionHibernate), STATUS_SUCCESS) &&
          is_transition(p, 1, DISPLAY_ADAPTER_HW_ID, PowerDeviceD2) &&
          (POWER_ACTION)probe_nth(p, PROBE_SetPowerState, 1)->arg[3] == PowerActionHibernate &&
          port_adapter_power(adapter) == PowerDeviceD2);
    CHECK(IS(port_adapter_restart(adapter), STATUS_INVALID_DEVICE_STATE) &&
          probe_count(p, PROBE_StopDevice) == 0);
    CHECK(IS(resume(p), STATUS_SUCCESS) && probe_count(p, PROBE_SetPowerState) == 3 &&
          (POWER_ACTION)probe_nth(p, PROBE_SetPowerState, 2)->arg[3] == PowerActionNone);
    CHECK(IS(port_adapter_restart(adapter), STATUS_SUCCESS));
}

static void suspend_body(struct probe *p)
{
    CHECK(IS(suspend(p), STATUS_SUCCESS));
}

/* Asleep, it is woken for the stop. */
TEST(the_stop_wakes_up)
{
    struct probe *p = probe_started(NULL);

    CHECK(probe_run(p, suspend_body) == SIM_DONE);
    (void)probe_stop(p);
    CHECK(probe_count(p, PROBE_SetPowerState) == 2 &&
          is_transition(p, 1, DISPLAY_ADAPTER_HW_ID, PowerDeviceD0) &&
          probe_nth(p, PROBE_SetPowerState, 1)->order < probe_nth(p, PROBE_StopDevice, 0)->order);
    probe_destroy(p);
}

/* ---- asleep ---- */

static bool works_the_device(const struct probe_call *call)
{
    return call->ddi != PROBE_QueryAdapterInfo && call->ddi != PROBE_SetPowerState;
}

static NTSTATUS query(struct probe *p)
{
    DXGKARG_QUERYADAPTERINFO args;
    DXGK_DRIVERCAPS caps;

    memset(&args, 0, sizeof(args));
    args.Type = DXGKQAITYPE_DRIVERCAPS;
    args.pOutputData = &caps;
    args.OutputDataSize = sizeof(caps);
    return ddi_query_adapter_info(port_adapter_ddi(p->adapter[0]), &args);
}

TEST_WITH(probe, asleep_only_queries_come)
{
    size_t from;

    CHECK(IS(suspend(p), STATUS_SUCCESS));
    from = p->calls;
    CHECK_RULE("LIFE-156/a",
               NT_SUCCESS(query(p)) && port_adapter_power(p->adapter[0]) == PowerDeviceD3);
    probe_sleep(PROBE_SECOND);
    for (size_t i = from; i < p->calls; i++)
        CHECK_RULE("LIFE-156/c", !works_the_device(p->call[i]));
    from = p->calls;
    CHECK(IS(resume(p), STATUS_SUCCESS));
    CHECK_RULE("LIFE-156/c", p->call[from]->ddi == PROBE_SetPowerState &&
                                 probe_count(p, PROBE_SetPowerState) == 2);
}

static bool in_transition;

static void hold(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    in_transition = true;
    probe_sleep(10 * MS);
    in_transition = false;
}

static void query_during_transition(struct probe *p)
{
    while (!in_transition)
        probe_sleep(MS / 10);
    CHECK_RULE("LIFE-156/b", NT_SUCCESS(query(p)) && in_transition);
    CHECK_RULE(
        "THREAD-032",
        probe_nth(p, PROBE_QueryAdapterInfo, probe_count(p, PROBE_QueryAdapterInfo) - 1)->order <
            probe_nth(p, PROBE_SetPowerState, 0)->left);
    p->user = p;
}

TEST_WITH(probe, queries_come_during_the_transition)
{
    struct sim_thread *thread = probe_thread(p, probe_process(p, "client"), "query",
                                             query_during_transition);

    p->user = NULL;
    p->before[PROBE_SetPowerState] = hold;
    CHECK(IS(suspend(p), STATUS_SUCCESS) && p->user);
    p->before[PROBE_SetPowerState] = NULL;
    CHECK(IS(resume(p), STATUS_SUCCESS));
    sim_thread_release(thread);
}

/* Whoever wants the device wakes it. */
TEST_WITH(probe, a_call_that_works_the_device_wakes_it)
{
    DXGKARG_CREATEDEVICE args = {.hDevice = (HANDLE)(uintptr_t)1};

    CHECK(IS(suspend(p), STATUS_SUCCESS));
    CHECK(NT_SUCCESS(ddi_create_device(port_adapter_ddi(p->adapter[0]), &args)));
    CHECK_RULE("LIFE-156/c",
               probe_count(p, PROBE_SetPowerState) == 2 &&
                   is_transition(p, 1, DISPLAY_ADAPTER_HW_ID, PowerDeviceD0) &&
                   port_adapter_power(p->adapter[0]) == PowerDeviceD0 &&
                   probe_nth(p, PROBE_CreateDevice, probe_count(p, PROBE_CreateDevice) - 1)->order >
                       probe_nth(p, PROBE_SetPowerState, 1)->order);
}

/* ---- profiling ---- */

static void with_stable_power(struct probe *p)
{
    probe_set_entry(p, PROBE_SetStablePowerState, true);
}

static void profile_body(struct probe *p)
{
    CHECK_RULE("LIFE-146/a", probe_count(p, PROBE_SetStablePowerState) == 0);
    CHECK(IS(port_adapter_set_stable_power(p->adapter[0], true), STATUS_SUCCESS));
    CHECK(IS(port_adapter_set_stable_power(p->adapter[0], true), STATUS_SUCCESS));
    CHECK_RULE("LIFE-146/b", probe_count(p, PROBE_SetStablePowerState) == 1);
    CHECK(IS(port_adapter_set_stable_power(p->adapter[0], false), STATUS_SUCCESS));
    CHECK(IS(port_adapter_set_stable_power(p->adapter[0], false), STATUS_SUCCESS));
    CHECK_RULE("LIFE-146/c", probe_count(p, PROBE_SetStablePowerState) == 2);
    CHECK(IS(port_adapter_set_stable_power(p->adapter[0], true), STATUS_SUCCESS));
}

static bool enabled[8];
static unsigned requests;

static void note_stable_power(struct probe *p, struct probe_call *call)
{
    (void)p;
    CHECK(requests < 8);
    enabled[requests++] = ((const DXGKARG_SETSTABLEPOWERSTATE *)(uintptr_t)call->arg[1])->Enabled !=
                          0;
}

TEST(constant_clocks)
{
    struct probe *p = start_with(with_stable_power);

    requests = 0;
    p->before[PROBE_SetStablePowerState] = note_stable_power;
    CHECK(probe_run(p, profile_body) == SIM_DONE);
    (void)probe_stop(p);
    CHECK_RULE("LIFE-146/d", requests == 4 && enabled[0] && !enabled[1] && enabled[2] &&
                                 !enabled[3] &&
                                 probe_nth(p, PROBE_SetStablePowerState, 3)->order <
                                     probe_nth(p, PROBE_StopDevice, 0)->order);
    probe_destroy(p);
}

TEST_WITH(probe, entries_may_be_missing)
{
    CHECK_RULE("LIFE-024",
               IS(port_adapter_set_stable_power(p->adapter[0], true), STATUS_NOT_SUPPORTED) &&
                   probe_count(p, PROBE_SetStablePowerState) == 0);
    CHECK_RULE("LIFE-024",
               IS(port_adapter_notify_mains(p->adapter[0], true), STATUS_NOT_SUPPORTED) &&
                   probe_count(p, PROBE_NotifyAcpiEvent) == 0);
}

/* ---- mains ---- */

static void with_acpi(struct probe *p)
{
    probe_set_entry(p, PROBE_NotifyAcpiEvent, true);
}

static void fail_with_flags(struct probe *p, struct probe_call *call)
{
    *(PULONG)(uintptr_t)call->arg[4] = 0xFF;
    probe_fail_call(p, call);
}

static void mains_body(struct probe *p)
{
    const struct probe_call *call;
    size_t before;

    probe_forget(p);
    CHECK(IS(port_adapter_notify_mains(p->adapter[0], false), STATUS_SUCCESS));
    call = probe_nth(p, PROBE_NotifyAcpiEvent, 0);
    CHECK_RULE("LIFE-135/a", probe_count(p, PROBE_NotifyAcpiEvent) == 1 &&
                                 (DXGK_EVENT_TYPE)call->arg[1] == DxgkPowerStateEvent &&
                                 (ULONG)call->arg[2] == PO_CB_AC_STATUS && call->arg[3] == 0);
    CHECK_RULE("LIFE-134/a", call->irql == PASSIVE_LEVEL);
    CHECK(IS(port_adapter_notify_mains(p->adapter[0], true), STATUS_SUCCESS));
    CHECK_RULE("LIFE-135/b", probe_nth(p, PROBE_NotifyAcpiEvent, 1)->arg[3] == 1);
    p->before[PROBE_NotifyAcpiEvent] = fail_with_flags;
    before = p->calls;
    CHECK_RULE("LIFE-134/b",
               IS(port_adapter_notify_mains(p->adapter[0], true), STATUS_UNSUCCESSFUL));
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("LIFE-134/b", p->calls == before + 1); /* no poll of children, nothing else */
}

TEST(mains_and_battery)
{
    struct probe *p = start_with(with_acpi);

    CHECK_RULE("LIFE-135/c", probe_count(p, PROBE_NotifyAcpiEvent) == 0);
    probe_end(p, mains_body);
}
