/* SPDX-License-Identifier: MIT */
/* Step 5: the hardware shows the pointer, so that moving it costs no picture. */
#include "panel.h"

#if STEP >= 5
NTSTATUS NTAPI panel_set_pointer_position(HANDLE context, const DXGKARG_SETPOINTERPOSITION *args)
{
    struct panel *panel = context;

    if (args->Flags.Visible) {
        panel_write(panel, PANEL_POINTER_XY,
                    ((ULONG)args->Y & 0xFFFFu) << 16 | ((ULONG)args->X & 0xFFFFu));
        panel->control |= PANEL_POINTER;
    } else {
        panel->control &= ~PANEL_POINTER;
    }
    panel_write(panel, PANEL_CONTROL, panel->control);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI panel_set_pointer_shape(HANDLE context, const DXGKARG_SETPOINTERSHAPE *args)
{
    const struct panel *panel = context;
    PUCHAR to = panel->memory + PANEL_POINTER_AT;

    if (!args->Flags.Color || args->Width > PANEL_POINTER_SIDE || args->Height > PANEL_POINTER_SIDE)
        return STATUS_NOT_SUPPORTED; /* the host draws it then */
    RtlZeroMemory(to, PANEL_POINTER_BYTES);
    for (UINT y = 0; y < args->Height; y++)
        RtlCopyMemory(to + y * PANEL_POINTER_SIDE * 4,
                      (const UCHAR *)args->pPixels + (SIZE_T)y * args->Pitch, args->Width * 4u);
    return STATUS_SUCCESS;
}
#endif
