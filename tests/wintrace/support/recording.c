/* SPDX-License-Identifier: MIT */
#include "wintrace/support/recording.h"
#include "support/check_rule.h"

#include <string.h>

#define START_TICKS 5000000u /* of the clock, when the recording begins */

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

/* The buffer in which the processor has room for so many bytes. */
static uint8_t *room(struct recording *r, size_t bytes)
{
    size_t *begin = &r->filled[r->processor];
    uint8_t *buffer = r->bytes + *begin;
    uint32_t used;

    if (*begin != SIZE_MAX) {
        memcpy(&used, buffer + 48, sizeof(used));
        if (used + bytes <= RECORDING_BUFFER)
            return buffer;
    }
    CHECK(r->length + RECORDING_BUFFER <= sizeof(r->bytes));
    *begin = r->length;
    r->length += RECORDING_BUFFER;
    buffer = r->bytes + *begin;
    memset(buffer, 0xFF, RECORDING_BUFFER);
    memset(buffer, 0, 72);
    put32(buffer, RECORDING_BUFFER);
    put32(buffer + 48, 72);
    put16(buffer + 40, r->processor);
    return buffer;
}

/* Room for an event of the header's and the payload's bytes: where it is. */
static uint8_t *append(struct recording *r, size_t bytes)
{
    size_t rounded = (bytes + 7) / 8 * 8;
    uint8_t *buffer = room(r, rounded), *at;
    uint32_t used;

    memcpy(&used, buffer + 48, sizeof(used));
    at = buffer + used;
    memset(at, 0, rounded);
    put32(buffer + 48, used + (uint32_t)rounded);
    put32(buffer + 4, used + (uint32_t)rounded);
    return at;
}

static void describe(struct recording *r)
{
    size_t pointer = r->pointer_bytes, tail = (56 + 2 * pointer + 172 + 7) / 8 * 8;
    uint8_t *header = append(r, 32 + tail + 32), *payload = header + 32;

    put16(header, 2);
    header[2] = r->pointer_bytes == 8 ? 2 : 1;
    header[3] = 0xC0;
    put16(header + 4, (uint16_t)(32 + tail + 32));
    put32(payload, RECORDING_BUFFER);
    put32(payload + 8, 19045);
    put32(payload + 12, RECORDING_PROCESSORS);
    put32(payload + 44, r->pointer_bytes);
    put32(payload + 48, r->lost);
    put32(payload + 52, 2000); /* MHz */
    put64(payload + tail + 8, RECORDING_FREQUENCY);
    put32(payload + tail + 24, r->clock);
}

void recording_begin(struct recording *r)
{
    unsigned pointer_bytes = r->pointer_bytes ? r->pointer_bytes : 8;
    uint32_t clock = r->clock ? r->clock : 1, lost = r->lost;

    memset(r, 0, sizeof(*r));
    r->pointer_bytes = pointer_bytes;
    r->clock = clock;
    r->lost = lost;
    r->now = START_TICKS;
    r->process = 44;
    r->thread = 77;
    for (unsigned i = 0; i < RECORDING_PROCESSORS; i++)
        r->filled[i] = SIZE_MAX;
    describe(r);
}

void recording_raw(struct recording *r, uint8_t type, bool dxgkrnl, uint16_t flags, uint16_t id,
                   uint8_t version, const void *payload, size_t bytes)
{
    static const uint8_t provider[16] = {0x5A, 0xC4, 0x2E, 0x80, 0x99, 0x1E, 0x83, 0x4B,
                                         0x99, 0x20, 0x87, 0xC9, 0x82, 0x77, 0xBA, 0x9D};
    uint8_t *header = append(r, 80 + bytes);

    put16(header, (uint16_t)(80 + bytes));
    if (type <= 4 || type == 0x10 || type == 0x11)
        put16(header + 4, (uint16_t)(80 + bytes));
    else
        put16(header + 4, flags);
    header[2] = type;
    header[3] = 0xC0;
    put32(header + 8, r->thread);
    put32(header + 12, r->process);
    put64(header + 16, r->now++);
    memcpy(header + 24, provider, sizeof(provider));
    header[24] ^= !dxgkrnl;
    put16(header + 40, id);
    header[42] = version;
    if (bytes)
        memcpy(header + 80, payload, bytes);
}

static unsigned bytes_of(const struct recording *r, enum wintrace_type type)
{
    switch (type) {
    case WINTRACE_UINT8:
        return 1;
    case WINTRACE_UINT16:
    case WINTRACE_STRING:
        return 2;
    case WINTRACE_UINT64:
    case WINTRACE_INT64:
        return 8;
    case WINTRACE_POINTER:
        return r->pointer_bytes;
    default:
        return 4;
    }
}

static uint64_t count_of(const struct wintrace_kind *kind, unsigned field, const uint64_t *of_field)
{
    for (unsigned i = 0; i < field; i++)
        if (strcmp(kind->field[i].name, kind->field[field].count) == 0)
            return of_field[i];
    return 0;
}

void recording_event(struct recording *r, uint16_t id, uint8_t version, const uint64_t *value,
                     size_t values)
{
    const struct wintrace_kind *kind = wintrace_kind_find(id, version);
    uint8_t payload[1024];
    uint64_t of_field[64] = {0};
    size_t bytes = 0, taken = 0;

    CHECK(kind);
    for (unsigned i = 0; i < kind->fields; i++) {
        enum wintrace_type type = kind->field[i].type;
        uint64_t count = kind->field[i].count ? count_of(kind, i, of_field) : 1;

        for (uint64_t k = 0; type == WINTRACE_STRING || k < count; k++) {
            CHECK(taken < values);
            of_field[i] = value[taken];
            memcpy(payload + bytes, &value[taken++], bytes_of(r, type));
            bytes += bytes_of(r, type);
            if (type == WINTRACE_STRING && of_field[i] == 0)
                break;
        }
    }
    CHECK(taken == values);
    recording_raw(r, r->pointer_bytes == 8 ? 0x13 : 0x12, true, 0, id, version, payload, bytes);
}

struct wintrace *recording_read(const struct recording *r)
{
    char error[256] = "";
    struct wintrace *trace = wintrace_read_bytes(r->bytes, r->length, "trace", error, sizeof(error));

    if (!trace)
        fail_msg("%s", error);
    return trace;
}
