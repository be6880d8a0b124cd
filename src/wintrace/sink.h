/* SPDX-License-Identifier: MIT */
/*
 * Where the events of a machine are collected until they are written (write.h): created and
 * installed by who has the machine, filled by wintrace_emit (emit.h).
 */
#ifndef DXGK_WINTRACE_SINK_H
#define DXGK_WINTRACE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct util_arena;
struct wintrace_chunk;
struct wintrace_kind;
struct wintrace_sink;

/* Where an event happens: ids as Windows would have them, and the index of the processor. */
struct wintrace_place {
    uint32_t process, thread;
    uint16_t processor;
};

struct wintrace_sink_config {
    unsigned processors; /* of the machine */
    uint64_t start;      /* system time at time 0 of the clock: 100 ns units since 1601 */
    /* Tells where the machine is. */
    void (*where)(struct wintrace_place *place);
    struct util_arena *arena; /* of all memory of the sink; NULL: malloc */
};

/* One event as it is kept; the packed payload follows. */
struct wintrace_kept {
    uint64_t time; /* ns; later than that of the event before */
    const struct wintrace_kind *kind;
    struct wintrace_place place;
    uint32_t bytes; /* of the payload */
};

/* NULL: out of memory. */
struct wintrace_sink *wintrace_sink_create(const struct wintrace_sink_config *config);
/* If the sink is installed, none is afterwards. One in an arena frees nothing. */
void wintrace_sink_destroy(struct wintrace_sink *sink);
/* `clock` is read for every event (virtual ns). A NULL sink stops recording. */
void wintrace_sink_install(struct wintrace_sink *sink, const uint64_t *clock);
const struct wintrace_sink_config *wintrace_sink_config(const struct wintrace_sink *sink);
/* Events recorded; and those lost because memory ran out. */
uint64_t wintrace_sink_events(const struct wintrace_sink *sink);
uint64_t wintrace_sink_lost(const struct wintrace_sink *sink);
/* Time of the last one, in ns; 0: there is none. */
uint64_t wintrace_sink_end(const struct wintrace_sink *sink);
/* A walk over the events in order of time: begins zeroed. NULL: at the end. */
struct wintrace_walk {
    const struct wintrace_chunk *chunk;
    size_t at; /* of the next event in it */
};
const struct wintrace_kept *wintrace_walk_next(const struct wintrace_sink *sink,
                                               struct wintrace_walk *walk);

static inline const uint8_t *wintrace_payload(const struct wintrace_kept *kept)
{
    return (const uint8_t *)(kept + 1);
}

#endif
