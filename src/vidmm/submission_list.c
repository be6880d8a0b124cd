/* SPDX-License-Identifier: MIT */
/*
 * Residency of WDDM 1.x: no client says what shall be resident; the allocation list of each submission does (RES-002). It is served
 * by the residency list of the device. What a submission refers to gets on the list, and stays there: packets go only when the whole
 * list is resident. When the list would outgrow the segments, the scheduler lets the device finish its work and asks again with
 * `only`; what is not of the present submission becomes a victim then like everything that nobody needs.
 */
#include "vidmm/allocation.h"
#include "vidmm/budget.h"
#include "vidmm/placement.h"

/* Every listed allocation that is not there yet is charged and counted; all or nothing. */
static NTSTATUS count_new(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count)
{
    NTSTATUS status = STATUS_SUCCESS;
    UINT done;

    for (done = 0; done < count && NT_SUCCESS(status); done++) {
        struct vidmm_open *open = list[done] ? open_find(device, list[done]) : NULL;

        if (!open || open->residency_count)
            continue;
        status = budget_charge(open, true);
        if (NT_SUCCESS(status))
            open->residency_count = 1;
    }
    if (NT_SUCCESS(status))
        return status;
    while (done--) {
        struct vidmm_open *open = list[done] ? open_find(device, list[done]) : NULL;

        if (open && open->residency_count && list_empty(&open->residency_link)) {
            open->residency_count = 0;
            budget_uncharge(open);
        }
    }
    return status;
}

/* Mark what is referred to; the rest leaves. */
static void keep_only(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count)
{
    for (UINT i = 0; i < count; i++)
        if (list[i])
            open_find(device, list[i])->mark = 1;
    LIST_FOR_SAFE(node, next, &device->residency) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, residency_link);

        if (!open->mark) {
            open->residency_count = 0;
            residency_remove(open, false);
        }
    }
    for (UINT i = 0; i < count; i++)
        if (list[i])
            open_find(device, list[i])->mark = 0;
}

NTSTATUS vidmm_submission_list(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count,
                               bool only)
{
    struct vidmm *vidmm = device->process->vidmm;
    NTSTATUS status = STATUS_SUCCESS;

    sim_mutex_lock(&vidmm->lock);
    for (UINT i = 0; i < count && NT_SUCCESS(status); i++)
        if (list[i] && !open_find(device, list[i]))
            status = STATUS_INVALID_HANDLE; /* destroyed since it was looked up */
    if (NT_SUCCESS(status) && only)
        keep_only(device, list, count);
    if (NT_SUCCESS(status))
        status = count_new(device, list, count);
    for (UINT i = 0; i < count && NT_SUCCESS(status); i++) {
        struct vidmm_open *open = list[i] ? open_find(device, list[i]) : NULL;

        if (open && list_empty(&open->residency_link))
            residency_add(open);
    }
    sim_mutex_unlock(&vidmm->lock);
    return vidmm_status(status);
}
