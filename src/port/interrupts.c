/* SPDX-License-Identifier: MIT */
/*
 * The adapter's interrupts and its deferred call: connect, service, notify, and what must follow what (THREAD-044 to
 * THREAD-070).
 *
 *   service routine, or a routine run by SynchronizeExecution:  NotifyInterrupt*  QueueDpc     -> owed until queued
 *   deferred call:                                              NotifyDpc                      -> owed until called
 */
#include "port/port_private.h"

#include "sim/dpc.h"
#include "sim/fault.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"

#define DIRQL       SIM_IRQL_DEVICE
#define STORM       1000u  /* THREAD-057 */
#define LONG_ISR_NS 25000u /* THREAD-067 */
#define LONG_DPC_NS 100000u

/* ---- service routine ---- */

static void measure(const struct port_adapter *adapter, const char *routine, uint64_t start,
                    uint64_t limit)
{
    uint64_t took = sim_now() - start;

    if (adapter->port->config.measure_interrupts && took > limit)
        WARNING("THREAD-067", "%s took %llu us; it should stay below %llu", routine,
                (unsigned long long)(took / 1000), (unsigned long long)(limit / 1000));
}

static void count_unclaimed(struct port_interrupt *interrupt, bool claimed, uint32_t message)
{
    interrupt->unclaimed = claimed ? 0 : interrupt->unclaimed + 1;
    if (interrupt->unclaimed < STORM)
        return;
    VIOLATION("THREAD-057",
              "interrupt storm: %u calls in a row for message %u returned FALSE; it is masked now",
              STORM, message);
    interrupt->masked = true;
}

static bool service(void *context, uint32_t message)
{
    struct port_interrupt *interrupt = context;
    struct port_adapter *adapter = interrupt->adapter;
    uint64_t start = sim_now();
    bool claimed;

    if (interrupt->masked)
        return false;
    if (adapter->hold) {
        interrupt->held = true;
        return true;
    }
    interrupt->notified = interrupt->queued = false;
    claimed = ddi_interrupt_routine(&adapter->ddi, message) != FALSE;
    if (interrupt->notified && !interrupt->queued)
        VIOLATION("THREAD-061",
                  "the service routine called DxgkCbNotifyInterrupt but queued no DPC");
    measure(adapter, "DxgkDdiInterruptRoutine", start, LONG_ISR_NS);
    count_unclaimed(interrupt, claimed, message);
    return claimed;
}

/* ---- deferred call ---- */

static void run_dpc(struct sim_dpc *dpc)
{
    struct port_adapter *adapter = CONTAINER(dpc, struct port_adapter, dpc);
    uint64_t start;

    /* THREAD-065: not reentered; a run asked for meanwhile waits for the current one. */
    if (adapter->dpc_running) {
        adapter->dpc_again = true;
        return;
    }
    if (adapter->hold) {
        adapter->dpc_held = true;
        return;
    }
    adapter->dpc_running = true;
    do {
        adapter->dpc_again = false;
        adapter->dpc_notified = false;
        start = sim_now();
        ddi_dpc_routine(&adapter->ddi);
        measure(adapter, "DxgkDdiDpcRoutine", start, LONG_DPC_NS);
        if (!adapter->dpc_notified && adapter->unnotified)
            VIOLATION("THREAD-063",
                      "the DPC returned without DxgkCbNotifyDpc, %u notification(s) wait",
                      adapter->unnotified);
    } while (adapter->dpc_again);
    adapter->dpc_running = false;
}

void port_interrupts_connect(struct port_adapter *adapter)
{
    uint32_t messages = bus_device_description(adapter->device)->messages;

    adapter->dpc.routine = run_dpc;
    adapter->unnotified = 0;
    adapter->owes_dpc = false;
    for (uint32_t i = 0; i < messages && i < PORT_MAX_MESSAGES; i++) {
        struct port_interrupt *interrupt = &adapter->interrupt[i];

        *interrupt = (struct port_interrupt){.adapter = adapter,
                                             .line = bus_device_interrupt(adapter->device, i)};
        sim_interrupt_connect(interrupt->line, service, interrupt, i, DIRQL);
    }
}

void port_interrupts_disconnect(struct port_adapter *adapter)
{
    for (uint32_t i = 0; i < PORT_MAX_MESSAGES; i++) {
        if (adapter->interrupt[i].line)
            sim_interrupt_disconnect(adapter->interrupt[i].line);
        adapter->interrupt[i].line = NULL;
    }
    sim_dpc_flush(); /* LIFE-171 */
}

void port_interrupts_hold(struct port_adapter *adapter, bool hold)
{
    adapter->hold = hold;
    if (hold)
        return;
    for (uint32_t i = 0; i < PORT_MAX_MESSAGES; i++) {
        struct port_interrupt *interrupt = &adapter->interrupt[i];

        if (interrupt->held && interrupt->line)
            sim_interrupt_raise(interrupt->line);
        interrupt->held = false;
    }
    if (adapter->dpc_held)
        sim_dpc_queue(&adapter->dpc);
    adapter->dpc_held = false;
}

/* ---- callbacks ---- */

/* The interrupt whose lock the current processor holds. */
static struct port_interrupt *current_interrupt(struct port_adapter *adapter)
{
    for (uint32_t i = 0; i < PORT_MAX_MESSAGES; i++) {
        struct port_interrupt *interrupt = &adapter->interrupt[i];

        if (interrupt->line && interrupt->line->lock_owner == sim_current->processor + 1)
            return interrupt;
    }
    return NULL;
}

BOOLEAN NTAPI port_cb_queue_dpc(HANDLE DeviceHandle)
{
    struct callback cb;
    struct port_interrupt *interrupt;
    BOOLEAN queued;

    if (!NT_SUCCESS(callback_begin(&cb, DeviceHandle, "DxgkCbQueueDpc", CALLER, SIM_IRQL_HIGH,
                                   "THREAD-053", CALLBACK_ANY_IRQL | CALLBACK_IN_ISR)))
        return FALSE;
    interrupt = current_interrupt(cb.adapter);
    if (interrupt)
        interrupt->queued = true;
    cb.adapter->owes_dpc = false;
    queued = sim_dpc_queue(&cb.adapter->dpc); /* THREAD-064 */
    callback_end(&cb);
    return queued;
}

void NTAPI port_cb_notify_interrupt(IN_CONST_HANDLE hAdapter,
                                    IN_CONST_PDXGKARGCB_NOTIFY_INTERRUPT_DATA data)
{
    struct callback cb;
    struct port_interrupt *interrupt;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA copy;

    if (!NT_SUCCESS(callback_begin(&cb, hAdapter, "DxgkCbNotifyInterrupt", CALLER, SIM_IRQL_HIGH,
                                   "THREAD-051", CALLBACK_ANY_IRQL | CALLBACK_IN_ISR)))
        return;
    interrupt = current_interrupt(cb.adapter);
    if (!interrupt) {
        VIOLATION(
            "THREAD-051",
            "DxgkCbNotifyInterrupt was called at %s, outside the service routine and DxgkCbSynchronizeExecution",
            nt_irql_name(sim_irql()));
    } else if (cb.adapter->caps.InterruptMessageNumber != interrupt->line->message) {
        VIOLATION("CAPS-024",
                  "DxgkCbNotifyInterrupt was called for message %u; InterruptMessageNumber is %u",
                  interrupt->line->message, cb.adapter->caps.InterruptMessageNumber);
    } else if (!data || !sim_copy_checked(&copy, data, sizeof(copy))) {
        VIOLATION("SUBMIT-059", "DxgkCbNotifyInterrupt was given a bad pointer");
    } else {
        interrupt->notified = true;
        cb.adapter->unnotified++;
        if (cb.adapter->vidsch)
            vidsch_notify_interrupt(cb.adapter->vidsch, &copy);
    }
    callback_end(&cb);
}

void NTAPI port_cb_notify_dpc(IN_CONST_HANDLE hAdapter)
{
    struct callback cb;
    uint8_t before;

    if (!NT_SUCCESS(callback_begin(&cb, hAdapter, "DxgkCbNotifyDpc", CALLER, SIM_IRQL_DISPATCH,
                                   "THREAD-051", 0)))
        return;
    if (sim_irql() != SIM_IRQL_DISPATCH)
        VIOLATION("THREAD-051", "DxgkCbNotifyDpc was called at %s", nt_irql_name(sim_irql()));
    before = sim_raise_irql(SIM_IRQL_DISPATCH);
    cb.adapter->dpc_notified = true;
    cb.adapter->unnotified = 0;
    if (cb.adapter->vidsch)
        vidsch_notify_dpc(cb.adapter->vidsch);
    if (before < SIM_IRQL_DISPATCH)
        sim_lower_irql(before);
    callback_end(&cb);
}

/* ---- synchronized routines ---- */

struct synchronized {
    PKSYNCHRONIZE_ROUTINE routine;
    PVOID context;
    struct port_interrupt *interrupt;
    bool owes; /* notified, and queued no DPC */
};

static bool run_synchronized(void *arg)
{
    struct synchronized *s = arg;
    bool result;

    s->interrupt->notified = s->interrupt->queued = false;
    result = s->routine(s->context) != FALSE;
    s->owes = s->interrupt->notified && !s->interrupt->queued;
    return result;
}

/* THREAD-062: the DPC may be queued until the DDI ends that asked for the routine. */
static void check_owed_dpc(struct ddi_frame *frame)
{
    struct port_adapter *adapter = port_adapter_of(frame->adapter);

    if (adapter->owes_dpc)
        VIOLATION("THREAD-062",
                  "%s notified in a synchronized routine and returned without DxgkCbQueueDpc",
                  frame->name);
    adapter->owes_dpc = false;
}

static void owe_dpc(struct port_adapter *adapter)
{
    struct ddi_frame *ddi = ddi_current_ddi();

    adapter->owes_dpc = true;
    if (ddi && ddi->adapter == &adapter->ddi)
        ddi->on_return = check_owed_dpc;
}

NTSTATUS NTAPI port_cb_synchronize_execution(HANDLE DeviceHandle,
                                             PKSYNCHRONIZE_ROUTINE SynchronizeRoutine, PVOID Context,
                                             ULONG MessageNumber, PBOOLEAN ReturnValue)
{
    struct synchronized call = {.routine = SynchronizeRoutine, .context = Context};
    struct callback cb;
    NTSTATUS status;
    BOOLEAN result;

    status = callback_begin(&cb, DeviceHandle, "DxgkCbSynchronizeExecution", CALLER,
                            SIM_IRQL_DISPATCH, "THREAD-050", CALLBACK_IN_ISR | CALLBACK_ANY_IRQL);
    if (!NT_SUCCESS(status))
        return status;
    if (sim_in_interrupt()) {
        VIOLATION(
            "THREAD-070",
            "DxgkCbSynchronizeExecution was called inside the service routine or a synchronized routine");
        status = STATUS_INVALID_PARAMETER;
    } else if (sim_irql() > SIM_IRQL_DISPATCH) {
        VIOLATION("THREAD-050", "DxgkCbSynchronizeExecution was called at %s",
                  nt_irql_name(sim_irql()));
        status = STATUS_INVALID_DEVICE_REQUEST;
    } else if (!SynchronizeRoutine || !ReturnValue ||
               MessageNumber >= bus_device_description(cb.adapter->device)->messages) {
        status = STATUS_INVALID_PARAMETER; /* THREAD-069, THREAD-070 */
    } else if (!cb.adapter->interrupt[MessageNumber].line) {
        status = STATUS_UNSUCCESSFUL;
    } else {
        call.interrupt = &cb.adapter->interrupt[MessageNumber];
        result = sim_interrupt_synchronize(call.interrupt->line, run_synchronized, &call);
        if (call.owes)
            owe_dpc(cb.adapter);
        if (!sim_copy_checked(ReturnValue, &result, sizeof(result)))
            status = STATUS_INVALID_PARAMETER;
    }
    callback_end(&cb);
    return status;
}
