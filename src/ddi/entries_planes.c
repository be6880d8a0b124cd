/* SPDX-License-Identifier: MIT */
/* The typed DDI calls of multi-plane overlays; otherwise like entries.c. */
#include "ddi/entries_planes.h"
#include "ddi/door.h"
#include "ddi/parts.h"

#include "sim/irql.h"
#include "sim/machine.h"

/* ---- what can be shown ---- */

NTSTATUS ddi_check_planes(struct ddi_adapter *a, DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT *args)
{
    CALL_PARTS_BOTH(a, DxgkDdiCheckMultiPlaneOverlaySupport, args, ddi_parts_check_planes,
                    a->context);
}

NTSTATUS ddi_check_planes_2(struct ddi_adapter *a, DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT2 *args)
{
    CALL_PARTS_BOTH(a, DxgkDdiCheckMultiPlaneOverlaySupport2, args, ddi_parts_check_planes_2,
                    a->context);
}

NTSTATUS ddi_check_planes_3(struct ddi_adapter *a, DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT3 *args)
{
    CALL_PARTS_BOTH(a, DxgkDdiCheckMultiPlaneOverlaySupport3, args, ddi_parts_check_planes_3,
                    a->context);
}

NTSTATUS ddi_get_plane_caps(struct ddi_adapter *a, DXGKARG_GETMULTIPLANEOVERLAYCAPS *args)
{
    CALL_BOTH(a, DxgkDdiGetMultiPlaneOverlayCaps, args, a->context);
}

NTSTATUS ddi_get_post_composition_caps(struct ddi_adapter *a, DXGKARG_GETPOSTCOMPOSITIONCAPS *args)
{
    CALL_BOTH(a, DxgkDdiGetPostCompositionCaps, args, a->context);
}

NTSTATUS ddi_present_planes(struct ddi_adapter *a, HANDLE context, DXGKARG_PRESENT *args)
{
    CALL_PARTS_BOTH(a, DxgkDdiPresent, args, ddi_parts_present_planes, context);
}

/* ---- showing it, at DIRQL ---- */

struct showing {
    struct ddi_adapter *adapter;
    struct ddi_parts passed;
    NTSTATUS status;
};

#define SHOW(entry_)                                                                       \
    static bool show_##entry_(void *arg)                                                   \
    {                                                                                      \
        struct showing *s = arg;                                                           \
        struct ddi_adapter *a = s->adapter;                                                \
        struct ddi_call call;                                                              \
                                                                                           \
        s->status = ddi_enter_with_at(&call, a, DDI_##entry_, LEVEL_NONE, SIM_IRQL_DEVICE, \
                                      s->passed.structure.data);                           \
        if (!NT_SUCCESS(s->status))                                                        \
            return false;                                                                  \
        s->status = a->table.entry_(a->context, s->passed.structure.data);                 \
        ddi_returned(&call);                                                               \
        ddi_parts_check(&s->passed, (uintptr_t)a->table.entry_);                           \
        s->status = ddi_leave_with(&call, s->status);                                      \
        return true;                                                                       \
    }
SHOW(DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay)
SHOW(DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay2)
SHOW(DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay3)

static void synchronized(struct showing *showing, bool (*fn)(void *arg))
{
    struct ddi_adapter *a = showing->adapter;

    if (a->synchronize)
        a->synchronize(a, fn, showing);
    else
        (void)fn(showing);
}

#define SHOW_PLANES(a, entry_, args, back, parts_)                                               \
    struct showing showing = {.adapter = (a)};                                                   \
                                                                                                 \
    if (!ddi_parts_lend(&showing.passed, parts_, args, sizeof(*(args)), ddi_structure_##entry_)) \
        return ddi_parts_refuse(&showing.passed, STATUS_NO_MEMORY);                              \
    synchronized(&showing, show_##entry_);                                                       \
    ddi_parts_end(&showing.passed, back);                                                        \
    return showing.status

NTSTATUS ddi_show_planes(struct ddi_adapter *a,
                         const DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY *args)
{
    SHOW_PLANES(a, DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay, args, NULL,
                ddi_parts_show_planes);
}

NTSTATUS ddi_show_planes_2(struct ddi_adapter *a,
                           const DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY2 *args)
{
    SHOW_PLANES(a, DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay2, args, NULL,
                ddi_parts_show_planes_2);
}

NTSTATUS ddi_show_planes_3(struct ddi_adapter *a,
                           DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3 *args)
{
    SHOW_PLANES(a, DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay3, args, args,
                ddi_parts_show_planes_3);
}

NTSTATUS ddi_show_planes_3_passive(struct ddi_adapter *a,
                                   DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3 *args,
                                   bool alone)
{
    CALL_PARTS_AT(a, DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay3,
                  alone ? LEVEL_ALONE : LEVEL_ZERO, SIM_IRQL_PASSIVE, args, args,
                  ddi_parts_show_planes_3, a->context);
}

NTSTATUS ddi_post_planes(struct ddi_adapter *a, const DXGKARG_POSTMULTIPLANEOVERLAYPRESENT *args)
{
    CALL_IN(a, DxgkDdiPostMultiPlaneOverlayPresent, args, a->context);
}
