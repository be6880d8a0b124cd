/* SPDX-License-Identifier: MIT */
/*
 * Commands of GDI (DXGK_RENDERKM_COMMAND), as DxgkDdiRenderKm and DxgkDdiRenderGdi get them: in
 * memory of the host, which a driver may read without protection. Records lie one behind the other,
 * each with the rectangles that it names.
 *
 *     OpCode, CommandSize | arguments, with pSubRects ---> | rectangles | next record
 */
#ifndef DXGK_VIDSCH_GDI_COMMANDS_H
#define DXGK_VIDSCH_GDI_COMMANDS_H

#include "ddi/guarded.h"
#include "vidsch/vidsch.h"

/* Copy the records that a client wrote; pSubRects of the copies lead into the copies (PATCH-165).
 * On success ddi_guarded_finish ends it. */
NTSTATUS vidsch_gdi_commands_copy(struct ddi_guarded *copy, const void *commands, uint32_t bytes);

#endif
