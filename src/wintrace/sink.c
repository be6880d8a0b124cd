/* SPDX-License-Identifier: MIT */
/*
 * Recording events of this host's own runs. A sink is a list of chunks filled with events, each a
 * header and the payload as ETW has it, packed.
 *
 * Two events never have the same time: one that happens in the same ns as the one before is a ns
 * later than that. The machine's clock often stands still while much happens, and readers sort
 * events of different processors by time alone. As soon as the clock has caught up, times are its
 * own again.
 *
 * Memory comes from malloc, or an arena that another process can read when this one has ended; not
 * from util_alloc, whose injected failures must not change what is recorded. Short of memory,
 * events are dropped and counted.
 */
#include "wintrace/sink.h"
#include "util/arena.h"
#include "util/assert.h"
#include "wintrace/emit.h"
#include "wintrace/layout.h"
#include "wintrace/wintrace.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES   ((size_t)256 << 10)
#define PAYLOAD_BYTES ((size_t)8 << 10) /* of one event, at most; a file buffer holds 64 KiB */

struct wintrace_chunk {
    struct wintrace_chunk *next;
    size_t used;
    _Alignas(struct wintrace_kept) uint8_t byte[CHUNK_BYTES];
};

struct wintrace_sink {
    struct wintrace_sink_config config;
    const uint64_t *clock;
    uint64_t time; /* of the last event */
    uint64_t events, lost;
    struct wintrace_chunk *first, *last;
};

_Thread_local struct wintrace_sink *wintrace_current;

static const uint64_t stopped_clock;

struct wintrace_sink *wintrace_sink_create(const struct wintrace_sink_config *config)
{
    struct wintrace_sink *sink = util_arena_or_malloc(config->arena, sizeof(*sink));

    if (!sink)
        return NULL;
    sink->config = *config;
    sink->clock = &stopped_clock;
    return sink;
}

void wintrace_sink_destroy(struct wintrace_sink *sink)
{
    if (!sink)
        return;
    if (wintrace_current == sink)
        wintrace_current = NULL;
    if (sink->config.arena)
        return;
    for (struct wintrace_chunk *chunk = sink->first, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(sink);
}

void wintrace_sink_install(struct wintrace_sink *sink, const uint64_t *clock)
{
    wintrace_current = sink;
    if (sink)
        sink->clock = clock ? clock : &stopped_clock;
}

const struct wintrace_sink_config *wintrace_sink_config(const struct wintrace_sink *sink)
{
    return &sink->config;
}

uint64_t wintrace_sink_events(const struct wintrace_sink *sink)
{
    return sink->events;
}

uint64_t wintrace_sink_end(const struct wintrace_sink *sink)
{
    return sink->time;
}

uint64_t wintrace_sink_lost(const struct wintrace_sink *sink)
{
    return sink->lost;
}

/* ---- payloads ---- */

/* What is put into a payload, field by field. */
struct packing {
    const struct wintrace_kind *kind;
    const uint64_t *value;
    size_t values, taken;
    uint64_t first[WINTRACE_MOST_FIELDS]; /* of each field so far: its value, or its first one */
    uint8_t *byte;
    size_t bytes;
};

static void put(struct packing *p, enum wintrace_type type)
{
    uint64_t value;

    util_assert(p->taken < p->values && p->bytes + 8 <= PAYLOAD_BYTES);
    value = p->value[p->taken++];
    memcpy(p->byte + p->bytes, &value, layout_bytes(type));
    p->bytes += layout_bytes(type);
}

static void put_field(struct packing *p, unsigned field)
{
    enum wintrace_type type = p->kind->field[field].type;
    uint64_t count = layout_count(p->kind, field, p->first);

    p->first[field] = p->taken < p->values ? p->value[p->taken] : 0;
    if (type == WINTRACE_STRING) {
        do
            put(p, type);
        while (p->value[p->taken - 1]);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        put(p, type);
}

/* ---- events ---- */

/* NULL: out of memory. */
static struct wintrace_kept *room(struct wintrace_sink *sink, size_t bytes)
{
    struct wintrace_chunk *chunk = sink->last;
    size_t needed = (sizeof(struct wintrace_kept) + bytes + 7) / 8 * 8;
    struct wintrace_kept *kept;

    if (!chunk || needed > CHUNK_BYTES - chunk->used) {
        chunk = util_arena_or_malloc(sink->config.arena, sizeof(*chunk));
        if (!chunk)
            return NULL;
        if (sink->last)
            sink->last->next = chunk;
        else
            sink->first = chunk;
        sink->last = chunk;
    }
    kept = (struct wintrace_kept *)(chunk->byte + chunk->used);
    chunk->used += needed;
    return kept;
}

void wintrace_record(enum wintrace_emitted kind, const uint64_t *value, size_t values)
{
    struct wintrace_sink *sink = wintrace_current;
    uint8_t byte[PAYLOAD_BYTES];
    struct packing p = {.value = value, .values = values, .byte = byte};
    struct wintrace_kept *kept;

    if (!sink)
        return;
    p.kind = wintrace_kind_find((uint16_t)(kind >> 8), (uint8_t)kind);
    util_assert(p.kind && p.kind->fields <= WINTRACE_MOST_FIELDS);
    for (unsigned i = 0; i < p.kind->fields; i++)
        put_field(&p, i);
    util_assert(p.taken == values);
    kept = room(sink, p.bytes);
    if (!kept) {
        sink->lost++;
        return;
    }
    if (!sink->events || *sink->clock > sink->time)
        sink->time = *sink->clock;
    else
        sink->time++;
    *kept = (struct wintrace_kept){.time = sink->time, .kind = p.kind, .bytes = (uint32_t)p.bytes};
    sink->config.where(&kept->place);
    memcpy(kept + 1, byte, p.bytes);
    sink->events++;
}

const struct wintrace_kept *wintrace_walk_next(const struct wintrace_sink *sink,
                                               struct wintrace_walk *walk)
{
    const struct wintrace_kept *kept;

    if (!walk->chunk)
        walk->chunk = sink->first;
    else if (walk->at == walk->chunk->used && walk->chunk->next)
        *walk = (struct wintrace_walk){.chunk = walk->chunk->next};
    if (!walk->chunk || walk->at == walk->chunk->used)
        return NULL;
    kept = (const struct wintrace_kept *)(walk->chunk->byte + walk->at);
    walk->at += (sizeof(*kept) + kept->bytes + 7) / 8 * 8;
    return kept;
}
