/* SPDX-License-Identifier: MIT */
/* What a driver owes after it has notified: until when it is remembered, of which adapter, and what a new start forgets. */
#include "port/support/probe.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define MS                 1000000ull

static void notify(struct probe_adapter *adapter)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED;
    data.MonitoredFenceSignaled.NodeOrdinal = 1;
    adapter->dxgk.DxgkCbNotifyInterrupt(adapter->dxgk.DeviceHandle, &data);
}

static void notify_and_queue(struct probe *p, struct probe_call *call)
{
    notify(A);
    (void)A->dxgk.DxgkCbQueueDpc(A->dxgk.DeviceHandle);
    call->answered = true;
    call->result = TRUE;
}

static void skip_call(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
}

/* The device raises, or the driver asks for the deferred call by itself. */
static void raise_message(struct probe *p)
{
    (void)p;
    probe_device_raise(0, 0);
    probe_sleep(MS);
}

static void queue(struct probe *p)
{
    size_t before = probe_count(p, PROBE_DpcRoutine);

    (void)A->dxgk.DxgkCbQueueDpc(A->dxgk.DeviceHandle);
    probe_sleep(MS);
    CHECK(probe_count(p, PROBE_DpcRoutine) == before + 1);
}

/* ---- deferred calls ---- */

static void paid_body(struct probe *p)
{
    p->before[PROBE_InterruptRoutine] = notify_and_queue;
    raise_message(p); /* its deferred call notifies */
    p->before[PROBE_DpcRoutine] = skip_call;
    queue(p);
    CHECK_RULE("THREAD-063", probe_rule(p, "THREAD-063") == 0); /* nothing was left to process */
    raise_message(p);
    CHECK_RULE("THREAD-063", probe_rule(p, "THREAD-063") == 1 &&
                                 probe_said(p, "THREAD-063", "1 notification(s) wait"));
    queue(p);
    CHECK_RULE("THREAD-063", probe_rule(p, "THREAD-063") == 2); /* it still waits */
    p->before[PROBE_DpcRoutine] = NULL;
    queue(p);
    CHECK_RULE("THREAD-063", probe_rule(p, "THREAD-063") == 2);
    p->before[PROBE_DpcRoutine] = skip_call;
    queue(p);
    CHECK_RULE("THREAD-063", probe_rule(p, "THREAD-063") == 2);
}

TEST(what_was_processed_is_owed_no_more)
{
    probe_end(probe_started(NULL), paid_body);
}

static void restarted_body(struct probe *p)
{
    p->before[PROBE_InterruptRoutine] = notify_and_queue;
    p->before[PROBE_DpcRoutine] = skip_call;
    raise_message(p);
    CHECK(probe_rule(p, "THREAD-063") == 1);
    p->before[PROBE_InterruptRoutine] = NULL;
    probe_restart(p);
    queue(p);
    CHECK_RULE("THREAD-063", probe_rule(p, "THREAD-063") == 1);
}

TEST(a_new_start_owes_nothing)
{
    probe_end(probe_started(NULL), restarted_body);
}

/* ---- synchronized routines ---- */

static BOOLEAN NTAPI notify_for(PVOID context)
{
    notify(context);
    return TRUE;
}

/* Without a deferred call. */
static void synchronize(struct probe_adapter *adapter)
{
    BOOLEAN result;

    CHECK(IS(adapter->dxgk.DxgkCbSynchronizeExecution(adapter->dxgk.DeviceHandle, notify_for,
                                                      adapter, 0, &result),
             STATUS_SUCCESS));
}

static struct probe_adapter *inside;

static void synchronize_inside(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    synchronize(inside);
}

static void of_others_body(struct probe *p)
{
    DXGKARG_CREATEDEVICE args = {.hDevice = (HANDLE)(uintptr_t)1};

    synchronize(&p->state[1]); /* on a thread: nobody returns */
    CHECK(probe_rule(p, "THREAD-062") == 0);
    p->before[PROBE_CreateDevice] = synchronize_inside;
    inside = &p->state[0]; /* inside a DDI of the second adapter */
    CHECK(NT_SUCCESS(ddi_create_device(port_adapter_ddi(p->adapter[1]), &args)));
    CHECK_RULE("THREAD-062", probe_rule(p, "THREAD-062") == 0);
    CHECK(NT_SUCCESS(ddi_create_device(port_adapter_ddi(p->adapter[0]), &args)));
    CHECK_RULE("THREAD-062", probe_rule(p, "THREAD-062") == 1 &&
                                 probe_said(p, "THREAD-062", "DxgkDdiCreateDevice notified"));
    for (unsigned i = 0; i < 2; i++)
        (void)p->state[i].dxgk.DxgkCbQueueDpc(p->state[i].dxgk.DeviceHandle);
    probe_sleep(MS);
}

TEST(a_ddi_owes_for_its_own_adapter)
{
    const struct probe_options two = {.adapters = 2};

    probe_end(probe_started(&two), of_others_body);
}
