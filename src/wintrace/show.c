/* SPDX-License-Identifier: MIT */
#include "wintrace/show.h"
#include "wintrace/known.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct room {
    char *text;
    size_t bytes, used;
};

static void add(struct room *room, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct room *room, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(room->text + room->used, room->bytes - room->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        room->used += (size_t)length;
    if (room->used >= room->bytes)
        room->used = room->bytes - 1;
}

static void add_number(struct room *room, enum wintrace_type type, uint64_t value)
{
    if (type == WINTRACE_INT32 || type == WINTRACE_INT64)
        add(room, "%" PRId64, (int64_t)value);
    else if (value < 65536)
        add(room, "%" PRIu64, value);
    else
        add(room, "0x%" PRIx64, value);
}

static void add_value(struct room *room, const struct side *side, const struct wintrace_kind *kind,
                      unsigned field, uint64_t value)
{
    uint64_t name = (uintptr_t)hash_get(&side->names, handle_key(value));

    switch (field_role(kind, field)) {
    case FIELD_CONTEXT:
    case FIELD_ALLOCATION:
    case FIELD_OBJECT:
        if (value && name)
            add(room, "#%" PRIu64, name);
        else
            add(room, "none");
        break;
    case FIELD_POINTER:
        add(room, "%s", value ? "set" : "none");
        break;
    case FIELD_SEGMENT:
        if (!value || value == side->subject.system_segment)
            add(room, "system");
        else
            add(room, "%" PRIu64, value);
        break;
    default:
        add_number(room, kind->field[field].type, value);
        break;
    }
}

static void add_string(struct room *room, const uint64_t *value)
{
    add(room, "\"");
    for (uint64_t i = 0; i < value[0]; i++)
        add(room, "%c", value[1 + i] >= ' ' && value[1 + i] < 127 ? (char)value[1 + i] : '?');
    add(room, "\"");
}

static void add_field(struct room *room, const struct side *side, const struct lane *lane,
                      size_t item, unsigned field)
{
    const struct wintrace_event *event = token_event(side, lane, item);
    uint64_t value = side->trace->value[event->values + field];
    int64_t distance;

    add(room, " %s ", event->kind->field[field].name);
    if (token_distance(side, lane, item, field, &distance)) {
        add(room, "%+" PRId64, distance);
    } else if (event->kind->field[field].type == WINTRACE_STRING) {
        add_string(room, &side->trace->value[value]);
    } else if (event->kind->field[field].count) {
        add(room, "[");
        for (uint64_t i = 0; i < side->trace->value[value] && i < 8; i++) {
            add(room, "%s", i ? " " : "");
            add_value(room, side, event->kind, field, side->trace->value[value + 1 + i]);
        }
        add(room, "]");
    } else {
        add_value(room, side, event->kind, field, value);
    }
}

void show_event(const struct side *side, const struct lane *lane, size_t item, char *text,
                size_t bytes)
{
    const struct wintrace_kind *kind = token_event(side, lane, item)->kind;
    struct room room = {text, bytes, 0};

    add(&room, "%s%s%s", kind->name, kind->opcode[0] ? " " : "", kind->opcode);
    for (unsigned i = 0; i < kind->fields; i++)
        if (token_has(side, kind, i) && !known_field(kind->id, kind->field[i].name))
            add_field(&room, side, lane, item, i);
}

static void add_node(struct room *room, const struct side *side, const struct lane *lane)
{
    const struct subject_context *context = subject_find(&side->subject, lane->key);

    if (context && context->node != SUBJECT_NO_NODE)
        add(room, " on node %" PRIu32, context->node);
}

void show_pair(const struct comparison *c, const struct compare_pair *pair, char *text, size_t bytes)
{
    struct room room = {text, bytes, 0};

    switch (pair->kind) {
    case LANE_CONTEXT:
        add(&room, "queue of context %u", pair->number);
        add_node(&room, pair->ours ? &c->ours : &c->windows,
                 pair->ours ? pair->ours : pair->windows);
        break;
    case LANE_NODE:
        add(&room, "node %u", pair->number);
        break;
    case LANE_ALLOCATION:
        add(&room, "paging operations of allocation %u", pair->number);
        break;
    case LANE_SOURCE:
        add(&room, "flips and VSyncs of source %u", pair->number);
        break;
    case LANE_QUEUE:
        add(&room, "paging queue %u", pair->number);
        break;
    default:
        add(&room, "calls for residency of thread %u", pair->number);
        break;
    }
}

void show_part(const struct compare_pair *pair, char *text, size_t bytes)
{
    struct room room = {text, bytes, 0};

    if (!pair->ours || !pair->windows) {
        add(&room, "only %s has it", pair->ours ? "our trace" : "Windows");
        return;
    }
    switch (pair->result.part) {
    case ALIGN_FIELD:
        add(&room, "%s differs", pair->result.field ? pair->result.field : "the event");
        break;
    case ALIGN_ONLY_OURS:
        add(&room, "only our trace has the event");
        break;
    case ALIGN_ONLY_WINDOWS:
        add(&room, "only Windows has the event");
        break;
    case ALIGN_OTHER:
        add(&room, "other events follow");
        break;
    default:
        add(&room, "equal");
        break;
    }
}
