/* SPDX-License-Identifier: MIT */
/*
 * The adapter's interrupts and its deferred call: connect, service, notify, and what must follow what (THREAD-044 to
 * THREAD-070).
 */
#include "port/port_private.h"

#define DIRQL SIM_IRQL_DEVICE

/* ---- service routine ---- */

static bool service(void *context, uint32_t message)
{
    struct port_interrupt *interrupt = context;
    struct port_adapter *adapter = interrupt->adapter;
    bool claimed;

    interrupt->notified = false;
    claimed = ddi_interrupt_routine(&adapter->ddi, message) != FALSE;
    if (interrupt->notified && !adapter->dpc.queued)
        VIOLATION("THREAD-061", "the service routine called DxgkCbNotifyInterrupt but queued no DPC");
    return claimed;
}

void port_interrupts_connect(struct port_adapter *adapter)
{
    uint32_t messages = bus_device_description(adapter->device)->messages;

    for (uint32_t i = 0; i < messages && i < PORT_MAX_MESSAGES; i++) {
        struct port_interrupt *interrupt = &adapter->interrupt[i];

        interrupt->adapter = adapter;
        interrupt->line = bus_device_interrupt(adapter->device, i);
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
    sim_dpc_remove(&adapter->dpc);
    sim_dpc_flush();
}

/* ---- deferred call ---- */

void port_dpc(struct sim_dpc *dpc)
{
    struct port_adapter *adapter = CONTAINER(dpc, struct port_adapter, dpc);

    /* THREAD-065: not reentered; a run asked for meanwhile waits for the current one. */
    if (adapter->dpc_running) {
        adapter->dpc_again = true;
        return;
    }
    adapter->dpc_running = true;
    do {
        adapter->dpc_again = false;
        adapter->dpc_notified = false;
        ddi_dpc_routine(&adapter->ddi);
        if (!adapter->dpc_notified && adapter->unnotified)
            VIOLATION("THREAD-063", "the DPC returned without DxgkCbNotifyDpc, %u notification(s) wait", adapter->unnotified);
    } while (adapter->dpc_again);
    adapter->dpc_running = false;
}

/* ---- callbacks ---- */

BOOLEAN NTAPI port_cb_queue_dpc(HANDLE DeviceHandle)
{
    struct callback cb;
    BOOLEAN queued;

    if (!NT_SUCCESS(callback_begin(&cb, DeviceHandle, "DxgkCbQueueDpc", CALLER, SIM_IRQL_HIGH, "THREAD-053",
                                   CALLBACK_ANY_IRQL | CALLBACK_IN_ISR)))
        return FALSE;
    queued = sim_dpc_queue(&cb.adapter->dpc); /* THREAD-064 */
    callback_end(&cb);
    return queued;
}

static struct port_interrupt *current_interrupt(struct port_adapter *adapter)
{
    for (uint32_t i = 0; i < PORT_MAX_MESSAGES; i++) {
        struct port_interrupt *interrupt = &adapter->interrupt[i];

        if (interrupt->line && interrupt->line->lock_owner == sim_current->processor + 1)
            return interrupt;
    }
    return NULL;
}

void NTAPI port_cb_notify_interrupt(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARGCB_NOTIFY_INTERRUPT_DATA data)
{
    struct callback cb;
    struct port_interrupt *interrupt;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA copy;

    if (!NT_SUCCESS(callback_begin(&cb, hAdapter, "DxgkCbNotifyInterrupt", CALLER, SIM_IRQL_HIGH, "THREAD-051",
                                   CALLBACK_ANY_IRQL | CALLBACK_IN_ISR)))
        return;
    interrupt = current_interrupt(cb.adapter);
    if (!interrupt) {
        VIOLATION("THREAD-051", "DxgkCbNotifyInterrupt was called at %s, outside the service routine and DxgkCbSynchronizeExecution",
                  nt_irql_name(sim_irql()));
    } else if (cb.adapter->caps.InterruptMessageNumber != interrupt->line->message) {
        VIOLATION("CAPS-024", "DxgkCbNotifyInterrupt was called for message %u; InterruptMessageNumber is %u",
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

    if (!NT_SUCCESS(callback_begin(&cb, hAdapter, "DxgkCbNotifyDpc", CALLER, SIM_IRQL_DISPATCH, "THREAD-051", 0)))
        return;
    if (sim_irql() != SIM_IRQL_DISPATCH)
        VIOLATION("THREAD-051", "DxgkCbNotifyDpc was called at %s", nt_irql_name(sim_irql()));
    cb.adapter->dpc_notified = true;
    cb.adapter->unnotified = 0;
    if (cb.adapter->vidsch)
        vidsch_notify_dpc(cb.adapter->vidsch);
    callback_end(&cb);
}

struct synchronized {
    PKSYNCHRONIZE_ROUTINE routine;
    PVOID context;
};

static bool run_synchronized(void *arg)
{
    struct synchronized *s = arg;

    return s->routine(s->context) != FALSE;
}

NTSTATUS NTAPI port_cb_synchronize_execution(HANDLE DeviceHandle, PKSYNCHRONIZE_ROUTINE SynchronizeRoutine, PVOID Context,
                                             ULONG MessageNumber, PBOOLEAN ReturnValue)
{
    struct synchronized call = {SynchronizeRoutine, Context};
    struct callback cb;
    NTSTATUS status;
    BOOLEAN result;

    status = callback_begin(&cb, DeviceHandle, "DxgkCbSynchronizeExecution", CALLER, SIM_IRQL_DISPATCH, "THREAD-050", CALLBACK_IN_ISR);
    if (!NT_SUCCESS(status))
        return status;
    if (sim_in_interrupt()) {
        VIOLATION("THREAD-070", "DxgkCbSynchronizeExecution was called inside the service routine or a synchronized routine");
        status = STATUS_INVALID_PARAMETER;
    } else if (!SynchronizeRoutine || !ReturnValue ||
               MessageNumber >= bus_device_description(cb.adapter->device)->messages) {
        status = STATUS_INVALID_PARAMETER; /* THREAD-069, THREAD-070 */
    } else if (!cb.adapter->interrupt[MessageNumber].line) {
        status = STATUS_UNSUCCESSFUL;
    } else {
        result = sim_interrupt_synchronize(cb.adapter->interrupt[MessageNumber].line, run_synchronized, &call);
        if (!sim_copy_checked(ReturnValue, &result, sizeof(result)))
            status = STATUS_INVALID_PARAMETER;
    }
    callback_end(&cb);
    return status;
}
