/* SPDX-License-Identifier: MIT */
/*
 * What the pictures should be: the operations of the 2D engine, computed on the CPU from the formulas of docs/refgpu.md,
 * one channel at a time, without a look at the device model. Only for comparison; clarity before speed.
 *
 * Lua: reference.scale(dst, offset, pitch, width, height, src, offset, pitch, width, height)
 *      reference.blend(dst, offset, pitch, src, offset, pitch, width, height, alpha, straight)
 *      reference.convolve(dst, offset, pitch, src, offset, pitch, width, height, {nine coefficients}, keep_alpha)
 *      reference.fill(dst, offset, pitch, width, height, pattern)
 */
#include <math.h>

#include <lauxlib.h>
#include <lua.h>

#include "lua/buffer.h"

struct picture {
    uint8_t *at;
    long pitch, width, height;
};

static uint8_t *channel(const struct picture *p, long x, long y, int c)
{
    return p->at + y * p->pitch + x * 4 + c;
}

static struct picture check_picture(lua_State *L, int first, long width, long height)
{
    struct lua_buffer *b = luaL_checkudata(L, first, LUA_BUFFER_TYPE);
    lua_Integer offset = luaL_checkinteger(L, first + 1);
    struct picture p = {.pitch = (long)luaL_checkinteger(L, first + 2), .width = width, .height = height};

    luaL_argcheck(L, width >= 1 && width <= 16384 && height >= 1 && height <= 16384, first, "size");
    luaL_argcheck(L, p.pitch >= width * 4 && p.pitch <= 1 << 24, first, "pitch");
    luaL_argcheck(L, offset >= 0 && (uint64_t)offset + (uint64_t)((height - 1) * p.pitch + width * 4) <= b->bytes, first,
                  "picture outside its buffer");
    p.at = b->data + offset;
    return p;
}

static long clamp(long value, long low, long high)
{
    return value < low ? low : value > high ? high : value;
}

/* Position in the source of a destination pixel, in 1/65536, then cut to 1/256. */
static long source_position(long at, long dst_size, long src_size)
{
    long step = (src_size * 65536) / dst_size;

    return clamp(at * step + step / 2 - 32768, 0, (src_size - 1) * 65536) / 256;
}

static int scale(lua_State *L)
{
    struct picture d = check_picture(L, 1, (long)luaL_checkinteger(L, 4), (long)luaL_checkinteger(L, 5));
    struct picture s = check_picture(L, 6, (long)luaL_checkinteger(L, 9), (long)luaL_checkinteger(L, 10));

    for (long y = 0; y < d.height; y++) {
        long v = source_position(y, d.height, s.height);
        long y0 = v / 256, y1 = clamp(y0 + 1, 0, s.height - 1), fy = v % 256;

        for (long x = 0; x < d.width; x++) {
            long u = source_position(x, d.width, s.width);
            long x0 = u / 256, x1 = clamp(x0 + 1, 0, s.width - 1), fx = u % 256;

            for (int c = 0; c < 4; c++) {
                long top = *channel(&s, x0, y0, c) * (256 - fx) + *channel(&s, x1, y0, c) * fx;
                long bottom = *channel(&s, x0, y1, c) * (256 - fx) + *channel(&s, x1, y1, c) * fx;

                *channel(&d, x, y, c) = (uint8_t)((top * (256 - fy) + bottom * fy + 32768) / 65536);
            }
        }
    }
    return 0;
}

/* The nearest integer to n / 255: 255 is odd, so there are no ties. */
static long over255(long n)
{
    return (2 * n + 255) / 510;
}

static int blend(lua_State *L)
{
    long width = (long)luaL_checkinteger(L, 7), height = (long)luaL_checkinteger(L, 8);
    struct picture d = check_picture(L, 1, width, height);
    struct picture s = check_picture(L, 4, width, height);
    long alpha = (long)luaL_checkinteger(L, 9);
    bool straight = lua_toboolean(L, 10);

    for (long y = 0; y < height; y++) {
        for (long x = 0; x < width; x++) {
            long weight = over255(*channel(&s, x, y, 3) * alpha);

            for (int c = 0; c < 4; c++) {
                long source = *channel(&s, x, y, c), below = *channel(&d, x, y, c), out;

                if (straight && c < 3)
                    out = over255(source * weight + below * (255 - weight));
                else
                    out = (straight ? weight : over255(source * alpha)) + over255(below * (255 - weight));
                *channel(&d, x, y, c) = (uint8_t)clamp(out, 0, 255);
            }
        }
    }
    return 0;
}

static int convolve(lua_State *L)
{
    long width = (long)luaL_checkinteger(L, 7), height = (long)luaL_checkinteger(L, 8);
    struct picture d = check_picture(L, 1, width, height);
    struct picture s = check_picture(L, 4, width, height);
    bool keep_alpha = lua_toboolean(L, 10);
    long k[9];

    luaL_checktype(L, 9, LUA_TTABLE);
    for (int i = 0; i < 9; i++) {
        lua_rawgeti(L, 9, i + 1);
        k[i] = (long)luaL_checkinteger(L, -1);
        lua_pop(L, 1);
    }
    for (long y = 0; y < height; y++) {
        for (long x = 0; x < width; x++) {
            for (int c = 0; c < 4; c++) {
                long sum = 128;

                for (int i = 0; i < 9; i++)
                    sum += k[i] * *channel(&s, clamp(x + i % 3 - 1, 0, width - 1), clamp(y + i / 3 - 1, 0, height - 1), c);
                *channel(&d, x, y, c) =
                    (uint8_t)(c == 3 && keep_alpha ? *channel(&s, x, y, 3) : clamp((long)floor((double)sum / 256.0), 0, 255));
            }
        }
    }
    return 0;
}

static int fill(lua_State *L)
{
    struct picture d = check_picture(L, 1, (long)luaL_checkinteger(L, 4), (long)luaL_checkinteger(L, 5));
    uint32_t pattern = (uint32_t)luaL_checkinteger(L, 6);

    for (long y = 0; y < d.height; y++)
        for (long x = 0; x < d.width; x++)
            for (int c = 0; c < 4; c++)
                *channel(&d, x, y, c) = (uint8_t)(pattern >> (8 * c));
    return 0;
}

int luaopen_reference(lua_State *L);
int luaopen_reference(lua_State *L)
{
    static const luaL_Reg functions[] = {{"scale", scale}, {"blend", blend}, {"convolve", convolve}, {"fill", fill}, {NULL, NULL}};

    luaL_newlib(L, functions);
    return 1;
}
