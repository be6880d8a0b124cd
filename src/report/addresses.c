/* SPDX-License-Identifier: MIT */
#include "report/addresses.h"

#include <inttypes.h>
#include <stdlib.h>

#include <d3dkmddi.h>

#include "report/intervals.h"
#include "report/timeline.h"
#include "util/address.h"
#include "util/alloc.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/va_history.h"

enum { LINES = 64, ROW = 12, TALLEST = 1200 };

/* ---- processes ---- */

static int by_id(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;

    return *left < *right ? -1 : *left > *right;
}

/* The ids of the processes of the chronicle, in order; to be freed. NULL: out of memory. */
static uint32_t *processes(const struct chronicle *chronicle, size_t *count)
{
    uint32_t *ids = util_alloc((chronicle->count + 1) * sizeof(*ids));
    size_t all = 0;

    *count = 0;
    for (size_t i = 0; ids && i < chronicle->count; i++)
        if (chronicle->events[i].kind >= CHRONICLE_MAPPED)
            ids[all++] = chronicle->events[i].process;
    if (all > 0)
        qsort(ids, all, sizeof(*ids), by_id);
    for (size_t i = 0; i < all; i++)
        if (*count == 0 || ids[*count - 1] != ids[i])
            ids[(*count)++] = ids[i];
    return ids;
}

static void name_process(const struct vidmm *vidmm, uint32_t id, char *text, size_t bytes)
{
    if (vidmm->paging_process && id == chronicle_process(vidmm->paging_process))
        snprintf(text, bytes, "paging process");
    else
        snprintf(text, bytes, "process %u", id);
}

/* ---- text ---- */

static bool of_process(const struct report_interval *mapping, uint32_t id)
{
    return mapping->process == id;
}

/* The most memory that its page tables took at one time. */
static uint64_t most_tables(const struct chronicle *chronicle, uint32_t id)
{
    uint64_t pages = 0, most = 0;

    for (size_t i = 0; i < chronicle->count; i++) {
        const struct chronicle_event *event = &chronicle->events[i];

        if (event->process != id)
            continue;
        if (event->kind == CHRONICLE_TABLE)
            pages += event->pages;
        else if (event->kind == CHRONICLE_TABLE_GONE)
            pages -= event->pages;
        most = pages > most ? pages : most;
    }
    return most;
}

static void write_what(const struct report_interval *mapping, FILE *out)
{
    const D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE protection = {.Value = mapping->protection};

    if (mapping->allocation == 0)
        fprintf(out, "memory of the host");
    else
        fprintf(out, "allocation %u from page %" PRIu64, mapping->allocation, mapping->offset);
    fprintf(out, ", %s%s", protection.Write ? "read and write" : "read only",
            protection.Execute ? ", execute" : "");
}

static int by_address(const void *a, const void *b)
{
    const struct report_interval *const *left = a, *const *right = b;

    return (*left)->first < (*right)->first ? -1 : (*left)->first > (*right)->first;
}

/* What was mapped at that time, by address. */
static bool write_moment(const struct report_intervals *mappings, uint32_t id, uint64_t time,
                         FILE *out)
{
    const struct report_interval **list = util_alloc((mappings->count + 1) * sizeof(*list));
    size_t count = 0;

    if (!list)
        return false;
    for (size_t i = 0; i < mappings->count; i++) {
        const struct report_interval *mapping = &mappings->list[i];

        if (mapping->process == id && mapping->from <= time &&
            (!mapping->ended || mapping->to > time))
            list[count++] = mapping;
    }
    qsort(list, count, sizeof(*list), by_address);
    for (size_t i = 0; i < count && i < LINES; i++) {
        fprintf(out, "    0x%012" PRIx64 " %8" PRIu64 " KiB  ", list[i]->first << PAGE_BITS,
                list[i]->pages * 4);
        write_what(list[i], out);
        fputc('\n', out);
    }
    if (count > LINES)
        fprintf(out, "    and %zu more\n", count - LINES);
    util_free(list);
    return true;
}

static bool write_process(const struct vidmm *vidmm, const struct report_intervals *mappings,
                          uint32_t id, FILE *out)
{
    uint64_t pages, time, count = 0;
    char name[32];

    if (!report_fullest(mappings, of_process, id, &pages, &time))
        return false;
    for (size_t i = 0; i < mappings->count; i++)
        count += mappings->list[i].process == id;
    name_process(vidmm, id, name, sizeof(name));
    fprintf(out,
            "  %s: %" PRIu64 " mappings; at most %" PRIu64
            " KiB, at %.3f ms; page tables of at most %" PRIu64 " KiB\n",
            name, count, pages * 4, (double)time / 1e6, most_tables(&vidmm->chronicle, id) * 4);
    return write_moment(mappings, id, time, out);
}

bool report_addresses_text(const struct vidmm *vidmm, const char *name, uint64_t now, FILE *out)
{
    struct report_intervals mappings;
    size_t count;
    uint32_t *ids = processes(&vidmm->chronicle, &count);
    bool good = ids && report_mappings(&vidmm->chronicle, now, &mappings);

    fprintf(out, "GPU virtual addresses, %s\n", name);
    if (good) {
        for (size_t i = 0; i < count && good; i++)
            good = write_process(vidmm, &mappings, ids[i], out);
        report_intervals_free(&mappings);
        if (count == 0)
            fputs("  no process has mapped anything\n", out);
    }
    if (vidmm->chronicle.lost > 0)
        fprintf(out, "  %" PRIu64 " events are missing: no memory was left for them\n",
                vidmm->chronicle.lost);
    util_free(ids);
    return good && !ferror(out);
}

/* ---- picture ---- */

static int by_page(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;

    return *left < *right ? -1 : *left > *right;
}

/* The pages at which a mapping of the process began, in order: the rows of its chart. */
static size_t rows_of(const struct report_intervals *mappings, uint32_t id, uint64_t *rows)
{
    size_t all = 0, count = 0;

    for (size_t i = 0; i < mappings->count; i++)
        if (mappings->list[i].process == id)
            rows[all++] = mappings->list[i].first;
    qsort(rows, all, sizeof(*rows), by_page);
    for (size_t i = 0; i < all; i++)
        if (count == 0 || rows[count - 1] != rows[i])
            rows[count++] = rows[i];
    return count;
}

/* The number of rows that begin below the page. */
static size_t rows_below(const uint64_t *rows, size_t count, uint64_t page)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;

        if (rows[middle] < page)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

static unsigned chart_height(size_t rows)
{
    return rows * ROW < TALLEST ? (unsigned)rows * ROW : TALLEST;
}

static void draw_mapping(struct timeline *timeline, const struct report_interval *mapping,
                         const uint64_t *rows, size_t count)
{
    double row = (double)chart_height(count) / (double)count;
    size_t first = rows_below(rows, count, mapping->first);
    size_t last = rows_below(rows, count, mapping->first + mapping->pages);

    timeline_box(timeline, (double)first * row + 0.5, (double)(last - first) * row - 1, mapping,
                 false);
    fprintf(timeline->out, "0x%" PRIx64 ", %" PRIu64 " KiB: ", mapping->first << PAGE_BITS,
            mapping->pages * 4);
    write_what(mapping, timeline->out);
    fprintf(timeline->out, ", %.3f to %.3f ms, %s", (double)mapping->from / 1e6,
            (double)mapping->to / 1e6,
            mapping->ended ? va_history_end_text((enum mapping_end)mapping->why) : "there still");
    timeline_box_end(timeline);
}

static void draw_process(const struct vidmm *vidmm, struct timeline *timeline,
                         const struct report_intervals *mappings, uint32_t id, uint64_t *rows)
{
    size_t count = rows_of(mappings, id, rows), shown = 0;
    char text[32];

    if (count == 0)
        return;
    name_process(vidmm, id, text, sizeof(text));
    timeline_chart(timeline, text, chart_height(count));
    for (size_t i = 0; i < count; i++) {
        unsigned y = (unsigned)(i * chart_height(count) / count);

        if (i > 0 && y < shown + ROW)
            continue;
        shown = y;
        snprintf(text, sizeof(text), "0x%" PRIx64, rows[i] << PAGE_BITS);
        timeline_label(timeline, y, text);
    }
    for (size_t i = 0; i < mappings->count; i++)
        if (mappings->list[i].process == id && timeline_shows(timeline, &mappings->list[i]))
            draw_mapping(timeline, &mappings->list[i], rows, count);
    timeline_chart_end(timeline);
}

bool report_addresses_svg(const struct vidmm *vidmm, const char *name, uint64_t now, FILE *out)
{
    struct report_intervals mappings = {0};
    struct timeline timeline = {.out = out};
    size_t count;
    uint32_t *ids = processes(&vidmm->chronicle, &count);
    bool good = ids && report_mappings(&vidmm->chronicle, now, &mappings);
    uint64_t *rows = util_alloc((mappings.count + 1) * sizeof(*rows));
    unsigned height = 0;
    char title[96];

    good = good && rows;
    for (size_t i = 0; good && i < count; i++) {
        size_t of_this = rows_of(&mappings, ids[i], rows);

        height += of_this ? chart_height(of_this) + timeline_chart_frame() : 0;
    }
    snprintf(title, sizeof(title), "GPU virtual addresses, %s", name);
    if (good)
        timeline_begin(&timeline, out, title, now, height);
    good = good && timeline_choose(&timeline, &mappings);
    for (size_t i = 0; good && i < count; i++)
        draw_process(vidmm, &timeline, &mappings, ids[i], rows);
    util_free(rows);
    util_free(ids);
    report_intervals_free(&mappings);
    return good && timeline_end(&timeline);
}
