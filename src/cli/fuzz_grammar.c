/* SPDX-License-Identifier: MIT */
#include "cli/fuzz_grammar.h"

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "cli/fuzz_program.h"

/* All of them raise errors of Lua. */

static lua_Integer integer_at(lua_State *L, int table, lua_Integer index, const char *what)
{
    lua_Integer value;
    int is_integer;

    lua_geti(L, table, index);
    value = lua_tointegerx(L, -1, &is_integer);
    if (!is_integer)
        luaL_error(L, "a field is {bytes}, {bytes, value} or {bytes, low, high}: %s is no integer",
                   what);
    lua_pop(L, 1);
    return value;
}

static void read_field(lua_State *L, struct fuzz_field *field)
{
    int table = lua_gettop(L);
    lua_Integer bytes, members;

    luaL_argexpected(L, lua_istable(L, table), table, "a field");
    members = luaL_len(L, table);
    bytes = integer_at(L, table, 1, "bytes");
    if (members > 3 || bytes < 1 || bytes > (members == 1 ? (lua_Integer)FUZZ_LAYOUT_BYTES : 8))
        luaL_error(
            L, "a field has 1 to 8 bytes, and at most three members; one of any value, 1 to 255");
    *field = (struct fuzz_field){.bytes = (uint8_t)bytes, .any = members == 1};
    if (members == 1)
        return;
    field->low = (uint64_t)integer_at(L, table, 2, "the value");
    field->high = members == 3 ? (uint64_t)integer_at(L, table, 3, "the highest value") : field->low;
    if (field->low > field->high)
        luaL_error(L, "the lowest value of a field is above the highest");
}

/* "Escape" of D3DKMTEscape. */
static uint8_t kind_of(lua_State *L, const char *name)
{
    for (unsigned kind = 0; kind < FUZZ_KINDS; kind++)
        if (strcmp(fuzz_kind_name((enum fuzz_kind)kind) + strlen("D3DKMT"), name) == 0)
            return (uint8_t)kind;
    luaL_error(L, "no call of inputs is named %s", name);
    return 0;
}

static void read_layout(lua_State *L, struct fuzz_layout *layout)
{
    int table = lua_gettop(L);
    lua_Integer count;

    if (!lua_istable(L, table))
        luaL_error(L, "a layout is a table with call and fields");
    memset(layout, 0, sizeof(*layout));
    lua_getfield(L, table, "call");
    layout->kind = kind_of(L, lua_isstring(L, -1) ? lua_tostring(L, -1) : "nothing");
    lua_getfield(L, table, "choice");
    layout->has_choice = !lua_isnil(L, -1);
    layout->choice = (uint8_t)(layout->has_choice ? lua_tointeger(L, -1) : 0);
    lua_getfield(L, table, "fields");
    if (!lua_istable(L, -1) || (count = luaL_len(L, -1)) > (lua_Integer)FUZZ_FIELDS)
        luaL_error(L, "fields is a list of at most %d", (int)FUZZ_FIELDS);
    for (lua_Integer i = 1; i <= luaL_len(L, -1); i++) {
        lua_geti(L, -1, i);
        read_field(L, &layout->field[layout->fields]);
        layout->bytes += layout->field[layout->fields++].bytes;
        lua_pop(L, 1);
    }
    if (layout->bytes > FUZZ_LAYOUT_BYTES)
        luaL_error(L, "a layout has at most %d bytes", (int)FUZZ_LAYOUT_BYTES);
    lua_settop(L, table);
}

static int read_all(lua_State *L)
{
    struct fuzz_grammar *grammar = lua_touserdata(L, 1);
    const char *path = lua_touserdata(L, 2);

    lua_settop(L, 0);
    if (luaL_loadfilex(L, path, "t") != LUA_OK)
        return lua_error(L);
    lua_call(L, 0, 1);
    if (!lua_istable(L, 1) || luaL_len(L, 1) > (lua_Integer)FUZZ_LAYOUTS)
        return luaL_error(L, "%s returns no list of at most %d layouts", path, (int)FUZZ_LAYOUTS);
    for (lua_Integer i = 1; i <= luaL_len(L, 1); i++) {
        lua_geti(L, 1, i);
        read_layout(L, &grammar->layout[grammar->layouts]);
        grammar->layouts++;
        lua_settop(L, 1);
    }
    return 0;
}

bool fuzz_grammar_read(const char *path, struct fuzz_grammar *grammar, char *error,
                       size_t error_bytes)
{
    lua_State *L = luaL_newstate(); /* without libraries: a file of data */
    bool good;

    memset(grammar, 0, sizeof(*grammar));
    if (!L) {
        snprintf(error, error_bytes, "out of memory");
        return false;
    }
    lua_pushcfunction(L, read_all);
    lua_pushlightuserdata(L, grammar);
    lua_pushlightuserdata(L, (void *)path);
    good = lua_pcall(L, 2, 0, 0) == LUA_OK;
    if (!good)
        snprintf(error, error_bytes, "%s", lua_tostring(L, -1));
    lua_close(L);
    return good;
}
