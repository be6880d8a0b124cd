/* SPDX-License-Identifier: MIT */
/* Animated PNGs, read back chunk by chunk: each frame is decoded as a PNG of its own and put on the canvas as viewers do. */
#include "support/check_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/animation.h"
#include "images/png_file.h"
#include "images/support/folder.h"
#include "util/alloc.h"
#include "util/crc32.h"

#define MS UINT64_C(1000000)

enum { MOST_FRAMES = 16, MOST_FILE = 1 << 16 };

/* ---- a reader ---- */

struct player {
    uint8_t file[MOST_FILE];
    size_t bytes, at;
    uint32_t announced, plays, sequence;
    struct picture canvas; /* as it is after the frames read so far */
    unsigned frames;
    uint32_t sum[MOST_FRAMES], x[MOST_FRAMES], y[MOST_FRAMES], width[MOST_FRAMES],
        height[MOST_FRAMES], delay[MOST_FRAMES], parts[MOST_FRAMES];
};

static uint32_t number(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The next chunk with its length and checksum; its data. */
static const uint8_t *chunk(struct player *player, const char *name, uint32_t *length)
{
    const uint8_t *from = player->file + player->at;

    CHECK(player->at + 12 <= player->bytes);
    *length = number(from);
    CHECK(player->at + 12 + *length <= player->bytes);
    if (memcmp(from + 4, name, 4) != 0)
        fail_msg("chunk %.4s, not %s", (const char *)from + 4, name);
    CHECK(number(from + 8 + *length) == crc32_of(from + 4, *length + 4));
    player->at += 12 + *length;
    return from + 8;
}

static void put_chunk(uint8_t **to, const char *name, const uint8_t *data, uint32_t length)
{
    uint8_t *from = *to + 4;
    uint32_t sum;

    for (unsigned i = 0; i < 4; i++)
        (*to)[i] = (uint8_t)(length >> (24 - 8 * i));
    memcpy(from, name, 4);
    memcpy(from + 4, data, length);
    sum = crc32_of(from, length + 4);
    *to = from + 4 + length;
    for (unsigned i = 0; i < 4; i++)
        *(*to)++ = (uint8_t)(sum >> (24 - 8 * i));
}

/* `control`: the data of its fcTL. */
static void show(struct player *player, const uint8_t *control, const uint8_t *data, uint32_t length)
{
    unsigned n = player->frames++;
    uint32_t x = number(control + 12), y = number(control + 16);
    uint8_t png[MOST_FILE], *to = png + 8, header[13];
    struct picture part = {0};

    memcpy(png, player->file, 8);
    memcpy(header, player->file + 16, sizeof(header));
    memcpy(header, control + 4, 8);
    put_chunk(&to, "IHDR", header, sizeof(header));
    put_chunk(&to, "IDAT", data, length);
    put_chunk(&to, "IEND", data, 0);
    CHECK(png_decode(&part, png, (size_t)(to - png), NULL, 0));
    CHECK(x + part.width <= player->canvas.width && y + part.height <= player->canvas.height);
    for (uint32_t row = 0; row < part.height; row++)
        memcpy(picture_at(&player->canvas, x, y + row), picture_at(&part, 0, row),
               (size_t)part.width * PICTURE_STEP);
    player->sum[n] = picture_checksum(&player->canvas);
    player->x[n] = x;
    player->y[n] = y;
    player->width[n] = part.width;
    player->height[n] = part.height;
    player->delay[n] = (uint32_t)control[20] << 8 | control[21];
    player->parts[n] = (uint32_t)control[22] << 8 | control[23];
    CHECK(control[24] == 0 && control[25] == 0); /* nothing is disposed of, nothing blended */
    picture_free(&part);
}

static void play_frame(struct player *player)
{
    uint32_t length;
    const uint8_t *control = chunk(player, "fcTL", &length), *data;

    CHECK(length == 26 && number(control) == player->sequence++);
    if (player->frames == 0) {
        data = chunk(player, "IDAT", &length);
    } else {
        data = chunk(player, "fdAT", &length);
        CHECK(number(data) == player->sequence++);
        data += 4;
        length -= 4;
    }
    show(player, control, data, length);
}

static struct player *play(const char *path)
{
    struct player *player = calloc(1, sizeof(*player));
    FILE *file = fopen(path, "rb");
    const uint8_t *data;
    uint32_t length;

    CHECK(player && file);
    player->bytes = fread(player->file, 1, sizeof(player->file), file);
    fclose(file);
    CHECK(memcmp(player->file, "\x89PNG\r\n\x1A\n", 8) == 0);
    player->at = 8;
    data = chunk(player, "IHDR", &length);
    CHECK(length == 13 && memcmp(data + 8, "\x8\x2\0\0", 5) == 0);
    CHECK(picture_make_black(&player->canvas, number(data), number(data + 4)));
    data = chunk(player, "acTL", &length);
    CHECK(length == 8);
    player->announced = number(data);
    player->plays = number(data + 4);
    CHECK(player->announced >= 1 && player->announced <= MOST_FRAMES);
    while (player->frames < player->announced)
        play_frame(player);
    chunk(player, "IEND", &length);
    CHECK(length == 0 && player->at == player->bytes);
    return player;
}

static void end(struct player *player)
{
    picture_free(&player->canvas);
    free(player);
}

/* ---- writing ---- */

static struct picture grey(uint32_t width, uint32_t height, uint8_t shade)
{
    struct picture picture;

    CHECK(picture_make(&picture, width, height));
    memset(picture.rows, shade, (size_t)width * height * PICTURE_STEP);
    return picture;
}

static void add(struct animation *animation, const struct picture *picture, uint64_t time)
{
    char why[128] = "";

    if (!animation_add(animation, picture, time, why, sizeof(why)))
        fail_msg("%s", why);
}

static struct player *written(const struct animation *animation, uint64_t time)
{
    char path[PATH_BYTES], why[128] = "";

    in_folder(path, "run.png");
    if (!animation_write(animation, path, time, why, sizeof(why)))
        fail_msg("%s", why);
    return play(path);
}

TEST(each_picture_comes_back_at_its_time)
{
    struct animation *animation = animation_begin();
    struct picture picture = grey(20, 10, 50);
    uint32_t sum[3];
    struct player *player;

    add(animation, &picture, 5000 * MS);
    sum[0] = picture_checksum(&picture);
    picture_at(&picture, 3, 4)[1] = 7;
    picture_at(&picture, 6, 5)[0] = 8;
    add(animation, &picture, 5016 * MS);
    sum[1] = picture_checksum(&picture);
    add(animation, &picture, 5020 * MS); /* the same: it lasts on */
    picture_at(&picture, 19, 9)[2] = 9;
    add(animation, &picture, 5050 * MS);
    sum[2] = picture_checksum(&picture);
    CHECK(animation_frames(animation) == 3);

    player = written(animation, 6050 * MS);
    CHECK(player->announced == 3 && player->plays == 0);
    for (unsigned i = 0; i < 3; i++)
        CHECK(player->sum[i] == sum[i] && player->parts[i] == 1000);
    CHECK(player->delay[0] == 16 && player->delay[1] == 34 && player->delay[2] == 1000);
    CHECK(player->width[0] == 20 && player->height[0] == 10);
    /* only what differs is there */
    CHECK(player->x[1] == 3 && player->y[1] == 4);
    CHECK(player->width[1] == 4 && player->height[1] == 2);
    CHECK(player->x[2] == 19 && player->y[2] == 9 && player->width[2] == 1);
    end(player);
    picture_free(&picture);
    animation_free(animation);
    remove_folder();
}

TEST(the_file_is_a_png_of_the_first_picture)
{
    struct animation *animation = animation_begin();
    struct picture first = grey(8, 8, 1), second = grey(8, 8, 2), read;
    char path[PATH_BYTES];

    add(animation, &first, 0);
    add(animation, &second, 1);
    in_folder(path, "run.png");
    CHECK(animation_write(animation, path, 2, NULL, 0));
    CHECK(png_read(&read, path, NULL, 0));
    CHECK(picture_checksum(&read) == picture_checksum(&first));
    picture_free(&read);
    picture_free(&first);
    picture_free(&second);
    animation_free(animation);
    remove_folder();
}

/* What viewers show of a picture on a canvas. */
static uint32_t sum_on(const struct picture *picture, uint32_t width, uint32_t height)
{
    struct picture canvas;
    uint32_t sum;

    CHECK(picture_make_black(&canvas, width, height));
    for (uint32_t y = 0; y < picture->height; y++)
        memcpy(picture_at(&canvas, 0, y), picture_at(picture, 0, y),
               (size_t)picture->width * PICTURE_STEP);
    sum = picture_checksum(&canvas);
    picture_free(&canvas);
    return sum;
}

TEST(pictures_of_several_sizes_share_the_largest_canvas)
{
    struct animation *animation = animation_begin();
    struct picture picture[] = {grey(10, 4, 60), grey(6, 8, 60), grey(2, 2, 60), grey(12, 3, 90)};
    struct player *player;

    for (unsigned i = 0; i < 4; i++)
        add(animation, &picture[i], i * MS);
    player = written(animation, 4 * MS);
    CHECK(player->announced == 4);
    CHECK(player->canvas.width == 12 && player->canvas.height == 8);
    for (unsigned i = 0; i < 4; i++)
        CHECK(player->sum[i] == sum_on(&picture[i], 12, 8));
    end(player);
    for (unsigned i = 0; i < 4; i++)
        picture_free(&picture[i]);
    animation_free(animation);
    remove_folder();
}

TEST(a_canvas_that_grows_by_black_needs_no_frame)
{
    struct animation *animation = animation_begin();
    struct picture small = grey(4, 4, 0), large = grey(8, 8, 0), lit = grey(4, 4, 3);
    struct player *player;

    add(animation, &small, 0);
    add(animation, &large, MS);
    CHECK(animation_frames(animation) == 1);
    add(animation, &lit, 2 * MS);
    player = written(animation, 3 * MS);
    CHECK(player->announced == 2 && player->canvas.width == 8);
    CHECK(player->sum[0] == sum_on(&small, 8, 8) && player->sum[1] == sum_on(&lit, 8, 8));
    CHECK(player->width[1] == 4 && player->height[1] == 4);
    end(player);
    picture_free(&small);
    picture_free(&large);
    picture_free(&lit);
    animation_free(animation);
    remove_folder();
}

TEST(times_are_rounded_without_drift)
{
    struct animation *animation = animation_begin();
    struct picture picture = grey(2, 2, 0);
    struct player *player;
    uint32_t sum = 0;

    for (unsigned i = 0; i < 7; i++) { /* 60 Hz */
        picture.rows[0] = (uint8_t)i;
        add(animation, &picture, 123456789 + i * UINT64_C(1000000000) / 60);
    }
    player = written(animation, 123456789 + 7 * UINT64_C(1000000000) / 60);
    for (unsigned i = 0; i < 7; i++) {
        CHECK(player->delay[i] == 16 || player->delay[i] == 17);
        sum += player->delay[i];
    }
    CHECK(sum == 117);
    end(player);
    player = written(animation, 0); /* an end before the last picture is none */
    CHECK(player->delay[6] == 0 && player->delay[5] == player->delay[2]);
    end(player);
    picture_free(&picture);
    animation_free(animation);
    remove_folder();
}

TEST(long_times_are_said_in_larger_parts)
{
    static const struct {
        uint64_t ms;
        uint32_t delay, parts;
    } wanted[] = {{65535, 65535, 1000}, {65536, 6554, 100},         {655349, 65535, 100},
                  {655350, 65535, 100}, {655355, 6554, 10},         {65535000, 65535, 1},
                  {70000000, 65535, 1}, {UINT64_MAX / MS, 65535, 1}};

    for (unsigned i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        struct animation *animation = animation_begin();
        struct picture picture = grey(1, 1, 1);
        struct player *player;

        add(animation, &picture, 0);
        player = written(animation, wanted[i].ms * MS);
        CHECK(player->delay[0] == wanted[i].delay && player->parts[0] == wanted[i].parts);
        end(player);
        picture_free(&picture);
        animation_free(animation);
    }
    remove_folder();
}

TEST(more_frames_than_fit_at_first)
{
    struct animation *animation = animation_begin();
    struct picture picture = grey(2, 1, 0);
    char path[PATH_BYTES];

    for (unsigned i = 0; i < 100; i++) {
        picture.rows[i % 6]++;
        add(animation, &picture, i);
    }
    CHECK(animation_frames(animation) == 100);
    CHECK(animation_bytes(animation) > 100 * 54 && animation_bytes(animation) < 100 * 100);
    in_folder(path, "run.png");
    CHECK(animation_write(animation, path, 100, NULL, 0));
    picture_free(&picture);
    animation_free(animation);
    remove_folder();
}

/* ---- what fails ---- */

TEST(what_cannot_be_is_told)
{
    struct animation *animation = animation_begin();
    struct picture picture = grey(2, 2, 0), none = {0};
    char why[128] = "", path[PATH_BYTES];

    in_folder(path, "no/run.png");
    CHECK(!animation_write(animation, path, 0, why, sizeof(why)));
    CHECK(strcmp(why, "no picture") == 0);
    CHECK(!animation_add(animation, &none, 0, why, sizeof(why)));
    CHECK(strcmp(why, "no picture") == 0 && animation_frames(animation) == 0);
    add(animation, &picture, 10);
    picture.rows[0] = 1;
    CHECK(!animation_add(animation, &picture, 9, why, sizeof(why)));
    CHECK(strcmp(why, "a picture of an earlier time than the last") == 0);
    CHECK(animation_frames(animation) == 1);
    add(animation, &picture, 10); /* at the same time it may be */
    CHECK(animation_frames(animation) == 2);
    CHECK(!animation_write(animation, path, 20, why, sizeof(why)));
    CHECK(strcmp(why, "No such file or directory") == 0);
    picture_free(&picture);
    animation_free(animation);
    animation_free(NULL);
    remove_folder();
}

/* Every request of a sequence fails once: nothing is lost of what is there, and nothing leaks. */
TEST(short_memory_changes_nothing)
{
    struct picture first = grey(4, 4, 1), second = grey(6, 3, 2);
    char path[PATH_BYTES], why[128];
    unsigned failures = 0;

    in_folder(path, "run.png");
    for (uint64_t nth = 1;; nth++) {
        struct util_heap heap = {.fail_at = nth};
        struct animation *animation;
        bool done;

        util_heap_current = &heap;
        animation = animation_begin();
        done = animation && animation_add(animation, &first, 0, why, sizeof(why)) &&
               animation_add(animation, &second, 1, why, sizeof(why)) &&
               animation_write(animation, path, 2, why, sizeof(why));
        if (!done && animation) { /* again, where it ended */
            CHECK(strcmp(why, "out of memory") == 0);
            if (animation_frames(animation) == 0)
                add(animation, &first, 0);
            if (animation_frames(animation) == 1)
                add(animation, &second, 1);
            CHECK(animation_write(animation, path, 2, why, sizeof(why)));
        }
        animation_free(animation);
        util_heap_current = NULL;
        CHECK(heap.live_blocks == 0);
        if (done)
            break;
        failures++;
        if (animation) {
            struct player *player = play(path);

            CHECK(player->announced == 2 && player->sum[1] == sum_on(&second, 6, 4));
            end(player);
        }
    }
    CHECK(failures >= 8);
    picture_free(&first);
    picture_free(&second);
    remove_folder();
}
