/* SPDX-License-Identifier: MIT */
/*
 * A memory manager that places nothing and answers what the test has set. It stands in for the room vidmm: test programs of
 * vidsch are linked with it instead.
 */
#include "ddi/client_handle.h"
#include "nt/base/kprocess.h"
#include "util/alloc.h"
#include "util/list.h"
#include "vidmm/allocation/allocation.h"
#include "vidmm/allocation/offer.h"
#include "vidmm/allocation/renaming.h"
#include "vidmm/allocation/scanout.h"
#include "vidmm/context/client_pages.h"
#include "vidmm/context/context.h"
#include "vidmm/context/context_allocation.h"
#include "vidmm/context/fence_memory.h"
#include "vidmm/paging/driver_run.h"
#include "vidmm/process.h"
#include "vidmm/record/of_adapter.h"
#include "vidmm/reset.h"
#include "vidmm/residency/aperture_range.h"
#include "vidmm/residency/open_place.h"
#include "vidmm/space/open_address.h"
#include "vidmm/residency/portion.h"
#include "vidmm/residency/residency.h"
#include "vidmm/check/root_check.h"
#include "vidmm/check/table_check.h"
#include "vidmm/space/address_text.h"
#include "vidmm/space/paging_process.h"
#include "vidmm/vidmm.h"
#include "vidsch/support/fixture.h"

#include <stdio.h>
#include <string.h>

struct vidmm_open *memory_open(struct fixture *f, struct vidsch_device *device, uint64_t physical)
{
    struct vidmm_open *open = util_zalloc(1, sizeof(*open));

    open->device = device->mm;
    open->physical = open->listed = true;
    open->bytes = 65536;
    open->place = (struct vidmm_place){true, 1, physical, (HANDLE)(uintptr_t)(physical | 1)};
    open->handle = handle_create(&f->process->handles, DDI_CLIENT_ALLOCATION, open);
    return open;
}

void memory_close(struct fixture *f, struct vidmm_open *open)
{
    handle_remove(&f->process->handles, open->handle, DDI_CLIENT_ALLOCATION);
    util_free(open);
}

void vidmm_address_text(const struct vidmm_process *process, uint64_t address,
                        struct vidmm_address_text *text)
{
    (void)process;
    snprintf(text->owner, sizeof(text->owner), "owner of 0x%llx", (unsigned long long)address);
    snprintf(text->walk, sizeof(text->walk), "walk of 0x%llx", (unsigned long long)address);
}

void vidmm_check_root(const struct vidmm_process *process, uint32_t context, unsigned node,
                      uint32_t fence, uint64_t root)
{
    (void)process;
    (void)context;
    (void)node;
    (void)fence;
    (void)root;
}

void vidmm_tables_lost(struct vidmm *vidmm)
{
    (void)vidmm;
}

void vidmm_check_address(const struct vidmm_process *process, uint64_t address)
{
    (void)process;
    (void)address;
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

struct vidmm *vidmm_of_adapter(const struct ddi_adapter *adapter)
{
    return (struct vidmm *)&CONTAINER(adapter, struct fixture, ddi)->mm;
}

static struct vidmm *mm_of(const struct vidmm_context *context)
{
    return vidmm_of_adapter(context->adapter);
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

bool vidmm_device_prepare(struct vidmm_device *device, struct vidmm_context *context,
                          uint64_t ticket)
{
    (void)ticket;
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

bool vidmm_open_retired(const struct vidmm_open *open)
{
    (void)open;
    return false;
}

bool vidmm_device_renames(const struct vidmm_device *device)
{
    (void)device;
    return false;
}

void vidmm_instance_begin(const struct vidmm_open *open)
{
    (void)open;
}

bool vidmm_instance_use(const struct vidmm_open *open)
{
    (void)open;
    return true;
}

void vidmm_instance_keep(const struct vidmm_open *open)
{
    (void)open;
}

void vidmm_open_used(struct vidmm_open *open, bool write)
{
    (void)open;
    (void)write;
}

void vidmm_device_set_legacy(struct vidmm_device *device)
{
    (void)device;
}

/* No test of this room locks. */
bool vidmm_open_locked(const struct vidmm_open *open)
{
    (void)open;
    return false;
}

bool vidmm_open_may_leave_memory(const struct vidmm_open *open)
{
    (void)open;
    return true;
}

NTSTATUS vidmm_offer(struct vidmm_device *device, const D3DKMT_HANDLE *resources,
                     const D3DKMT_HANDLE *list, UINT count, D3DKMT_OFFER_PRIORITY priority,
                     D3DKMT_OFFER_FLAGS flags)
{
    (void)device;
    (void)resources;
    (void)list;
    (void)count;
    (void)priority;
    (void)flags;
    return STATUS_SUCCESS;
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

struct vidmm_fence_memory {
    uint64_t value;
    uint32_t references;
};

struct slot_page {
    uint64_t value;                    /* of a fence that is not shared */
    struct vidmm_fence_memory *memory; /* of one that is */
};

NTSTATUS vidmm_fence_slot_create(struct vidmm_process *process, struct vidmm_fence_slot *slot)
{
    struct slot_page *page = util_zalloc(1, sizeof(*page));

    (void)process;
    if (!page)
        return STATUS_NO_MEMORY;
    *slot = (struct vidmm_fence_slot){
        .kernel = &page->value, .client = &page->value, .va.value = 0x10000, .page = (void *)page};
    return STATUS_SUCCESS;
}

void vidmm_fence_slot_destroy(struct vidmm_process *process, struct vidmm_fence_slot *slot)
{
    struct slot_page *page = (void *)slot->page;

    (void)process;
    if (!page)
        return;
    if (page->memory)
        vidmm_fence_memory_release(page->memory);
    util_free(page);
}

NTSTATUS vidmm_fence_memory_create(struct vidmm_process *process, struct vidmm_fence_memory **out)
{
    (void)process;
    *out = util_zalloc(1, sizeof(**out));
    if (!*out)
        return STATUS_NO_MEMORY;
    (*out)->references = 1;
    return STATUS_SUCCESS;
}

volatile uint64_t *vidmm_fence_memory_kernel(struct vidmm_fence_memory *memory)
{
    return &memory->value;
}

void vidmm_fence_memory_release(struct vidmm_fence_memory *memory)
{
    if (--memory->references == 0)
        util_free(memory);
}

bool vidmm_paging_fence(const struct vidmm *vidmm, struct gpu_va *va, volatile uint64_t **value)
{
    (void)vidmm;
    (void)va;
    (void)value;
    return false;
}

NTSTATUS vidmm_fence_slot_open_gpu(struct vidmm_process *process, struct vidmm_fence_memory *memory,
                                   struct vidmm_fence_slot *slot)
{
    return vidmm_fence_slot_open(process, memory, true, slot);
}

/* ---- doorbells: none is made here ---- */

NTSTATUS vidmm_client_pages_create(struct vidmm *vidmm, uint32_t pages, bool writable,
                                   struct vidmm_client_pages *out)
{
    (void)vidmm;
    *out = (struct vidmm_client_pages){.pages = pages, .writable = writable};
    return STATUS_NO_MEMORY;
}

bool vidmm_client_pages_point(struct vidmm *vidmm, struct vidmm_client_pages *pages,
                              const void *address)
{
    (void)vidmm;
    (void)pages;
    (void)address;
    return false;
}

bool vidmm_client_pages_are_registers(const struct vidmm *vidmm, const void *address)
{
    (void)vidmm;
    (void)address;
    return false;
}

void vidmm_client_pages_own(struct vidmm *vidmm, const struct vidmm_client_pages *pages)
{
    (void)vidmm;
    (void)pages;
}

void vidmm_client_pages_destroy(struct vidmm *vidmm, struct vidmm_client_pages *pages)
{
    (void)vidmm;
    (void)pages;
}

struct vidmm_allocation *vidmm_open_hold(struct vidmm_open *open)
{
    (void)open;
    return NULL;
}

void vidmm_hold_end(struct vidmm_allocation *allocation)
{
    (void)allocation;
}

HANDLE vidmm_open_driver_handle(const struct vidmm_open *open)
{
    (void)open;
    return NULL;
}

NTSTATUS vidmm_fence_slot_open(struct vidmm_process *process, struct vidmm_fence_memory *memory,
                               bool gpu, struct vidmm_fence_slot *slot)
{
    NTSTATUS status = vidmm_fence_slot_create(process, slot);

    if (!NT_SUCCESS(status))
        return status;
    ((struct slot_page *)(void *)slot->page)->memory = memory;
    memory->references++;
    slot->kernel = &memory->value;
    slot->client = &memory->value;
    slot->va.value = gpu ? 0x10000 : 0;
    return STATUS_SUCCESS;
}

NTSTATUS vidmm_start_tables(struct vidmm *vidmm)
{
    (void)vidmm;
    return STATUS_SUCCESS;
}

NTSTATUS vidmm_map_paging_buffer(struct vidmm *vidmm, const struct logical_page *logical,
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
    buffer->used += 64;
    vidsch_for_vidmm.paging_buffer_submit(vidmm->ddi, buffer, &ticket);
    if (wait)
        vidsch_for_vidmm.paging_wait(vidmm->ddi, ticket);
}

void vidmm_reset_begin(struct vidmm *vidmm)
{
    (void)vidmm;
}

void vidmm_reset_cleanup(struct vidmm *vidmm)
{
    vidmm->cleanups++;
    if (vidmm->cleanup_pages)
        build_one(vidmm, true);
}

void vidmm_let_driver_out(struct vidmm *vidmm, bool out)
{
    (void)vidmm;
    (void)out;
}

NTSTATUS vidmm_reset_restore(struct vidmm *vidmm)
{
    vidmm->restores++;
    for (unsigned i = 0; i < vidmm->restore_pages; i++)
        build_one(vidmm, true);
    return STATUS_SUCCESS;
}

bool vidmm_is_lost(const struct vidmm *vidmm)
{
    (void)vidmm;
    return false;
}

/* ---- WDDM 1.x, buffers in apertures ---- */

NTSTATUS vidmm_aperture_map(struct vidmm *vidmm, UINT set, struct vidmm_aperture_range *range)
{
    range->segment = 1u + (UINT)__builtin_ctz(set);
    range->first = 16u * ++vidmm->mapped;
    vidmm->last_mapped = *range;
    return STATUS_SUCCESS;
}

void vidmm_aperture_unmap(struct vidmm *vidmm, struct vidmm_aperture_range *range)
{
    vidmm->unmapped += range->segment != 0;
    range->segment = 0;
}

/* ---- presents: their own tests go through a started adapter ---- */

NTSTATUS vidmm_open_address(struct vidmm_device *device, D3DKMT_HANDLE handle, bool write,
                            D3DGPU_VIRTUAL_ADDRESS *va)
{
    (void)device;
    (void)handle;
    (void)write;
    *va = 0x100000;
    return STATUS_SUCCESS;
}

NTSTATUS vidmm_commands_map(struct vidmm_device *device, struct logical_page first, uint64_t pages,
                            struct gpu_va *va)
{
    (void)device;
    (void)pages;
    va->value = first.value << PAGE_BITS;
    return STATUS_SUCCESS;
}

void vidmm_commands_unmap(struct vidmm_device *device, struct gpu_va va)
{
    (void)device;
    (void)va;
}

bool vidmm_open_leaves_screen(const struct vidmm_open *open, uint32_t *departure)
{
    (void)open;
    *departure = 0;
    return false;
}

uint64_t vidmm_aperture_address(const struct vidmm *vidmm, const struct vidmm_aperture_range *range)
{
    (void)vidmm;
    return 0xC0000000u + (range->first << PAGE_BITS);
}

struct vidmm_open *vidmm_open_find_queued(struct vidmm_device *device, D3DKMT_HANDLE handle)
{
    struct vidmm_open *open = handle_lookup(&device->process->nt->handles, handle,
                                            DDI_CLIENT_ALLOCATION);

    return open && open->device == device ? open : NULL;
}

uint64_t vidmm_open_bytes(const struct vidmm_open *open)
{
    return open->bytes;
}

/* Nothing here is a history buffer. */
struct vidmm_allocation *vidmm_open_history(const struct vidmm_open *open)
{
    (void)open;
    return NULL;
}

uint64_t vidmm_scanout_bytes(const struct vidmm_allocation *allocation)
{
    (void)allocation;
    return 0;
}

bool vidmm_scanout_read(struct vidmm_allocation *allocation, void *bytes, uint64_t count)
{
    (void)allocation;
    (void)bytes;
    (void)count;
    return false;
}

static struct vidmm_open *needed(const struct vidmm_portion *portion, uint32_t element)
{
    return portion->need[element].allocation
               ? handle_lookup(&portion->device->process->nt->handles,
                               portion->need[element].allocation, DDI_CLIENT_ALLOCATION)
               : NULL;
}

/* Allocations among the first `count` elements, each once. */
static uint32_t different(const struct vidmm_portion *portion, uint32_t count)
{
    uint32_t all = 0;

    for (uint32_t i = 0; i < count; i++) {
        bool first = portion->need[i].allocation != 0;

        for (uint32_t j = 0; j < i; j++)
            first = first && portion->need[j].allocation != portion->need[i].allocation;
        all += first;
    }
    return all;
}

bool vidmm_portion_prepare(struct vidmm_portion *portion)
{
    struct vidsch_device *device = portion->device->owner;
    struct vidmm *mm = device->vidsch->vidmm;
    uint32_t count = portion->wanted;

    mm->portions++;
    if (portion->device->missing)
        return false;
    if (portion->fixed)
        return true;
    for (uint32_t i = 0; i < count && mm->room; i++)
        if (different(portion, i + 1) > mm->room)
            count = i;
    if (count < portion->wanted) {
        uint32_t split = portion->need[count].split;

        if (split <= portion->start) {
            vidsch_for_vidmm.device_error(portion->device, D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
            return false;
        }
        while (count && portion->need[count - 1].split >= split)
            count--;
    }
    portion->count = count;
    mm->held += !portion->held;
    portion->held = true;
    for (uint32_t i = 0; i < count; i++)
        if (needed(portion, i))
            needed(portion, i)->listed = true;
    return true;
}

void vidmm_portion_keep(struct vidmm_portion *portion, D3DKMT_HANDLE *kept, uint32_t count)
{
    struct vidmm *mm = ((struct vidsch_device *)portion->device->owner)->vidsch->vidmm;

    portion->kept = kept;
    portion->kept_count = count;
    mm->kept += count;
    mm->last_kept = kept[count - 1];
}

void vidmm_portion_submitted(struct vidmm_portion *portion)
{
    portion->in_flight = true;
}

void vidmm_portion_returned(struct vidmm_portion *portion)
{
    struct vidmm *mm = ((struct vidsch_device *)portion->device->owner)->vidsch->vidmm;

    mm->returned += portion->in_flight;
    portion->in_flight = false;
}

void vidmm_portion_release(struct vidmm_portion *portion)
{
    struct vidmm *mm = ((struct vidsch_device *)portion->device->owner)->vidsch->vidmm;

    mm->held -= portion->held;
    mm->kept -= portion->kept_count;
    portion->held = false;
    util_free(portion->kept);
    portion->kept = NULL;
    portion->kept_count = 0;
}

/* ---- updates of page tables: none ---- */

bool vidmm_updates_by_gpu(const struct vidmm_device *device)
{
    (void)device;
    return false;
}

void vidmm_updates_init(struct va_updates *updates, struct vidmm_device *device,
                        struct vidmm_context *companion)
{
    (void)updates;
    (void)device;
    (void)companion;
}

void vidmm_updates_finish(struct va_updates *updates)
{
    (void)updates;
}

NTSTATUS vidmm_batch_create(struct vidmm_device *device,
                            const D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION *operations, UINT count,
                            struct va_batch **out)
{
    (void)device;
    (void)operations;
    (void)count;
    *out = NULL;
    return STATUS_NOT_SUPPORTED;
}

void vidmm_batch_discard(struct va_batch *batch)
{
    (void)batch;
}

void vidmm_batch_run(struct va_batch *batch, struct va_updates *updates,
                     void (*done)(void *context), void *context)
{
    (void)batch;
    (void)updates;
    done(context);
}

void vidmm_batch_drop(struct va_batch *batch, struct va_updates *updates)
{
    (void)batch;
    (void)updates;
}
