/* SPDX-License-Identifier: MIT */
/* D3DKMTSetVidPnSourceOwner and its kin (PRES-266 to PRES-272). */
#include "kmt/source_owner.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "modes/modes.h"
#include "port/running/display.h"
#include "screens/scanouts.h"
#include "util/alloc.h"
#include "verify/refusal.h"

struct scanouts *kmt_scanouts(const struct kmt_adapter *adapter)
{
    struct scanouts *scanouts = port_display_scanouts(adapter->port);

    if (!scanouts)
        (void)refuse(STATUS_NOT_SUPPORTED, "KMT-001", "the adapter has no display");
    return scanouts;
}

UINT kmt_sources(const struct kmt_adapter *adapter)
{
    return port_display_scanouts(adapter->port) ? port_display_modes(adapter->port)->sources : 0;
}

NTSTATUS kmt_source_owned(const struct kmt_device *device, UINT source)
{
    D3DKMT_VIDPNSOURCEOWNER_TYPE type;

    if (source >= kmt_sources(device->adapter))
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "PRES-267",
                      "the adapter has no source %u", source);
    if (scanouts_owner(port_display_scanouts(device->adapter->port), source, &type) == device->mm &&
        type == D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE)
        return STATUS_SUCCESS;
    return refuse(STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER, "PRES-281",
                  "the device does not own source %u exclusively", source);
}

NTSTATUS kmt_check_primary(const struct kmt_adapter *adapter, UINT index,
                           const D3DDDI_ALLOCATIONINFO2 *info)
{
    if (!info->Flags.Primary && !info->Flags.Stereo)
        return STATUS_SUCCESS;
    if (!info->Flags.Primary || !kmt_sources(adapter))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-203", /* PRES-074 */
                      "allocation %u has Flags 0x%x: those of a display", index, info->Flags.Value);
    if (info->Flags.Stereo)
        return refuse(STATUS_NOT_SUPPORTED, "PRES-074", "allocation %u is a stereo primary", index);
    if (info->VidPnSourceId >= kmt_sources(adapter))
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "PRES-073",
                      "allocation %u is a primary of source %u, which the adapter does not have",
                      index, info->VidPnSourceId);
    return STATUS_SUCCESS;
}

void kmt_source_enter(struct kmt_device *device, bool requests_vsync)
{
    struct scanouts *scanouts = port_display_scanouts(device->adapter->port);

    if (!scanouts || !requests_vsync)
        return;
    device->requests_vsync = true;
    scanouts_request_vsync(scanouts, true);
}

void kmt_source_end_waits(const struct kmt_device *device)
{
    struct scanouts *scanouts = port_display_scanouts(device->adapter->port);

    if (scanouts)
        scanouts_end_waits(scanouts, device->mm);
}

void kmt_source_leave(struct kmt_device *device)
{
    struct scanouts *scanouts = port_display_scanouts(device->adapter->port);

    if (scanouts && device->requests_vsync)
        scanouts_request_vsync(scanouts, false);
    if (scanouts)
        scanouts_leave(scanouts, device->mm);
}

/* ---- owners ---- */

struct ownership {
    const struct kmt_device *device;
    struct scanouts *scanouts;
    D3DKMT_VIDPNSOURCEOWNER_TYPE *type;
    D3DDDI_VIDEO_PRESENT_SOURCE_ID *source;
    UINT count;
};

static bool keeps_away(D3DKMT_VIDPNSOURCEOWNER_TYPE type)
{
    return type == D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE || type == D3DKMT_VIDPNSOURCEOWNER_EMULATED;
}

static NTSTATUS in_use(UINT source)
{
    return refuse(STATUS_GRAPHICS_VIDPN_SOURCE_IN_USE, "PRES-267", "another device owns source %u",
                  source);
}

/* PRES-267 to PRES-269: may this element be granted? */
static NTSTATUS check(const struct ownership *o, UINT index)
{
    const D3DKMT_VIDPNSOURCEOWNER_TYPE wanted = o->type[index];
    const UINT source = o->source[index];
    const struct vidmm_device *owner;
    D3DKMT_VIDPNSOURCEOWNER_TYPE type;

    if (wanted < D3DKMT_VIDPNSOURCEOWNER_UNOWNED || wanted > D3DKMT_VIDPNSOURCEOWNER_EMULATED ||
        wanted == D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVEGDI)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-269", "type %d of owner", (int)wanted);
    if (source >= kmt_sources(o->device->adapter))
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "PRES-267",
                      "the adapter has no source %u", source);
    owner = scanouts_owner(o->scanouts, source, &type);
    if (!owner || wanted == D3DKMT_VIDPNSOURCEOWNER_UNOWNED)
        return STATUS_SUCCESS;
    if (owner != o->device->mm)
        return keeps_away(type) || wanted == D3DKMT_VIDPNSOURCEOWNER_SHARED ? in_use(source)
                                                                            : STATUS_SUCCESS;
    if (keeps_away(type) && wanted != type &&
        (keeps_away(wanted) || type == D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-269",
                      "the device owns source %u with type %d, and asks for type %d", source,
                      (int)type, (int)wanted);
    return STATUS_SUCCESS;
}

static void grant(const struct ownership *o, UINT index)
{
    const struct vidmm_device *owner;
    D3DKMT_VIDPNSOURCEOWNER_TYPE type;

    owner = scanouts_owner(o->scanouts, o->source[index], &type);
    if (o->type[index] != D3DKMT_VIDPNSOURCEOWNER_UNOWNED)
        scanouts_set_owner(o->scanouts, o->source[index], o->device->mm, o->type[index]);
    else if (owner == o->device->mm)
        scanouts_set_owner(o->scanouts, o->source[index], NULL, D3DKMT_VIDPNSOURCEOWNER_UNOWNED);
}

static NTSTATUS set_all(const struct ownership *o)
{
    for (UINT i = 0; i < o->count; i++) {
        NTSTATUS status = check(o, i);

        if (!NT_SUCCESS(status))
            return status;
    }
    for (UINT i = 0; i < o->count; i++)
        grant(o, i);
    return STATUS_SUCCESS;
}

static NTSTATUS release_all(const struct ownership *o)
{
    for (UINT source = 0; source < kmt_sources(o->device->adapter); source++) {
        D3DKMT_VIDPNSOURCEOWNER_TYPE type;

        if (scanouts_owner(o->scanouts, source, &type) == o->device->mm)
            scanouts_set_owner(o->scanouts, source, NULL, D3DKMT_VIDPNSOURCEOWNER_UNOWNED);
    }
    return STATUS_SUCCESS;
}

static NTSTATUS set_owner(struct kmt_call *call, const D3DKMT_SETVIDPNSOURCEOWNER *args)
{
    struct ownership o = {.count = args->VidPnSourceCount};
    NTSTATUS status;

    o.device = kmt_handle_device(call, args->hDevice);
    if (!o.device)
        return STATUS_INVALID_PARAMETER;
    o.scanouts = kmt_scanouts(o.device->adapter);
    if (!o.scanouts)
        return STATUS_NOT_SUPPORTED;
    if (!args->pType && !args->pVidPnSourceId && !args->VidPnSourceCount)
        return release_all(&o);
    if (!args->pType || !args->pVidPnSourceId || !o.count || o.count > MODES_MAX_SOURCES)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-267", "%u sources, %s types, %s ids", o.count,
                      args->pType ? "with" : "without", args->pVidPnSourceId ? "with" : "without");
    status = kmt_client_copy_array(args->pType, o.count, sizeof(*o.type), (void **)&o.type);
    if (NT_SUCCESS(status))
        status = kmt_client_copy_array(args->pVidPnSourceId, o.count, sizeof(*o.source),
                                       (void **)&o.source);
    if (NT_SUCCESS(status))
        status = set_all(&o);
    util_free(o.type);
    util_free(o.source);
    return status;
}

static NTSTATUS set_source_owner(struct kmt_call *call, void *arguments)
{
    return set_owner(call, arguments);
}

/* PRES-270: what it says beside the first form has no effect, but for handles, which are not
 * there. */
static NTSTATUS set_owner_with(struct kmt_call *call, const D3DKMT_SETVIDPNSOURCEOWNER1 *args)
{
    return args->Flags.UseNtHandles
               ? refuse(STATUS_NOT_SUPPORTED, "PRES-270",
                        "Flags 0x%x: NT handles of sources are not there", args->Flags.Value)
               : set_owner(call, &args->Version0);
}

static NTSTATUS set_source_owner1(struct kmt_call *call, void *arguments)
{
    return set_owner_with(call, arguments);
}

static NTSTATUS set_source_owner2(struct kmt_call *call, void *arguments)
{
    return set_owner_with(call, &((const D3DKMT_SETVIDPNSOURCEOWNER2 *)arguments)->Version1);
}

/* ---- of a whole process ---- */

static void release_of(const struct kmt_adapter *adapter)
{
    LIST_FOR(node, &adapter->devices) {
        struct ownership o = {.device = CONTAINER(node, struct kmt_device, link)};

        o.scanouts = port_display_scanouts(adapter->port);
        if (o.scanouts)
            (void)release_all(&o);
    }
}

/* PRES-271 */
static NTSTATUS release_process(struct kmt_call *call, void *arguments)
{
    struct nt_process *process;
    const NTSTATUS status = kmt_handle_process(call, *(const HANDLE *)arguments,
                                               KMT_PROCESS_SET_INFORMATION, &process);

    if (!NT_SUCCESS(status))
        return status;
    if (process->client)
        LIST_FOR(node, &((const struct kmt_process *)process->client)->adapters)
            release_of(CONTAINER(node, struct kmt_adapter, link));
    return STATUS_SUCCESS;
}

NTSTATUS APIENTRY D3DKMTReleaseProcessVidPnSourceOwners(HANDLE process)
{
    HANDLE given = process, argument;

    return kmt_call_run(__func__, release_process, &given, &argument, sizeof(argument), 0);
}

/* ---- who asks ---- */

static NTSTATUS check_exclusive(struct kmt_call *call, void *arguments)
{
    const D3DKMT_CHECKVIDPNEXCLUSIVEOWNERSHIP *args = arguments;
    const struct kmt_adapter *adapter = kmt_handle_adapter(call, args->hAdapter);
    D3DKMT_VIDPNSOURCEOWNER_TYPE type;
    const struct scanouts *scanouts;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    scanouts = kmt_scanouts(adapter);
    if (!scanouts)
        return STATUS_NOT_SUPPORTED;
    if (args->VidPnSourceId >= kmt_sources(adapter))
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "PRES-272",
                      "the adapter has no source %u", args->VidPnSourceId);
    if (!scanouts_owner(scanouts, args->VidPnSourceId, &type) ||
        type != D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE)
        return STATUS_SUCCESS;
    return refuse(STATUS_GRAPHICS_PRESENT_OCCLUDED, "PRES-272", "source %u is owned exclusively",
                  args->VidPnSourceId);
}

KMT_IN(D3DKMTSetVidPnSourceOwner, D3DKMT_SETVIDPNSOURCEOWNER, set_source_owner)
KMT_IN(D3DKMTSetVidPnSourceOwner1, D3DKMT_SETVIDPNSOURCEOWNER1, set_source_owner1)
KMT_IN(D3DKMTSetVidPnSourceOwner2, D3DKMT_SETVIDPNSOURCEOWNER2, set_source_owner2)
KMT_IN(D3DKMTCheckVidPnExclusiveOwnership, D3DKMT_CHECKVIDPNEXCLUSIVEOWNERSHIP, check_exclusive)
