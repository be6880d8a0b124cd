/* SPDX-License-Identifier: MIT */
/*
 * The structure that an entry gets at each call: a lent buffer (lent.h) of a size that the compiler
 * knows. The slot of the last call is kept for the next one of the same entry, since taking a slot
 * and giving it back costs more than all else of a loan. Calls that overlap take others.
 */
#ifndef DXGK_DDI_LENT_STRUCTURE_H
#define DXGK_DDI_LENT_STRUCTURE_H

#include <string.h>

#include "ddi/entry.h"
#include "ddi/lent.h"
#include "ddi/state.h"
#include "ddi/zone.h"

/* As ddi_lend. */
static inline bool ddi_structure_lend(struct ddi_lent *lent, enum ddi_entry entry, const void *from,
                                      size_t bytes, const char *what)
{
    struct ddi_state *state = ddi_state();
    uint8_t *slot = state ? state->kept[entry] : NULL;

    if (!slot || !from)
        return ddi_lend(lent, from, bytes, what);
    state->kept[entry] = NULL;
    lent->data = memcpy(slot + DDI_LENT_BEFORE, from, bytes);
    lent->block = slot;
    lent->bytes = bytes;
    lent->whole = DDI_LENT_SLOT;
    lent->what = what;
    return true;
}

/* As ddi_lent_check. */
static inline void ddi_structure_check(struct ddi_lent *lent, size_t bytes, bool wide,
                                       uintptr_t routine)
{
    const uint8_t *before = (const uint8_t *)lent->data - DDI_LENT_NEAR;
    const uint8_t *known = ddi_zone_known + DDI_LENT_BEFORE - DDI_LENT_NEAR;

    if (wide || !lent->block || lent->whole != DDI_LENT_SLOT ||
        (ddi_zone_differs(before, known) |
         ddi_zone_differs(before + DDI_LENT_NEAR + bytes, known + DDI_LENT_NEAR + bytes)))
        ddi_lent_check(lent, wide, routine);
}

/* As ddi_lent_end. */
static inline void ddi_structure_end(struct ddi_lent *lent, enum ddi_entry entry, size_t bytes,
                                     void *back)
{
    struct ddi_state *state = ddi_state();

    if (!lent->block || lent->whole != DDI_LENT_SLOT || state->kept[entry]) {
        ddi_lent_end(lent, back);
        return;
    }
    if (back)
        memcpy(back, lent->data, bytes);
    state->kept[entry] = lent->block;
    lent->block = NULL;
}

#endif
