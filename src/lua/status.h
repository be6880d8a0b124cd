/* SPDX-License-Identifier: MIT */
/* A call of the client interface that failed, as an error of Lua. */
#ifndef DXGK_LUA_STATUS_H
#define DXGK_LUA_STATUS_H

#include <stdint.h>

#include <lua.h>

/* Raise {call =, status =, code =}, which prints as "D3DKMTRender: STATUS_NO_MEMORY:
 * why". */
int lua_status_raise(lua_State *L, const char *call, int32_t status);

#endif
