/* SPDX-License-Identifier: MIT */
/*
 * One run of a workload: the Lua state, the global table `dxgk`, results.
 *
 *   dxgk.set       options of --set, strings by name     dxgk.out       folder for results
 *   dxgk.buffer, dxgk.image, dxgk.file                    dxgk.progress(fraction, text)
 *   dxgk.report(name, value)   a row of the table that the program prints at the end
 *   dxgk.statistics()          counters of the machine    dxgk.time()    virtual nanoseconds
 *   dxgk.sleep(ns)             let virtual time pass      dxgk.directory folder of the workload
 *   dxgk.expect(rule)          its violations belong here dxgk.physical(address, bytes) RAM as a
 *                              debugger sees it
 *   dxgk.power(state, reason)  the machine falls asleep or wakes
 *   dxgk.close(handle)         an NT handle               dxgk.device_interface(n) path of an
 *                              adapter
 *   dxgk.process(name, f, ...) a function in a client process of its own
 *   dxgk.page(address)         owner, caching, locks and IOMMU mappings of a page
 *
 * A workload passes when it returns true (or nothing); it fails when it returns false and a reason,
 * or raises an error. Modules are found beside the workload; native ones in the folder `workloads`
 * of the build, or of the libraries where the program is installed.
 */
#include <ntddk.h>

#include "dxgkhost/dxgkhost.h"
#include "lua/buffer.h"
#include "lua/constants.h"
#include "lua/d3dkmt.h"
#include "lua/display.h"
#include "lua/image.h"
#include "lua/lua_workload.h"
#include "lua/library.h"
#include "lua/limit.h"
#include "lua/memory.h"
#include "lua/nearest.h"
#include "lua/pointer.h"
#include "lua/process.h"
#include "lua/set.h"
#include "nt/ob/user_handle.h"
#include "sim/stack.h"
#include "util/array.h"
#include "util/is_file.h"
#include "verify/verify.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>

#define MAX_SCRIPT ((uint64_t)64 << 20)
/* Lua nests 200 calls between C and Lua, each of up to 2 KiB, before it raises an error; a call of
 * the client interface below them runs the driver. */
#define LEAST_STACK (1u << 20)

static struct lua_workload *current(lua_State *L)
{
    struct lua_workload *workload;

    memcpy(&workload, lua_getextraspace(L), sizeof(workload));
    return workload;
}

static int progress(lua_State *L)
{
    struct lua_workload *workload = current(L);
    double fraction = luaL_checknumber(L, 1);
    const char *text = luaL_optstring(L, 2, "");

    if (workload->progress)
        fprintf(stderr, "\r\033[K%3d%% %s", (int)(fraction * 100.0), text);
    return 0;
}

static int report(lua_State *L)
{
    struct lua_workload *workload = current(L);
    struct lua_report_row *row;

    if (workload->rows == ARRAY_COUNT(workload->row))
        return luaL_error(L, "too many report rows");
    row = &workload->row[workload->rows++];
    snprintf(row->name, sizeof(row->name), "%s", luaL_checkstring(L, 1));
    snprintf(row->value, sizeof(row->value), "%s", luaL_tolstring(L, 2, NULL));
    return 0;
}

static int statistics(lua_State *L)
{
    struct dxgk_statistics s = {.size = sizeof(s)};

    dxgk_machine_statistics(current(L)->machine, &s);
    lua_newtable(L);
#define COUNTER(name)                        \
    lua_pushinteger(L, (lua_Integer)s.name); \
    lua_setfield(L, -2, #name)
    COUNTER(virtual_ns);
    COUNTER(submissions);
    COUNTER(paging_submissions);
    COUNTER(patches);
    COUNTER(page_table_updates);
    COUNTER(bytes_paged_in);
    COUNTER(bytes_paged_out);
    COUNTER(iommu_maps);
    COUNTER(iommu_faults);
    COUNTER(interrupts);
    COUNTER(ddi_calls);
    COUNTER(evictions);
    COUNTER(table_evictions);
    COUNTER(preemptions);
    COUNTER(engine_resets);
    COUNTER(adapter_resets);
    COUNTER(violations);
    COUNTER(warnings);
#undef COUNTER
    return 1;
}

static int virtual_time(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)dxgk_client_time());
    return 1;
}

static int virtual_sleep(lua_State *L)
{
    lua_Integer ns = luaL_checkinteger(L, 1);

    luaL_argcheck(L, ns >= 0, 1, "nanoseconds");
    dxgk_client_sleep((uint64_t)ns);
    return 0;
}

static int expect(lua_State *L)
{
    struct lua_workload *workload = current(L);
    const char *rule = luaL_checkstring(L, 1);

    luaL_argcheck(L, verify_rule_find(rule), 1, "the id of a rule, such as PATCH-017, wanted");
    for (size_t i = 0; i < workload->expected; i++)
        if (strcmp(workload->expect[i], rule) == 0)
            return 0;
    if (workload->expected == ARRAY_COUNT(workload->expect))
        return luaL_error(L, "too many expected rules");
    snprintf(workload->expect[workload->expected++], sizeof(workload->expect[0]), "%s", rule);
    return 0;
}

static int no_ram(lua_State *L, lua_Integer address)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "no RAM at address 0x%llx", (unsigned long long)address);
    return luaL_error(L, "%s", text);
}

static int physical(lua_State *L)
{
    lua_Integer address = luaL_checkinteger(L, 1), bytes = luaL_checkinteger(L, 2);
    luaL_Buffer out;
    char *to;

    luaL_argcheck(L, bytes > 0 && bytes <= 1 << 24, 2, "1 to 2^24 bytes");
    to = luaL_buffinitsize(L, &out, (size_t)bytes);
    if (!dxgk_machine_read_physical(current(L)->machine, (uint64_t)address, to, (size_t)bytes))
        return no_ram(L, address);
    luaL_pushresultsize(&out, (size_t)bytes);
    return 1;
}

/* power(): "D0" to "D3". power("D3" [, "hibernate"]): change it. */
static int power(lua_State *L)
{
    static const char *const states[] = {"D0", "D1", "D2", "D3", NULL};
    static const char *const reasons[] = {"sleep", "hibernate",    "shutdown",
                                          "idle",  "hybrid sleep", NULL};
    static const enum dxgk_power_action actions[] = {DXGK_POWER_SLEEP, DXGK_POWER_HIBERNATE,
                                                     DXGK_POWER_SHUTDOWN, DXGK_POWER_IDLE,
                                                     DXGK_POWER_HYBRID_SLEEP};
    char error[256] = "";
    int state, reason;

    if (lua_isnone(L, 1)) {
        lua_pushstring(L, states[dxgk_client_power()]);
        return 1;
    }
    state = luaL_checkoption(L, 1, NULL, states);
    reason = luaL_checkoption(L, 2, "sleep", reasons);
    if (dxgk_client_set_power((unsigned)state, actions[reason], error, sizeof(error)) != DXGK_OK)
        return luaL_error(L, "dxgk.power: %s", error);
    return 0;
}

/* An NT handle, as CloseHandle does. */
static int close_handle(lua_State *L)
{
    HANDLE handle = (HANDLE)(uintptr_t)luaL_checkinteger(L, 1);

    if (!nt_user_handle_access(handle) || !NT_SUCCESS(ZwClose(handle)))
        return luaL_error(L, "dxgk.close: %I is no handle", luaL_checkinteger(L, 1));
    return 0;
}

/* The path of the n-th adapter, from 1; nil: there are not so many. */
static int device_interface(lua_State *L)
{
    lua_Integer number = luaL_optinteger(L, 1, 1);
    char path[260];

    luaL_argcheck(L, number > 0 && number <= UINT16_MAX, 1, "adapters are counted from 1");
    if (!dxgk_machine_device_interface(current(L)->machine, (unsigned)number - 1, path,
                                       sizeof(path)))
        return 0;
    lua_pushstring(L, path);
    return 1;
}

static int page(lua_State *L)
{
    lua_Integer address = luaL_checkinteger(L, 1);
    struct dxgk_page is;

    if (!dxgk_machine_page(current(L)->machine, (uint64_t)address, &is))
        return no_ram(L, address);
    lua_createtable(L, 0, 4);
    lua_pushstring(L, is.owner);
    lua_setfield(L, -2, "owner");
    lua_pushstring(L, is.cache);
    lua_setfield(L, -2, "cache");
    lua_pushinteger(L, is.locks);
    lua_setfield(L, -2, "locks");
    lua_pushinteger(L, is.iommu_maps);
    lua_setfield(L, -2, "iommu_maps");
    return 1;
}

static void open_libraries(lua_State *L, struct lua_workload *workload)
{
    static const luaL_Reg functions[] = {{"progress", progress},
                                         {"report", report},
                                         {"statistics", statistics},
                                         {"time", virtual_time},
                                         {"sleep", virtual_sleep},
                                         {"expect", expect},
                                         {"physical", physical},
                                         {"power", power},
                                         {"page", page},
                                         {"close", close_handle},
                                         {"process", lua_process_start},
                                         {"device_interface", device_interface},
                                         {NULL, NULL}};
    const char *slash = strrchr(workload->file, '/');
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

    lua_library_open(L);
    memcpy(lua_getextraspace(L), &workload, sizeof(void *)); /* coroutines inherit it */
    lua_newtable(L);
    luaL_setfuncs(L, functions, 0);
    lua_buffer_open(L);
    lua_image_open(L);
    lua_display_open(L);
    lua_pointer_open(L);
    if (slash)
        lua_pushlstring(L, workload->file, (size_t)(slash - workload->file));
    else
        lua_pushliteral(L, ".");
    lua_setfield(L, -2, "directory");
    lua_pushstring(L, workload->out);
    lua_setfield(L, -2, "out");
    lua_set_open(L, workload);
    lua_setfield(L, -2, "set");
    lua_getglobal(L, "package");
    lua_getfield(L, -2, "directory");
    lua_pushliteral(L, "/?.lua");
    lua_concat(L, 2);
    lua_setfield(L, -2, "path");
    if (length > 0) {
        program[length] = 0;
        *strrchr(program, '/') = 0;
        lua_pushfstring(L, "%s/workloads/?.so;%s/../" DXGK_LIBRARY_FOLDER "/workloads/?.so",
                        program, program);
        lua_setfield(L, -2, "cpath");
    }
    lua_pop(L, 1);
    nearest_for_table(L, "dxgk");
    lua_setglobal(L, "dxgk");
    lua_d3dkmt_open(L);
    lua_constants_open(L);
}

static int with_message(lua_State *L)
{
    const char *text = luaL_tolstring(L, 1, NULL);

    /* status errors carry no position; Lua's own do */
    if (lua_type(L, 1) == LUA_TTABLE)
        luaL_where(L, 2);
    else
        lua_pushliteral(L, "");
    lua_pushstring(L, text);
    lua_concat(L, 2);
    return 1;
}

/* The error object on top of the stack. */
static void say_error(lua_State *L, struct lua_workload *workload)
{
    const char *text = lua_tostring(L, -1) ? lua_tostring(L, -1) : "error";
    char reason[160];

    snprintf(workload->message, sizeof(workload->message), "%.800s%s", text,
             lua_memory_reason(&workload->memory, text, reason, sizeof(reason)));
}

static int protected_run(lua_State *L)
{
    struct lua_workload *workload = lua_touserdata(L, 1);
    char key[64], why[256];

    lua_settop(L, 0);
    open_libraries(L, workload);
    lua_pushcfunction(L, with_message);
    if (!util_is_file(workload->file, MAX_SCRIPT, why, sizeof(why))) {
        snprintf(workload->message, sizeof(workload->message), "%s: %s", workload->file, why);
        return 0;
    }
    if (!lua_limit_begin(L, workload->limit_s)) {
        snprintf(workload->message, sizeof(workload->message),
                 "no timer for the limit of the script: %s (--script-limit 0 needs none)",
                 strerror(errno));
        return 0;
    }
    if (luaL_loadfilex(L, workload->file, "t") != LUA_OK) {
        snprintf(workload->message, sizeof(workload->message), "%s", lua_tostring(L, -1));
        return 0;
    }
    if (lua_pcall(L, 0, 2, 1) != LUA_OK) {
        say_error(L, workload);
        return 0;
    }
    workload->finished = true;
    workload->passed = lua_isnil(L, 2) || lua_toboolean(L, 2);
    if (!lua_isnil(L, 3))
        snprintf(workload->message, sizeof(workload->message), "%s", luaL_tolstring(L, 3, NULL));
    if (workload->passed && lua_set_unread(L, workload, key, sizeof(key))) {
        workload->passed = false;
        snprintf(workload->message, sizeof(workload->message),
                 "--set %s: the workload has no such option", key);
    }
    return 0;
}

void lua_workload_run(void *argument)
{
    struct lua_workload *workload = argument;
    lua_State *L;
    uintptr_t low, high;

    workload->finished = workload->passed = false;
    sim_stack_bounds(&low, &high);
    if (high - low < LEAST_STACK) {
        snprintf(workload->message, sizeof(workload->message),
                 "client threads have a stack of %zu bytes, and Lua needs %u", (size_t)(high - low),
                 LEAST_STACK);
        return;
    }
    workload->memory.limit = workload->memory_limit;
    L = lua_memory_open(&workload->memory);
    if (!L) {
        snprintf(workload->message, sizeof(workload->message), "out of memory: no Lua state");
        return;
    }
    workload->failures = workload->users = 0;
    lua_process_retain(workload, L);
    lua_pushcfunction(L, protected_run);
    lua_pushlightuserdata(L, workload);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK)
        say_error(L, workload);
    lua_limit_leave();
    lua_process_release(workload);
    if (workload->progress)
        fprintf(stderr, "\r\033[K");
}
