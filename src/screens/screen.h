/* SPDX-License-Identifier: MIT */
/* What is known of each source that is shown; for the files of this room. */
#ifndef DXGK_SCREENS_SCREEN_H
#define DXGK_SCREENS_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "modes/modes.h"
#include "screens/blanks.h"
#include "screens/pointer.h"
#include "screens/pointer_draw.h"
#include "screens/pointer_hardware.h"
#include "screens/pointer_shape.h"
#include "screens/region.h"
#include "screens/screens.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "util/list.h"

#define SCREEN_BYTES    4u  /* of a pixel (PRES-200) */
#define SCREEN_MOVES    64u /* of one frame (PRES-204) */
#define SCREEN_STATUSES 8u  /* that are told once for each mode set */

/* What a driver has said of an outstanding present. */
enum progress { NOTHING_YET, COMPLETE, FAILED };

/* The pointer on a source: what the driver was told of it, and where it is drawn in software. */
struct screen_pointer {
    struct pointer_told told;
    RECT area; /* that it covers in the newest frame; empty: none is drawn */
    struct pointer_under under;
};

struct screen {
    UINT source;
    /* the image; no frames: there is none. It stays while the source has no path. */
    struct screens_image image;
    struct page_number *frame;
    uint64_t frames;
    uint8_t *shown; /* the same frames, for the driver to read */
    bool lit;       /* the source has a path */
    bool rotated;   /* the path has a rotation (PRES-208) */
    UINT target;    /* of the path */
    D3DDDI_RATIONAL rate;
    uint64_t epoch; /* time of the first blank */
    uint64_t lit_at;
    uint64_t after; /* no frame before this time */
    /* what is due */
    bool visible, due;
    bool anew;                           /* all of it, not what was drawn */
    struct region dirty;                 /* pixels that are not on the screen */
    D3DKMT_MOVE_RECT move[SCREEN_MOVES]; /* to be done before, one after the other */
    UINT move_count;
    /* a present */
    bool calling, outstanding, late;
    struct region sent, changed; /* the rectangles; and what was moved, too */
    bool sent_anew;
    enum progress reported, told; /* by interrupt; by DPC */
    uint64_t deadline;
    uint64_t completed;
    NTSTATUS failure; /* of the last present that ended */
    NTSTATUS warned[SCREEN_STATUSES];
    unsigned warnings;
    bool unlike; /* the screen has shown another picture in this mode, which was told */
    struct screen_pointer pointer;
    /* vertical blanks */
    struct list watches; /* struct scanouts_watch.link */
    struct vsync_counts vsyncs;
    uint64_t synced; /* when one was reported last */
    UINT syncs_told; /* reported, and not seen by a DPC yet */
};

/* Of all sources. */
struct screens_blanks {
    UINT watchers;
    bool enabled;    /* the driver has been told to report them */
    bool refused;    /* and has failed */
    uint64_t since;  /* when it was told last */
    uint64_t needed; /* when that was needed last */
};
struct screens_pointer {
    struct sim_mutex lock;
    struct pointer_shape shape, fitted; /* as it was given; as the hardware gets it */
    bool hard;                          /* the hardware can show it */
    bool fresh;                         /* the shape is another */
    struct screens_cursor cursor;
};

struct screens {
    struct screens_config config;
    struct sim_thread *presenter;
    struct sim_waitq work, news;
    bool stop, ended, removed; /* removed: the device is gone (PRES-054) */
    unsigned users;            /* threads that draw, or move the pointer; the end waits for them */
    bool lost;                 /* a present or a vertical sync was */
    bool restarted;            /* since then the driver has been started again */
    struct screen screen[MODES_MAX_SOURCES];
    struct screens_pointer pointer;
    struct screens_blanks blanks;
};

static inline RECT screen_whole(const struct screen *s)
{
    return (RECT){0, 0, (LONG)s->image.width, (LONG)s->image.height};
}

/* A thread that is counted in `users` is done. */
static inline void screens_leave(struct screens *screens)
{
    if (--screens->users == 0 && screens->stop)
        (void)sim_waitq_wake(&screens->news, UINT32_MAX);
}

/* image.c: the image of the mode that is committed. If the source has the size and format that it
 * had, or no path, the old one stays (PRES-198). */
void screen_renew(struct screens *screens, struct screen *s);
void screen_free(struct screens *screens, struct screen *s);
/* Pixels that are to be sent: those inside the image. */
void screen_add_dirty(struct screen *s, const RECT *r);

/* No moves are due any more. */
static inline void moves_forget(struct screen *s)
{
    s->move_count = 0;
}

/* moves.c: what they have changed is sent as pixels. */
void moves_to_dirty(struct screen *s, const D3DKMT_MOVE_RECT *move, UINT count);

/* unlike.c: the present that was sent is complete: is it on the screen? */
void screen_compare(const struct screens *screens, struct screen *s);

/* screens.c: an outstanding present has ended. At most DISPATCH_LEVEL. */
void screen_complete(struct screens *screens, struct screen *s, bool shown);

#endif
