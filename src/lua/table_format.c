/* SPDX-License-Identifier: MIT */
#include "lua/table_format.h"
#include "dxgkhost/dxgkhost.h"
#include "lua/field.h"
#include "lua/memory.h"
#include "util/array.h"
#include "util/is_file.h"

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#define MOST_BYTES  ((uint64_t)1 << 20) /* of the file */
#define MOST_MEMORY ((uint64_t)16 << 20)
#define MOST_STEPS  10000000

struct reading {
    const char *path;
    struct lua_table_format *out;
};

static void out_of_time(lua_State *L, lua_Debug *at)
{
    (void)at;
    luaL_error(L, "it takes too long");
}

/* The member of the table on top of the stack; `missing` if there is none. */
static uint64_t integer(lua_State *L, const char *name, uint64_t missing)
{
    const int type = lua_getfield(L, -1, name);
    const uint64_t value = lua_isinteger(L, -1) ? (uint64_t)lua_tointeger(L, -1) : missing;

    if (type != LUA_TNIL && !lua_isinteger(L, -1))
        luaL_error(L, "%s: integer expected, got %s", name, luaL_typename(L, -1));
    lua_pop(L, 1);
    return value;
}

static uint32_t small(lua_State *L, const char *name, uint32_t missing)
{
    const uint64_t value = integer(L, name, missing);

    if (value > UINT32_MAX)
        luaL_error(L, "%s: %I is no number of that kind", name, (lua_Integer)value);
    return (uint32_t)value;
}

static bool boolean(lua_State *L, const char *name)
{
    const int type = lua_getfield(L, -1, name);
    const bool value = lua_toboolean(L, -1);

    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        luaL_error(L, "%s: true or false expected, got %s", name, luaL_typename(L, -1));
    lua_pop(L, 1);
    return value;
}

/* Push a member that is a table, whose length is given back. */
static lua_Unsigned open_table(lua_State *L, const char *name, lua_Unsigned most)
{
    if (lua_getfield(L, -1, name) != LUA_TTABLE)
        luaL_error(L, "%s: table expected, got %s", name, luaL_typename(L, -1));
    if (lua_rawlen(L, -1) > most)
        luaL_error(L, "%s: %I elements, at most %I are possible", name,
                   (lua_Integer)lua_rawlen(L, -1), (lua_Integer)most);
    return lua_rawlen(L, -1);
}

static void read_levels(lua_State *L, struct dxgk_table_format *format)
{
    format->levels = (uint32_t)open_table(L, "index_bits", DXGK_TABLE_LEVELS);
    for (uint32_t i = 0; i < format->levels; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 0 || lua_tointeger(L, -1) > 64)
            luaL_error(L, "index_bits: element %I is no number of bits", (lua_Integer)i + 1);
        format->index_bits[i] = (uint32_t)lua_tointeger(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

static void read_address(lua_State *L, struct dxgk_table_format *format)
{
    static const char *const members[] = {"mask", "shift", "word"};

    (void)open_table(L, "address", 0);
    field_check_names(L, lua_gettop(L), "address", members, ARRAY_COUNT(members));
    format->address_mask = integer(L, "mask", 0);
    format->address_shift = small(L, "shift", 0);
    format->address_word = small(L, "word", 0);
    lua_pop(L, 1);
}

static void read_segments(lua_State *L, struct dxgk_table_format *format)
{
    static const char *const members[] = {"segment", "bits", "base"};

    if (lua_getfield(L, -1, "segments") == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    lua_pop(L, 1);
    format->segments = (uint32_t)open_table(L, "segments", DXGK_TABLE_SEGMENTS);
    for (uint32_t i = 0; i < format->segments; i++) {
        if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TTABLE)
            luaL_error(L, "segments: element %I is no table", (lua_Integer)i + 1);
        field_check_names(L, lua_gettop(L), "segments", members, ARRAY_COUNT(members));
        format->segment[i].segment = small(L, "segment", UINT32_MAX);
        format->segment[i].bits = integer(L, "bits", 0);
        format->segment[i].base = integer(L, "base", 0);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* A bit that says no, or the one that says yes in its place. */
static uint64_t denial(lua_State *L, const char *no, const char *yes,
                       struct dxgk_table_format *format)
{
    const uint64_t denies = integer(L, no, 0), allows = integer(L, yes, 0);

    if (denies && allows)
        luaL_error(L, "%s and %s: one of them", no, yes);
    format->inverted |= allows;
    return denies | allows;
}

static void read_name(lua_State *L, struct lua_table_format *out)
{
    if (lua_getfield(L, -1, "name") != LUA_TNIL && lua_type(L, -1) != LUA_TSTRING)
        luaL_error(L, "name: string expected, got %s", luaL_typename(L, -1));
    (void)snprintf(out->name, sizeof(out->name), "%s",
                   lua_isnil(L, -1) ? "of a file" : lua_tostring(L, -1));
    out->format.name = out->name;
    lua_pop(L, 1);
}

static int read_file(lua_State *L)
{
    static const char *const members[] = {
        "name",     "entry_bytes",  "index_bits", "valid",       "zero",  "read_only",
        "writable", "no_execute",   "executable", "coherent",    "large", "big",
        "address",  "segment_mask", "segments",   "tables_plain"};
    struct reading *reading = lua_touserdata(L, 1);
    struct dxgk_table_format *format = &reading->out->format;
    char error[160];

    if (luaL_loadfilex(L, reading->path, "t") != LUA_OK)
        return lua_error(L);
    lua_call(L, 0, 1);
    if (lua_type(L, -1) != LUA_TTABLE)
        return luaL_error(L, "it returns no table, but %s", luaL_typename(L, -1));
    field_check_names(L, lua_gettop(L), "a format of page tables", members, ARRAY_COUNT(members));
    read_name(L, reading->out);
    format->entry_bytes = small(L, "entry_bytes", 0);
    read_levels(L, format);
    format->valid = integer(L, "valid", 0);
    format->zero = integer(L, "zero", 0);
    format->read_only = denial(L, "read_only", "writable", format);
    format->no_execute = denial(L, "no_execute", "executable", format);
    format->coherent = integer(L, "coherent", 0);
    format->large = integer(L, "large", 0);
    format->big = integer(L, "big", 0);
    read_address(L, format);
    format->segment_mask = integer(L, "segment_mask", 0);
    read_segments(L, format);
    format->tables_plain = boolean(L, "tables_plain");
    if (!dxgk_table_format_check(format, error, sizeof(error)))
        return luaL_error(L, "%s", error);
    return 0;
}

bool lua_table_format_read(const char *path, struct lua_table_format *out, char *error,
                           size_t error_bytes)
{
    struct reading reading = {path, out};
    struct lua_memory memory = {.limit = MOST_MEMORY};
    lua_State *L;
    bool done;

    memset(out, 0, sizeof(*out));
    if (!util_is_file(path, MOST_BYTES, error, error_bytes))
        return false;
    L = lua_memory_open(&memory);
    if (!L) {
        (void)snprintf(error, error_bytes, "out of memory");
        return false;
    }
    lua_sethook(L, out_of_time, LUA_MASKCOUNT, MOST_STEPS);
    lua_pushcfunction(L, read_file);
    lua_pushlightuserdata(L, &reading);
    done = lua_pcall(L, 1, 0, 0) == LUA_OK;
    if (!done)
        (void)snprintf(error, error_bytes, "%s",
                       lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1)
                                                      : "an error that is no text");
    lua_close(L);
    return done;
}
