/* SPDX-License-Identifier: MIT */
#include "modes/gamma.h"

#include <string.h>

#include "ddi/entries_display.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "verify/verify.h"

UINT modes_ramp_bytes(D3DDDI_GAMMARAMP_TYPE type)
{
    return type == D3DDDI_GAMMARAMP_RGB256x3x16 ? sizeof(D3DDDI_GAMMA_RAMP_RGB256x3x16)
           : type == D3DDDI_GAMMARAMP_DXGI_1    ? sizeof(D3DDDI_GAMMA_RAMP_DXGI_1)
                                                : 0;
}

/* ---- in a path ---- */

/* The ramp stays where it is as long as the adapter has outputs, so older VidPNs may name it. */
static void set_path(D3DKMDT_VIDPN_PRESENT_PATH *path, struct modes_ramp *ramp)
{
    memset(&path->GammaRamp, 0, sizeof(path->GammaRamp));
    path->GammaRamp.Type = D3DDDI_GAMMARAMP_DEFAULT;
    if (!ramp || !ramp->bytes)
        return;
    path->GammaRamp.Type = ramp->type;
    path->GammaRamp.DataSize = ramp->bytes;
    path->GammaRamp.Data.pRaw = &ramp->data;
}

void modes_apply_gamma(const struct modes *modes, struct vidpn *vidpn)
{
    for (UINT i = 0; i < vidpn->paths; i++)
        set_path(&vidpn->path[i], modes->source[vidpn->path[i].VidPnSourceId].ramp);
}

/* ---- the driver ---- */

/* DISP-117: a change of the ramp alone has an entry of its own. */
static NTSTATUS tell_path(struct modes *modes, D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH update;
    DXGKARG_SETTARGETGAMMA gamma;

    if (modes->version >= DXGKDDI_INTERFACE_VERSION_WDDM2_2 &&
        ddi_has(modes->ddi, DxgkDdiSetTargetGamma)) {
        memset(&gamma, 0, sizeof(gamma));
        gamma.TargetId = path->VidPnTargetId;
        gamma.GammaRamp = path->GammaRamp;
        return ddi_set_target_gamma(modes->ddi, &gamma);
    }
    if (!ddi_has(modes->ddi, DxgkDdiUpdateActiveVidPnPresentPath))
        return refuse(STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED, "VIDPN-198",
                      "DxgkDdiUpdateActiveVidPnPresentPath is NULL");
    memset(&update, 0, sizeof(update));
    update.VidPnPresentPathInfo = *path;
    return ddi_update_active_vidpn_present_path(modes->ddi, &update);
}

/* VIDPN-123: what was in force stays, also on the paths that have got the other one already. */
static void take_back(struct modes *modes, UINT source, const struct modes_ramp *before, UINT told)
{
    struct modes_ramp *ramp = modes->source[source].ramp;

    *ramp = *before;
    for (UINT i = 0; i < vidpn_paths_from(modes->active, source); i++) {
        D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_from(modes->active, source, i);

        set_path(path, ramp);
        if (i < told && !modes->ddi->gone)
            (void)tell_path(modes, path);
    }
}

/* That of the source, which had the one before. */
static NTSTATUS tell(struct modes *modes, UINT source, const struct modes_ramp *before)
{
    struct modes_ramp *ramp = modes->source[source].ramp;
    NTSTATUS status = modes_still(modes, "DxgkDdiUpdateActiveVidPnPresentPath");
    UINT told = 0;

    if (!NT_SUCCESS(status)) {
        *ramp = *before;
        return status;
    }
    while (NT_SUCCESS(status) && told < vidpn_paths_from(modes->active, source)) {
        D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_from(modes->active, source, told);

        set_path(path, ramp);
        status = tell_path(modes, path);
        told += NT_SUCCESS(status);
    }
    if (!NT_SUCCESS(status) && !modes->ddi->gone)
        WARNING("VIDPN-123", "the driver returned %s for a gamma ramp of type %d of source %u",
                nt_status_text(status).text, (int)ramp->type, source);
    if (!NT_SUCCESS(status))
        take_back(modes, source, before, told);
    modes_go_on(modes);
    return status;
}

/* Paths point into the record of the source, so it stays where it is. */
static struct modes_ramp *record_of(struct modes *modes, UINT source)
{
    struct modes_ramp **own = &modes->source[source].ramp;

    if (!*own)
        *own = util_zalloc(1, sizeof(**own));
    if (*own && !(*own)->type)
        (*own)->type = D3DDDI_GAMMARAMP_DEFAULT;
    return *own;
}

NTSTATUS modes_set_gamma(struct modes *modes, UINT source, const struct modes_ramp *ramp)
{
    struct modes_ramp *own = record_of(modes, source), *before = util_alloc(sizeof(*before));
    NTSTATUS status = STATUS_NO_MEMORY;

    if (own && before) {
        *before = *own;
        *own = *ramp;
        status = tell(modes, source, before);
    }
    util_free(before);
    return status;
}

const void *modes_gamma_setter(const struct modes *modes, UINT source)
{
    const struct modes_ramp *ramp = modes->source[source].ramp;

    return ramp && ramp->type != D3DDDI_GAMMARAMP_DEFAULT ? ramp->setter : NULL;
}

void modes_drop_gamma(struct modes *modes, UINT source)
{
    struct modes_ramp *none = util_zalloc(1, sizeof(*none));

    if (none) {
        none->type = D3DDDI_GAMMARAMP_DEFAULT;
        (void)modes_set_gamma(modes, source, none);
    }
    util_free(none);
    modes->source[source].ramp->setter = NULL;
}

void modes_gamma_finish(struct modes *modes)
{
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++)
        util_free(modes->source[i].ramp);
}
