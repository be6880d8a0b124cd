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
struct vidsch_device;

struct scanouts_config {
    struct modes *modes;
    struct vidmm_device *device; /* of the system, for shared primaries */
    bool at_dirql;               /* FlipCaps.FlipOnVSyncMmIo */
    bool immediate;              /* FlipCaps.FlipImmediateMmIo */
    bool direct_flip;            /* SupportDirectFlip, from 1.2 on */
    UINT most_flips;             /* MaxQueuedFlipOnVSync */
    bool independent;            /* IndependentVidPnVSyncControl */
    UINT idle_periods; /* without need, until vertical syncs are disabled (PRES-170); 0: never */
    /* A flip of the source has no vertical sync: have the adapter reset (PRES-256). False: it is
     * not. NULL: it never is. PASSIVE_LEVEL. */
    bool (*lost)(void *context, UINT source);
    /* The mode of the source changes before the GPU has made all its flips: they are not to be made
     * any more (PRES-338). NULL: nobody is told. PASSIVE_LEVEL. */
    void (*flips_over)(void *context, UINT source);
    void *lost_context; /* of these */
    DXGK_POINTERFLAGS pointer_caps;
    UINT pointer_width, pointer_height; /* MaxPointerWidth, MaxPointerHeight */
    /* Where the pixels are that the device says it scans out for this source; NULL: it does not
     * say. NULL: nobody asks. */
    const void *(*scanned)(void *context, UINT source);
    void *scanned_context;
    unsigned plane_form;     /* of the overlay entries, 1 to 3; 0: no overlays (PRES-181) */
    UINT planes;             /* MaxOverlayPlanes */
    UINT most_plane_flips;   /* MaxQueuedMultiPlaneOverlayFlipVSync */
    bool immediate_planes;   /* SupportMultiPlaneOverlayImmediateFlip */
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
    const struct vidsch_device *sch;
    D3DKMT_HANDLE allocation; /* 0: the shared primary */
    HANDLE context;           /* the driver's */
    const HANDLE *others;     /* of contexts to which it is broadcast (PRES-287) */
    UINT other_count;
    UINT interval; /* vertical syncs since the flip before it; 0: at once */
    UINT duration; /* of 100 ns, to the next vertical blank; 0: as the mode has it */
    UINT limit;    /* presents of the device that may be queued (PRES-288) */
    bool do_not_wait;
    uint64_t modes; /* scanouts_modes when the primary was found to fit */
    /* NULL: the driver is given the address. Else the GPU flips: have it queue that, when there is
     * room and the primary is pinned (PRES-135). */
    NTSTATUS (*write)(void *context);
    void *write_context;
    bool restart; /* those of the device that wait are dropped, but for what the GPU flips */
    bool no_wait; /* its vertical sync is the one with its address (PRES-136) */
};
/* Another one than before: the mode of the source has changed, or the adapter was reset. */
uint64_t scanouts_modes(const struct scanouts *scanouts, UINT source);
/* The device ends: presents of it that wait for room return STATUS_DEVICE_REMOVED (PRES-310). */
void scanouts_end_waits(struct scanouts *scanouts, const struct vidmm_device *device);
/* The hardware was removed: what is queued ends and is not shown, and whoever waits is told
 * (PRES-054). PASSIVE_LEVEL. */
void scanouts_removed(struct scanouts *scanouts);
/* Queue a flip behind the GPU work that the device has queued; waits while too many are queued.
 * STATUS_GRAPHICS_PRESENT_MODE_CHANGED, STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER: things have
 * changed meanwhile. PASSIVE_LEVEL. */
NTSTATUS scanouts_flip(struct scanouts *scanouts, const struct scanouts_flip *flip);

/* ---- copies ---- */

/* What a copy or a fill goes to. */
struct scanouts_target {
    D3DKMT_HANDLE handle; /* of the client's device */
    UINT width, height;
    D3DDDIFORMAT format;
    D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation;
};
struct scanouts_copy_request {
    UINT source;
    struct vidmm_device *device; /* of the client */
    UINT limit;                  /* presents of the device that may be queued (PRES-289) */
    bool do_not_wait;
};
struct scanouts_copy {
    struct scanouts_target target;
    struct copy *record; /* private */
};
/* Begin one: what the source shows stays until it has ended, and its work is done (PRES-112).
 * STATUS_GRAPHICS_PRESENT_OCCLUDED: it shows nothing, or what another device owns.
 * PASSIVE_LEVEL. */
NTSTATUS scanouts_copy_begin(struct scanouts *scanouts, const struct scanouts_copy_request *request,
                             struct scanouts_copy *copy);
/* All its work is queued, or none. */
void scanouts_copy_end(struct scanouts_copy *copy);

/* ---- the end of a client ---- */

/* The device ends: what it shows and owns goes, and the shared primaries are shown again
 * (PRES-259). PASSIVE_LEVEL; waits until none of its allocations is held. */
void scanouts_leave(struct scanouts *scanouts, const struct vidmm_device *device);
/* A reset of the adapter: flips end, and what clients showed is lost (PRES-254). */
void scanouts_reset(struct scanouts *scanouts);
/* The adapter is about to leave D0, and its displays are off: vertical syncs end, too (PRES-249).
 * PASSIVE_LEVEL. */
void scanouts_sleep(struct scanouts *scanouts);
struct scanouts_same {
    D3DKMT_HANDLE handle; /* of the device */
    bool shared;          /* it is the shared primary, as the device has it open */
};
/* What the source shows when all flips so far are complete, for one that flips to nothing else
 * (PRES-339). STATUS_INVALID_PARAMETER: another device's primary, or nothing; what a wait for a
 * change of mode gives. PASSIVE_LEVEL, on a thread of the client. */
NTSTATUS scanouts_same(struct scanouts *scanouts, const struct scanouts_copy_request *request,
                       struct scanouts_same *same);
/* The segment of the primary that the source shows; 0: it shows none. */
UINT scanouts_segment(const struct scanouts *scanouts, UINT source);
/* A device wants vertical syncs to be reported as long as it lives, or does so no more
 * (PRES-308). */
void scanouts_request_vsync(struct scanouts *scanouts, bool wanted);
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

/* PrivateDriverFormatAttribute of a client's primary that is shown; false: none is (PRES-088). */
bool scanouts_attribute(const struct scanouts *scanouts, UINT source, UINT *attribute);
void scanouts_set_attribute(struct scanouts *scanouts, UINT source, UINT attribute);
/* The shared primary of the committed mode, as a resource of the system's device; false: there is
 * none (PRES-278). */
bool scanouts_shared(const struct scanouts *scanouts, UINT source, struct vidmm_device **device,
                     D3DKMT_HANDLE *resource);
/* Presents of the device that are queued (PRES-297). */
UINT scanouts_queued(const struct scanouts *scanouts, const struct vidmm_device *device);

/* ---- what is seen ---- */

/* What a source shows, as the host infers it from the address that the driver was given last
 * (PRES-313). */
struct scanouts_picture {
    UINT width, height, pitch; /* pixels; bytes */
    D3DDDIFORMAT format;
    const uint8_t *pixels; /* a copy, valid until the next call for the source */
};
/* The likely pitch of a picture in an allocation. */
UINT scanout_pitch(UINT line, UINT height, uint64_t bytes);
/* False: nothing, or nothing that the CPU reaches. */
bool scanouts_look(struct scanouts *scanouts, UINT source, struct scanouts_picture *picture);

/* A vertical sync of a full driver; at DIRQL. */
void scanouts_notify(struct scanouts *scanouts, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
/* DxgkCbNotifyDpc; at DISPATCH_LEVEL. */
void scanouts_notify_dpc(struct scanouts *scanouts);

#endif
