/* SPDX-License-Identifier: MIT */
/* D3DKMTSetGammaRamp (PRES-298, PRES-299). */
#include "kmt/gamma.h"

#include <string.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/source_owner.h"
#include "modes/display_worker.h"
#include "modes/gamma.h"
#include "modes/modes.h"
#include "port/record/adapter_info.h"
#include "port/running/display.h"
#include "screens/scanouts.h"
#include "util/alloc.h"
#include "verify/refusal.h"

struct request {
    const struct kmt_device *device;
    UINT source;
    struct modes_ramp ramp;
};

/* PRES-299: the device owns the source, or nobody does. */
static NTSTATUS check_owner(const struct kmt_device *device, UINT source)
{
    D3DKMT_VIDPNSOURCEOWNER_TYPE type;
    const struct vidmm_device *owner = scanouts_owner(port_display_scanouts(device->adapter->port),
                                                      source, &type);

    return !owner || owner == device->mm
               ? STATUS_SUCCESS
               : refuse(STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER, "PRES-299",
                        "another device owns source %u", source);
}

/* Other requests came before: the owner may be another one by now. */
static NTSTATUS set(struct modes *modes, void *arg)
{
    const struct request *request = arg;
    const NTSTATUS status = check_owner(request->device, request->source);

    return NT_SUCCESS(status) ? modes_set_gamma(modes, request->source, &request->ramp) : status;
}

/* The ramps of a device that ends, and no others. */
static NTSTATUS drop(struct modes *modes, void *arg)
{
    const struct kmt_device *device = arg;

    for (UINT source = 0; source < modes->sources; source++)
        if (modes_gamma_setter(modes, source) == device->mm)
            modes_drop_gamma(modes, source);
    return STATUS_SUCCESS;
}

static bool has_cap(const struct kmt_device *device, D3DDDI_GAMMARAMP_TYPE type)
{
    const DXGK_DRIVERCAPS *caps = port_adapter_caps(device->adapter->port);

    switch ((int)type) {
    case D3DDDI_GAMMARAMP_RGB256x3x16:
        return caps->GammaRampCaps.Gamma_Rgb256x3x16;
    case D3DDDI_GAMMARAMP_DXGI_1:
        return port_display_modes(device->adapter->port)->version >=
                   DXGKDDI_INTERFACE_VERSION_WDDM2_2 &&
               caps->ColorTransformCaps.Gamma_Dxgi1;
    default:
        return true;
    }
}

static NTSTATUS check(const struct kmt_device *device, const D3DKMT_SETGAMMARAMP *args)
{
    const struct scanouts *scanouts = kmt_scanouts(device->adapter);
    NTSTATUS status;

    if (args->Type < D3DDDI_GAMMARAMP_DEFAULT || args->Type > D3DDDI_GAMMARAMP_DXGI_1 ||
        (args->Type != D3DDDI_GAMMARAMP_DEFAULT && args->Size != modes_ramp_bytes(args->Type)))
        return refuse(STATUS_INVALID_PARAMETER, "PRES-299", "a ramp of type %d with %u bytes",
                      (int)args->Type, args->Size);
    if (!scanouts)
        return STATUS_NOT_SUPPORTED;
    if (args->VidPnSourceId >= kmt_sources(device->adapter))
        return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "PRES-299",
                      "the adapter has no source %u", args->VidPnSourceId);
    status = check_owner(device, args->VidPnSourceId);
    if (!NT_SUCCESS(status))
        return status;
    return has_cap(device, args->Type)
               ? STATUS_SUCCESS
               : refuse(STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED, "DISP-164",
                        "the driver has no cap for ramps of type %d", (int)args->Type);
}

static NTSTATUS set_gamma_ramp(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SETGAMMARAMP *args = arguments;
    struct kmt_device *device = kmt_handle_device(call, args->hDevice);
    struct request *request;
    NTSTATUS status;

    if (!device)
        return STATUS_INVALID_PARAMETER;
    status = kmt_adapter_check(device->adapter);
    if (NT_SUCCESS(status))
        status = check(device, args);
    if (!NT_SUCCESS(status))
        return status;
    request = util_zalloc(1, sizeof(*request));
    if (!request)
        return STATUS_NO_MEMORY;
    request->device = device;
    request->source = args->VidPnSourceId;
    request->ramp.type = args->Type;
    request->ramp.setter = device->mm;
    request->ramp.bytes = modes_ramp_bytes(args->Type);
    status = kmt_client_get(&request->ramp.data, args->pGammaRampRgb256x3x16, request->ramp.bytes)
                 ? display_do(port_display_modes(device->adapter->port), set, request)
                 : STATUS_INVALID_PARAMETER;
    util_free(request);
    return status;
}

void kmt_gamma_leave(struct kmt_device *device)
{
    struct modes *modes = port_display_modes(device->adapter->port);
    bool any = false;

    for (UINT source = 0; modes && source < modes->sources; source++)
        any |= modes_gamma_setter(modes, source) == device->mm;
    if (any)
        (void)display_do(modes, drop, device);
}

KMT_IN(D3DKMTSetGammaRamp, D3DKMT_SETGAMMARAMP, set_gamma_ramp)
