/* SPDX-License-Identifier: MIT */
/* Images (PNG by libspng) and raw files. Pixels are B, G, R, A bytes (D3DDDIFMT_A8R8G8B8 in
 * memory), straight alpha. */
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <spng.h>

#include <lauxlib.h>
#include <lua.h>

#include "lua/image.h"
#include "lua/buffer.h"
#include "util/is_file.h"

#define MAX_FILE ((size_t)1 << 30)
#define MAX_SIDE 16384u

static void swap_red_blue(uint8_t *pixels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t red = pixels[4 * i];

        pixels[4 * i] = pixels[4 * i + 2];
        pixels[4 * i + 2] = red;
    }
}

/* The whole file as an own buffer on the stack. */
static struct lua_buffer *read_file(lua_State *L, const char *path)
{
    struct lua_buffer *buffer;
    char error[256];
    FILE *file;
    long bytes;
    size_t done;

    if (!util_is_file(path, MAX_FILE, error, sizeof(error))) {
        luaL_error(L, "%s: %s", path, error);
        return NULL;
    }
    file = fopen(path, "rb");
    if (!file) {
        luaL_error(L, "%s: %s", path, strerror(errno));
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) != 0 || (bytes = ftell(file)) < 0 || (size_t)bytes > MAX_FILE ||
        fseek(file, 0, SEEK_SET) != 0) {
        fclose(file);
        luaL_error(L, "%s: not a readable file of at most 1 GiB", path);
        return NULL;
    }
    buffer = lua_buffer_push_own(L, (size_t)bytes);
    done = fread(buffer->data, 1, (size_t)bytes, file);
    fclose(file);
    if (done != (size_t)bytes)
        luaL_error(L, "%s: read failed", path);
    return buffer;
}

/* 0, or the errno of what failed. */
static int write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    int error = 0;

    if (!file)
        return errno;
    if (fwrite(bytes, 1, count, file) != count)
        error = errno;
    if (fclose(file) != 0 && !error)
        error = errno;
    return error;
}

/* image.read(path) -> {width, height, pixels} */
static int image_read(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    struct lua_buffer *file = read_file(L, path);
    struct lua_buffer *pixels = NULL;
    struct spng_ihdr header;
    size_t bytes = 0;
    spng_ctx *context = spng_ctx_new(0);
    int error = context ? 0 : SPNG_EMEM;

    if (!error) {
        spng_set_image_limits(context, MAX_SIDE, MAX_SIDE);
        spng_set_chunk_limits(context, 1 << 24, 1 << 26);
        error = spng_set_png_buffer(context, file->data, file->bytes);
    }
    if (!error)
        error = spng_get_ihdr(context, &header);
    if (!error)
        error = spng_decoded_image_size(context, SPNG_FMT_RGBA8, &bytes);
    if (!error) {
        /* the buffer comes before the decoder could raise: the context is freed below in any
         * case */
        pixels = lua_newuserdatauv(L, sizeof(*pixels), 0);
        pixels->data = NULL;
        pixels->bytes = 0;
        pixels->owned = true;
        luaL_setmetatable(L, LUA_BUFFER_TYPE);
        pixels->data = calloc(bytes, 1);
        error = pixels->data ? 0 : SPNG_EMEM;
    }
    if (!error) {
        pixels->bytes = bytes;
        error = spng_decode_image(context, pixels->data, bytes, SPNG_FMT_RGBA8, SPNG_DECODE_TRNS);
    }
    spng_ctx_free(context);
    if (error)
        return luaL_error(L, "%s: not a readable PNG (%s)", path, spng_strerror(error));
    swap_red_blue(pixels->data, bytes / 4);
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, header.width);
    lua_setfield(L, -2, "width");
    lua_pushinteger(L, header.height);
    lua_setfield(L, -2, "height");
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "pixels");
    return 1;
}

/* image.write(path, pixels, width, height [, pitch]); alpha is kept */
static int image_write(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    struct lua_buffer *pixels = lua_buffer_check(L, 2);
    lua_Integer width = luaL_checkinteger(L, 3), height = luaL_checkinteger(L, 4);
    lua_Integer pitch;
    struct spng_ihdr header;
    struct lua_buffer *copy;
    spng_ctx *context;
    void *png = NULL;
    size_t bytes = 0;
    int error;

    luaL_argcheck(L, width >= 1 && width <= MAX_SIDE, 3, "width of 1 to 16384");
    luaL_argcheck(L, height >= 1 && height <= MAX_SIDE, 4, "height of 1 to 16384");
    pitch = luaL_optinteger(L, 5, width * 4);
    luaL_argcheck(L,
                  pitch >= width * 4 && pitch <= 1 << 24 &&
                      (uint64_t)((height - 1) * pitch + width * 4) <= pixels->bytes,
                  2, "buffer smaller than the picture");
    copy = lua_buffer_push_own(L, (size_t)(width * height * 4));
    for (lua_Integer y = 0; y < height; y++)
        lua_buffer_read(L, pixels, (size_t)(y * pitch), copy->data + y * width * 4,
                        (size_t)width * 4);
    swap_red_blue(copy->data, (size_t)(width * height));
    context = spng_ctx_new(SPNG_CTX_ENCODER);
    if (!context)
        return luaL_error(L, "%s: out of memory", path);
    memset(&header, 0, sizeof(header));
    header.width = (uint32_t)width;
    header.height = (uint32_t)height;
    header.bit_depth = 8;
    header.color_type = SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
    spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1);
    spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, 3);
    error = spng_set_ihdr(context, &header);
    if (!error)
        error = spng_encode_image(context, copy->data, copy->bytes, SPNG_FMT_PNG,
                                  SPNG_ENCODE_FINALIZE);
    if (!error)
        png = spng_get_png_buffer(context, &bytes, &error);
    spng_ctx_free(context);
    if (error || !png) {
        free(png);
        return luaL_error(L, "%s: cannot encode (%s)", path, spng_strerror(error));
    }
    error = write_file(path, png, bytes);
    free(png);
    return error ? luaL_error(L, "%s: %s", path, strerror(error)) : 0;
}

static int file_read(lua_State *L)
{
    read_file(L, luaL_checkstring(L, 1));
    return 1;
}

static int file_write(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    const struct lua_buffer *b = lua_buffer_check(L, 2);
    int error;

    if (!b->owned) { /* its memory may be gone */
        struct lua_buffer *whole = lua_buffer_push_own(L, b->bytes);

        lua_buffer_read(L, b, 0, whole->data, b->bytes);
        b = whole;
    }
    error = write_file(path, b->data, b->bytes);
    return error ? luaL_error(L, "%s: %s", path, strerror(error)) : 0;
}

void lua_image_open(lua_State *L)
{
    static const luaL_Reg image[] = {
        {"read", image_read}, {"write", image_write}, {"compare", lua_image_compare}, {NULL, NULL}};
    static const luaL_Reg raw[] = {{"read", file_read}, {"write", file_write}, {NULL, NULL}};

    luaL_newlib(L, image);
    lua_setfield(L, -2, "image");
    luaL_newlib(L, raw);
    lua_setfield(L, -2, "file");
}
