/* SPDX-License-Identifier: MIT */
/*
 * The outputs of one adapter: its video present sources and targets, the monitors on them, and the
 * VidPN that is in force. For the files of this room.
 */
#ifndef DXGK_MODES_MODES_H
#define DXGK_MODES_MODES_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "ddi/ddi.h"
#include "modes/hooks.h"
#include "sim/wait.h"
#include "trace/trace.h"

struct mode_list;
struct modes_ramp;
struct modes_panel;
struct monitor;
struct vidpn;

#define MODES_MAX_SOURCES 16u /* DISP-016 */

struct modes_target {
    UINT id; /* ChildUid */
    D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology;
    bool turns;              /* how its monitor is turned can be asked (DISP-033) */
    bool connected;          /* as the driver said last */
    bool left, changed;      /* it has said so since: gone; there, perhaps once more (DISP-050) */
    bool fresh;              /* its monitor has come, and has not been given a path yet */
    bool other;              /* its monitor is another now, and its path is to be chosen anew */
    UINT angle;              /* of the monitor, in degrees (DISP-045) */
    bool off;                /* the display is turned off */
    bool asleep;             /* with the adapter, to be turned on with it */
    struct monitor *monitor; /* NULL: none is there, or is known yet */
    D3DKMDT_2DREGION last;   /* size of the last source mode of its path (VIDPN-151) */
    uint64_t last_of;        /* mark of the monitor that had it (monitor.c); 0: none */
    struct vidpn *kept;      /* that was active when the display was turned off; NULL: none */
    const struct modes_panel *panel; /* of a display that is part of the device; NULL: it is none */
    bool forced;                     /* it is driven without a monitor (VIDPN-207) */
    /* The rest are of the connection change model. */
    bool gone;                   /* a free place: there is no such target */
    bool dynamic;                /* it came by a change, and can leave */
    bool going;                  /* it has left, and its path and monitor are to go */
    struct modes_target *above;  /* that it hangs from; NULL: none */
    struct modes_target *joined; /* that it is part of; NULL: none */
    UINT join_of;                /* number of the drain that joined its parts; 0: it has none */
    bool unknown;                /* whether it has a monitor cannot be known (DISP-095) */
    bool stopped;                /* its link is being configured (DISP-098) */
    bool resumes;                /* that is over, and its source is to go on */
    bool failed;                 /* that has failed: modes are to be chosen again */
    bool barred;                 /* it has failed too often: it gets no path (DISP-099) */
    UINT retries;
    uint64_t limit;     /* its signals are to be below this (modes_signal_load); 0: no limit */
    ULONGLONG state;    /* id of the last change that the driver has told of it */
    ULONGLONG foretold; /* that came by SetTimingsFromVidPn, and will come by the queue; 0: none */
};

/* A commit that the driver has refused: what this source shows in the VidPN. */
struct modes_refusal {
    struct vidpn *vidpn;
    UINT source;
};

#define MODES_MAX_REFUSALS 32u

struct modes_source {
    bool visible;            /* as the driver was told last */
    bool shown;              /* it has been visible */
    trace_track track;       /* of what becomes of it */
    struct modes_ramp *ramp; /* of gamma (modes/gamma.h); NULL: the default one */
    struct mode_list *list;  /* as of some time (modes/mode_list.h); NULL: none was asked for */
};

/* The connection change model (modes/connections.h, modes/timings.h). */
struct modes_connections {
    bool used;
    bool usb4;            /* SupportUsb4Targets (DISP-100) */
    bool lit_by_firmware; /* the POST device, and the driver has not told of anything yet */
    bool enabled;         /* hot plug detection */
    bool indicated;       /* the driver has changes to tell of (DISP-088) */
    bool any;             /* a change has come */
    ULONGLONG last;       /* its id */
    UINT drains;          /* so far */
    bool inherits;        /* what is committed next is what firmware has set (VIDPN-216) */
    struct vidpn *told;   /* by the last SetTimingsFromVidPn; NULL: none */
};

struct modes {
    struct list link; /* of the machine */
    struct ddi_adapter *ddi;
    HANDLE adapter; /* DeviceHandle, as the monitor interface gets it */
    UINT version;   /* interface version of the driver */
    bool display_only;
    bool vsync_control;   /* DISP-009; true for full drivers */
    bool tell_unpinned;   /* STATUS_GRAPHICS_MODE_NOT_PINNED for no pinned mode (VIDPN-066) */
    bool smooth_rotation; /* SupportSmoothRotation (DISP-163) */
    bool ended;           /* the adapter stops: no VidPN DDI is called any more */
    bool asleep;          /* the adapter is not in D0: what the driver says is looked into later */
    struct modes_connections connections;
    bool again;        /* monitors and paths are to be looked at once more */
    bool firmware_set; /* ask the driver what firmware has set (VIDPN-161) */
    bool starved;      /* the last commit failed for want of memory of the host */
    UINT sources, targets;
    struct modes_source source[MODES_MAX_SOURCES];
    struct modes_target *target;
    struct vidpn *active; /* committed; NULL: none yet */
    UINT arrivals;        /* of monitors so far */
    uint64_t changes;     /* of the active VidPN and of monitors, so far */
    struct modes_viewer viewer;
    struct modes_restart restart;
    struct modes_look look;
    struct modes_panels panels;
    struct modes_colors colors;
    struct display_worker *worker;
    unsigned users;         /* threads that ask the worker for something */
    struct sim_waitq alone; /* there are none any more */
    struct modes_refusal refusal[MODES_MAX_REFUSALS]; /* in the change that is being made */
    UINT refusals;
    /* Around calls of level two: wait until no work is on the GPU, and keep it so; `name` is of the
     * DDI, for reports. NULL: there is no such work. */
    NTSTATUS (*still)(struct ddi_adapter *ddi, const char *name);
    void (*go_on)(struct ddi_adapter *ddi);
    /* Bring the adapter to D0 and keep it there, for a request to the worker; the worker must
     * not, as who changes the power waits for it. NULL: it is there anyway. */
    NTSTATUS (*hold)(struct ddi_adapter *ddi);
    void (*release)(struct ddi_adapter *ddi);
};

static inline NTSTATUS modes_still(const struct modes *modes, const char *name)
{
    return modes->still ? modes->still(modes->ddi, name) : STATUS_SUCCESS;
}

static inline void modes_go_on(const struct modes *modes)
{
    if (modes->still)
        modes->go_on(modes->ddi);
}

/* Those of the adapter with this DeviceHandle; NULL: there is none. */
struct modes *modes_find(HANDLE adapter);
/* DeviceHandles of all adapters that have outputs; how many were written. */
UINT modes_adapters(HANDLE *adapter, UINT room);
/* NULL: out of memory, or the adapter has none. `targets`: array of ids and technologies, which is
 * copied. */
struct modes *modes_create(const struct modes *described, const struct modes_target *targets);
/* With what is left of it: the driver is called no more. */
void modes_destroy(struct modes *modes);

/* The machine ends, and no adapter has outputs any more. */
void modes_finish(void);

/* The target of the lowest source that is lit, else the first with a monitor, else the first
 * (PRES-032). */
UINT modes_lit_target(const struct modes *modes);

/* Its monitor has left, even if an arrival has followed (DISP-049). */
static inline bool modes_has_left(const struct modes_target *target)
{
    return target->monitor && (target->left || !target->connected);
}

/* Can a path to it be lit? */
static inline bool modes_can_light(const struct modes_target *target)
{
    return (target->monitor || target->forced) && !target->off && !target->going &&
           !target->barred && !target->joined && !modes_has_left(target);
}

/* NULL: the adapter has no such target. */
static inline struct modes_target *modes_target(const struct modes *modes, UINT id)
{
    for (UINT i = 0; i < modes->targets; i++)
        if (modes->target[i].id == id && !modes->target[i].gone)
            return &modes->target[i];
    return NULL;
}

#endif
