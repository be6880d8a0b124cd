/* SPDX-License-Identifier: MIT */
/* The content of a sink, for recording (trace.c) and writing (json.c); private to this room. */
#ifndef DXGK_TRACE_SINK_H
#define DXGK_TRACE_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

#define TRACE_PROCESSORS 64u
/* first track of trace_track_create; the row before it is for records without a track */
#define TRACE_FIRST_TRACK (TRACE_PROCESSORS + 2u)

struct trace_chunk {
    struct trace_chunk *next;
    size_t used; /* bytes, for all chunks but the last, which is filled up to sink->next */
    size_t capacity;
    unsigned char byte[];
};

/* A name as recorded: callers pass pointers, records hold the index. */
struct trace_name {
    const char *pointer; /* NULL: free slot */
    uint32_t index;      /* in sink->text */
};

struct trace_row {
    const char *name;
    uint32_t group; /* index in sink->group */
};

struct trace_sink {
    struct util_arena *arena; /* of all memory of the sink; NULL: malloc */
    unsigned char *next;      /* where the next record goes */
    unsigned char *end;       /* of the last chunk */
    const uint64_t *clock;
    uint64_t time;           /* of the last record */
    struct trace_name *name; /* open-addressed map, by pointer */
    uint32_t names;
    uint32_t name_capacity; /* power of two, or 0 */
    uint64_t records;
    uint64_t dropped;
    struct trace_chunk *first;
    struct trace_chunk *last;
    uint64_t limit;
    uint64_t bytes; /* bytes taken from the host and not freed yet */

    const char **text; /* text of each name */
    uint32_t texts;
    uint32_t text_capacity;

    const char **group; /* names, in order of creation */
    uint32_t groups;
    uint32_t group_capacity;
    struct trace_row *row; /* row i is track TRACE_FIRST_TRACK + i */
    uint32_t rows;
    uint32_t row_capacity;

    char **string; /* open-addressed set of copied strings */
    uint32_t strings;
    uint32_t string_capacity; /* power of two, or 0 */
};

/* One record, unpacked. */
struct trace_event {
    uint64_t time;
    const char *name; /* NULL: none */
    uint64_t id;
    const char *key[2]; /* NULL: none */
    uint64_t value[2];
    trace_track track;
    char phase;
};

/* Walk of all records in order: zero-initialize, then set the sink. */
struct trace_cursor {
    const struct trace_sink *sink;
    const struct trace_chunk *chunk;
    const unsigned char *at;
    const unsigned char *end;
    uint64_t time;
};

/* False: at the end. */
bool trace_cursor_next(struct trace_cursor *cursor, struct trace_event *event);

#endif
