/* SPDX-License-Identifier: MIT */
/* PNG files of pictures: what is written is what is read, and what is no picture says why. */
#include "support/check_rule.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "images/png_file.h"
#include "images/support/folder.h"
#include "util/alloc.h"
#include "util/rng.h"

/* 3 x 1 with 16 bits of grey and of alpha: 0, 0x80FF and 0xFFFF. */
static const uint8_t grey_with_alpha[] = {
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48,
    0x44, 0x52, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01, 0x10, 0x04, 0x00, 0x00,
    0x00, 0xE1, 0x79, 0x00, 0x7C, 0x00, 0x00, 0x00, 0x18, 0x49, 0x44, 0x41, 0x54, 0x78,
    0x01, 0x01, 0x0D, 0x00, 0xF2, 0xFF, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0x80, 0xFF, 0x12,
    0x34, 0xFF, 0xFF, 0x00, 0x00, 0x26, 0x5C, 0x05, 0xC2, 0x3B, 0xC5, 0x58, 0x66, 0x00,
    0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82};

static struct picture noise(uint32_t width, uint32_t height, uint64_t seed)
{
    struct rng rng = {seed};
    struct picture picture;

    CHECK(picture_make(&picture, width, height));
    for (size_t i = 0; i < (size_t)width * height * PICTURE_STEP; i++)
        picture.rows[i] = (uint8_t)rng_below(&rng, seed % 2 ? 256 : 3);
    return picture;
}

TEST(a_picture_comes_back)
{
    static const uint32_t sizes[][2] = {{1, 1}, {3, 2}, {257, 129}, {16384, 1}, {1, 16384}};
    char path[PATH_BYTES];

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct picture picture = noise(sizes[i][0], sizes[i][1], i), read = {0};
        char why[128] = "";

        in_folder(path, "picture.png");
        CHECK(png_write(path, &picture, why, sizeof(why)));
        CHECK(png_read(&read, path, why, sizeof(why)));
        CHECK(read.width == picture.width && read.height == picture.height);
        CHECK(picture_checksum(&read) == picture_checksum(&picture));
        CHECK(why[0] == '\0');
        picture_free(&read);
        picture_free(&picture);
    }
    remove_folder();
}

static bool pixel_is(const struct picture *picture, uint32_t x, uint8_t shade)
{
    const uint8_t *at = picture_at(picture, x, 0);

    return at[0] == shade && at[1] == shade && at[2] == shade;
}

TEST(pictures_of_others_lose_their_alpha)
{
    struct picture read = {0};
    char why[128] = "";

    if (!png_decode(&read, grey_with_alpha, sizeof(grey_with_alpha), why, sizeof(why)))
        fail_msg("%s", why);
    CHECK(read.width == 3 && read.height == 1);
    CHECK(pixel_is(&read, 0, 0) && pixel_is(&read, 1, 0x80) && pixel_is(&read, 2, 0xFF));
    picture_free(&read);
}

/* ---- what fails ---- */

static void no_picture(const char *path, const char *reason)
{
    struct picture read = {9, 8, NULL};
    char why[128] = "";

    CHECK(!png_read(&read, path, why, sizeof(why)));
    CHECK(read.width == 9 && read.height == 8 && !read.rows);
    if (strncmp(why, reason, strlen(reason)) != 0)
        fail_msg("'%s', not '%s'", why, reason);
}

static void save(const char *path, const void *bytes, size_t count)
{
    char why[128] = "";

    if (!png_write_bytes(path, bytes, count, why, sizeof(why)))
        fail_msg("%s", why);
}

TEST(what_is_no_picture_is_told)
{
    struct util_heap heap = {0};
    struct picture picture = noise(40, 30, 1);
    char path[PATH_BYTES];
    uint8_t *png;
    size_t bytes;

    util_heap_current = &heap;
    in_folder(path, "none.png");
    no_picture(path, "No such file");
    in_folder(path, ".");
    no_picture(path, "this is a directory");
    in_folder(path, "bad.png");
    save(path, "", 0);
    no_picture(path, "not a readable PNG");
    save(path, "text", 4);
    no_picture(path, "not a readable PNG");
    png = png_encode(&bytes, &picture, NULL, 0);
    CHECK(png != NULL);
    for (size_t cut = 8; cut < bytes - 20; cut += 97) { /* to the middle of the pixels */
        save(path, png, cut);
        no_picture(path, "not a readable PNG");
    }
    png[60] ^= 0x40; /* in the data, whose checksum tells */
    save(path, png, bytes);
    no_picture(path, "not a readable PNG");
    png[60] ^= 0x40;
    memset(png + 16, 0x7F, 4); /* as wide as no picture is */
    save(path, png, bytes);
    no_picture(path, "not a readable PNG");
    free(png);
    util_heap_current = NULL;
    CHECK(heap.live_blocks == 0);
    picture_free(&picture);
    remove_folder();
}

TEST(what_cannot_be_written_is_told)
{
    struct picture picture = noise(2, 2, 1), none = {0};
    char path[PATH_BYTES], why[128] = "";
    size_t bytes = 7;

    in_folder(path, "no/picture.png");
    CHECK(!png_write(path, &picture, why, sizeof(why)));
    CHECK(strcmp(why, "No such file or directory") == 0);
    CHECK(!png_write("/dev/full", &picture, why, sizeof(why)));
    CHECK(strcmp(why, "No space left on device") == 0);
    CHECK(access("/dev/full", F_OK) == 0);
    in_folder(path, "picture.png");
    CHECK(!png_write(path, &none, why, sizeof(why)));
    CHECK(strcmp(why, "no picture") == 0);
    CHECK(access(path, F_OK) != 0);
    CHECK(!png_encode(&bytes, &none, NULL, 0) && bytes == 7);
    picture_free(&picture);
    remove_folder();
}

TEST(a_file_that_ends_too_soon_is_removed)
{
    struct picture picture = noise(64, 64, 1);
    struct rlimit before, small;
    char path[PATH_BYTES], why[128] = "";
    bool done;

    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    small = (struct rlimit){1000, before.rlim_max};
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    in_folder(path, "picture.png");
    done = png_write(path, &picture, why, sizeof(why));
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(signal(SIGXFSZ, SIG_DFL) == SIG_IGN);
    CHECK(!done && strcmp(why, "File too large") == 0);
    CHECK(access(path, F_OK) != 0);
    picture_free(&picture);
    remove_folder();
}
