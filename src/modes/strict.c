/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/strict.h"
#include "ddi/entries_display.h"
#include "modes/enumerate.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "verify/verify.h"

/* VIDPN-127: to show nothing is always possible. */
static void ask_about_nothing(struct modes *modes)
{
    struct vidpn *empty = vidpn_create(modes);
    DXGKARG_ISSUPPORTEDVIDPN args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    status = ddi_is_supported_vidpn(modes->ddi, &args);
    if ((!NT_SUCCESS(status) || !args.IsVidPnSupported) && !modes->ddi->gone)
        VIOLATION("VIDPN-127", "DxgkDdiIsSupportedVidPn returned %s and %s for no VidPN at all",
                  nt_status_text(status).text, args.IsVidPnSupported ? "TRUE" : "FALSE");
    if (empty && modes_ask_supported(modes, empty) == STATUS_GRAPHICS_INVALID_VIDPN &&
        !modes->ddi->gone)
        VIOLATION("VIDPN-003", "DxgkDdiIsSupportedVidPn says that a VidPN without paths is not "
                               "supported");
    vidpn_destroy(empty);
}

/* The active topology, with nothing pinned. NULL: out of memory. */
static struct vidpn *unpinned(struct modes *modes)
{
    struct vidpn *vidpn = vidpn_create(modes);
    bool ok = vidpn != NULL;

    for (UINT i = 0; ok && i < modes->active->paths; i++) {
        const D3DKMDT_VIDPN_PRESENT_PATH *old = &modes->active->path[i];
        const D3DKMDT_VIDPN_PRESENT_PATH path = vidpn_new_path(
            old->VidPnSourceId, old->VidPnTargetId, (UINT)old->ImportanceOrdinal);

        ok = vidpn_add(vidpn, &path);
    }
    if (ok)
        return vidpn;
    vidpn_destroy(vidpn);
    return NULL;
}

/* The same modes, whatever their ids are. */
static bool same_modes(const struct mode_set *a, const struct mode_set *b)
{
    for (UINT i = 0; i < a->count; i++)
        if (!mode_set_same(b, &a->mode[i]))
            return false;
    return a->count == b->count;
}

static void compare(const struct modes *modes, const struct vidpn *a, const struct vidpn *b)
{
    for (UINT i = 0; i < modes->sources; i++)
        if (!same_modes(a->source[i], b->source[i]))
            WARNING("VIDPN-145", "two enumerations with the same constraints differ in source %u",
                    i);
    for (UINT i = 0; i < modes->targets; i++)
        if (!modes->target[i].gone && !same_modes(a->target[i], b->target[i]))
            WARNING("VIDPN-145", "two enumerations with the same constraints differ in target 0x%x",
                    modes->target[i].id);
}

/* VIDPN-135, VIDPN-136: what a pivot does not name is left open. */
static void try_pivots(struct modes *modes, const struct vidpn *base,
                       const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    const UINT source = path->VidPnSourceId, target = path->VidPnTargetId;
    const struct modes_pivot pivots[] = {{D3DKMDT_EPT_VIDPNSOURCE, source, D3DDDI_ID_UNINITIALIZED},
                                         {D3DKMDT_EPT_VIDPNTARGET, D3DDDI_ID_UNINITIALIZED, target},
                                         {D3DKMDT_EPT_SCALING, source, target},
                                         {D3DKMDT_EPT_ROTATION, source, target}};

    for (unsigned i = 0; i < sizeof(pivots) / sizeof(pivots[0]); i++) {
        struct vidpn *copy = vidpn_copy(base);

        if (copy)
            (void)modes_enumerate(modes, &copy, &pivots[i]);
        vidpn_destroy(copy);
    }
}

void modes_strict_check(struct modes *modes)
{
    static const struct modes_pivot none = {D3DKMDT_EPT_NOPIVOT, D3DDDI_ID_UNINITIALIZED,
                                            D3DDDI_ID_UNINITIALIZED};
    struct vidpn *first, *second;

    ask_about_nothing(modes);
    if (!modes->active->paths) /* VIDPN-134 */
        return;
    first = unpinned(modes);
    second = unpinned(modes);
    if (first && second && NT_SUCCESS(modes_enumerate(modes, &first, &none)) &&
        NT_SUCCESS(modes_enumerate(modes, &second, &none))) {
        compare(modes, first, second);
        for (UINT i = 0; i < modes->active->paths; i++)
            try_pivots(modes, first, &modes->active->path[i]);
    }
    vidpn_destroy(first);
    vidpn_destroy(second);
}
