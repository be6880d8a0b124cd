/* SPDX-License-Identifier: MIT */
/* Displays: Present, GetDisplayModeList, the state of a device, and adapters by display names. */
#include "lua/d3dkmt_present.h"

#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include <lauxlib.h>

#include "lua/field.h"
#include "lua/status.h"
#include "util/array.h"

#define MOST_RECTANGLES 4096
#define MOST_MODES      65536

/* ---- arguments ---- */

static lua_Integer integer(lua_State *L, int table, const char *name)
{
    lua_Integer value = 0;

    if (lua_getfield(L, table, name) != LUA_TNIL)
        value = lua_isboolean(L, -1) ? lua_toboolean(L, -1) : luaL_checkinteger(L, -1);
    lua_pop(L, 1);
    return value;
}

static UINT word(lua_State *L, const char *name)
{
    return (UINT)integer(L, 1, name);
}

static void set(lua_State *L, const char *name, lua_Integer value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

static void begin(lua_State *L, const char *call, const char *const *members, size_t count)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    field_check_names(L, 1, call, members, count);
}

/* {left=, top=, right=, bottom=}, on top of the stack. */
static RECT rectangle(lua_State *L)
{
    static const char *const members[] = {"left", "top", "right", "bottom"};
    const int at = lua_gettop(L);

    luaL_checktype(L, at, LUA_TTABLE);
    field_check_names(L, at, "RECT", members, ARRAY_COUNT(members));
    return (RECT){.left = (LONG)integer(L, at, "left"),
                  .top = (LONG)integer(L, at, "top"),
                  .right = (LONG)integer(L, at, "right"),
                  .bottom = (LONG)integer(L, at, "bottom")};
}

static RECT rectangle_of(lua_State *L, const char *name)
{
    RECT rect = {0};

    if (lua_getfield(L, 1, name) != LUA_TNIL)
        rect = rectangle(L);
    lua_pop(L, 1);
    return rect;
}

/* Zeroed memory, left on the stack. */
static void *memory(lua_State *L, size_t count, size_t bytes)
{
    void *to = lua_newuserdatauv(L, (count + 1) * bytes, 0);

    memset(to, 0, (count + 1) * bytes);
    return to;
}

/* An array of tables; its rectangles stay on the stack. */
static const RECT *rectangles(lua_State *L, const char *name, UINT *count)
{
    RECT *list;

    *count = 0;
    if (lua_getfield(L, 1, name) == LUA_TNIL)
        return NULL;
    luaL_argcheck(L, lua_istable(L, -1), 1, name);
    luaL_argcheck(L, lua_rawlen(L, -1) <= MOST_RECTANGLES, 1, name);
    *count = (UINT)lua_rawlen(L, -1);
    list = memory(L, *count, sizeof(*list));
    for (UINT i = 0; i < *count; i++) {
        lua_rawgeti(L, -2, (lua_Integer)i + 1);
        list[i] = rectangle(L);
        lua_pop(L, 1);
    }
    return list;
}

static void contexts(lua_State *L, D3DKMT_PRESENT *args)
{
    if (lua_getfield(L, 1, "BroadcastContext") != LUA_TNIL) {
        luaL_argcheck(L, lua_istable(L, -1), 1, "BroadcastContext");
        luaL_argcheck(L, lua_rawlen(L, -1) <= ARRAY_COUNT(args->BroadcastContext), 1,
                      "BroadcastContext");
        args->BroadcastContextCount = (ULONG)lua_rawlen(L, -1);
        for (ULONG i = 0; i < args->BroadcastContextCount; i++) {
            lua_rawgeti(L, -1, (lua_Integer)i + 1);
            args->BroadcastContext[i] = (D3DKMT_HANDLE)luaL_checkinteger(L, -1);
            lua_pop(L, 1);
        }
    }
    lua_pop(L, 1);
}

/* ---- the calls ---- */

static int present(lua_State *L)
{
    static const char *const members[] = {
        "hContext",     "hDevice",      "hWindow", "VidPnSourceId",    "hSource",
        "hDestination", "Color",        "DstRect", "SrcRect",          "pSrcSubRects",
        "PresentCount", "FlipInterval", "Flags",   "BroadcastContext", "Duration"};
    D3DKMT_PRESENT args;
    NTSTATUS status;

    begin(L, "Present", members, ARRAY_COUNT(members));
    memset(&args, 0, sizeof(args));
    args.hContext = (D3DKMT_HANDLE)integer(L, 1, "hContext");
    if (!args.hContext) /* they are one member of the structure */
        args.hDevice = (D3DKMT_HANDLE)integer(L, 1, "hDevice");
    args.hWindow = (HWND)(uintptr_t)integer(L, 1, "hWindow");
    args.VidPnSourceId = word(L, "VidPnSourceId");
    args.hSource = word(L, "hSource");
    args.hDestination = word(L, "hDestination");
    args.Color = word(L, "Color");
    args.DstRect = rectangle_of(L, "DstRect");
    args.SrcRect = rectangle_of(L, "SrcRect");
    args.PresentCount = word(L, "PresentCount");
    args.FlipInterval = (D3DDDI_FLIPINTERVAL_TYPE)word(L, "FlipInterval");
    args.Flags.Value = word(L, "Flags");
    args.Duration = word(L, "Duration");
    contexts(L, &args);
    args.pSrcSubRects = rectangles(L, "pSrcSubRects", &args.SubRectCnt);
    status = D3DKMTPresent(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "Present", status);
    lua_createtable(L, 0, 0);
    return 1;
}

static void push_mode(lua_State *L, const D3DKMT_DISPLAYMODE *mode)
{
    lua_createtable(L, 0, 10);
    set(L, "Width", mode->Width);
    set(L, "Height", mode->Height);
    set(L, "Format", mode->Format);
    set(L, "IntegerRefreshRate", mode->IntegerRefreshRate);
    lua_createtable(L, 0, 2);
    set(L, "Numerator", mode->RefreshRate.Numerator);
    set(L, "Denominator", mode->RefreshRate.Denominator);
    lua_setfield(L, -2, "RefreshRate");
    set(L, "ScanLineOrdering", mode->ScanLineOrdering);
    set(L, "DisplayOrientation", mode->DisplayOrientation);
    set(L, "DisplayFixedOutput", mode->DisplayFixedOutput);
}

/* GetDisplayModeList{hAdapter, VidPnSourceId, ModeCount}: pModeList; without ModeCount, with room
 * for as many as there are. */
static int get_mode_list(lua_State *L)
{
    static const char *const members[] = {"hAdapter", "VidPnSourceId", "ModeCount"};
    D3DKMT_GETDISPLAYMODELIST args = {0};
    NTSTATUS status = STATUS_SUCCESS;

    begin(L, "GetDisplayModeList", members, ARRAY_COUNT(members));
    args.hAdapter = word(L, "hAdapter");
    args.VidPnSourceId = word(L, "VidPnSourceId");
    args.ModeCount = word(L, "ModeCount");
    luaL_argcheck(L, args.ModeCount <= MOST_MODES, 1, "ModeCount");
    if (!args.ModeCount)
        status = D3DKMTGetDisplayModeList(&args);
    if (NT_SUCCESS(status)) {
        args.pModeList = memory(L, args.ModeCount, sizeof(*args.pModeList));
        status = D3DKMTGetDisplayModeList(&args);
    }
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "GetDisplayModeList", status);
    lua_createtable(L, 0, 2);
    set(L, "ModeCount", args.ModeCount);
    lua_createtable(L, (int)args.ModeCount, 0);
    for (UINT i = 0; i < args.ModeCount; i++) {
        push_mode(L, &args.pModeList[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "pModeList");
    return 1;
}

static void push_present_state(lua_State *L, const D3DKMT_DEVICEPRESENT_STATE *state)
{
    lua_createtable(L, 0, 2);
    set(L, "VidPnSourceId", state->VidPnSourceId);
    lua_createtable(L, 0, 5);
    set(L, "PresentCount", state->PresentStats.PresentCount);
    set(L, "PresentRefreshCount", state->PresentStats.PresentRefreshCount);
    set(L, "SyncRefreshCount", state->PresentStats.SyncRefreshCount);
    set(L, "SyncQPCTime", state->PresentStats.SyncQPCTime.QuadPart);
    set(L, "SyncGPUTime", state->PresentStats.SyncGPUTime.QuadPart);
    lua_setfield(L, -2, "PresentStats");
    lua_setfield(L, -2, "PresentState");
}

/* GetDeviceState{hDevice, StateType, VidPnSourceId}: the member of the union for this type. */
static int get_device_state(lua_State *L)
{
    static const char *const members[] = {"hDevice", "StateType", "ExecutionState", "VidPnSourceId"};
    D3DKMT_GETDEVICESTATE args;
    NTSTATUS status;

    begin(L, "GetDeviceState", members, ARRAY_COUNT(members));
    memset(&args, 0, sizeof(args));
    args.hDevice = word(L, "hDevice");
    args.StateType = (D3DKMT_DEVICESTATE_TYPE)word(L, "StateType");
    args.PresentState.VidPnSourceId = word(L, "VidPnSourceId");
    status = D3DKMTGetDeviceState(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "GetDeviceState", status);
    lua_createtable(L, 0, 4);
    set(L, "hDevice", args.hDevice);
    set(L, "StateType", args.StateType);
    if (args.StateType == D3DKMT_DEVICESTATE_PRESENT) {
        push_present_state(L, &args.PresentState);
    } else if (args.StateType == D3DKMT_DEVICESTATE_PRESENT_QUEUE) {
        lua_createtable(L, 0, 1);
        set(L, "bQueuedPresentLimitReached", args.PresentQueueState.bQueuedPresentLimitReached);
        lua_setfield(L, -2, "PresentQueueState");
    } else {
        set(L, "ExecutionState", args.ExecutionState);
    }
    lua_pushliteral(L, "STATUS_SUCCESS");
    lua_setfield(L, -2, "status");
    return 1;
}

static int opened(lua_State *L, D3DKMT_HANDLE adapter, LUID luid, UINT source)
{
    lua_createtable(L, 0, 4);
    set(L, "hAdapter", adapter);
    set(L, "LowPart", luid.LowPart);
    set(L, "HighPart", luid.HighPart);
    set(L, "VidPnSourceId", source);
    return 1;
}

/* OpenAdapterFromGdiDisplayName{DeviceName = "\\\\.\\DISPLAY1"} */
static int open_display_name(lua_State *L)
{
    static const char *const members[] = {"DeviceName"};
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME args;
    const char *name;
    size_t length;
    NTSTATUS status;

    begin(L, "OpenAdapterFromGdiDisplayName", members, ARRAY_COUNT(members));
    memset(&args, 0, sizeof(args));
    lua_getfield(L, 1, "DeviceName");
    name = luaL_optlstring(L, -1, "", &length);
    luaL_argcheck(L, length < ARRAY_COUNT(args.DeviceName), 1, "DeviceName: too long");
    for (size_t i = 0; i < length; i++)
        args.DeviceName[i] = (WCHAR)(unsigned char)name[i];
    status = D3DKMTOpenAdapterFromGdiDisplayName(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "OpenAdapterFromGdiDisplayName", status);
    return opened(L, args.hAdapter, args.AdapterLuid, args.VidPnSourceId);
}

static int open_hdc(lua_State *L)
{
    static const char *const members[] = {"hDc"};
    D3DKMT_OPENADAPTERFROMHDC args;
    NTSTATUS status;

    begin(L, "OpenAdapterFromHdc", members, ARRAY_COUNT(members));
    memset(&args, 0, sizeof(args));
    args.hDc = (HDC)(uintptr_t)integer(L, 1, "hDc");
    status = D3DKMTOpenAdapterFromHdc(&args);
    if (!NT_SUCCESS(status))
        return lua_status_raise(L, "OpenAdapterFromHdc", status);
    return opened(L, args.hAdapter, args.AdapterLuid, args.VidPnSourceId);
}

void lua_d3dkmt_present(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"Present", present},
        {"GetDisplayModeList", get_mode_list},
        {"GetDeviceState", get_device_state},
        {"OpenAdapterFromGdiDisplayName", open_display_name},
        {"OpenAdapterFromHdc", open_hdc},
        {NULL, NULL},
    };

    luaL_setfuncs(L, functions, 0);
}
