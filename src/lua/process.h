/* SPDX-License-Identifier: MIT */
/* dxgk.process: functions of a workload that run in client processes of their own. */
#ifndef DXGK_LUA_PROCESS_H
#define DXGK_LUA_PROCESS_H

#include <lua.h>

struct lua_workload;

/* dxgk.process(name, function, ...): run it beside the caller. Returns an object: its method wait()
 * returns what the function returned, or raises its error. */
int lua_process_start(lua_State *L);
/* The state is in use by one function more, or less; the last one closes it. */
void lua_process_retain(struct lua_workload *workload, lua_State *L);
void lua_process_release(struct lua_workload *workload);

#endif
