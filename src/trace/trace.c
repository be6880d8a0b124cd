/* SPDX-License-Identifier: MIT */
/*
 * Recording: a sink is a list of chunks filled with packed records.
 *
 * A record is one byte of phase and flags, then LEB128 numbers: the time since the previous record,
 * the track, the name, and if present the id and the two arguments. Names are numbered when first
 * seen, so a typical record takes five to twelve bytes, not the eight words of a plain struct: when
 * tracing is left on, touching fresh memory costs far more than packing.
 *
 *     first                                   last
 *     [ record record ... ] -> [ ... ] -> [ record | free    ]
 *                                                  next      end
 *
 * Chunks are never moved; they double up to 1 MiB. Memory comes from malloc, not from util_alloc:
 * injected failures of the machine's heap must not change the trace, and the sink outlives the
 * machine. When memory is short, the record is dropped and counted; recording never fails for its
 * caller.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"
#include "trace/sink.h"
#include "util/arena.h"

#define CHUNK_BYTES_MIN 16384u
#define CHUNK_BYTES_MAX 1048576u
#define RECORD_BYTES_MAX \
    61u /* flags 1, time 10, track 5, name 5, id 10, and two times key 5 and value 10 */

enum {
    FLAG_NAME = 0x08, /* low three bits: index in phases */
    FLAG_ID = 0x10,
    FLAG_KEY0 = 0x20,
    FLAG_KEY1 = 0x40,
    FLAG_ASYNC = 0x80, /* b, e, n: as B, E, i */
};

static const char phases[] = "?BEisfC+", async_phases[] = "?ben????";
static const unsigned char phase_index[256] = {['B'] = 1,
                                               ['E'] = 2,
                                               ['i'] = 3,
                                               ['s'] = 4,
                                               ['f'] = 5,
                                               ['C'] = 6,
                                               ['+'] = 7,
                                               ['b'] = 1 | FLAG_ASYNC,
                                               ['e'] = 2 | FLAG_ASYNC,
                                               ['n'] = 3 | FLAG_ASYNC};

_Thread_local struct trace_sink *trace_current;

static const uint64_t stopped_clock;

struct trace_sink *trace_sink_create(void)
{
    return trace_sink_create_in(NULL);
}

struct trace_sink *trace_sink_create_in(struct util_arena *arena)
{
    struct trace_sink *sink = util_arena_or_malloc(arena, sizeof(*sink));

    if (!sink)
        return NULL;
    sink->arena = arena;
    sink->clock = &stopped_clock;
    sink->limit = UINT64_MAX;
    return sink;
}

void trace_sink_destroy(struct trace_sink *sink)
{
    if (!sink)
        return;
    if (trace_current == sink)
        trace_current = NULL;
    if (sink->arena)
        return;
    for (struct trace_chunk *chunk = sink->first, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    for (uint32_t i = 0; i < sink->string_capacity; i++)
        free(sink->string[i]);
    free((void *)sink->string);
    free((void *)sink->group);
    free((void *)sink->text);
    free(sink->name);
    free(sink->row);
    free(sink);
}

void trace_sink_install(struct trace_sink *sink, const uint64_t *clock)
{
    trace_current = sink;
    if (sink)
        sink->clock = clock ? clock : &stopped_clock;
}

void trace_sink_limit(struct trace_sink *sink, uint64_t bytes)
{
    sink->limit = bytes;
}

uint64_t trace_records(const struct trace_sink *sink)
{
    return sink->records;
}

uint64_t trace_dropped(const struct trace_sink *sink)
{
    return sink->dropped;
}

/* ---- memory ---- */

static void *sink_alloc(struct trace_sink *sink, size_t bytes)
{
    void *block;

    if (sink->limit < sink->bytes || sink->limit - sink->bytes < bytes)
        return NULL;
    block = util_arena_or_malloc(sink->arena, bytes);
    if (block)
        sink->bytes += bytes;
    return block;
}

/* Ensure that the array has room for one more element; returns where it is now. NULL: out of
 * memory, and the array is unchanged. */
static void *with_room(struct trace_sink *sink, void *array, uint32_t count, uint32_t *capacity,
                       size_t element)
{
    uint32_t wanted = *capacity ? *capacity * 2 : 16;
    void *grown;

    if (count < *capacity)
        return array;
    grown = sink_alloc(sink, wanted * element);
    if (!grown)
        return NULL;
    if (count)
        memcpy(grown, array, count * element);
    util_arena_or_free(sink->arena, array);
    sink->bytes -= *capacity * element;
    *capacity = wanted;
    return grown;
}

/* ---- strings ---- */

/* FNV-1a. */
static uint32_t hash_text(const char *text)
{
    uint32_t hash = 2166136261u;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

/* The slot that holds `text`, or the free one where it belongs. The set is never full. */
static char **string_slot(char **string, uint32_t capacity, const char *text)
{
    uint32_t i = hash_text(text) & (capacity - 1);

    while (string[i] && strcmp(string[i], text) != 0)
        i = (i + 1) & (capacity - 1);
    return &string[i];
}

static bool grow_strings(struct trace_sink *sink)
{
    uint32_t capacity = sink->string_capacity ? sink->string_capacity * 2 : 64;
    size_t bytes = capacity * sizeof(char *);
    char **string = sink_alloc(sink, bytes);

    if (!string)
        return false;
    memset((void *)string, 0, bytes);
    for (uint32_t i = 0; i < sink->string_capacity; i++) {
        if (sink->string[i])
            *string_slot(string, capacity, sink->string[i]) = sink->string[i];
    }
    util_arena_or_free(sink->arena, (void *)sink->string);
    sink->bytes -= sink->string_capacity * sizeof(char *);
    sink->string = string;
    sink->string_capacity = capacity;
    return true;
}

/* NULL: out of memory. */
static const char *intern(struct trace_sink *sink, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char **slot;

    if (sink->strings >= sink->string_capacity / 2 && !grow_strings(sink))
        return NULL;
    slot = string_slot(sink->string, sink->string_capacity, text);
    if (!*slot) {
        *slot = sink_alloc(sink, bytes);
        if (*slot) {
            memcpy(*slot, text, bytes);
            sink->strings++;
        }
    }
    return *slot;
}

const char *trace_intern(const char *text)
{
    const char *copy;

    if (!trace_current)
        return "";
    copy = intern(trace_current, text);
    return copy ? copy : "?";
}

/* ---- names of records ---- */

static struct trace_name *name_slot(struct trace_name *name, uint32_t capacity, const char *pointer)
{
    uint32_t i = (uint32_t)(((uintptr_t)pointer * UINT64_C(0x9E3779B97F4A7C15)) >> 32) &
                 (capacity - 1);

    while (name[i].pointer && name[i].pointer != pointer)
        i = (i + 1) & (capacity - 1);
    return &name[i];
}

static bool grow_names(struct trace_sink *sink)
{
    uint32_t capacity = sink->name_capacity ? sink->name_capacity * 2 : 256;
    struct trace_name *name = sink_alloc(sink, capacity * sizeof(*name));

    if (!name)
        return false;
    memset(name, 0, capacity * sizeof(*name));
    for (uint32_t i = 0; i < sink->name_capacity; i++) {
        if (sink->name[i].pointer)
            *name_slot(name, capacity, sink->name[i].pointer) = sink->name[i];
    }
    util_arena_or_free(sink->arena, sink->name);
    sink->bytes -= sink->name_capacity * sizeof(*name);
    sink->name = name;
    sink->name_capacity = capacity;
    return true;
}

/* Number a name that is seen for the first time. Its text is copied, since the image that contains
 * it may be unloaded before the trace is written. */
static bool name_add(struct trace_sink *sink, const char *pointer, uint32_t *index)
{
    const char *copy = intern(sink, pointer);
    const char **text;

    if (!copy || (sink->names >= sink->name_capacity / 2 && !grow_names(sink)))
        return false;
    text = with_room(sink, (void *)sink->text, sink->texts, &sink->text_capacity, sizeof(*text));
    if (!text)
        return false;
    sink->text = text;
    sink->text[sink->texts] = copy;
    *name_slot(sink->name, sink->name_capacity, pointer) = (struct trace_name){pointer, sink->texts};
    sink->names++;
    *index = sink->texts++;
    return true;
}

/* False: out of memory. */
static inline bool name_find(struct trace_sink *sink, const char *pointer, uint32_t *index)
{
    if (sink->name_capacity) {
        const struct trace_name *slot = name_slot(sink->name, sink->name_capacity, pointer);

        if (slot->pointer) {
            *index = slot->index;
            return true;
        }
    }
    return name_add(sink, pointer, index);
}

/* ---- records ---- */

static bool grow(struct trace_sink *sink)
{
    size_t capacity = CHUNK_BYTES_MIN;
    struct trace_chunk *chunk;

    if (sink->last)
        capacity = sink->last->capacity < CHUNK_BYTES_MAX ? sink->last->capacity * 2
                                                          : CHUNK_BYTES_MAX;
    chunk = sink_alloc(sink, sizeof(*chunk) + capacity);
    if (!chunk)
        return false;
    chunk->next = NULL;
    chunk->capacity = capacity;
    chunk->used = 0;
    if (sink->last) {
        sink->last->used = (size_t)(sink->next - sink->last->byte);
        sink->last->next = chunk;
    } else {
        sink->first = chunk;
    }
    sink->last = chunk;
    sink->next = chunk->byte;
    sink->end = chunk->byte + capacity;
    return true;
}

static inline unsigned char *put_number(unsigned char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (unsigned char)value;
    return at;
}

static inline uint64_t get_number(const unsigned char **at)
{
    uint64_t value = 0;
    unsigned shift = 0;

    for (;; shift += 7) {
        unsigned char byte = *(*at)++;

        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return value;
    }
}

/* The clock of one machine only goes forward, but a sink may be given another clock; small steps
 * back get a short encoding, too. */
static inline uint64_t zigzag(uint64_t step)
{
    return step << 1 ^ (0 - (step >> 63));
}

static inline uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

/* Names are looked up before anything is written, so that a record is written completely or not at
 * all. */
void trace_record(char phase, trace_track track, const char *name, uint64_t id, const char *key0,
                  uint64_t value0, const char *key1, uint64_t value1)
{
    struct trace_sink *sink = trace_current;
    uint32_t index = 0, index0 = 0, index1 = 0;
    unsigned char *at;

    if (!sink)
        return;
    if ((name && !name_find(sink, name, &index)) || (key0 && !name_find(sink, key0, &index0)) ||
        (key1 && !name_find(sink, key1, &index1)) ||
        ((size_t)(sink->end - sink->next) < RECORD_BYTES_MAX && !grow(sink))) {
        sink->dropped++;
        return;
    }
    at = sink->next;
    *at++ = (unsigned char)(phase_index[(unsigned char)phase] | (name ? FLAG_NAME : 0u) |
                            (id ? FLAG_ID : 0u) | (key0 ? FLAG_KEY0 : 0u) | (key1 ? FLAG_KEY1 : 0u));
    at = put_number(at, zigzag(*sink->clock - sink->time));
    at = put_number(at, track);
    if (name)
        at = put_number(at, index);
    if (id)
        at = put_number(at, id);
    if (key0)
        at = put_number(put_number(at, index0), value0);
    if (key1)
        at = put_number(put_number(at, index1), value1);
    sink->next = at;
    sink->time = *sink->clock;
    sink->records++;
}

static bool next_chunk(struct trace_cursor *cursor)
{
    const struct trace_sink *sink = cursor->sink;

    cursor->chunk = cursor->chunk ? cursor->chunk->next : sink->first;
    if (!cursor->chunk)
        return false;
    cursor->at = cursor->chunk->byte;
    cursor->end = cursor->chunk == sink->last ? sink->next : cursor->at + cursor->chunk->used;
    return true;
}

bool trace_cursor_next(struct trace_cursor *cursor, struct trace_event *event)
{
    const char **text = cursor->sink->text;
    unsigned flags;

    while (cursor->at == cursor->end) {
        if (!next_chunk(cursor))
            return false;
    }
    *event = (struct trace_event){.name = NULL};
    flags = *cursor->at++;
    event->phase = flags & FLAG_ASYNC ? async_phases[flags & 7] : phases[flags & 7];
    cursor->time += unzigzag(get_number(&cursor->at));
    event->time = cursor->time;
    event->track = (trace_track)get_number(&cursor->at);
    if (flags & FLAG_NAME)
        event->name = text[get_number(&cursor->at)];
    if (flags & FLAG_ID)
        event->id = get_number(&cursor->at);
    for (unsigned i = 0; i < 2; i++) {
        if (flags & (i ? FLAG_KEY1 : FLAG_KEY0)) {
            event->key[i] = text[get_number(&cursor->at)];
            event->value[i] = get_number(&cursor->at);
        }
    }
    return true;
}

/* ---- tracks ---- */

/* Index of the group, which is created if it is new; there are only a few groups. False: out of
 * memory. */
static bool find_group(struct trace_sink *sink, const char *name, uint32_t *index)
{
    const char *copy = intern(sink, name);
    const char **group;

    if (!copy)
        return false;
    for (uint32_t i = 0; i < sink->groups; i++) {
        if (sink->group[i] == copy) {
            *index = i;
            return true;
        }
    }
    group = with_room(sink, (void *)sink->group, sink->groups, &sink->group_capacity,
                      sizeof(*group));
    if (!group)
        return false;
    sink->group = group;
    *index = sink->groups;
    sink->group[sink->groups++] = copy;
    return true;
}

trace_track trace_track_create(const char *group, const char *name)
{
    struct trace_sink *sink = trace_current;
    struct trace_row *rows;
    struct trace_row row;

    if (!sink || !find_group(sink, group, &row.group))
        return 0;
    row.name = intern(sink, name);
    if (!row.name)
        return 0;
    rows = with_room(sink, sink->row, sink->rows, &sink->row_capacity, sizeof(*rows));
    if (!rows)
        return 0;
    sink->row = rows;
    sink->row[sink->rows] = row;
    return TRACE_FIRST_TRACK + sink->rows++;
}
