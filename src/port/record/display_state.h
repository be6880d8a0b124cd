/* SPDX-License-Identifier: MIT */
/* What is known of an adapter's displays. */
#ifndef DXGK_PORT_DISPLAY_STATE_H
#define DXGK_PORT_DISPLAY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "sim/wait.h"
#include "util/address.h"

#define PORT_DISPLAY_RECOVERIES 5u /* within a minute; the next is fatal (PRES-258) */

struct ddi_adapter;
struct modes;
struct port_adapter;
struct port_stale;
struct scanouts;
struct screens;

/* post.c: the firmware frame buffer. */
struct port_post {
    DXGK_DISPLAY_INFORMATION boot; /* as firmware left it */
    DXGK_DISPLAY_INFORMATION info; /* as a driver gets it */
    uint64_t bytes;                /* 0: the adapter is not the POST device */
    bool known;                    /* `info` is what is shown */
    struct page_number frame;      /* it lies in these frames; or in a BAR */
    uint64_t frames;
    DXGK_FRAMEBUFFER_STATE state;
    bool acquired;
    bool told_hidden; /* since the start: that it was not black while no source was visible */
    bool told;        /* since the start: that it was not black (PRES-023) */
    /* when the driver is stopped: */
    UINT target;           /* that is to stay lit (PRES-032) */
    D3DKMDT_2DREGION mode; /* that it has */
    bool monitor;          /* some target has a monitor */
};

#define PORT_BRIGHTNESS_KINDS 3u

/* brightness.c: interfaces of the integrated panel. */
struct port_brightness {
    bool asked; /* of `target` */
    UINT target;
    INTERFACE granted[PORT_BRIGHTNESS_KINDS]; /* without InterfaceDereference: it was not */
};

/* display.c: NULL: the adapter shows nothing. */
struct port_display {
    struct modes *modes;
    struct screens *screens;                   /* of a display-only driver */
    struct scanouts *scanouts;                 /* of a full driver */
    NTSTATUS (*hold)(struct ddi_adapter *ddi); /* in D0 (power.c) */
    void (*release)(struct ddi_adapter *ddi);
    DXGK_DISPLAY_DRIVERCAPS_EXTENSION caps;
    unsigned plane_form; /* of the overlay entries, 1 to 3; 0: no overlays (PRES-181) */
    NTSTATUS (*start_again)(struct port_adapter *adapter); /* StopDevice and StartDevice */
    uint64_t recovered[PORT_DISPLAY_RECOVERIES]; /* times of the last ones, the oldest first */
    unsigned recoveries;                         /* of them */
    struct port_brightness brightness;
    struct port_stale *stale;   /* stale.c: what was shown when the device was removed; or NULL */
    bool restarting;            /* from before StopDevice to after StartDevice of a recovery */
    struct sim_waitq restarted; /* it ends */
};

#endif
