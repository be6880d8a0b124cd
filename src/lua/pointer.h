/* SPDX-License-Identifier: MIT */
/* dxgk.pointer */
#ifndef DXGK_LUA_POINTER_H
#define DXGK_LUA_POINTER_H

struct lua_State;

/* Into the table on the stack. */
void lua_pointer_open(struct lua_State *L);

#endif
