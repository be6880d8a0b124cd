/* SPDX-License-Identifier: MIT */
/* Members of an argument structure, and how a table of Lua becomes the structure and comes back. */
#ifndef DXGK_LUA_FIELD_H
#define DXGK_LUA_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include <lua.h>

enum field_kind {
    FIELD_VALUE,    /* integer or boolean, in and out */
    FIELD_BLOB,     /* pointer + size member: string or buffer in; string out */
    FIELD_ARRAY,    /* pointer + count member: array of integers in; sets the count */
    FIELD_PARALLEL, /* pointer: as many integers in as the count member says, which another set */
    FIELD_INLINE,  /* array in the structure + count member: array of integers in; sets the count */
    FIELD_RESULTS, /* pointer: as many integers out as the count member says, at least one */
    FIELD_MEMORY,  /* pointer + size member, out: a buffer that is a view; without one, of one
                    * element */
};

#define FIELD_NO_SIZE SIZE_MAX

/* Those of FIELD_PARALLEL and FIELD_RESULTS stand behind the one that sets the count. */
struct field {
    const char *name;
    uint8_t kind; /* of enum field_kind */
    size_t offset;
    uint8_t width;      /* bytes of the value, of an element, or of what the size counts */
    size_t size_offset; /* of the size or count member (UINT) */
    uint8_t most;       /* elements of a FIELD_INLINE */
};

/* The structure from the table at index 1. What it points to hangs on that table. Raises. */
void field_put(lua_State *L, char *args, const struct field *field);
/* The member of the table on top of the stack, from the structure. */
void field_get(lua_State *L, const char *args, const struct field *field);

/* Raises for a member of the table at `index` that is none of the fields, or of the names: it says
 * which one is nearest. `call` is "Render", or what else has the members. */
void field_check(lua_State *L, int index, const char *call, const struct field *fields,
                 size_t count);
void field_check_names(lua_State *L, int index, const char *call, const char *const *names,
                       size_t count);

#endif
