/* SPDX-License-Identifier: MIT */
#include "ddi/guarded.h"

#include <string.h>

#include "ddi/fenced.h"
#include "util/alloc.h"
#include "verify/verify.h"

_Static_assert(DDI_GUARD_BYTES <= DDI_FENCED_BEFORE, "the zone of a fence is the one in front");

bool ddi_guarded_init(struct ddi_guarded *guarded, size_t bytes, const char *what)
{
    *guarded = (struct ddi_guarded){.what = what};
    if (!bytes)
        return true;
    ddi_zone_begin();
    if (ddi_fences()) {
        guarded->fenced = ddi_fenced_take(bytes, DDI_FENCED_ALIGNMENT, what);
        guarded->data = guarded->fenced ? ddi_fenced_data(guarded->fenced) : NULL;
    } else {
        guarded->block = util_alloc(bytes + 2 * (size_t)DDI_GUARD_BYTES);
        guarded->data = guarded->block ? guarded->block + DDI_GUARD_BYTES : NULL;
    }
    if (!guarded->data)
        return false;
    memset(guarded->data, 0, bytes);
    memcpy(guarded->data - DDI_GUARD_BYTES, ddi_zone_known, DDI_GUARD_BYTES);
    guarded->room = bytes;
    if (guarded->fenced)
        guarded->room += ddi_fenced_slack(bytes, DDI_FENCED_ALIGNMENT);
    ddi_guarded_end(guarded, bytes);
    return true;
}

void ddi_guarded_finish(struct ddi_guarded *guarded)
{
    if (guarded->fenced)
        ddi_fenced_give(guarded->fenced);
    util_free(guarded->block);
    *guarded = (struct ddi_guarded){.data = NULL};
}

bool ddi_guarded_short_intact(const struct ddi_guarded *guarded)
{
    return memcmp(guarded->data - DDI_GUARD_BYTES, ddi_zone_known, DDI_GUARD_BYTES) == 0 &&
           memcmp(guarded->data + guarded->end, ddi_zone_known, guarded->behind) == 0;
}

static void report(const struct ddi_guarded *guarded, uint8_t *zone, size_t bytes, const char *ddi)
{
    size_t first = 0, changed = 0;

    while (first < bytes && zone[first] == ddi_zone_known[first])
        first++;
    if (first == bytes)
        return;
    for (size_t i = first; i < bytes; i++)
        changed += zone[i] != ddi_zone_known[i];
    VIOLATION("LIFE-191",
              "%s wrote outside of %s of %zu bytes: %zu bytes were changed at offset %td and "
              "behind, the first is now 0x%02x",
              ddi, guarded->what, guarded->end, changed, zone + first - guarded->data, zone[first]);
    memcpy(zone, ddi_zone_known, bytes);
}

void ddi_guarded_report(const struct ddi_guarded *guarded, const char *ddi)
{
    report(guarded, guarded->data - DDI_GUARD_BYTES, DDI_GUARD_BYTES, ddi);
    report(guarded, guarded->data + guarded->end, guarded->behind, ddi);
}
