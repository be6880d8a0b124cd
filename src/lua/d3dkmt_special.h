/* SPDX-License-Identifier: MIT */
/* Calls of the client interface whose structures need more than the table of fields. */
#ifndef DXGK_LUA_D3DKMT_SPECIAL_H
#define DXGK_LUA_D3DKMT_SPECIAL_H

#include <lua.h>

/* Add them to the table on top of the stack. */
void lua_d3dkmt_special(lua_State *L);

#endif
