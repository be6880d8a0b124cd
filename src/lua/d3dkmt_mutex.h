/* SPDX-License-Identifier: MIT */
/* Calls of the client interface for keyed mutexes. */
#ifndef DXGK_LUA_D3DKMT_MUTEX_H
#define DXGK_LUA_D3DKMT_MUTEX_H

#include <lua.h>

/* Add them to the table on top of the stack. */
void lua_d3dkmt_mutex(lua_State *L);

#endif
