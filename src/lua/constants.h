/* SPDX-License-Identifier: MIT */
/* The numbers of the headers by name, as globals of a workload. */
#ifndef DXGK_LUA_CONSTANTS_H
#define DXGK_LUA_CONSTANTS_H

#include <lua.h>

void lua_constants_open(lua_State *L);

#endif
