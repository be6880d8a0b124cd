/* SPDX-License-Identifier: MIT */
/* The report of GPU virtual addresses: a chart for each process with a row for each range; nothing is lost if memory is short. */
#include "support/check_rule.h"

#include <stdlib.h>
#include <string.h>

#include "report/addresses.h"
#include "util/alloc.h"
#include "util/array.h"
#include "vidmm/record/chronicle.h"
#include "vidmm/record/vidmm_record.h"

#define NOW 1000u

static struct vidmm vidmm;

static void begin(struct chronicle_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        events[i] = (struct chronicle_event){.time = 10 * (i + 1),
                                             .kind = CHRONICLE_MAPPED,
                                             .process = 7 + (uint32_t)(i == 2),
                                             .allocation = (uint32_t)i + 1,
                                             .first = 100 * i,
                                             .pages = 4};
    memset(&vidmm, 0, sizeof(vidmm));
    vidmm.chronicle.events = events;
    vidmm.chronicle.count = count;
}

/* The picture; NULL: it could not be drawn. */
static char *drawn(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    const bool good = report_addresses_svg(&vidmm, "adapter 0", NOW, out);

    fclose(out);
    if (good)
        return text;
    free(text);
    return NULL;
}

TEST(each_process_has_a_chart_with_a_row_for_each_range)
{
    struct chronicle_event events[3];
    char *svg;

    begin(events, ARRAY_COUNT(events));
    svg = drawn();
    CHECK(svg && strstr(svg, "process 7<") && strstr(svg, "process 8<"));
    CHECK(strstr(svg, "height=\"24\" fill=\"#f4f4f4\"") &&
          strstr(svg, "height=\"12\" fill=\"#f4f4f4\""));
    free(svg);
}

/* 4000 of them, the longest. */
TEST(a_picture_has_a_bounded_number_of_boxes)
{
    enum { MANY = 5000 };
    struct chronicle_event *events = calloc(MANY, sizeof(*events));
    unsigned boxes = 0;
    char *svg;

    CHECK(events);
    begin(events, MANY);
    for (size_t i = 0; i < MANY; i++)
        events[i].time = i < 3000 ? 10 : i < 4900 ? 20 : 30; /* 3000, 1900 and 100 of a length */
    svg = drawn();
    CHECK(svg && strstr(svg, ">1000 shorter ones are not drawn<"));
    for (const char *at = svg; (at = strstr(at, "fill-opacity=")) != NULL; at++)
        boxes++;
    CHECK(boxes == 4000 && !strstr(svg, "allocation 4901 ") && strstr(svg, "allocation 3000 ") &&
          strstr(svg, "allocation 3001 "));
    free(svg);
    vidmm.chronicle.count = 4000;
    svg = drawn();
    CHECK(svg && !strstr(svg, "not drawn") && strstr(svg, "allocation 4000 "));
    free(svg);
    free(events);
}

TEST(every_failing_allocation_is_survived)
{
    struct chronicle_event events[3];
    struct util_heap heap = {0};
    unsigned failures = 0;
    bool more = true;

    begin(events, ARRAY_COUNT(events));
    util_heap_current = &heap;
    for (uint64_t at = 1; more; at++) {
        char *svg;

        heap.fail_at = heap.requests + at;
        svg = drawn();
        more = heap.requests >= heap.fail_at;
        CHECK(!more || !svg);
        failures += !svg;
        free(svg);
    }
    CHECK(failures >= 3 && heap.live_blocks == 0);
    util_heap_current = NULL;
}
