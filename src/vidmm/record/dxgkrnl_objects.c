/* SPDX-License-Identifier: MIT */
#include "vidmm/record/dxgkrnl_objects.h"
#include "nt/base/current.h"
#include "nt/ps/process.h"
#include "util/list.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/resource_record.h"
#include "vidmm/record/vidmm_record.h"

#define PREFERENCES     5u
#define PREFERENCE_BITS 6u /* of a segment, and of the end from which it is searched */

/* As DXGK_SEGMENTPREFERENCE has it. */
static uint64_t preference_of(const struct vidmm_allocation *allocation)
{
    uint64_t packed = 0;

    for (unsigned i = 0; i < PREFERENCES; i++)
        packed |= (uint64_t)(allocation->segments.preferred[i] |
                             (allocation->segments.preferred_down >> i & 1) << 5)
                  << (i * PREFERENCE_BITS);
    return packed;
}

static const struct vidmm_open *first_open(const struct vidmm_allocation *allocation)
{
    return list_empty(&allocation->opens)
               ? NULL
               : CONTAINER(allocation->opens.next, struct vidmm_open, link);
}

/* Of who has opened it first; of the system if nobody has. */
static uint64_t process_of(const struct vidmm_open *open)
{
    struct nt_process *nt = open ? open->device->process->nt : NULL;

    return (uintptr_t)nt_process_id(nt ? nt : nt_process_system());
}

void vidmm_tell_allocation(const struct vidmm_allocation *allocation, enum allocation_event event)
{
    static const enum wintrace_emitted kinds[] = {[ALLOCATION_BEGINS] = WINTRACE_ALLOCATION_START,
                                                  [ALLOCATION_ENDS] = WINTRACE_ALLOCATION_STOP,
                                                  [ALLOCATION_LISTED] = WINTRACE_ALLOCATION_LISTED};
    const struct vidmm_open *open;
    uint64_t handle;

    if (!wintrace_on())
        return;
    open = first_open(allocation);
    handle = vidmm_allocation_handle(allocation);
    wintrace_emit(kinds[event], process_of(open), open ? vidmm_device_handle(open->device) : 0,
                  vidmm_adapter_handle(allocation->vidmm), allocation->flags.Value,
                  allocation->bytes, allocation->alignment, 0, allocation->segments.supported,
                  preference_of(allocation), 0, allocation->segments.eviction, allocation->priority,
                  handle, handle, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, allocation->borrowed, 0, 0, 0);
}

void vidmm_tell_open(const struct vidmm_open *open, enum allocation_event event)
{
    static const enum wintrace_emitted kinds[] = {[ALLOCATION_BEGINS] = WINTRACE_OPEN_START,
                                                  [ALLOCATION_ENDS] = WINTRACE_OPEN_STOP,
                                                  [ALLOCATION_LISTED] = WINTRACE_OPEN_LISTED};

    if (wintrace_on())
        wintrace_emit(kinds[event], process_of(open), vidmm_device_handle(open->device),
                      vidmm_adapter_handle(open->allocation->vidmm), vidmm_open_handle(open),
                      vidmm_allocation_handle(open->allocation), 0, 0, open->handle,
                      open->resource_open ? open->resource_open->handle : 0, 0, 0, 0);
}
