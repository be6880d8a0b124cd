/* SPDX-License-Identifier: MIT */
/* DxgkCbNotifyInterrupt, QueueDpc, NotifyDpc and SynchronizeExecution: where each may be called
 * (THREAD-050 to THREAD-070). */
#include "port/callbacks/interrupt_callbacks.h"
#include "bus/device.h"
#include "ddi/ddi.h"
#include "nt/ke/level.h"
#include "port/callbacks/callback.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "screens/scanouts.h"
#include "screens/screens.h"
#include "sim/dpc.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/order.h"
#include "trace/trace.h"
#include "verify/refusal.h"
#include "vidsch/vidsch.h"

/* The interrupt whose lock the current processor holds. */
static struct port_interrupt *current_interrupt(struct port_adapter *adapter)
{
    for (uint32_t i = 0; i < PORT_MAX_MESSAGES; i++) {
        struct port_interrupt *interrupt = &adapter->interrupts.message[i];

        if (interrupt->line && interrupt->line->lock_owner == sim_current->processor + 1)
            return interrupt;
    }
    return NULL;
}

static BOOLEAN NTAPI queue_dpc(HANDLE DeviceHandle)
{
    struct port_callback cb;
    struct port_interrupt *interrupt;
    BOOLEAN queued;

    if (!NT_SUCCESS(port_callback_begin(&cb, DeviceHandle, "DxgkCbQueueDpc", PORT_CALLER,
                                        SIM_IRQL_HIGH, "THREAD-053",
                                        PORT_CALLBACK_ANY_IRQL | PORT_CALLBACK_IN_ISR)))
        return FALSE;
    interrupt = current_interrupt(cb.adapter);
    if (interrupt)
        interrupt->queued = true;
    cb.adapter->interrupts.owes_dpc = false;
    queued = sim_dpc_queue(&cb.adapter->interrupts.dpc); /* THREAD-064 */
    port_callback_end(&cb);
    return queued;
}

static bool is_of_display(const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    switch ((int)data->InterruptType) {
    case DXGK_INTERRUPT_CRTC_VSYNC:
    case DXGK_INTERRUPT_DISPLAYONLY_VSYNC:
    case DXGK_INTERRUPT_DISPLAYONLY_PRESENT_PROGRESS:
    case DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY:
    case DXGK_INTERRUPT_MICACAST_CHUNK_PROCESSING_COMPLETE:
    case DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY2:
    case DXGK_INTERRUPT_PERIODIC_MONITORED_FENCE_SIGNALED:
    case DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY3:
        return true;
    default:
        return false;
    }
}

/* PRES-334 */
static void trace_display(const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    const trace_track track = ddi_current_frame()->track;

    if (!trace_current || !is_of_display(data))
        return;
    if ((int)data->InterruptType == DXGK_INTERRUPT_DISPLAYONLY_PRESENT_PROGRESS) {
        trace_instant(track, "notification", "type", (uint64_t)data->InterruptType, "source",
                      data->DisplayOnlyPresentProgress.VidPnSourceId);
        trace_more("progress", (uint64_t)data->DisplayOnlyPresentProgress.ProgressId, NULL, 0);
        return;
    }
    trace_instant(track, "notification", "type", (uint64_t)data->InterruptType, "target",
                  data->CrtcVsync.VidPnTargetId); /* where all of them have it */
    if ((int)data->InterruptType == DXGK_INTERRUPT_CRTC_VSYNC)
        trace_more("address", (uint64_t)data->CrtcVsync.PhysicalAddress.QuadPart, "flags",
                   data->Flags.Value);
}

/* PRES-161 */
static void note_order(struct port_interrupt *interrupt, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    struct port_interrupts *all = &interrupt->adapter->interrupts;
    const int type = (int)data->InterruptType;

    if (is_of_display(data))
        interrupt->synced = true;
    if (!interrupt->synced || all->misordered ||
        (type != DXGK_INTERRUPT_DMA_COMPLETED && type != DXGK_INTERRUPT_DMA_PREEMPTED &&
         type != DXGK_INTERRUPT_DMA_FAULTED))
        return;
    all->misordered = true;
    WARNING("PRES-161",
            "an interrupt of type %d was reported after a vertical sync of the same service "
            "routine",
            type);
}

static void NTAPI notify_interrupt(IN_CONST_HANDLE hAdapter,
                                   IN_CONST_PDXGKARGCB_NOTIFY_INTERRUPT_DATA data)
{
    struct port_callback cb;
    struct port_interrupt *interrupt;
    struct vidsch *scheduler;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA copy;

    if (!NT_SUCCESS(port_callback_begin(&cb, hAdapter, "DxgkCbNotifyInterrupt", PORT_CALLER,
                                        SIM_IRQL_HIGH, "THREAD-051",
                                        PORT_CALLBACK_ANY_IRQL | PORT_CALLBACK_IN_ISR)))
        return;
    interrupt = current_interrupt(cb.adapter);
    scheduler = port_adapter_vidsch(cb.adapter);
    if (!interrupt) {
        VIOLATION(
            "THREAD-051",
            "DxgkCbNotifyInterrupt was called at %s, outside the service routine and DxgkCbSynchronizeExecution",
            nt_irql_name(sim_irql()));
    } else if (cb.adapter->caps.driver.InterruptMessageNumber != interrupt->line->message) {
        VIOLATION("CAPS-024",
                  "DxgkCbNotifyInterrupt was called for message %u; InterruptMessageNumber is %u",
                  interrupt->line->message, cb.adapter->caps.driver.InterruptMessageNumber);
    } else if (!PORT_TAKE(DXGKARGCB_NOTIFY_INTERRUPT_DATA, &copy, data)) {
        VIOLATION("SUBMIT-059", "DxgkCbNotifyInterrupt was given a bad pointer");
    } else {
        sim_order_release(interrupt);
        interrupt->notified = true;
        cb.adapter->interrupts.unnotified++;
        note_order(interrupt, &copy);
        trace_display(&copy);
        if (cb.adapter->display.screens)
            screens_notify(cb.adapter->display.screens, &copy);
        else if (cb.adapter->display.scanouts && is_of_display(&copy))
            scanouts_notify(cb.adapter->display.scanouts, &copy);
        else if (scheduler)
            vidsch_notify_interrupt(scheduler, &copy);
    }
    port_callback_end(&cb);
}

/* What service routines have told so far is known to the host from now on. */
static void ask_interrupts(const struct port_adapter *adapter)
{
    if (!sim_current->races)
        return;
    for (uint32_t i = 0; i < PORT_MAX_MESSAGES; i++)
        sim_order_acquire(&adapter->interrupts.message[i]);
    sim_order_tell_host();
}

static void NTAPI notify_dpc(IN_CONST_HANDLE hAdapter)
{
    struct port_callback cb;
    struct vidsch *scheduler;
    uint8_t before;

    if (!NT_SUCCESS(port_callback_begin(&cb, hAdapter, "DxgkCbNotifyDpc", PORT_CALLER,
                                        SIM_IRQL_DISPATCH, "THREAD-051", 0)))
        return;
    if (sim_irql() != SIM_IRQL_DISPATCH)
        VIOLATION("THREAD-051", "DxgkCbNotifyDpc was called at %s", nt_irql_name(sim_irql()));
    before = sim_raise_irql(SIM_IRQL_DISPATCH);
    scheduler = port_adapter_vidsch(cb.adapter);
    ask_interrupts(cb.adapter);
    cb.adapter->interrupts.dpc_notified = true;
    cb.adapter->interrupts.unnotified = 0;
    if (cb.adapter->display.screens)
        screens_notify_dpc(cb.adapter->display.screens);
    if (cb.adapter->display.scanouts)
        scanouts_notify_dpc(cb.adapter->display.scanouts);
    if (scheduler)
        vidsch_notify_dpc(scheduler);
    if (before < SIM_IRQL_DISPATCH)
        sim_lower_irql(before);
    port_callback_end(&cb);
}

/* ---- synchronized routines ---- */

struct synchronized {
    PKSYNCHRONIZE_ROUTINE routine;
    PVOID context;
    struct port_interrupt *interrupt;
    bool owes; /* it notified, but queued no DPC */
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

/* THREAD-062: the DPC must be queued before the DDI returns that asked for the routine. */
static void check_owed_dpc(struct ddi_frame *frame)
{
    struct port_adapter *adapter = port_adapter_of_ddi(frame->adapter);

    if (adapter->interrupts.owes_dpc)
        VIOLATION("THREAD-062",
                  "%s notified in a synchronized routine and returned without DxgkCbQueueDpc",
                  frame->name);
    adapter->interrupts.owes_dpc = false;
}

static void owe_dpc(struct port_adapter *adapter)
{
    struct ddi_frame *ddi = ddi_current_ddi();

    adapter->interrupts.owes_dpc = true;
    if (ddi && ddi->adapter == &adapter->ddi)
        ddi->on_return = check_owed_dpc;
}

static NTSTATUS NTAPI synchronize_execution(HANDLE DeviceHandle,
                                            PKSYNCHRONIZE_ROUTINE SynchronizeRoutine, PVOID Context,
                                            ULONG MessageNumber, PBOOLEAN ReturnValue)
{
    struct synchronized call = {.routine = SynchronizeRoutine, .context = Context};
    struct port_callback cb;
    NTSTATUS status;
    BOOLEAN result;

    status = port_callback_begin(&cb, DeviceHandle, "DxgkCbSynchronizeExecution", PORT_CALLER,
                                 SIM_IRQL_DISPATCH, "THREAD-050",
                                 PORT_CALLBACK_IN_ISR | PORT_CALLBACK_ANY_IRQL);
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
        status = refuse(STATUS_INVALID_PARAMETER, "THREAD-069", /* THREAD-070 */
                        "routine %p, ReturnValue %p, message %u of %u",
                        (void *)(uintptr_t)SynchronizeRoutine, (void *)ReturnValue,
                        (unsigned)MessageNumber,
                        bus_device_description(cb.adapter->device)->messages);
    } else if (!cb.adapter->interrupts.message[MessageNumber].line) {
        status = refuse(STATUS_UNSUCCESSFUL, NULL, "interrupt message %u is not connected",
                        (unsigned)MessageNumber);
    } else {
        call.interrupt = &cb.adapter->interrupts.message[MessageNumber];
        result = sim_interrupt_synchronize(call.interrupt->line, run_synchronized, &call);
        if (call.owes)
            owe_dpc(cb.adapter);
        if (!PORT_GIVE(BOOLEAN, ReturnValue, &result))
            status = STATUS_INVALID_PARAMETER;
    }
    return port_callback_return(&cb, status);
}

void port_interrupt_callbacks_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbQueueDpc = queue_dpc;
    interface->DxgkCbNotifyInterrupt = notify_interrupt;
    interface->DxgkCbNotifyDpc = notify_dpc;
    interface->DxgkCbSynchronizeExecution = synchronize_execution;
}
