/* SPDX-License-Identifier: MIT */
/* The name that a misspelt one most likely means. */
#ifndef DXGK_LUA_NEAREST_H
#define DXGK_LUA_NEAREST_H

#include <lua.h>

/* Begin with {.name = what was written}, offer the right names one by one; best is NULL if there
 * was none. Of equally near ones the first by the alphabet counts, whatever the order. */
struct nearest {
    const char *name;
    const char *best; /* as it was offered */
    unsigned distance;
};

void nearest_offer(struct nearest *nearest, const char *right);

/* Reading what the table on top of the stack does not have raises an error that tells the nearest
 * of its names. They are all strings. */
void nearest_for_table(lua_State *L, const char *name);

#endif
