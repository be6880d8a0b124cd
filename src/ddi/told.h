/* SPDX-License-Identifier: MIT */
/* What is kept of a call that enters the driver: arguments for the trace, of the entries about
 * displays (PRES-334); and the names of entries, while somebody wants them. */
#ifndef DXGK_DDI_TOLD_H
#define DXGK_DDI_TOLD_H

#include <stddef.h>

#include <ntddk.h>

#include "ddi/entry.h"

/* Arguments of the trace's record before: source, counts, address and flags, no pixels. `args`: the
 * structure of the entry, or what ddi_told_... below stand for. */
void ddi_told_arguments(enum ddi_entry entry, const void *args);

/* Of entries without a structure. */
struct ddi_told_control { /* ControlInterrupt, ControlInterrupt2 */
    UINT type, state;
};
struct ddi_told_screen { /* SystemDisplayEnable, SystemDisplayWrite */
    UINT target, width, lines, top;
};

#define DDI_CALLED 256u

/* The first entries that are called from some time on. */
struct ddi_called {
    const char *name[DDI_CALLED];
    size_t count;
};

static inline void ddi_called_add(struct ddi_called *called, const char *name)
{
    if (called->count < DDI_CALLED)
        called->name[called->count++] = name;
}

#endif
