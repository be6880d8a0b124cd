/* SPDX-License-Identifier: MIT */
/* The order and the times of events that were read. */
#ifndef DXGK_WINTRACE_ORDER_H
#define DXGK_WINTRACE_ORDER_H

#include "wintrace/wintrace.h"

/* Sort the events by time, equal ones in the order in which they were read, and turn times from
 * ticks of a clock into ns since the first one. `frequency`: ticks a second, 1 to 10^10. */
void wintrace_order(struct wintrace *trace, uint64_t frequency);

#endif
