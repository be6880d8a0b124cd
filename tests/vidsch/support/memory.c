/* SPDX-License-Identifier: MIT */
/* A memory manager that places nothing and answers what the test has set. */
#include "support/fixture.h"

#include <string.h>

struct vidmm_open *memory_open(struct fixture *f, struct vidsch_device *device, uint64_t physical)
{
    struct vidmm_open *open = util_zalloc(1, sizeof(*open));

    open->device = device->mm;
    open->physical = open->listed = true;
    open->place = (struct vidmm_place){true, 1, physical, (HANDLE)(uintptr_t)(physical | 1)};
    open->handle = handle_create(&f->process->handles, NT_CLIENT_ALLOCATION, open);
    return open;
}

void memory_close(struct fixture *f, struct vidmm_open *open)
{
    handle_remove(&f->process->handles, open->handle, NT_CLIENT_ALLOCATION);
    util_free(open);
}

ULONG vidmm_process_pasid(const struct vidmm_process *process)
{
    (void)process;
    return 0;
}

HANDLE vidmm_process_driver_handle(const struct vidmm_process *process)
{
    return process->driver_handle;
}

struct nt_process *vidmm_process_nt(const struct vidmm_process *process)
{
    return process->nt;
}

struct vidmm_process *vidmm_paging_process(struct vidmm *vidmm)
{
    return &vidmm->paging;
}

NTSTATUS vidmm_device_create(struct vidmm_process *process, HANDLE driver_device, void *owner,
                             struct vidmm_device **device)
{
    struct vidmm_device *mm = util_zalloc(1, sizeof(*mm));

    (void)driver_device;
    if (!mm)
        return STATUS_NO_MEMORY;
    mm->process = process;
    mm->owner = owner;
    *device = mm;
    return STATUS_SUCCESS;
}

void vidmm_device_destroy(struct vidmm_device *device)
{
    struct vidmm *mm = ((struct vidsch_device *)device->owner)->vidsch->vidmm;

    mm->device_destroyed_at = ++mm->order;
    util_free(device);
}

void *vidmm_device_owner(const struct vidmm_device *device)
{
    return device->owner;
}

struct vidmm_process *vidmm_device_process(const struct vidmm_device *device)
{
    return device->process;
}

void vidmm_device_set_lost(struct vidmm_device *device)
{
    device->lost = true;
}

void vidmm_context_init(struct vidmm_context *context, struct vidmm_device *device,
                        bool virtual_addressing, bool system)
{
    memset(context, 0, sizeof(*context));
    context->device = device;
    context->virtual_addressing = virtual_addressing;
    context->system = system;
    list_init(&context->link);
    list_init(&context->allocations);
}

static struct vidmm *mm_of(const struct vidmm_context *context)
{
    return context->adapter->vidmm;
}

NTSTATUS vidmm_context_attach(struct vidmm_context *context)
{
    if (!NT_SUCCESS(mm_of(context)->attach_status))
        return mm_of(context)->attach_status;
    mm_of(context)->attached++;
    return STATUS_SUCCESS;
}

void vidmm_context_detach(struct vidmm_context *context)
{
    mm_of(context)->detached++;
}

void vidmm_context_finish(struct vidmm_context *context)
{
    mm_of(context)->finished++;
}

bool vidmm_device_prepare(struct vidmm_device *device, struct vidmm_context *context)
{
    (void)context;
    device->asked++;
    return !device->missing;
}

NTSTATUS vidmm_context_prepare(struct vidmm_context *context)
{
    mm_of(context)->prepared++;
    return STATUS_SUCCESS;
}

bool vidmm_open_place(const struct vidmm_open *open, struct vidmm_place *place)
{
    *place = open->place;
    return true;
}

bool vidmm_open_accessed_physically(const struct vidmm_open *open)
{
    return open->physical;
}

bool vidmm_open_offered(const struct vidmm_open *open)
{
    return open->offered;
}

bool vidmm_open_read_only(const struct vidmm_open *open)
{
    return open->read_only;
}

void vidmm_device_gone(struct vidmm *vidmm, HANDLE host_device)
{
    (void)host_device;
    vidmm->gone++;
}

bool vidmm_open_on_residency_list(const struct vidmm_open *open)
{
    return open->listed;
}

struct vidmm_device *vidmm_open_device(const struct vidmm_open *open)
{
    return open->device;
}

NTSTATUS vidmm_fence_slot_create(struct vidmm_process *process, struct vidmm_fence_slot *slot)
{
    uint64_t *memory = util_zalloc(1, sizeof(*memory));

    (void)process;
    if (!memory)
        return STATUS_NO_MEMORY;
    *slot = (struct vidmm_fence_slot){
        .kernel = memory, .client = memory, .va.value = 0x10000, .page = memory};
    return STATUS_SUCCESS;
}

void vidmm_fence_slot_destroy(struct vidmm_process *process, struct vidmm_fence_slot *slot)
{
    (void)process;
    util_free(slot->page);
}

NTSTATUS vidmm_map_paging_buffer(struct vidmm *vidmm, const struct page_number *logical,
                                 uint64_t pages, struct gpu_va *va)
{
    (void)vidmm;
    (void)pages;
    va->value = 0x100000000ull + (logical[0].value << PAGE_BITS);
    return STATUS_SUCCESS;
}

static void build_one(struct vidmm *vidmm, bool wait)
{
    struct vidmm_paging_buffer *buffer;
    uint64_t ticket;

    if (!NT_SUCCESS(vidsch_for_vidmm.paging_buffer_get(vidmm->ddi, &buffer)))
        return;
    buffer->used = 64;
    vidsch_for_vidmm.paging_buffer_submit(vidmm->ddi, buffer, &ticket);
    if (wait)
        vidsch_for_vidmm.paging_wait(vidmm->ddi, ticket);
}

void vidmm_reset_cleanup(struct vidmm *vidmm)
{
    vidmm->cleanups++;
    if (vidmm->cleanup_pages)
        build_one(vidmm, true);
}

NTSTATUS vidmm_reset_restore(struct vidmm *vidmm)
{
    vidmm->restores++;
    if (vidmm->restore_pages)
        build_one(vidmm, true);
    return STATUS_SUCCESS;
}

/* ---- WDDM 1.x, buffers in apertures ---- */

NTSTATUS vidmm_aperture_map(struct vidmm *vidmm, UINT set, struct vidmm_aperture_range *range)
{
    range->segment = 1u + (UINT)__builtin_ctz(set);
    range->first = 16u * ++vidmm->mapped;
    return STATUS_SUCCESS;
}

void vidmm_aperture_unmap(struct vidmm *vidmm, struct vidmm_aperture_range *range)
{
    vidmm->unmapped += range->segment != 0;
    range->segment = 0;
}

uint64_t vidmm_aperture_address(const struct vidmm *vidmm, const struct vidmm_aperture_range *range)
{
    (void)vidmm;
    return 0xC0000000u + (range->first << PAGE_BITS);
}

NTSTATUS vidmm_submission_list(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count,
                               bool only)
{
    struct vidmm *mm = ((struct vidsch_device *)device->owner)->vidsch->vidmm;

    mm->lists++;
    if (only) {
        mm->narrow_lists++;
        mm->pending_at_narrow = ((struct vidsch_device *)device->owner)->pending;
    }
    if (mm->full) {
        mm->full--;
        return STATUS_NO_MEMORY;
    }
    for (UINT i = 0; i < count; i++) {
        struct vidmm_open *open = list[i] ? handle_lookup(&device->process->nt->handles, list[i],
                                                          NT_CLIENT_ALLOCATION)
                                          : NULL;

        if (open)
            open->listed = true;
    }
    return STATUS_SUCCESS;
}
