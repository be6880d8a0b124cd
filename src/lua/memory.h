/* SPDX-License-Identifier: MIT */
/* How much memory a script may hold (KMT-495). */
#ifndef DXGK_LUA_MEMORY_H
#define DXGK_LUA_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lua.h>

struct lua_memory {
    uint64_t limit; /* bytes; 0: any number */
    uint64_t held;
    uint64_t refused; /* bytes of the last request beyond the limit; 0: there was none */
};

/* A Lua state with its libraries closed, whose blocks count in `memory`, which must outlive it. A
 * request beyond the limit fails as if memory had run out: Lua collects garbage, asks again, and
 * raises "not enough memory". NULL: out of memory. */
lua_State *lua_memory_open(struct lua_memory *memory);
/* What to append to an error message that tells of missing memory, if the limit is the cause; else
 * "". */
const char *lua_memory_reason(const struct lua_memory *memory, const char *message, char *text,
                              size_t bytes);

#endif
