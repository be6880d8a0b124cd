/* SPDX-License-Identifier: MIT */
/*
 * What `tracerpt -of CSV` makes of a trace: a line of column names, then a line for each event.
 *
 *     Event Name, Type, Event ID, Version, Channel, ..., PID, TID, Processor Number, ...,
 *     Clock-Time, Kernel(ms), User(ms), User Data
 *
 * The columns are found by their names. User Data stands for all fields of the event in their
 * order, without names: number and version of the event tell what they are. An array has a cell
 * for each element, or one cell with all of them between brackets. Clock-Time is in units of 100
 * ns. The first event is that of the recording about itself.
 *
 * Public descriptions of the form leave open what stands in Event Name for a provider with a
 * manifest: its name, its GUID and the name of the event's task are taken for it.
 */
#include "util/alloc.h"
#include "util/min_max.h"
#include "wintrace/cells.h"
#include "wintrace/form.h"
#include "wintrace/lines.h"
#include "wintrace/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FREQUENCY 10000000u

/* Cells of the description of the recording, behind the first of User Data. */
enum { HEADER_BUILD = 2, HEADER_PROCESSORS = 3, HEADER_LOST = 11 };

enum column { NAME, TYPE, ID, VERSION, PROCESS, THREAD, PROCESSOR, TIME, DATA, COLUMNS };

static const char *const names[COLUMNS] = {
    [NAME] = "Event Name",
    [TYPE] = "Type",
    [ID] = "Event ID",
    [VERSION] = "Version",
    [PROCESS] = "PID",
    [THREAD] = "TID",
    [PROCESSOR] = "Processor Number",
    [TIME] = "Clock-Time",
    [DATA] = "User Data",
};

struct csv {
    struct wintrace *trace;
    struct form_error *error;
    struct lines lines;
    struct cells cells;
    struct text_event event;
    unsigned column[COLUMNS];
    bool has_columns, described;
};

static bool csv_is(const uint8_t *bytes, size_t length)
{
    return lines_begin_with(bytes, length, "Event Name") ||
           lines_begin_with(bytes, length, "\"Event Name");
}

static void csv_destroy(void *reader)
{
    struct csv *csv = reader;

    lines_finish(&csv->lines);
    util_free(csv);
}

static void *csv_begin(struct wintrace *trace, const uint8_t *first, size_t length,
                       struct form_error *error)
{
    struct csv *csv = util_alloc(sizeof(*csv));

    if (!csv)
        return NULL;
    csv->trace = trace;
    csv->error = error;
    csv->has_columns = csv->described = false;
    if (lines_init(&csv->lines, first, length))
        return csv;
    csv_destroy(csv);
    return NULL;
}

static bool fail(const struct csv *csv, const char *what)
{
    snprintf(csv->error->text, sizeof(csv->error->text), "line %" PRIu64 ": %s", csv->lines.number,
             what);
    return false;
}

/* ---- columns ---- */

static bool read_columns(struct csv *csv)
{
    for (unsigned k = 0; k < COLUMNS; k++) {
        unsigned i = 0;

        while (i < csv->cells.count && !text_is(cells_unquoted(csv->cells.cell[i]), names[k]))
            i++;
        if (i == csv->cells.count) {
            snprintf(csv->error->text, sizeof(csv->error->text),
                     "line %" PRIu64 ": there is no column \"%s\"", csv->lines.number, names[k]);
            return false;
        }
        csv->column[k] = i;
    }
    csv->has_columns = true;
    return true;
}

static struct text cell(const struct csv *csv, unsigned index)
{
    return index < csv->cells.count ? cells_unquoted(csv->cells.cell[index]) : (struct text){"", 0};
}

static bool number(const struct csv *csv, enum column column, uint64_t most, uint64_t *value)
{
    if (text_number(cell(csv, csv->column[column]), value) && *value <= most)
        return true;
    snprintf(csv->error->text, sizeof(csv->error->text),
             "line %" PRIu64 ": its %s is \"%.*s\", which is no number that fits", csv->lines.number,
             names[column], (int)min_of(cell(csv, csv->column[column]).length, 40),
             cell(csv, csv->column[column]).at);
    return false;
}

/* ---- events ---- */

static void describe(struct csv *csv)
{
    unsigned data = csv->column[DATA];
    uint64_t build, processors, lost;

    csv->described = true;
    if (!text_number(cell(csv, data + HEADER_BUILD), &build) ||
        !text_number(cell(csv, data + HEADER_PROCESSORS), &processors) ||
        !text_number(cell(csv, data + HEADER_LOST), &lost))
        return;
    csv->trace->build = (unsigned)build;
    csv->trace->processors = (unsigned)processors;
    csv->trace->lost = lost;
}

/* Take the fields from the cells. False: they do not fit. */
static bool take_fields(struct csv *csv)
{
    const struct wintrace_kind *kind = csv->event.head.kind;
    unsigned at = csv->column[DATA];

    for (unsigned i = 0; i < kind->fields; i++, text_event_next(&csv->event)) {
        uint64_t elements = text_event_elements(&csv->event);
        struct text first = cell(csv, at);

        if (kind->field[i].count && first.length && (first.at[0] == '[' || first.at[0] == '{')) {
            if (!text_event_put_list(&csv->event, first))
                return false;
            at++;
            continue;
        }
        for (uint64_t k = 0; k < elements; k++, at++)
            if (at >= csv->cells.count || !text_event_put(&csv->event, cell(csv, at)))
                return false;
    }
    return true;
}

static bool decode(struct csv *csv)
{
    enum decode_result result = DECODE_SHORT;

    if (take_fields(csv))
        result = text_event_end(&csv->event, csv->trace);
    if (result == DECODE_NO_MEMORY) {
        snprintf(csv->error->text, sizeof(csv->error->text), "out of memory");
        return false;
    }
    csv->trace->undecoded += result == DECODE_SHORT;
    return true;
}

/* Of another provider, as far as its name tells. */
static bool is_other(struct text name, const struct wintrace_kind *kind)
{
    return !text_is_dxgkrnl(name) && !(kind && text_is(name, kind->name));
}

static bool read_event(struct csv *csv)
{
    struct wintrace_event *head = &csv->event.head;
    struct text name = cell(csv, csv->column[NAME]);
    uint64_t id, version, process, thread, processor;
    const struct wintrace_kind *kind;

    if (csv->cells.count <= csv->column[TIME])
        return fail(csv, "an event is cut off");
    if (!csv->described && text_is(name, "EventTrace") &&
        text_is(cell(csv, csv->column[TYPE]), "Header"))
        describe(csv);
    if (!number(csv, ID, UINT16_MAX, &id) || !number(csv, VERSION, UINT8_MAX, &version))
        return false;
    kind = wintrace_kind_find((uint16_t)id, (uint8_t)version);
    if (is_other(name, kind)) {
        csv->trace->others++;
        return true;
    }
    if (!kind) {
        csv->trace->unknown++;
        csv->trace->unknown_id = (uint16_t)id;
        csv->trace->unknown_version = (uint8_t)version;
        return true;
    }
    if (!number(csv, PROCESS, UINT32_MAX, &process) || !number(csv, THREAD, UINT32_MAX, &thread) ||
        !number(csv, PROCESSOR, UINT16_MAX, &processor) ||
        !number(csv, TIME, INT64_MAX, &head->time))
        return false;
    head->process = (uint32_t)process;
    head->thread = (uint32_t)thread;
    head->processor = (uint16_t)processor;
    text_event_begin(&csv->event, kind);
    return decode(csv);
}

/* ---- the file ---- */

static bool read_line(struct csv *csv)
{
    struct text line = text_trim((struct text){csv->lines.line, csv->lines.length});

    if (line.length == 0)
        return true;
    cells_split(&csv->cells, line);
    return csv->has_columns ? read_event(csv) : read_columns(csv);
}

static bool csv_feed(void *reader, const uint8_t *bytes, size_t length)
{
    struct csv *csv = reader;

    for (size_t at = 0; at < length;) {
        at += lines_take(&csv->lines, bytes + at, length - at);
        if (csv->lines.too_long)
            return fail(csv, "it has no end within a megabyte");
        if (csv->lines.whole && !read_line(csv))
            return false;
    }
    return true;
}

static bool csv_end(void *reader)
{
    struct csv *csv = reader;

    if (lines_rest(&csv->lines) && !read_line(csv))
        return false;
    wintrace_order(csv->trace, FREQUENCY);
    return true;
}

const struct wintrace_form wintrace_csv = {csv_is, csv_begin, csv_feed, csv_end, csv_destroy};
