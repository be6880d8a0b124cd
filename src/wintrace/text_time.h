/* SPDX-License-Identifier: MIT */
/* Times of day as XML writes them: 2026-01-02T03:04:05.678901200+01:00. */
#ifndef DXGK_WINTRACE_TEXT_TIME_H
#define DXGK_WINTRACE_TEXT_TIME_H

#include "wintrace/text_event.h"

/* ns since the begin of 1970, UTC. The zone may be missing, or off by a minute as tracerpt writes
 * it: that is the same for all events of a file. False: it is no such time, or not of 1970 to
 * 2250. */
bool text_time(struct text text, uint64_t *ns);

#endif
