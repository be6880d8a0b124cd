/* SPDX-License-Identifier: MIT */
/* Numbers in tables that a workload passes. */
#ifndef DXGK_LUA_MEMBER_H
#define DXGK_LUA_MEMBER_H

struct lua_State;

/* A member of the table at `index`, or `otherwise`. Raises an error if it is no whole number of the
 * range. */
long long lua_member(struct lua_State *L, int index, const char *name, long long otherwise,
                     long long least, long long most);

#endif
