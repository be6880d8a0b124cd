/* SPDX-License-Identifier: MIT */
#include "lua/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

/* For a new block, `old` is the kind of object. */
static void *allocate(void *context, void *block, size_t old, size_t bytes)
{
    struct lua_memory *memory = context;
    size_t before = block ? old : 0;
    void *got;

    if (bytes == 0) {
        free(block);
        memory->held -= before;
        return NULL;
    }
    if (bytes > before && memory->limit && bytes - before > memory->limit - memory->held) {
        memory->refused = bytes;
        return NULL;
    }
    got = realloc(block, bytes);
    if (got)
        memory->held += (uint64_t)bytes - before;
    return got;
}

lua_State *lua_memory_open(struct lua_memory *memory)
{
    memory->held = memory->refused = 0;
    return lua_newstate(allocate, memory);
}

const char *lua_memory_reason(const struct lua_memory *memory, const char *message, char *text,
                              size_t bytes)
{
    if (!memory->refused || !strstr(message, "not enough memory"))
        return "";
    snprintf(text, bytes,
             ": the script asked for %" PRIu64 " bytes beyond its limit of %" PRIu64
             " (KMT-495, --script-memory)",
             memory->refused, memory->limit);
    return text;
}
