/* SPDX-License-Identifier: MIT */
/*
 * The adapter's interrupts and its DPC: connection, service, and the calls that the driver must
 * make (THREAD-057 to THREAD-067).
 *
 *   service routine, or a routine run by SynchronizeExecution:
 *       after one or more calls of NotifyInterrupt, it must call QueueDpc
 *   DPC:
 *       if an interrupt was notified, it must call NotifyDpc
 */
#include "port/running/interrupts.h"
#include "bus/device.h"
#include "ddi/ddi.h"
#include "ddi/routine.h"
#include "port/record/adapter_record.h"
#include "port/record/port_assert.h"
#include "sim/dpc.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"

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

    sim_assert_interrupt();
    if (interrupt->masked)
        return false;
    if (adapter->interrupts.hold) {
        interrupt->held = true;
        return true;
    }
    interrupt->notified = interrupt->queued = interrupt->synced = false;
    claimed = ddi_has(&adapter->ddi, DxgkDdiInterruptRoutine) &&
              ddi_interrupt_routine(&adapter->ddi, message) != FALSE;
    if (interrupt->notified && !interrupt->queued)
        VIOLATION("THREAD-061",
                  "the service routine called DxgkCbNotifyInterrupt but queued no DPC");
    measure(adapter, "DxgkDdiInterruptRoutine", start, LONG_ISR_NS);
    count_unclaimed(interrupt, claimed, message);
    return claimed;
}

/* ---- DPC ---- */

static void run_dpc(struct sim_dpc *dpc)
{
    struct port_adapter *adapter = CONTAINER(dpc, struct port_adapter, interrupts.dpc);
    uint64_t start;

    port_assert_dispatch();
    /* THREAD-065: not reentered; a run requested meanwhile follows the current one. */
    if (adapter->interrupts.dpc_running) {
        adapter->interrupts.dpc_again = true;
        return;
    }
    if (adapter->interrupts.hold) {
        adapter->interrupts.dpc_held = true;
        return;
    }
    adapter->interrupts.dpc_running = true;
    do {
        adapter->interrupts.dpc_again = false;
        adapter->interrupts.dpc_notified = false;
        start = sim_now();
        if (ddi_has(&adapter->ddi, DxgkDdiDpcRoutine))
            ddi_dpc_routine(&adapter->ddi);
        measure(adapter, "DxgkDdiDpcRoutine", start, LONG_DPC_NS);
        if (!adapter->interrupts.dpc_notified && adapter->interrupts.unnotified) {
            ddi_blame(&adapter->ddi, "DxgkDdiDpcRoutine");
            VIOLATION("THREAD-063",
                      "the DPC returned without DxgkCbNotifyDpc, %u notification(s) wait",
                      adapter->interrupts.unnotified);
        }
    } while (adapter->interrupts.dpc_again);
    adapter->interrupts.dpc_running = false;
}

static void describe_dpc(const struct sim_dpc *dpc, char *text, size_t bytes)
{
    (void)dpc;
    snprintf(text, bytes, "DxgkDdiDpcRoutine");
}

/* ---- entries that the service routine excludes ---- */

static void synchronize(struct ddi_adapter *ddi, bool (*fn)(void *arg), void *arg)
{
    struct port_adapter *adapter = port_adapter_of_ddi(ddi);
    const UINT number = adapter->caps.driver.InterruptMessageNumber;
    struct sim_interrupt *line = number < PORT_MAX_MESSAGES
                                     ? adapter->interrupts.message[number].line
                                     : NULL;

    if (line)
        (void)sim_interrupt_synchronize(line, fn, arg);
    else
        (void)fn(arg);
}

/* ---- connection ---- */

void port_interrupts_init(struct port_adapter *adapter)
{
    list_init(&adapter->interrupts.dpc.link);
}

void port_interrupts_connect(struct port_adapter *adapter)
{
    uint32_t messages = bus_device_description(adapter->device)->messages;

    adapter->interrupts.dpc.routine = run_dpc;
    adapter->interrupts.dpc.describe = describe_dpc;
    adapter->interrupts.unnotified = 0;
    adapter->interrupts.misordered = false;
    adapter->ddi.synchronize = synchronize;
    if (adapter->ddi.present_display_only && !ddi_has(&adapter->ddi, DxgkDdiInterruptRoutine))
        return; /* DISP-008 */
    for (uint32_t i = 0; i < messages && i < PORT_MAX_MESSAGES; i++) {
        struct port_interrupt *interrupt = &adapter->interrupts.message[i];

        *interrupt = (struct port_interrupt){.adapter = adapter,
                                             .line = bus_device_interrupt(adapter->device, i)};
        sim_interrupt_connect(interrupt->line, service, interrupt, i, DIRQL);
    }
}

void port_interrupts_disconnect(struct port_adapter *adapter)
{
    for (uint32_t i = 0; i < PORT_MAX_MESSAGES; i++) {
        if (adapter->interrupts.message[i].line)
            sim_interrupt_disconnect(adapter->interrupts.message[i].line);
        adapter->interrupts.message[i].line = NULL;
    }
    sim_dpc_flush(); /* LIFE-171 */
}

void port_interrupts_hold(struct port_adapter *adapter, bool hold)
{
    adapter->interrupts.hold = hold;
    if (hold)
        return;
    for (uint32_t i = 0; i < PORT_MAX_MESSAGES; i++) {
        struct port_interrupt *interrupt = &adapter->interrupts.message[i];

        if (interrupt->held && interrupt->line)
            sim_interrupt_raise(interrupt->line);
        interrupt->held = false;
    }
    if (adapter->interrupts.dpc_held)
        sim_dpc_queue(&adapter->interrupts.dpc);
    adapter->interrupts.dpc_held = false;
}
