/* SPDX-License-Identifier: MIT */
/* The picture of a source that shows several planes: layer 0 on top, black at the bottom. */
#include "port/support/overlays.h"
#include "screens/scanouts.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static UINT frames;
static enum screens_cause cause;

static void record(void *context, struct port_adapter *adapter, const struct screens_frame *frame)
{
    (void)context;
    (void)adapter;
    frames++;
    cause = frame->cause;
}

static UINT pixel(const struct probe *p, UINT x, UINT y)
{
    const struct port_scanout seen = port_display_scanout(p->adapter[0], 0);
    UINT value;

    CHECK(seen.pixels && seen.width == 1024 && seen.height == 768);
    memcpy(&value, seen.pixels + (size_t)y * seen.pitch + (size_t)x * 4, sizeof(value));
    return value & 0xFFFFFF;
}

static void show(const struct plane_wish *wish, UINT count)
{
    BOOL supported;
    UINT info;

    CHECK(IS(overlays_check(count, wish, &supported, &info), STATUS_SUCCESS) && supported);
    CHECK(IS(overlays_present(count, wish), STATUS_SUCCESS));
    probe_sleep(18000000);
}

static void composed(struct probe *p)
{
    struct plane_wish wish[2];

    overlays_begin(p);
    flips_fill(flips.primary[0], 0x80400000); /* red, half of it covers */
    flips_fill(flips.primary[1], 0xFF0000C8);
    flips_fill(flips.primary[2], 0xFF00AA00);
    frames = 0;
    wish[0] = overlays_of(0);
    wish[1] = overlays_of(1);
    wish[0].target = (RECT){512, 384, 1024, 768};
    wish[1].target = (RECT){256, 0, 1024, 768};
    show(wish, 2);
    CHECK(pixel(p, 0, 0) == 0 && pixel(p, 255, 767) == 0);
    CHECK(pixel(p, 256, 0) == 0x0000C8 && pixel(p, 511, 767) == 0x0000C8 &&
          pixel(p, 1023, 383) == 0x0000C8);
    CHECK(pixel(p, 512, 384) == 0x400000 && pixel(p, 1023, 767) == 0x400000);
    CHECK_RULE("PRES-317", frames == 1 && cause == SCREENS_FLIP); /* both came with one sync */

    wish[0].blend = 1;
    show(wish, 2);
    CHECK(pixel(p, 512, 384) == 0x400064);

    wish[1].primary = 2; /* not listed, layer 0 stays */
    CHECK(IS(overlays_present(1, &wish[1]), STATUS_SUCCESS));
    CHECK(pixel(p, 256, 0) == 0x0000C8);
    probe_sleep(18000000);
    CHECK(pixel(p, 256, 0) == 0x00AA00 && pixel(p, 512, 384) == 0x405500);

    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-190", pixel(p, 0, 0) == 0x0000C8 && pixel(p, 512, 384) == 0x0000C8);
    flips_end();
}

TEST(planes_are_composed)
{
    for (unsigned form = 1; form <= 3; form++) {
        const struct probe_options options = {.port.frame = record};
        struct probe *p = overlays_create(&options, form);

        flips_keep_pixels(p);
        flips_run(p, composed);
    }
}

/* ---- what the host does not know ---- */

static D3DDDIFORMAT format;

static void describe(struct probe *p, struct probe_call *call)
{
    DXGKARG_DESCRIBEALLOCATION *args = (DXGKARG_DESCRIBEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->Width = 1024;
    args->Height = 768;
    args->Format = format;
    call->answered = true;
}

static void unknown(struct probe *p)
{
    struct plane_wish wish[2] = {overlays_of(0), overlays_of(1)};

    overlays_begin(p);
    flips_fill(flips.primary[0], 0x123456);
    flips_fill(flips.primary[1], 0x445566);
    wish[0].target = (RECT){0, 0, 512, 768};
    format = D3DDDIFMT_A8B8G8R8; /* red first */
    show(wish, 1);
    CHECK_RULE("PRES-315", pixel(p, 0, 0) == 0x563412 && pixel(p, 512, 0) == 0);
    format = D3DDDIFMT_YUY2;
    show(wish, 2);
    CHECK_RULE("PRES-315", pixel(p, 0, 0) == 0 && pixel(p, 600, 0) == 0);
    flips_end();
}

TEST(formats_of_planes)
{
    struct probe *p = overlays_create(NULL, 3);

    format = D3DDDIFMT_X8R8G8B8;
    p->before[PROBE_DescribeAllocation] = describe;
    flips_keep_pixels(p);
    flips_run(p, unknown);
}
