/* SPDX-License-Identifier: MIT */
/* Pictures of what lasted from when to when: time to the right, places downwards, one box for each
 * interval, whose text is shown where a browser's pointer rests. SVG. */
#ifndef DXGK_REPORT_TIMELINE_H
#define DXGK_REPORT_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/intervals.h"

struct timeline {
    FILE *out;
    uint64_t end; /* virtual ns at the right edge */
    unsigned y;   /* where the next chart begins */
    /* of more than TIMELINE_BOXES intervals, only these are drawn: the longer ones, and so many of
     * this length */
    uint64_t shortest, ties, left_out;
};

#define TIMELINE_BOXES 4000u

/* A picture of that height. */
void timeline_begin(struct timeline *timeline, FILE *out, const char *title, uint64_t end,
                    unsigned height);
/* After the beginning: all that may be drawn, of which the longest are chosen, so that the picture
 * of a long run is one that browsers show. False: out of memory. */
bool timeline_choose(struct timeline *timeline, const struct report_intervals *intervals);
/* Asked once for each of them, before its box: whether it is drawn. */
bool timeline_shows(struct timeline *timeline, const struct report_interval *interval);
/* A chart of that height below the others, with a heading; and its end. */
void timeline_chart(struct timeline *timeline, const char *heading, unsigned height);
void timeline_chart_end(struct timeline *timeline);
/* A label at the left of a row of the chart, and a box in it. `y` and `height` are in the chart.
 * The color says which allocation it is; `cut` marks an end that another allocation was the cause
 * of. The box must be closed by timeline_box_end; what is written in between is its text. */
void timeline_label(struct timeline *timeline, unsigned y, const char *label);
void timeline_box(struct timeline *timeline, double y, double height,
                  const struct report_interval *interval, bool cut);
void timeline_box_end(struct timeline *timeline);
/* False: writing failed. */
bool timeline_end(struct timeline *timeline);
/* What a chart takes of the height of a picture, besides its own. */
unsigned timeline_chart_frame(void);

#endif
