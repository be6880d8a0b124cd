/* SPDX-License-Identifier: MIT */
/*
 * Drawing: a small picture of a trace, as SVG. Time goes to the right in COLUMNS steps, whatever
 * the length of the run; below each other are rows for tracks, in groups.
 *
 *   pass 1   counts the records of each track and finds the end; the rows to show are chosen
 *   pass 2   adds up for each row and column how long a span was open, and what happened at a time
 *
 * Text has the color of its surroundings, and there is no background, so that the picture is
 * readable on a dark page, too. As in the JSON form, numbers are formatted with integers only.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/sink.h"
#include "trace/trace.h"

#define COLUMNS      400u
#define WIDTH        800u /* pixels */
#define LEFT         180u /* for names */
#define RIGHT        150u /* for numbers */
#define TOP          34u  /* for the times, and the heads of marks */
#define ROW          18u
#define BAR          12u
#define HEADING      22u
#define MOST_ROWS    40u
#define MOST_A_GROUP 8u
#define MOST_NAMES   5u
#define MOST_MARKS   64u
#define LEVELS       4u
#define TICKS        5u

/* What is named in the text of a row. */
struct named {
    const char *name;
    uint64_t count;
};

struct row {
    trace_track track;
    const char *group, *name; /* NULL: numbered, of a processor */
    uint64_t records;
    uint64_t open, since; /* spans in progress; since when any is */
    uint64_t busy, spans, instants;
    uint64_t column_busy[COLUMNS];
    bool column_instant[COLUMNS];
    struct named named[MOST_NAMES];
    uint64_t others;
};

struct drawing {
    const struct trace_sink *sink;
    FILE *out;
    uint64_t end;     /* at the right edge; above 0 */
    unsigned columns; /* a shorter run has fewer, of a nanosecond each */
    struct row *row;
    size_t rows, left_out;
    unsigned height;
};

/* ---- choosing ---- */

/* What a reader looks for first. */
static const char *const first_groups[] = {"screens", "nodes", "engines", "paging", "contexts"},
                         *const last_groups[] = {"devices", "clients", "driver calls"};

static const char processors[] = "processors";

static bool is_listed(const char *const *list, size_t count, const char *group)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], group) == 0)
            return true;
    return false;
}

static const size_t firsts = sizeof(first_groups) / sizeof(first_groups[0]),
                    lasts = sizeof(last_groups) / sizeof(last_groups[0]);

static void choose(struct drawing *drawing, const char *group, const char *name, trace_track track,
                   uint64_t records)
{
    size_t of_group = 0;

    if (records == 0)
        return;
    for (size_t i = 0; i < drawing->rows; i++)
        of_group += strcmp(drawing->row[i].group, group) == 0;
    if (drawing->rows == MOST_ROWS || of_group == MOST_A_GROUP) {
        drawing->left_out++;
        return;
    }
    drawing->row[drawing->rows++] = (struct row){
        .group = group, .name = name, .track = track, .records = records};
}

static void choose_group(struct drawing *drawing, const char *group, const uint64_t *records)
{
    const struct trace_sink *sink = drawing->sink;

    for (uint32_t i = 0; i < sink->rows; i++)
        if (strcmp(sink->group[sink->row[i].group], group) == 0)
            choose(drawing, group, sink->row[i].name, TRACE_FIRST_TRACK + i,
                   records[TRACE_FIRST_TRACK + i]);
}

static void choose_all(struct drawing *drawing, const uint64_t *records)
{
    const struct trace_sink *sink = drawing->sink;

    for (size_t i = 0; i < firsts; i++)
        choose_group(drawing, first_groups[i], records);
    for (uint32_t i = 0; i < sink->groups; i++)
        if (!is_listed(first_groups, firsts, sink->group[i]) &&
            !is_listed(last_groups, lasts, sink->group[i]))
            choose_group(drawing, sink->group[i], records);
    for (size_t i = 0; i < lasts; i++)
        choose_group(drawing, last_groups[i], records);
    for (uint32_t i = 0; i < TRACE_PROCESSORS; i++)
        choose(drawing, processors, NULL, TRACE_PROCESSOR(i), records[TRACE_PROCESSOR(i)]);
}

/* Pass 1. False: out of memory. */
static bool plan(struct drawing *drawing, const struct trace_mark *marks, size_t count)
{
    struct trace_cursor cursor = {.sink = drawing->sink};
    struct trace_event event;
    const size_t tracks = TRACE_FIRST_TRACK + drawing->sink->rows;
    uint64_t *records = calloc(tracks, sizeof(*records));

    drawing->row = calloc(MOST_ROWS, sizeof(*drawing->row));
    if (!records || !drawing->row) {
        free(records);
        return false;
    }
    while (trace_cursor_next(&cursor, &event)) {
        if (event.track < tracks && strchr("BEibe", event.phase))
            records[event.track]++;
        drawing->end = event.time > drawing->end ? event.time : drawing->end;
    }
    for (size_t i = 0; i < count; i++)
        drawing->end = marks[i].time > drawing->end ? marks[i].time : drawing->end;
    drawing->end = drawing->end ? drawing->end : 1;
    drawing->columns = drawing->end < COLUMNS ? (unsigned)drawing->end : COLUMNS;
    choose_all(drawing, records);
    free(records);
    return true;
}

/* ---- adding up ---- */

/* The first nanosecond of a column. */
static uint64_t begin_of(const struct drawing *drawing, unsigned column)
{
    const unsigned columns = drawing->columns;

    return drawing->end / columns * column +
           (drawing->end % columns * column + columns - 1) / columns;
}

/* The column of a time. */
static unsigned column_of(const struct drawing *drawing, uint64_t time)
{
    const unsigned shift = drawing->end >> 53 ? 10u : 0u; /* so that the product fits */
    const uint64_t column = (time >> shift) * drawing->columns / (drawing->end >> shift);

    return column < drawing->columns ? (unsigned)column : drawing->columns - 1u;
}

static unsigned left_of(const struct drawing *drawing, unsigned column)
{
    return LEFT + WIDTH * column / drawing->columns;
}

/* A span was open from a to b. */
static void add_busy(const struct drawing *drawing, struct row *row, uint64_t a, uint64_t b)
{
    row->busy += b > a ? b - a : 0;
    for (unsigned i = column_of(drawing, a); i < drawing->columns && a < b; i++) {
        const uint64_t next = begin_of(drawing, i + 1u), upto = b < next ? b : next;

        if (upto <= a)
            continue;
        row->column_busy[i] += upto - a;
        a = upto;
    }
}

static void add_name(struct row *row, const char *name)
{
    size_t i = 0;

    name = name ? name : "?";
    while (i < MOST_NAMES && row->named[i].name && strcmp(row->named[i].name, name) != 0)
        i++;
    if (i == MOST_NAMES) {
        row->others++;
        return;
    }
    row->named[i].name = name;
    row->named[i].count++;
}

static void add_event(const struct drawing *drawing, struct row *row,
                      const struct trace_event *event)
{
    switch (event->phase) {
    case 'B':
    case 'b':
        if (row->open++ == 0)
            row->since = event->time;
        row->spans++;
        row->column_instant[column_of(drawing, event->time)] = true; /* seen, however short */
        add_name(row, event->name);
        break;
    case 'E':
    case 'e':
        if (row->open && --row->open == 0)
            add_busy(drawing, row, row->since, event->time);
        break;
    case 'i':
        row->instants++;
        row->column_instant[column_of(drawing, event->time)] = true;
        add_name(row, event->name);
        break;
    default:
        break;
    }
}

/* Pass 2. False: out of memory. */
static bool add_up(struct drawing *drawing)
{
    struct trace_cursor cursor = {.sink = drawing->sink};
    struct trace_event event;
    const size_t tracks = TRACE_FIRST_TRACK + drawing->sink->rows;
    struct row **of_track = calloc(tracks, sizeof(*of_track));

    if (!of_track)
        return false;
    for (size_t i = 0; i < drawing->rows; i++)
        of_track[drawing->row[i].track] = &drawing->row[i];
    while (trace_cursor_next(&cursor, &event))
        if (event.track < tracks && of_track[event.track])
            add_event(drawing, of_track[event.track], &event);
    for (size_t i = 0; i < drawing->rows; i++)
        if (drawing->row[i].open)
            add_busy(drawing, &drawing->row[i], drawing->row[i].since, drawing->end);
    free((void *)of_track);
    return true;
}

/* ---- writing ---- */

/* Names may come from a driver: what is not plain becomes a question mark. */
static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else
            fputc(*text >= ' ' && *text <= '~' ? *text : '?', out);
    }
}

/* In microseconds where the whole picture is of less than a millisecond. */
static void put_time(const struct drawing *drawing, uint64_t ns)
{
    if (drawing->end < 1000000u)
        fprintf(drawing->out, "%u.%03u us", (unsigned)(ns / 1000u), (unsigned)(ns % 1000u));
    else
        fprintf(drawing->out, "%" PRIu64 ".%03u ms", ns / 1000000u, (unsigned)(ns / 1000u % 1000u));
}

/* In tenths of a percent, which are rounded up so that little is not nothing. */
static void put_share(FILE *out, uint64_t part, uint64_t whole)
{
    const unsigned shift = whole >> 53 ? 10u : 0u;
    const uint64_t unit = whole >> shift, tenths = ((part >> shift) * 1000u + unit - 1) / unit;
    const uint64_t shown = tenths > 1000u ? 1000u : tenths;

    fprintf(out, "%" PRIu64 ".%" PRIu64 " %%", shown / 10u, shown % 10u);
}

static void put_name(const struct row *row, FILE *out)
{
    if (row->name)
        put_text(out, row->name);
    else
        fprintf(out, "processor %02u", (unsigned)row->track - TRACE_PROCESSOR(0));
}

/* A rectangle of a path, over columns [first, end). */
static void put_part(const struct drawing *drawing, unsigned first, unsigned end, unsigned y,
                     unsigned height)
{
    const unsigned left = left_of(drawing, first), width = left_of(drawing, end) - left;

    fprintf(drawing->out, "M%u %uh%uv%uh-%uz", left, y, width, height, width);
}

static unsigned level_of(const struct drawing *drawing, const struct row *row, unsigned column)
{
    const uint64_t whole = begin_of(drawing, column + 1u) - begin_of(drawing, column);
    const uint64_t busy = row->column_busy[column];

    for (unsigned level = 1; level < LEVELS; level++)
        if (busy <= whole / LEVELS * level)
            return busy ? level : 0;
    return LEVELS;
}

/* One path for each level: how much of a column's time a span was open. */
static void put_bars(const struct drawing *drawing, const struct row *row, unsigned y)
{
    static const char *const opacity[LEVELS] = {".4", ".6", ".8", "1"};
    unsigned level[COLUMNS];

    for (unsigned i = 0; i < drawing->columns; i++)
        level[i] = level_of(drawing, row, i);
    for (unsigned l = 1; l <= LEVELS; l++) {
        bool any = false;

        for (unsigned i = 0, next; i < drawing->columns; i = next) {
            for (next = i + 1; next < drawing->columns && level[next] == level[i]; next++)
                ;
            if (level[i] != l)
                continue;
            if (!any)
                fprintf(drawing->out, "<path fill-opacity=\"%s\" d=\"", opacity[l - 1]);
            any = true;
            put_part(drawing, i, next, y, BAR);
        }
        if (any)
            fputs("\"/>\n", drawing->out);
    }
}

/* What had no length, or began: a line at the bottom of the bar. */
static void put_instants(const struct drawing *drawing, const struct row *row, unsigned y)
{
    bool any = false;

    for (unsigned i = 0, next; i < drawing->columns; i = next) {
        for (next = i + 1;
             next < drawing->columns && row->column_instant[next] == row->column_instant[i]; next++)
            ;
        if (!row->column_instant[i])
            continue;
        if (!any)
            fputs("<path d=\"", drawing->out);
        any = true;
        put_part(drawing, i, next, y + BAR - 3u, 3u);
    }
    if (any)
        fputs("\"/>\n", drawing->out);
}

static void put_title(const struct row *row, FILE *out)
{
    fputs("<title>", out);
    put_name(row, out);
    fputs(":", out);
    for (unsigned i = 0; i < MOST_NAMES && row->named[i].name; i++) {
        fprintf(out, "%s %" PRIu64 " x ", i ? "," : "", row->named[i].count);
        put_text(out, row->named[i].name);
    }
    if (row->others)
        fprintf(out, ", %" PRIu64 " others", row->others);
    fputs("</title>\n", out);
}

static void put_row(const struct drawing *drawing, const struct row *row, unsigned y,
                    const char *colour)
{
    FILE *out = drawing->out;

    fprintf(out, "<g fill=\"%s\">", colour);
    put_title(row, out);
    fprintf(out, "<path fill=\"currentColor\" fill-opacity=\".06\" d=\"M%u %uh%uv%uh-%uz\"/>\n",
            LEFT, y, WIDTH, BAR, WIDTH);
    put_bars(drawing, row, y);
    put_instants(drawing, row, y);
    fprintf(out, "<text fill=\"currentColor\" text-anchor=\"end\" x=\"%u\" y=\"%u\">", LEFT - 8u,
            y + 10u);
    put_name(row, out);
    fprintf(out, "</text><text fill=\"currentColor\" x=\"%u\" y=\"%u\">", LEFT + WIDTH + 8u,
            y + 10u);
    if (row->spans) {
        put_share(out, row->busy, drawing->end);
        fprintf(out, ", %" PRIu64 " spans", row->spans);
    } else {
        fprintf(out, "%" PRIu64 " events", row->instants);
    }
    fputs("</text></g>\n", out);
}

static bool heads_group(const struct drawing *drawing, size_t i)
{
    return i == 0 || strcmp(drawing->row[i - 1].group, drawing->row[i].group) != 0;
}

static void put_rows(const struct drawing *drawing)
{
    static const char *const colours[] = {"#3b82d6", "#2e9e6b", "#c2762c", "#8e63ce",
                                          "#c9518f", "#2b9aa8", "#a88c1c", "#808a96"};
    unsigned y = TOP, groups = 0;

    for (size_t i = 0; i < drawing->rows; i++) {
        if (heads_group(drawing, i)) {
            groups++;
            y += HEADING;
            fprintf(drawing->out,
                    "<text fill=\"currentColor\" font-weight=\"bold\" x=\"4\" y=\"%u\">", y - 5u);
            put_text(drawing->out, drawing->row[i].group);
            fputs("</text>\n", drawing->out);
        }
        put_row(drawing, &drawing->row[i], y, colours[(groups - 1) % 8u]);
        y += ROW;
    }
    if (drawing->left_out)
        fprintf(drawing->out,
                "<text fill=\"currentColor\" x=\"%u\" y=\"%u\">and %zu more rows in the "
                "trace</text>\n",
                LEFT, y + 14u, drawing->left_out);
}

static void put_axis(const struct drawing *drawing)
{
    for (unsigned i = 0; i < TICKS; i++) {
        const unsigned x = LEFT + WIDTH * i / (TICKS - 1);

        fprintf(drawing->out,
                "<path stroke=\"currentColor\" stroke-opacity=\".2\" d=\"M%u %uV%u\"/>"
                "<text fill=\"currentColor\" text-anchor=\"%s\" x=\"%u\" y=\"12\">",
                x, TOP - 12u, drawing->height,
                i == 0           ? "start"
                : i == TICKS - 1 ? "end"
                                 : "middle",
                x);
        put_time(drawing,
                 drawing->end / (TICKS - 1) * i + drawing->end % (TICKS - 1) * i / (TICKS - 1));
        fputs("</text>\n", drawing->out);
    }
}

static void put_marks(const struct drawing *drawing, const struct trace_mark *marks, size_t count)
{
    for (size_t i = 0; i < count && i < MOST_MARKS; i++) {
        const unsigned x = left_of(drawing, column_of(drawing, marks[i].time));

        fprintf(drawing->out,
                "<g fill=\"#e0403a\"><path d=\"M%u %ul5 -8h-10zM%u %uV%uh1V%uz\"/><title>", x,
                TOP - 6u, x, TOP - 6u, drawing->height, TOP - 6u);
        put_text(drawing->out, marks[i].text);
        fputs(" at ", drawing->out);
        put_time(drawing, marks[i].time);
        fputs("</title></g>\n", drawing->out);
    }
}

static void put_picture(struct drawing *drawing, const struct trace_mark *marks, size_t count)
{
    drawing->height = TOP + 8u + (drawing->left_out ? 20u : 0u);
    for (size_t i = 0; i < drawing->rows; i++)
        drawing->height += ROW + (heads_group(drawing, i) ? HEADING : 0u);
    fprintf(drawing->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" "
            "height=\"%u\" font-family=\"sans-serif\" font-size=\"11\" role=\"img\">\n"
            "<title>what ran when, in virtual time</title>\n",
            LEFT + WIDTH + RIGHT, drawing->height, LEFT + WIDTH + RIGHT, drawing->height);
    put_axis(drawing);
    put_rows(drawing);
    put_marks(drawing, marks, count);
    fputs("</svg>\n", drawing->out);
}

bool trace_write_svg(const struct trace_sink *sink, const struct trace_mark *marks, size_t count,
                     FILE *out)
{
    struct drawing drawing = {.sink = sink, .out = out};
    bool good = plan(&drawing, marks, count) && add_up(&drawing);

    if (good)
        put_picture(&drawing, marks, count);
    free(drawing.row);
    return good && !ferror(out);
}
