/* SPDX-License-Identifier: MIT */
/* Vertical syncs that are reported before the device has taken the address that they name
 * (PRES-336). */
#include "screens/scanouts_record.h"
#include "verify/verify.h"

/* The address is that of a flip that waits for this. */
static bool completes(const struct scanout *s, uint64_t address)
{
    for (UINT i = 0; i < s->handed_count; i++)
        if (s->handed[i]->primary.where.address == address)
            return true;
    return false;
}

void scanout_look_early(struct scanout *s, uint64_t address)
{
    const struct scanouts_config *config = &s->all->config;
    const struct vidmm_allocation *before = s->now.allocation ? s->now.allocation
                                            : s->shared       ? s->shared->allocation
                                                              : NULL;
    const uint64_t was = s->now.allocation ? s->now.where.address
                         : s->shared       ? s->shared->where.address
                                           : address;
    const void *shown;

    if (s->early || !config->scanned || !before || was == address || !completes(s, address))
        return;
    shown = config->scanned(config->scanned_context, s->source);
    if (!shown || shown != vidmm_scanout_start(before))
        return;
    s->early = true;
    WARNING("PRES-336",
            "a vertical sync of target 0x%x names 0x%llx, but the device still scans out the primary "
            "before, at 0x%llx",
            s->target, (unsigned long long)address, (unsigned long long)was);
}
