/* SPDX-License-Identifier: MIT */
/* The EDID of a simulated monitor (PRES-321): made of a list of timings. */
#ifndef DXGK_MODES_EDID_MAKE_H
#define DXGK_MODES_EDID_MAKE_H

#include <stddef.h>
#include <stdint.h>

#include "modes/timing.h"

#define EDID_TEXT 13u /* most characters of a name or a serial number */

struct edid_wish {
    const struct timing *timing; /* the first is preferred; the rest follows in no order */
    unsigned count;
    const char *name;   /* NULL: one of this host */
    const char *serial; /* NULL: it has none */
};

/* EDID 1.4 of as many blocks as the timings need, to be freed with util_free. A detailed timing
 * counts its pixel rate in 10 kHz, so that one that is between is rounded. NULL: out of memory,
 * or what is wished for cannot be said in an EDID, and `error` says what. */
uint8_t *edid_make(const struct edid_wish *wish, unsigned *blocks, char *error, size_t error_bytes);

#endif
