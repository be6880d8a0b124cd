/* SPDX-License-Identifier: MIT */
#include "modes/target_calls.h"
#include "ddi/entries_display.h"
#include "modes/apply.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "verify/refusal.h"
#include "verify/verify.h"

NTSTATUS target_set_content(struct modes *modes, UINT target,
                            D3DKMDT_VIDPN_PRESENT_PATH_CONTENT content)
{
    const DXGKARG_SETTARGETCONTENTTYPE args = {.TargetId = target, .ContentType = content};
    D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_to(modes->active, target);
    NTSTATUS status;

    if (!path)
        return refuse(STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY, "DISP-118", "target 0x%x shows nothing",
                      target);
    if (content != D3DKMDT_VPPC_GRAPHICS && content != D3DKMDT_VPPC_VIDEO)
        return refuse(STATUS_INVALID_PARAMETER, "DISP-118", "content %d", (int)content);
    if (path->Content == content)
        return STATUS_SUCCESS;
    if (modes->version < DXGKDDI_INTERFACE_VERSION_WDDM2_2 ||
        !ddi_has(modes->ddi, DxgkDdiSetTargetContentType))
        return refuse(STATUS_NOT_SUPPORTED, "DISP-118", "DxgkDdiSetTargetContentType is NULL");
    status = modes_still(modes, "DxgkDdiSetTargetContentType");
    if (!NT_SUCCESS(status))
        return status;
    status = ddi_set_target_content_type(modes->ddi, &args);
    modes_go_on(modes);
    if (NT_SUCCESS(status))
        path->Content = content;
    return status;
}

NTSTATUS target_control_behavior(struct modes *modes, DXGKARG_CONTROLMODEBEHAVIOR *args)
{
    const UINT wanted = args->Request.Value;
    NTSTATUS status;

    if (modes->version < DXGKDDI_INTERFACE_VERSION_WDDM2_1 ||
        !ddi_has(modes->ddi, DxgkDdiControlModeBehavior))
        return refuse(STATUS_NOT_SUPPORTED, "DISP-120", "DxgkDdiControlModeBehavior is NULL");
    args->Satisfied.Value = args->NotSatisfied.Value = 0;
    status = ddi_control_mode_behavior(modes->ddi, args);
    if (!NT_SUCCESS(status))
        return status;
    if ((args->Satisfied.Value & args->NotSatisfied.Value) ||
        ((args->Satisfied.Value | args->NotSatisfied.Value) & ~wanted))
        VIOLATION("DISP-120",
                  "Request is 0x%x, and the driver answers Satisfied 0x%x and NotSatisfied 0x%x",
                  wanted, args->Satisfied.Value, args->NotSatisfied.Value);
    args->Satisfied.Value &= wanted;
    return args->Satisfied.Value ? modes_apply_all(modes, COMMIT_CHANGE) : STATUS_SUCCESS;
}
