/* SPDX-License-Identifier: MIT */
/* Tests of presents: a display-only driver that writes down each frame, and reports of their ends. */
#ifndef DXGK_TESTS_PRESENTS_H
#define DXGK_TESTS_PRESENTS_H

#include "port/support/display.h"
#include "sim/irql.h"
#include "sim/thread.h"

#include <string.h>

#define PRESENT_PERIOD 16666667u /* of 60 Hz, ns */
#define WHOLE          ((RECT){0, 0, 1024, 768})

struct present_frame {
    DXGKARG_PRESENT_DISPLAYONLY args; /* pMoves and pDirtyRect are gone */
    RECT rect[64];
    uint64_t time;
    uint8_t irql;
    uint32_t pixel; /* the first of the first rectangle */
};

/* presents.answer[i] is the answer to the i-th present, counted from presents_begin; 0: the frame is
 * done. */
static struct presents {
    struct present_frame frame[64];
    UINT count;
    NTSTATUS answer[64];
    void (*during)(struct probe *p, UINT frame); /* within the call */
} presents;

static inline NTSTATUS presents_take(struct probe *p, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    const UINT n = presents.count++ % 64;
    struct present_frame *frame = &presents.frame[n];

    frame->args = *args;
    if (args->NumDirtyRects)
        memcpy(frame->rect, args->pDirtyRect, args->NumDirtyRects * sizeof(RECT));
    frame->time = sim_now();
    frame->irql = sim_irql();
    memcpy(&frame->pixel,
           (const uint8_t *)args->pSource + (SIZE_T)frame->rect[0].top * (SIZE_T)args->Pitch +
               (SIZE_T)frame->rect[0].left * 4,
           4);
    if (presents.during)
        presents.during(p, n);
    return presents.answer[n];
}

/* From here on frames count from 0. */
static inline void presents_begin(void)
{
    memset(&presents, 0, sizeof(presents));
    display.in_present = presents_take;
}

static inline bool present_is(UINT frame, RECT rect)
{
    return presents.count > frame && presents.frame[frame].args.NumDirtyRects == 1 &&
           memcmp(presents.frame[frame].rect, &rect, sizeof(rect)) == 0;
}

/* Fill a rectangle with one colour. */
static inline bool present_fill(struct probe *p, UINT source, RECT r, uint32_t colour)
{
    struct screens_image image;

    if (!screens_draw(display_screens(p), source, &image))
        return false;
    for (LONG y = r.top; y < r.bottom; y++)
        for (LONG x = r.left; x < r.right; x++)
            memcpy(image.pixels + (SIZE_T)y * image.pitch + (SIZE_T)x * 4, &colour, sizeof(colour));
    screens_drawn(display_screens(p), source, &r);
    return true;
}

/* The same, and wait until it is on the screen. */
static inline bool present_draw(struct probe *p, RECT r, uint32_t colour)
{
    return present_fill(p, 0, r, colour) && screens_settle(display_screens(p), 0);
}

/* ---- reports ---- */

struct present_report {
    struct probe *p;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;
    uint8_t irql;
};

static inline BOOLEAN NTAPI present_notify(PVOID context)
{
    struct present_report *report = context;
    const DXGKRNL_INTERFACE *dxgk = &report->p->state[0].dxgk;

    report->irql = sim_irql();
    dxgk->DxgkCbNotifyInterrupt(dxgk->DeviceHandle, &report->data);
    (void)dxgk->DxgkCbQueueDpc(dxgk->DeviceHandle);
    return TRUE;
}

/* Any interrupt of the driver, through DxgkCbSynchronizeExecution. */
static inline NTSTATUS present_interrupt(struct probe *p,
                                         const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    struct present_report report = {.p = p, .data = *data};
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    BOOLEAN result = FALSE;
    NTSTATUS status = dxgk->DxgkCbSynchronizeExecution(dxgk->DeviceHandle, present_notify, &report,
                                                       0, &result);

    return NT_SUCCESS(status) && (!result || report.irql <= DISPATCH_LEVEL) ? STATUS_UNSUCCESSFUL
                                                                            : status;
}

static inline NTSTATUS present_report(struct probe *p, UINT source, int progress)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DISPLAYONLY_PRESENT_PROGRESS;
    data.DisplayOnlyPresentProgress.VidPnSourceId = source;
    data.DisplayOnlyPresentProgress.ProgressId = (DXGK_PRESENT_DISPLAY_ONLY_PROGRESS_ID)progress;
    return present_interrupt(p, &data);
}

#define PRESENT_DONE   DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID_COMPLETE
#define PRESENT_FAILED DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID_FAILED

#endif
