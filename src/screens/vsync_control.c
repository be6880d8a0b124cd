/* SPDX-License-Identifier: MIT */
/* When a full driver is to report vertical syncs: while somebody needs them, and for some periods
 * afterwards (PRES-167 to PRES-176). */
#include "nt/base/status_name.h"
#include "screens/planes_record.h"
#include "sim/machine.h"
#include "verify/verify.h"

#define SECOND UINT64_C(1000000000)

uint64_t vsync_period(const struct scanout *s)
{
    const D3DDDI_RATIONAL rate = s->rate.Numerator ? s->rate : (D3DDDI_RATIONAL){60, 1};

    return (uint64_t)((unsigned __int128)rate.Denominator * SECOND / rate.Numerator);
}

/* PRES-293: nothing reports one for a source that is dark. */
uint64_t scanout_patience(const struct scanout *s)
{
    return (s->lit && !s->all->config.modes->asleep ? 2 : 1) * vsync_period(s);
}

bool vsync_needed(const struct scanouts *scanouts)
{
    bool needed = scanouts->watchers != 0 || scanouts->requests != 0;

    for (UINT i = 0; i < scanouts->config.modes->sources; i++) {
        const struct scanout *s = &scanouts->source[i];

        needed |= s->handed_count || !list_empty(&s->waiting) || planes_pending(s);
    }
    return needed;
}

/* ---- the driver ---- */

/* PRES-173, PRES-174: of the entries that the driver has, the newest. */
static NTSTATUS call(struct ddi_adapter *ddi, DXGK_CRTC_VSYNC_STATE state, UINT source)
{
    if (ddi_has(ddi, DxgkDdiControlInterrupt3))
        return ddi_control_interrupt3(
            ddi, &(DXGKARG_CONTROLINTERRUPT3){.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC,
                                              .CrtcVsyncState = state,
                                              .VidPnSourceId = source});
    if (ddi_has(ddi, DxgkDdiControlInterrupt2))
        return ddi_control_interrupt2(
            ddi, (DXGKARG_CONTROLINTERRUPT2){.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC,
                                             .CrtcVsyncState = state});
    if (ddi_has(ddi, DxgkDdiControlInterrupt))
        return ddi_control_interrupt(ddi, DXGK_INTERRUPT_CRTC_VSYNC, state == DXGK_VSYNC_ENABLE);
    return STATUS_NOT_SUPPORTED;
}

/* The driver can keep the phase of what it does not report. */
static bool in_stages(const struct ddi_adapter *ddi)
{
    return ddi_has(ddi, DxgkDdiControlInterrupt3) || ddi_has(ddi, DxgkDdiControlInterrupt2);
}

static void tell(struct scanouts *scanouts, DXGK_CRTC_VSYNC_STATE state, UINT source)
{
    const struct modes *modes = scanouts->config.modes;
    const bool on = state == DXGK_VSYNC_ENABLE;
    NTSTATUS status = modes_still(modes, "DxgkDdiControlInterrupt");

    if (!NT_SUCCESS(status))
        return;
    status = call(modes->ddi, state, source);
    modes_go_on(modes);
    if (!NT_SUCCESS(status) && on && !scanouts->failed && !modes->ddi->gone) { /* PRES-176 */
        scanouts->failed = true;
        WARNING("PRES-176", "vertical syncs could not be enabled: %s", nt_status_text(status).text);
    }
}

/* ---- each source by itself ---- */

/* PRES-174 */
static bool by_source(const struct scanouts *scanouts)
{
    return scanouts->config.independent &&
           ddi_has(scanouts->config.modes->ddi, DxgkDdiControlInterrupt3);
}

static bool source_needs(const struct scanout *s)
{
    return s->handed_count || !list_empty(&s->waiting) || s->awaited || s->all->requests ||
           planes_pending(s);
}

/* The one of these whose state is to be another; NULL: none is. */
static struct scanout *unbalanced(struct scanouts *scanouts, uint64_t *until)
{
    for (UINT i = 0; i < scanouts->config.modes->sources; i++) {
        struct scanout *s = &scanouts->source[i];
        const uint64_t off = s->needed_at + scanouts->config.idle_periods * vsync_period(s);

        if (source_needs(s))
            s->needed_at = sim_now();
        if (s->reports ? !source_needs(s) && sim_now() >= off : source_needs(s))
            return s;
        if (s->reports && !source_needs(s) && off < *until)
            *until = off;
    }
    return NULL;
}

/* False: all are as they should be. */
static bool balance(struct scanouts *scanouts, uint64_t *until)
{
    struct scanout *s = unbalanced(scanouts, until);

    if (!s)
        return false;
    s->reports = !s->reports;
    s->watched = sim_now();
    tell(scanouts, s->reports ? DXGK_VSYNC_ENABLE : DXGK_VSYNC_DISABLE_NO_PHASE, s->source);
    return true;
}

/* ---- all of them ---- */

static void begin_watch(struct scanouts *scanouts)
{
    for (UINT i = 0; i < scanouts->config.modes->sources; i++) {
        scanouts->source[i].watched = sim_now();
        scanouts->source[i].window = 0;
    }
}

void vsync_control(struct scanouts *scanouts, bool on)
{
    uint64_t until = SIM_FOREVER;

    if (on && scanouts->config.modes->asleep)
        return;
    scanouts->enabled = on;
    scanouts->needed = sim_now();
    scanouts->keeps = false;
    if (on)
        begin_watch(scanouts);
    if (on && by_source(scanouts)) {
        while (balance(scanouts, &until))
            ;
        return;
    }
    for (UINT i = 0; i < scanouts->config.modes->sources; i++)
        scanouts->source[i].reports = on;
    tell(scanouts, on ? DXGK_VSYNC_ENABLE : DXGK_VSYNC_DISABLE_NO_PHASE, D3DDDI_ID_ALL);
}

void vsync_need(struct scanout *s)
{
    uint64_t until = SIM_FOREVER;

    if (!s->all->enabled)
        vsync_control(s->all, true);
    else if (by_source(s->all) && !s->reports)
        (void)balance(s->all, &until);
}

void scanouts_sleep(struct scanouts *scanouts)
{
    if (scanouts->enabled || scanouts->keeps)
        vsync_control(scanouts, false);
}

void scanouts_request_vsync(struct scanouts *scanouts, bool wanted)
{
    scanouts->requests += wanted ? 1u : -1u;
    scanouts->needed = sim_now();
    (void)sim_waitq_wake(&scanouts->work, 1);
}

/* ---- when nobody needs them ---- */

/* PRES-175 */
static void turn_off(struct scanouts *scanouts)
{
    if (!in_stages(scanouts->config.modes->ddi) || by_source(scanouts)) {
        vsync_control(scanouts, false);
        return;
    }
    scanouts->enabled = false;
    scanouts->keeps = true;
    scanouts->kept = sim_now();
    tell(scanouts, DXGK_VSYNC_DISABLE_KEEP_PHASE, D3DDDI_ID_ALL);
}

static bool is_due(uint64_t at, uint64_t *until)
{
    if (sim_now() >= at)
        return true;
    if (at < *until)
        *until = at;
    return false;
}

bool vsync_step(struct scanouts *scanouts, uint64_t *until)
{
    const uint64_t period = vsync_period(&scanouts->source[0]);
    const UINT idle = scanouts->config.idle_periods;
    const bool needed = vsync_needed(scanouts);

    if (needed)
        scanouts->needed = sim_now();
    if (!scanouts->enabled && (scanouts->watchers || scanouts->requests) &&
        !scanouts->config.modes->asleep) {
        vsync_control(scanouts, true);
        return true;
    }
    if (scanouts->enabled && needed && by_source(scanouts) && balance(scanouts, until))
        return true;
    if (scanouts->enabled && !needed && idle && /* PRES-170, PRES-171 */
        is_due(scanouts->needed + idle * period, until)) {
        turn_off(scanouts);
        return true;
    }
    if (scanouts->keeps && is_due(scanouts->kept + 2 * period, until)) {
        vsync_control(scanouts, false);
        return true;
    }
    return false;
}
