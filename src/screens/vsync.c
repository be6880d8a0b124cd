/* SPDX-License-Identifier: MIT */
/*
 * Vertical syncs that a full driver reports (PRES-155 to PRES-166), and which flips they complete.
 * What a service routine tells is kept until its DPC (PRES-145).
 */
#include <string.h>

#include "ddi/frame.h"
#include "modes/vidpn.h"
#include "nt/ke/pace.h"
#include "screens/planes_record.h"
#include "screens/vertical.h"
#include "sim/dpc.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "verify/verify.h"

#define SECOND UINT64_C(1000000000)
#define STORM  16u /* PRES-331 */
/* What is told within this time is told at once: each call of the host takes some. */
#define INSTANT_NS 10000u

/* ---- what the driver tells ---- */

/* The source whose flips the target's vertical syncs complete; NULL: there is none. */
static struct scanout *synchronized(struct scanouts *scanouts, UINT target)
{
    for (UINT i = 0; i < scanouts->config.modes->sources; i++)
        if (scanouts->source[i].lit && scanouts->source[i].target == target)
            return &scanouts->source[i];
    return NULL;
}

static void note_flags(struct scanouts *scanouts, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    const bool masked = data->Flags.ValidPhysicalAdapterMask;
    const UINT mask = (int)data->InterruptType == DXGK_INTERRUPT_CRTC_VSYNC
                          ? data->CrtcVsync.PhysicalAdapterMask
                          : data->CrtcVsyncWithMultiPlaneOverlay.PhysicalAdapterMask; /* both */

    if (scanouts->flags_told || !(data->Flags.Value & ~1u || (masked && mask != 1)))
        return;
    scanouts->flags_told = true; /* PRES-158 */
    WARNING("PRES-158", "a vertical sync was reported with Flags 0x%x and PhysicalAdapterMask 0x%x",
            data->Flags.Value, mask);
}

static void note_storm(struct scanout *s)
{
    if (sim_now() - s->last_sync >= INSTANT_NS)
        s->storm = 0;
    if (s->storm++ == 0)
        s->last_sync = sim_now();
    if (s->storm != STORM + 1)
        return;
    VIOLATION("PRES-331", "more than %u vertical syncs of target 0x%x were reported at one time",
              STORM, s->target);
    /* by a thread, through DxgkCbSynchronizeExecution */
    if (!ddi_inside(DDI_DxgkDdiInterruptRoutine) && !sim_in_dpc())
        nt_pace(s->last_sync, vsync_period(s));
}

static void take(struct scanouts *scanouts, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    const UINT target = data->CrtcVsync.VidPnTargetId;
    struct scanout *s = synchronized(scanouts, target);

    if (!modes_target(scanouts->config.modes, target)) {
        VIOLATION("PRES-159", "a vertical sync was reported for target 0x%x, which does not exist",
                  target);
        return;
    }
    note_flags(scanouts, data);
    if (!s)
        return;
    note_storm(s);
    if (data->InterruptType == DXGK_INTERRUPT_CRTC_VSYNC)
        scanout_look_early(s, (uint64_t)data->CrtcVsync.PhysicalAddress.QuadPart);
    if (s->blanks == SCANOUT_BLANKS)
        return; /* its DPC is late */
    if ((int)data->InterruptType != DXGK_INTERRUPT_CRTC_VSYNC)
        planes_notify(s, data);
    else
        s->blank[s->blanks++] = (struct blank){
            .address = (uint64_t)data->CrtcVsync.PhysicalAddress.QuadPart, .told = sim_now()};
}

/* PRES-162 */
static bool is_taken(const struct scanouts *scanouts, int type)
{
    switch (type) {
    case DXGK_INTERRUPT_CRTC_VSYNC:
        return true;
    case DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY:
        return scanouts->config.plane_form != 0;
    case DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY2:
        return scanouts->config.plane_form == 3;
    default:
        return false;
    }
}

void scanouts_notify(struct scanouts *scanouts, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    if (is_taken(scanouts, (int)data->InterruptType))
        take(scanouts, data);
    else if ((int)data->InterruptType == DXGK_INTERRUPT_MICACAST_CHUNK_PROCESSING_COMPLETE ||
             (int)data->InterruptType == DXGK_INTERRUPT_PERIODIC_MONITORED_FENCE_SIGNALED)
        VIOLATION("PRES-166",
                  "an interrupt of type %d was reported; there are neither Miracast links nor "
                  "periodic notifications here",
                  (int)data->InterruptType);
    else
        VIOLATION("PRES-162", "a full driver reported an interrupt of type %d",
                  (int)data->InterruptType);
}

/* ---- what it completes ---- */

static bool is_shown(const struct scanout *s, uint64_t address)
{
    return s->now.allocation ? s->now.where.address == address
                             : s->shared && s->shared->where.address == address;
}

/* Once a second (PRES-143, PRES-157). */
static void judge_unknown(struct scanout *s, uint64_t address)
{
    if (!s->addressed || (s->last_unknown && sim_now() - s->last_unknown < SECOND))
        return;
    s->last_unknown = sim_now() ? sim_now() : 1;
    if (!address)
        VIOLATION("PRES-157", "a vertical sync of target 0x%x was reported with address 0",
                  s->target);
    else
        WARNING("PRES-143",
                "a vertical sync of target 0x%x names 0x%llx, where no primary is that is shown or "
                "waits to be",
                s->target, (unsigned long long)address);
}

/* A layer's address is told of the primary alone, too, while planes are shown. */
static void settle_top(struct scanout *s, uint64_t address)
{
    const struct planes_blank top = {.count = 1, .news = {{.enabled = true, .value = address}}};

    if (address && planes_settle(s, &top))
        scanout_frame(s, SCREENS_FLIP);
}

/* PRES-136, PRES-142 to PRES-144: of what is visible anyway, a vertical sync says so only after the
 * call. */
static bool names(const struct scanout *s, const struct blank *blank, const struct flip *flip)
{
    if (flip->by_gpu)
        return !flip->no_wait || flip->primary.where.address == blank->address;
    return flip->primary.where.address == blank->address &&
           (!is_shown(s, blank->address) || (flip->returned && blank->told >= flip->returned));
}

static void settle(struct scanout *s, const struct blank *blank)
{
    const uint64_t address = blank->address;
    UINT count = s->handed_count;

    while (count && !names(s, blank, s->handed[count - 1]))
        count--; /* PRES-142, PRES-143 */
    if (!address)
        count = 0;
    if (count)
        flip_complete(s, count);
    else if (planes_pending(s))
        settle_top(s, address);
    else if (!is_shown(s, address))
        judge_unknown(s, address);
}

static void look_at(struct scanout *s, UINT index)
{
    s->syncs++;
    vsync_count(&s->vsyncs, s->all->config.modes, s->source, VSYNC_REPORTED);
    vsync_note_rate(s);
    if (!s->blank[index].planes)
        settle(s, &s->blank[index]);
    else if (planes_settle(s, &s->planes->blank[index]))
        scanout_frame(s, SCREENS_FLIP);
    vertical_tell(s);
    (void)sim_waitq_wake(&s->all->news, UINT32_MAX);
    (void)sim_waitq_wake(&s->all->work, 1);
}

/* More may have been told meanwhile. */
static void forget(struct scanout *s, UINT count)
{
    s->blanks -= count;
    memmove(s->blank, s->blank + count, s->blanks * sizeof(s->blank[0]));
    if (s->planes)
        memmove(s->planes->blank, s->planes->blank + count, s->blanks * sizeof(s->planes->blank[0]));
}

void scanouts_notify_dpc(struct scanouts *scanouts)
{
    for (UINT i = 0; i < scanouts->config.modes->sources; i++) {
        struct scanout *s = &scanouts->source[i];
        const UINT blanks = s->blanks;

        for (UINT k = 0; k < blanks; k++)
            look_at(s, k);
        forget(s, blanks);
    }
}

/* ---- who waits for one ---- */

NTSTATUS scanouts_await_blank(struct scanouts *scanouts, UINT source)
{
    struct scanout *s = &scanouts->source[source];
    const uint64_t syncs = s->syncs, limit = sim_now() + scanout_patience(s);

    scanouts->users++;
    scanouts->watchers++;
    s->awaited++;
    (void)sim_waitq_wake(&scanouts->work, 1);
    while (s->syncs == syncs && sim_now() < limit && !scanouts_ends(scanouts))
        (void)sim_waitq_wait(&scanouts->news, limit);
    if (s->syncs == syncs && !scanouts_ends(scanouts))
        vsync_count(&s->vsyncs, scanouts->config.modes, source, VSYNC_SUBSTITUTED);
    scanouts->watchers--;
    s->awaited--;
    scanouts->needed = sim_now();
    (void)sim_waitq_wake(&scanouts->work, 1);
    if (--scanouts->users == 0 && scanouts->stop)
        (void)sim_waitq_wake(&scanouts->news, UINT32_MAX);
    return scanouts_ends(scanouts) ? scanouts_gone(scanouts) : STATUS_SUCCESS;
}
