/* SPDX-License-Identifier: MIT */
/*
 * Kicks: how the worker is told that a node may have something to do. A kick sets the bit of the
 * node and wakes the worker if it sleeps, so a burst of packets or completions costs one wake-up.
 * Any level: a time that has passed (timeout.c, preempt.c) may be noticed in the middle of an
 * interrupt routine.
 */
#ifndef DXGK_VIDSCH_KICK_H
#define DXGK_VIDSCH_KICK_H

struct vidsch;
struct vidsch_node;

void vidsch_kick_node(struct vidsch_node *node);
void vidsch_kick_all(struct vidsch *vidsch);
/* Wake the worker for work that belongs to no node. */
void vidsch_kick_worker(struct vidsch *vidsch);

#endif
