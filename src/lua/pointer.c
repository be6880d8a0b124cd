/* SPDX-License-Identifier: MIT */
#include <lauxlib.h>
#include <lua.h>

#include "dxgkhost/display.h"
#include "lua/buffer.h"
#include "lua/member.h"
#include "lua/pointer.h"

#define ERROR_BYTES 500u

/* The table `shape` at the top of the stack. */
static void change_shape(lua_State *L, unsigned adapter)
{
    static const char *const kinds[] = {"color", "masked", "monochrome", NULL};
    const int index = lua_gettop(L);
    struct dxgk_pointer_shape shape = {.kind = DXGK_POINTER_COLOR};
    const struct lua_buffer *pixels;
    struct lua_buffer *copy;
    char error[ERROR_BYTES] = "";
    lua_Integer least;

    luaL_checktype(L, index, LUA_TTABLE);
    if (lua_getfield(L, index, "kind") != LUA_TNIL)
        shape.kind = (enum dxgk_pointer_kind)luaL_checkoption(L, -1, NULL, kinds);
    shape.width = (uint32_t)lua_member(L, index, "width", 0, 1, 1024);
    shape.height = (uint32_t)lua_member(L, index, "height", 0, 1, 1024);
    least = shape.kind == DXGK_POINTER_MONOCHROME ? (shape.width + 7) / 8 : shape.width * 4;
    shape.pitch = (uint32_t)lua_member(L, index, "pitch", least, least, 1 << 16);
    shape.hot_x = (uint32_t)lua_member(L, index, "hot_x", 0, 0, shape.width - 1);
    shape.hot_y = (uint32_t)lua_member(L, index, "hot_y", 0, 0, shape.height - 1);
    (void)lua_getfield(L, index, "pixels");
    pixels = lua_buffer_check(L, -1);
    if (pixels->bytes <
        (size_t)shape.pitch * shape.height * (shape.kind == DXGK_POINTER_MONOCHROME ? 2 : 1))
        (void)luaL_error(L, "dxgk.pointer: the buffer is smaller than the shape");
    copy = lua_buffer_push_own(L, pixels->bytes); /* its memory may be gone */
    lua_buffer_read(L, pixels, 0, copy->data, pixels->bytes);
    shape.pixels = copy->data;
    if (dxgk_client_shape_pointer(adapter, &shape, error, sizeof(error)) != DXGK_OK)
        (void)luaL_error(L, "dxgk.pointer: %s", error);
}

/* pointer{[x =, y = [, visible =, source =, program =],] [shape = {pixels =, width =, height =
 * [, pitch =, hot_x =, hot_y =, kind =]}] [, adapter =]} */
static int pointer(lua_State *L)
{
    struct dxgk_pointer place = {.visible = true};
    char error[ERROR_BYTES] = "";
    unsigned adapter;
    bool moves;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    adapter = (unsigned)lua_member(L, 1, "adapter", 0, 0, 63);
    if (lua_getfield(L, 1, "shape") != LUA_TNIL)
        change_shape(L, adapter);
    lua_settop(L, 1);
    if (lua_getfield(L, 1, "visible") != LUA_TNIL)
        place.visible = lua_toboolean(L, -1);
    if (lua_getfield(L, 1, "program") != LUA_TNIL)
        place.by_program = lua_toboolean(L, -1);
    moves = lua_getfield(L, 1, "x") != LUA_TNIL || !place.visible;
    if (!moves)
        return 0;
    place.x = (int32_t)lua_member(L, 1, "x", 0, -32768, 32768);
    place.y = (int32_t)lua_member(L, 1, "y", 0, -32768, 32768);
    place.source = (unsigned)lua_member(L, 1, "source", 0, 0, 63);
    if (dxgk_client_move_pointer(adapter, &place, error, sizeof(error)) != DXGK_OK)
        return luaL_error(L, "dxgk.pointer: %s", error);
    return 0;
}

void lua_pointer_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"pointer", pointer}, {NULL, NULL}};

    luaL_setfuncs(L, functions, 0);
}
