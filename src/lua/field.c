/* SPDX-License-Identifier: MIT */
/* Between tables of Lua and argument structures. */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include <lauxlib.h>
#include <lua.h>

#include "lua/buffer.h"
#include "lua/field.h"
#include "lua/nearest.h"
#include "sim/fault.h"

#define MAX_BLOB  ((size_t)16 << 20)
#define MAX_ARRAY 65536

/* ---- in ---- */

static void put_value(lua_State *L, char *at, uint8_t width, const char *name)
{
    uint64_t value;

    if (lua_isboolean(L, -1))
        value = (uint64_t)lua_toboolean(L, -1);
    else if (lua_isinteger(L, -1))
        value = (uint64_t)lua_tointeger(L, -1);
    else
        value = (uint64_t)luaL_error(L, "member %s: integer expected, got %s", name,
                                     luaL_typename(L, -1));
    memcpy(at, &value, width);
}

static void put_blob(lua_State *L, char *args, const struct field *f)
{
    size_t bytes;
    UINT size;
    void *copy;

    if (lua_isstring(L, -1)) {
        const char *text = lua_tolstring(L, -1, &bytes);

        if (bytes > MAX_BLOB)
            luaL_error(L, "member %s: too long", f->name);
        copy = lua_newuserdatauv(L, bytes ? bytes : 1, 0);
        memcpy(copy, text, bytes);
        /* the copy lives as long as the argument table */
        lua_pushvalue(L, -1);
        lua_rawsetp(L, 1, copy);
        lua_pop(L, 1);
    } else {
        struct lua_buffer *b = lua_buffer_check(L, -1);

        copy = b->data;
        bytes = b->bytes;
        if (bytes > UINT32_MAX)
            luaL_error(L, "member %s: too long", f->name);
    }
    size = (UINT)bytes;
    memcpy(args + f->offset, &copy, sizeof(copy));
    memcpy(args + f->size_offset, &size, sizeof(size));
}

/* The elements of the table on top of the stack; leaves the stack as it was. */
static void put_elements(lua_State *L, char *array, UINT count, const struct field *f)
{
    for (UINT i = 0; i < count; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        put_value(L, array + (size_t)i * f->width, f->width, f->name);
        lua_pop(L, 1);
    }
}

static UINT array_length(lua_State *L, const struct field *f, size_t most)
{
    if (lua_type(L, -1) != LUA_TTABLE)
        luaL_error(L, "member %s: array expected, got %s", f->name, luaL_typename(L, -1));
    if (lua_rawlen(L, -1) > most)
        luaL_error(L, "member %s: %I elements, at most %I are possible", f->name,
                   (lua_Integer)lua_rawlen(L, -1), (lua_Integer)most);
    return (UINT)lua_rawlen(L, -1);
}

/* Zeroed bytes that hang on the argument table. */
static char *attach(lua_State *L, size_t bytes)
{
    char *memory = lua_newuserdatauv(L, bytes ? bytes : 1, 0);

    memset(memory, 0, bytes);
    lua_rawsetp(L, 1, memory);
    return memory;
}

static void put_array(lua_State *L, char *args, const struct field *f)
{
    UINT count = array_length(L, f, f->kind == FIELD_INLINE ? f->most : MAX_ARRAY), wanted;
    char *array;

    if (f->kind == FIELD_PARALLEL && f->size_offset != FIELD_NO_SIZE) {
        memcpy(&wanted, args + f->size_offset, sizeof(wanted));
        if (count < wanted)
            luaL_error(L, "member %s: %I elements, but there are %I to go with them", f->name,
                       (lua_Integer)count, (lua_Integer)wanted);
    }
    array = f->kind == FIELD_INLINE ? args + f->offset
                                    : attach(L, (size_t)count * f->width + sizeof(UINT64));
    put_elements(L, array, count, f);
    if (f->kind != FIELD_INLINE)
        memcpy(args + f->offset, &array, sizeof(array));
    if (f->kind != FIELD_PARALLEL)
        memcpy(args + f->size_offset, &count, sizeof(count));
}

static UINT results(const char *args, const struct field *f)
{
    UINT count;

    memcpy(&count, args + f->size_offset, sizeof(count));
    return count ? count : 1;
}

void field_put(lua_State *L, char *args, const struct field *f)
{
    if (f->kind == FIELD_RESULTS) {
        char *array = attach(L, (size_t)results(args, f) * f->width);

        memcpy(args + f->offset, &array, sizeof(array));
        return;
    }
    if (lua_getfield(L, 1, f->name) != LUA_TNIL) {
        switch (f->kind) {
        case FIELD_VALUE:
            put_value(L, args + f->offset, f->width, f->name);
            break;
        case FIELD_BLOB:
            put_blob(L, args, f);
            break;
        case FIELD_ARRAY:
        case FIELD_PARALLEL:
        case FIELD_INLINE:
            put_array(L, args, f);
            break;
        default:
            break;
        }
    }
    lua_pop(L, 1);
}

/* ---- out ---- */

/* Bytes of the memory that hangs on the argument table for this member. */
static size_t attached(lua_State *L, const struct field *f, const void *memory)
{
    size_t bytes;

    if (lua_rawgetp(L, 1, memory) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_getfield(L, 1, f->name);
        bytes = luaL_testudata(L, -1, LUA_BUFFER_TYPE) ? lua_buffer_check(L, -1)->bytes : 0;
    } else {
        bytes = lua_rawlen(L, -1);
    }
    lua_pop(L, 1);
    return bytes;
}

/* The answer of a call, in the memory that it was given: the size may now be what the call wants to
 * have, and the memory of a buffer may be gone. */
static void push_blob(lua_State *L, const struct field *f, const void *pointer, size_t bytes)
{
    size_t most = attached(L, f, pointer);
    luaL_Buffer out;
    char *to;

    bytes = bytes < most ? bytes : most;
    to = luaL_buffinitsize(L, &out, bytes);
    if (!sim_copy_checked(to, pointer, bytes))
        luaL_error(L, "member %s: the memory of this buffer is gone", f->name);
    luaL_pushresultsize(&out, bytes);
}

static void push_results(lua_State *L, const char *args, const struct field *f)
{
    UINT count = results(args, f), most;
    const char *array;

    memcpy(&array, args + f->offset, sizeof(array));
    most = (UINT)(attached(L, f, array) / f->width);
    count = count < most ? count : most;
    lua_createtable(L, (int)count, 0);
    for (UINT i = 0; i < count; i++) {
        uint64_t value = 0;

        memcpy(&value, array + (size_t)i * f->width, f->width);
        lua_pushinteger(L, (lua_Integer)value);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

void field_get(lua_State *L, const char *args, const struct field *f)
{
    uint64_t value = 0;
    void *pointer;
    UINT size;

    switch (f->kind) {
    case FIELD_VALUE:
        memcpy(&value, args + f->offset, f->width);
        lua_pushinteger(L, (lua_Integer)value);
        break;
    case FIELD_BLOB:
    case FIELD_MEMORY:
        memcpy(&pointer, args + f->offset, sizeof(pointer));
        if (f->size_offset == FIELD_NO_SIZE)
            size = 1;
        else
            memcpy(&size, args + f->size_offset, sizeof(size));
        if (!pointer)
            return;
        if (f->kind == FIELD_BLOB)
            push_blob(L, f, pointer, size);
        else
            lua_buffer_push_view(L, pointer, (size_t)size * f->width);
        break;
    case FIELD_RESULTS:
        push_results(L, args, f);
        break;
    default:
        return;
    }
    lua_setfield(L, -2, f->name);
}

/* ---- names ---- */

static const char *name_at(const struct field *fields, const char *const *names, size_t i)
{
    return fields ? fields[i].name : names[i];
}

static bool known(const char *name, const struct field *fields, const char *const *names,
                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, name_at(fields, names, i)) == 0)
            return true;
    return false;
}

static void check(lua_State *L, int index, const char *call, const struct field *fields,
                  const char *const *names, size_t count)
{
    index = lua_absindex(L, index);
    lua_pushnil(L);
    while (lua_next(L, index)) {
        struct nearest nearest = {.name = NULL};

        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            luaL_error(L, "%s: members have names, not a %s", call, luaL_typename(L, -1));
        nearest.name = lua_tostring(L, -1);
        if (known(nearest.name, fields, names, count))
            continue;
        for (size_t i = 0; i < count; i++)
            nearest_offer(&nearest, name_at(fields, names, i));
        luaL_error(L, "%s has no member %s; the nearest is %s", call, nearest.name, nearest.best);
    }
}

void field_check(lua_State *L, int index, const char *call, const struct field *fields, size_t count)
{
    check(L, index, call, fields, NULL, count);
}

void field_check_names(lua_State *L, int index, const char *call, const char *const *names,
                       size_t count)
{
    check(L, index, call, NULL, names, count);
}
