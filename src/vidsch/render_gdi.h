/* SPDX-License-Identifier: MIT */
/*
 * Commands of GDI on a context of GPU virtual addresses: D3DKMTRender with RenderKm leads to
 * DxgkDdiRenderGdi, and what that writes to DxgkDdiSubmitCommandVirtual. Such a context has no
 * command buffer of its own; the first call makes one, and an allocation list (PATCH-166).
 */
#ifndef DXGK_VIDSCH_RENDER_GDI_H
#define DXGK_VIDSCH_RENDER_GDI_H

#include "vidsch/vidsch.h"

/* Is the call one of those? */
bool vidsch_render_is_gdi(const struct vidsch_context *context, const D3DKMT_RENDER *args);
/* render_lock of the context held; yields. */
NTSTATUS vidsch_render_gdi(struct vidsch_context *context, D3DKMT_RENDER *args);

#endif
