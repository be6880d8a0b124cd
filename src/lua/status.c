/* SPDX-License-Identifier: MIT */
/* Statuses as tables with a text. */
#include <string.h>

#include <lauxlib.h>

#include "dxgkhost/dxgkhost.h"
#include "lua/status.h"
#include "nt/base/status_name.h"

#define PREFIX "D3DKMT"

/* Of the call that just failed; nothing if none is known. */
static void push_reason(lua_State *L, const char *call, int32_t status)
{
    struct dxgk_refusal refusal;

    if (!dxgk_client_last_refusal(&refusal) || refusal.code != (uint32_t)status ||
        strcmp(refusal.call + strlen(PREFIX), call) != 0 || !refusal.reason[0]) {
        lua_pushnil(L);
        return;
    }
    lua_pushfstring(L, refusal.rule[0] ? "%s (%s)" : "%s", refusal.reason, refusal.rule);
}

int lua_status_raise(lua_State *L, const char *call, int32_t status)
{
    lua_createtable(L, 0, 4);
    lua_pushfstring(L, PREFIX "%s", call);
    lua_setfield(L, -2, "call");
    lua_pushstring(L, nt_status_text(status).text);
    lua_setfield(L, -2, "status");
    lua_pushinteger(L, (lua_Integer)(uint32_t)status);
    lua_setfield(L, -2, "code");
    push_reason(L, call, status);
    lua_setfield(L, -2, "reason");
    luaL_setmetatable(L, "dxgk.status");
    return lua_error(L);
}
