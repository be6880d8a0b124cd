/* SPDX-License-Identifier: MIT */
/* dxgk.buffer: bytes that a workload reads and writes by offset. */
#ifndef DXGK_LUA_BUFFER_H
#define DXGK_LUA_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#define LUA_BUFFER_TYPE "dxgk.buffer"

/* A range of bytes: its own, or somebody else's (an allocation locked for the CPU, a command
 * buffer). */
struct lua_buffer {
    uint8_t *data;
    size_t bytes;
    bool owned;
};

void lua_buffer_open(lua_State *L);
/* Zeroed; raises when out of memory. */
struct lua_buffer *lua_buffer_push_own(lua_State *L, size_t bytes);
void lua_buffer_push_view(lua_State *L, void *data, size_t bytes);
struct lua_buffer *lua_buffer_check(lua_State *L, int index);
/* Copies bytes that lie within the buffer; raises if their memory is gone. */
void lua_buffer_read(lua_State *L, const struct lua_buffer *buffer, size_t offset, void *to,
                     size_t bytes);

#endif
