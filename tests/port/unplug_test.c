/* SPDX-License-Identifier: MIT */
/* The device is pulled out while the machine runs, or while it sleeps. */
#include "port/support/held_client.h"
#include "port/support/paged.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define MS                 1000000ull

enum support { NONE, HIBERNATION, ALWAYS };

static struct probe *start(enum support support)
{
    struct probe *p = probe_create(NULL);

    if (support != NONE)
        probe_set_entry(p, PROBE_NotifySurpriseRemoval, true);
    p->caps.SupportSurpriseRemovalInHibernation = support == HIBERNATION;
    p->caps.SupportSurpriseRemoval = support == ALWAYS;
    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

static NTSTATUS unplug_status;
static DXGK_SURPRISE_REMOVAL_TYPE unplug_type;
static bool unplug_force;

static void unplug_body(struct probe *p)
{
    unplug_status = port_adapter_unplug(p->adapter[0], unplug_type, unplug_force);
}

static enum sim_outcome unplug(struct probe *p, DXGK_SURPRISE_REMOVAL_TYPE type, bool force)
{
    unplug_type = type;
    unplug_force = force;
    return probe_run(p, unplug_body);
}

/* A stop that leaves the device alone. */
static void stop_without_device(struct probe *p, struct probe_call *call)
{
    (void)A->dxgk.DxgkCbUnmapMemory(A->dxgk.DeviceHandle, A->registers);
    A->registers = NULL;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

/* ---- without support ---- */

TEST(refused_without_support)
{
    struct probe *p = start(NONE);
    size_t calls = p->calls;

    CHECK_RULE("LIFE-151/a", unplug(p, DxgkRemovalPnPNotify, false) == SIM_DONE &&
                                 IS(unplug_status, STATUS_NOT_SUPPORTED) &&
                                 !port_adapter_lost(p->adapter[0]));
    CHECK_RULE("LIFE-147/a", probe_count(p, PROBE_NotifySurpriseRemoval) == 0);
    CHECK_RULE("LIFE-151/b", unplug(p, DxgkRemovalPnPNotify, true) == SIM_DONE &&
                                 NT_SUCCESS(unplug_status) && port_adapter_lost(p->adapter[0]));
    (void)probe_stop(p);
    for (size_t i = calls; i < p->calls; i++)
        CHECK_RULE("LIFE-151/b", p->call[i]->ddi == PROBE_Unload); /* which belongs to no adapter */
    CHECK_RULE("LIFE-147/a", probe_count(p, PROBE_NotifySurpriseRemoval) == 0);
    probe_destroy(p);

    p = start(HIBERNATION); /* which is not at any time */
    CHECK_RULE("LIFE-151/a", unplug(p, DxgkRemovalPnPNotify, false) == SIM_DONE &&
                                 IS(unplug_status, STATUS_NOT_SUPPORTED));
    CHECK_RULE("LIFE-147/a", probe_count(p, PROBE_NotifySurpriseRemoval) == 0);
    probe_destroy(p);
}

/* ---- while the machine runs ---- */

static void beside_body(struct probe *p)
{
    struct sim_thread *thread = held_client_start(p);

    CHECK(NT_SUCCESS(port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, false)));
    CHECK_RULE("LIFE-147/c", held_client_inside()); /* it has come and gone meanwhile */
    probe_sleep(20 * MS);
    sim_thread_release(thread);
}

TEST(the_driver_is_told)
{
    struct probe *p = start(ALWAYS);
    const struct probe_call *call;

    CHECK(probe_run(p, beside_body) == SIM_DONE);
    call = probe_nth(p, PROBE_NotifySurpriseRemoval, 0);
    CHECK_RULE("LIFE-147/b", probe_count(p, PROBE_NotifySurpriseRemoval) == 1 &&
                                 call->irql == PASSIVE_LEVEL &&
                                 call->arg[0] == (uint64_t)(uintptr_t)A->context);
    CHECK_RULE("LIFE-149/a", (DXGK_SURPRISE_REMOVAL_TYPE)call->arg[1] == DxgkRemovalPnPNotify);
    p->before[PROBE_StopDevice] = stop_without_device;
    (void)probe_stop(p);
    CHECK_RULE("LIFE-149/a",
               probe_count(p, PROBE_StopDevice) == 1 && probe_count(p, PROBE_RemoveDevice) == 1);
    probe_destroy(p);
}

static void registers_body(struct probe *p)
{
    size_t interrupts = probe_count(p, PROBE_InterruptRoutine);

    WRITE_REGISTER_ULONG(A->registers + PROBE_REG_SCRATCH / 4, 42);
    CHECK(READ_REGISTER_ULONG(A->registers + PROBE_REG_SCRATCH / 4) == 42);
    CHECK(NT_SUCCESS(port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, false)));
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    probe_sleep(MS);
    CHECK_RULE("LIFE-150/c", probe_count(p, PROBE_InterruptRoutine) == interrupts);
}

static void touch_registers(struct probe *p, struct probe_call *call)
{
    (void)call;
    CHECK_RULE("LIFE-150/a", READ_REGISTER_ULONG(A->registers + PROBE_REG_SCRATCH / 4) == ~0u);
    CHECK_RULE("LIFE-150/b", probe_rule(p, "LIFE-150") == 1 &&
                                 probe_said(p, "LIFE-150", "of BAR 0 was read") &&
                                 probe_record(p, "LIFE-150")->severity == VERIFY_WARNING);
    WRITE_REGISTER_ULONG(A->registers + PROBE_REG_RESET / 4, 1);
    CHECK_RULE("LIFE-150/b", probe_rule(p, "LIFE-150") == 2);
}

TEST(a_removed_device_is_silent)
{
    struct probe *p = start(ALWAYS);

    CHECK(probe_run(p, registers_body) == SIM_DONE);
    p->before[PROBE_StopDevice] = touch_registers;
    (void)probe_stop(p);
    CHECK(probe_count(p, PROBE_StopDevice) == 1);
    probe_destroy(p);
}

/* ---- with work on it ---- */

static void work_body(struct probe *p)
{
    struct probe_gpu gpu;
    D3DKMT_HANDLE allocation;
    uint64_t fence;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(paged_create(&gpu, PAGED_MIB, &allocation)));
    probe_device_packet_ns = 3600 * PROBE_SECOND;
    CHECK(IS(paged_make_resident(&gpu, allocation, &fence), STATUS_PENDING));
    probe_sleep(MS);
}

static void wait_body(struct probe *p)
{
    (void)p;
    probe_sleep(10 * PROBE_SECOND);
}

static void forget_registers(struct probe *p, struct probe_call *call)
{
    (void)call;
    A->registers = NULL;
}

static void submit_nowhere(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

/* Paging that never ends leads to a reset, after which there are no page tables to write: the machine goes on. */
TEST(work_that_was_on_it_stops_nothing)
{
    struct probe *p = start(ALWAYS);
    struct probe_client *client;

    probe_clients_begin(p);
    client = probe_client_run(p, work_body);
    p->before[PROBE_NotifySurpriseRemoval] = forget_registers;
    CHECK(unplug(p, DxgkRemovalPnPNotify, false) == SIM_DONE && NT_SUCCESS(unplug_status));
    p->before[PROBE_SubmitCommandVirtual] = submit_nowhere;
    CHECK_RULE("LIFE-149/a", probe_run(p, wait_body) == SIM_DONE);
    (void)probe_stop(p);
    CHECK_RULE("LIFE-149/a", !p->sim->stopped && !verify_bugcheck_state(p->log)->happened &&
                                 probe_count(p, PROBE_RemoveDevice) == 1);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

TEST(an_error_stops_the_machine)
{
    struct probe *p = start(ALWAYS);

    p->before[PROBE_NotifySurpriseRemoval] = probe_fail_call;
    CHECK_RULE("LIFE-149/b", unplug(p, DxgkRemovalPnPNotify, false) == SIM_STOPPED &&
                                 verify_bugcheck_state(p->log)->happened);
    probe_destroy(p);
}

/* ---- found missing on waking up ---- */

TEST(missing_after_hibernation)
{
    struct probe *p = start(HIBERNATION);
    size_t calls;

    CHECK_RULE("LIFE-148/a",
               unplug(p, DxgkRemovalHibernation, false) == SIM_DONE && NT_SUCCESS(unplug_status) &&
                   (DXGK_SURPRISE_REMOVAL_TYPE)probe_nth(p, PROBE_NotifySurpriseRemoval, 0)->arg[1] ==
                       DxgkRemovalHibernation);
    p->before[PROBE_StopDevice] = stop_without_device;
    (void)probe_stop(p);
    CHECK_RULE("LIFE-148/a",
               probe_count(p, PROBE_StopDevice) == 1 && probe_count(p, PROBE_RemoveDevice) == 1);
    probe_destroy(p);

    p = start(HIBERNATION);
    p->before[PROBE_NotifySurpriseRemoval] = probe_fail_call;
    CHECK_RULE("LIFE-148/b",
               unplug(p, DxgkRemovalHibernation, false) == SIM_DONE && !NT_SUCCESS(unplug_status));
    calls = p->calls;
    (void)probe_stop(p);
    for (size_t i = calls; i < p->calls; i++)
        CHECK_RULE("LIFE-148/b", p->call[i]->ddi == PROBE_Unload);
    probe_destroy(p);

    p = start(ALWAYS); /* the error is ignored */
    p->before[PROBE_NotifySurpriseRemoval] = probe_fail_call;
    p->before[PROBE_StopDevice] = stop_without_device;
    CHECK(unplug(p, DxgkRemovalHibernation, false) == SIM_DONE);
    (void)probe_stop(p);
    CHECK_RULE("LIFE-148/c",
               probe_count(p, PROBE_StopDevice) == 1 && probe_count(p, PROBE_RemoveDevice) == 1);
    probe_destroy(p);
}
