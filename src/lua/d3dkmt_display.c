/* SPDX-License-Identifier: MIT */
/* Displays: the calls whose structures are fields alone. */
#include "lua/d3dkmt_display.h"

#include <ntddk.h>
#include <d3dkmthk.h>

#include "lua/d3dkmt_call.h"
#include "lua/d3dkmt_present.h"
#include "lua/field.h"
#include "util/array.h"

#define VERSION0(member) offsetof(D3DKMT_SETVIDPNSOURCEOWNER1, Version0.member)

static const struct field set_owner[] = {
    V(D3DKMT_SETVIDPNSOURCEOWNER, hDevice), A(D3DKMT_SETVIDPNSOURCEOWNER, pType, VidPnSourceCount),
    P(D3DKMT_SETVIDPNSOURCEOWNER, pVidPnSourceId, VidPnSourceCount)};
static const struct field set_owner1[] = {
    VN(D3DKMT_SETVIDPNSOURCEOWNER1, "hDevice", Version0.hDevice),
    {"pType", FIELD_ARRAY, VERSION0(pType), sizeof(D3DKMT_VIDPNSOURCEOWNER_TYPE),
     VERSION0(VidPnSourceCount), 0},
    {"pVidPnSourceId", FIELD_PARALLEL, VERSION0(pVidPnSourceId), sizeof(UINT),
     VERSION0(VidPnSourceCount), 0},
    VN(D3DKMT_SETVIDPNSOURCEOWNER1, "Flags", Flags.Value)};
static const struct field check_exclusive[] = {
    V(D3DKMT_CHECKVIDPNEXCLUSIVEOWNERSHIP, hAdapter),
    V(D3DKMT_CHECKVIDPNEXCLUSIVEOWNERSHIP, VidPnSourceId)};
static const struct field set_mode[] = {V(D3DKMT_SETDISPLAYMODE, hDevice),
                                        V(D3DKMT_SETDISPLAYMODE, hPrimaryAllocation),
                                        V(D3DKMT_SETDISPLAYMODE, ScanLineOrdering),
                                        V(D3DKMT_SETDISPLAYMODE, DisplayOrientation),
                                        V(D3DKMT_SETDISPLAYMODE, PrivateDriverFormatAttribute),
                                        VN(D3DKMT_SETDISPLAYMODE, "Flags", Flags)};
static const struct field shared_primary[] = {V(D3DKMT_GETSHAREDPRIMARYHANDLE, hAdapter),
                                              V(D3DKMT_GETSHAREDPRIMARYHANDLE, VidPnSourceId),
                                              V(D3DKMT_GETSHAREDPRIMARYHANDLE, hSharedPrimary)};
static const struct field wait_blank[] = {V(D3DKMT_WAITFORVERTICALBLANKEVENT, hAdapter),
                                          V(D3DKMT_WAITFORVERTICALBLANKEVENT, hDevice),
                                          V(D3DKMT_WAITFORVERTICALBLANKEVENT, VidPnSourceId)};
static const struct field wait_blank2[] = {
    V(D3DKMT_WAITFORVERTICALBLANKEVENT2, hAdapter), V(D3DKMT_WAITFORVERTICALBLANKEVENT2, hDevice),
    V(D3DKMT_WAITFORVERTICALBLANKEVENT2, VidPnSourceId),
    I(D3DKMT_WAITFORVERTICALBLANKEVENT2, ObjectHandleArray, NumObjects)};
static const struct field scan_line[] = {
    V(D3DKMT_GETSCANLINE, hAdapter), V(D3DKMT_GETSCANLINE, VidPnSourceId),
    V(D3DKMT_GETSCANLINE, InVerticalBlank), V(D3DKMT_GETSCANLINE, ScanLine)};
static const struct field queued_limit[] = {V(D3DKMT_SETQUEUEDLIMIT, hDevice),
                                            V(D3DKMT_SETQUEUEDLIMIT, Type),
                                            V(D3DKMT_SETQUEUEDLIMIT, QueuedPresentLimit)};
static const struct field gamma_ramp[] = {
    V(D3DKMT_SETGAMMARAMP, hDevice), V(D3DKMT_SETGAMMARAMP, VidPnSourceId),
    V(D3DKMT_SETGAMMARAMP, Type), B(D3DKMT_SETGAMMARAMP, pGammaRampRgb256x3x16, Size)};
static const struct field monitor_power[] = {V(D3DKMT_CHECKMONITORPOWERSTATE, hAdapter),
                                             V(D3DKMT_CHECKMONITORPOWERSTATE, VidPnSourceId)};
static const struct field occlusion[] = {V(D3DKMT_CHECKOCCLUSION, hWindow)};

/* Of the calling process. */
struct no_members {
    UINT none;
};
static const struct field nothing[] = {V(struct no_members, none)};

static NTSTATUS call_ReleaseProcessVidPnSourceOwners(void *args)
{
    (void)args;
    return D3DKMTReleaseProcessVidPnSourceOwners(NtCurrentProcess());
}

#define CALLS(X)                                                                          \
    X(SetVidPnSourceOwner, D3DKMT_SETVIDPNSOURCEOWNER, set_owner)                         \
    X(SetVidPnSourceOwner1, D3DKMT_SETVIDPNSOURCEOWNER1, set_owner1)                      \
    X(CheckVidPnExclusiveOwnership, D3DKMT_CHECKVIDPNEXCLUSIVEOWNERSHIP, check_exclusive) \
    X(SetDisplayMode, D3DKMT_SETDISPLAYMODE, set_mode)                                    \
    X(GetSharedPrimaryHandle, D3DKMT_GETSHAREDPRIMARYHANDLE, shared_primary)              \
    X(WaitForVerticalBlankEvent, D3DKMT_WAITFORVERTICALBLANKEVENT, wait_blank)            \
    X(WaitForVerticalBlankEvent2, D3DKMT_WAITFORVERTICALBLANKEVENT2, wait_blank2)         \
    X(GetScanLine, D3DKMT_GETSCANLINE, scan_line)                                         \
    X(SetQueuedLimit, D3DKMT_SETQUEUEDLIMIT, queued_limit)                                \
    X(SetGammaRamp, D3DKMT_SETGAMMARAMP, gamma_ramp)                                      \
    X(CheckMonitorPowerState, D3DKMT_CHECKMONITORPOWERSTATE, monitor_power)               \
    X(CheckOcclusion, D3DKMT_CHECKOCCLUSION, occlusion)

CALLS(CALLER)

static const struct d3dkmt_call calls[] = {CALLS(ENTRY){"ReleaseProcessVidPnSourceOwners",
                                                        call_ReleaseProcessVidPnSourceOwners,
                                                        sizeof(struct no_members), nothing, 0}};

void lua_d3dkmt_display(lua_State *L)
{
    lua_d3dkmt_add(L, calls, ARRAY_COUNT(calls));
    lua_d3dkmt_present(L);
}
