/* SPDX-License-Identifier: MIT */
/*
 * A file is a list of buffers of one size, each filled by one processor:
 *
 *     buffer  | header, 72 bytes | event | event | ... | unused |
 *     event   | header, 80 bytes | payload | up to a multiple of 8
 *
 * What an event is stands in the third byte of its header. 0x13 and 0x12 are those of manifest-
 * based providers, from 64-bit and 32-bit processes, which are decoded; the others only have to be
 * passed, by their sizes, which stand in two different places. The first event of the file
 * describes the recording: the build of Windows, processors, the frequency of the clock, what was
 * lost. The times of events are in ticks of that clock. Buffers come as they were filled, so events
 * are sorted afterwards. Compressed files are not read.
 */
#include "wintrace/etl.h"
#include "wintrace/decode.h"
#include "wintrace/etl_layout.h"
#include "wintrace/order.h"

#include <stdio.h>
#include <string.h>

#define LEAST_BUFFER     1024u
#define MOST_BUFFER      (16u << 20)
#define HEADER_SYSTEM_32 0x01u
#define HEADER_COMPACT   0x04u /* the last of those whose size is in bytes 4 and 5 */
#define HEADER_PERFINFO  0x10u
#define HEADER_PERFINFO2 0x11u
#define HEADER_EVENT_32  0x12u
#define FLAG_EXTENDED    0x0001u
#define MOST_FREQUENCY   10000000000u /* a remainder in ns still fits into 64 bits */
#define CLOCK_SYSTEM     2u
#define CLOCK_CYCLES     3u

struct reader {
    struct wintrace *trace;
    uint64_t frequency; /* of the clock, ticks a second */
    char *error;
    size_t error_bytes;
};

static uint16_t get16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t get32(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static uint64_t get64(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static bool fail(const struct reader *r, const char *what)
{
    snprintf(r->error, r->error_bytes, "%s", what);
    return false;
}

/* ---- the description of the recording ---- */

/* The members behind the two pointers and the time zone: where they are depends on the size of a
 * pointer of the system that recorded. */

static bool describe(struct reader *r, const uint8_t *payload, size_t length)
{
    size_t pointer, at;
    uint32_t clock;

    if (length < FIXED_BYTES)
        return fail(r, "its first event is cut off");
    pointer = get32(payload + 44) == 8 ? 8 : 4;
    at = (FIXED_BYTES + 2 * pointer + ZONE_BYTES + 7) / 8 * 8;
    if (length < at + 32)
        return fail(r, "its first event is cut off");
    r->trace->build = get32(payload + 8);
    r->trace->processors = get32(payload + 12);
    r->trace->lost = (uint64_t)get32(payload + 48) + get32(payload + at + 28);
    r->frequency = get64(payload + at + 8);
    clock = get32(payload + at + 24);
    if (clock == CLOCK_SYSTEM)
        r->frequency = 10000000;
    else if (clock == CLOCK_CYCLES)
        r->frequency = (uint64_t)get32(payload + 52) * 1000000;
    else if (clock != CLOCK_QPC)
        return fail(r, "its clock is of a kind that is not known");
    if (r->frequency == 0 || r->frequency > MOST_FREQUENCY)
        return fail(r, "the frequency of its clock makes no sense");
    return true;
}

/* ---- events ---- */

static bool is_of_dxgkrnl(const uint8_t *header)
{
    return memcmp(header + 24, etl_dxgkrnl, sizeof(etl_dxgkrnl)) == 0;
}

/* One of a provider with a manifest. */
static bool read_event(struct reader *r, const uint8_t *header, size_t size, uint16_t processor)
{
    struct wintrace_event head = {.time = get64(header + 16),
                                  .process = get32(header + 12),
                                  .thread = get32(header + 8),
                                  .processor = processor};
    enum decode_result result;

    if (size < EVENT_HEADER)
        return fail(r, "an event is shorter than its header");
    if (!is_of_dxgkrnl(header) || get16(header + 4) & FLAG_EXTENDED) {
        r->trace->others++; /* extended: with stacks or the like before the payload */
        return true;
    }
    head.kind = wintrace_kind_find(get16(header + 40), header[42]);
    if (!head.kind) {
        r->trace->unknown++;
        r->trace->unknown_id = get16(header + 40);
        r->trace->unknown_version = header[42];
        return true;
    }
    result = decode_event(r->trace, &head, header + EVENT_HEADER, size - EVENT_HEADER,
                          header[2] == HEADER_EVENT_32 ? 4 : 8);
    if (result == DECODE_NO_MEMORY)
        return fail(r, "out of memory");
    r->trace->undecoded += result == DECODE_SHORT;
    return true;
}

static bool is_system(uint8_t type)
{
    return type <= HEADER_COMPACT || type == HEADER_PERFINFO || type == HEADER_PERFINFO2;
}

static bool read_buffer(struct reader *r, const uint8_t *buffer, size_t filled, bool first)
{
    uint16_t processor = get16(buffer + 40);

    for (size_t at = BUFFER_HEADER; at + 8 <= filled;) {
        const uint8_t *header = buffer + at;
        size_t size = is_system(header[2]) ? get16(header + 4) : get16(header);

        if (header[3] == 0xFF)
            break; /* the unused rest */
        if ((header[3] & MARKER) != MARKER)
            return fail(r, "what should be an event does not begin like one");
        if (size < 8 || size > filled - at)
            return fail(r, "an event does not fit into its buffer");
        if (first && at == BUFFER_HEADER) {
            if ((header[2] != HEADER_SYSTEM_32 && header[2] != HEADER_SYSTEM_64) ||
                size < SYSTEM_HEADER)
                return fail(r, "it does not begin with a description of itself");
            if (!describe(r, header + SYSTEM_HEADER, size - SYSTEM_HEADER))
                return false;
        } else if (header[2] == HEADER_EVENT_32 || header[2] == HEADER_EVENT_64) {
            if (!read_event(r, header, size, processor))
                return false;
        } else {
            r->trace->others++;
        }
        at += (size + 7) / 8 * 8;
    }
    return true;
}

/* ---- the file ---- */

bool etl_is(const uint8_t *bytes, size_t length)
{
    return length >= BUFFER_HEADER + SYSTEM_HEADER && get32(bytes) >= LEAST_BUFFER &&
           get32(bytes) <= MOST_BUFFER && (bytes[BUFFER_HEADER + 3] & MARKER) == MARKER &&
           (bytes[BUFFER_HEADER + 2] == HEADER_SYSTEM_32 ||
            bytes[BUFFER_HEADER + 2] == HEADER_SYSTEM_64);
}

bool etl_read(struct wintrace *trace, const uint8_t *bytes, size_t length, char *error,
              size_t error_bytes)
{
    struct reader r = {trace, 0, error, error_bytes};
    size_t size = get32(bytes);

    for (size_t at = 0; at + BUFFER_HEADER <= length; at += size) {
        const uint8_t *buffer = bytes + at;
        size_t filled = get32(buffer + 48);

        if (get32(buffer) == 0)
            break; /* a file of a fixed size that was not filled */
        if (get32(buffer) != size)
            return fail(&r, "its buffers differ in size");
        if (filled == 0)
            filled = get32(buffer + 4);
        if (filled > size || filled > length - at)
            return fail(&r, "a buffer is cut off, or fuller than it is large");
        if (!read_buffer(&r, buffer, filled, at == 0))
            return false;
        if (!r.frequency)
            return fail(&r, "its first buffer is empty");
    }
    wintrace_order(trace, r.frequency);
    return true;
}
