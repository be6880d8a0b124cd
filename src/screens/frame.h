/* SPDX-License-Identifier: MIT */
/* A frame: a change of what a source shows, for whoever records them (PRES-317). */
#ifndef DXGK_SCREENS_FRAME_H
#define DXGK_SCREENS_FRAME_H

#include <stdint.h>

#include <ntddk.h>

enum screens_cause {
    SCREENS_MODE,    /* all of it is shown, after a change of the mode or of what is visible */
    SCREENS_PRESENT, /* a display-only driver has shown what was drawn */
    SCREENS_FLIP,    /* another primary of a full driver */
};

struct screens_frame {
    UINT source;
    uint64_t number; /* of the source, from 1 on */
    enum screens_cause cause;
    const RECT *rectangle; /* what has changed */
    UINT rectangles;
};

/* For each frame when it is complete, at most at DISPATCH_LEVEL. */
typedef void screens_frame_fn(void *context, const struct screens_frame *frame);

#endif
