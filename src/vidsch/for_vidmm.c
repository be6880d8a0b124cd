/* SPDX-License-Identifier: MIT */
/* The scheduler as vidmm sees it. vidmm is the lower room, and calls the scheduler through a table
 * of functions (struct vidmm_scheduler). */
#include "vidmm/process.h"
#include "vidsch/companion.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/device_wait.h"
#include "vidsch/hw_record.h"
#include "vidsch/marks.h"
#include "vidsch/null_context.h"
#include "vidsch/paging.h"
#include "vidsch/paging_submit.h"
#include "vidsch/ready.h"
#include "vidsch/ringing.h"
#include "vidsch/ringing_hold.h"
#include "vidsch/scheduler.h"
#include "vidsch/screen_hold.h"
#include "vidsch/suspend.h"

/* ---- paging ---- */

static HANDLE system_context(struct ddi_adapter *adapter)
{
    const struct vidsch *vidsch = vidsch_of_adapter(adapter);

    return vidsch->system_context && vidsch->config.caps.MultiEngineAware
               ? vidsch->system_context->mm.driver_handle
               : NULL;
}

static HANDLE system_device(struct ddi_adapter *adapter)
{
    return vidsch_of_adapter(adapter)->system_device
               ? vidsch_of_adapter(adapter)->system_device->driver_handle
               : NULL;
}

static HANDLE paging_queue(struct ddi_adapter *adapter)
{
    const struct vidsch_context *queue = vidsch_of_adapter(adapter)->paging.queue;

    return queue ? queue->hw_queue->driver_handle : NULL;
}

static NTSTATUS paging_buffer_get(struct ddi_adapter *adapter, struct vidmm_paging_buffer **buffer)
{
    struct paging_slot *slot;
    NTSTATUS status = vidsch_paging_get(vidsch_of_adapter(adapter), &slot);

    if (NT_SUCCESS(status))
        *buffer = &slot->public;
    return status;
}

static NTSTATUS paging_buffer_submit(struct ddi_adapter *adapter,
                                     struct vidmm_paging_buffer *buffer, uint64_t *ticket)
{
    return vidsch_paging_submit(vidsch_of_adapter(adapter), buffer, ticket);
}

static bool paging_done(struct ddi_adapter *adapter, uint64_t ticket)
{
    return vidsch_of_adapter(adapter)->paging.completed >= ticket;
}

static NTSTATUS paging_wait(struct ddi_adapter *adapter, uint64_t ticket)
{
    return vidsch_paging_wait(vidsch_of_adapter(adapter), ticket);
}

/* ---- devices ---- */

static uint64_t device_ticket(struct vidmm_device *mm)
{
    struct vidsch_device *device = vidmm_device_owner(mm);
    uint64_t ticket;

    if (vidsch_marks_make(device, &ticket))
        vidsch_ringing_watch(device);
    return ticket;
}

static bool device_rings(struct vidmm_device *mm)
{
    return vidsch_ringing_device(vidmm_device_owner(mm));
}

static bool device_done(struct vidmm_device *mm, uint64_t ticket)
{
    return vidsch_device_ticket_done(vidmm_device_owner(mm), ticket);
}

static NTSTATUS device_wait(struct vidmm_device *mm, uint64_t ticket)
{
    return vidsch_device_wait_ticket(vidmm_device_owner(mm), ticket);
}

static void device_nudge(struct vidmm_device *mm)
{
    vidsch_device_nudge(vidmm_device_owner(mm));
}

static void device_error(struct vidmm_device *mm, D3DKMT_DEVICEEXECUTION_STATE state)
{
    vidsch_device_lose(vidmm_device_owner(mm), state, false,
                       "what it listed could not be made resident");
}

static void screen_left(struct ddi_adapter *adapter)
{
    vidsch_screen_left(vidsch_of_adapter(adapter));
}

static void device_resident(struct vidmm_device *mm)
{
    struct vidsch_device *device = vidmm_device_owner(mm);

    device->awaiting_residency = false;
    vidsch_ready_unpark(device);
    vidsch_ringing_go_on(device);
}

static uint32_t device_number(const struct vidmm_device *mm)
{
    const struct vidsch_device *device = vidmm_device_owner(mm);

    return ddi_handle_number(device->host_handle);
}

const struct vidmm_scheduler vidsch_for_vidmm = {
    .system_context = system_context,
    .system_device = system_device,
    .paging_queue = paging_queue,
    .paging_buffer_get = paging_buffer_get,
    .paging_buffer_submit = paging_buffer_submit,
    .paging_done = paging_done,
    .paging_wait = paging_wait,
    .device_ticket = device_ticket,
    .device_rings = device_rings,
    .device_done = device_done,
    .device_wait = device_wait,
    .device_nudge = device_nudge,
    .process_suspend = vidsch_suspend_process,
    .process_resume = vidsch_resume_process,
    .context_leave = vidsch_null_context_enter,
    .companion_buffer = vidsch_companion_buffer,
    .companion_submit = vidsch_companion_submit,
    .device_error = device_error,
    .device_resident = device_resident,
    .screen_left = screen_left,
    .device_number = device_number,
};
