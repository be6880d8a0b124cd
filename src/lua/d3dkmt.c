/* SPDX-License-Identifier: MIT */
/*
 * D3DKMT calls for workloads: D3DKMT.CreateDevice{hAdapter = h} fills the structure of that name
 * from the table, calls, and gives back a table of the structure's members. A failing status raises
 * an error; STATUS_PENDING and other successes come back as member `status`. The structures are
 * described by tables of fields, so that each call is one line here.
 */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include <lauxlib.h>
#include <lua.h>

#include "lua/d3dkmt.h"
#include "lua/buffer.h"
#include "lua/d3dkmt_special.h"
#include "lua/status.h"
#include "nt/base/status_name.h"
#include "util/array.h"

enum kind {
    VALUE,   /* integer or boolean, in and out */
    BLOB,    /* pointer + size member: string or buffer in; string out */
    HANDLES, /* pointer + count member: array of handles in */
    VALUES,  /* pointer: array of 64-bit integers in */
    MEMORY,  /* pointer + size member, out: a buffer that is a view */
};

struct field {
    const char *name;
    size_t offset;
    uint8_t width; /* VALUE: bytes */
    uint8_t kind;
    size_t size_offset; /* of the size or count member (UINT) */
    uint8_t element;    /* MEMORY: bytes of an element the size counts */
};

struct d3dkmt_call {
    const char *name;
    NTSTATUS (*function)(void *args);
    size_t bytes;
    const struct field *fields;
    size_t count;
};

#define MAX_BLOB  ((size_t)16 << 20)
#define MAX_ARRAY 65536

static int status_tostring(lua_State *L)
{
    lua_getfield(L, 1, "call");
    lua_pushliteral(L, ": ");
    lua_getfield(L, 1, "status");
    lua_concat(L, 3);
    return 1;
}

/* ---- in ---- */

static void put_value(lua_State *L, char *at, uint8_t width, const char *name)
{
    uint64_t value;

    if (lua_isboolean(L, -1))
        value = (uint64_t)lua_toboolean(L, -1);
    else if (lua_isinteger(L, -1))
        value = (uint64_t)lua_tointeger(L, -1);
    else
        value = (uint64_t)luaL_error(L, "member %s: integer expected, got %s", name,
                                     luaL_typename(L, -1));
    memcpy(at, &value, width);
}

static void put_blob(lua_State *L, char *args, const struct field *f)
{
    size_t bytes;
    UINT size;
    void *copy;

    if (lua_isstring(L, -1)) {
        const char *text = lua_tolstring(L, -1, &bytes);

        if (bytes > MAX_BLOB)
            luaL_error(L, "member %s: too long", f->name);
        copy = lua_newuserdatauv(L, bytes ? bytes : 1, 0);
        memcpy(copy, text, bytes);
        /* the copy lives as long as the argument table */
        lua_pushvalue(L, -1);
        lua_rawsetp(L, 1, copy);
        lua_pop(L, 1);
    } else {
        struct lua_buffer *b = lua_buffer_check(L, -1);

        copy = b->data;
        bytes = b->bytes;
    }
    size = (UINT)bytes;
    memcpy(args + f->offset, &copy, sizeof(copy));
    memcpy(args + f->size_offset, &size, sizeof(size));
}

static void put_array(lua_State *L, char *args, const struct field *f)
{
    size_t width = f->kind == HANDLES ? sizeof(D3DKMT_HANDLE) : sizeof(UINT64);
    UINT count;
    char *array;

    luaL_checktype(L, -1, LUA_TTABLE);
    if (lua_rawlen(L, -1) > MAX_ARRAY)
        luaL_error(L, "member %s: too long", f->name);
    count = (UINT)lua_rawlen(L, -1);
    array = lua_newuserdatauv(L, count * width + 8, 0);
    for (UINT i = 0; i < count; i++) {
        lua_rawgeti(L, -2, (lua_Integer)i + 1);
        put_value(L, array + i * width, (uint8_t)width, f->name);
        lua_pop(L, 1);
    }
    lua_rawsetp(L, 1, array);
    memcpy(args + f->offset, &array, sizeof(array));
    if (f->size_offset != SIZE_MAX)
        memcpy(args + f->size_offset, &count, sizeof(count));
}

static void put_field(lua_State *L, char *args, const struct field *f)
{
    if (lua_getfield(L, 1, f->name) != LUA_TNIL) {
        switch (f->kind) {
        case VALUE:
            put_value(L, args + f->offset, f->width, f->name);
            break;
        case BLOB:
            put_blob(L, args, f);
            break;
        case HANDLES:
        case VALUES:
            put_array(L, args, f);
            break;
        default:
            break;
        }
    }
    lua_pop(L, 1);
}

/* ---- out ---- */

static void get_field(lua_State *L, const char *args, const struct field *f)
{
    uint64_t value = 0;
    void *pointer;
    UINT size;

    switch (f->kind) {
    case VALUE:
        memcpy(&value, args + f->offset, f->width);
        lua_pushinteger(L, (lua_Integer)value);
        break;
    case BLOB:
    case MEMORY:
        memcpy(&pointer, args + f->offset, sizeof(pointer));
        memcpy(&size, args + f->size_offset, sizeof(size));
        if (!pointer)
            return;
        if (f->kind == BLOB)
            lua_pushlstring(L, pointer, size);
        else
            lua_buffer_push_view(L, pointer, (size_t)size * f->element);
        break;
    default:
        return;
    }
    lua_setfield(L, -2, f->name);
}

static int invoke(lua_State *L)
{
    const struct d3dkmt_call *call = lua_touserdata(L, lua_upvalueindex(1));
    char *args;
    NTSTATUS status;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    /* A copy of the table: temporary arrays hang on it, the caller's stays as it is. */
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, 2);
    }
    lua_replace(L, 1);
    args = lua_newuserdatauv(L, call->bytes, 0);
    memset(args, 0, call->bytes);
    for (size_t i = 0; i < call->count; i++)
        put_field(L, args, &call->fields[i]);
    status = call->function(args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, call->name, status);
    lua_newtable(L);
    for (size_t i = 0; i < call->count; i++)
        get_field(L, args, &call->fields[i]);
    lua_pushstring(L, nt_status_name(status) ? nt_status_name(status) : "STATUS_SUCCESS");
    lua_setfield(L, -2, "status");
    return 1;
}

/* ---- the calls ---- */

#define V(type, member)                                                           \
    {                                                                             \
#member, offsetof(type, member), sizeof(((type *)0)->member), VALUE, 0, 0 \
    }
#define VN(type, name, member)                                                 \
    {                                                                          \
        name, offsetof(type, member), sizeof(((type *)0)->member), VALUE, 0, 0 \
    }
#define B(type, member, size)                                             \
    {                                                                     \
#member, offsetof(type, member), 0, BLOB, offsetof(type, size), 1 \
    }
#define H(type, member, number)                                                \
    {                                                                          \
#member, offsetof(type, member), 0, HANDLES, offsetof(type, number), 0 \
    }
#define U64S(type, member)                                      \
    {                                                           \
#member, offsetof(type, member), 0, VALUES, SIZE_MAX, 0 \
    }
#define M(type, member, size, element)                                            \
    {                                                                             \
#member, offsetof(type, member), 0, MEMORY, offsetof(type, size), element \
    }

static const struct field open_luid[] = {
    VN(D3DKMT_OPENADAPTERFROMLUID, "LowPart", AdapterLuid.LowPart),
    VN(D3DKMT_OPENADAPTERFROMLUID, "HighPart", AdapterLuid.HighPart),
    V(D3DKMT_OPENADAPTERFROMLUID, hAdapter)};
static const struct field close_adapter[] = {V(D3DKMT_CLOSEADAPTER, hAdapter)};
static const struct field query_adapter[] = {
    V(D3DKMT_QUERYADAPTERINFO, hAdapter), V(D3DKMT_QUERYADAPTERINFO, Type),
    B(D3DKMT_QUERYADAPTERINFO, pPrivateDriverData, PrivateDriverDataSize)};
static const struct field create_device[] = {V(D3DKMT_CREATEDEVICE, hAdapter),
                                             VN(D3DKMT_CREATEDEVICE, "Flags", Flags),
                                             V(D3DKMT_CREATEDEVICE, hDevice)};
static const struct field destroy_device[] = {V(D3DKMT_DESTROYDEVICE, hDevice)};
static const struct field device_state[] = {V(D3DKMT_GETDEVICESTATE, hDevice),
                                            V(D3DKMT_GETDEVICESTATE, StateType),
                                            V(D3DKMT_GETDEVICESTATE, ExecutionState)};
static const struct field create_context[] = {
    V(D3DKMT_CREATECONTEXT, hDevice),
    V(D3DKMT_CREATECONTEXT, NodeOrdinal),
    V(D3DKMT_CREATECONTEXT, EngineAffinity),
    VN(D3DKMT_CREATECONTEXT, "Flags", Flags.Value),
    B(D3DKMT_CREATECONTEXT, pPrivateDriverData, PrivateDriverDataSize),
    V(D3DKMT_CREATECONTEXT, ClientHint),
    V(D3DKMT_CREATECONTEXT, hContext),
    M(D3DKMT_CREATECONTEXT, pCommandBuffer, CommandBufferSize, 1),
    V(D3DKMT_CREATECONTEXT, CommandBufferSize),
    M(D3DKMT_CREATECONTEXT, pAllocationList, AllocationListSize, sizeof(D3DDDI_ALLOCATIONLIST)),
    V(D3DKMT_CREATECONTEXT, AllocationListSize),
    M(D3DKMT_CREATECONTEXT, pPatchLocationList, PatchLocationListSize,
      sizeof(D3DDDI_PATCHLOCATIONLIST)),
    V(D3DKMT_CREATECONTEXT, PatchLocationListSize)};
static const struct field create_context_virtual[] = {
    V(D3DKMT_CREATECONTEXTVIRTUAL, hDevice),
    V(D3DKMT_CREATECONTEXTVIRTUAL, NodeOrdinal),
    V(D3DKMT_CREATECONTEXTVIRTUAL, EngineAffinity),
    VN(D3DKMT_CREATECONTEXTVIRTUAL, "Flags", Flags.Value),
    B(D3DKMT_CREATECONTEXTVIRTUAL, pPrivateDriverData, PrivateDriverDataSize),
    V(D3DKMT_CREATECONTEXTVIRTUAL, ClientHint),
    V(D3DKMT_CREATECONTEXTVIRTUAL, hContext)};
static const struct field destroy_context[] = {V(D3DKMT_DESTROYCONTEXT, hContext)};
static const struct field destroy_allocation[] = {
    V(D3DKMT_DESTROYALLOCATION2, hDevice), V(D3DKMT_DESTROYALLOCATION2, hResource),
    H(D3DKMT_DESTROYALLOCATION2, phAllocationList, AllocationCount),
    VN(D3DKMT_DESTROYALLOCATION2, "Flags", Flags.Value)};
static const struct field unlock[] = {V(D3DKMT_UNLOCK, hDevice),
                                      H(D3DKMT_UNLOCK, phAllocations, NumAllocations)};
static const struct field set_priority[] = {V(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY, hContext),
                                            V(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY, Priority)};
static const struct field unlock2[] = {V(D3DKMT_UNLOCK2, hDevice), V(D3DKMT_UNLOCK2, hAllocation)};
static const struct field make_resident[] = {
    V(D3DDDI_MAKERESIDENT, hPagingQueue), H(D3DDDI_MAKERESIDENT, AllocationList, NumAllocations),
    VN(D3DDDI_MAKERESIDENT, "Flags", Flags.Value), V(D3DDDI_MAKERESIDENT, PagingFenceValue),
    V(D3DDDI_MAKERESIDENT, NumBytesToTrim)};
static const struct field evict[] = {
    V(D3DKMT_EVICT, hDevice), H(D3DKMT_EVICT, AllocationList, NumAllocations),
    VN(D3DKMT_EVICT, "Flags", Flags.Value), V(D3DKMT_EVICT, NumBytesToTrim)};
static const struct field create_paging_queue[] = {
    V(D3DKMT_CREATEPAGINGQUEUE, hDevice), V(D3DKMT_CREATEPAGINGQUEUE, Priority),
    V(D3DKMT_CREATEPAGINGQUEUE, hPagingQueue), V(D3DKMT_CREATEPAGINGQUEUE, hSyncObject)};
static const struct field destroy_paging_queue[] = {V(D3DDDI_DESTROYPAGINGQUEUE, hPagingQueue)};
static const struct field map_va[] = {
    V(D3DDDI_MAPGPUVIRTUALADDRESS, hPagingQueue),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, BaseAddress),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, MinimumAddress),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, MaximumAddress),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, hAllocation),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, OffsetInPages),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, SizeInPages),
    VN(D3DDDI_MAPGPUVIRTUALADDRESS, "Protection", Protection.Value),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, DriverProtection),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, VirtualAddress),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, PagingFenceValue)};
static const struct field reserve_va[] = {V(D3DDDI_RESERVEGPUVIRTUALADDRESS, hPagingQueue),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, BaseAddress),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, MinimumAddress),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, MaximumAddress),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, Size),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, ReservationType),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, DriverProtection),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, VirtualAddress),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, PagingFenceValue)};
static const struct field free_va[] = {V(D3DKMT_FREEGPUVIRTUALADDRESS, hAdapter),
                                       V(D3DKMT_FREEGPUVIRTUALADDRESS, BaseAddress),
                                       V(D3DKMT_FREEGPUVIRTUALADDRESS, Size)};
static const struct field render[] = {
    V(D3DKMT_RENDER, hContext),
    V(D3DKMT_RENDER, CommandOffset),
    V(D3DKMT_RENDER, CommandLength),
    V(D3DKMT_RENDER, AllocationCount),
    V(D3DKMT_RENDER, PatchLocationCount),
    VN(D3DKMT_RENDER, "Flags", Flags),
    {"pCommandBuffer", offsetof(D3DKMT_RENDER, pNewCommandBuffer), 0, MEMORY,
     offsetof(D3DKMT_RENDER, NewCommandBufferSize), 1},
    VN(D3DKMT_RENDER, "CommandBufferSize", NewCommandBufferSize),
    {"pAllocationList", offsetof(D3DKMT_RENDER, pNewAllocationList), 0, MEMORY,
     offsetof(D3DKMT_RENDER, NewAllocationListSize), sizeof(D3DDDI_ALLOCATIONLIST)},
    VN(D3DKMT_RENDER, "AllocationListSize", NewAllocationListSize),
    {"pPatchLocationList", offsetof(D3DKMT_RENDER, pNewPatchLocationList), 0, MEMORY,
     offsetof(D3DKMT_RENDER, NewPatchLocationListSize), sizeof(D3DDDI_PATCHLOCATIONLIST)},
    VN(D3DKMT_RENDER, "PatchLocationListSize", NewPatchLocationListSize),
    V(D3DKMT_RENDER, QueuedBufferCount)};
static const struct field destroy_sync[] = {V(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT, hSyncObject)};
static const struct field wait_cpu[] = {
    V(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU, hDevice),
    H(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU, ObjectHandleArray, ObjectCount),
    U64S(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU, FenceValueArray),
    VN(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU, "Flags", Flags)};
static const struct field signal_cpu[] = {
    V(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU, hDevice),
    H(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU, ObjectHandleArray, ObjectCount),
    U64S(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU, FenceValueArray),
    VN(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU, "Flags", Flags)};
static const struct field wait_gpu[] = {
    V(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU, hContext),
    H(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU, ObjectHandleArray, ObjectCount),
    U64S(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU, MonitoredFenceValueArray)};
static const struct field signal_gpu[] = {
    V(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU, hContext),
    H(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU, ObjectHandleArray, ObjectCount),
    U64S(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU, MonitoredFenceValueArray)};
static const struct field escape[] = {V(D3DKMT_ESCAPE, hAdapter),
                                      V(D3DKMT_ESCAPE, hDevice),
                                      V(D3DKMT_ESCAPE, Type),
                                      VN(D3DKMT_ESCAPE, "Flags", Flags.Value),
                                      B(D3DKMT_ESCAPE, pPrivateDriverData, PrivateDriverDataSize),
                                      V(D3DKMT_ESCAPE, hContext)};
static const struct field wait_idle[] = {V(D3DKMT_WAITFORIDLE, hDevice)};
static const struct field video_memory[] = {V(D3DKMT_QUERYVIDEOMEMORYINFO, hAdapter),
                                            V(D3DKMT_QUERYVIDEOMEMORYINFO, MemorySegmentGroup),
                                            V(D3DKMT_QUERYVIDEOMEMORYINFO, Budget),
                                            V(D3DKMT_QUERYVIDEOMEMORYINFO, CurrentUsage),
                                            V(D3DKMT_QUERYVIDEOMEMORYINFO, CurrentReservation),
                                            V(D3DKMT_QUERYVIDEOMEMORYINFO, AvailableForReservation)};

#define CALLS(X)                                                                                 \
    X(OpenAdapterFromLuid, D3DKMT_OPENADAPTERFROMLUID, open_luid)                                \
    X(CloseAdapter, D3DKMT_CLOSEADAPTER, close_adapter)                                          \
    X(QueryAdapterInfo, D3DKMT_QUERYADAPTERINFO, query_adapter)                                  \
    X(CreateDevice, D3DKMT_CREATEDEVICE, create_device)                                          \
    X(DestroyDevice, D3DKMT_DESTROYDEVICE, destroy_device)                                       \
    X(GetDeviceState, D3DKMT_GETDEVICESTATE, device_state)                                       \
    X(CreateContext, D3DKMT_CREATECONTEXT, create_context)                                       \
    X(CreateContextVirtual, D3DKMT_CREATECONTEXTVIRTUAL, create_context_virtual)                 \
    X(DestroyContext, D3DKMT_DESTROYCONTEXT, destroy_context)                                    \
    X(DestroyAllocation2, D3DKMT_DESTROYALLOCATION2, destroy_allocation)                         \
    X(Unlock, D3DKMT_UNLOCK, unlock)                                                             \
    X(Unlock2, D3DKMT_UNLOCK2, unlock2)                                                          \
    X(SetContextSchedulingPriority, D3DKMT_SETCONTEXTSCHEDULINGPRIORITY, set_priority)           \
    X(MakeResident, D3DDDI_MAKERESIDENT, make_resident)                                          \
    X(Evict, D3DKMT_EVICT, evict)                                                                \
    X(CreatePagingQueue, D3DKMT_CREATEPAGINGQUEUE, create_paging_queue)                          \
    X(DestroyPagingQueue, D3DDDI_DESTROYPAGINGQUEUE, destroy_paging_queue)                       \
    X(MapGpuVirtualAddress, D3DDDI_MAPGPUVIRTUALADDRESS, map_va)                                 \
    X(ReserveGpuVirtualAddress, D3DDDI_RESERVEGPUVIRTUALADDRESS, reserve_va)                     \
    X(FreeGpuVirtualAddress, D3DKMT_FREEGPUVIRTUALADDRESS, free_va)                              \
    X(Render, D3DKMT_RENDER, render)                                                             \
    X(DestroySynchronizationObject, D3DKMT_DESTROYSYNCHRONIZATIONOBJECT, destroy_sync)           \
    X(WaitForSynchronizationObjectFromCpu, D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU, wait_cpu) \
    X(SignalSynchronizationObjectFromCpu, D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU, signal_cpu) \
    X(WaitForSynchronizationObjectFromGpu, D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU, wait_gpu) \
    X(SignalSynchronizationObjectFromGpu, D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU, signal_gpu) \
    X(Escape, D3DKMT_ESCAPE, escape)                                                             \
    X(WaitForIdle, D3DKMT_WAITFORIDLE, wait_idle)                                                \
    X(QueryVideoMemoryInfo, D3DKMT_QUERYVIDEOMEMORYINFO, video_memory)

#define CALLER(name, type, fields)          \
    static NTSTATUS call_##name(void *args) \
    {                                       \
        return D3DKMT##name((type *)args);  \
    }
CALLS(CALLER)

#define ENTRY(name, type, list) \
    {#name, call_##name, sizeof(type), list, sizeof(list) / sizeof((list)[0])},
static const struct d3dkmt_call calls[] = {CALLS(ENTRY)};

void lua_d3dkmt_open(lua_State *L)
{
    luaL_newmetatable(L, "dxgk.status");
    lua_pushcfunction(L, status_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_pop(L, 1);
    lua_newtable(L);
    for (size_t i = 0; i < ARRAY_COUNT(calls); i++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)&calls[i]);
        lua_pushcclosure(L, invoke, 1);
        lua_setfield(L, -2, calls[i].name);
    }
    lua_d3dkmt_special(L);
    lua_setglobal(L, "D3DKMT");
}
