/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "ddi/entries_display.h"
#include "modes/mode_check.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "screens/primary.h"
#include "screens/scanouts.h"
#include "screens/source_mode.h"
#include "util/address.h"
#include "util/alloc.h"
#include "verify/verify.h"

struct scanout {
    UINT source;
    struct primary *shared; /* of the committed mode; NULL: the source has had no path yet */
    struct primary *next;   /* of the one that is being committed */
    const struct vidpn *next_for;
    uint8_t *copy; /* of what it shows */
};

struct scanouts {
    struct scanouts_config config;
    struct scanout source[MODES_MAX_SOURCES];
};

/* ---- primaries of modes ---- */

static bool serves(const struct primary *primary, const D3DKMDT_SHAREDPRIMARYSURFACEDATA *surface)
{
    return primary && primary->surface.Width == surface->Width &&
           primary->surface.Height == surface->Height && primary->surface.Format == surface->Format;
}

/* PRES-061: also of a mode that the source has already, or had before its display was turned
 * off. */
static NTSTATUS prepare(void *context, const struct vidpn *vidpn, UINT source)
{
    struct scanouts *scanouts = context;
    struct scanout *s = &scanouts->source[source];
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = source_mode(vidpn, source);
    D3DKMDT_SHAREDPRIMARYSURFACEDATA surface;

    if (!mode)
        return STATUS_SUCCESS;
    surface = (D3DKMDT_SHAREDPRIMARYSURFACEDATA){
        .Width = mode->Format.Graphics.PrimSurfSize.cx,
        .Height = mode->Format.Graphics.PrimSurfSize.cy,
        .Format = mode->Format.Graphics.PixelFormat,
        .RefreshRate = source_rate(vidpn, vidpn_path_from(vidpn, source, 0)),
        .VidPnSourceId = source};
    s->next_for = vidpn;
    if (!serves(s->shared, &surface))
        return primary_create(scanouts->config.device, &surface, &s->next);
    s->next = s->shared;
    return primary_return(s->shared);
}

static const struct primary *primary_for(const struct scanout *s, const struct vidpn *vidpn)
{
    return s->next && s->next_for == vidpn ? s->next : s->shared;
}

static HANDLE primary(void *context, const struct vidpn *vidpn, UINT source)
{
    const struct scanouts *scanouts = context;
    const struct primary *p = primary_for(&scanouts->source[source], vidpn);

    return p ? p->where.allocation : NULL;
}

static NTSTATUS address(void *context, const struct vidpn *vidpn, UINT source)
{
    const struct scanouts *scanouts = context;
    const struct primary *p = primary_for(&scanouts->source[source], vidpn);
    DXGKARG_SETVIDPNSOURCEADDRESS args;

    if (!p)
        return STATUS_SUCCESS;
    memset(&args, 0, sizeof(args));
    args.VidPnSourceId = source;
    args.PrimarySegment = p->where.segment;
    args.PrimaryAddress.QuadPart = (LONGLONG)p->where.address;
    args.hAllocation = p->where.allocation;
    args.Flags.ModeChange = 1;
    return ddi_set_vidpn_source_address(scanouts->config.modes->ddi, &args);
}

static void settle(void *context, UINT source, bool committed, bool keep)
{
    struct scanouts *scanouts = context;
    struct scanout *s = &scanouts->source[source];
    struct primary *const stays = !committed || (!s->next && keep) ? s->shared : s->next;

    if (s->shared != stays)
        primary_destroy(s->shared);
    if (s->next != stays)
        primary_destroy(s->next);
    s->shared = stays;
    s->next = NULL;
    s->next_for = NULL;
}

/* ---- what is seen ---- */

/* The host is not told the pitch of a primary: the largest alignment of lines for which the
 * allocation is large enough. */
static UINT inferred_pitch(const struct primary *primary)
{
    const UINT line = primary->surface.Width * mode_pixel_bytes(primary->surface.Format);

    for (UINT alignment = 4096; alignment > 1; alignment /= 2) {
        const uint64_t pitch = align_up(line, alignment);

        if (pitch * primary->surface.Height <= vidmm_scanout_bytes(primary->allocation))
            return (UINT)pitch;
    }
    return line;
}

bool scanouts_look(struct scanouts *scanouts, UINT source, struct scanouts_picture *picture)
{
    struct scanout *s = &scanouts->source[source];
    const struct primary *p = s->shared;
    uint64_t bytes;

    if (!p)
        return false;
    picture->width = p->surface.Width;
    picture->height = p->surface.Height;
    picture->format = p->surface.Format;
    picture->pitch = inferred_pitch(p);
    bytes = (uint64_t)picture->pitch * picture->height;
    util_free(s->copy);
    s->copy = util_alloc(bytes);
    picture->pixels = s->copy;
    return s->copy && vidmm_scanout_read(p->allocation, s->copy, bytes);
}

/* ---- interrupts ---- */

void scanouts_notify(struct scanouts *scanouts, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    (void)scanouts;
    (void)data;
}

void scanouts_notify_dpc(struct scanouts *scanouts)
{
    (void)scanouts;
}

/* ---- life ---- */

struct scanouts *scanouts_create(const struct scanouts_config *config)
{
    struct scanouts *scanouts = util_zalloc(1, sizeof(*scanouts));

    if (!scanouts)
        return NULL;
    scanouts->config = *config;
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++)
        scanouts->source[i].source = i;
    config->modes->viewer = (struct modes_viewer){.prepare = prepare,
                                                  .primary = primary,
                                                  .address = address,
                                                  .settle = settle,
                                                  .context = scanouts};
    return scanouts;
}

void scanouts_destroy(struct scanouts *scanouts)
{
    if (!scanouts)
        return;
    scanouts->config.modes->viewer = (struct modes_viewer){0};
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++) {
        primary_destroy(scanouts->source[i].shared);
        util_free(scanouts->source[i].copy);
    }
    util_free(scanouts);
}
