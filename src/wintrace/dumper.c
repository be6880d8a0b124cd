/* SPDX-License-Identifier: MIT */
/*
 * The text of `xperf -a dumper`: a header with the columns of each kind of line, then a line for
 * each event.
 *
 *     BeginHeader
 *     Microsoft-Windows-DxgKrnl/DmaPacket/win:Start, TimeStamp, Process Name ( PID), ThreadID, CPU,
 *         etw:ActivityId, etw:Related ActivityId, etw:UserSid, etw:SessionId, hContext, ...
 *     EndHeader
 *     OS Version: 10.0.19041, ..., Events Lost: 0, Buffers lost: 0, ...
 *     Microsoft-Windows-DxgKrnl/DmaPacket/win:Start, 2012071, "dwm.exe" (1956), 2848, 6, , , , ,
 *         0xffffd7861fce36a0, ...
 *
 * Neither the number nor the version of an event is there: a layout of the header is the kind whose
 * names and fields it has, the one with the most fields. Several kinds write the same name; a line
 * is of the first layout of that name that has as many columns and that its cells fit. Times are in
 * us. An array is one cell, of all its elements between brackets.
 */
#include "util/alloc.h"
#include "wintrace/cells.h"
#include "wintrace/form.h"
#include "wintrace/lines.h"
#include "wintrace/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PROVIDER     "Microsoft-Windows-DxgKrnl/"
#define MOST_LAYOUTS 1024u
#define MOST_NAME    96u
#define FREQUENCY    1000000000u
#define NS_OF_US     1000u

/* Cells before those of the header that are named. */
enum { CELL_NAME, CELL_TIME, CELL_PROCESS };

/* One line of the header, of an event of DxgKrnl. */
struct layout {
    char name[MOST_NAME];             /* "DmaPacket/win:Start" */
    const struct wintrace_kind *kind; /* NULL: none has these fields */
    unsigned columns, thread, processor;
    uint16_t column[TEXT_EVENT_FIELDS];
};

struct dumper {
    struct wintrace *trace;
    struct form_error *error;
    struct lines lines;
    struct cells cells;
    struct text_event event;
    struct layout *layout;
    unsigned layouts, room;
    bool in_header, header_ended;
};

static bool dumper_is(const uint8_t *bytes, size_t length)
{
    return lines_begin_with(bytes, length, "BeginHeader") ||
           lines_begin_with(bytes, length, "Microsoft-Windows-");
}

static void dumper_destroy(void *reader)
{
    struct dumper *d = reader;

    lines_finish(&d->lines);
    util_free(d->layout);
    util_free(d);
}

static void *dumper_begin(struct wintrace *trace, const uint8_t *first, size_t length,
                          struct form_error *error)
{
    struct dumper *d = util_alloc(sizeof(*d));

    if (!d)
        return NULL;
    d->trace = trace;
    d->error = error;
    d->layout = NULL;
    d->layouts = d->room = 0;
    d->in_header = true;
    d->header_ended = false;
    if (lines_init(&d->lines, first, length))
        return d;
    dumper_destroy(d);
    return NULL;
}

static bool fail(const struct dumper *d, const char *what)
{
    snprintf(d->error->text, sizeof(d->error->text), "line %" PRIu64 ": %s", d->lines.number, what);
    return false;
}

static bool no_memory(const struct dumper *d)
{
    snprintf(d->error->text, sizeof(d->error->text), "out of memory");
    return false;
}

/* ---- names ---- */

/* Opcodes have "win:" before the name, and Info where events.tsv has none. */
static bool same_opcode(struct text opcode, const char *other)
{
    if (text_begins(opcode, "win:")) {
        opcode.at += 4;
        opcode.length -= 4;
    }
    if (text_is(opcode, "Info"))
        return !*other;
    for (; opcode.length && *other; opcode.at++, opcode.length--, other++) {
        if (*other == '_' && opcode.at[0] != '_')
            other++;
        if (opcode.at[0] == '_' && *other != '_') {
            opcode.at++;
            opcode.length--;
        }
        if (opcode.length == 0 || opcode.at[0] != *other)
            return false;
    }
    return opcode.length == 0 && !*other;
}

static bool same_kind(const char *name, const struct wintrace_kind *kind)
{
    const char *slash = strchr(name, '/');
    struct text task = {name, slash ? (size_t)(slash - name) : strlen(name)};

    return text_is(task, kind->name) && same_opcode(text_of(slash ? slash + 1 : ""), kind->opcode);
}

/* ---- the header ---- */

static unsigned column_of(const struct dumper *d, const char *field)
{
    unsigned i = CELL_PROCESS + 1;

    while (i < d->cells.count && !text_names_field(d->cells.cell[i], field))
        i++;
    return i;
}

static bool has_fields(const struct dumper *d, const struct wintrace_kind *kind)
{
    for (unsigned i = 0; i < kind->fields; i++)
        if (column_of(d, kind->field[i].name) == d->cells.count)
            return false;
    return kind->fields <= TEXT_EVENT_FIELDS;
}

static void find_kind(const struct dumper *d, struct layout *layout)
{
    const struct wintrace_kind *kind;

    for (size_t i = 0; (kind = wintrace_kind_at(i)) != NULL; i++)
        if (same_kind(layout->name, kind) && has_fields(d, kind) &&
            (!layout->kind || layout->kind->fields < kind->fields))
            layout->kind = kind;
    for (unsigned i = 0; layout->kind && i < layout->kind->fields; i++)
        layout->column[i] = (uint16_t)column_of(d, layout->kind->field[i].name);
}

static struct layout *new_layout(struct dumper *d)
{
    struct layout *grown;

    if (d->layouts == d->room) {
        grown = util_realloc(d->layout, (d->room + 64) * sizeof(*grown));
        if (!grown)
            return NULL;
        d->layout = grown;
        d->room += 64;
    }
    memset(&d->layout[d->layouts], 0, sizeof(*d->layout));
    return &d->layout[d->layouts];
}

/* A line of the header, of an event of DxgKrnl. */
static bool read_layout(struct dumper *d)
{
    struct text name = d->cells.cell[CELL_NAME];
    struct layout *layout;

    name.at += strlen(PROVIDER);
    name.length -= strlen(PROVIDER);
    if (name.length >= MOST_NAME)
        return fail(d, "the name of an event is too long");
    if (d->layouts == MOST_LAYOUTS)
        return fail(d, "its header has too many kinds of events");
    if (d->cells.count <= CELL_PROCESS)
        return fail(d, "the columns of an event are cut off");
    layout = new_layout(d);
    if (!layout)
        return no_memory(d);
    memcpy(layout->name, name.at, name.length);
    layout->columns = d->cells.count;
    layout->thread = column_of(d, "ThreadID");
    layout->processor = column_of(d, "CPU");
    find_kind(d, layout);
    d->layouts++;
    return true;
}

/* The number behind a word of a line: "Events Lost: 5". False: it is not there. */
static bool number_after(const char *line, const char *word, uint64_t *value)
{
    const char *at = strcasestr(line, word);
    size_t digits;

    if (!at)
        return false;
    at += strlen(word);
    at += strspn(at, " ");
    digits = strspn(at, "0123456789");
    return text_number((struct text){at, digits}, value);
}

/* "OS Version: 10.0.19041, Trace Size: 8KB, Events Lost: 0, Buffers lost: 0, ..." */
static void describe(struct dumper *d)
{
    const char *version = strchr(d->lines.line, '.');
    uint64_t value;

    version = version ? strchr(version + 1, '.') : NULL;
    if (version && number_after(version, ".", &value))
        d->trace->build = (unsigned)value;
    if (number_after(d->lines.line, "Events Lost:", &value))
        d->trace->lost += value;
    if (number_after(d->lines.line, "Buffers lost:", &value))
        d->trace->lost += value;
}

/* ---- events ---- */

/* What is in a cell: "name : value" is the value. */
static struct text value_in(const struct dumper *d, const struct layout *layout, unsigned field)
{
    struct text cell = d->cells.cell[layout->column[field]];
    const char *name = layout->kind->field[field].name;
    size_t length = strlen(name);

    if (layout->kind->field[field].type != WINTRACE_STRING && cell.length > length &&
        memcmp(cell.at, name, length) == 0) {
        const char *colon = memchr(cell.at, ':', cell.length);

        if (colon)
            cell = (struct text){colon + 1, cell.length - (size_t)(colon + 1 - cell.at)};
    }
    return cells_unquoted(text_trim(cell));
}

static bool take_fields(struct dumper *d, const struct layout *layout)
{
    text_event_begin(&d->event, layout->kind);
    for (unsigned i = 0; i < layout->kind->fields; i++, text_event_next(&d->event)) {
        struct text value = value_in(d, layout, i);

        if (layout->kind->field[i].count ? !text_event_put_list(&d->event, value)
                                         : !text_event_put(&d->event, value))
            return false;
    }
    return true;
}

/* us, with a fraction or without one. */
static bool take_time(struct text cell, uint64_t *time)
{
    const char *dot = memchr(cell.at, '.', cell.length);
    size_t whole = dot ? (size_t)(dot - cell.at) : cell.length;
    uint64_t us, ns = 0;

    if (!text_number((struct text){cell.at, whole}, &us) || us > INT64_MAX / NS_OF_US)
        return false;
    for (size_t i = whole + 1, unit = NS_OF_US / 10; dot && i < cell.length; i++, unit /= 10) {
        if (cell.at[i] < '0' || cell.at[i] > '9')
            return false;
        ns += (uint64_t)(cell.at[i] - '0') * unit;
    }
    *time = us * NS_OF_US + ns;
    return true;
}

/* "dwm.exe" (1956) */
static bool take_process(struct text cell, uint32_t *process)
{
    const char *open = memrchr(cell.at, '(', cell.length);
    uint64_t value;

    if (!open || cell.at[cell.length - 1] != ')')
        return false;
    if (!text_number((struct text){open + 1, (size_t)(cell.at + cell.length - 1 - (open + 1))},
                     &value) ||
        value > UINT32_MAX)
        return false;
    *process = (uint32_t)value;
    return true;
}

static bool take_number(const struct dumper *d, unsigned column, uint64_t most, uint64_t *value)
{
    *value = 0;
    return column >= d->cells.count || (text_number(d->cells.cell[column], value) && *value <= most);
}

static bool take_head(struct dumper *d, const struct layout *layout)
{
    struct wintrace_event *head = &d->event.head;
    uint64_t thread, processor;

    if (!take_time(d->cells.cell[CELL_TIME], &head->time))
        return fail(d, "what should be a time in us is none");
    if (!take_process(d->cells.cell[CELL_PROCESS], &head->process))
        return fail(d, "there is no number of a process between parentheses");
    if (!take_number(d, layout->thread, UINT32_MAX, &thread) ||
        !take_number(d, layout->processor, UINT16_MAX, &processor))
        return fail(d, "the number of its thread or its processor makes no sense");
    head->thread = (uint32_t)thread;
    head->processor = (uint16_t)processor;
    return true;
}

static bool read_event(struct dumper *d)
{
    struct text name = d->cells.cell[CELL_NAME];
    enum decode_result result = DECODE_SHORT;
    bool known = false, unknown = true;

    name.at += strlen(PROVIDER);
    name.length -= strlen(PROVIDER);
    for (unsigned i = 0; i < d->layouts && result == DECODE_SHORT; i++) {
        const struct layout *layout = &d->layout[i];

        if (name.length >= MOST_NAME || !text_is(name, layout->name))
            continue;
        known = true;
        if (!layout->kind)
            continue;
        unknown = false;
        if (d->cells.count != layout->columns)
            continue;
        if (!take_head(d, layout))
            return false;
        if (take_fields(d, layout))
            result = text_event_end(&d->event, d->trace);
    }
    if (result == DECODE_NO_MEMORY)
        return no_memory(d);
    if (!known)
        return fail(d, "the header has no columns for its event");
    d->trace->unknown += unknown;
    d->trace->undecoded += !unknown && result == DECODE_SHORT;
    return true;
}

/* ---- the file ---- */

static bool read_line(struct dumper *d)
{
    struct text line = text_trim((struct text){d->lines.line, d->lines.length});
    bool ours = text_begins(line, PROVIDER);

    if (line.length == 0 || text_is(line, "BeginHeader"))
        return true;
    if (text_is(line, "EndHeader")) {
        d->in_header = false;
        return true;
    }
    if (ours) {
        cells_split(&d->cells, line);
        return d->in_header ? read_layout(d) : read_event(d);
    }
    if (text_begins(line, "OS Version:"))
        describe(d);
    else if (!d->in_header && !text_begins(line, "FirstReliable"))
        d->trace->others++;
    return true;
}

static bool dumper_feed(void *reader, const uint8_t *bytes, size_t length)
{
    struct dumper *d = reader;

    for (size_t at = 0; at < length;) {
        at += lines_take(&d->lines, bytes + at, length - at);
        if (d->lines.too_long)
            return fail(d, "it has no end within a megabyte");
        if (d->lines.whole && !read_line(d))
            return false;
    }
    return true;
}

static bool dumper_end(void *reader)
{
    struct dumper *d = reader;

    if (lines_rest(&d->lines) && !read_line(d))
        return false;
    if (d->in_header)
        return fail(d, "the text ends within its header (there is no EndHeader)");
    wintrace_order(d->trace, FREQUENCY);
    return true;
}

const struct wintrace_form wintrace_dumper = {dumper_is, dumper_begin, dumper_feed, dumper_end,
                                              dumper_destroy};
