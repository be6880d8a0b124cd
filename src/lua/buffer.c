/* SPDX-License-Identifier: MIT */
/*
 * Byte buffers for workloads. Memory behind a view can go away (an allocation that was destroyed):
 * every access is a checked copy, so a stale view raises an error and does not crash.
 */
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "lua/buffer.h"
#include "sim/fault.h"

#define MAX_STRING ((lua_Integer)1 << 30)

struct lua_buffer *lua_buffer_check(lua_State *L, int index)
{
    return luaL_checkudata(L, index, LUA_BUFFER_TYPE);
}

struct lua_buffer *lua_buffer_push_own(lua_State *L, size_t bytes)
{
    struct lua_buffer *buffer = lua_newuserdatauv(L, sizeof(*buffer), 0);

    buffer->data = NULL;
    buffer->bytes = 0;
    buffer->owned = true;
    luaL_setmetatable(L, LUA_BUFFER_TYPE);
    buffer->data = calloc(bytes ? bytes : 1, 1);
    if (!buffer->data)
        luaL_error(L, "out of memory: buffer of %I bytes", (lua_Integer)bytes);
    buffer->bytes = bytes;
    return buffer;
}

void lua_buffer_push_view(lua_State *L, void *data, size_t bytes)
{
    struct lua_buffer *buffer = lua_newuserdatauv(L, sizeof(*buffer), 0);

    buffer->data = data;
    buffer->bytes = bytes;
    buffer->owned = false;
    luaL_setmetatable(L, LUA_BUFFER_TYPE);
}

/* Offset and length of a range of the buffer, or an error. */
static size_t check_range(lua_State *L, const struct lua_buffer *b, int index, lua_Integer bytes)
{
    lua_Integer offset = luaL_checkinteger(L, index);

    if (offset < 0 || bytes < 0 || (uint64_t)offset > b->bytes ||
        (uint64_t)bytes > b->bytes - (uint64_t)offset)
        luaL_error(L, "range %I+%I is outside a buffer of %I bytes", offset, bytes,
                   (lua_Integer)b->bytes);
    return (size_t)offset;
}

static void copy(lua_State *L, void *to, const void *from, size_t bytes)
{
    if (!sim_copy_checked(to, from, bytes))
        luaL_error(L, "the memory of this buffer is gone");
}

void lua_buffer_read(lua_State *L, const struct lua_buffer *buffer, size_t offset, void *to,
                     size_t bytes)
{
    copy(L, to, buffer->data + offset, bytes);
}

/* A number of bytes from `offset` on: that of the argument, else to the end of the buffer. */
static lua_Integer optional_bytes(lua_State *L, const struct lua_buffer *b, int index,
                                  lua_Integer offset)
{
    lua_Integer rest = offset < 0 || (uint64_t)offset > b->bytes ? 0
                                                                 : (lua_Integer)b->bytes - offset;

    return luaL_optinteger(L, index, rest);
}

static int access_integer(lua_State *L, size_t width)
{
    struct lua_buffer *b = lua_buffer_check(L, 1);
    size_t offset = check_range(L, b, 2, (lua_Integer)width);
    uint64_t value = 0;

    if (lua_gettop(L) >= 3) {
        value = (uint64_t)luaL_checkinteger(L, 3);
        copy(L, b->data + offset, &value, width);
        return 0;
    }
    copy(L, &value, b->data + offset, width);
    lua_pushinteger(L, (lua_Integer)value);
    return 1;
}

static int method_u8(lua_State *L)
{
    return access_integer(L, 1);
}

static int method_u32(lua_State *L)
{
    return access_integer(L, 4);
}

static int method_u64(lua_State *L)
{
    return access_integer(L, 8);
}

/* buffer:read([offset [, bytes]]) -> string */
static int method_read(lua_State *L)
{
    struct lua_buffer *b = lua_buffer_check(L, 1);
    lua_Integer offset = luaL_optinteger(L, 2, 0);
    lua_Integer bytes = optional_bytes(L, b, 3, offset);
    luaL_Buffer out;
    size_t start;

    luaL_argcheck(L, bytes <= MAX_STRING, 3, "at most 2^30 bytes at a time");
    lua_settop(L, 1);
    lua_pushinteger(L, offset);
    start = check_range(L, b, 2, bytes);
    copy(L, luaL_buffinitsize(L, &out, (size_t)bytes), b->data + start, (size_t)bytes);
    luaL_pushresultsize(&out, (size_t)bytes);
    return 1;
}

/* buffer:write(offset, string) */
static int method_write(lua_State *L)
{
    struct lua_buffer *b = lua_buffer_check(L, 1);
    size_t bytes;
    const char *text = luaL_checklstring(L, 3, &bytes);

    copy(L, b->data + check_range(L, b, 2, (lua_Integer)bytes), text, bytes);
    return 0;
}

/* buffer:fill(byte [, offset, bytes]) */
static int method_fill(lua_State *L)
{
    struct lua_buffer *b = lua_buffer_check(L, 1);
    int value = (int)luaL_checkinteger(L, 2);
    lua_Integer offset = luaL_optinteger(L, 3, 0);
    lua_Integer bytes = optional_bytes(L, b, 4, offset);
    uint8_t block[4096];
    size_t at;

    lua_pushinteger(L, offset);
    at = check_range(L, b, -1, bytes);
    memset(block, value, sizeof(block));
    for (size_t left = (size_t)bytes; left > 0;) {
        size_t part = left < sizeof(block) ? left : sizeof(block);

        copy(L, b->data + at, block, part);
        at += part;
        left -= part;
    }
    return 0;
}

/* buffer:copy(offset, source, source_offset, bytes) */
static int method_copy(lua_State *L)
{
    struct lua_buffer *to = lua_buffer_check(L, 1);
    struct lua_buffer *from = lua_buffer_check(L, 3);
    lua_Integer bytes = luaL_checkinteger(L, 5);
    size_t to_offset = check_range(L, to, 2, bytes);
    size_t from_offset = check_range(L, from, 4, bytes);

    copy(L, to->data + to_offset, from->data + from_offset, (size_t)bytes);
    return 0;
}

/* buffer:copy_rect(offset, pitch, source, source_offset, source_pitch, row_bytes, rows) */
static int method_copy_rect(lua_State *L)
{
    struct lua_buffer *to = lua_buffer_check(L, 1);
    struct lua_buffer *from = lua_buffer_check(L, 4);
    lua_Integer to_pitch = luaL_checkinteger(L, 3), from_pitch = luaL_checkinteger(L, 6);
    lua_Integer row = luaL_checkinteger(L, 7), rows = luaL_checkinteger(L, 8);
    size_t to_offset, from_offset;

    luaL_argcheck(L, row >= 0 && row <= 1 << 30, 7, "row of 0 to 2^30 bytes");
    luaL_argcheck(L, rows >= 1 && rows <= 1 << 20, 8, "1 to 2^20 rows");
    luaL_argcheck(L, to_pitch >= row && to_pitch <= 1 << 30, 3, "pitch smaller than a row");
    luaL_argcheck(L, from_pitch >= row && from_pitch <= 1 << 30, 6, "pitch smaller than a row");
    to_offset = check_range(L, to, 2, (rows - 1) * to_pitch + row);
    from_offset = check_range(L, from, 5, (rows - 1) * from_pitch + row);
    for (lua_Integer y = 0; y < rows; y++)
        copy(L, to->data + to_offset + (size_t)(y * to_pitch),
             from->data + from_offset + (size_t)(y * from_pitch), (size_t)row);
    return 0;
}

/* buffer:difference(other) -> nil when equal, else offset of the first byte that differs and how
 * many differ */
static int method_difference(lua_State *L)
{
    struct lua_buffer *a = lua_buffer_check(L, 1);
    struct lua_buffer *b = lua_buffer_check(L, 2);
    uint8_t left[4096], right[4096];
    size_t bytes = a->bytes < b->bytes ? a->bytes : b->bytes;
    size_t first = 0, count = 0;

    for (size_t at = 0; at < bytes; at += sizeof(left)) {
        size_t part = bytes - at < sizeof(left) ? bytes - at : sizeof(left);

        copy(L, left, a->data + at, part);
        copy(L, right, b->data + at, part);
        for (size_t i = 0; i < part; i++) {
            if (left[i] == right[i])
                continue;
            if (count++ == 0)
                first = at + i;
        }
    }
    if (a->bytes != b->bytes && count == 0)
        first = bytes;
    count += (a->bytes > b->bytes ? a->bytes : b->bytes) - bytes;
    if (count == 0)
        return 0;
    lua_pushinteger(L, (lua_Integer)first);
    lua_pushinteger(L, (lua_Integer)count);
    return 2;
}

static int method_len(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)lua_buffer_check(L, 1)->bytes);
    return 1;
}

/* buffer:view(offset, bytes): the same memory; keeps this buffer alive */
static int method_view(lua_State *L)
{
    struct lua_buffer *b = lua_buffer_check(L, 1);
    lua_Integer bytes = luaL_checkinteger(L, 3);
    size_t offset = check_range(L, b, 2, bytes);
    struct lua_buffer *view = lua_newuserdatauv(L, sizeof(*view), 1);

    view->data = b->data + offset;
    view->bytes = (size_t)bytes;
    view->owned = false;
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    luaL_setmetatable(L, LUA_BUFFER_TYPE);
    return 1;
}

static int method_gc(lua_State *L)
{
    struct lua_buffer *b = lua_buffer_check(L, 1);

    if (b->owned)
        free(b->data);
    b->data = NULL;
    b->bytes = 0;
    return 0;
}

/* buffer(bytes or string) */
static int new_buffer(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TSTRING) {
        size_t bytes;
        const char *text = lua_tolstring(L, 1, &bytes);

        memcpy(lua_buffer_push_own(L, bytes)->data, text, bytes);
        return 1;
    }
    luaL_argcheck(L, luaL_checkinteger(L, 1) >= 0 && lua_tointeger(L, 1) <= (lua_Integer)1 << 34, 1,
                  "0 to 2^34 bytes");
    lua_buffer_push_own(L, (size_t)lua_tointeger(L, 1));
    return 1;
}

void lua_buffer_open(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"u8", method_u8},
        {"u32", method_u32},
        {"u64", method_u64},
        {"read", method_read},
        {"write", method_write},
        {"fill", method_fill},
        {"copy", method_copy},
        {"copy_rect", method_copy_rect},
        {"difference", method_difference},
        {"view", method_view},
        {"bytes", method_len},
        {NULL, NULL},
    };

    luaL_newmetatable(L, LUA_BUFFER_TYPE);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, method_gc);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, method_len);
    lua_setfield(L, -2, "__len");
    /* a script that called __gc would free what views of the buffer refer to */
    lua_pushliteral(L, "dxgk.buffer");
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lua_pushcfunction(L, new_buffer);
    lua_setfield(L, -2, "buffer");
}
