/* SPDX-License-Identifier: MIT */
/* The typed DDI calls of multi-plane overlays; otherwise like ddi.h. */
#ifndef DXGK_DDI_ENTRIES_PLANES_H
#define DXGK_DDI_ENTRIES_PLANES_H

#include "ddi/ddi.h"

NTSTATUS ddi_check_planes(struct ddi_adapter *a, DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT *args);
NTSTATUS ddi_check_planes_2(struct ddi_adapter *a, DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT2 *args);
NTSTATUS ddi_check_planes_3(struct ddi_adapter *a, DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT3 *args);

/* At DIRQL, under the interrupt lock, as flips are (PRES-185). */
NTSTATUS ddi_show_planes(struct ddi_adapter *a,
                         const DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY *args);
NTSTATUS ddi_show_planes_2(struct ddi_adapter *a,
                           const DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY2 *args);
NTSTATUS ddi_show_planes_3(struct ddi_adapter *a,
                           DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3 *args);
/* The same at PASSIVE_LEVEL and level zero, or alone for a switch of mode. */
NTSTATUS ddi_show_planes_3_passive(struct ddi_adapter *a,
                                   DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3 *args,
                                   bool alone);
NTSTATUS ddi_post_planes(struct ddi_adapter *a, const DXGKARG_POSTMULTIPLANEOVERLAYPRESENT *args);

NTSTATUS ddi_get_plane_caps(struct ddi_adapter *a, DXGKARG_GETMULTIPLANEOVERLAYCAPS *args);
NTSTATUS ddi_get_post_composition_caps(struct ddi_adapter *a, DXGKARG_GETPOSTCOMPOSITIONCAPS *args);
/* DxgkDdiPresent with planes in place of the allocation list (PRES-100). */
NTSTATUS ddi_present_planes(struct ddi_adapter *a, HANDLE context, DXGKARG_PRESENT *args);

#endif
