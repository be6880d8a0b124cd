/* SPDX-License-Identifier: MIT */
/* Statuses as tables with a text. */
#include <lauxlib.h>

#include "lua/status.h"
#include "nt/base/status_name.h"

int lua_status_raise(lua_State *L, const char *call, int32_t status)
{
    const char *name = nt_status_name(status);

    lua_createtable(L, 0, 3);
    lua_pushfstring(L, "D3DKMT%s", call);
    lua_setfield(L, -2, "call");
    if (name)
        lua_pushstring(L, name);
    else
        lua_pushfstring(L, "0x%p", (void *)(uintptr_t)(uint32_t)status);
    lua_setfield(L, -2, "status");
    lua_pushinteger(L, (lua_Integer)(uint32_t)status);
    lua_setfield(L, -2, "code");
    luaL_setmetatable(L, "dxgk.status");
    return lua_error(L);
}
