/* SPDX-License-Identifier: MIT */
/*
 * One sound display driver by the probe, display-only or full, and variants of it with one mistake
 * each. The display-only one copies pictures into the frame buffer of the firmware; the full one
 * has the display engine of full_display.h.
 *
 *     p = mistaken_run(&(struct mistaken_run){.mistake = MISTAKE_LEAKS_SET, .seed = 1});
 *     CHECK_RULE("VIDPN-015", probe_rule(p, "VIDPN-015") > 0);
 *     probe_destroy(p);
 */
#ifndef DXGK_TESTS_MISTAKEN_H
#define DXGK_TESTS_MISTAKEN_H

#include "port/support/probe.h"

enum mistake {
    MISTAKE_NONE,
    /* mode sets, modes and VidPNs */
    MISTAKE_LEAKS_SET,      /* a mode set that is acquired in an enumeration is not released */
    MISTAKE_CHANGES_PIVOT,  /* the support of scaling is changed where it is the pivot */
    MISTAKE_WRONG_FORMAT,   /* a source mode of 16 bits a pixel */
    MISTAKE_MODE_TWICE,     /* one that is in its set is added again, and then forgotten */
    MISTAKE_PINS,           /* a mode is pinned in an enumeration */
    MISTAKE_EMPTY_SET,      /* a target gets no mode */
    MISTAKE_KEEPS_HANDLE,   /* a VidPN is used after its call */
    MISTAKE_CHANGES_COMMIT, /* a path is removed from the VidPN that is committed */
    MISTAKE_COMMIT_FAILS,   /* of what is said to be supported, nothing can be committed */
    MISTAKE_NOT_VISIBLE,    /* making a source visible fails */
    /* children */
    MISTAKE_OTHER_CHILD, /* the status is that of another child */
    MISTAKE_LOST_STATUS, /* there is none */
    /* pictures of the display-only driver */
    MISTAKE_IGNORES_PLACE, /* each rectangle is copied to the corner */
    MISTAKE_FIRST_ALONE,   /* the first rectangle of a present is copied, not the others */
    MISTAKE_IGNORES_PITCH, /* lines of the picture are taken to have no gaps */
    MISTAKE_TURNS_WRONG,   /* clockwise */
    MISTAKE_SHOWS_EARLY,   /* there is a picture before the source is visible */
    MISTAKE_STAYS_VISIBLE, /* or still after it is not any more */
    MISTAKE_NEVER_DONE,    /* a present is not reported complete */
    MISTAKE_DONE_TWICE,
    MISTAKE_DONE_AND_SAID, /* it is reported complete, and the call says the same */
    MISTAKE_POINTER_OUT,   /* the pointer is drawn beyond the edges */
    MISTAKE_PICTURE_LEFT,  /* the display is handed on with a picture */
    MISTAKE_FIRST_FULL,    /* from here on of the full driver */
    MISTAKE_FLIP_EARLY = MISTAKE_FIRST_FULL, /* a flip is reported before it is latched */
    MISTAKE_SYNC_ADDRESS,                    /* vertical syncs name an address that is nobody's */
    MISTAKE_SYNC_ZERO,                       /* or none */
    MISTAKE_SYNC_TARGET,                     /* they are those of a target that does not exist */
    MISTAKE_SYNC_OTHER,                      /* or of another one */
    MISTAKE_SYNC_NEVER,                      /* none is reported */
    MISTAKE_SYNC_TYPE,  /* they are reported as those of a display-only driver */
    MISTAKE_FLIP_FAILS, /* a flip fails */
    MISTAKE_CACHED,     /* primaries are cached */
    MISTAKE_HIDDEN,     /* or in memory that the CPU cannot see */
    MISTAKES
};

struct mistaken_run {
    enum mistake mistake;
    bool full;     /* the full driver, where the mistake is that of either */
    uint64_t seed; /* 0: 1 */
    bool strict;
};

/* A whole life: start, pictures in several modes, displays that come, go and sleep, and the end. The
 * probe is stopped, or a bug check has come between; it is to be destroyed. */
struct probe *mistaken_run(const struct mistaken_run *run);
/* The rule for which the host refused a mode last; NULL: it refused none. */
const char *mistaken_refused(void);

#endif
