/* SPDX-License-Identifier: MIT */
/* One call of the client interface by the fields of its structure. */
#include "lua/d3dkmt_call.h"

#include <string.h>

#include <lauxlib.h>

#include "lua/status.h"
#include "nt/base/status_name.h"

static int invoke(lua_State *L)
{
    const struct d3dkmt_call *call = lua_touserdata(L, lua_upvalueindex(1));
    char *args;
    NTSTATUS status;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    field_check(L, 1, call->name, call->fields, call->count);
    /* A copy of the table: temporary arrays hang on it, the caller's stays as it is. */
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, 2);
    }
    lua_replace(L, 1);
    args = lua_newuserdatauv(L, call->bytes, 0);
    memset(args, 0, call->bytes);
    for (size_t i = 0; i < call->count; i++)
        field_put(L, args, &call->fields[i]);
    status = call->function(args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, call->name, status);
    lua_newtable(L);
    for (size_t i = 0; i < call->count; i++)
        field_get(L, args, &call->fields[i]);
    lua_pushstring(L, nt_status_name(status) ? nt_status_name(status) : "STATUS_SUCCESS");
    lua_setfield(L, -2, "status");
    return 1;
}

void lua_d3dkmt_add(lua_State *L, const struct d3dkmt_call *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)&list[i]);
        lua_pushcclosure(L, invoke, 1);
        lua_setfield(L, -2, list[i].name);
    }
}
