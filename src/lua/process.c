/* SPDX-License-Identifier: MIT */
/*
 * All functions of a workload are coroutines of one Lua state, each on a client thread of its own.
 * The machine switches threads inside calls only (D3DKMT, dxgk.sleep), where Lua is at rest, so
 * that they take turns as coroutines do. The main function may end before others: the state is
 * closed by the last one.
 */
#include <ntddk.h>

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "dxgkhost/dxgkhost.h"
#include "lua/limit.h"
#include "lua/lua_workload.h"
#include "lua/process.h"
#include "sim/machine.h"
#include "sim/wait.h"

#define OBJECT "dxgk.process"

/* A userdata; its user values are the coroutine and its results. */
struct process {
    struct lua_workload *workload;
    lua_State *L;
    int anchor;    /* keeps the userdata while it runs: a reference in the registry */
    int arguments; /* of the function below them on the stack of L */
    bool ended, failed, waited;
    struct sim_waitq over;
};

void lua_process_retain(struct lua_workload *workload, lua_State *L)
{
    workload->state = L;
    workload->users++;
}

void lua_process_release(struct lua_workload *workload)
{
    if (--workload->users > 0)
        return;
    lua_limit_end();
    if (workload->failures) {
        workload->passed = false;
        snprintf(workload->message, sizeof(workload->message), "%s", workload->failure);
    }
    lua_close(workload->state);
    workload->state = NULL;
}

static int with_place(lua_State *L)
{
    const char *text = luaL_tolstring(L, 1, NULL);

    luaL_traceback(L, L, text, 1);
    return 1;
}

static void process_main(void *argument)
{
    struct process *process = argument;
    struct lua_workload *workload = process->workload;
    lua_State *L = process->L;

    lua_limit_enter(L);
    lua_pushcfunction(L, with_place);
    lua_insert(L, 1);
    process->failed = lua_pcall(L, process->arguments, LUA_MULTRET, 1) != LUA_OK;
    lua_remove(L, 1);
    lua_limit_leave();
    process->ended = true;
    if (process->failed && !process->waited) {
        workload->failures++;
        snprintf(workload->failure, sizeof(workload->failure), "%s",
                 lua_tostring(L, -1) ? lua_tostring(L, -1) : "error");
    }
    sim_waitq_wake(&process->over, UINT32_MAX);
    luaL_unref(L, LUA_REGISTRYINDEX, process->anchor);
    lua_process_release(workload);
}

static int wait_for(lua_State *L)
{
    struct process *process = luaL_checkudata(L, 1, OBJECT);
    int results;

    luaL_argcheck(L, !process->waited, 1, "it has been waited for");
    process->waited = true;
    process->workload->failures -= process->failed;
    while (!process->ended && !sim_current->stopped)
        sim_waitq_wait(&process->over, SIM_FOREVER);
    if (!process->ended)
        return luaL_error(L, "the machine stopped");
    results = lua_gettop(process->L);
    luaL_checkstack(L, results, "results of a process");
    lua_xmove(process->L, L, results);
    return process->failed ? lua_error(L) : results;
}

int lua_process_start(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    struct process *process;
    struct lua_workload *workload;

    luaL_checktype(L, 2, LUA_TFUNCTION);
    memcpy(&workload, lua_getextraspace(L), sizeof(workload));
    process = lua_newuserdatauv(L, sizeof(*process), 1);
    memset(process, 0, sizeof(*process));
    sim_waitq_init(&process->over);
    if (luaL_newmetatable(L, OBJECT)) {
        lua_pushcfunction(L, wait_for);
        lua_setfield(L, -2, "wait");
        lua_pushvalue(L, -1);
        lua_setfield(L, -2, "__index");
    }
    lua_setmetatable(L, -2);
    process->workload = workload;
    process->L = lua_newthread(L);
    lua_setiuservalue(L, -2, 1);
    lua_insert(L, 2); /* name, object, function, arguments */
    process->arguments = lua_gettop(L) - 3;
    lua_xmove(L, process->L, process->arguments + 1);
    lua_pushvalue(L, 2);
    process->anchor = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_process_retain(workload, workload->state);
    if (dxgk_client_process(name, process_main, process))
        return 1;
    luaL_unref(L, LUA_REGISTRYINDEX, process->anchor);
    lua_process_release(workload);
    return luaL_error(L, "dxgk.process: out of memory");
}
