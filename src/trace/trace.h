/* SPDX-License-Identifier: MIT */
/*
 * The event stream of a machine: packed records in one growing buffer, written as Chrome/Perfetto
 * JSON at the end. Recording costs 10 to 20 ns and about ten bytes; with no sink installed, one
 * load and a branch. Names are string literals, or strings that live as long as the sink
 * (trace_intern). Values must not depend on host addresses. This header includes little, since
 * every room may include it.
 */
#ifndef DXGK_TRACE_H
#define DXGK_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct trace_sink;
struct util_arena;

/* A row of the trace. Processors are tracks 1..64; trace_track_create makes others. */
typedef uint32_t trace_track;
#define TRACE_PROCESSOR(index) ((trace_track)((index) + 1u))

extern _Thread_local struct trace_sink *trace_current;

struct trace_sink *trace_sink_create(void); /* NULL: out of memory */
/* The same with all its memory in the arena, so that another process can write it as a file when
 * this one has ended, at whatever record; destroying it frees nothing. NULL: malloc is used. */
struct trace_sink *trace_sink_create_in(struct util_arena *arena);
/* Frees the records and the interned strings; if the sink is installed, none is afterwards. */
void trace_sink_destroy(struct trace_sink *sink);
/* `clock` is read for every record (virtual ns). A NULL sink stops recording. */
void trace_sink_install(struct trace_sink *sink, const uint64_t *clock);
/* Limits the host memory of the sink (default: no limit). Records beyond it are dropped and
 * counted. */
void trace_sink_limit(struct trace_sink *sink, uint64_t bytes);
/* The same records give the same bytes. False: the file could not be written. */
bool trace_write_json(const struct trace_sink *sink, FILE *out);
/* What is to be seen at a time of the picture; the text is shown where a pointer rests. */
struct trace_mark {
    uint64_t time;
    const char *text;
};
/* A small picture of what ran when, as SVG: at most some 300 KB, whatever the length of the run.
 * The same records give the same bytes. False: out of memory, or the file could not be written. */
bool trace_write_svg(const struct trace_sink *sink, const struct trace_mark *marks, size_t count,
                     FILE *out);
uint64_t trace_records(const struct trace_sink *sink);
/* Records lost because memory ran out. */
uint64_t trace_dropped(const struct trace_sink *sink);

/* A copy of `text` that lives as long as the current sink; equal texts give equal pointers. ""
 * without a sink, "?" when out of memory. */
const char *trace_intern(const char *text);
/* A new track in a group ("nodes", "contexts", "paging queues", ...); both names are copied. 0
 * without a sink, or when out of memory. Records of track 0 are kept, on their own row. */
trace_track trace_track_create(const char *group, const char *name);

void trace_record(char phase, trace_track track, const char *name, uint64_t id, const char *key0,
                  uint64_t value0, const char *key1, uint64_t value1);

/* Spans nest per track. key NULL: no argument. */
static inline void trace_begin(trace_track track, const char *name, const char *key, uint64_t value)
{
    if (trace_current)
        trace_record('B', track, name, 0, key, value, NULL, 0);
}
static inline void trace_end(trace_track track, const char *name)
{
    if (trace_current)
        trace_record('E', track, name, 0, NULL, 0, NULL, 0);
}
static inline void trace_instant(trace_track track, const char *name, const char *key0,
                                 uint64_t value0, const char *key1, uint64_t value1)
{
    if (trace_current)
        trace_record('i', track, name, 0, key0, value0, key1, value1);
}
/* A flow arrow from start to finish, matched by name and id. */
static inline void trace_flow_start(trace_track track, const char *name, uint64_t id)
{
    if (trace_current)
        trace_record('s', track, name, id, NULL, 0, NULL, 0);
}
static inline void trace_flow_finish(trace_track track, const char *name, uint64_t id)
{
    if (trace_current)
        trace_record('f', track, name, id, NULL, 0, NULL, 0);
}
/* Spans that overlap others of their track: those of one id, which is not 0 and no other track's,
 * nest in each other. The begin and the end of one may both have arguments. */
static inline void trace_async_begin(trace_track track, const char *name, uint64_t id,
                                     const char *key0, uint64_t value0, const char *key1,
                                     uint64_t value1)
{
    if (trace_current)
        trace_record('b', track, name, id, key0, value0, key1, value1);
}
static inline void trace_async_end(trace_track track, const char *name, uint64_t id,
                                   const char *key0, uint64_t value0, const char *key1,
                                   uint64_t value1)
{
    if (trace_current)
        trace_record('e', track, name, id, key0, value0, key1, value1);
}
static inline void trace_async_instant(trace_track track, const char *name, uint64_t id,
                                       const char *key, uint64_t value)
{
    if (trace_current)
        trace_record('n', track, name, id, key, value, NULL, 0);
}
/* Two more arguments of the record before. */
static inline void trace_more(const char *key0, uint64_t value0, const char *key1, uint64_t value1)
{
    if (trace_current)
        trace_record('+', 0, NULL, 0, key0, value0, key1, value1);
}
static inline void trace_counter(const char *name, uint64_t value)
{
    if (trace_current)
        trace_record('C', 0, name, 0, "value", value, NULL, 0);
}

#endif
