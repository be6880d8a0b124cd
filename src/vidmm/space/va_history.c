/* SPDX-License-Identifier: MIT */
#include "vidmm/space/va_history.h"
#include "sim/machine.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/va_range.h"

D3DKMT_HANDLE va_history_handle(const struct vidmm_space *space,
                                const struct vidmm_allocation *allocation)
{
    LIST_FOR(link, &allocation->opens) {
        const struct vidmm_open *open = CONTAINER(link, struct vidmm_open, link);

        if (open->device && open->device->process == space->process)
            return open->handle;
    }
    return 0;
}

const char *va_history_end_text(enum mapping_end end)
{
    static const char *const names[] = {
        [MAPPING_FREED] = "its range was freed",
        [MAPPING_REPLACED] = "it was unmapped or mapped over",
        [MAPPING_DESTROYED] = "it was destroyed",
        [MAPPING_CLOSED] = "its last open in the process was closed",
    };

    return names[end];
}

void va_history_note(const struct va_piece *piece, uint64_t first, uint64_t pages,
                     enum mapping_end end)
{
    struct va_history *history = &piece->range->space->history;

    chronicle_space(
        piece->range->space->vidmm,
        &(struct chronicle_event){.kind = CHRONICLE_UNMAPPED,
                                  .process = chronicle_process(piece->range->space->process),
                                  .first = first,
                                  .pages = pages,
                                  .why = end});
    if (!piece->allocation)
        return;
    history->last[history->count++ % VA_HISTORY] = (struct va_past){
        .first = first,
        .pages = pages,
        .number = piece->allocation->number.of_client,
        .handle = va_history_handle(piece->range->space, piece->allocation),
        .bytes = piece->allocation->bytes,
        .time = sim_now(),
        .end = end,
        .call = refusal_call()};
}

const struct va_past *va_history_find(const struct va_history *history, uint64_t page)
{
    for (uint64_t n = 0; n < VA_HISTORY && n < history->count; n++) {
        const struct va_past *past = &history->last[(history->count - 1 - n) % VA_HISTORY];

        if (page - past->first < past->pages)
            return past;
    }
    return NULL;
}
