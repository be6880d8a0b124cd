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
#include "screens/primary.h"
#include "screens/scanouts.h"
#include "sim/wait.h"
#include "util/list.h"

#define SCANOUT_MOST_FLIPS 64u /* that hardware holds (PRES-140) */
#define SCANOUT_BLANKS     16u /* vertical syncs that one DPC may find */

/* A primary that is shown, or waits to be: pinned from its address call on (PRES-081). */
struct shown {
    struct vidmm_allocation *allocation; /* of a client; NULL: the shared primary */
    struct vidmm_device *device;         /* that client's */
    struct vidmm_scanout where;
    bool pinned;
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
    UINT duration;               /* of 100 ns, to the next vertical blank (PRES-128) */
    struct vidmm_scanout_wait wait;
    uint64_t handed;   /* when the driver got it */
    uint64_t returned; /* when the call was over; 0: not yet */
    uint64_t span;     /* of it in the trace, until it is complete; 0: none */
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
    uint8_t *copy; /* of what it shows */
    /* the committed mode */
    bool lit;    /* it has a path */
    UINT target; /* whose vertical syncs count (PRES-152) */
    D3DDDI_RATIONAL rate;
    uint64_t epoch; /* of the blanks that the host makes up */
    /* flips */
    struct shown now;    /* the last one that is complete */
    struct flip *moving; /* it has left those that wait, and is not handed over yet; or NULL */
    struct list waiting; /* struct flip.link, first in first out */
    struct flip *handed[SCANOUT_MOST_FLIPS]; /* without completing vertical sync, oldest first */
    UINT handed_count;
    uint64_t orders;                  /* flips that were queued so far, with planes and without */
    struct planes *planes;            /* NULL: the driver has no overlays */
    bool calling;                     /* the driver is being given an address */
    bool addressed;                   /* it has been given one since the path is there (PRES-157) */
    bool lost;                        /* a reset has taken what clients showed */
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
    UINT storm;            /* how many have come at the time `last_sync` */
};

struct scanouts {
    struct scanouts_config config;
    struct scanout source[MODES_MAX_SOURCES];
    struct sim_thread *flipper;
    struct sim_waitq work, news;
    struct list over; /* struct flip.link: complete; what they had shown is to be given back */
    bool stop, ended;
    UINT users;    /* threads that wait in here */
    UINT watchers; /* of them, those that wait for a vertical sync */
    bool enabled;  /* the driver has been told to report vertical syncs */
    bool failed;   /* and has refused to */
    bool flags_told;
    uint64_t needed; /* when that was needed last */
    uint64_t spans;  /* of the trace so far */
};

/* flip.c: what the thread has to do now, and until when there is nothing. True: something was
 * done. */
bool flip_step(struct scanouts *scanouts, uint64_t *until);
/* All flips of a source end, not shown: the mode changes. */
void flip_drop_all(struct scanout *s);
/* A flip is complete, with all before it; at most DISPATCH_LEVEL. */
void flip_complete(struct scanout *s, UINT count);
/* shown.c: give back what a client's primary took. PASSIVE_LEVEL. */
void flip_release(struct shown *shown);

/* scanout_frame.c: the picture that the source shows is another; at most DISPATCH_LEVEL. */
void scanout_frame(struct scanout *s, enum screens_cause cause);
/* A span in the trace, from the address call of a flip to the vertical sync that completes it. */
void scanout_trace_begin(struct flip *flip);
void scanout_trace_end(struct flip *flip, bool shown);

/* pitch.c: of an allocation whose lines have that many bytes, as it is inferred. */
UINT scanout_pitch(UINT line, UINT height, uint64_t bytes);

/* queued.c: wait until the device may queue one more present (PRES-288, PRES-289). */
NTSTATUS queued_await_room(struct scanouts *scanouts, const struct vidmm_device *device, UINT limit,
                           bool do_not_wait);
/* A thread that waited in here is about to leave. */
void queued_leave(struct scanouts *scanouts);

/* vsync_control.c: have the driver report them while somebody needs that; PASSIVE_LEVEL. */
void vsync_control(struct scanouts *scanouts, bool on);
/* Is one needed by a flip or a wait? */
bool vsync_needed(const struct scanouts *scanouts);
uint64_t vsync_period(const struct scanout *s); /* ns */

#endif
