/* SPDX-License-Identifier: MIT */
/* dxgk.screen, dxgk.draw, dxgk.mode, dxgk.display: the screens of an adapter. */
#ifndef DXGK_LUA_DISPLAY_H
#define DXGK_LUA_DISPLAY_H

#include <lua.h>

/* Adds the functions to the table on top of the stack. */
void lua_display_open(lua_State *L);

#endif
