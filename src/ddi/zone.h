/* SPDX-License-Identifier: MIT */
/*
 * Zones of known bytes around memory that a driver is lent. Each byte of a zone depends on its
 * offset, so that a copy of a zone to another place is seen as well as a fill.
 */
#ifndef DXGK_DDI_ZONE_H
#define DXGK_DDI_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DDI_ZONE_MOST 8192u /* bytes of the longest zone */
#define DDI_ZONE_NEAR 64u   /* those that are compared after each call */

/* What a zone is beside, for reports. */
struct ddi_zone_of {
    const char *what; /* "DXGKARG_ESCAPE" */
    size_t bytes;
    const char *rule;  /* a literal, usually LIFE-191 */
    uintptr_t routine; /* the driver's entry, which is named */
};

enum ddi_zone_side { DDI_ZONE_BEFORE, DDI_ZONE_BEHIND };

/* The bytes of a zone. */
extern uint8_t ddi_zone_known[DDI_ZONE_MOST];

/* Whether DDI_ZONE_NEAR bytes differ: not 0. Two of these may be joined without a branch. */
static inline uint64_t ddi_zone_differs(const uint8_t *a, const uint8_t *b)
{
    uint64_t differ = 0, x, y;

    for (unsigned i = 0; i < DDI_ZONE_NEAR; i += sizeof(x)) {
        __builtin_memcpy(&x, a + i, sizeof(x));
        __builtin_memcpy(&y, b + i, sizeof(y));
        differ |= x ^ y;
    }
    return differ;
}

/* Make them; to be called before their first use. */
void ddi_zone_begin(void);
/* Report what is not as in `want`, and repair it. A zone before the memory ends where that begins,
 * one behind it begins where it ends. Called while the driver's entry is still in progress. */
void ddi_zone_compare(uint8_t *have, const uint8_t *want, size_t bytes, enum ddi_zone_side side,
                      const struct ddi_zone_of *of);

#endif
