/* SPDX-License-Identifier: MIT */
#include "lua/library.h"

#include <errno.h>
#include <sys/stat.h>

#include <lauxlib.h>
#include <lualib.h>

#include "lua/limit.h"
#include "util/array.h"

/* ---- files ---- */

/* What the first argument names, if it blocks whoever opens it until there is another end: here,
 * the whole machine. */
static const char *blocks(lua_State *L)
{
    const char *path = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : NULL;
    struct stat is;

    if (!path || stat(path, &is) != 0)
        return NULL;
    return S_ISFIFO(is.st_mode) ? "a FIFO" : S_ISSOCK(is.st_mode) ? "a socket" : NULL;
}

/* The original is the upvalue. */
static int call(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int open(lua_State *L)
{
    const char *what = blocks(L);

    if (!what)
        return call(L);
    luaL_pushfail(L);
    lua_pushfstring(L, "%s: it is %s, and opening it would stop the machine", lua_tostring(L, 1),
                    what);
    lua_pushinteger(L, EINVAL);
    return 3;
}

static int raise(lua_State *L)
{
    const char *what = blocks(L);

    if (!what)
        return call(L);
    return luaL_error(L, "%s: it is %s, and opening it would stop the machine", lua_tostring(L, 1),
                      what);
}

/* ---- compiled chunks ---- */

/* The function that gives the next piece of a chunk is the upvalue. One of C meets no hook. */
static int read_piece(lua_State *L)
{
    lua_limit_check(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_call(L, 0, 1);
    return 1;
}

/* load(chunk, name, mode, environment) */
static int load_text(lua_State *L)
{
    if (lua_gettop(L) < 3)
        lua_settop(L, 3);
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    if (lua_isfunction(L, 1)) {
        lua_pushvalue(L, 1);
        lua_pushcclosure(L, read_piece, 1);
        lua_replace(L, 1);
    }
    return call(L);
}

/* loadfile(name, mode, environment) */
static int load_file(lua_State *L)
{
    if (lua_gettop(L) < 2)
        lua_settop(L, 2);
    lua_pushliteral(L, "t");
    lua_replace(L, 2);
    return raise(L);
}

static int do_file(lua_State *L)
{
    const char *what = blocks(L), *path = luaL_optstring(L, 1, NULL);

    if (what)
        return raise(L);
    lua_settop(L, 1);
    if (luaL_loadfilex(L, path, "t") != LUA_OK)
        return lua_error(L);
    lua_call(L, 0, LUA_MULTRET);
    return lua_gettop(L) - 1;
}

/* ---- finalizers ---- */

/* Lua calls no hook in a finalizer, so nothing could end one that loops (KMT-494). */
static int set_metatable(lua_State *L)
{
    if (lua_istable(L, 2)) {
        lua_pushliteral(L, "__gc");
        if (lua_rawget(L, 2) != LUA_TNIL)
            return luaL_argerror(L, 2, "finalizers (__gc) are not run here; __close is");
        lua_pop(L, 1);
    }
    return call(L);
}

/* Files have finalizers: their metatable stays Lua's own. */
static void hide_metatable_of_files(lua_State *L)
{
    luaL_getmetatable(L, LUA_FILEHANDLE);
    lua_pushliteral(L, LUA_FILEHANDLE);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

/* ---- the library ---- */

/* In the table on top of the stack. */
static void replace(lua_State *L, const char *name, lua_CFunction function)
{
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
}

void lua_library_open(lua_State *L)
{
    static const char *const writing[] = {"sethook",     "setlocal",       "setmetatable",
                                          "setupvalue",  "setuservalue",   "upvaluejoin",
                                          "getregistry", "setcstacklimit", "getmetatable"};

    luaL_openlibs(L);
    lua_getglobal(L, "io");
    replace(L, "open", open);
    replace(L, "lines", raise);
    replace(L, "input", raise);
    replace(L, "output", raise);
    lua_getglobal(L, "debug");
    for (size_t i = 0; i < ARRAY_COUNT(writing); i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, writing[i]);
    }
    lua_pushglobaltable(L);
    replace(L, "dofile", do_file);
    replace(L, "load", load_text);
    replace(L, "loadfile", load_file);
    replace(L, "setmetatable", set_metatable);
    hide_metatable_of_files(L);
    lua_pop(L, 3);
}
