/* SPDX-License-Identifier: MIT */
/* dxgk.set: the options of --set, and which of them a workload has not asked for. */
#ifndef DXGK_LUA_SET_H
#define DXGK_LUA_SET_H

#include <stdbool.h>
#include <stddef.h>

#include <lua.h>

struct lua_workload;

/* Pushes dxgk.set. */
void lua_set_open(lua_State *L, const struct lua_workload *workload);
/* An option of --set that nobody asked for; false: there is none. */
bool lua_set_unread(lua_State *L, const struct lua_workload *workload, char *key, size_t size);

#endif
