/* SPDX-License-Identifier: MIT */
/* Lua's own library, without what a script could end or stop the process with by mistake. */
#ifndef DXGK_LUA_LIBRARY_H
#define DXGK_LUA_LIBRARY_H

#include <lua.h>

/*
 * Open it. What differs from Lua's manual:
 *
 *   - Functions that open a file by its name refuse FIFOs and sockets: io.open returns nil and the
 *     reason, the others raise it.
 *   - setmetatable refuses finalizers.
 *   - load, loadfile and dofile take source text alone; the interpreter trusts compiled chunks.
 *   - debug has only what reads: no sethook, setlocal, setmetatable, setupvalue, setuservalue,
 *     upvaluejoin, getregistry, getmetatable, setcstacklimit.
 */
void lua_library_open(lua_State *L);

#endif
