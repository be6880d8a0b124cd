/* SPDX-License-Identifier: MIT */
#include "screens/vsync_kind.h"
#include "modes/modes.h"
#include "trace/trace.h"

void vsync_count(struct vsync_counts *counts, const struct modes *modes, UINT source,
                 enum vsync_kind kind)
{
    static const char *const names[] = {[VSYNC_REPORTED] = "vertical sync",
                                        [VSYNC_SIMULATED] = "vertical sync, simulated",
                                        [VSYNC_SUBSTITUTED] = "vertical sync, substituted"};

    counts->of[kind]++;
    trace_instant(modes->source[source].track, names[kind], "source", source, "count",
                  counts->of[kind]);
}
