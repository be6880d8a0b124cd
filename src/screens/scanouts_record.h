/* SPDX-License-Identifier: MIT */
/* What is known of each source that a full driver shows; for the files of this room. */
#ifndef DXGK_SCREENS_SCANOUTS_RECORD_H
#define DXGK_SCREENS_SCANOUTS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>
#include <d3dkmthk.h>

#include "modes/modes.h"
#include "screens/pointer.h"
#include "screens/pointer_hardware.h"
#include "screens/pointer_shape.h"
#include "screens/primary.h"
#include "screens/scanouts.h"
#include "screens/vsync_kind.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "util/list.h"

#define SCANOUT_MOST_FLIPS 64u /* that hardware holds (PRES-140) */
#define SCANOUT_BLANKS     16u /* vertical syncs that one DPC may find */

/* A primary that is shown, or waits to be: pinned from its address call on (PRES-081). */
struct shown {
    struct vidmm_allocation *allocation; /* of a client; NULL: the shared primary */
    struct vidmm_device *device;         /* that client's */
    D3DKMT_HANDLE handle;                /* which it has flipped to */
    struct vidmm_scanout where;
    bool pinned;
    bool leaves; /* the screen shows it, and a flip to another is queued (PRES-138) */
};

struct flip {
    struct list link;
    struct scanout *scanout;
    struct shown primary;
    struct vidmm_device *device; /* whose work comes before; NULL: none */
    HANDLE context;              /* the driver's */
    UINT interval;               /* in vertical syncs; 0: at once */
    uint64_t order;              /* among those of its source */
    uint64_t id;                 /* PresentId, if the driver was given one; else 0 */
    bool ready;                  /* the work before it is done */
    bool by_gpu;                 /* with that work (PRES-135) */
    bool leaves;                 /* its device ends: it does not wait again */
    bool no_wait;
    UINT duration; /* of 100 ns, to the next vertical blank (PRES-128) */
    struct vidmm_scanout_wait wait;
    uint64_t handed;   /* when the driver got it */
    uint64_t returned; /* when the call was over; 0: not yet */
    uint64_t span;     /* of it in the trace, until it is complete; 0: none */
    UINT other_count;
    HANDLE *others; /* contexts, beside `context`; behind this record */
};

/* A copy, a fill, or a flip that the GPU makes, from before the driver is asked until the GPU has
 * done it. */
struct copy {
    struct list link; /* scanout->copies */
    struct scanout *scanout;
    struct vidmm_device *device; /* the client's */
    bool asked;                  /* the driver has written it, or refused to */
    bool flips;                  /* beside the record of the flip, which counts as a present */
    struct vidmm_scanout_wait wait;
};

/* As a service routine told it. */
struct blank {
    bool planes; /* it tells of planes: see planes.blank */
    uint64_t address;
    uint64_t told; /* when */
};

struct scanout {
    struct scanouts *all;
    UINT source;
    struct primary *shared; /* of the committed mode; NULL: the source has had no path yet */
    struct primary *next;   /* of the one that is being committed */
    const struct vidpn *next_for;
    struct list copies; /* and flips, which the GPU has not done yet (copy.c) */
    bool shared_leaves; /* the same of the shared primary */
    bool changing;      /* the mode, or what is shown in it: copies wait */
    uint8_t *copy;      /* of what it shows */
    /* the committed mode */
    bool lit;    /* it has a path */
    UINT target; /* whose vertical syncs count (PRES-152) */
    struct pointer_told pointer;
    D3DDDI_RATIONAL rate;
    /* flips */
    struct shown now;    /* the last one that is complete */
    struct flip *moving; /* it has left those that wait, and is not handed over yet; or NULL */
    struct list waiting; /* struct flip.link, first in first out */
    struct list watches; /* struct scanouts_watch.link */
    struct flip *handed[SCANOUT_MOST_FLIPS]; /* without completing vertical sync, oldest first */
    UINT handed_count;
    uint64_t commits;      /* how often it was given a path */
    uint64_t modes;        /* other modes that it was given, and resets */
    uint64_t orders;       /* flips that were queued so far, with planes and without */
    struct planes *planes; /* NULL: the driver has no overlays */
    bool calling;          /* the driver is being given an address */
    UINT attribute;        /* PrivateDriverFormatAttribute of the client's primary that is shown */
    bool addressed;        /* it has been given one since the path is there (PRES-157) */
    bool early;            /* of this mode it was told that a vertical sync came early */
    bool lost;             /* a reset has taken what clients showed */
    const struct vidmm_device *owner; /* NULL: none */
    D3DKMT_VIDPNSOURCEOWNER_TYPE owner_type;
    uint64_t completed;
    uint64_t frames;
    bool anew;        /* it has been made visible, and its mode is not in force yet */
    uint64_t latched; /* count of vertical syncs when `now` became complete */
    /* vertical syncs */
    struct blank blank[SCANOUT_BLANKS]; /* told, and not seen by a DPC yet */
    UINT blanks;
    uint64_t syncs;        /* how many so far */
    uint64_t last_sync;    /* when one was told, with others at the same time or not */
    uint64_t last_unknown; /* when an address was told that nobody knows */
    UINT awaited;          /* threads that wait for one */
    bool reports;          /* the driver has been told to report them, of this source or of all */
    uint64_t needed_at;    /* when this source needed them last */
    uint64_t watched;      /* since when they should come */
    bool silent;           /* and none has (PRES-327) */
    bool off_grid;         /* the rate is not that of the mode, and this was told */
    uint64_t window;       /* since when they are counted; 0: they are not */
    uint64_t in_window;
    struct vsync_counts vsyncs;
    UINT storm; /* how many have come at the time `last_sync` */
};

/* Of all sources. */
struct scanouts_pointer {
    struct sim_mutex lock;
    struct pointer_shape shape, fitted; /* as it was given; as the hardware gets it */
    bool hard;                          /* the hardware can show it */
    struct screens_cursor cursor;
};

struct scanouts {
    struct scanouts_config config;
    struct scanouts_pointer pointer;
    struct scanout source[MODES_MAX_SOURCES];
    struct sim_thread *flipper;
    struct sim_waitq work, news;
    struct list over; /* struct flip.link: complete; what they had shown is to be given back */
    bool stop, ended;
    bool removed;           /* the device is gone (PRES-054) */
    struct list waits;      /* threads that wait for room (queued.c) */
    struct list presenters; /* devices that have flipped */
    UINT users;             /* threads that wait in here */
    UINT watchers;          /* of them, those that wait for a vertical sync */
    UINT requests;          /* devices that want vertical syncs at all times */
    bool enabled;           /* the driver has been told to report vertical syncs */
    bool failed;            /* and has refused to */
    bool keeps;             /* it has been told to stop, and to keep the phase */
    uint64_t kept;          /* since when */
    bool resetting;         /* the adapter is about to be reset for a flip */
    bool flags_told;
    uint64_t needed; /* when that was needed last */
    uint64_t spans;  /* of the trace so far */
};

/* Nobody is to wait any more. */
static inline bool scanouts_ends(const struct scanouts *scanouts)
{
    return scanouts->stop || scanouts->removed || sim_current->stopped;
}

/* queued.c: what a call returns then. */
NTSTATUS scanouts_gone(const struct scanouts *scanouts);

/* flip.c: what the thread has to do now, and until when there is nothing. True: something was
 * done. */
bool flip_step(struct scanouts *scanouts, uint64_t *until);
/* All flips of a source end, not shown: the mode changes. */
void flip_drop_all(struct scanout *s);
/* A flip is complete, with all before it; at most DISPATCH_LEVEL. */
void flip_complete(struct scanout *s, UINT count);
/* Flips have come or gone: does the screen leave what it shows? At most DISPATCH_LEVEL. */
void flip_mark(struct scanout *s);
/* flip_loss.c: a flip is lost, have the adapter reset (PRES-256). False: it is not.
 * PASSIVE_LEVEL. */
bool flip_ask_reset(struct scanout *s);
/* shown.c: give back what a client's primary took. PASSIVE_LEVEL. */
void flip_release(struct shown *shown);
/* The screen shows it no more, or goes on to. At most DISPATCH_LEVEL. */
void shown_stays(struct shown *shown);

/* queued.c: wait until the device may queue one more present; STATUS_DEVICE_REMOVED,
 * STATUS_NO_MEMORY (PRES-288, PRES-289). */
NTSTATUS queued_await_room(struct scanouts *scanouts, const struct vidmm_device *device, UINT limit,
                           bool do_not_wait);
/* Afterwards: the status of a device that has been lost (PRES-254);
 * STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER if it does not own the source any more (PRES-281). */
NTSTATUS queued_check(const struct scanout *s, const struct vidmm_device *device,
                      const struct vidsch_device *sch);
/* A thread that waited in here, counted in `users`, is done. */
void queued_leave(struct scanouts *scanouts);

/* copy.c: what is shown is about to change: wait until the copies are done, and let none begin
 * until copy_go_on. PASSIVE_LEVEL. */
void copy_hold(struct scanout *s);
void copy_go_on(struct scanout *s);
/* What is shown has changed: flips that the GPU has not made are not to be made any more. */
void copy_end_flips(const struct scanout *s);
/* A flip that the GPU makes is about to be written: waits for room, and for a change of mode.
 * STATUS_DEVICE_REMOVED, STATUS_NO_MEMORY. PASSIVE_LEVEL. */
NTSTATUS copy_begin_flip(struct scanout *s, const struct scanouts_copy_request *request,
                         struct copy **copy);
/* All its work is queued. */
void copy_asked(struct copy *copy);
/* None is. */
void copy_drop(struct copy *copy);
/* The adapter ends, and nobody waits for them. */
void copy_forget_all(struct scanout *s);
/* scanout_frame.c: the picture that the source shows is another; at most DISPATCH_LEVEL. */
void scanout_frame(struct scanout *s, enum screens_cause cause);
/* A span in the trace, from the address call of a flip to the vertical sync that completes it. */
void scanout_trace_begin(struct flip *flip);
void scanout_trace_end(struct flip *flip, bool shown);
/* early.c: a vertical sync names this address; at DIRQL. */
void scanout_look_early(struct scanout *s, uint64_t address);

/* vsync_control.c: have the driver report them while somebody needs that; PASSIVE_LEVEL. */
void vsync_control(struct scanouts *scanouts, bool on);
/* Before a flip of the source is handed over. */
void vsync_need(struct scanout *s);
/* What is to be done now, and until when there is nothing. True: something was done. */
bool vsync_step(struct scanouts *scanouts, uint64_t *until);
/* vsync_watch.c: the same, of those that do not come; and one has come. */
bool vsync_watch(struct scanouts *scanouts, uint64_t *until);
void vsync_note_rate(struct scanout *s);
/* None comes that would end the interval of this flip, the first that waits; or until when one may.
 */
bool vsync_in_vain(const struct scanout *s, struct flip *flip, uint64_t *until);
/* Is one needed by a flip or a wait? */
bool vsync_needed(const struct scanouts *scanouts);
uint64_t vsync_period(const struct scanout *s); /* ns */
/* How long somebody waits for a vertical sync before the host makes one up, in ns. */
uint64_t scanout_patience(const struct scanout *s);

#endif
