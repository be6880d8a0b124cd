/* SPDX-License-Identifier: MIT */
/* Who is told what becomes of outputs and modes, and whom the display worker asks: functions of
 * upper rooms. */
#ifndef DXGK_MODES_HOOKS_H
#define DXGK_MODES_HOOKS_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct vidpn;

/* Whoever shows pictures, and is told what becomes of the sources; called by the display worker. */
struct modes_viewer {
    /* Before the source is made invisible: no present is outstanding afterwards, none begins. */
    void (*rests)(void *context, UINT source);
    /* Before a commit that changes or removes what the source shows: the same. */
    void (*ends)(void *context, UINT source);
    /* After the commit. */
    void (*begins)(void *context, UINT source);
    /* The source has been made visible, and its picture is due. */
    void (*visible)(void *context, UINT source);
    /* It has been made invisible. */
    void (*hidden)(void *context, UINT source);
    /* The display worker has done what was to be done. */
    void (*settled)(void *context);
    bool (*hold_pointer)(void *context, bool wait); /* modes/change.h; false: it is in use */
    void (*let_pointer_go)(void *context);
    /* The rest are of full drivers; NULL: of a display-only one. */
    /* Before anything else of a commit: have a primary ready for the mode that is pinned for the
     * source in this VidPN (PRES-061), or know that the source is to show nothing. It keeps the one
     * that is in force. */
    NTSTATUS (*prepare)(void *context, const struct vidpn *vidpn, UINT source);
    /* That primary, as hPrimaryAllocation; of another VidPN than that, the one in force. */
    HANDLE (*primary)(void *context, const struct vidpn *vidpn, UINT source);
    /* It is to be shown, between the commit and the visibility (PRES-153). */
    NTSTATUS (*address)(void *context, const struct vidpn *vidpn, UINT source);
    /* The commit is over: what was prepared is in force, and what it replaces ends; or, of a commit
     * that has failed, what was prepared ends. */
    void (*settle)(void *context, UINT source, bool committed, bool keep);
    void *context;
};

/* How a driver that has lost a present is started again, by the display worker. False: it cannot
 * go on. */
struct modes_restart {
    bool (*run)(void *context);
    void (*over)(void *context); /* after what was committed is committed again */
    void *context;
};

/* Which children are asked whether they are connected (DISP-042). */
enum modes_looking {
    MODES_LOOK_START,  /* all, and those that are no outputs */
    MODES_LOOK_RESUME, /* all outputs */
    MODES_LOOK_POLL,   /* those that are to be polled */
    MODES_LOOK_MORE,   /* and those that tell of it themselves */
};

/* Ask the driver, on the display worker (DISP-172). */
struct modes_look {
    /* With `carefully`, nothing may be seen of it on a screen (DISP-041). */
    void (*run)(void *context, enum modes_looking which, bool carefully);
    void *context;
};

/* Who is told of integrated panels that come and go, on the display worker. */
struct modes_panels {
    void (*came)(void *context, UINT target);
    void (*went)(void *context, UINT target);
    void *context;
};

/* Asks the driver for colors of a monitor that it knows better (DISP-081). */
struct modes_colors {
    NTSTATUS (*ask)(void *context, UINT target, DXGK_COLORIMETRY *answer);
    void *context;
};

#endif
