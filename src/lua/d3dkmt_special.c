/* SPDX-License-Identifier: MIT */
/* The D3DKMT calls with nested structures: EnumAdapters2, CreateAllocation2, Lock, Lock2,
 * CreateSynchronizationObject2, SubmitCommand. */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include <lauxlib.h>
#include <lua.h>

#include "lua/d3dkmt_special.h"
#include "lua/buffer.h"
#include "lua/status.h"

#define MAX_ITEMS 4096

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

/* A copy of a string member, left on the stack; NULL if absent. */
static void *copy_string(lua_State *L, int table, const char *name, UINT *bytes)
{
    size_t length;
    const char *text;
    void *copy = NULL;

    *bytes = 0;
    if (lua_getfield(L, table, name) == LUA_TNIL)
        return NULL;
    text = luaL_checklstring(L, -1, &length);
    luaL_argcheck(L, length < (1u << 24), 1, name);
    copy = lua_newuserdatauv(L, length ? length : 1, 0);
    memcpy(copy, text, length);
    lua_remove(L, -2);
    *bytes = (UINT)length;
    return copy;
}

static int enum_adapters2(lua_State *L)
{
    D3DKMT_ADAPTERINFO list[16];
    D3DKMT_ENUMADAPTERS2 args = {.NumAdapters = 16, .pAdapters = list};
    NTSTATUS status = D3DKMTEnumAdapters2(&args);

    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "EnumAdapters2", status);
    lua_createtable(L, (int)args.NumAdapters, 0);
    for (ULONG i = 0; i < args.NumAdapters; i++) {
        lua_createtable(L, 0, 4);
        set_integer(L, "hAdapter", list[i].hAdapter);
        set_integer(L, "LowPart", list[i].AdapterLuid.LowPart);
        set_integer(L, "HighPart", (uint64_t)(int64_t)list[i].AdapterLuid.HighPart);
        set_integer(L, "NumOfSources", list[i].NumOfSources);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* CreateAllocation2{hDevice, hResource, Flags, pPrivateDriverData, pAllocationInfo =
 * {{pPrivateDriverData, Flags, Priority}...}} */
static int create_allocation2(lua_State *L)
{
    D3DKMT_CREATEALLOCATION args;
    D3DDDI_ALLOCATIONINFO2 *infos;
    NTSTATUS status;
    lua_Integer count;
    UINT bytes;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_getfield(L, 1, "pAllocationInfo");
    luaL_checktype(L, 2, LUA_TTABLE);
    count = (lua_Integer)lua_rawlen(L, 2);
    luaL_argcheck(L, count <= MAX_ITEMS, 1, "too many allocations");
    luaL_checkstack(L, (int)count + 16, "too many allocations");
    infos = lua_newuserdatauv(L, (size_t)(count + 1) * sizeof(*infos), 0);
    memset(infos, 0, (size_t)(count + 1) * sizeof(*infos));
    memset(&args, 0, sizeof(args));
    args.hDevice = (D3DKMT_HANDLE)optional_integer(L, 1, "hDevice", 0);
    args.hResource = (D3DKMT_HANDLE)optional_integer(L, 1, "hResource", 0);
    args.pPrivateDriverData = copy_string(L, 1, "pPrivateDriverData", &bytes);
    args.PrivateDriverDataSize = bytes;
    args.NumAllocations = (UINT)count;
    args.pAllocationInfo2 = infos;
    {
        UINT flags = (UINT)optional_integer(L, 1, "Flags", 0);

        memcpy(&args.Flags, &flags, sizeof(flags));
    }
    for (lua_Integer i = 0; i < count; i++) {
        int item;

        lua_rawgeti(L, 2, i + 1);
        luaL_checktype(L, -1, LUA_TTABLE);
        item = lua_gettop(L);
        infos[i].pPrivateDriverData = copy_string(L, item, "pPrivateDriverData", &bytes);
        infos[i].PrivateDriverDataSize = bytes;
        infos[i].Flags.Value = (UINT)optional_integer(L, item, "Flags", 0);
        infos[i].Priority = (UINT)optional_integer(L, item, "Priority", 0);
        lua_remove(L, item); /* the copy stays on the stack, and so alive */
    }
    status = D3DKMTCreateAllocation2(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "CreateAllocation2", status);
    lua_createtable(L, 0, 2);
    set_integer(L, "hResource", args.hResource);
    lua_createtable(L, (int)count, 0);
    for (lua_Integer i = 0; i < count; i++) {
        lua_createtable(L, 0, 3);
        set_integer(L, "hAllocation", infos[i].hAllocation);
        set_integer(L, "GpuVirtualAddress", infos[i].GpuVirtualAddress);
        if (infos[i].pPrivateDriverData) {
            lua_pushlstring(L, infos[i].pPrivateDriverData, infos[i].PrivateDriverDataSize);
            lua_setfield(L, -2, "pPrivateDriverData");
        }
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "pAllocationInfo");
    return 1;
}

/* Lock2{hDevice, hAllocation, Size}: pData is a buffer of Size bytes (the structure has no size:
 * the caller knows it) */
static int lock2(lua_State *L)
{
    D3DKMT_LOCK2 args;
    NTSTATUS status;
    lua_Integer size;

    luaL_checktype(L, 1, LUA_TTABLE);
    size = optional_integer(L, 1, "Size", 0);
    luaL_argcheck(L, size > 0, 1, "Size: how many bytes of the allocation to see");
    memset(&args, 0, sizeof(args));
    args.hDevice = (D3DKMT_HANDLE)optional_integer(L, 1, "hDevice", 0);
    args.hAllocation = (D3DKMT_HANDLE)optional_integer(L, 1, "hAllocation", 0);
    status = D3DKMTLock2(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "Lock2", status);
    lua_createtable(L, 0, 1);
    lua_buffer_push_view(L, args.pData, (size_t)size);
    lua_setfield(L, -2, "pData");
    return 1;
}

/* Lock{hDevice, hAllocation, Flags, Size}: the call of WDDM 1.x, as above; the whole allocation is
 * locked */
static int lock(lua_State *L)
{
    D3DKMT_LOCK args;
    NTSTATUS status;
    lua_Integer size;

    luaL_checktype(L, 1, LUA_TTABLE);
    size = optional_integer(L, 1, "Size", 0);
    luaL_argcheck(L, size > 0, 1, "Size: how many bytes of the allocation to see");
    memset(&args, 0, sizeof(args));
    args.hDevice = (D3DKMT_HANDLE)optional_integer(L, 1, "hDevice", 0);
    args.hAllocation = (D3DKMT_HANDLE)optional_integer(L, 1, "hAllocation", 0);
    args.Flags.Value = (UINT)optional_integer(L, 1, "Flags", 0);
    status = D3DKMTLock(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "Lock", status);
    lua_createtable(L, 0, 1);
    lua_buffer_push_view(L, args.pData, (size_t)size);
    lua_setfield(L, -2, "pData");
    return 1;
}

/* CreateSynchronizationObject2{hDevice, Type, Flags, InitialFenceValue | MaxCount, InitialCount |
 * InitialState} */
static int create_sync2(lua_State *L)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;
    NTSTATUS status;

    luaL_checktype(L, 1, LUA_TTABLE);
    memset(&args, 0, sizeof(args));
    args.hDevice = (D3DKMT_HANDLE)optional_integer(L, 1, "hDevice", 0);
    args.Info.Type = (D3DDDI_SYNCHRONIZATIONOBJECT_TYPE)optional_integer(L, 1, "Type",
                                                                         D3DDDI_MONITORED_FENCE);
    args.Info.Flags.Value = (UINT)optional_integer(L, 1, "Flags", 0);
    switch ((int)args.Info.Type) {
    case D3DDDI_SYNCHRONIZATION_MUTEX:
        args.Info.SynchronizationMutex.InitialState = (BOOL)optional_integer(L, 1, "InitialState",
                                                                             0);
        break;
    case D3DDDI_SEMAPHORE:
        args.Info.Semaphore.MaxCount = (UINT)optional_integer(L, 1, "MaxCount", 1);
        args.Info.Semaphore.InitialCount = (UINT)optional_integer(L, 1, "InitialCount", 0);
        break;
    case D3DDDI_FENCE:
        args.Info.Fence.FenceValue = (UINT64)optional_integer(L, 1, "FenceValue", 0);
        break;
    default:
        args.Info.MonitoredFence.InitialFenceValue = (UINT64)optional_integer(
            L, 1, "InitialFenceValue", 0);
        args.Info.MonitoredFence.EngineAffinity = (UINT)optional_integer(L, 1, "EngineAffinity", 0);
        break;
    }
    status = D3DKMTCreateSynchronizationObject2(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "CreateSynchronizationObject2", status);
    lua_createtable(L, 0, 3);
    set_integer(L, "hSyncObject", args.hSyncObject);
    if (args.Info.Type == D3DDDI_MONITORED_FENCE) {
        set_integer(L, "FenceValueGPUVirtualAddress",
                    args.Info.MonitoredFence.FenceValueGPUVirtualAddress);
        if (args.Info.MonitoredFence.FenceValueCPUVirtualAddress) {
            lua_buffer_push_view(L, args.Info.MonitoredFence.FenceValueCPUVirtualAddress,
                                 sizeof(UINT64));
            lua_setfield(L, -2, "FenceValueCPUVirtualAddress");
        }
    }
    return 1;
}

/* SubmitCommand{Commands, CommandLength, BroadcastContext = {h...}, Flags, pPrivateDriverData} */
static int submit_command(lua_State *L)
{
    D3DKMT_SUBMITCOMMAND args;
    NTSTATUS status;
    UINT bytes;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    memset(&args, 0, sizeof(args));
    args.Commands = (D3DGPU_VIRTUAL_ADDRESS)optional_integer(L, 1, "Commands", 0);
    args.CommandLength = (UINT)optional_integer(L, 1, "CommandLength", 0);
    {
        UINT flags = (UINT)optional_integer(L, 1, "Flags", 0);

        memcpy(&args.Flags, &flags, sizeof(flags));
    }
    if (lua_getfield(L, 1, "BroadcastContext") != LUA_TNIL) {
        luaL_checktype(L, -1, LUA_TTABLE);
        luaL_argcheck(L, lua_rawlen(L, -1) <= 64, 1, "BroadcastContext: at most 64");
        args.BroadcastContextCount = (UINT)lua_rawlen(L, -1);
        for (UINT i = 0; i < args.BroadcastContextCount; i++) {
            lua_rawgeti(L, -1, (lua_Integer)i + 1);
            args.BroadcastContext[i] = (D3DKMT_HANDLE)luaL_checkinteger(L, -1);
            lua_pop(L, 1);
        }
    }
    args.pPrivateDriverData = copy_string(L, 1, "pPrivateDriverData", &bytes);
    args.PrivateDriverDataSize = bytes;
    status = D3DKMTSubmitCommand(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "SubmitCommand", status);
    return 0;
}

void lua_d3dkmt_special(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"EnumAdapters2", enum_adapters2},
        {"CreateAllocation2", create_allocation2},
        {"Lock", lock},
        {"Lock2", lock2},
        {"CreateSynchronizationObject2", create_sync2},
        {"SubmitCommand", submit_command},
        {NULL, NULL},
    };

    luaL_setfuncs(L, functions, 0);
}
