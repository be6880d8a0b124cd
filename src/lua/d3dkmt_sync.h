/* SPDX-License-Identifier: MIT */
/* Calls of the client interface that create synchronization objects. */
#ifndef DXGK_LUA_D3DKMT_SYNC_H
#define DXGK_LUA_D3DKMT_SYNC_H

#include <lua.h>

/* Add them to the table on top of the stack. */
void lua_d3dkmt_sync(lua_State *L);

#endif
