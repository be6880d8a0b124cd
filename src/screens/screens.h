/* SPDX-License-Identifier: MIT */
/*
 * What the sources of a display-only adapter show: for each source with a path an image in system
 * memory, and one thread that hands what has changed of it to DxgkDdiPresentDisplayOnly, at most
 * once each period of the vertical blank (PRES-197 to PRES-224).
 */
#ifndef DXGK_SCREENS_SCREENS_H
#define DXGK_SCREENS_SCREENS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "screens/frame.h"

struct modes;
struct ram;
struct screens;

/* Pixels of 4 bytes, of which the highest means nothing. */
struct screens_scanned {
    const uint8_t *pixels;
    UINT width, height, pitch; /* pixels; bytes */
};

struct screens_config {
    struct modes *modes;
    struct ram *ram;
    bool reports;      /* the driver has a service routine and a DPC, so it can report (PRES-212) */
    UINT pitch_excess; /* bytes that a line of the image has more than its pixels (PRES-200) */
    DXGK_POINTERFLAGS pointer_caps; /* and the most pixels that the hardware shows (PRES-225) */
    UINT pointer_width, pointer_height;
    bool unpaced;            /* each change is presented at once (PRES-224) */
    screens_frame_fn *frame; /* NULL: nobody looks */
    void *frame_context;
    /* What the screen of this source shows, of memory that the driver writes to itself and nobody
     * else; at most at DISPATCH_LEVEL. False: nobody knows. NULL: the same. */
    bool (*scanned)(void *context, UINT source, struct screens_scanned *scanned);
    /* The first source is about to become visible; NULL: nobody looks. */
    void (*first)(void *context);
    /* A source has been made invisible; NULL: nobody looks. */
    void (*hidden)(void *context, UINT source);
    void *scanned_context;  /* of these */
    uint64_t limit_ns;      /* how long a present may be outstanding (PRES-218); 0: 2 s */
    uint64_t sync_limit_ns; /* how long no vertical sync may be reported (PRES-328); 0: 2 s */
    UINT idle_periods; /* without need, until vertical syncs are disabled (PRES-170); 0: never */
};

/* NULL: out of memory. It becomes the viewer of the modes. */
struct screens *screens_create(const struct screens_config *config);
/* Wait for presents that are outstanding, and end. PASSIVE_LEVEL. */
void screens_destroy(struct screens *screens);

struct screens_image {
    UINT width, height, pitch; /* as the client sees the screen; pitch in bytes */
    D3DDDIFORMAT format;
    uint8_t *pixels; /* for the host to write */
};

/* Change pixels of the image of a source: waits until none of it is outstanding, and hands it out.
 * The image lives on while its source shows nothing, for a time when it does (PRES-252). False: it
 * has none yet. After it, screens_drawn says what was changed. */
bool screens_draw(struct screens *screens, UINT source, struct screens_image *image);
void screens_drawn(struct screens *screens, UINT source, const RECT *changed);
/* After screens_draw, too: the picture in `to` is what stood `by` pixels to the left of it and
 * above (negative: to the right, below). The host moves it in the image, and has the driver do so
 * on the screen where that can be right; else it sends the pixels (PRES-202 to PRES-204). Parts
 * outside, or that come from outside, are left out. */
void screens_move(struct screens *screens, UINT source, const RECT *to, POINT by);
/* All of it is sent again (PRES-333). */
void screens_redraw(struct screens *screens, UINT source);
/* Wait until all that was drawn so far is on the screen; while the adapter sleeps or what is shown
 * changes, until that is over (PRES-252). False: it is not, as nothing is shown or the present has
 * failed. */
bool screens_settle(struct screens *screens, UINT source);
/* What DxgkDdiPresentDisplayOnly returned when the last present failed (PRES-219), or
 * STATUS_UNSUCCESSFUL when it was reported as failed. STATUS_SUCCESS: it did not fail. */
NTSTATUS screens_failure(const struct screens *screens, UINT source);
/* Frames that are complete. */
uint64_t screens_frames(const struct screens *screens, UINT source);

/* The hardware was removed: presents end and are not shown, and whoever waits is told (PRES-054).
 * PASSIVE_LEVEL. */
void screens_removed(struct screens *screens);
/* Do as if a present had been lost (PRES-307), and wait until the driver has been started again.
 * False: the adapter stops. */
bool screens_lose(struct screens *screens);
/* The driver has been started again, after display_worker_lost; what was outstanding is no more. */
void screens_restarted(struct screens *screens);
/* And what was shown is shown again, as far as it can be. */
void screens_recovered(struct screens *screens);

/* The interrupt of a display-only driver; at DIRQL. */
void screens_notify(struct screens *screens, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
/* DxgkCbNotifyDpc; at DISPATCH_LEVEL. */
void screens_notify_dpc(struct screens *screens);

#endif
