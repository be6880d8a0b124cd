/* SPDX-License-Identifier: MIT */
/*
 * Memory of the host that a driver gets in many calls, which copy nothing: private data, lists of
 * DMA buffers, page table entries. Known bytes lie before and behind it; with special pool, it ends
 * at a fence (fenced.h).
 *
 *      | known bytes | memory ... end | known bytes |
 */
#ifndef DXGK_DDI_GUARDED_H
#define DXGK_DDI_GUARDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ddi/zone.h"

#define DDI_GUARD_BYTES DDI_ZONE_NEAR

struct ddi_fenced;

struct ddi_guarded {
    uint8_t *data; /* NULL: there is none */
    /* private */
    size_t end;      /* where the known bytes behind it begin: at what the driver was last told */
    uint32_t behind; /* bytes of those */
    size_t room;     /* with a fence: bytes up to it */
    uint8_t *block;
    struct ddi_fenced *fenced;
    const char *what;
};

/* The memory is zeroed; `what`, a literal, names it in reports. No bytes: there is none. False: out
 * of memory. */
bool ddi_guarded_init(struct ddi_guarded *guarded, size_t bytes, const char *what);
/* May be all zero (never initialized). */
void ddi_guarded_finish(struct ddi_guarded *guarded);
/* The next call is told only so many bytes of it. */
static inline void ddi_guarded_end(struct ddi_guarded *guarded, size_t bytes)
{
    const size_t left = guarded->room - bytes;

    if (!guarded->data)
        return;
    guarded->end = bytes;
    if (guarded->fenced && left < DDI_GUARD_BYTES) {
        guarded->behind = (uint32_t)left;
        for (size_t i = 0; i < left; i++)
            guarded->data[bytes + i] = ddi_zone_known[i];
    } else {
        guarded->behind = DDI_GUARD_BYTES;
        __builtin_memcpy(guarded->data + bytes, ddi_zone_known, DDI_GUARD_BYTES);
    }
}
/* The next call is told another part of it, and what follows that is not compared. */
static inline void ddi_guarded_open(struct ddi_guarded *guarded)
{
    guarded->behind = 0;
}
/* LIFE-191: report and repair what a driver has written around it; `ddi` names the entry, which has
 * returned. */
void ddi_guarded_report(const struct ddi_guarded *guarded, const char *ddi);

/* The same where less than DDI_GUARD_BYTES lie behind it. */
bool ddi_guarded_short_intact(const struct ddi_guarded *guarded);

/* Inline and of constant length: each submission looks at several. */
static inline bool ddi_guarded_intact(const struct ddi_guarded *guarded)
{
    if (!guarded->data)
        return true;
    if (guarded->behind != DDI_GUARD_BYTES)
        return ddi_guarded_short_intact(guarded);
    return !(ddi_zone_differs(guarded->data - DDI_GUARD_BYTES, ddi_zone_known) |
             ddi_zone_differs(guarded->data + guarded->end, ddi_zone_known));
}

static inline void ddi_guarded_check(const struct ddi_guarded *guarded, const char *ddi)
{
    if (!ddi_guarded_intact(guarded))
        ddi_guarded_report(guarded, ddi);
}

#endif
