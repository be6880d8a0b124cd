/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "images/apng.h"
#include "images/png_file.h"
#include "util/crc32.h"
#include "util/explain.h"

#define SIGNATURE_BYTES 8u
#define CHUNK_BYTES     12u /* length, name, checksum */
#define IHDR_BYTES      13u
#define ACTL_BYTES      8u
#define FCTL_BYTES      26u
#define SEQUENCE_BYTES  4u /* before the data of fdAT */

_Static_assert(APNG_FRAME_BYTES == FCTL_BYTES + SEQUENCE_BYTES + 2 * CHUNK_BYTES, "of a frame");

static const uint8_t signature[SIGNATURE_BYTES] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

static uint32_t load(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* ---- a frame from a PNG ---- */

/* The data of all chunks IDAT, moved together to the beginning of the file, which is well formed.
 * Returns how many bytes they are. */
static size_t gather(uint8_t *png, size_t bytes)
{
    size_t at = SIGNATURE_BYTES, gathered = 0;

    while (at + CHUNK_BYTES <= bytes) {
        uint32_t length = load(png + at);
        bool data = memcmp(png + at + 4, "IDAT", 4) == 0;

        at += CHUNK_BYTES;
        if (data) {
            memmove(png + gathered, png + at - 4, length);
            gathered += length;
        }
        at += length;
    }
    return gathered;
}

bool apng_encode_frame(struct apng_frame *frame, const struct picture *picture, char *why,
                       size_t why_bytes)
{
    struct apng_frame made = {.width = picture->width, .height = picture->height};
    void *smaller;

    made.data = png_encode(&made.bytes, picture, why, why_bytes);
    if (!made.data)
        return false;
    made.bytes = gather(made.data, made.bytes);
    smaller = realloc(made.data, made.bytes + 1); /* never 0, which would free it */
    if (smaller)
        made.data = smaller;
    *frame = made;
    return true;
}

/* ---- the file ---- */

struct output {
    uint8_t *at;
    uint32_t sequence; /* of the next fcTL or fdAT */
};

static void put(struct output *out, const void *bytes, size_t count)
{
    memcpy(out->at, bytes, count);
    out->at += count;
}

static void put_number(struct output *out, uint32_t number)
{
    const uint8_t bytes[] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16),
                             (uint8_t)(number >> 8), (uint8_t)number};

    put(out, bytes, sizeof(bytes));
}

static void put_short(struct output *out, uint32_t number)
{
    const uint8_t bytes[] = {(uint8_t)(number >> 8), (uint8_t)number};

    put(out, bytes, sizeof(bytes));
}

/* Returns where the chunk's name is, for its end. */
static uint8_t *begin_chunk(struct output *out, const char *name, size_t length)
{
    uint8_t *from;

    put_number(out, (uint32_t)length);
    from = out->at;
    put(out, name, 4);
    return from;
}

static void end_chunk(struct output *out, const uint8_t *from)
{
    put_number(out, crc32_of(from, (size_t)(out->at - from)));
}

static void put_header(struct output *out, const struct apng_frame *canvas)
{
    static const uint8_t rest[] = {8, 2, 0, 0, 0}; /* 8 bits a channel, RGB; no interlacing */
    uint8_t *from = begin_chunk(out, "IHDR", IHDR_BYTES);

    put_number(out, canvas->width);
    put_number(out, canvas->height);
    put(out, rest, sizeof(rest));
    end_chunk(out, from);
}

static void put_animation(struct output *out, uint32_t frames)
{
    uint8_t *from = begin_chunk(out, "acTL", ACTL_BYTES);

    put_number(out, frames);
    put_number(out, 0); /* again and again */
    end_chunk(out, from);
}

static void put_control(struct output *out, const struct apng_frame *frame)
{
    static const uint8_t replace[] = {0, 0}; /* stays until it is overwritten, alpha and all */
    uint8_t *from = begin_chunk(out, "fcTL", FCTL_BYTES);
    uint64_t delay = frame->ms;
    uint32_t parts = 1000; /* of a second */

    while (delay > UINT16_MAX && parts > 1) {
        delay = (delay + 5) / 10;
        parts /= 10;
    }
    put_number(out, out->sequence++);
    put_number(out, frame->width);
    put_number(out, frame->height);
    put_number(out, frame->x);
    put_number(out, frame->y);
    put_short(out, delay < UINT16_MAX ? (uint32_t)delay : UINT16_MAX);
    put_short(out, parts);
    put(out, replace, sizeof(replace));
    end_chunk(out, from);
}

static void put_data(struct output *out, const struct apng_frame *frame, bool first)
{
    uint8_t *from = first ? begin_chunk(out, "IDAT", frame->bytes)
                          : begin_chunk(out, "fdAT", SEQUENCE_BYTES + frame->bytes);

    if (!first)
        put_number(out, out->sequence++);
    put(out, frame->data, frame->bytes);
    end_chunk(out, from);
}

static size_t size_of(const struct apng_frame *frame, uint32_t count)
{
    size_t bytes = SIGNATURE_BYTES + 3 * CHUNK_BYTES + IHDR_BYTES + ACTL_BYTES - SEQUENCE_BYTES;

    for (uint32_t i = 0; i < count; i++)
        bytes += APNG_FRAME_BYTES + frame[i].bytes;
    return bytes;
}

void *apng_build(size_t *bytes, const struct apng_frame *frame, uint32_t count)
{
    size_t size = size_of(frame, count);
    uint8_t *file = malloc(size);
    struct output out = {.at = file};

    if (!file)
        return NULL;
    put(&out, signature, sizeof(signature));
    put_header(&out, &frame[0]);
    put_animation(&out, count);
    for (uint32_t i = 0; i < count; i++) {
        put_control(&out, &frame[i]);
        put_data(&out, &frame[i], i == 0);
    }
    end_chunk(&out, begin_chunk(&out, "IEND", 0));
    *bytes = size;
    return file;
}
