/* SPDX-License-Identifier: MIT */
#include "vidmm/space/open_address.h"
#include "sim/mutex.h"
#include "verify/refusal.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_va.h"
#include "vidmm/space/va_bind.h"
#include "vidmm/space/va_piece.h"

/* ---- of allocations ---- */

static bool serves(const struct va_piece *piece, const struct vidmm_space *space, uint64_t pages,
                   bool write)
{
    const D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE protection = {.Value = piece->protection};

    return piece->range->space == space && piece->state == ENTRY_PAGES && piece->offset == 0 &&
           piece->span.pages >= pages && (protection.Write || !write);
}

static bool find(const struct vidmm_allocation *allocation, const struct vidmm_space *space,
                 bool write, D3DGPU_VIRTUAL_ADDRESS *va)
{
    LIST_FOR(node, &allocation->mappings) {
        const struct va_piece *piece = CONTAINER(node, struct va_piece, mapping);

        *va = piece->span.first << PAGE_BITS;
        if (serves(piece, space, (allocation->bytes + PAGE_BYTES - 1) >> PAGE_BITS, write))
            return true;
    }
    return false;
}

NTSTATUS vidmm_open_address(struct vidmm_device *device, D3DKMT_HANDLE handle, bool write,
                            D3DGPU_VIRTUAL_ADDRESS *va)
{
    struct vidmm_process *process = device->process;
    const struct vidmm_allocation *allocation;
    uint64_t pages = 0;
    bool found = false;

    sim_mutex_lock(&process->vidmm->lock);
    allocation = va_find_allocation(process, handle);
    if (allocation) {
        pages = allocation->pages;
        found = find(allocation, process->space, write, va);
    }
    sim_mutex_unlock(&process->vidmm->lock);
    if (!allocation)
        return refuse(STATUS_INVALID_HANDLE, NULL, "handle 0x%x is no allocation of the process",
                      handle);
    return found ? STATUS_SUCCESS : vidmm_map_for_host(process, handle, pages, va);
}

/* ---- of commands ---- */

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
    return space_map_internal(call->space, &call->run, 1, 0, 0, true, &call->va);
}

static NTSTATUS unmap_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    const struct map_call *call = arg;

    (void)turn;
    (void)vidmm;
    space_unmap_internal(call->space, call->va);
    return STATUS_SUCCESS;
}

NTSTATUS vidmm_commands_map(struct vidmm_device *device, struct logical_page first, uint64_t pages,
                            struct gpu_va *va)
{
    struct map_call call = {.space = device->process->space,
                            .run = {.first = first.value, .pages = pages}};
    NTSTATUS status = vidmm_status(paging_run(device->process->vidmm, map_job, &call));

    if (NT_SUCCESS(status))
        *va = call.va;
    return status;
}

void vidmm_commands_unmap(struct vidmm_device *device, struct gpu_va va)
{
    struct map_call call = {.space = device->process->space, .va = va};

    if (va.value) /* of a lost adapter the GPU does not read it either */
        (void)paging_run(device->process->vidmm, unmap_job, &call);
}
