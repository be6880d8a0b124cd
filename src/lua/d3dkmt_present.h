/* SPDX-License-Identifier: MIT */
/* Calls about displays with rectangles, lists, names or unions in their structures. */
#ifndef DXGK_LUA_D3DKMT_PRESENT_H
#define DXGK_LUA_D3DKMT_PRESENT_H

#include <lua.h>

/* Add the calls to the table on top of the stack. */
void lua_d3dkmt_present(lua_State *L);

#endif
