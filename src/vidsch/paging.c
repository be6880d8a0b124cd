/* SPDX-License-Identifier: MIT */
/*
 * Paging buffers, as vidmm sees them: take an empty one, fill it, submit it, wait for its ticket.
 * They are packets of the system context, which has a level of its own above all clients
 * (SUBMIT-023). A packet and its part of a buffer are one object, so that submitting allocates nothing.
 * A buffer is filled by one submission behind the other; the next buffer has its turn when the driver
 * finds no room in the rest (PAGE-016).
 *
 * Tickets complete in order. A buffer that was left empty is not submitted, but its ticket
 * completes with the youngest packet queued before it (GPUVA-187).
 */
#include "vidsch/vidsch_private.h"

static void slot_free(struct vidsch *vidsch, struct paging_slot *slot)
{
    slot->memory->users--;
    list_push_back(&vidsch->paging_free, &slot->link);
    sim_waitq_wake(&vidsch->paging_wait, UINT32_MAX);
}

/* PagingBufferSize and PagingBufferPrivateDataSize of the driver (PAGE-003, PAGE-005), not the
 * sizes that it gives for the context. */
static bool memory_take(struct vidsch *vidsch, struct paging_memory *memory)
{
    uint32_t private_bytes = vidsch->config.paging_buffer_private_bytes;

    memory->pages = align_up(vidsch->config.paging_buffer_bytes, PAGE_BYTES) >> PAGE_BITS;
    if (!vidsch_pages_take(vidsch, memory->pages, 1, &memory->first, &memory->first_logical)) {
        memory->pages = 0;
        return false;
    }
    if (private_bytes == 0)
        return true;
    memory->private_block = vidsch_private_create(private_bytes);
    return memory->private_block != NULL;
}

static NTSTATUS memory_map(struct vidsch *vidsch, struct paging_memory *memory)
{
    struct page_number *logical = util_alloc(memory->pages * sizeof(*logical));
    NTSTATUS status;

    if (!logical)
        return STATUS_NO_MEMORY;
    for (uint64_t i = 0; i < memory->pages; i++)
        logical[i].value = memory->first_logical.value + i;
    status = vidmm_map_paging_buffer(vidsch->vidmm, logical, memory->pages, &memory->va);
    util_free(logical);
    return status;
}

/* PAGE-002. The operations themselves go through buffers that are still addressed as system memory. */
static NTSTATUS place_memory(struct vidsch *vidsch)
{
    if (!vidsch->config.paging_segment)
        return STATUS_SUCCESS;
    for (uint32_t i = 0; i < VIDSCH_PAGING_BUFFERS; i++) {
        struct paging_memory *memory = &vidsch->paging_memory[i];
        NTSTATUS status;

        memory->aperture.frame = memory->first;
        memory->aperture.logical = memory->first_logical;
        memory->aperture.pages = memory->pages;
        status = vidmm_aperture_map(vidsch->vidmm, 1u << (vidsch->config.paging_segment - 1),
                                    &memory->aperture);
        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_paging_create(struct vidsch *vidsch)
{
    const struct vidsch_context *context = vidsch->system_context;

    if (vidsch->config.paging_buffer_bytes == 0)
        return STATUS_SUCCESS; /* PAGE-004: an adapter that never pages */
    vidsch->paging_memory = util_zalloc(VIDSCH_PAGING_BUFFERS, sizeof(*vidsch->paging_memory));
    if (!vidsch->paging_memory)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < VIDSCH_PAGING_BUFFERS; i++) {
        NTSTATUS status = STATUS_SUCCESS;

        if (!memory_take(vidsch, &vidsch->paging_memory[i]))
            return STATUS_NO_MEMORY;
        if (context->mm.virtual_addressing)
            status = memory_map(vidsch, &vidsch->paging_memory[i]);
        if (!NT_SUCCESS(status))
            return status;
    }
    vidsch->paging_slots = util_zalloc(VIDSCH_PAGING_SLOTS, sizeof(*vidsch->paging_slots));
    if (!vidsch->paging_slots)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < VIDSCH_PAGING_SLOTS; i++)
        list_push_back(&vidsch->paging_free, &vidsch->paging_slots[i].link);
    return place_memory(vidsch);
}

void vidsch_paging_destroy(struct vidsch *vidsch)
{
    struct paging_memory *memory = vidsch->paging_memory;

    if (!memory)
        return;
    for (uint32_t i = 0; i < VIDSCH_PAGING_BUFFERS; i++)
        vidmm_aperture_unmap(vidsch->vidmm, &memory[i].aperture);
    for (uint32_t i = 0; i < VIDSCH_PAGING_BUFFERS; i++) {
        if (memory[i].pages)
            vidsch_pages_give(vidsch, memory[i].first, memory[i].pages, 1, memory[i].first_logical);
        util_free(memory[i].private_block);
    }
    list_init(&vidsch->paging_free);
    util_free(vidsch->paging_slots);
    util_free(memory);
    vidsch->paging_slots = NULL;
    vidsch->paging_memory = NULL;
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

static bool has_room(const struct vidsch *vidsch, const struct paging_memory *memory)
{
    uint32_t private_bytes = vidsch->config.paging_buffer_private_bytes;

    return !memory->full && memory->used < memory->pages << PAGE_BITS &&
           (private_bytes == 0 || memory->private_used < private_bytes);
}

/* The buffer that is being filled, or the next one in turn, from its beginning. NULL: it is still in use. */
static struct paging_memory *memory_with_room(struct vidsch *vidsch)
{
    struct paging_memory *memory = &vidsch->paging_memory[vidsch->paging_turn];

    if (has_room(vidsch, memory))
        return memory;
    memory = &vidsch->paging_memory[(vidsch->paging_turn + 1) % VIDSCH_PAGING_BUFFERS];
    if (memory->users)
        return NULL;
    vidsch->paging_turn = (vidsch->paging_turn + 1) % VIDSCH_PAGING_BUFFERS;
    memory->used = memory->private_used = 0;
    memory->full = false;
    return memory;
}

static struct vidmm_paging_buffer submission_in(const struct vidsch *vidsch,
                                                struct paging_memory *memory,
                                                struct paging_slot *slot)
{
    struct vidmm_paging_buffer buffer = {
        .data = ram_direct(vidsch->config.ram, page_phys(memory->first)),
        .capacity = (uint32_t)(memory->pages << PAGE_BITS),
        .start = memory->used,
        .used = memory->used,
        .private_start = memory->private_used,
        .private_used = memory->private_used,
        .logical = {memory->first_logical.value << PAGE_BITS},
        .va = memory->va,
        .scheduler_private = slot,
    };

    if (memory->private_block) {
        buffer.private_data = memory->private_block + VIDSCH_CANARY_BYTES;
        buffer.private_capacity = vidsch->config.paging_buffer_private_bytes;
    }
    return buffer;
}

static NTSTATUS paging_buffer_get(struct ddi_adapter *adapter, struct vidmm_paging_buffer **buffer)
{
    struct vidsch *vidsch = adapter->vidsch;
    struct paging_memory *memory;
    struct paging_slot *slot;

    if (!vidsch->paging_slots)
        return STATUS_NOT_SUPPORTED;
    while (list_empty(&vidsch->paging_free) || (memory = memory_with_room(vidsch)) == NULL) {
        if (sim_current->stopped)
            return STATUS_DEVICE_REMOVED;
        sim_waitq_wait(&vidsch->paging_wait, SIM_FOREVER);
    }
    slot = CONTAINER(list_pop_front(&vidsch->paging_free), struct paging_slot, link);
    slot->memory = memory;
    memory->users++;
    slot->public = submission_in(vidsch, memory, slot);
    *buffer = &slot->public;
    return STATUS_SUCCESS;
}

static NTSTATUS paging_buffer_submit(struct ddi_adapter *adapter,
                                     struct vidmm_paging_buffer *buffer, uint64_t *ticket)
{
    struct vidsch *vidsch = adapter->vidsch;
    struct paging_slot *slot = buffer->scheduler_private;
    struct paging_memory *memory = slot->memory;
    bool empty = buffer->used == buffer->start && buffer->private_used == buffer->private_start;

    memory->used = buffer->used;
    memory->private_used = buffer->private_used;
    memory->full = buffer->full;
    if (memory->private_block &&
        !vidsch_private_intact(memory->private_block, slot->public.private_capacity)) {
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
