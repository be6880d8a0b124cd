/* SPDX-License-Identifier: MIT */
/* Running a workload written in Lua 5.4 on a client thread of a machine. */
#ifndef DXGK_LUA_WORKLOAD_H
#define DXGK_LUA_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lua/memory.h"

struct dxgk_machine;
struct lua_State;

struct lua_workload {
    const char *file;
    struct dxgk_machine *machine;
    const char *out; /* folder for results */
    size_t option_count;
    const char *const *option; /* "key=value" of --set */
    bool progress;             /* stderr is a terminal */
    /* seconds of processor time that the script may take without a step of the machine; 0: any
     * number (KMT-494) */
    uint64_t limit_s;
    uint64_t memory_limit; /* bytes that the script may hold; 0: any number (KMT-495) */
    /* results */
    bool finished, passed;
    char message[1024]; /* why it failed, or what it has to say */
    size_t expected;    /* rules whose violations belong to the workload */
    char expect[16][16];
    size_t rows; /* lines of the workload's own report */
    struct lua_report_row {
        char name[40], value[80];
    } row[32];
    /* private: memory; the state, how many functions use it; how many of dxgk.process failed that
     * nobody has waited for, and the error of the last */
    struct lua_memory memory;
    struct lua_State *state;
    unsigned users;
    unsigned failures;
    char failure[512];
};

/* For dxgk_machine_run: `argument` is a struct lua_workload. */
void lua_workload_run(void *argument);

#endif
