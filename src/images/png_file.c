/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <spng.h>

#include "images/png_file.h"
#include "util/explain.h"
#include "util/is_file.h"

#define MOST_FILE ((size_t)1 << 30)
/* Of zlib, and one filter: a fourth of the time of trying all of them, and files of screens are no
 * larger. */
#define COMPRESSION 3
#define FILTER      SPNG_FILTER_CHOICE_SUB

static size_t bytes_of(const struct picture *picture)
{
    return (size_t)picture->width * picture->height * PICTURE_STEP;
}

static int encode(spng_ctx *context, const struct picture *picture)
{
    struct spng_ihdr header = {.width = picture->width,
                               .height = picture->height,
                               .bit_depth = 8,
                               .color_type = SPNG_COLOR_TYPE_TRUECOLOR};
    int error = spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);

    if (!error)
        error = spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, COMPRESSION);
    if (!error)
        error = spng_set_option(context, SPNG_FILTER_CHOICE, FILTER);
    if (!error)
        error = spng_set_ihdr(context, &header);
    if (!error)
        error = spng_encode_image(context, picture->rows, bytes_of(picture), SPNG_FMT_PNG,
                                  SPNG_ENCODE_FINALIZE);
    return error;
}

void *png_encode(size_t *bytes, const struct picture *picture, char *why, size_t why_bytes)
{
    spng_ctx *context;
    void *png = NULL;
    size_t size = 0;
    int error;

    if (!picture->rows) {
        util_explain(why, why_bytes, "no picture");
        return NULL;
    }
    context = spng_ctx_new(SPNG_CTX_ENCODER);
    error = context ? encode(context, picture) : SPNG_EMEM;
    if (!error)
        png = spng_get_png_buffer(context, &size, &error);
    spng_ctx_free(context);
    if (!png) {
        util_explain(why, why_bytes, "cannot encode (%s)", spng_strerror(error));
        return NULL;
    }
    *bytes = size;
    return png;
}

static int decode(spng_ctx *context, struct picture *made, const void *png, size_t bytes)
{
    struct spng_ihdr header;
    size_t size = 0;
    int error = spng_set_image_limits(context, PICTURE_MOST_SIDE, PICTURE_MOST_SIDE);

    if (!error)
        error = spng_set_chunk_limits(context, 1 << 24, 1 << 26);
    if (!error)
        error = spng_set_png_buffer(context, png, bytes);
    if (!error)
        error = spng_get_ihdr(context, &header);
    if (!error)
        error = spng_decoded_image_size(context, SPNG_FMT_RGB8, &size);
    if (error)
        return error;
    if (!picture_make(made, header.width, header.height))
        return SPNG_EMEM;
    if (size != bytes_of(made))
        return SPNG_EBUFSIZ;
    return spng_decode_image(context, made->rows, size, SPNG_FMT_RGB8, 0);
}

bool png_decode(struct picture *picture, const void *png, size_t bytes, char *why, size_t why_bytes)
{
    spng_ctx *context = spng_ctx_new(0);
    struct picture made = {0};
    int error = context ? decode(context, &made, png, bytes) : SPNG_EMEM;

    spng_ctx_free(context);
    if (error) {
        picture_free(&made);
        util_explain(why, why_bytes, "not a readable PNG (%s)", spng_strerror(error));
        return false;
    }
    *picture = made;
    return true;
}

bool png_write_bytes(const char *path, const void *bytes, size_t count, char *why, size_t why_bytes)
{
    FILE *file = fopen(path, "wb");
    struct stat is;
    int error = 0;

    if (!file) {
        util_explain(why, why_bytes, "%s", strerror(errno));
        return false;
    }
    if (fwrite(bytes, 1, count, file) != count)
        error = errno;
    if (fclose(file) != 0 && !error)
        error = errno;
    if (error) {
        if (stat(path, &is) == 0 && S_ISREG(is.st_mode)) /* no device */
            unlink(path);
        util_explain(why, why_bytes, "%s", strerror(error));
    }
    return !error;
}

bool png_write(const char *path, const struct picture *picture, char *why, size_t why_bytes)
{
    size_t bytes;
    void *png = png_encode(&bytes, picture, why, why_bytes);
    bool written = png && png_write_bytes(path, png, bytes, why, why_bytes);

    free(png);
    return written;
}

/* The whole file, for free(). */
static void *read_file(const char *path, size_t *bytes, char *why, size_t why_bytes)
{
    FILE *file;
    long end;
    void *read = NULL;

    if (!util_is_file(path, MOST_FILE, why, why_bytes))
        return NULL;
    file = fopen(path, "rb");
    if (!file) {
        util_explain(why, why_bytes, "%s", strerror(errno));
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 && (size_t)end <= MOST_FILE &&
        fseek(file, 0, SEEK_SET) == 0 && (read = malloc((size_t)end + 1)) != NULL) {
        *bytes = (size_t)end;
        if (fread(read, 1, *bytes, file) != *bytes) {
            free(read);
            read = NULL;
        }
    }
    fclose(file);
    if (!read)
        util_explain(why, why_bytes, "cannot be read");
    return read;
}

bool png_read(struct picture *picture, const char *path, char *why, size_t why_bytes)
{
    size_t bytes = 0;
    void *png = read_file(path, &bytes, why, why_bytes);
    bool read = png && png_decode(picture, png, bytes, why, why_bytes);

    free(png);
    return read;
}
