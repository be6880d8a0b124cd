/* SPDX-License-Identifier: MIT */
/* The display-only driver: it copies pictures into the frame buffer of the firmware, some of them
 * in a thread of its own, and black where nothing is shown. */
#include "port/support/mistaken_parts.h"
#include "port/support/presents.h"
#include "screens/pointer.h"
#include "screens/pointer_shape.h"

#define BYTES 4u /* of a pixel */

/* What the driver knows. */
static struct {
    DXGK_DISPLAY_INFORMATION post;
    uint8_t *pixels; /* the frame buffer; NULL: not mapped */
    struct display_commit mode;
    bool visible;
    UINT presents;
    bool pending; /* a present is to be reported */
    bool ends, runs;
} driver;

/* ---- the frame buffer ---- */

static void black(void)
{
    if (driver.pixels)
        memset(driver.pixels, 0, (SIZE_T)driver.post.Pitch * driver.post.Height);
}

static void acquire(struct probe *p, struct probe_call *call)
{
    const DXGKRNL_INTERFACE *dxgk = &probe_adapter_of(p, call->arg[0])->dxgk;
    PVOID range = NULL;

    if (!NT_SUCCESS((NTSTATUS)call->result))
        return;
    CHECK(dxgk->DxgkCbAcquirePostDisplayOwnership(dxgk->DeviceHandle, &driver.post) ==
          STATUS_SUCCESS);
    CHECK(dxgk->DxgkCbMapMemory(dxgk->DeviceHandle, driver.post.PhysicAddress,
                                driver.post.Pitch * driver.post.Height, FALSE, FALSE,
                                MmWriteCombined, &range) == STATUS_SUCCESS);
    driver.pixels = range;
    black();
    if (mistaken_is(MISTAKE_SHOWS_EARLY))
        memset(driver.pixels + 4096, 0x55, 64);
}

static void release(struct probe *p, struct probe_call *call)
{
    const DXGKRNL_INTERFACE *dxgk = &probe_adapter_of(p, call->arg[0])->dxgk;

    if (!driver.pixels)
        return;
    if (!mistaken_is(MISTAKE_PICTURE_LEFT))
        black();
    if (call->ddi == PROBE_StopDeviceAndReleasePostDisplayOwnership) {
        *(DXGK_DISPLAY_INFORMATION *)(uintptr_t)call->arg[2] = driver.post;
        (void)dxgk->DxgkCbUnmapMemory(dxgk->DeviceHandle, p->state[0].registers);
        p->state[0].registers = NULL;
    }
    (void)dxgk->DxgkCbUnmapMemory(dxgk->DeviceHandle, driver.pixels);
    driver.pixels = NULL;
}

/* Where pixel (x, y) of the picture, as its viewer sees it, is. */
static uint8_t *place(LONG x, LONG y, bool clockwise)
{
    const LONG width = (LONG)driver.mode.size.cx, height = (LONG)driver.mode.size.cy;
    const LONG left = ((LONG)driver.post.Width - width) / 2,
               top = ((LONG)driver.post.Height - height) / 2;
    UINT quarters = (UINT)driver.mode.rotation - (UINT)D3DKMDT_VPPR_IDENTITY;
    LONG column = x, line = y;

    if (clockwise && quarters % 2)
        quarters = 4 - quarters;
    switch (quarters) {
    case 1:
        column = y;
        line = height - 1 - x;
        break;
    case 2:
        column = width - 1 - x;
        line = height - 1 - y;
        break;
    case 3:
        column = width - 1 - y;
        line = x;
        break;
    default:
        break;
    }
    return driver.pixels + (SIZE_T)(top + line) * driver.post.Pitch +
           (SIZE_T)(left + column) * BYTES;
}

static void copy(const DXGKARG_PRESENT_DISPLAYONLY *args, const RECT *r)
{
    const bool corner = mistaken_is(MISTAKE_IGNORES_PLACE);
    const bool clockwise = mistaken_is(MISTAKE_TURNS_WRONG);
    const UINT line = args->Flags.Rotate && driver.mode.rotation % 2 == 0 ? driver.mode.size.cy
                                                                          : driver.mode.size.cx;
    const LONG pitch = mistaken_is(MISTAKE_IGNORES_PITCH) ? (LONG)(line * BYTES) : args->Pitch;

    for (LONG y = r->top; y < r->bottom; y++) {
        const uint8_t *from = (const uint8_t *)args->pSource + (SSIZE_T)y * pitch;

        if (!args->Flags.Rotate && !corner)
            memcpy(place(r->left, y, false), from + (SIZE_T)r->left * BYTES,
                   (SIZE_T)(r->right - r->left) * BYTES);
        for (LONG x = r->left; (args->Flags.Rotate || corner) && x < r->right; x++)
            memcpy(place(corner ? x - r->left : x, corner ? y - r->top : y, clockwise),
                   from + (SIZE_T)x * BYTES, BYTES);
    }
}

/* Each third present is reported later. */
static NTSTATUS show(struct probe *p, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    const UINT count = mistaken_is(MISTAKE_FIRST_ALONE) && args->NumDirtyRects
                           ? 1
                           : args->NumDirtyRects;

    if (!driver.visible || !driver.pixels)
        return STATUS_SUCCESS;
    for (UINT i = 0; i < count; i++)
        copy(args, &args->pDirtyRect[i]);
    if (++driver.presents % 3)
        return STATUS_SUCCESS;
    if (mistaken_is(MISTAKE_DONE_AND_SAID)) {
        (void)present_report(p, 0, PRESENT_DONE);
        return STATUS_SUCCESS;
    }
    driver.pending = true;
    return STATUS_PENDING;
}

static void reporter_main(void *arg)
{
    struct probe *p = arg;

    while (!driver.ends) {
        probe_sleep(2000000);
        if (!driver.pending || mistaken_is(MISTAKE_NEVER_DONE))
            continue;
        driver.pending = false;
        (void)present_report(p, 0, PRESENT_DONE);
        if (mistaken_is(MISTAKE_DONE_TWICE))
            (void)present_report(p, 0, PRESENT_DONE);
    }
    driver.runs = false;
}

void mistaken_committed(const struct display_commit *commit)
{
    driver.mode = *commit;
}

void mistaken_visible(bool visible)
{
    driver.visible = visible;
    if (!visible && !mistaken_is(MISTAKE_STAYS_VISIBLE))
        black();
}

static void update_path(struct probe *p, struct probe_call *call)
{
    const DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *args =
        (const DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *)(uintptr_t)call->arg[1];

    (void)p;
    driver.mode.rotation = args->VidPnPresentPathInfo.ContentTransformation.Rotation;
}

/* The hardware has a pointer; who draws it instead has to mind the edges. */
static void point(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETPOINTERPOSITION *args = (const DXGKARG_SETPOINTERPOSITION *)(uintptr_t)
                                                 call->arg[1];

    (void)p;
    if (!mistaken_is(MISTAKE_POINTER_OUT) || !args->Flags.Visible || !driver.pixels)
        return;
    for (LONG y = 0; y < 4; y++)
        memset(driver.pixels + (SSIZE_T)(args->Y + y) * driver.post.Pitch + (SSIZE_T)args->X * BYTES,
               0xFF, BYTES);
}

struct probe *mistaken_frames_create(const struct probe_options *options)
{
    struct probe *p = display_create(options);

    memset(&driver, 0, sizeof(driver));
    p->caps.PointerCaps.Value = 2; /* Color */
    p->caps.MaxPointerWidth = p->caps.MaxPointerHeight = 64;
    p->after[PROBE_StartDevice] = acquire;
    p->before[PROBE_StopDeviceAndReleasePostDisplayOwnership] = release;
    p->before[PROBE_StopDevice] = release;
    p->before[PROBE_SetPointerPosition] = point;
    p->before[PROBE_UpdateActiveVidPnPresentPath] = update_path;
    display.in_present = show;
    return p;
}

/* ---- its life ---- */

/* No two pixels side by side are equal, nor two in lines side by side. */
static void draw(struct probe *p, RECT r, uint32_t colour)
{
    struct screens_image image;

    if (!screens_draw(display_screens(p), 0, &image))
        return;
    for (LONG y = r.top; y < r.bottom && y < (LONG)image.height; y++)
        for (LONG x = r.left; x < r.right && x < (LONG)image.width; x++) {
            const uint32_t pixel = colour + (uint32_t)x * 0x10001 + (uint32_t)y * 0x300;

            memcpy(image.pixels + (SIZE_T)y * image.pitch + (SIZE_T)x * BYTES, &pixel, BYTES);
        }
    screens_drawn(display_screens(p), 0, &r);
}

static void draw_some(struct probe *p)
{
    for (UINT i = 0; i < 3; i++) {
        draw(p, (RECT){16, 32, 48, 64}, 0x123456 + i);
        draw(p, (RECT){500, 500, 530 + (LONG)i, 520}, 0x654321);
        (void)screens_settle(display_screens(p), 0);
        probe_sleep(1000000 * i);
    }
}

static void move_pointer(struct probe *p)
{
    static const uint32_t red[16] = {0xFFFF0000, 0xFFFF0000, 0xFFFF0000, 0xFFFF0000};
    const struct pointer_shape shape = {.kind = POINTER_COLOR,
                                        .width = 4,
                                        .height = 4,
                                        .pitch = 16,
                                        .pixels = (uint8_t *)(uintptr_t)red};
    const struct screens_cursor cursor = {.x = 1023, .y = 767, .visible = true};
    char why[128];

    CHECK(screens_set_pointer(display_screens(p), &shape, why, sizeof(why)));
    screens_move_pointer(display_screens(p), &cursor);
}

static void live(struct probe *p)
{
    struct sim_thread *reporter = sim_thread_create("reporter", SIM_THREAD_KERNEL, reporter_main, p);

    CHECK(reporter != NULL);
    sim_thread_release(reporter);
    draw_some(p);
    for (UINT quarters = 1; quarters < 4; quarters++) {
        (void)display_ask_mode(p, 0, 1024, 768, quarters);
        draw_some(p);
    }
    (void)display_ask_mode(p, 0, 800, 600, 0);
    draw_some(p);
    (void)display_ask_mode(p, 0, 1024, 768, 0);
    move_pointer(p);
    draw_some(p);
    (void)display_power(display_modes(p), DISPLAY_CHILD, false);
    draw(p, (RECT){0, 0, 64, 64}, 1);
    (void)display_power(display_modes(p), DISPLAY_CHILD, true);
    draw_some(p);
    display_indicate(p, 0, false);
    display_indicate(p, 0, true);
    draw_some(p);
    (void)screens_settle(display_screens(p), 0);
    probe_restart(p);
    draw_some(p);
    driver.ends = true;
    while (driver.runs)
        probe_sleep(1000000);
}

void mistaken_frames_live(struct probe *p)
{
    driver.runs = true;
    if (probe_start(p) == STATUS_SUCCESS && probe_run(p, live) != SIM_DONE)
        return;
    (void)probe_stop(p);
}
