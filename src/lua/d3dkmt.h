/* SPDX-License-Identifier: MIT */
/* The functions of the client interface, for workloads. */
#ifndef DXGK_LUA_D3DKMT_H
#define DXGK_LUA_D3DKMT_H

#include <lua.h>

void lua_d3dkmt_open(lua_State *L);

#endif
