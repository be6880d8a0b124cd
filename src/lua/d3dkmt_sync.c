/* SPDX-License-Identifier: MIT */
/* CreateSynchronizationObject and CreateSynchronizationObject2, whose structures have a member for
 * each type of object. */
#include "lua/d3dkmt_sync.h"

#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include <lauxlib.h>

#include "lua/buffer.h"
#include "lua/field.h"
#include "lua/status.h"
#include "util/array.h"

static lua_Integer optional_integer(lua_State *L, int table, const char *name, lua_Integer otherwise)
{
    lua_Integer value = otherwise;

    if (lua_getfield(L, table, name) != LUA_TNIL)
        value = lua_isboolean(L, -1) ? lua_toboolean(L, -1) : luaL_checkinteger(L, -1);
    lua_pop(L, 1);
    return value;
}

static void set_integer(lua_State *L, const char *name, uint64_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

/* CreateSynchronizationObject{hDevice, Type, MaxCount, InitialCount | InitialState}: the call of
 * WDDM 1.x, for mutexes and semaphores */
static int create_sync1(lua_State *L)
{
    static const char *const members[] = {"hDevice", "Type", "InitialState", "MaxCount",
                                          "InitialCount"};
    D3DKMT_CREATESYNCHRONIZATIONOBJECT args;
    NTSTATUS status;

    luaL_checktype(L, 1, LUA_TTABLE);
    field_check_names(L, 1, "CreateSynchronizationObject", members, ARRAY_COUNT(members));
    memset(&args, 0, sizeof(args));
    args.hDevice = (D3DKMT_HANDLE)optional_integer(L, 1, "hDevice", 0);
    args.Info.Type = (D3DDDI_SYNCHRONIZATIONOBJECT_TYPE)optional_integer(L, 1, "Type",
                                                                         D3DDDI_SEMAPHORE);
    if (args.Info.Type == D3DDDI_SYNCHRONIZATION_MUTEX) {
        args.Info.SynchronizationMutex.InitialState = (BOOL)optional_integer(L, 1, "InitialState",
                                                                             0);
    } else {
        args.Info.Semaphore.MaxCount = (UINT)optional_integer(L, 1, "MaxCount", 1);
        args.Info.Semaphore.InitialCount = (UINT)optional_integer(L, 1, "InitialCount", 0);
    }
    status = D3DKMTCreateSynchronizationObject(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "CreateSynchronizationObject", status);
    lua_createtable(L, 0, 1);
    set_integer(L, "hSyncObject", args.hSyncObject);
    return 1;
}

/* ---- the nested form: hDevice, Info = {Type, Flags, <structure of the type> = {...}} ---- */

static const char *const mutex_members[] = {"InitialState"};
static const char *const semaphore_members[] = {"MaxCount", "InitialCount"};
static const char *const fence_members[] = {"FenceValue"};
static const char *const monitored_members[] = {"InitialFenceValue", "EngineAffinity"};
static const struct {
    const char *name;
    const char *const *members;
    size_t count;
} structures[] = {
    {"SynchronizationMutex", mutex_members, ARRAY_COUNT(mutex_members)},
    {"Semaphore", semaphore_members, ARRAY_COUNT(semaphore_members)},
    {"Fence", fence_members, ARRAY_COUNT(fence_members)},
    {"MonitoredFence", monitored_members, ARRAY_COUNT(monitored_members)},
};

/* Copy the members of the table at `from`, except tables, to the table at `to`. */
static void copy_members(lua_State *L, int from, int to)
{
    lua_pushnil(L);
    while (lua_next(L, from)) {
        if (lua_istable(L, -1)) {
            lua_pop(L, 1);
            continue;
        }
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, to);
    }
}

/* The table at index 1 with the members of its Info side by side. False: it has no Info. */
static bool flatten(lua_State *L)
{
    static const char *const outer[] = {"hDevice", "Info"};
    static const char *const inner[] = {"Type",      "Flags", "SynchronizationMutex",
                                        "Semaphore", "Fence", "MonitoredFence"};
    const int info = 2, flat = 3;

    if (lua_getfield(L, 1, "Info") == LUA_TNIL) {
        lua_pop(L, 1);
        return false;
    }
    luaL_checktype(L, info, LUA_TTABLE);
    field_check_names(L, 1, "CreateSynchronizationObject2 with Info", outer, ARRAY_COUNT(outer));
    field_check_names(L, info, "Info", inner, ARRAY_COUNT(inner));
    lua_newtable(L);
    copy_members(L, 1, flat);
    copy_members(L, info, flat);
    for (size_t i = 0; i < ARRAY_COUNT(structures); i++) {
        if (lua_getfield(L, info, structures[i].name) != LUA_TNIL) {
            luaL_checktype(L, -1, LUA_TTABLE);
            field_check_names(L, -1, structures[i].name, structures[i].members, structures[i].count);
            copy_members(L, flat + 1, flat);
        }
        lua_pop(L, 1);
    }
    lua_replace(L, 1);
    lua_settop(L, 1);
    return true;
}

/* The answer on top of the stack gets Info as the structure has it, beside the flat members. */
static void nest(lua_State *L)
{
    static const char *const values[] = {"FenceValueCPUVirtualAddress",
                                         "FenceValueGPUVirtualAddress"};

    lua_createtable(L, 0, 2);
    lua_getfield(L, -2, "SharedHandle");
    lua_setfield(L, -2, "SharedHandle");
    lua_createtable(L, 0, 2);
    for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
        lua_getfield(L, -3, values[i]);
        lua_setfield(L, -2, values[i]);
    }
    lua_setfield(L, -2, "MonitoredFence");
    lua_setfield(L, -2, "Info");
}

static void read_info2(lua_State *L, D3DKMT_CREATESYNCHRONIZATIONOBJECT2 *args)
{
    args->hDevice = (D3DKMT_HANDLE)optional_integer(L, 1, "hDevice", 0);
    args->Info.Type = (D3DDDI_SYNCHRONIZATIONOBJECT_TYPE)optional_integer(L, 1, "Type",
                                                                          D3DDDI_MONITORED_FENCE);
    args->Info.Flags.Value = (UINT)optional_integer(L, 1, "Flags", 0);
    switch ((int)args->Info.Type) {
    case D3DDDI_SYNCHRONIZATION_MUTEX:
        args->Info.SynchronizationMutex.InitialState = (BOOL)optional_integer(L, 1, "InitialState",
                                                                              0);
        break;
    case D3DDDI_SEMAPHORE:
        args->Info.Semaphore.MaxCount = (UINT)optional_integer(L, 1, "MaxCount", 1);
        args->Info.Semaphore.InitialCount = (UINT)optional_integer(L, 1, "InitialCount", 0);
        break;
    case D3DDDI_FENCE:
        args->Info.Fence.FenceValue = (UINT64)optional_integer(L, 1, "FenceValue", 0);
        break;
    default:
        args->Info.MonitoredFence.InitialFenceValue = (UINT64)optional_integer(
            L, 1, "InitialFenceValue", 0);
        args->Info.MonitoredFence.EngineAffinity = (UINT)optional_integer(L, 1, "EngineAffinity", 0);
        break;
    }
}

/* CreateSynchronizationObject2{hDevice, Type, Flags, InitialFenceValue | MaxCount, InitialCount |
 * InitialState}, or the nested form */
static int create_sync2(lua_State *L)
{
    static const char *const members[] = {
        "hDevice",       "Type",         "Flags",      "InitialState",
        "MaxCount",      "InitialCount", "FenceValue", "InitialFenceValue",
        "EngineAffinity"};
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;
    NTSTATUS status;
    bool nested;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    nested = flatten(L);
    field_check_names(L, 1, "CreateSynchronizationObject2", members, ARRAY_COUNT(members));
    memset(&args, 0, sizeof(args));
    read_info2(L, &args);
    status = D3DKMTCreateSynchronizationObject2(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "CreateSynchronizationObject2", status);
    lua_createtable(L, 0, 5);
    set_integer(L, "hSyncObject", args.hSyncObject);
    set_integer(L, "SharedHandle", args.Info.SharedHandle);
    if (args.Info.Type == D3DDDI_MONITORED_FENCE) {
        set_integer(L, "FenceValueGPUVirtualAddress",
                    args.Info.MonitoredFence.FenceValueGPUVirtualAddress);
        if (args.Info.MonitoredFence.FenceValueCPUVirtualAddress) {
            lua_buffer_push_view(L, args.Info.MonitoredFence.FenceValueCPUVirtualAddress,
                                 sizeof(UINT64));
            lua_setfield(L, -2, "FenceValueCPUVirtualAddress");
        }
    }
    if (nested)
        nest(L);
    return 1;
}

void lua_d3dkmt_sync(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"CreateSynchronizationObject", create_sync1},
        {"CreateSynchronizationObject2", create_sync2},
        {NULL, NULL},
    };

    luaL_setfuncs(L, functions, 0);
}
