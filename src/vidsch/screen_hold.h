/* SPDX-License-Identifier: MIT */
/*
 * Work that writes to what a screen shows while a flip to something else is queued: it waits until
 * the screen has left it (PRES-137, PRES-138). Only work that is queued behind the flip does, since
 * the flip waits for what was queued before it.
 */
#ifndef DXGK_VIDSCH_SCREEN_HOLD_H
#define DXGK_VIDSCH_SCREEN_HOLD_H

#include "util/list.h"
#include "vidsch/vidsch.h"

struct packet;

#define VIDSCH_MOST_SOURCES 16u /* video present sources */

/* Contexts that wait, and what their packets and others wait for. */
struct vidsch_screen_holds {
    uint32_t flips_over[VIDSCH_MOST_SOURCES]; /* by source: vidsch_flips_over calls so far */
    struct list contexts;                     /* vidsch_context.run_link */
    struct list holds;                        /* few, and seldom any */
};

/* A packet that is about to be queued writes to the allocation. False: out of memory. */
bool vidsch_screen_note(struct packet *packet, D3DKMT_HANDLE allocation);
/* It waits for nothing any more. */
void vidsch_screen_forget(struct packet *packet);
/* Must the context, whose head packet would be next, wait? It is not ready then. */
bool vidsch_screen_holds(struct vidsch_context *context);
/* Is it a flip of a mode that is over (PRES-338)? */
bool vidsch_screen_flip_is_over(const struct packet *packet);
/* A screen has left something, or stays at it: look again. Level up to DISPATCH_LEVEL. */
void vidsch_screen_left(struct vidsch *vidsch);

#endif
