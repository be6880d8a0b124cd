/* SPDX-License-Identifier: MIT */
/*
 * Writing the format that etl.c describes. Each processor fills a buffer of its own, which goes to
 * the file when it is full; those that are not full at the end follow. How many there are stands in
 * the first one, so the events are laid out twice: once to count.
 *
 * The clock is a counter of ns, which begins when the machine is switched on.
 */
#include "wintrace/etl_write.h"
#include "wintrace/etl_layout.h"
#include "wintrace/recorded.h"
#include "wintrace/sink.h"
#include "wintrace/wintrace.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES    65536u
#define MOST_PROCESSORS 64u
#define NS_FREQUENCY    1000000000u
#define LOGGER          1u
#define FLUSHED         3u /* state of a buffer */
#define FLAG_WRITTEN    0x20u
#define FLAG_FIRST      0x01u
#define TYPE_HEADER     4u
#define TAIL            248u /* of the description: its members behind the time zone */
#define NAMES           4u   /* two empty ones */
#define DESCRIPTION     (TAIL + 32u + NAMES)

_Static_assert(TAIL == (FIXED_BYTES + 16 + ZONE_BYTES + 7) / 8 * 8, "as etl.c computes it");

struct writer {
    const struct wintrace_sink *sink;
    FILE *out; /* NULL: count only */
    uint8_t *buffer[MOST_PROCESSORS];
    uint32_t used[MOST_PROCESSORS]; /* 0: there is none */
    uint64_t buffers;               /* so far */
    bool failed;
};

static void put16(uint8_t *at, uint16_t value)
{
    memcpy(at, &value, sizeof(value));
}

static void put32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof(value));
}

static void put64(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof(value));
}

static uint32_t at_most_32(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* ---- buffers ---- */

static void flush(struct writer *w, unsigned processor)
{
    uint8_t *buffer = w->buffer[processor];
    uint32_t used = w->used[processor];
    bool first = w->buffers == 0;

    w->used[processor] = 0;
    if (!used)
        return;
    if (w->out && buffer) {
        memset(buffer, 0, BUFFER_HEADER);
        memset(buffer + used, 0xFF, BUFFER_BYTES - used);
        put32(buffer, BUFFER_BYTES);
        put32(buffer + 4, used);
        put32(buffer + 8, used);
        memcpy(buffer + 16, buffer + BUFFER_HEADER + 16, 8); /* time of its first event */
        put64(buffer + 24, w->buffers);
        put16(buffer + 40, (uint16_t)processor);
        put16(buffer + 42, LOGGER);
        put32(buffer + 44, FLUSHED);
        put32(buffer + 48, used);
        put16(buffer + 52, FLAG_WRITTEN | (first ? FLAG_FIRST : 0));
        put16(buffer + 54, first ? TYPE_HEADER : 0);
        if (fwrite(buffer, BUFFER_BYTES, 1, w->out) != 1)
            w->failed = true;
    }
    w->buffers++;
}

/* Where an event of so many bytes goes, zeroed; NULL: it is only counted, or memory ran out. */
static uint8_t *append(struct writer *w, unsigned processor, uint32_t bytes)
{
    const uint32_t rounded = (bytes + 7) / 8 * 8;
    uint8_t *at;

    if (w->used[processor] && rounded > BUFFER_BYTES - w->used[processor])
        flush(w, processor);
    if (!w->used[processor])
        w->used[processor] = BUFFER_HEADER;
    w->used[processor] += rounded;
    if (!w->out)
        return NULL;
    if (!w->buffer[processor])
        w->buffer[processor] = malloc(BUFFER_BYTES);
    if (!w->buffer[processor]) {
        w->failed = true;
        return NULL;
    }
    at = w->buffer[processor] + w->used[processor] - rounded;
    memset(at, 0, rounded);
    return at;
}

/* ---- events ---- */

/* The first event, which describes the recording; it has a buffer to itself. */
static void describe(struct writer *w, uint64_t buffers)
{
    const struct wintrace_sink_config *config = wintrace_sink_config(w->sink);
    uint8_t *header = append(w, 0, SYSTEM_HEADER + DESCRIPTION), *payload;

    if (header) {
        payload = header + SYSTEM_HEADER;
        put16(header, 2);
        header[2] = HEADER_SYSTEM_64;
        header[3] = MARKER;
        put16(header + 4, SYSTEM_HEADER + DESCRIPTION);
        put32(payload, BUFFER_BYTES);
        put32(payload + 4, SYSTEM_VERSION);
        put32(payload + 8, PROVIDER_VERSION);
        put32(payload + 12, config->processors);
        put64(payload + 16, config->start + wintrace_sink_end(w->sink) / 100);
        put32(payload + 24, TIMER_RESOLUTION);
        put32(payload + 32, SEQUENTIAL_FILE);
        put32(payload + 36, at_most_32(buffers));
        put32(payload + 40, 1);
        put32(payload + 44, 8);
        put32(payload + 48, at_most_32(wintrace_sink_lost(w->sink)));
        put32(payload + 52, CPU_MHZ);
        put64(payload + TAIL, config->start);
        put64(payload + TAIL + 8, NS_FREQUENCY);
        put64(payload + TAIL + 16, config->start);
        put32(payload + TAIL + 24, CLOCK_QPC);
    }
    flush(w, 0);
}

static void write_event(struct writer *w, const struct wintrace_kept *kept)
{
    const uint32_t bytes = EVENT_HEADER + kept->bytes;
    uint8_t *header = append(w, kept->place.processor % MOST_PROCESSORS, bytes);

    if (!header)
        return;
    put16(header, (uint16_t)bytes);
    header[2] = HEADER_EVENT_64;
    header[3] = MARKER;
    put32(header + 8, kept->place.thread);
    put32(header + 12, kept->place.process);
    put64(header + 16, kept->time);
    memcpy(header + 24, etl_dxgkrnl, sizeof(etl_dxgkrnl));
    put16(header + 40, kept->kind->id);
    header[42] = kept->kind->version;
    header[43] = CHANNEL;
    header[45] = opcode_of(kept->kind);
    put16(header + 46, kept->kind->task);
    put64(header + 48, kept->kind->keywords | CHANNEL_KEYWORD);
    memcpy(header + EVENT_HEADER, wintrace_payload(kept), kept->bytes);
}

static void lay_out(struct writer *w, uint64_t buffers)
{
    struct wintrace_walk walk = {0};
    const struct wintrace_kept *kept;

    describe(w, buffers);
    while (!w->failed && (kept = wintrace_walk_next(w->sink, &walk)) != NULL)
        write_event(w, kept);
    for (unsigned i = 0; i < MOST_PROCESSORS; i++)
        flush(w, i);
}

bool etl_write(const struct wintrace_sink *sink, FILE *out)
{
    struct writer count = {.sink = sink}, w = {.sink = sink, .out = out};

    lay_out(&count, 0);
    lay_out(&w, count.buffers);
    for (unsigned i = 0; i < MOST_PROCESSORS; i++)
        free(w.buffer[i]);
    return !w.failed;
}
