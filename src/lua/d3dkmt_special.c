/* SPDX-License-Identifier: MIT */
/* The D3DKMT calls with nested structures: EnumAdapters2, CreateAllocation(2), Lock(2). */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include <lauxlib.h>
#include <lua.h>

#include "lua/d3dkmt_special.h"
#include "lua/buffer.h"
#include "lua/field.h"
#include "lua/status.h"
#include "util/array.h"

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

/* A copy of a member that is a string or a buffer, left on the stack; NULL if absent. */
static void *copy_string(lua_State *L, int table, const char *name, UINT *bytes)
{
    const struct lua_buffer *buffer = NULL;
    const char *text = NULL;
    size_t length;
    void *copy = NULL;

    *bytes = 0;
    if (lua_getfield(L, table, name) == LUA_TNIL)
        return NULL;
    if (lua_type(L, -1) == LUA_TUSERDATA)
        length = (buffer = lua_buffer_check(L, -1))->bytes;
    else
        text = luaL_checklstring(L, -1, &length);
    luaL_argcheck(L, length < (1u << 24), 1, name);
    copy = lua_newuserdatauv(L, length ? length : 1, 0);
    if (buffer)
        lua_buffer_read(L, buffer, 0, copy, length);
    else
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

static NTSTATUS (*const create_calls[])(D3DKMT_CREATEALLOCATION *) = {D3DKMTCreateAllocation,
                                                                      D3DKMTCreateAllocation2};
static const char *const create_names[] = {"CreateAllocation", "CreateAllocation2"};

/* What a copy of a string may be, or memory of the client's own, which must be whole pages. */
static void *system_memory(lua_State *L, int table)
{
    void *memory = NULL;

    if (lua_getfield(L, table, "pSystemMem") != LUA_TNIL)
        memory = lua_buffer_check(L, -1)->data;
    lua_pop(L, 1);
    return memory;
}

/* One element of pAllocationInfo, on top of the stack; what it points to takes its place there. The
 * older structure is written as the newer one, and converted by its caller. */
static void read_info(lua_State *L, D3DDDI_ALLOCATIONINFO2 *info)
{
    static const char *const members[] = {
        "pPrivateDriverData", "pSystemMem",        "Flags",   "VidPnSourceId",
        "hAllocation",        "GpuVirtualAddress", "Priority"};
    int item = lua_gettop(L);
    UINT bytes;

    luaL_checktype(L, item, LUA_TTABLE);
    field_check_names(L, item, "pAllocationInfo", members, ARRAY_COUNT(members));
    info->pPrivateDriverData = copy_string(L, item, "pPrivateDriverData", &bytes);
    info->PrivateDriverDataSize = bytes;
    info->pSystemMem = system_memory(L, item);
    info->Flags.Value = (UINT)optional_integer(L, item, "Flags", 0);
    info->VidPnSourceId = (UINT)optional_integer(L, item, "VidPnSourceId", 0);
    info->Priority = (UINT)optional_integer(L, item, "Priority", 0);
    lua_remove(L, item); /* the copy stays on the stack, and so alive */
}

static NTSTATUS create(bool second, D3DKMT_CREATEALLOCATION *args, D3DDDI_ALLOCATIONINFO2 *infos,
                       D3DDDI_ALLOCATIONINFO *older)
{
    NTSTATUS status;

    if (second) {
        args->pAllocationInfo2 = infos;
        return create_calls[1](args);
    }
    for (UINT i = 0; i < args->NumAllocations; i++) {
        older[i].pSystemMem = infos[i].pSystemMem;
        older[i].pPrivateDriverData = infos[i].pPrivateDriverData;
        older[i].PrivateDriverDataSize = infos[i].PrivateDriverDataSize;
        older[i].VidPnSourceId = infos[i].VidPnSourceId;
        older[i].Flags.Value = infos[i].Flags.Value;
    }
    args->pAllocationInfo = older;
    status = create_calls[0](args);
    for (UINT i = 0; i < args->NumAllocations; i++) {
        infos[i].hAllocation = older[i].hAllocation;
        infos[i].PrivateDriverDataSize = older[i].PrivateDriverDataSize;
    }
    return status;
}

static void push_created(lua_State *L, const D3DKMT_CREATEALLOCATION *args,
                         const D3DDDI_ALLOCATIONINFO2 *infos)
{
    lua_createtable(L, 0, 2);
    set_integer(L, "hResource", args->hResource);
    set_integer(L, "hGlobalShare", args->hGlobalShare);
    lua_createtable(L, (int)args->NumAllocations, 0);
    for (UINT i = 0; i < args->NumAllocations; i++) {
        lua_createtable(L, 0, 3);
        set_integer(L, "hAllocation", infos[i].hAllocation);
        set_integer(L, "GpuVirtualAddress", infos[i].GpuVirtualAddress);
        if (infos[i].pPrivateDriverData) {
            lua_pushlstring(L, infos[i].pPrivateDriverData, infos[i].PrivateDriverDataSize);
            lua_setfield(L, -2, "pPrivateDriverData");
        }
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "pAllocationInfo");
}

/* Zeroed, one more than asked for, left on the stack. */
static void *new_array(lua_State *L, lua_Integer count, size_t bytes)
{
    void *array = lua_newuserdatauv(L, (size_t)(count + 1) * bytes, 0);

    memset(array, 0, (size_t)(count + 1) * bytes);
    return array;
}

/* {hDevice, hResource, Flags, pPrivateDriverData, pAllocationInfo = {{pPrivateDriverData, Flags,
 * ...}...}} */
static int create_allocation(lua_State *L, bool second)
{
    static const char *const members[] = {"hDevice", "hResource", "Flags", "pPrivateDriverData",
                                          "pAllocationInfo"};
    D3DKMT_CREATEALLOCATION args;
    D3DDDI_ALLOCATIONINFO2 *infos;
    D3DDDI_ALLOCATIONINFO *older;
    NTSTATUS status;
    lua_Integer count;
    UINT bytes, flags;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    field_check_names(L, 1, create_names[second], members, ARRAY_COUNT(members));
    lua_getfield(L, 1, "pAllocationInfo");
    luaL_argcheck(L, lua_istable(L, 2), 1, "pAllocationInfo: array expected");
    count = (lua_Integer)lua_rawlen(L, 2);
    luaL_argcheck(L, count <= MAX_ITEMS, 1, "too many allocations");
    luaL_checkstack(L, (int)count + 16, "too many allocations");
    infos = new_array(L, count, sizeof(*infos));
    older = new_array(L, count, sizeof(*older));
    memset(&args, 0, sizeof(args));
    args.hDevice = (D3DKMT_HANDLE)optional_integer(L, 1, "hDevice", 0);
    args.hResource = (D3DKMT_HANDLE)optional_integer(L, 1, "hResource", 0);
    args.pPrivateDriverData = copy_string(L, 1, "pPrivateDriverData", &bytes);
    args.PrivateDriverDataSize = bytes;
    args.NumAllocations = (UINT)count;
    flags = (UINT)optional_integer(L, 1, "Flags", 0);
    memcpy(&args.Flags, &flags, sizeof(flags));
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, 2, i + 1);
        read_info(L, &infos[i]);
    }
    status = create(second, &args, infos, older);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, create_names[second], status);
    push_created(L, &args, infos);
    return 1;
}

static int create_allocation1(lua_State *L)
{
    return create_allocation(L, false);
}

static int create_allocation2(lua_State *L)
{
    return create_allocation(L, true);
}

/* The member Size of both: the structures have none, and the caller knows what it created. */
static lua_Integer size_to_see(lua_State *L)
{
    lua_Integer size = optional_integer(L, 1, "Size", 0);

    luaL_argcheck(L, size > 0, 1, "Size: how many bytes of the allocation to see");
    return size;
}

/* Lock2{hDevice, hAllocation, Flags, Size}: pData is a buffer of Size bytes */
static int lock2(lua_State *L)
{
    static const char *const members[] = {"hDevice", "hAllocation", "Flags", "Size"};
    D3DKMT_LOCK2 args;
    NTSTATUS status;
    lua_Integer size;

    luaL_checktype(L, 1, LUA_TTABLE);
    field_check_names(L, 1, "Lock2", members, ARRAY_COUNT(members));
    size = size_to_see(L);
    memset(&args, 0, sizeof(args));
    args.hDevice = (D3DKMT_HANDLE)optional_integer(L, 1, "hDevice", 0);
    args.hAllocation = (D3DKMT_HANDLE)optional_integer(L, 1, "hAllocation", 0);
    args.Flags.Value = (UINT)optional_integer(L, 1, "Flags", 0);
    status = D3DKMTLock2(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "Lock2", status);
    lua_createtable(L, 0, 1);
    lua_buffer_push_view(L, args.pData, (size_t)size);
    lua_setfield(L, -2, "pData");
    return 1;
}

/* Lock{hDevice, hAllocation, Flags, PrivateDriverData, Size}: the call of WDDM 1.x, as above; the
 * whole allocation is locked. hAllocation: with the flag Discard it may be another one. */
static int lock(lua_State *L)
{
    static const char *const members[] = {"hDevice", "hAllocation", "Flags", "PrivateDriverData",
                                          "Size"};
    D3DKMT_LOCK args;
    NTSTATUS status;
    lua_Integer size;

    luaL_checktype(L, 1, LUA_TTABLE);
    field_check_names(L, 1, "Lock", members, ARRAY_COUNT(members));
    size = size_to_see(L);
    memset(&args, 0, sizeof(args));
    args.hDevice = (D3DKMT_HANDLE)optional_integer(L, 1, "hDevice", 0);
    args.hAllocation = (D3DKMT_HANDLE)optional_integer(L, 1, "hAllocation", 0);
    args.PrivateDriverData = (UINT)optional_integer(L, 1, "PrivateDriverData", 0);
    args.Flags.Value = (UINT)optional_integer(L, 1, "Flags", 0);
    status = D3DKMTLock(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "Lock", status);
    lua_createtable(L, 0, 3);
    lua_buffer_push_view(L, args.pData, (size_t)size);
    lua_setfield(L, -2, "pData");
    set_integer(L, "hAllocation", args.hAllocation);
    set_integer(L, "GpuVirtualAddress", args.GpuVirtualAddress);
    return 1;
}

void lua_d3dkmt_special(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"EnumAdapters2", enum_adapters2},
        {"CreateAllocation", create_allocation1},
        {"CreateAllocation2", create_allocation2},
        {"Lock", lock},
        {"Lock2", lock2},
        {NULL, NULL},
    };

    luaL_setfuncs(L, functions, 0);
}
