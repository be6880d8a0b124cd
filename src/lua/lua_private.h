/* SPDX-License-Identifier: MIT */
/* What the files of the Lua binding share. docs/workloads.md describes it for the writer of a
 * workload. */
#ifndef DXGK_LUA_PRIVATE_H
#define DXGK_LUA_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

struct lua_workload;

#define BUFFER_TYPE "dxgk.buffer"

/* A range of bytes: its own, or somebody else's (an allocation locked for the CPU, a command
 * buffer). */
struct lua_buffer {
    uint8_t *data;
    size_t bytes;
    bool owned;
};

/* buffer.c */
void lua_buffer_open(lua_State *L);
struct lua_buffer *lua_buffer_push_own(lua_State *L,
                                       size_t bytes); /* zeroed; raises when out of memory */
void lua_buffer_push_view(lua_State *L, void *data, size_t bytes);
struct lua_buffer *lua_buffer_check(lua_State *L, int index);

/* image.c */
void lua_image_open(lua_State *L);

/* d3dkmt.c */
void lua_d3dkmt_open(lua_State *L);
/* d3dkmt_special.c: calls whose structures need more than the table of fields */
void lua_d3dkmt_special(lua_State *L);
/* Raise {call =, status =, code =}, which prints as "D3DKMTRender: STATUS_NO_MEMORY". */
int lua_raise_status(lua_State *L, const char *call, int32_t status);

/* Pushes dxgk.set. */
void lua_set_open(lua_State *L, const struct lua_workload *workload);
/* An option of --set that nobody asked for; false: there is none. */
bool lua_set_unread(lua_State *L, const struct lua_workload *workload, char *key, size_t size);

#endif
