/* SPDX-License-Identifier: MIT */
/* Calls of the client interface that share resources and synchronization objects, and that open
 * things by names. */
#ifndef DXGK_LUA_D3DKMT_SHARE_H
#define DXGK_LUA_D3DKMT_SHARE_H

#include <lua.h>

/* Add them to the table on top of the stack. */
void lua_d3dkmt_share(lua_State *L);

#endif
