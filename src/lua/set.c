/* SPDX-License-Identifier: MIT */
/* dxgk.set: the options of --set. It knows which of them the workload read, so that a misspelt one
 * does not pass unnoticed. */
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "lua/set.h"
#include "lua/lua_workload.h"

#define SET_VALUES 1 /* upvalues: the options by key, */
#define READ       2 /* and true for those that were read */

static int read_option(lua_State *L)
{
    lua_settop(L, 2); /* dxgk.set, key */
    lua_pushvalue(L, 2);
    lua_gettable(L, lua_upvalueindex(SET_VALUES));
    if (!lua_isnil(L, 3)) {
        lua_pushvalue(L, 2);
        lua_pushboolean(L, 1);
        lua_settable(L, lua_upvalueindex(READ));
    }
    return 1;
}

static int next_option(lua_State *L)
{
    lua_settop(L, 2); /* dxgk.set, key before */
    lua_pushvalue(L, 2);
    if (!lua_next(L, lua_upvalueindex(SET_VALUES)))
        return 0;
    lua_pushvalue(L, -2);
    lua_pushboolean(L, 1);
    lua_settable(L, lua_upvalueindex(READ));
    return 2;
}

static int all_options(lua_State *L)
{
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(SET_VALUES));
    lua_pushvalue(L, lua_upvalueindex(READ));
    lua_pushcclosure(L, next_option, 2);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

static void push_closure(lua_State *L, int values, lua_CFunction function)
{
    lua_pushvalue(L, values);
    lua_pushvalue(L, values + 1);
    lua_pushcclosure(L, function, 2);
}

void lua_set_open(lua_State *L, const struct lua_workload *workload)
{
    int values = lua_gettop(L) + 1;

    lua_newtable(L);
    lua_newtable(L);
    for (size_t i = 0; i < workload->option_count; i++) {
        const char *equals = strchr(workload->option[i], '=');

        lua_pushlstring(L, workload->option[i], (size_t)(equals - workload->option[i]));
        lua_pushstring(L, equals + 1);
        lua_rawset(L, values);
    }
    lua_pushvalue(L, values + 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "dxgk.set.read");
    lua_newtable(L); /* dxgk.set */
    lua_newtable(L); /* its metatable */
    push_closure(L, values, read_option);
    lua_setfield(L, -2, "__index");
    push_closure(L, values, all_options);
    lua_setfield(L, -2, "__pairs");
    lua_setmetatable(L, -2);
    lua_replace(L, values);
    lua_settop(L, values);
}

bool lua_set_unread(lua_State *L, const struct lua_workload *workload, char *key, size_t size)
{
    bool unread = false;

    lua_getfield(L, LUA_REGISTRYINDEX, "dxgk.set.read");
    for (size_t i = 0; i < workload->option_count && !unread; i++) {
        size_t length = (size_t)(strchr(workload->option[i], '=') - workload->option[i]);

        lua_pushlstring(L, workload->option[i], length);
        unread = lua_rawget(L, -2) == LUA_TNIL;
        lua_pop(L, 1);
        if (unread)
            snprintf(key, size, "%.*s", (int)length, workload->option[i]);
    }
    lua_pop(L, 1);
    return unread;
}
