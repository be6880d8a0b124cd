/* SPDX-License-Identifier: MIT */
/* When a full driver is to report vertical syncs: while somebody needs them (PRES-167 to
 * PRES-176). */
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

bool vsync_needed(const struct scanouts *scanouts)
{
    bool needed = scanouts->watchers != 0;

    for (UINT i = 0; i < scanouts->config.modes->sources; i++) {
        const struct scanout *s = &scanouts->source[i];

        needed |= s->handed_count || !list_empty(&s->waiting) || planes_pending(s);
    }
    return needed;
}

/* PRES-174: of the entries that the driver has, the newest. */
static NTSTATUS call(struct ddi_adapter *ddi, bool on)
{
    const DXGK_CRTC_VSYNC_STATE state = on ? DXGK_VSYNC_ENABLE : DXGK_VSYNC_DISABLE_NO_PHASE;

    if (ddi_has(ddi, DxgkDdiControlInterrupt3))
        return ddi_control_interrupt3(
            ddi, &(DXGKARG_CONTROLINTERRUPT3){.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC,
                                              .CrtcVsyncState = state,
                                              .VidPnSourceId = D3DDDI_ID_ALL});
    if (ddi_has(ddi, DxgkDdiControlInterrupt2))
        return ddi_control_interrupt2(
            ddi, (DXGKARG_CONTROLINTERRUPT2){.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC,
                                             .CrtcVsyncState = state});
    if (ddi_has(ddi, DxgkDdiControlInterrupt))
        return ddi_control_interrupt(ddi, DXGK_INTERRUPT_CRTC_VSYNC, on);
    return STATUS_NOT_SUPPORTED;
}

void vsync_control(struct scanouts *scanouts, bool on)
{
    const struct modes *modes = scanouts->config.modes;
    NTSTATUS status;

    if (on && modes->asleep)
        return;
    status = modes_still(modes, "DxgkDdiControlInterrupt");
    scanouts->enabled = on;
    scanouts->needed = sim_now();
    if (!NT_SUCCESS(status))
        return;
    status = call(modes->ddi, on);
    modes_go_on(modes);
    if (!NT_SUCCESS(status) && on && !scanouts->failed && !modes->ddi->gone) { /* PRES-176 */
        scanouts->failed = true;
        WARNING("PRES-176", "vertical syncs could not be enabled: %s", nt_status_text(status).text);
    }
}

void scanouts_sleep(struct scanouts *scanouts)
{
    if (scanouts->enabled)
        vsync_control(scanouts, false);
}
