/* SPDX-License-Identifier: MIT */
/* Displays: owners of sources, modes, presents, vertical blanks, gamma. */
#ifndef DXGK_LUA_D3DKMT_DISPLAY_H
#define DXGK_LUA_D3DKMT_DISPLAY_H

#include <lua.h>

/* Add the calls to the table on top of the stack. */
void lua_d3dkmt_display(lua_State *L);

#endif
