/* SPDX-License-Identifier: MIT */
/* How far a picture is from another one (PRES-320). */
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "images/png_file.h"
#include "lua/buffer.h"
#include "lua/field.h"
#include "lua/image.h"
#include "lua/member.h"
#include "screens/picture.h"
#include "screens/picture_compare.h"

#define WHY_BYTES 300u

/* Freed with the garbage, whatever is raised before. */
#define PICTURE "dxgk.picture"

static int free_picture(lua_State *L)
{
    picture_free(luaL_checkudata(L, 1, PICTURE));
    return 0;
}

static struct picture *push_picture(lua_State *L)
{
    struct picture *picture = lua_newuserdatauv(L, sizeof(*picture), 0);

    memset(picture, 0, sizeof(*picture));
    if (luaL_newmetatable(L, PICTURE)) {
        lua_pushcfunction(L, free_picture);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return picture;
}

/* {width =, height =, pixels =} on the stack, as dxgk.screen and dxgk.image.read give them. */
static void from_table(lua_State *L, int index, struct picture *picture)
{
    const uint32_t width = (uint32_t)lua_member(L, index, "width", 0, 1, PICTURE_MOST_SIDE);
    const uint32_t height = (uint32_t)lua_member(L, index, "height", 0, 1, PICTURE_MOST_SIDE);
    const struct lua_buffer *pixels;
    uint8_t *line;

    (void)lua_getfield(L, index, "pixels");
    pixels = lua_buffer_check(L, -1);
    if (pixels->bytes < (size_t)width * height * 4)
        luaL_error(L, "dxgk.image.compare: the buffer is smaller than the picture");
    line = lua_newuserdatauv(L, (size_t)width * 4, 0);
    if (!picture_make(picture, width, height))
        luaL_error(L, "dxgk.image.compare: out of memory");
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *to = picture_at(picture, 0, y);

        lua_buffer_read(L, pixels, (size_t)y * width * 4, line, (size_t)width * 4);
        for (uint32_t x = 0; x < width; x++)
            for (unsigned channel = 0; channel < 3; channel++)
                to[x * PICTURE_STEP + channel] = line[x * 4 + 2 - channel];
    }
    lua_pop(L, 2);
}

/* A picture, or the path of a PNG. */
static struct picture *take(lua_State *L, int table, const char *name)
{
    struct picture *picture = push_picture(L);
    char why[WHY_BYTES] = "";

    if (lua_getfield(L, table, name) == LUA_TSTRING) {
        if (!png_read(picture, lua_tostring(L, -1), why, sizeof(why)))
            luaL_error(L, "%s: %s", lua_tostring(L, -1), why);
    } else {
        if (!lua_istable(L, -1))
            luaL_error(L, "dxgk.image.compare: %s is to be a picture or the path of a PNG", name);
        from_table(L, lua_gettop(L), picture);
    }
    lua_pop(L, 1);
    return picture;
}

static void write_difference(lua_State *L, const struct picture *picture,
                             const struct picture *reference, uint8_t tolerance)
{
    struct picture *shown;
    char why[WHY_BYTES] = "";

    if (lua_getfield(L, 1, "difference") == LUA_TNIL)
        return;
    shown = push_picture(L);
    if (!picture_show_difference(shown, picture, reference, tolerance))
        luaL_error(L, "dxgk.image.compare: out of memory");
    if (!png_write(luaL_checkstring(L, -2), shown, why, sizeof(why)))
        luaL_error(L, "%s: %s", lua_tostring(L, -2), why);
    picture_free(shown);
}

static void push_number(lua_State *L, const char *name, lua_Integer value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

int lua_image_compare(lua_State *L)
{
    static const char *const names[] = {"picture", "reference", "tolerance", "allowed",
                                        "difference"};
    struct picture *picture, *reference;
    struct picture_difference d;
    lua_Integer tolerance, allowed;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    field_check_names(L, 1, "dxgk.image.compare", names, sizeof(names) / sizeof(names[0]));
    tolerance = lua_member(L, 1, "tolerance", 0, 0, 255);
    allowed = lua_member(L, 1, "allowed", 0, 0, INT64_MAX);
    picture = take(L, 1, "picture");
    reference = take(L, 1, "reference");
    d = picture_compare(picture, reference, (uint8_t)tolerance);
    write_difference(L, picture, reference, (uint8_t)tolerance);
    picture_free(picture);
    picture_free(reference);
    lua_createtable(L, 0, 8);
    lua_pushboolean(L, picture_matches(&d, (uint64_t)allowed));
    lua_setfield(L, -2, "matches");
    lua_pushboolean(L, d.same_size);
    lua_setfield(L, -2, "same_size");
    push_number(L, "count", (lua_Integer)d.count);
    push_number(L, "largest", d.largest);
    push_number(L, "left", d.box.left);
    push_number(L, "top", d.box.top);
    push_number(L, "right", d.box.right);
    push_number(L, "bottom", d.box.bottom);
    return 1;
}
