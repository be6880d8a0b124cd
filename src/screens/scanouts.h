/* SPDX-License-Identifier: MIT */
/*
 * What the sources of a full driver show: for each source with a path a primary, shared or of a
 * client, which the hardware scans out of memory (PRES-119 to PRES-154).
 */
#ifndef DXGK_SCREENS_SCANOUTS_H
#define DXGK_SCREENS_SCANOUTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>
#include <d3dkmthk.h>

#include "screens/frame.h"

struct modes;
struct scanouts;
struct vidmm_device;

struct scanouts_config {
    struct modes *modes;
    struct vidmm_device *device; /* of the system, for shared primaries */
    bool at_dirql;               /* FlipCaps.FlipOnVSyncMmIo */
    bool immediate;              /* FlipCaps.FlipImmediateMmIo */
    bool direct_flip;            /* SupportDirectFlip, from 1.2 on */
    UINT most_flips;             /* MaxQueuedFlipOnVSync */
    unsigned plane_form;         /* of the overlay entries, 1 to 3; 0: no overlays (PRES-181) */
    UINT planes;                 /* MaxOverlayPlanes */
    UINT most_plane_flips;       /* MaxQueuedMultiPlaneOverlayFlipVSync */
    bool immediate_planes;       /* SupportMultiPlaneOverlayImmediateFlip */
    uint64_t limit_ns;       /* how long a flip may wait for its vertical sync (PRES-256); 0: 2 s */
    screens_frame_fn *frame; /* NULL: nobody looks */
    void *frame_context;
};

/* NULL: out of memory. It becomes the viewer of the modes. */
struct scanouts *scanouts_create(const struct scanouts_config *config);
/* What is left of primaries ends. PASSIVE_LEVEL; before the memory manager. */
void scanouts_destroy(struct scanouts *scanouts);

/* ---- flips ---- */

struct scanouts_flip {
    UINT source;
    struct vidmm_device *device; /* of the client, with its handle */
    D3DKMT_HANDLE allocation;    /* 0: the shared primary */
    HANDLE context;              /* the driver's */
    UINT interval;               /* vertical syncs since the flip before it; 0: at once */
    UINT duration;               /* of 100 ns, to the next vertical blank; 0: as the mode has it */
    UINT limit;                  /* presents of the device that may be queued (PRES-288) */
    bool do_not_wait;
};
/* Queue a flip behind the GPU work that the device has queued; waits while too many are queued.
 * PASSIVE_LEVEL. */
NTSTATUS scanouts_flip(struct scanouts *scanouts, const struct scanouts_flip *flip);
/* The device ends: what it shows and owns goes, and the shared primaries are shown again
 * (PRES-259). PASSIVE_LEVEL; waits until none of its allocations is held. */
void scanouts_leave(struct scanouts *scanouts, const struct vidmm_device *device);
/* A reset of the adapter: flips end, and what clients showed is lost (PRES-254). */
void scanouts_reset(struct scanouts *scanouts);
/* The adapter is about to leave D0, and its displays are off: vertical syncs end, too (PRES-249).
 * PASSIVE_LEVEL. */
void scanouts_sleep(struct scanouts *scanouts);
/* Flips of a source that are complete. */
uint64_t scanouts_flips(const struct scanouts *scanouts, UINT source);
/* Frames that were shown: of flips that one vertical sync completes the last, and each mode. */
uint64_t scanouts_frames(const struct scanouts *scanouts, UINT source);
/* Wait for the next vertical sync (PRES-291, PRES-293). PASSIVE_LEVEL. */
NTSTATUS scanouts_await_blank(struct scanouts *scanouts, UINT source);

/* ---- owners ---- */

/* The device that owns a source; NULL: none does. */
const struct vidmm_device *scanouts_owner(const struct scanouts *scanouts, UINT source,
                                          D3DKMT_VIDPNSOURCEOWNER_TYPE *type);
void scanouts_set_owner(struct scanouts *scanouts, UINT source, const struct vidmm_device *device,
                        D3DKMT_VIDPNSOURCEOWNER_TYPE type);
/* Show a client's primary in the committed mode (PRES-277); on the display worker. */
NTSTATUS scanouts_show(struct scanouts *scanouts, UINT source, struct vidmm_device *device,
                       D3DKMT_HANDLE allocation);

/* ---- what is seen ---- */

/* What a source shows, as the host infers it from the address that the driver was given last
 * (PRES-313). */
struct scanouts_picture {
    UINT width, height, pitch; /* pixels; bytes */
    D3DDDIFORMAT format;
    const uint8_t *pixels; /* a copy, valid until the next call for the source */
};
/* False: nothing, or nothing that the CPU reaches. */
bool scanouts_look(struct scanouts *scanouts, UINT source, struct scanouts_picture *picture);

/* A vertical sync of a full driver; at DIRQL. */
void scanouts_notify(struct scanouts *scanouts, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
/* DxgkCbNotifyDpc; at DISPATCH_LEVEL. */
void scanouts_notify_dpc(struct scanouts *scanouts);

#endif
