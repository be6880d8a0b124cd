/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "images/animation.h"
#include "images/apng.h"
#include "images/png_file.h"
#include "screens/picture_compare.h"
#include "util/alloc.h"
#include "util/explain.h"
#include "util/min_max.h"

#define NS_A_MS 1000000u

/* A rectangle of the canvas from a time on. */
struct frame {
    uint64_t time;
    struct apng_frame part; /* its data is of malloc; of the first frame, which is encoded when the
                               size of the canvas is known, it is NULL */
};

struct animation {
    struct picture first, last; /* the second as large as the canvas so far */
    struct frame *frame;
    uint32_t count, capacity;
    uint64_t bytes;
};

struct animation *animation_begin(void)
{
    return util_zalloc(1, sizeof(struct animation));
}

void animation_free(struct animation *animation)
{
    if (!animation)
        return;
    for (uint32_t i = 0; i < animation->count; i++)
        free(animation->frame[i].part.data);
    util_free(animation->frame);
    picture_free(&animation->first);
    picture_free(&animation->last);
    util_free(animation);
}

uint32_t animation_frames(const struct animation *animation)
{
    return animation->count;
}

uint64_t animation_bytes(const struct animation *animation)
{
    return animation->bytes;
}

/* ---- pictures ---- */

static bool no_memory(char *why, size_t why_bytes)
{
    util_explain(why, why_bytes, "out of memory");
    return false;
}

/* At the top left of a black one. */
static bool padded(struct picture *larger, const struct picture *picture, uint32_t width,
                   uint32_t height)
{
    if (picture->width == width && picture->height == height)
        return picture_copy(larger, picture);
    if (!picture_make_black(larger, width, height))
        return false;
    for (uint32_t y = 0; y < picture->height; y++)
        memcpy(picture_at(larger, 0, y), picture_at(picture, 0, y),
               (size_t)picture->width * PICTURE_STEP);
    return true;
}

static bool cut(struct picture *part, const struct picture *picture, const RECT *box)
{
    uint32_t left = (uint32_t)box->left, top = (uint32_t)box->top;

    if (!picture_make(part, (uint32_t)box->right - left, (uint32_t)box->bottom - top))
        return false;
    for (uint32_t y = 0; y < part->height; y++)
        memcpy(picture_at(part, 0, y), picture_at(picture, left, top + y),
               (size_t)part->width * PICTURE_STEP);
    return true;
}

/* Where the canvas changes; all 0: nowhere. A canvas that grows is black where it is new. */
static bool changed(RECT *box, const struct picture *now, const struct picture *before)
{
    struct picture grown;

    if (!padded(&grown, before, now->width, now->height))
        return false;
    *box = picture_compare(now, &grown, 0).box;
    picture_free(&grown);
    return true;
}

/* ---- frames ---- */

static bool room_for_one(struct animation *animation)
{
    uint32_t capacity = animation->capacity ? animation->capacity * 2 : 16;
    struct frame *larger;

    if (animation->count < animation->capacity)
        return true;
    larger = util_realloc(animation->frame, capacity * sizeof(*larger));
    if (!larger)
        return false;
    animation->frame = larger;
    animation->capacity = capacity;
    return true;
}

static void append(struct animation *animation, uint64_t time, const struct apng_frame *part)
{
    animation->frame[animation->count++] = (struct frame){.time = time, .part = *part};
    animation->bytes += part->bytes + APNG_FRAME_BYTES;
}

static bool add_first(struct animation *animation, const struct picture *picture, uint64_t time)
{
    static const struct apng_frame later = {0};
    struct picture first, last;

    if (!picture_copy(&first, picture))
        return false;
    if (!picture_copy(&last, picture)) {
        picture_free(&first);
        return false;
    }
    animation->first = first;
    animation->last = last;
    append(animation, time, &later);
    return true;
}

static bool encoded_part(struct apng_frame *part, const struct picture *canvas, const RECT *box,
                         char *why, size_t why_bytes)
{
    struct picture piece;
    bool encoded;

    if (!cut(&piece, canvas, box))
        return no_memory(why, why_bytes);
    encoded = apng_encode_frame(part, &piece, why, why_bytes);
    part->x = (uint32_t)box->left;
    part->y = (uint32_t)box->top;
    picture_free(&piece);
    return encoded;
}

static bool add_next(struct animation *animation, const struct picture *picture, uint64_t time,
                     char *why, size_t why_bytes)
{
    uint32_t width = (uint32_t)max_of(picture->width, animation->last.width);
    uint32_t height = (uint32_t)max_of(picture->height, animation->last.height);
    struct picture canvas;
    struct apng_frame part;
    RECT box;

    if (!padded(&canvas, picture, width, height))
        return no_memory(why, why_bytes);
    if (!changed(&box, &canvas, &animation->last)) {
        picture_free(&canvas);
        return no_memory(why, why_bytes);
    }
    if (box.right > 0) {
        if (!encoded_part(&part, &canvas, &box, why, why_bytes)) {
            picture_free(&canvas);
            return false;
        }
        append(animation, time, &part);
    }
    picture_free(&animation->last); /* a canvas that grew by black alone has no frame */
    animation->last = canvas;
    return true;
}

bool animation_add(struct animation *animation, const struct picture *picture, uint64_t time,
                   char *why, size_t why_bytes)
{
    if (!picture->rows) {
        util_explain(why, why_bytes, "no picture");
        return false;
    }
    if (animation->count && time < animation->frame[animation->count - 1].time) {
        util_explain(why, why_bytes, "a picture of an earlier time than the last");
        return false;
    }
    if (!room_for_one(animation))
        return no_memory(why, why_bytes);
    if (!animation->count)
        return add_first(animation, picture, time) || no_memory(why, why_bytes);
    return add_next(animation, picture, time, why, why_bytes);
}

/* ---- the file ---- */

/* Since the first picture, so that what is rounded does not add up. */
static uint64_t ms_of(const struct animation *animation, uint64_t time)
{
    uint64_t start = animation->frame[0].time;

    return time <= start ? 0 : (time - start) / NS_A_MS + ((time - start) % NS_A_MS >= NS_A_MS / 2);
}

/* How long each frame stands. */
static void set_times(const struct animation *animation, struct apng_frame *part, uint64_t time)
{
    for (uint32_t i = 0; i < animation->count; i++) {
        uint64_t from = ms_of(animation, animation->frame[i].time), until;

        until = ms_of(animation, i + 1 < animation->count ? animation->frame[i + 1].time : time);
        part[i].ms = max_of(from, until) - from;
    }
}

/* The first frame, as large as the canvas came to be. */
static bool encode_first(const struct animation *animation, struct apng_frame *part, char *why,
                         size_t why_bytes)
{
    struct picture whole;
    bool encoded;

    if (!padded(&whole, &animation->first, animation->last.width, animation->last.height))
        return no_memory(why, why_bytes);
    encoded = apng_encode_frame(part, &whole, why, why_bytes);
    picture_free(&whole);
    return encoded;
}

/* `part`: room for all frames. */
static void *encode_all(const struct animation *animation, struct apng_frame *part, size_t *bytes,
                        uint64_t time, char *why, size_t why_bytes)
{
    void *file;

    for (uint32_t i = 1; i < animation->count; i++)
        part[i] = animation->frame[i].part;
    if (!encode_first(animation, &part[0], why, why_bytes))
        return NULL;
    set_times(animation, part, time);
    file = apng_build(bytes, part, animation->count);
    free(part[0].data);
    if (!file)
        no_memory(why, why_bytes);
    return file;
}

bool animation_write(const struct animation *animation, const char *path, uint64_t time, char *why,
                     size_t why_bytes)
{
    struct apng_frame *part;
    size_t bytes;
    void *file;
    bool written;

    if (!animation->count) {
        util_explain(why, why_bytes, "no picture");
        return false;
    }
    part = util_zalloc(animation->count, sizeof(*part));
    if (!part)
        return no_memory(why, why_bytes);
    file = encode_all(animation, part, &bytes, time, why, why_bytes);
    written = file && png_write_bytes(path, file, bytes, why, why_bytes);
    free(file);
    util_free(part);
    return written;
}
