/* SPDX-License-Identifier: MIT */
/*
 * The entries of a driver by number: what is in progress, and how it is entered, is asked by these
 * and never by text. The door, the exclusion and the reports read the table; rooms above name an
 * entry to ask whether it is in progress (ddi_inside).
 */
#ifndef DXGK_DDI_ENTRY_H
#define DXGK_DDI_ENTRY_H

#include <stdint.h>

enum ddi_entry {
    DDI_NONE, /* not an entry: a callback of the host's */
#define DDI_ENTRY(name, level, irql, limit, flags, structure, way) DDI_##name,
#include "ddi/entry_table.h"
    /* A callback that one asks about as about an entry. */
    DDI_CB_POWER_RUNTIME_CONTROL_REQUEST,
};

/* How an entry is entered. */
enum ddi_level {
    LEVEL_ZERO,      /* reentrant, one thread of a user process */
    LEVEL_SCHEDULER, /* level one, GPU scheduler class */
    LEVEL_VIDMM,     /* level one, VidMm class (THREAD-021) */
    LEVEL_ROOT,      /* level one, SetRootPageTable alone (THREAD-021) */
    LEVEL_CHILD,     /* level one, child I/O class: one thread per child (THREAD-024) */
    LEVEL_QUERY, /* level zero, also beside SetPowerState and QueryChildRelations (THREAD-032) */
    LEVEL_POWER, /* level zero, also beside ResetFromTimeout (THREAD-033) */
    LEVEL_ALONE, /* levels two and three */
    LEVEL_NONE,  /* interrupts, deferred calls, debug information: beside everything */
};

enum ddi_entry_flag {
    DDI_BESIDE_QUERY = 1, /* does not keep LEVEL_QUERY out */
    DDI_BESIDE_POWER = 2, /* does not keep LEVEL_POWER out */
    DDI_LETS_SLEEP = 4,   /* wakes no sleeping adapter: who sends an escape has (LIFE-139) */
    DDI_ROUTINE = 8,      /* a single interrupt or deferred call, in reports of overdue ones */
};

/* The way of the structure that an entry is given by address. The driver gets a copy, so what it
 * does to a structure that only goes in, or later through a pointer that it kept, never reaches the
 * host; what crosses could also cross to a driver in another process. Memory that a structure
 * points to is the host's own copy for the call, or lent (loan.h). */
enum ddi_way {
    DDI_WAY_NONE, /* there is none */
    DDI_WAY_IN,   /* to the driver */
    DDI_WAY_BOTH, /* and back */
};

struct ddi_entry_info {
    const char *name;
    enum ddi_level level;
    uint8_t irql;     /* the door raises the level to this one, if it is lower */
    uint64_t limit;   /* of virtual time */
    unsigned flags;   /* enum ddi_entry_flag */
    enum ddi_way way; /* of the structure */
    uint32_t bytes;   /* of the structure; 0: there is none */
};

/* Not for DDI_NONE and callbacks. */
const struct ddi_entry_info *ddi_entry_info(enum ddi_entry entry);

#endif
