/* SPDX-License-Identifier: MIT */
/*
 * The display worker of an adapter: the one thread that makes its child, monitor and VidPN calls
 * (DISP-049, DISP-172). What comes from elsewhere is a request to it; requests are carried out in
 * their order.
 */
#ifndef DXGK_MODES_DISPLAY_WORKER_H
#define DXGK_MODES_DISPLAY_WORKER_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "modes/arrange.h"
#include "modes/choose.h"

struct modes;

/* NULL in modes->worker: out of memory. */
NTSTATUS display_worker_begin(struct modes *modes);
/* Is something of what is shown about to change: does the worker work, or the adapter sleep? */
bool display_worker_busy(const struct modes *modes);
/* Wait for what is at work, end the thread, and wait until who has asked for something has left.
 * PASSIVE_LEVEL. */
void display_worker_end(struct modes *modes);

/* The driver has lost a present: it is started again soon, and the active VidPN is committed again
 * (PRES-258). At most DISPATCH_LEVEL. */
void display_worker_lost(struct modes *modes);

/* The adapter has been reset: the active VidPN is committed again soon (VIDPN-192). At most
 * DISPATCH_LEVEL. */
void display_worker_reset(struct modes *modes);

/* The driver says whether a monitor is there; at most DISPATCH_LEVEL. It is seen to soon. False:
 * the adapter has no such target. */
bool display_worker_note(struct modes *modes, UINT target, bool connected);

/* The driver has changes to tell of (DISP-088): the same. */
void display_worker_indicate(struct modes *modes);

/* Wait for the worker, as all of the following do: bring monitors and paths up to what is known. */
NTSTATUS display_update(struct modes *modes);
/* The same at the start, when it is asked what is connected. */
NTSTATUS display_first(struct modes *modes);
/* Give one source another mode (VIDPN-204), or its path another rotation. */
NTSTATUS display_set_mode(struct modes *modes, const struct modes_wish *wish);
/* Another topology, and a target that is driven without a monitor (modes/arrange.h). */
NTSTATUS display_arrange(struct modes *modes, enum modes_arrangement arrangement);
NTSTATUS display_force(struct modes *modes, UINT target, bool on);
/* DISP-118, DISP-121 */
NTSTATUS display_set_content(struct modes *modes, UINT target,
                             D3DKMDT_VIDPN_PRESENT_PATH_CONTENT content);
NTSTATUS display_control_behavior(struct modes *modes, DXGKARG_CONTROLMODEBEHAVIOR *args);
/* Carry out something else on the worker, with the adapter in D0. */
NTSTATUS display_do(struct modes *modes, NTSTATUS (*run)(struct modes *modes, void *arg), void *arg);
/* The driver is to look whether monitors have come or gone. */
struct modes_poll {
    bool careful;    /* nothing may be seen of it (DISP-041) */
    bool all;        /* also at children that tell of it themselves */
    bool keep_modes; /* monitors are met, and paths stay as they are (DISP-044) */
};
NTSTATUS display_poll(struct modes *modes, const struct modes_poll *request);
/* What the driver wants to be shown, by a client's wish (VIDPN-164). */
NTSTATUS display_recommend(struct modes *modes, void *data, UINT bytes);
/* Do what the driver asked for when firmware told it something: DXGK_ACPI_* (DISP-155). */
NTSTATUS display_acpi(struct modes *modes, ULONG flags);
/* Turn the display on a target off or on (VIDPN-176, VIDPN-177). */
NTSTATUS display_power(struct modes *modes, UINT target, bool on);
/* Before the adapter leaves D0: all displays off. After D0: on again (PRES-249, PRES-250). */
NTSTATUS display_suspend(struct modes *modes);
NTSTATUS display_resume(struct modes *modes);
/* After a reset (VIDPN-192). */
NTSTATUS display_restore(struct modes *modes);
/* What drivers are asked in strict mode. */
void display_strict(struct modes *modes);
/* The adapter stops: no source is visible, no path is left (VIDPN-191). With `keep`, the picture is
 * handed on, and nothing is done but to end. */
void display_stop(struct modes *modes, bool keep);

#endif
