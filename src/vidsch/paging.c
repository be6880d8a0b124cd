/* SPDX-License-Identifier: MIT */
/*
 * Paging buffers, as vidmm sees them: take an empty one, fill it, submit it, wait for its ticket.
 * They are packets of the system context, which has a level of its own above all clients
 * (SUBMIT-023). Packet and buffer are one object, so that submitting allocates nothing.
 *
 * Tickets complete in order. A buffer that was left empty is not submitted, but its ticket
 * completes with the youngest packet queued before it (GPUVA-187).
 */
#include "vidsch/vidsch_private.h"

static void slot_free(struct vidsch *vidsch, struct paging_slot *slot)
{
    list_push_back(&vidsch->paging_free, &slot->link);
    sim_waitq_wake(&vidsch->paging_wait, UINT32_MAX);
}

/* PagingBufferSize and PagingBufferPrivateDataSize of the driver (PAGE-003, PAGE-005), not the
 * sizes that it gives for the context. */
static bool slot_data(struct vidsch *vidsch, struct paging_slot *slot)
{
    uint32_t private_bytes = vidsch->config.paging_buffer_private_bytes;

    slot->pages = align_up(vidsch->config.paging_buffer_bytes, PAGE_BYTES) >> PAGE_BITS;
    if (!vidsch_pages_take(vidsch, slot->pages, 1, &slot->first, &slot->first_logical)) {
        slot->pages = 0;
        return false;
    }
    slot->public.data = ram_direct(vidsch->config.ram, page_phys(slot->first));
    slot->public.capacity = (uint32_t)(slot->pages << PAGE_BITS);
    slot->public.logical.value = slot->first_logical.value << PAGE_BITS;
    if (private_bytes == 0)
        return true;
    slot->private_block = vidsch_private_create(private_bytes);
    if (!slot->private_block)
        return false;
    slot->public.private_data = slot->private_block + VIDSCH_CANARY_BYTES;
    slot->public.private_capacity = private_bytes;
    return true;
}

static NTSTATUS slot_map(struct vidsch *vidsch, struct paging_slot *slot)
{
    struct page_number *logical = util_alloc(slot->pages * sizeof(*logical));
    NTSTATUS status;

    if (!logical)
        return STATUS_NO_MEMORY;
    for (uint64_t i = 0; i < slot->pages; i++)
        logical[i].value = slot->first_logical.value + i;
    status = vidmm_map_paging_buffer(vidsch->vidmm, logical, slot->pages, &slot->public.va);
    util_free(logical);
    return status;
}

/* PAGE-002. The operations themselves go through buffers that are still addressed as system memory. */
static NTSTATUS place_slots(struct vidsch *vidsch)
{
    if (!vidsch->config.paging_segment)
        return STATUS_SUCCESS;
    for (uint32_t i = 0; i < VIDSCH_PAGING_BUFFERS; i++) {
        struct paging_slot *slot = &vidsch->paging_slots[i];
        NTSTATUS status;

        slot->aperture.frame = slot->first;
        slot->aperture.logical = slot->first_logical;
        slot->aperture.pages = slot->pages;
        status = vidmm_aperture_map(vidsch->vidmm, 1u << (vidsch->config.paging_segment - 1),
                                    &slot->aperture);
        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_paging_create(struct vidsch *vidsch)
{
    struct vidsch_context *context = vidsch->system_context;

    if (vidsch->config.paging_buffer_bytes == 0)
        return STATUS_SUCCESS; /* PAGE-004: an adapter that never pages */
    vidsch->paging_slots = util_zalloc(VIDSCH_PAGING_BUFFERS, sizeof(*vidsch->paging_slots));
    if (!vidsch->paging_slots)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < VIDSCH_PAGING_BUFFERS; i++) {
        struct paging_slot *slot = &vidsch->paging_slots[i];

        slot->public.scheduler_private = slot;
        if (!slot_data(vidsch, slot))
            return STATUS_NO_MEMORY;
        if (context->mm.virtual_addressing) {
            NTSTATUS status = slot_map(vidsch, slot);

            if (!NT_SUCCESS(status))
                return status;
        }
        list_push_back(&vidsch->paging_free, &slot->link);
    }
    return place_slots(vidsch);
}

void vidsch_paging_destroy(struct vidsch *vidsch)
{
    if (!vidsch->paging_slots)
        return;
    for (uint32_t i = 0; i < VIDSCH_PAGING_BUFFERS; i++)
        vidmm_aperture_unmap(vidsch->vidmm, &vidsch->paging_slots[i].aperture);
    for (uint32_t i = 0; i < VIDSCH_PAGING_BUFFERS; i++) {
        struct paging_slot *slot = &vidsch->paging_slots[i];

        if (slot->pages)
            vidsch_pages_give(vidsch, slot->first, slot->pages, 1, slot->first_logical);
        util_free(slot->private_block);
    }
    list_init(&vidsch->paging_free);
    util_free(vidsch->paging_slots);
    vidsch->paging_slots = NULL;
}

static void complete(struct vidsch *vidsch, uint64_t ticket)
{
    vidsch->paging_completed = ticket;
    sim_waitq_wake(&vidsch->paging_wait, UINT32_MAX);
}

void vidsch_paging_retired(struct vidsch *vidsch, struct paging_slot *slot)
{
    if (vidsch->paging_youngest == slot)
        vidsch->paging_youngest = NULL;
    complete(vidsch, slot->last_ticket);
    slot_free(vidsch, slot);
}

void vidsch_paging_abandon(struct vidsch *vidsch)
{
    struct vidsch_context *context = vidsch->system_context;
    struct list *link;

    vidsch->paging_epoch++;
    if (context->state == CONTEXT_READY)
        vidsch_context_unready(context);
    while ((link = list_pop_front(&context->queue)) != NULL)
        vidsch_packet_finish(CONTAINER(link, struct packet, link));
    context->state = CONTEXT_IDLE;
    complete(vidsch, vidsch->paging_last);
}

/* ---- what vidmm calls ---- */

static HANDLE system_context(struct ddi_adapter *adapter)
{
    const struct vidsch *vidsch = adapter->vidsch;

    return vidsch->system_context && vidsch->config.caps.MultiEngineAware
               ? vidsch->system_context->mm.driver_handle
               : NULL;
}

static HANDLE system_device(struct ddi_adapter *adapter)
{
    return adapter->vidsch->system_device ? adapter->vidsch->system_device->driver_handle : NULL;
}

static NTSTATUS paging_buffer_get(struct ddi_adapter *adapter, struct vidmm_paging_buffer **buffer)
{
    struct vidsch *vidsch = adapter->vidsch;
    struct list *link;

    if (!vidsch->paging_slots)
        return STATUS_NOT_SUPPORTED;
    while ((link = list_pop_front(&vidsch->paging_free)) == NULL) {
        if (sim_current->stopped)
            return STATUS_DEVICE_REMOVED;
        sim_waitq_wait(&vidsch->paging_wait, SIM_FOREVER);
    }
    *buffer = &CONTAINER(link, struct paging_slot, link)->public;
    (*buffer)->used = (*buffer)->private_used = 0;
    return STATUS_SUCCESS;
}

static NTSTATUS paging_buffer_submit(struct ddi_adapter *adapter,
                                     struct vidmm_paging_buffer *buffer, uint64_t *ticket)
{
    struct vidsch *vidsch = adapter->vidsch;
    struct paging_slot *slot = buffer->scheduler_private;
    bool empty = buffer->used == 0 && buffer->private_used == 0;

    if (slot->private_block &&
        !vidsch_private_intact(slot->private_block, slot->public.private_capacity)) {
        verify_fatal("PAGE-008", VIDEO_MEMORY_MANAGEMENT_INTERNAL, 0x13,
                     slot->public.private_capacity, 0, 0,
                     "DxgkDdiBuildPagingBuffer wrote outside the private data of its DMA buffer");
        empty = true;
    }
    *ticket = ++vidsch->paging_last;
    if (empty || vidsch->paging_discard) {
        if (vidsch->paging_youngest)
            vidsch->paging_youngest->last_ticket = *ticket;
        else
            complete(vidsch, *ticket);
        slot_free(vidsch, slot);
        return STATUS_SUCCESS;
    }
    slot->last_ticket = *ticket;
    slot->packet = (struct packet){
        .context = vidsch->system_context, .kind = PACKET_PAGING, .paging = slot};
    list_init(&slot->packet.link);
    list_init(&slot->packet.after);
    list_init(&slot->packet.device_link);
    vidsch->paging_youngest = slot;
    vidsch_queue_push(&slot->packet);
    return STATUS_SUCCESS;
}

static bool paging_done(struct ddi_adapter *adapter, uint64_t ticket)
{
    return adapter->vidsch->paging_completed >= ticket;
}

static NTSTATUS paging_wait(struct ddi_adapter *adapter, uint64_t ticket)
{
    struct vidsch *vidsch = adapter->vidsch;

    while (vidsch->paging_completed < ticket) {
        if (sim_current->stopped)
            return STATUS_DEVICE_REMOVED;
        sim_waitq_wait(&vidsch->paging_wait, SIM_FOREVER);
    }
    return STATUS_SUCCESS;
}

static uint64_t device_ticket(struct vidmm_device *mm)
{
    const struct vidsch_device *device = vidmm_device_owner(mm);

    return device->last_ticket;
}

static bool device_done(struct vidmm_device *mm, uint64_t ticket)
{
    return vidsch_ticket_done(vidmm_device_owner(mm), ticket);
}

static NTSTATUS device_wait(struct vidmm_device *mm, uint64_t ticket)
{
    struct vidsch_device *device = vidmm_device_owner(mm);

    while (!vidsch_ticket_done(device, ticket)) {
        if (sim_current->stopped)
            return STATUS_DEVICE_REMOVED;
        if (device->awaited_ticket > ticket)
            device->awaited_ticket = ticket;
        sim_waitq_wait(&device->changed, SIM_FOREVER);
    }
    return STATUS_SUCCESS;
}

/* ---- suspension of a process ---- */

static bool process_runs(const struct vidsch *vidsch, const struct vidsch_process *process)
{
    LIST_FOR(link, &vidsch->devices) {
        const struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (device->process == process && device->in_flight)
            return true;
    }
    return false;
}

static void park(struct vidsch_device *device)
{
    LIST_FOR(link, &device->contexts) {
        struct vidsch_context *context = CONTAINER(link, struct vidsch_context, link);

        if (context->state != CONTEXT_READY)
            continue;
        vidsch_context_unready(context);
        vidsch_context_ready(context); /* which parks it now */
    }
}

static NTSTATUS process_suspend(struct vidmm_process *mm)
{
    struct vidsch *vidsch;
    struct vidsch_process *process = vidsch_process_find(mm, &vidsch);

    if (!process)
        return STATUS_SUCCESS; /* it has no device */
    process->references++;
    process->suspended++;
    LIST_FOR(link, &vidsch->devices) {
        struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (device->process == process)
            park(device);
    }
    while (process_runs(vidsch, process) && !sim_current->stopped)
        vidsch_wait_changed(vidsch, SIM_FOREVER);
    return STATUS_SUCCESS;
}

static void process_resume(struct vidmm_process *mm)
{
    struct vidsch *vidsch;
    struct vidsch_process *process = vidsch_process_find(mm, &vidsch);

    if (!process || !process->suspended)
        return;
    process->suspended--;
    LIST_FOR(link, &vidsch->devices) {
        struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (device->process == process)
            vidsch_device_unpark(device);
    }
    vidsch_process_put(vidsch, process);
}

static void device_error(struct vidmm_device *mm, D3DKMT_DEVICEEXECUTION_STATE state)
{
    vidsch_device_lose(vidmm_device_owner(mm), state, false);
}

static void device_resident(struct vidmm_device *mm)
{
    struct vidsch_device *device = vidmm_device_owner(mm);

    device->awaiting_residency = false;
    vidsch_device_unpark(device);
}

const struct vidmm_scheduler vidsch_for_vidmm = {
    .system_context = system_context,
    .system_device = system_device,
    .paging_buffer_get = paging_buffer_get,
    .paging_buffer_submit = paging_buffer_submit,
    .paging_done = paging_done,
    .paging_wait = paging_wait,
    .device_ticket = device_ticket,
    .device_done = device_done,
    .device_wait = device_wait,
    .process_suspend = process_suspend,
    .process_resume = process_resume,
    .device_error = device_error,
    .device_resident = device_resident,
};
