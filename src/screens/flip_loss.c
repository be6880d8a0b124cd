/* SPDX-License-Identifier: MIT */
/* Flips that no vertical sync completes, of the primary alone and of planes (PRES-256). */
#include "screens/scanouts_record.h"

bool flip_ask_reset(struct scanout *s)
{
    const struct scanouts_config *config = &s->all->config;
    const bool reset = config->lost && !config->modes->ddi->gone &&
                       config->modes->source[s->source].visible &&
                       config->lost(config->lost_context, s->source);

    s->all->resetting = reset;
    return reset;
}
