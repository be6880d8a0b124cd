/* SPDX-License-Identifier: MIT */
/* What a display-only driver reports of its presents (PRES-213 to PRES-217). */
#include "screens/screen.h"
#include "verify/verify.h"

static void take_progress(struct screens *screens, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    const UINT source = data->DisplayOnlyPresentProgress.VidPnSourceId;
    const int id = (int)data->DisplayOnlyPresentProgress.ProgressId;
    struct screen *s = &screens->screen[source < MODES_MAX_SOURCES ? source : 0];

    if (source >= screens->config.modes->sources)
        VIOLATION("PRES-216", "progress was reported for source %u, which does not exist", source);
    else if (id != DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID_COMPLETE &&
             id != DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID_FAILED)
        VIOLATION("PRES-216", "progress %d was reported for source %u", id, source);
    else if (!s->outstanding || s->reported != NOTHING_YET)
        VIOLATION("PRES-216", "progress was reported for source %u, %s", source,
                  s->outstanding ? "a second time"
                  : s->late      ? "whose present had been given up"
                                 : "of which no present is outstanding");
    else
        s->reported = id == DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID_COMPLETE ? COMPLETE : FAILED;
}

void screens_notify(struct screens *screens, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    switch ((int)data->InterruptType) {
    case DXGK_INTERRUPT_DISPLAYONLY_PRESENT_PROGRESS:
        take_progress(screens, data);
        break;
    case DXGK_INTERRUPT_DISPLAYONLY_VSYNC:
        blanks_notify(screens, data->DisplayOnlyVsync.VidPnTargetId);
        break;
    default:
        VIOLATION("PRES-162", "a display-only driver reported an interrupt of type %d",
                  (int)data->InterruptType);
    }
}

void screens_notify_dpc(struct screens *screens)
{
    blanks_notify_dpc(screens);
    for (UINT i = 0; i < screens->config.modes->sources; i++) {
        struct screen *s = &screens->screen[i];

        if (!s->outstanding || s->reported == NOTHING_YET || s->told != NOTHING_YET)
            continue;
        s->told = s->reported;
        if (s->told == FAILED) {
            WARNING("PRES-220", "a present of source %u was reported as failed", i);
            s->failure = STATUS_UNSUCCESSFUL;
        }
        if (!s->calling)
            screen_complete(screens, s, s->told == COMPLETE);
    }
}
