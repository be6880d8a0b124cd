/* SPDX-License-Identifier: MIT */
#include "ddi/zone.h"

#include <string.h>

#include "ddi/ddi.h"
#include "verify/verify.h"

uint8_t ddi_zone_known[DDI_ZONE_MOST];

void ddi_zone_begin(void)
{
    uint32_t value = 0x9E3779B9u;

    if (ddi_zone_known[0])
        return;
    for (size_t i = DDI_ZONE_MOST; i-- > 0;) {
        value = value * 1664525u + 1013904223u;
        ddi_zone_known[i] = (uint8_t)(value >> 24 | 1); /* never 0: zeroes past an end are seen */
    }
}

void ddi_zone_compare(uint8_t *have, const uint8_t *want, size_t bytes, enum ddi_zone_side side,
                      const struct ddi_zone_of *of)
{
    size_t first = 0, last = bytes, changed = 0;
    char place[128];

    if (memcmp(have, want, bytes) == 0)
        return;
    while (have[first] == want[first])
        first++;
    while (have[last - 1] == want[last - 1])
        last--;
    for (size_t i = first; i < last; i++)
        changed += have[i] != want[i];
    if (!ddi_symbolize(of->routine, place, sizeof(place)))
        strcpy(place, "the driver");
    if (side == DDI_ZONE_BEFORE)
        VIOLATION(of->rule,
                  "%s wrote before %s of %zu bytes: %zu bytes were changed from %zu to %zu bytes "
                  "before its start, the first is now 0x%02x",
                  place, of->what, of->bytes, changed, bytes - first, bytes - last + 1, have[first]);
    else
        VIOLATION(of->rule,
                  "%s wrote past %s of %zu bytes: %zu bytes were changed from offset %zu to %zu, "
                  "%zu past its end, the first is now 0x%02x",
                  place, of->what, of->bytes, changed, of->bytes + first, of->bytes + last - 1,
                  first, have[first]);
    memcpy(have, want, bytes);
}
