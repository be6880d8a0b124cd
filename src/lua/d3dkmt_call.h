/* SPDX-License-Identifier: MIT */
/* Calls of the client interface whose structures are described by tables of fields: one line
 * each. */
#ifndef DXGK_LUA_D3DKMT_CALL_H
#define DXGK_LUA_D3DKMT_CALL_H

#include <stddef.h>

#include <ntddk.h>

#include <lua.h>

#include "lua/field.h"

struct d3dkmt_call {
    const char *name;
    NTSTATUS (*function)(void *args);
    size_t bytes;
    const struct field *fields;
    size_t count;
};

/* Add them to the table on top of the stack; the list stays. */
void lua_d3dkmt_add(lua_State *L, const struct d3dkmt_call *list, size_t count);

/* ---- members: by the name of the structure's, or (VN, MN) by another ---- */

#define BYTES(type, member) sizeof(((type *)0)->member)
#define V(type, member)                                                         \
    {                                                                           \
#member, FIELD_VALUE, offsetof(type, member), BYTES(type, member), 0, 0 \
    }
#define VN(type, name, member)                                               \
    {                                                                        \
        name, FIELD_VALUE, offsetof(type, member), BYTES(type, member), 0, 0 \
    }
#define B(type, member, size)                                                   \
    {                                                                           \
#member, FIELD_BLOB, offsetof(type, member), 1, offsetof(type, size), 0 \
    }
#define POINTER(type, member, kind, number)                                                      \
    {                                                                                            \
#member, kind, offsetof(type, member), BYTES(type, member[0]), offsetof(type, number), 0 \
    }
#define A(type, member, number) POINTER(type, member, FIELD_ARRAY, number)
#define P(type, member, number) POINTER(type, member, FIELD_PARALLEL, number)
/* A pointer to one number, or NULL: an array of one. */
#define P1(type, member)                                                                    \
    {                                                                                       \
#member, FIELD_PARALLEL, offsetof(type, member), sizeof(uint64_t), FIELD_NO_SIZE, 0 \
    }
#define R(type, member, number) POINTER(type, member, FIELD_RESULTS, number)
#define I(type, member, number)                                                  \
    {                                                                            \
#member, FIELD_INLINE, offsetof(type, member), BYTES(type, member[0]),   \
            offsetof(type, number), BYTES(type, member) / BYTES(type, member[0]) \
    }
#define MN(type, name, member, size)                                                                \
    {                                                                                               \
        name, FIELD_MEMORY, offsetof(type, member), BYTES(type, member[0]), offsetof(type, size), 0 \
    }
#define M(type, member, size) MN(type, #member, member, size)
/* Memory of `bytes`. */
#define M1(type, member, bytes)                                                  \
    {                                                                            \
#member, FIELD_MEMORY, offsetof(type, member), (bytes), FIELD_NO_SIZE, 0 \
    }

/* ---- for a list of X(name, type, fields) ---- */

#define CALLER(name, type, fields)          \
    static NTSTATUS call_##name(void *args) \
    {                                       \
        return D3DKMT##name((type *)args);  \
    }
#define ENTRY(name, type, list) \
    {#name, call_##name, sizeof(type), list, sizeof(list) / sizeof((list)[0])},

#endif
