/* SPDX-License-Identifier: MIT */
/*
 * Constants: a global that the workload did not set is looked for among the names of the headers. A
 * name that looks like one of theirs and is none raises an error: as nil it would pass as "member
 * not given".
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include <lauxlib.h>
#include <lua.h>

#include "lua/constants.h"
#include "lua/nearest.h"
#include "util/array.h"

struct constant {
    const char *name;
    int64_t value;
};

#define NUMBER(name) {#name, (int64_t)(name)},
/* as the member `code` of an error has it */
#define STATUS(name) {#name, (int64_t)(uint32_t)(name)},
static const struct constant constants[] = {
#include "lua/constants.inc"
};

static int compare(const void *key, const void *element)
{
    const struct constant *constant = element;

    return strcmp(key, constant->name);
}

static bool looks_like_one(const char *name)
{
    static const char *const prefix[] = {"D3DDDI", "D3DKMDT_",    "D3DKMT_",
                                         "DXGK_",  "KMTQAITYPE_", "STATUS_"};

    for (size_t i = 0; i < ARRAY_COUNT(prefix); i++)
        if (strncmp(name, prefix[i], strlen(prefix[i])) == 0)
            return true;
    return false;
}

static int look_up(lua_State *L)
{
    const struct constant *found;
    struct nearest nearest;

    if (lua_type(L, 2) != LUA_TSTRING)
        return 0;
    nearest = (struct nearest){.name = lua_tostring(L, 2)};
    found = bsearch(nearest.name, constants, ARRAY_COUNT(constants), sizeof(constants[0]), compare);
    if (found) {
        lua_pushinteger(L, found->value);
        return 1;
    }
    if (!looks_like_one(nearest.name))
        return 0;
    for (size_t i = 0; i < ARRAY_COUNT(constants); i++)
        nearest_offer(&nearest, constants[i].name);
    return luaL_error(L, "no constant is named %s; the nearest is %s", nearest.name, nearest.best);
}

void lua_constants_open(lua_State *L)
{
    lua_pushglobaltable(L);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, look_up);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}
