/* SPDX-License-Identifier: MIT */
/* The end of scripts that compute for ever (KMT-494). */
#ifndef DXGK_LUA_LIMIT_H
#define DXGK_LUA_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include <lua.h>

/* From here on the script is ended by an error, in the line where it is, when it has taken so many
 * seconds of processor time without a step of the machine; 0: never. Called on the script's thread;
 * the coroutine library must be open. One script at a time and host thread. False: there is no
 * timer for it (errno). */
bool lua_limit_begin(lua_State *L, uint64_t seconds);
void lua_limit_end(void);
/* Another client thread runs functions of the script from here on; or it ends, as may the first. */
void lua_limit_enter(lua_State *L);
void lua_limit_leave(void);
/* Raises that error, if it is time: for functions of C that go on and on. */
void lua_limit_check(lua_State *L);

#endif
