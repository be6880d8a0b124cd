/* SPDX-License-Identifier: MIT */
/*
 * Memory of monitored fences: 8-byte slots in pages of system memory. A slot can be accessed by the
 * host (read, write), by the client's CPU code (read), and by the GPU in the address space of the
 * process (read, write; GPUVA-095, GPUVA-096). A page has SLOTS slots; a new page is allocated when
 * no slot is free. Creating and freeing a slot is O(1). An empty page is kept if no other page has
 * a free slot.
 *
 * A shared fence has memory of its own, and one slot in each process that opened it: a page that
 * counts as full.
 *
 * Freeing a slot does not wait until its page is unmapped. The caller may be the scheduler's
 * worker, at the end of the last work that used the fence, and that same worker has to submit the
 * operations that unmap the page from the GPU. The destruction of the process waits for all of
 * them.
 */
#include "vidmm/context/fence_memory.h"
#include "iommu/iommu.h"
#include "iommu/pasid.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/space/address_space.h"

#include "sim/mutex.h"

enum { SLOTS = PAGE_BYTES / sizeof(uint64_t) };

/* A page of RAM that the device can access, and the pages of processes that refer to it. */
struct vidmm_fence_memory {
    struct vidmm *vidmm;
    uint32_t references;
    struct page_number frame;
    struct logical_page logical;
    volatile uint64_t *kernel;
};

struct fence_page {
    struct list link;          /* process->fence_pages; those with a free slot come first */
    uint64_t used[SLOTS / 64]; /* bit: slot is taken */
    uint32_t count;
    bool single; /* the slot of a shared fence */
    struct vidmm_fence_memory *memory;
    uint8_t *client;
    bool shared; /* mapped in the process address space that the device shares */
    struct gpu_va va;
    struct vidmm_process *process;
    struct paging_job departure;
};

/* ---- memory ---- */

void vidmm_fence_memory_release(struct vidmm_fence_memory *memory)
{
    const struct vidmm_config *config = &memory->vidmm->config;

    if (--memory->references)
        return;
    if (memory->logical.value)
        iommu_unmap_run(config->domain, memory->logical, 1);
    ram_give_contiguous(config->ram, memory->frame, 1);
    util_free(memory);
}

NTSTATUS fence_memory_make(struct vidmm *vidmm, struct vidmm_fence_memory **out)
{
    const struct ram_request request = {
        .pages = 1, .owner = RAM_OBJECT, .cache = RAM_CACHED, .zero = true};
    struct ram *ram = vidmm->config.ram;
    struct vidmm_fence_memory *memory = util_zalloc(1, sizeof(*memory));

    if (!memory)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!ram_take_contiguous(ram, &request, &memory->frame)) {
        util_free(memory);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    memory->vidmm = vidmm;
    memory->references = 1;
    memory->kernel = ram_direct(ram, page_phys(memory->frame));
    memory->logical = page_identity(memory->frame);
    if (!iommu_map_run(vidmm->config.domain, memory->frame, 1, IOMMU_READ | IOMMU_WRITE,
                       &memory->logical)) {
        memory->logical.value = 0;
        vidmm_fence_memory_release(memory);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    *out = memory;
    return STATUS_SUCCESS;
}

NTSTATUS vidmm_fence_memory_create(struct vidmm_process *process, struct vidmm_fence_memory **out)
{
    return vidmm_status(fence_memory_make(process->vidmm, out));
}

struct logical_page fence_memory_page(const struct vidmm_fence_memory *memory)
{
    return memory->logical;
}

volatile uint64_t *vidmm_fence_memory_kernel(struct vidmm_fence_memory *memory)
{
    return memory->kernel;
}

/* ---- pages ---- */

struct map_call {
    struct vidmm_space *space;
    struct vidmm_run run;
    struct gpu_va va;
};

static NTSTATUS map_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct map_call *call = arg;

    (void)turn;
    (void)vidmm;
    return space_map_internal(call->space, &call->run, 1, 0, 0, false, &call->va);
}

static NTSTATUS unmap_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct fence_page *page = arg;

    (void)turn;
    (void)vidmm;
    space_unmap_internal(page->process->space, page->va);
    return STATUS_SUCCESS;
}

static struct logical_page client_page(const struct fence_page *page)
{
    return (struct logical_page){(uintptr_t)page->client >> PAGE_BITS};
}

static NTSTATUS page_views(struct vidmm_process *process, struct fence_page *page)
{
    struct vidmm *vidmm = process->vidmm;
    struct ram *ram = vidmm->config.ram;

    page->client = ram_view_reserve(ram, 1);
    if (!page->client)
        return STATUS_INSUFFICIENT_RESOURCES;
    /* IOMMU-107: an adapter that shares the address space writes through this mapping, so the
     * process may write, too. */
    if (!ram_view_point(ram, page->client, 0, &page->memory->frame, 1, process->pasid != 0))
        return STATUS_INSUFFICIENT_RESOURCES;
    if (process->pasid) {
        page->shared = iommu_pasid_map(vidmm->config.pasids, process->pasid, client_page(page),
                                       page->memory->frame, 1, IOMMU_READ | IOMMU_WRITE);
        if (!page->shared)
            return STATUS_INSUFFICIENT_RESOURCES;
    }
    return STATUS_SUCCESS;
}

/* Free a page that the GPU cannot access (any more). */
static void page_free(struct fence_page *page)
{
    struct vidmm_process *process = page->process;
    struct vidmm *vidmm = process->vidmm;
    struct ram *ram = vidmm->config.ram;

    if (page->shared)
        iommu_pasid_unmap(vidmm->config.pasids, process->pasid, client_page(page), 1);
    if (page->client)
        ram_view_release(ram, page->client, 1);
    vidmm_fence_memory_release(page->memory);
    util_free(page);
}

enum { FOR_CPU = 1, FOR_GPU = 2 };

/* `who`: FOR_GPU: mapped in the address space of the process, if it has one. On success and on
 * failure the caller keeps its own reference to the memory. */
static NTSTATUS page_make(struct vidmm_process *process, struct vidmm_fence_memory *memory,
                          unsigned who, struct fence_page **out)
{
    struct fence_page *page = util_zalloc(1, sizeof(*page));
    NTSTATUS status = STATUS_SUCCESS;

    if (!page)
        return STATUS_INSUFFICIENT_RESOURCES;
    list_init(&page->link);
    page->process = process;
    page->memory = memory;
    memory->references++;
    if (who & FOR_CPU || process->pasid)
        status = page_views(process, page);
    if (NT_SUCCESS(status) && process->space && who & FOR_GPU) {
        struct map_call call = {.space = process->space,
                                .run = {.first = memory->logical.value, .pages = 1}};

        status = paging_run(process->vidmm, map_job, &call); /* on return the address is mapped */
        page->va = call.va;
    }
    if (!NT_SUCCESS(status)) {
        page_free(page);
        return status;
    }
    *out = page;
    return STATUS_SUCCESS;
}

/* A page for many fences, with memory of its own. */
static NTSTATUS page_make_common(struct vidmm_process *process, struct fence_page **out)
{
    struct vidmm_fence_memory *memory;
    NTSTATUS status = fence_memory_make(process->vidmm, &memory);

    if (!NT_SUCCESS(status))
        return status;
    status = page_make(process, memory, FOR_CPU | FOR_GPU, out);
    vidmm_fence_memory_release(memory);
    return status;
}

static void departed(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    (void)vidmm;
    (void)status; /* on a lost adapter the GPU does not access it either */
    page_free(arg);
}

/* Free a page as soon as the GPU can no longer access it. */
static void page_destroy(struct fence_page *page)
{
    struct vidmm_process *process = page->process;
    struct vidmm *vidmm = process->vidmm;

    if (!page->va.value || !process->space) {
        page_free(page);
    } else if (paging_may_build(vidmm)) {
        (void)paging_run(vidmm, unmap_job, page);
        page_free(page);
    } else {
        page->departure = (struct paging_job){.fn = unmap_job, .release = departed, .arg = page};
        sim_mutex_lock(&vidmm->lock);
        paging_job_post(&process->fence_departures, &page->departure);
        sim_mutex_unlock(&vidmm->lock);
    }
}

/* ---- slots ---- */

static struct fence_page *page_with_room(const struct vidmm_process *process)
{
    struct list *first = process->fence_pages.next;

    if (first == &process->fence_pages || CONTAINER(first, struct fence_page, link)->count == SLOTS)
        return NULL;
    return CONTAINER(first, struct fence_page, link);
}

static uint32_t free_slot(const struct fence_page *page)
{
    uint32_t word = 0;

    while (~page->used[word] == 0)
        word++;
    return word * 64 + (uint32_t)__builtin_ctzll(~page->used[word]);
}

static void slot_set(struct vidmm_fence_slot *slot, struct fence_page *page, uint32_t index)
{
    slot->kernel = &page->memory->kernel[index];
    slot->client = page->client ? page->client + index * sizeof(uint64_t) : NULL;
    slot->va.value = page->va.value ? page->va.value + index * sizeof(uint64_t) : 0;
    slot->page = page;
}

static void slot_take(struct vidmm_process *process, struct fence_page *page,
                      struct vidmm_fence_slot *slot)
{
    uint32_t index = free_slot(page);

    page->used[index / 64] |= (uint64_t)1 << (index % 64);
    if (++page->count == SLOTS) {
        list_remove(&page->link);
        list_push_back(&process->fence_pages, &page->link);
    }
    page->memory->kernel[index] = 0;
    slot_set(slot, page, index);
}

static NTSTATUS open_for(struct vidmm_process *process, struct vidmm_fence_memory *memory,
                         unsigned who, struct vidmm_fence_slot *slot)
{
    struct vidmm *vidmm = process->vidmm;
    struct fence_page *page;
    NTSTATUS status = page_make(process, memory, who, &page);

    if (!NT_SUCCESS(status))
        return vidmm_status(status);
    page->single = true;
    page->count = SLOTS;
    slot_set(slot, page, 0);
    sim_mutex_lock(&vidmm->lock);
    list_push_back(&process->fence_pages, &page->link);
    sim_mutex_unlock(&vidmm->lock);
    return STATUS_SUCCESS;
}

NTSTATUS vidmm_fence_slot_open(struct vidmm_process *process, struct vidmm_fence_memory *memory,
                               bool gpu, struct vidmm_fence_slot *slot)
{
    return open_for(process, memory, gpu ? FOR_CPU | FOR_GPU : FOR_CPU, slot);
}

NTSTATUS vidmm_fence_slot_open_gpu(struct vidmm_process *process, struct vidmm_fence_memory *memory,
                                   struct vidmm_fence_slot *slot)
{
    return open_for(process, memory, FOR_GPU, slot);
}

NTSTATUS vidmm_fence_slot_create(struct vidmm_process *process, struct vidmm_fence_slot *slot)
{
    struct vidmm *vidmm = process->vidmm;
    struct fence_page *page;
    NTSTATUS status = STATUS_SUCCESS;

    sim_mutex_lock(&vidmm->lock);
    page = page_with_room(process);
    if (!page) {
        sim_mutex_unlock(&vidmm->lock);
        status = page_make_common(process, &page);
        sim_mutex_lock(&vidmm->lock);
        if (NT_SUCCESS(status))
            list_push_front(&process->fence_pages, &page->link);
    }
    if (NT_SUCCESS(status))
        slot_take(process, page, slot);
    sim_mutex_unlock(&vidmm->lock);
    return vidmm_status(status);
}

void vidmm_fence_slot_destroy(struct vidmm_process *process, struct vidmm_fence_slot *slot)
{
    struct vidmm *vidmm = process->vidmm;
    struct fence_page *page = slot->page, *room, *spare = NULL;
    uint32_t index;

    if (!page)
        return;
    process->holds++; /* it must not end while this waits for the lock */
    sim_mutex_lock(&vidmm->lock);
    list_remove(&page->link);
    if (page->single) {
        spare = page;
    } else {
        index = (uint32_t)(slot->kernel - page->memory->kernel);
        page->used[index / 64] &= ~((uint64_t)1 << (index % 64));
        page->count--;
        room = page_with_room(process);
        if (page->count == 0 && room)
            spare = page;
        else
            list_push_front(&process->fence_pages, &page->link);
    }
    *slot = (struct vidmm_fence_slot){.page = NULL};
    sim_mutex_unlock(&vidmm->lock);
    if (spare)
        page_destroy(spare);
    if (--process->holds == 0)
        sim_waitq_wake(&process->idle, UINT32_MAX);
}

void fence_memory_finish(struct vidmm_process *process)
{
    struct vidmm *vidmm = process->vidmm;
    struct list *node;

    while ((node = list_pop_front(&process->fence_pages)) != NULL)
        page_destroy(CONTAINER(node, struct fence_page, link));
    sim_mutex_lock(&vidmm->lock);
    paging_queue_drain(&process->fence_departures);
    sim_mutex_unlock(&vidmm->lock);
}
