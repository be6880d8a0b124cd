/* SPDX-License-Identifier: MIT */
#include "report/timeline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/alloc.h"

#define LEFT    150u /* for labels */
#define WIDTH   1000u
#define HEADING 22u
#define GAP     16u

static const char *const colours[] = {
    "#1f77b4", "#ff7f0e", "#2ca02c", "#17becf", "#9467bd", "#8c564b",
    "#e377c2", "#7f7f7f", "#bcbd22", "#aec7e8", "#ffbb78", "#98df8a",
};

enum { COLOURS = sizeof(colours) / sizeof(colours[0]) };

unsigned timeline_chart_frame(void)
{
    return HEADING + GAP;
}

void timeline_begin(struct timeline *timeline, FILE *out, const char *title, uint64_t end,
                    unsigned height)
{
    *timeline = (struct timeline){.out = out, .end = end ? end : 1, .ties = UINT64_MAX};
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n<title>%s</title>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            LEFT + WIDTH + 20, height + 30, title);
    timeline->y = 4;
}

static int longest_first(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;

    return *left > *right ? -1 : *left < *right;
}

bool timeline_choose(struct timeline *timeline, const struct report_intervals *intervals)
{
    uint64_t *lengths;

    if (intervals->count <= TIMELINE_BOXES)
        return true;
    lengths = util_alloc(intervals->count * sizeof(*lengths));
    if (!lengths)
        return false;
    for (size_t i = 0; i < intervals->count; i++)
        lengths[i] = intervals->list[i].to - intervals->list[i].from;
    qsort(lengths, intervals->count, sizeof(*lengths), longest_first);
    timeline->shortest = lengths[TIMELINE_BOXES - 1];
    timeline->ties = 0;
    for (size_t i = TIMELINE_BOXES; i > 0 && lengths[i - 1] == timeline->shortest; i--)
        timeline->ties++;
    util_free(lengths);
    return true;
}

bool timeline_shows(struct timeline *timeline, const struct report_interval *interval)
{
    const uint64_t length = interval->to - interval->from;

    if (length > timeline->shortest)
        return true;
    if (length == timeline->shortest && timeline->ties > 0) {
        timeline->ties--;
        return true;
    }
    timeline->left_out++;
    return false;
}

void timeline_chart(struct timeline *timeline, const char *heading, unsigned height)
{
    fprintf(timeline->out,
            "<text x=\"4\" y=\"%u\" font-weight=\"bold\">%s</text>\n"
            "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"#f4f4f4\" "
            "stroke=\"#cccccc\"/>\n",
            timeline->y + 14, heading, LEFT, timeline->y + HEADING, WIDTH, height);
    for (unsigned i = 0; i <= 4; i++)
        fprintf(timeline->out, "<text x=\"%u\" y=\"%u\" text-anchor=\"%s\">%.3f ms</text>\n",
                LEFT + WIDTH * i / 4, timeline->y + HEADING + height + 11,
                i == 0   ? "start"
                : i == 4 ? "end"
                         : "middle",
                (double)timeline->end * i / 4e6);
    timeline->y += HEADING + height + GAP;
    fprintf(timeline->out, "<g transform=\"translate(0 %u)\">\n", timeline->y - GAP - height);
}

void timeline_chart_end(struct timeline *timeline)
{
    fputs("</g>\n", timeline->out);
}

void timeline_label(struct timeline *timeline, unsigned y, const char *label)
{
    fprintf(timeline->out, "<text x=\"%u\" y=\"%u\" text-anchor=\"end\">%s</text>\n", LEFT - 4,
            y + 9, label);
}

void timeline_box(struct timeline *timeline, double y, double height,
                  const struct report_interval *interval, bool cut)
{
    double left = LEFT + (double)WIDTH * (double)interval->from / (double)timeline->end;
    double right = LEFT + (double)WIDTH * (double)interval->to / (double)timeline->end;

    if (right < left + 1)
        right = left + 1;
    if (height < 1)
        height = 1;
    if (cut)
        fprintf(timeline->out,
                "<path d=\"M%.1f %.1fv%.1f\" stroke=\"#d62728\" stroke-width=\"2\"/>\n", right, y,
                height);
    fprintf(timeline->out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
            "fill-opacity=\"0.8\"><title>",
            left, y, right - left, height, colours[interval->allocation % COLOURS]);
}

void timeline_box_end(struct timeline *timeline)
{
    fprintf(timeline->out, "</title></rect>\n");
}

bool timeline_end(struct timeline *timeline)
{
    if (timeline->left_out)
        fprintf(timeline->out,
                "<text x=\"%u\" y=\"%u\">%" PRIu64 " shorter ones are not drawn</text>\n", LEFT,
                timeline->y + 16, timeline->left_out);
    fprintf(timeline->out, "</svg>\n");
    return !ferror(timeline->out);
}
