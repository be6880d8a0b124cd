/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "dxgkhost/display.h"
#include "lua/buffer.h"
#include "lua/display.h"
#include "lua/field.h"
#include "lua/lua_workload.h"
#include "lua/member.h"

#define ERROR_BYTES 500u

static struct dxgk_machine *machine_of(lua_State *L)
{
    struct lua_workload *workload;

    memcpy(&workload, lua_getextraspace(L), sizeof(void *));
    return workload->machine;
}

/* ---- memory of the C library ---- */

#define BOX "dxgk.box"

static int free_box(lua_State *L)
{
    void **box = luaL_checkudata(L, 1, BOX);

    free(*box);
    *box = NULL;
    return 0;
}

/* On the stack: what is put there is freed at last, whatever is raised until then. */
static void **push_box(lua_State *L)
{
    void **box = lua_newuserdatauv(L, sizeof(*box), 0);

    *box = NULL;
    luaL_setmetatable(L, BOX);
    return box;
}

static void open_box(lua_State *L)
{
    if (luaL_newmetatable(L, BOX)) {
        lua_pushcfunction(L, free_box);
        lua_setfield(L, -2, "__gc");
    }
    lua_pop(L, 1);
}

/* ---- arguments ---- */

/* A rate in Hz, to thousandths of one. */
static void rate(lua_State *L, int index, struct dxgk_display_mode *wish)
{
    lua_Number hz = 0;
    int number = 1;

    if (lua_getfield(L, index, "hz") != LUA_TNIL)
        hz = lua_tonumberx(L, -1, &number);
    lua_pop(L, 1);
    if (!number || !(hz >= 0 && hz <= 1000))
        (void)luaL_error(L, "hz is to be a number from 0 to 1000");
    wish->hz_numerator = (uint32_t)(hz * 1000 + 0.5);
    wish->hz_denominator = wish->hz_numerator ? 1000 : 0;
}

static void push_flag(lua_State *L, const char *name, bool set)
{
    if (!set)
        return;
    lua_pushboolean(L, true);
    lua_setfield(L, -2, name);
}

/* The picture is freed. */
static int push_picture(lua_State *L, const struct dxgk_picture *picture)
{
    struct lua_buffer *pixels;
    void **box = push_box(L);

    *box = picture->rgb;
    if (!picture->rgb)
        return 0;
    lua_createtable(L, 0, 5);
    pixels = lua_buffer_push_own(L, (size_t)picture->width * picture->height * 4);
    for (size_t i = 0; i < (size_t)picture->width * picture->height; i++) {
        pixels->data[4 * i] = picture->rgb[3 * i + 2];
        pixels->data[4 * i + 1] = picture->rgb[3 * i + 1];
        pixels->data[4 * i + 2] = picture->rgb[3 * i];
        pixels->data[4 * i + 3] = 0xFF;
    }
    lua_setfield(L, -2, "pixels");
    lua_pushinteger(L, picture->width);
    lua_setfield(L, -2, "width");
    lua_pushinteger(L, picture->height);
    lua_setfield(L, -2, "height");
    lua_pushinteger(L, picture->checksum);
    lua_setfield(L, -2, "checksum");
    push_flag(L, "black", picture->black);
    push_flag(L, "inferred", picture->inferred);
    push_flag(L, "stale", picture->stale);
    free(*box);
    *box = NULL;
    return 1;
}

/* screen([source [, adapter]]) -> {width, height, pixels, checksum [, black, inferred, stale]};
 * nil: no signal */
static int screen(lua_State *L)
{
    const lua_Integer source = luaL_optinteger(L, 1, 0), adapter = luaL_optinteger(L, 2, 0);
    struct dxgk_picture picture;
    char error[ERROR_BYTES] = "";

    luaL_argcheck(L, source >= 0 && source < 64, 1, "sources are counted from 0");
    luaL_argcheck(L, adapter >= 0 && adapter < 64, 2, "adapters are counted from 0");
    if (dxgk_machine_capture(machine_of(L), (unsigned)adapter, (unsigned)source, &picture, error,
                             sizeof(error)) != DXGK_OK)
        return luaL_error(L, "dxgk.screen: %s", error);
    return push_picture(L, &picture);
}

/* target_screen(target [, adapter]): the same of a target */
static int target_screen(lua_State *L)
{
    const lua_Integer target = luaL_checkinteger(L, 1), adapter = luaL_optinteger(L, 2, 0);
    struct dxgk_picture picture;
    char error[ERROR_BYTES] = "";

    luaL_argcheck(L, target >= 0 && target <= UINT32_MAX, 1, "a target is a number of 32 bits");
    luaL_argcheck(L, adapter >= 0 && adapter < 64, 2, "adapters are counted from 0");
    if (dxgk_machine_capture_target(machine_of(L), (unsigned)adapter, (uint32_t)target, &picture,
                                    error, sizeof(error)) != DXGK_OK)
        return luaL_error(L, "dxgk.target_screen: %s", error);
    return push_picture(L, &picture);
}

/* draw{pixels =, width =, height = [, x =, y =, pitch =, source =, adapter =, wait = false]}, with
 * pixels as dxgk.image.read gives them */
static int draw(lua_State *L)
{
    static const char *const names[] = {"pixels", "width",  "height",  "x",   "y",
                                        "pitch",  "source", "adapter", "wait"};
    struct dxgk_drawing drawing;
    const struct lua_buffer *pixels;
    char error[ERROR_BYTES] = "";
    unsigned source, adapter;
    bool settle = true;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    field_check_names(L, 1, "dxgk.draw", names, sizeof(names) / sizeof(names[0]));
    drawing.width = (uint32_t)lua_member(L, 1, "width", 0, 1, 32768);
    drawing.height = (uint32_t)lua_member(L, 1, "height", 0, 1, 32768);
    drawing.x = (int32_t)lua_member(L, 1, "x", 0, -32768, 32768);
    drawing.y = (int32_t)lua_member(L, 1, "y", 0, -32768, 32768);
    drawing.pitch = (size_t)lua_member(L, 1, "pitch", (lua_Integer)drawing.width * 4,
                                       (lua_Integer)drawing.width * 4, 1 << 24);
    source = (unsigned)lua_member(L, 1, "source", 0, 0, 63);
    adapter = (unsigned)lua_member(L, 1, "adapter", 0, 0, 63);
    if (lua_getfield(L, 1, "wait") != LUA_TNIL) {
        if (!lua_isboolean(L, -1))
            return luaL_error(L, "dxgk.draw: wait is to be true or false");
        settle = lua_toboolean(L, -1);
    }
    (void)lua_getfield(L, 1, "pixels");
    pixels = lua_buffer_check(L, -1);
    if (pixels->bytes < (drawing.height - 1) * drawing.pitch + (size_t)drawing.width * 4)
        return luaL_error(L, "dxgk.draw: the buffer is smaller than the picture");
    if (!pixels->owned) { /* its memory may be gone */
        struct lua_buffer *copy = lua_buffer_push_own(L, pixels->bytes);

        lua_buffer_read(L, pixels, 0, copy->data, pixels->bytes);
        pixels = copy;
    }
    drawing.pixels = pixels->data;
    if (dxgk_client_draw(adapter, source, &drawing, settle, error, sizeof(error)) != DXGK_OK)
        return luaL_error(L, "dxgk.draw: %s", error);
    return 0;
}

static void push_vsyncs(lua_State *L, const struct dxgk_display *display)
{
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, (lua_Integer)display->vsyncs_reported);
    lua_setfield(L, -2, "reported");
    lua_pushinteger(L, (lua_Integer)display->vsyncs_simulated);
    lua_setfield(L, -2, "simulated");
    lua_pushinteger(L, (lua_Integer)display->vsyncs_substituted);
    lua_setfield(L, -2, "substituted");
    lua_setfield(L, -2, "vsyncs");
}

static void push_mode(lua_State *L, const struct dxgk_display *display)
{
    const struct {
        const char *name;
        lua_Integer value;
    } members[] = {{"width", display->mode.width},
                   {"height", display->mode.height},
                   {"rotation", (lua_Integer)display->mode.quarter_turns * 90},
                   {"canvas_width", display->canvas_width},
                   {"canvas_height", display->canvas_height},
                   {"target", display->target},
                   {"frames", (lua_Integer)display->frames}};

    lua_createtable(L, 0, 10);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        lua_pushinteger(L, members[i].value);
        lua_setfield(L, -2, members[i].name);
    }
    lua_pushboolean(L, display->visible);
    lua_setfield(L, -2, "visible");
    push_vsyncs(L, display);
    if (!display->mode.hz_denominator)
        return;
    lua_pushnumber(L, (lua_Number)display->mode.hz_numerator / display->mode.hz_denominator);
    lua_setfield(L, -2, "hz");
}

/* mode([source [, adapter]]): a table; nil: it is not lit. mode{width =, height = [, hz =,
 * rotation =, source =, adapter =]}: change it */
static int mode(lua_State *L)
{
    static const char *const names[] = {"width",  "height",  "hz",    "rotation",
                                        "source", "adapter", "target"};
    struct dxgk_display_mode wish;
    struct dxgk_display display;
    char error[ERROR_BYTES] = "";
    lua_Integer rotation;
    unsigned source, adapter;

    if (!lua_istable(L, 1)) {
        const lua_Integer of = luaL_optinteger(L, 1, 0), on = luaL_optinteger(L, 2, 0);

        luaL_argcheck(L, of >= 0 && of < 64, 1, "sources are counted from 0");
        luaL_argcheck(L, on >= 0 && on < 64, 2, "adapters are counted from 0");
        if (!dxgk_machine_display(machine_of(L), (unsigned)on, (unsigned)of, &display))
            return luaL_error(L, "dxgk.mode: there is no such source");
        if (!display.lit)
            return 0;
        push_mode(L, &display);
        return 1;
    }
    lua_settop(L, 1);
    field_check_names(L, 1, "dxgk.mode", names, sizeof(names) / sizeof(names[0]));
    wish.width = (uint32_t)lua_member(L, 1, "width", 0, 1, 32768);
    wish.height = (uint32_t)lua_member(L, 1, "height", 0, 1, 32768);
    rotation = lua_member(L, 1, "rotation", 0, 0, 270);
    source = (unsigned)lua_member(L, 1, "source", 0, 0, 63);
    adapter = (unsigned)lua_member(L, 1, "adapter", 0, 0, 63);
    wish.on_target = lua_getfield(L, 1, "target") != LUA_TNIL;
    lua_pop(L, 1);
    wish.target = (uint32_t)lua_member(L, 1, "target", 0, 0, UINT32_MAX);
    if (rotation % 90)
        return luaL_error(L, "dxgk.mode: a rotation by %I degrees", rotation);
    rate(L, 1, &wish);
    wish.quarter_turns = (unsigned)(rotation / 90);
    if (dxgk_client_set_mode(adapter, source, &wish, error, sizeof(error)) != DXGK_OK)
        return luaL_error(L, "dxgk.mode: %s", error);
    return 0;
}

static void push_listed(lua_State *L, const struct dxgk_listed_mode *listed)
{
    lua_createtable(L, 0, 5);
    lua_pushinteger(L, listed->mode.width);
    lua_setfield(L, -2, "width");
    lua_pushinteger(L, listed->mode.height);
    lua_setfield(L, -2, "height");
    lua_pushinteger(L, listed->target);
    lua_setfield(L, -2, "target");
    if (listed->mode.hz_denominator) {
        lua_pushnumber(L, (lua_Number)listed->mode.hz_numerator / listed->mode.hz_denominator);
        lua_setfield(L, -2, "hz");
    }
    lua_createtable(L, 4, 0);
    for (unsigned turn = 0, n = 0; turn < 4; turn++) {
        if (!(listed->turns & 1u << turn))
            continue;
        lua_pushinteger(L, (lua_Integer)turn * 90);
        lua_rawseti(L, -2, ++n);
    }
    lua_setfield(L, -2, "rotations");
}

/* modes([source [, adapter]]): an array of what mode{} takes, with target and rotations; nil: the
 * source is dark */
static int modes(lua_State *L)
{
    const lua_Integer source = luaL_optinteger(L, 1, 0), adapter = luaL_optinteger(L, 2, 0);
    struct dxgk_listed_mode *list;
    char error[ERROR_BYTES] = "";
    size_t count;
    void **box;

    luaL_argcheck(L, source >= 0 && source < 64, 1, "sources are counted from 0");
    luaL_argcheck(L, adapter >= 0 && adapter < 64, 2, "adapters are counted from 0");
    box = push_box(L);
    lua_createtable(L, 32, 0);
    if (dxgk_client_list_modes((unsigned)adapter, (unsigned)source, &list, &count, error,
                               sizeof(error)) != DXGK_OK)
        return luaL_error(L, "dxgk.modes: %s", error);
    *box = list;
    if (!list)
        return 0;
    for (size_t i = 0; i < count; i++) {
        push_listed(L, &list[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    free(*box);
    *box = NULL;
    return 1;
}

/* display(target, on [, adapter]): turn the display on an output on or off */
static int power(lua_State *L)
{
    const lua_Integer target = luaL_checkinteger(L, 1), adapter = luaL_optinteger(L, 3, 0);
    char error[ERROR_BYTES] = "";

    luaL_checktype(L, 2, LUA_TBOOLEAN);
    luaL_argcheck(L, target >= 0 && target <= UINT32_MAX, 1, "a target is a number of 32 bits");
    luaL_argcheck(L, adapter >= 0 && adapter < 64, 3, "adapters are counted from 0");
    if (dxgk_client_display_power((unsigned)adapter, (uint32_t)target, lua_toboolean(L, 2), error,
                                  sizeof(error)) != DXGK_OK)
        return luaL_error(L, "dxgk.display: %s", error);
    return 0;
}

/* topology(kind [, adapter]): "clone": all displays show the same; "extend": each one its own */
static int topology(lua_State *L)
{
    static const char *const kinds[] = {"extend", "clone", NULL};
    const enum dxgk_topology kind = luaL_checkoption(L, 1, NULL, kinds) ? DXGK_TOPOLOGY_CLONE
                                                                        : DXGK_TOPOLOGY_EXTEND;
    const lua_Integer adapter = luaL_optinteger(L, 2, 0);
    char error[ERROR_BYTES] = "";

    luaL_argcheck(L, adapter >= 0 && adapter < 64, 2, "adapters are counted from 0");
    if (dxgk_client_set_topology((unsigned)adapter, kind, error, sizeof(error)) != DXGK_OK)
        return luaL_error(L, "dxgk.topology: %s", error);
    return 0;
}

/* force(target, on [, adapter]): drive an analog output without a monitor, or no more */
static int force(lua_State *L)
{
    const lua_Integer target = luaL_checkinteger(L, 1), adapter = luaL_optinteger(L, 3, 0);
    char error[ERROR_BYTES] = "";

    luaL_checktype(L, 2, LUA_TBOOLEAN);
    luaL_argcheck(L, target >= 0 && target <= UINT32_MAX, 1, "a target is a number of 32 bits");
    luaL_argcheck(L, adapter >= 0 && adapter < 64, 3, "adapters are counted from 0");
    if (dxgk_client_force_display((unsigned)adapter, (uint32_t)target, lua_toboolean(L, 2), error,
                                  sizeof(error)) != DXGK_OK)
        return luaL_error(L, "dxgk.force: %s", error);
    return 0;
}

/* monitor(what [, output [, device]]): what is plugged in from now on: a list of modes in a string,
 * an EDID in a buffer, or false for none */
static int monitor(lua_State *L)
{
    const lua_Integer output = luaL_optinteger(L, 2, 0), device = luaL_optinteger(L, 3, 0);
    struct dxgk_monitor wanted = {.output = (unsigned)output, .device = (unsigned)device};
    char error[ERROR_BYTES] = "";
    void **box;

    luaL_argcheck(L, output >= 0 && output < 256, 2, "outputs are counted from 0");
    luaL_argcheck(L, device >= 0 && device < 64, 3, "devices are counted from 0");
    box = push_box(L);
    if (lua_type(L, 1) == LUA_TSTRING) {
        wanted.edid = *box = dxgk_edid_of_modes(lua_tostring(L, 1), &wanted.bytes, error,
                                                sizeof(error));
        if (!wanted.edid)
            return luaL_error(L, "dxgk.monitor: %s", error);
    } else if (!lua_isboolean(L, 1) || lua_toboolean(L, 1)) {
        const struct lua_buffer *buffer = lua_buffer_check(L, 1);

        wanted.bytes = buffer->bytes;
        wanted.edid = *box = malloc(buffer->bytes + 1);
        if (!*box)
            return luaL_error(L, "dxgk.monitor: out of memory");
        lua_buffer_read(L, buffer, 0, *box, buffer->bytes);
    }
    if (dxgk_machine_set_monitor(machine_of(L), &wanted, error, sizeof(error)) != DXGK_OK)
        return luaL_error(L, "dxgk.monitor: %s", error);
    return 0;
}

/* scroll{x =, y =, width =, height =, by_x =, by_y = [, source =, adapter =, wait = false]} */
static int scroll(lua_State *L)
{
    static const char *const names[] = {"x",    "y",      "width",   "height", "by_x",
                                        "by_y", "source", "adapter", "wait"};
    struct dxgk_scroll wanted;
    char error[ERROR_BYTES] = "";
    unsigned source, adapter;
    bool settle = true;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    field_check_names(L, 1, "dxgk.scroll", names, sizeof(names) / sizeof(names[0]));
    wanted.x = (int32_t)lua_member(L, 1, "x", 0, -32768, 32768);
    wanted.y = (int32_t)lua_member(L, 1, "y", 0, -32768, 32768);
    wanted.width = (uint32_t)lua_member(L, 1, "width", 0, 1, 32768);
    wanted.height = (uint32_t)lua_member(L, 1, "height", 0, 1, 32768);
    wanted.by_x = (int32_t)lua_member(L, 1, "by_x", 0, -32768, 32768);
    wanted.by_y = (int32_t)lua_member(L, 1, "by_y", 0, -32768, 32768);
    source = (unsigned)lua_member(L, 1, "source", 0, 0, 63);
    adapter = (unsigned)lua_member(L, 1, "adapter", 0, 0, 63);
    if (lua_getfield(L, 1, "wait") != LUA_TNIL) {
        if (!lua_isboolean(L, -1))
            return luaL_error(L, "dxgk.scroll: wait is to be true or false");
        settle = lua_toboolean(L, -1);
    }
    if (dxgk_client_scroll(adapter, source, &wanted, settle, error, sizeof(error)) != DXGK_OK)
        return luaL_error(L, "dxgk.scroll: %s", error);
    return 0;
}

/* redraw([source [, adapter]]) */
static int redraw(lua_State *L)
{
    const lua_Integer source = luaL_optinteger(L, 1, 0), adapter = luaL_optinteger(L, 2, 0);
    char error[ERROR_BYTES] = "";

    luaL_argcheck(L, source >= 0 && source < 64, 1, "sources are counted from 0");
    luaL_argcheck(L, adapter >= 0 && adapter < 64, 2, "adapters are counted from 0");
    if (dxgk_client_redraw((unsigned)adapter, (unsigned)source, error, sizeof(error)) != DXGK_OK)
        return luaL_error(L, "dxgk.redraw: %s", error);
    return 0;
}

/* entries([adapter]) -> the names of those that the last change has called */
static int entries(lua_State *L)
{
    const lua_Integer adapter = luaL_optinteger(L, 1, 0);
    const char *name;

    luaL_argcheck(L, adapter >= 0 && adapter < 64, 1, "adapters are counted from 0");
    lua_newtable(L);
    for (size_t i = 0; (name = dxgk_client_entry_called((unsigned)adapter, i)) != NULL; i++) {
        lua_pushstring(L, name);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

void lua_display_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"screen", screen},
                                         {"draw", draw},
                                         {"mode", mode},
                                         {"modes", modes},
                                         {"display", power},
                                         {"monitor", monitor},
                                         {"topology", topology},
                                         {"force", force},
                                         {"scroll", scroll},
                                         {"redraw", redraw},
                                         {"entries", entries},
                                         {"target_screen", target_screen},
                                         {NULL, NULL}};

    open_box(L);
    luaL_setfuncs(L, functions, 0);
}
