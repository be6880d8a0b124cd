/* SPDX-License-Identifier: MIT */
/* Frames of a full driver, for recordings and for the trace (PRES-317). */
#include "screens/scanouts_record.h"

void scanout_frame(struct scanout *s, enum screens_cause cause)
{
    const struct scanouts_config *config = &s->all->config;
    RECT all;
    struct screens_frame frame;

    if (!s->shared || !s->lit || !config->modes->source[s->source].visible)
        return;
    s->frames++;
    if (!config->frame)
        return;
    all = (RECT){0, 0, (LONG)s->shared->surface.Width, (LONG)s->shared->surface.Height};
    frame = (struct screens_frame){
        .source = s->source, .number = s->frames, .cause = cause, .rectangle = &all, .rectangles = 1};
    config->frame(config->frame_context, &frame);
}

uint64_t scanouts_frames(const struct scanouts *scanouts, UINT source)
{
    return source < MODES_MAX_SOURCES ? scanouts->source[source].frames : 0;
}

/* ---- the trace ---- */

/* Beside those of packets, which have bit 63 clear. */
static uint64_t new_span(struct scanouts *scanouts)
{
    return UINT64_C(1) << 63 | (uint64_t)scanouts->config.modes->ddi->handles.adapter << 32 |
           ++scanouts->spans;
}

void scanout_trace_begin(struct flip *flip)
{
    const struct scanout *s = flip->scanout;

    if (!trace_current)
        return;
    flip->span = new_span(s->all);
    trace_async_begin(s->all->config.modes->source[s->source].track, "flip", flip->span, "source",
                      s->source, "interval", flip->interval);
    trace_more("segment", flip->primary.where.segment, "address", flip->primary.where.address);
}

void scanout_trace_end(struct flip *flip, bool shown)
{
    const struct scanout *s = flip->scanout;

    if (flip->span && trace_current)
        trace_async_end(s->all->config.modes->source[s->source].track, "flip", flip->span, "shown",
                        shown, NULL, 0);
    flip->span = 0;
}
