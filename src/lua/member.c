/* SPDX-License-Identifier: MIT */
#include "lua/member.h"

#include <lauxlib.h>
#include <lua.h>

long long lua_member(lua_State *L, int index, const char *name, long long otherwise,
                     long long least, long long most)
{
    lua_Integer value = otherwise;
    int whole = 1;

    if (lua_getfield(L, index, name) != LUA_TNIL)
        value = lua_tointegerx(L, -1, &whole);
    lua_pop(L, 1);
    if (!whole || value < least || value > most)
        (void)luaL_error(L, "%s is to be a whole number from %I to %I", name, least, most);
    return value;
}
