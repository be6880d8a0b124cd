/* SPDX-License-Identifier: MIT */
/*
 * Multi-plane overlays of a full driver (PRES-179 to PRES-191): several primaries on one source,
 * each on a layer of its own, layer 0 on top. A client asks whether a configuration of planes can
 * be shown, and then presents planes of it.
 */
#ifndef DXGK_SCREENS_PLANES_H
#define DXGK_SCREENS_PLANES_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#define PLANES_MOST       16u /* of a source (DISP-169) */
#define PLANES_RECTANGLES 16u /* that have changed; more of them are the whole plane */

struct scanouts;
struct vidmm_device;
struct vidsch_device;

/* How a plane is shown: what the three forms of the structures have between them. */
struct plane_look {
    UINT flags; /* DXGK_MULTIPLANE_OVERLAY_FLAGS, and so on */
    RECT source, target, clip;
    D3DDDI_ROTATION rotation;
    UINT blend, frame_format;
    D3DDDI_COLOR_SPACE_TYPE color_space;
    UINT stereo_format, left_view_frame_0, base_view_frame_0, stereo_flip_mode;
    UINT stretch_quality, reserved, white_level;
};

struct plane_setting {
    UINT layer;
    bool enabled;
    D3DKMT_HANDLE allocation; /* a primary of the device; 0 if it is not enabled */
    UINT interval;            /* in vertical syncs; 0: at once */
    struct plane_look look;
    UINT width, height; /* as the driver describes the primary; 0: it does not */
    D3DDDIFORMAT format;
    UINT rectangles; /* that have changed; 0: all of it */
    RECT rectangle[PLANES_RECTANGLES];
    const void *private_data; /* for the driver; copied */
    UINT private_bytes;
};

struct planes_composition { /* D3DKMT_MULTIPLANE_OVERLAY_POST_COMPOSITION */
    bool given;
    UINT flags;
    RECT source, target;
    D3DDDI_ROTATION rotation;
};

struct planes_present {
    UINT source;
    struct vidmm_device *device; /* of the client, with its handles */
    const struct vidsch_device *sch;
    HANDLE context; /* the driver's */
    UINT limit;     /* presents of the device that may be queued (PRES-288) */
    bool do_not_wait;
    bool restart;  /* those of the device that wait are dropped (PRES-281) */
    UINT duration; /* of 100 ns, to the next vertical blank; 0: as the mode has it (PRES-128) */
    struct planes_composition composition;
    UINT metadata_type, metadata_bytes;
    const void *metadata; /* copied */
    UINT count;
    const struct plane_setting *plane;
};

/* The largest number of planes; 0: the driver has no overlays. */
UINT planes_most(const struct scanouts *scanouts);
bool planes_third_form(const struct scanouts *scanouts);
/* Planes that a source shows besides that of the primary, layer 0. */
UINT planes_shown(const struct scanouts *scanouts, UINT source);
/* Queue planes of one source, which are handed over together, each behind the flips of its layer.
 * STATUS_INVALID_PARAMETER: the driver was not asked about what would be shown, or cannot show it.
 * STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER: the device has lost the source while it waited for
 * room. PASSIVE_LEVEL. */
NTSTATUS planes_present(struct scanouts *scanouts, const struct planes_present *present);

struct planes_checked {
    UINT source;
    struct plane_setting plane;
};
struct planes_check {
    struct vidmm_device *device;
    UINT count;
    const struct planes_checked *plane;
    UINT compositions;
    const struct planes_composition *composition;
    const UINT *composition_source;
    BOOL supported; /* out */
    UINT info;      /* out; DXGK_CHECK_MULTIPLANE_OVERLAY_SUPPORT_RETURN_INFO */
};
/* Ask the driver (PRES-182, PRES-183). PASSIVE_LEVEL. */
NTSTATUS planes_check(struct scanouts *scanouts, struct planes_check *check);

struct planes_caps { /* D3DKMT_GET_MULTIPLANE_OVERLAY_CAPS */
    UINT planes, rgb, yuv, flags;
    float stretch, shrink;
};
/* Of a source in the mode that it has; the driver is asked once for each commit (PRES-189).
 * PASSIVE_LEVEL. */
NTSTATUS planes_caps(struct scanouts *scanouts, UINT source, struct planes_caps *caps);
/* The same of what is done with the composed picture. */
NTSTATUS planes_composition_caps(struct scanouts *scanouts, UINT source, float *stretch,
                                 float *shrink);

#endif
