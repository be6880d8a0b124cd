/* SPDX-License-Identifier: MIT */
#include "vidmm/space/va_history.h"
#include "sim/machine.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/va_range.h"

void va_history_note(const struct va_piece *piece, uint64_t first, uint64_t pages,
                     enum mapping_end end)
{
    struct va_history *history = &piece->range->space->history;

    if (!piece->allocation)
        return;
    history->last[history->count++ % VA_HISTORY] = (struct va_past){
        .first = first,
        .pages = pages,
        .allocation = piece->allocation->driver_handle,
        .bytes = piece->allocation->bytes,
        .time = sim_now(),
        .end = end};
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
