/* SPDX-License-Identifier: MIT */
/* Sharing: by global handles, by NT handles, by names; and adapters by the names of devices. */
#include "lua/d3dkmt_share.h"

#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include <lauxlib.h>

#include "lua/buffer.h"
#include "lua/d3dkmt_call.h"
#include "lua/field.h"
#include "lua/status.h"
#include "util/array.h"

#define MOST_OBJECTS 4096
#define MOST_BYTES   (1u << 24)
#define MOST_NAME    1024u

/* ---- arguments ---- */

static uint64_t integer(lua_State *L, const char *name, uint64_t most)
{
    lua_Integer value = 0;

    if (lua_getfield(L, 1, name) != LUA_TNIL)
        value = lua_isboolean(L, -1) ? lua_toboolean(L, -1) : luaL_checkinteger(L, -1);
    lua_pop(L, 1);
    if ((uint64_t)value > most)
        luaL_error(L, "member %s: %I, at most %I is possible", name, value, (lua_Integer)most);
    return (uint64_t)value;
}

static UINT word(lua_State *L, const char *name)
{
    return (UINT)integer(L, name, UINT32_MAX);
}

static HANDLE nt_handle(lua_State *L, const char *name)
{
    return (HANDLE)(uintptr_t)integer(L, name, UINT64_MAX);
}

static void set_integer(lua_State *L, const char *name, uint64_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

/* Zeroed memory, left on the stack; NULL for none. */
static void *memory(lua_State *L, size_t bytes)
{
    void *to = lua_newuserdatauv(L, bytes ? bytes : 1, 0);

    memset(to, 0, bytes ? bytes : 1);
    return bytes ? to : NULL;
}

/* A string member as UTF-16 with a terminator, left on the stack; NULL: there is none. */
static WCHAR *wide_name(lua_State *L, const char *name, USHORT *bytes)
{
    size_t length;
    const char *text;
    WCHAR *wide;

    if (lua_getfield(L, 1, name) == LUA_TNIL)
        return NULL;
    text = luaL_checklstring(L, -1, &length);
    if (length > MOST_NAME)
        luaL_error(L, "member %s: %I characters, at most %I are possible", name,
                   (lua_Integer)length, (lua_Integer)MOST_NAME);
    wide = memory(L, (length + 1) * sizeof(WCHAR));
    for (size_t i = 0; i < length; i++)
        wide[i] = (WCHAR)(unsigned char)text[i];
    *bytes = (USHORT)(length * sizeof(WCHAR));
    return wide;
}

/* Object attributes with the member Name, if there is one. */
static void named(lua_State *L, OBJECT_ATTRIBUTES *attributes, UNICODE_STRING *name)
{
    memset(attributes, 0, sizeof(*attributes));
    memset(name, 0, sizeof(*name));
    attributes->Length = sizeof(*attributes);
    name->Buffer = wide_name(L, "Name", &name->Length);
    name->MaximumLength = name->Length;
    if (name->Buffer)
        attributes->ObjectName = name;
}

/* The table of members is at index 1, and alone. */
static void begin(lua_State *L, const char *call, const char *const *members, size_t count)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    field_check_names(L, 1, call, members, count);
}

/* ---- by names ---- */

static int open_device_name(lua_State *L)
{
    static const char *const members[] = {"pDeviceName"};
    D3DKMT_OPENADAPTERFROMDEVICENAME args = {0};
    NTSTATUS status;
    USHORT bytes;

    begin(L, "OpenAdapterFromDeviceName", members, ARRAY_COUNT(members));
    args.pDeviceName = wide_name(L, "pDeviceName", &bytes);
    status = D3DKMTOpenAdapterFromDeviceName(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "OpenAdapterFromDeviceName", status);
    lua_createtable(L, 0, 3);
    set_integer(L, "hAdapter", args.hAdapter);
    set_integer(L, "LowPart", args.AdapterLuid.LowPart);
    set_integer(L, "HighPart", (uint64_t)(int64_t)args.AdapterLuid.HighPart);
    return 1;
}

/* ShareObjects{hObjects, dwDesiredAccess, Name}: hSharedNtHandle */
static int share_objects(lua_State *L)
{
    static const char *const members[] = {"hObjects", "dwDesiredAccess", "Name"};
    OBJECT_ATTRIBUTES attributes;
    D3DKMT_HANDLE *objects;
    UNICODE_STRING name;
    HANDLE shared = NULL;
    NTSTATUS status;
    lua_Integer count;

    begin(L, "ShareObjects", members, ARRAY_COUNT(members));
    luaL_argcheck(L, lua_getfield(L, 1, "hObjects") == LUA_TTABLE, 1, "hObjects: array expected");
    count = (lua_Integer)lua_rawlen(L, 2);
    luaL_argcheck(L, count <= MOST_OBJECTS, 1, "hObjects: too many");
    objects = memory(L, ((size_t)count + 1) * sizeof(*objects));
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, 2, i + 1);
        objects[i] = (D3DKMT_HANDLE)luaL_checkinteger(L, -1);
        lua_pop(L, 1);
    }
    named(L, &attributes, &name);
    status = D3DKMTShareObjects((UINT)count, objects, &attributes, word(L, "dwDesiredAccess"),
                                &shared);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "ShareObjects", status);
    lua_createtable(L, 0, 1);
    set_integer(L, "hSharedNtHandle", (uintptr_t)shared);
    return 1;
}

/* OpenNtHandleFromName{Name, dwDesiredAccess}: hNtHandle */
static int open_name(lua_State *L)
{
    static const char *const members[] = {"Name", "dwDesiredAccess"};
    OBJECT_ATTRIBUTES attributes;
    D3DKMT_OPENNTHANDLEFROMNAME args = {.pObjAttrib = &attributes};
    UNICODE_STRING name;
    NTSTATUS status;

    begin(L, "OpenNtHandleFromName", members, ARRAY_COUNT(members));
    named(L, &attributes, &name);
    args.dwDesiredAccess = word(L, "dwDesiredAccess");
    status = D3DKMTOpenNtHandleFromName(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "OpenNtHandleFromName", status);
    lua_createtable(L, 0, 1);
    set_integer(L, "hNtHandle", (uintptr_t)args.hNtHandle);
    return 1;
}

static int open_sync_name(lua_State *L)
{
    static const char *const members[] = {"Name", "dwDesiredAccess"};
    OBJECT_ATTRIBUTES attributes;
    D3DKMT_OPENSYNCOBJECTNTHANDLEFROMNAME args = {.pObjAttrib = &attributes};
    UNICODE_STRING name;
    NTSTATUS status;

    begin(L, "OpenSyncObjectNtHandleFromName", members, ARRAY_COUNT(members));
    named(L, &attributes, &name);
    args.dwDesiredAccess = word(L, "dwDesiredAccess");
    status = D3DKMTOpenSyncObjectNtHandleFromName(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "OpenSyncObjectNtHandleFromName", status);
    lua_createtable(L, 0, 1);
    set_integer(L, "hNtHandle", (uintptr_t)args.hNtHandle);
    return 1;
}

/* ---- resources ---- */

static void set_data(lua_State *L, const char *name, const void *data, UINT bytes)
{
    if (!data)
        return;
    lua_pushlstring(L, data, bytes);
    lua_setfield(L, -2, name);
}

static void push_opened(lua_State *L, const D3DDDI_OPENALLOCATIONINFO2 *infos, UINT count)
{
    lua_createtable(L, (int)count, 0);
    for (UINT i = 0; i < count; i++) {
        lua_createtable(L, 0, 3);
        set_integer(L, "hAllocation", infos[i].hAllocation);
        set_integer(L, "GpuVirtualAddress", infos[i].GpuVirtualAddress);
        set_data(L, "pPrivateDriverData", infos[i].pPrivateDriverData,
                 infos[i].PrivateDriverDataSize);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "pOpenAllocationInfo2");
}

/* OpenResource2{hDevice, hGlobalShare, and the sizes of QueryResourceInfo} */
static int open_resource(lua_State *L)
{
    static const char *const members[] = {"hDevice",
                                          "hGlobalShare",
                                          "NumAllocations",
                                          "PrivateRuntimeDataSize",
                                          "ResourcePrivateDriverDataSize",
                                          "TotalPrivateDriverDataBufferSize"};
    D3DKMT_OPENRESOURCE args = {0};
    NTSTATUS status;

    begin(L, "OpenResource2", members, ARRAY_COUNT(members));
    args.hDevice = word(L, "hDevice");
    args.hGlobalShare = word(L, "hGlobalShare");
    args.NumAllocations = (UINT)integer(L, "NumAllocations", MOST_OBJECTS);
    args.PrivateRuntimeDataSize = (UINT)integer(L, "PrivateRuntimeDataSize", MOST_BYTES);
    args.ResourcePrivateDriverDataSize = (UINT)integer(L, "ResourcePrivateDriverDataSize",
                                                       MOST_BYTES);
    args.TotalPrivateDriverDataBufferSize = (UINT)integer(L, "TotalPrivateDriverDataBufferSize",
                                                          MOST_BYTES);
    args.pOpenAllocationInfo2 = memory(L, args.NumAllocations * sizeof(*args.pOpenAllocationInfo2));
    args.pPrivateRuntimeData = memory(L, args.PrivateRuntimeDataSize);
    args.pResourcePrivateDriverData = memory(L, args.ResourcePrivateDriverDataSize);
    args.pTotalPrivateDriverDataBuffer = memory(L, args.TotalPrivateDriverDataBufferSize);
    status = D3DKMTOpenResource2(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "OpenResource2", status);
    lua_createtable(L, 0, 4);
    set_integer(L, "hResource", args.hResource);
    set_data(L, "pPrivateRuntimeData", args.pPrivateRuntimeData, args.PrivateRuntimeDataSize);
    set_data(L, "pResourcePrivateDriverData", args.pResourcePrivateDriverData,
             args.ResourcePrivateDriverDataSize);
    push_opened(L, args.pOpenAllocationInfo2, args.NumAllocations);
    return 1;
}

/* OpenResourceFromNtHandle{hDevice, hNtHandle, and the sizes of QueryResourceInfoFromNtHandle} */
static int open_resource_nt(lua_State *L)
{
    static const char *const members[] = {"hDevice",
                                          "hNtHandle",
                                          "NumAllocations",
                                          "PrivateRuntimeDataSize",
                                          "ResourcePrivateDriverDataSize",
                                          "TotalPrivateDriverDataBufferSize",
                                          "KeyedMutexPrivateRuntimeDataSize"};
    D3DKMT_OPENRESOURCEFROMNTHANDLE args = {0};
    NTSTATUS status;

    begin(L, "OpenResourceFromNtHandle", members, ARRAY_COUNT(members));
    args.hDevice = word(L, "hDevice");
    args.hNtHandle = nt_handle(L, "hNtHandle");
    args.NumAllocations = (UINT)integer(L, "NumAllocations", MOST_OBJECTS);
    args.PrivateRuntimeDataSize = (UINT)integer(L, "PrivateRuntimeDataSize", MOST_BYTES);
    args.ResourcePrivateDriverDataSize = (UINT)integer(L, "ResourcePrivateDriverDataSize",
                                                       MOST_BYTES);
    args.TotalPrivateDriverDataBufferSize = (UINT)integer(L, "TotalPrivateDriverDataBufferSize",
                                                          MOST_BYTES);
    args.KeyedMutexPrivateRuntimeDataSize = (UINT)integer(L, "KeyedMutexPrivateRuntimeDataSize",
                                                          MOST_BYTES);
    args.pOpenAllocationInfo2 = memory(L, args.NumAllocations * sizeof(*args.pOpenAllocationInfo2));
    args.pPrivateRuntimeData = memory(L, args.PrivateRuntimeDataSize);
    args.pResourcePrivateDriverData = memory(L, args.ResourcePrivateDriverDataSize);
    args.pTotalPrivateDriverDataBuffer = memory(L, args.TotalPrivateDriverDataBufferSize);
    args.pKeyedMutexPrivateRuntimeData = memory(L, args.KeyedMutexPrivateRuntimeDataSize);
    status = D3DKMTOpenResourceFromNtHandle(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "OpenResourceFromNtHandle", status);
    lua_createtable(L, 0, 6);
    set_integer(L, "hResource", args.hResource);
    set_integer(L, "hKeyedMutex", args.hKeyedMutex);
    set_integer(L, "hSyncObject", args.hSyncObject);
    set_data(L, "pPrivateRuntimeData", args.pPrivateRuntimeData, args.PrivateRuntimeDataSize);
    set_data(L, "pResourcePrivateDriverData", args.pResourcePrivateDriverData,
             args.ResourcePrivateDriverDataSize);
    push_opened(L, args.pOpenAllocationInfo2, args.NumAllocations);
    return 1;
}

/* ---- synchronization objects ---- */

static int open_sync_nt2(lua_State *L)
{
    static const char *const members[] = {"hNtHandle", "hDevice", "Flags", "EngineAffinity"};
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 args = {0};
    NTSTATUS status;

    begin(L, "OpenSyncObjectFromNtHandle2", members, ARRAY_COUNT(members));
    args.hNtHandle = nt_handle(L, "hNtHandle");
    args.hDevice = word(L, "hDevice");
    args.Flags.Value = word(L, "Flags");
    args.MonitoredFence.EngineAffinity = word(L, "EngineAffinity");
    status = D3DKMTOpenSyncObjectFromNtHandle2(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "OpenSyncObjectFromNtHandle2", status);
    lua_createtable(L, 0, 3);
    set_integer(L, "hSyncObject", args.hSyncObject);
    set_integer(L, "FenceValueGPUVirtualAddress", args.MonitoredFence.FenceValueGPUVirtualAddress);
    if (args.MonitoredFence.FenceValueCPUVirtualAddress) {
        lua_buffer_push_view(L, args.MonitoredFence.FenceValueCPUVirtualAddress, sizeof(UINT64));
        lua_setfield(L, -2, "FenceValueCPUVirtualAddress");
    }
    return 1;
}

/* ---- calls by their fields ---- */

#define RESOURCE_SIZES(type)                                              \
    V(type, PrivateRuntimeDataSize), V(type, TotalPrivateDriverDataSize), \
        V(type, ResourcePrivateDriverDataSize), V(type, NumAllocations),  \
        B(type, pPrivateRuntimeData, PrivateRuntimeDataSize)
static const struct field query_resource[] = {V(D3DKMT_QUERYRESOURCEINFO, hDevice),
                                              V(D3DKMT_QUERYRESOURCEINFO, hGlobalShare),
                                              RESOURCE_SIZES(D3DKMT_QUERYRESOURCEINFO)};
static const struct field query_resource_nt[] = {
    V(D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE, hDevice),
    V(D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE, hNtHandle),
    RESOURCE_SIZES(D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE)};
static const struct field open_sync[] = {V(D3DKMT_OPENSYNCHRONIZATIONOBJECT, hSharedHandle),
                                         V(D3DKMT_OPENSYNCHRONIZATIONOBJECT, hSyncObject)};
static const struct field open_sync_nt[] = {V(D3DKMT_OPENSYNCOBJECTFROMNTHANDLE, hNtHandle),
                                            V(D3DKMT_OPENSYNCOBJECTFROMNTHANDLE, hSyncObject)};
#define CALLS(X)                                                                              \
    X(QueryResourceInfo, D3DKMT_QUERYRESOURCEINFO, query_resource)                            \
    X(QueryResourceInfoFromNtHandle, D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE, query_resource_nt) \
    X(OpenSynchronizationObject, D3DKMT_OPENSYNCHRONIZATIONOBJECT, open_sync)                 \
    X(OpenSyncObjectFromNtHandle, D3DKMT_OPENSYNCOBJECTFROMNTHANDLE, open_sync_nt)

CALLS(CALLER)

static const struct d3dkmt_call calls[] = {CALLS(ENTRY)};

void lua_d3dkmt_share(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"OpenAdapterFromDeviceName", open_device_name},
        {"ShareObjects", share_objects},
        {"OpenNtHandleFromName", open_name},
        {"OpenSyncObjectNtHandleFromName", open_sync_name},
        {"OpenResource2", open_resource},
        {"OpenResourceFromNtHandle", open_resource_nt},
        {"OpenSyncObjectFromNtHandle2", open_sync_nt2},
        {NULL, NULL},
    };

    luaL_setfuncs(L, functions, 0);
    lua_d3dkmt_add(L, calls, ARRAY_COUNT(calls));
}
