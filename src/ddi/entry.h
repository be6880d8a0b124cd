/* SPDX-License-Identifier: MIT */
/*
 * Numbers for the entries of a driver. Code that asks which DDI is in progress, or how an entry is
 * called, uses these numbers, never names. The door, the exclusion and the reports read the table;
 * upper rooms pass a number to ddi_inside.
 */
#ifndef DXGK_DDI_ENTRY_H
#define DXGK_DDI_ENTRY_H

#include <stdint.h>

enum ddi_entry {
    DDI_NONE, /* not an entry: a callback of the host */
#define DDI_ENTRY(name, level, irql, limit, flags, structure, way) DDI_##name,
#include "ddi/entry_table.h"
    DDI_ENTRIES,
    /* A callback that ddi_inside is asked about like an entry. */
    DDI_CB_POWER_RUNTIME_CONTROL_REQUEST = DDI_ENTRIES,
};

/* Which threads may be inside the driver together with an entry. */
enum ddi_level {
    LEVEL_ZERO,      /* level 0: reentrant, but one thread per user process */
    LEVEL_SCHEDULER, /* level 1, GPU scheduler class */
    LEVEL_VIDMM,     /* level 1, VidMm class (THREAD-021) */
    LEVEL_ROOT,      /* level 1, a class for SetRootPageTable alone (THREAD-021) */
    LEVEL_SWIZZLING, /* level 1, swizzling class (THREAD-023) */
    LEVEL_POINTER,   /* level 1, pointer class (PRES-228) */
    LEVEL_CHILD,     /* level 1, child I/O class: one thread per child (THREAD-024) */
    /* level 0, may also run during SetPowerState and QueryChildRelations (THREAD-032) */
    LEVEL_QUERY,
    LEVEL_POWER, /* level 0, may also run during ResetFromTimeout (THREAD-033) */
    LEVEL_ALONE, /* levels 2 and 3 */
    LEVEL_NONE,  /* interrupts, DPCs, debug information: may run during any other call */
};

enum ddi_entry_flag {
    DDI_BESIDE_QUERY = 1, /* LEVEL_QUERY may run during this call */
    DDI_BESIDE_POWER = 2, /* LEVEL_POWER may run during this call */
    /* does not wake a sleeping adapter: the sender of an escape has done so (LIFE-139) */
    DDI_LETS_SLEEP = 4,
    DDI_ROUTINE = 8, /* a single ISR or DPC, for reports of overdue ones */
};

/* Direction in which the structure that an entry gets by address is copied. The driver gets a copy,
 * so its changes to a structure that is only passed in, or later ones through a pointer that it
 * kept, never reach the host; the same copies would work for a driver in another process. Memory
 * that a structure points to is the host's own copy for the call, or lent (loan.h). */
enum ddi_way {
    DDI_WAY_NONE, /* there is no structure */
    DDI_WAY_IN,   /* to the driver */
    DDI_WAY_BOTH, /* to the driver and back */
};

struct ddi_entry_info {
    const char *name;
    enum ddi_level level;
    uint8_t irql;     /* the door raises the IRQL to this, if it is lower */
    uint64_t limit;   /* virtual time that the call may take */
    unsigned flags;   /* enum ddi_entry_flag */
    enum ddi_way way; /* of the structure */
    uint32_t bytes;   /* of the structure; 0: there is none */
};

/* The table, by entry. */
extern const struct ddi_entry_info ddi_entry_infos[];

/* Not for DDI_NONE or callbacks. */
static inline const struct ddi_entry_info *ddi_entry_info(enum ddi_entry entry)
{
    return &ddi_entry_infos[entry];
}

#endif
