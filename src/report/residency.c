/* SPDX-License-Identifier: MIT */
#include "report/residency.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/intervals.h"
#include "report/timeline.h"
#include "util/alloc.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/segment/segment.h"

enum { CHART = 220, WHYS = CHRONICLE_DESTROYED + 1, PAIRS = 12 };

static const char *why_text(uint32_t why)
{
    return why == CHRONICLE_DESTROYED ? "destroyed"
           : why == ABSENCE_MOVED     ? "moved to another place"
                                      : allocation_absence_text((enum allocation_absence)why);
}

static const char *segment_kind(const struct vidmm *vidmm, UINT segment)
{
    return segment == 0                                    ? "system memory, outside of segments"
           : segment_is_aperture(&vidmm->segment[segment]) ? "aperture"
                                                           : "memory";
}

/* ---- text ---- */

static bool in_segment(const struct report_interval *stay, uint32_t segment)
{
    return stay->segment == segment;
}

static bool write_segment(const struct vidmm *vidmm, const struct report_intervals *stays,
                          UINT segment, FILE *out)
{
    uint64_t count = 0, lasting = 0, whys[WHYS] = {0}, pages, time;

    for (size_t i = 0; i < stays->count; i++) {
        const struct report_interval *stay = &stays->list[i];

        if (stay->segment != segment)
            continue;
        count++;
        lasting += !stay->ended;
        if (stay->ended && stay->why < WHYS)
            whys[stay->why]++;
    }
    if (count == 0)
        return true;
    if (!report_fullest(stays, in_segment, segment, &pages, &time))
        return false;
    fprintf(out, "  segment %u, %s", segment, segment_kind(vidmm, segment));
    if (segment != 0)
        fprintf(out, ", %" PRIu64 " KiB", vidmm->segment[segment].bytes / 1024);
    fprintf(out,
            "\n    %-32s %" PRIu64 ", %" PRIu64 " of them still\n    %-32s %" PRIu64
            " KiB, at %.3f ms\n",
            "stays", count, lasting, "fullest", pages * 4, (double)time / 1e6);
    for (uint32_t i = 0; i < WHYS; i++)
        if (whys[i] > 0)
            fprintf(out, "    %-32s %" PRIu64 "\n", why_text(i), whys[i]);
    return true;
}

/* Who left for whom. */
struct pair {
    uint32_t victim, newcomer;
    uint64_t times;
};

static int by_names(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;

    if (left->newcomer != right->newcomer)
        return left->newcomer < right->newcomer ? -1 : 1;
    return left->victim < right->victim ? -1 : left->victim > right->victim;
}

static int by_times(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;

    if (left->times != right->times)
        return left->times > right->times ? -1 : 1;
    return by_names(a, b);
}

static bool write_pairs(const struct report_intervals *stays, FILE *out)
{
    struct pair *pairs = util_alloc((stays->count + 1) * sizeof(*pairs));
    size_t count = 0, distinct = 0;

    if (!pairs)
        return false;
    for (size_t i = 0; i < stays->count; i++)
        if (stays->list[i].room_for != 0)
            pairs[count++] = (struct pair){stays->list[i].allocation, stays->list[i].room_for, 1};
    qsort(pairs, count, sizeof(*pairs), by_names);
    for (size_t i = 0; i < count; i++) {
        if (distinct > 0 && by_names(&pairs[distinct - 1], &pairs[i]) == 0)
            pairs[distinct - 1].times++;
        else
            pairs[distinct++] = pairs[i];
    }
    qsort(pairs, distinct, sizeof(*pairs), by_times);
    if (distinct > 0)
        fprintf(out, "  who was evicted for whom\n");
    for (size_t i = 0; i < distinct && i < PAIRS; i++)
        fprintf(out, "    allocation %-6u for %-6u %21" PRIu64 "\n", pairs[i].victim,
                pairs[i].newcomer, pairs[i].times);
    if (distinct > PAIRS)
        fprintf(out, "    and %zu other pairs\n", distinct - PAIRS);
    util_free(pairs);
    return true;
}

static void write_loss(const struct vidmm *vidmm, FILE *out)
{
    if (vidmm->chronicle.lost > 0)
        fprintf(out, "  %" PRIu64 " events are missing: no memory was left for them\n",
                vidmm->chronicle.lost);
}

bool report_residency_text(const struct vidmm *vidmm, const char *name, uint64_t now, FILE *out)
{
    struct report_intervals stays;
    bool good = report_stays(&vidmm->chronicle, now, &stays);

    fprintf(out, "residency, %s\n", name);
    for (UINT segment = 0; good && segment <= vidmm->segment_count; segment++)
        good = write_segment(vidmm, &stays, segment, out);
    good = good && write_pairs(&stays, out);
    write_loss(vidmm, out);
    report_intervals_free(&stays);
    return good && !ferror(out);
}

/* ---- picture ---- */

/* The pages of a segment that were used at any time: [0, end). */
static uint64_t used_end(const struct report_intervals *stays, UINT segment)
{
    uint64_t end = 0;

    for (size_t i = 0; i < stays->count; i++) {
        const struct report_interval *stay = &stays->list[i];

        if (stay->segment == segment && stay->first + stay->pages > end)
            end = stay->first + stay->pages;
    }
    return end;
}

static void draw_stay(struct timeline *timeline, const struct report_interval *stay, double scale)
{
    timeline_box(timeline, (double)stay->first * scale, (double)stay->pages * scale, stay,
                 stay->room_for != 0);
    fprintf(timeline->out, "allocation %u, %" PRIu64 " KiB at 0x%" PRIx64 ", %.3f to %.3f ms",
            stay->allocation, stay->pages * 4, stay->first << PAGE_BITS, (double)stay->from / 1e6,
            (double)stay->to / 1e6);
    if (stay->room_for)
        fprintf(timeline->out, ", evicted for allocation %u", stay->room_for);
    else
        fprintf(timeline->out, ", %s", stay->ended ? why_text(stay->why) : "there still");
    timeline_box_end(timeline);
}

static void draw_segment(const struct vidmm *vidmm, const struct report_intervals *stays,
                         UINT segment, struct timeline *timeline)
{
    uint64_t end = used_end(stays, segment);
    char text[96];

    if (end == 0)
        return;
    snprintf(text, sizeof(text), "segment %u, %s: the lowest %" PRIu64 " KiB", segment,
             segment_kind(vidmm, segment), end * 4);
    timeline_chart(timeline, text, CHART);
    snprintf(text, sizeof(text), "0x%" PRIx64, end << PAGE_BITS);
    timeline_label(timeline, 0, "0");
    timeline_label(timeline, CHART - 10, text);
    for (size_t i = 0; i < stays->count; i++)
        if (stays->list[i].segment == segment && timeline_shows(timeline, &stays->list[i]))
            draw_stay(timeline, &stays->list[i], (double)CHART / (double)end);
    timeline_chart_end(timeline);
}

bool report_residency_svg(const struct vidmm *vidmm, const char *name, uint64_t now, FILE *out)
{
    struct report_intervals stays;
    struct timeline timeline;
    unsigned charts = 0;
    char title[96];
    bool good;

    if (!report_stays(&vidmm->chronicle, now, &stays))
        return false;
    /* system memory outside of segments has no addresses of a segment */
    for (UINT segment = 1; segment <= vidmm->segment_count; segment++)
        charts += used_end(&stays, segment) > 0;
    snprintf(title, sizeof(title), "residency, %s", name);
    timeline_begin(&timeline, out, title, now, charts * (CHART + timeline_chart_frame()));
    good = timeline_choose(&timeline, &stays);
    for (UINT segment = 1; good && segment <= vidmm->segment_count; segment++)
        draw_segment(vidmm, &stays, segment, &timeline);
    report_intervals_free(&stays);
    return timeline_end(&timeline) && good;
}
