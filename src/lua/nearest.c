/* SPDX-License-Identifier: MIT */
/*
 * The distance between two names: how many characters are to be inserted, removed, replaced or
 * exchanged with the next one. A difference of case alone counts as nothing, so that hdevice is
 * nearest to hDevice.
 */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "lua/nearest.h"

#define LONGEST 63u /* characters that are compared */

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned distance(const char *a, const char *b)
{
    unsigned row[3][LONGEST + 1];
    unsigned *before = row[0], *last = row[1], *now = row[2];
    size_t rows = strnlen(a, LONGEST), columns = strnlen(b, LONGEST);

    for (unsigned j = 0; j <= columns; j++)
        last[j] = j;
    for (unsigned i = 1; i <= rows; i++) {
        unsigned *turn = before;

        now[0] = i;
        for (unsigned j = 1; j <= columns; j++) {
            unsigned best = last[j - 1] + !same(a[i - 1], b[j - 1]);

            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]) &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        before = last;
        last = now;
        now = turn;
    }
    return last[columns];
}

void nearest_offer(struct nearest *nearest, const char *right)
{
    unsigned far = distance(nearest->name, right);

    if (nearest->best && (far > nearest->distance ||
                          (far == nearest->distance && strcmp(right, nearest->best) >= 0)))
        return;
    nearest->best = right;
    nearest->distance = far;
}

/* table, name */
static int unknown(lua_State *L)
{
    struct nearest nearest = {.name = luaL_checkstring(L, 2)};

    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pop(L, 1);
        nearest_offer(&nearest, lua_tostring(L, -1));
    }
    return luaL_error(L, "%s has no %s; the nearest is %s", lua_tostring(L, lua_upvalueindex(1)),
                      nearest.name, nearest.best);
}

void nearest_for_table(lua_State *L, const char *name)
{
    lua_createtable(L, 0, 1);
    lua_pushstring(L, name);
    lua_pushcclosure(L, unknown, 1);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}
