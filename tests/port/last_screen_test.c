/* SPDX-License-Identifier: MIT */
/* The screen that a driver with displays gives in a bug check. */
#include "port/record/adapter_info.h"
#include "port/running/post.h"
#include "port/support/full_display.h"
#include "sim/irql.h"
#include "support/test.h"
#include "verify/verify.h"

#include <stdio.h>
#include <string.h>

static struct {
    NTSTATUS status;
    UINT width, height;
    D3DDDIFORMAT format;
    UINT target, flags; /* as the driver got them */
    unsigned enables, writes, outside;
    UINT next; /* line that is to be written next */
    uint8_t irql;
    uint32_t swapped; /* of all pixels the driver shows these bits of red in blue, and the reverse */
    struct {
        UINT x, y;
        uint32_t bits; /* are others than were written */
    } stain[2];
    bool order, opaque, whole;
} screen;

static void enable(struct probe *p, struct probe_call *call)
{
    (void)p;
    screen.enables++;
    screen.irql = call->irql;
    screen.target = (UINT)call->arg[1];
    screen.flags = *(const UINT *)(uintptr_t)call->arg[2];
    *(UINT *)(uintptr_t)call->arg[3] = screen.width;
    *(UINT *)(uintptr_t)call->arg[4] = screen.height;
    *(D3DDDIFORMAT *)(uintptr_t)call->arg[5] = screen.format;
    call->answered = true;
    call->result = (uint64_t)screen.status;
}

/* What the driver makes of a pixel that it is to show. */
static uint32_t drawn(uint32_t pixel, UINT x, UINT y)
{
    const uint32_t turned = (pixel & 0xFF) << 16 | (pixel & 0xFF00) | (pixel >> 16 & 0xFF);

    pixel = (pixel & ~screen.swapped) | (turned & screen.swapped);
    for (unsigned i = 0; i < 2; i++)
        if (screen.stain[i].x == x && screen.stain[i].y == y)
            pixel ^= screen.stain[i].bits;
    return pixel;
}

static void write_block(struct probe *p, struct probe_call *call)
{
    const uint32_t *source = (const uint32_t *)(uintptr_t)call->arg[1];
    const UINT width = (UINT)call->arg[2], lines = (UINT)call->arg[3], top = (UINT)call->arg[6];
    const struct port_scanout to = port_display_scanout(port_adapter_first(p->port), 0);
    const unsigned bytes = to.format == D3DDDIFMT_R8G8B8 ? 3 : 4;

    screen.writes++;
    screen.irql = call->irql < screen.irql ? call->irql : screen.irql;
    screen.outside += call->arg[5] + width > screen.width || top + lines > screen.height;
    screen.order &= top == screen.next;
    screen.whole &= call->arg[4] == (uint64_t)width * 4;
    screen.next = top + lines;
    call->answered = true;
    for (UINT y = 0; y < lines && y + top < to.height; y++)
        for (UINT x = 0; x < width && x < to.width; x++) {
            uint32_t pixel = source[(size_t)y * width + x];

            screen.opaque &= pixel >> 24 == 0xFF;
            pixel = drawn(pixel, x, y + top);
            memcpy((uint8_t *)(uintptr_t)to.pixels + (size_t)(y + top) * to.pitch +
                       (size_t)x * bytes,
                   &pixel, bytes);
        }
}

static void acquire(struct probe *p, struct probe_call *call)
{
    DXGK_DISPLAY_INFORMATION info;

    (void)call;
    CHECK(p->state[0].dxgk.DxgkCbAcquirePostDisplayOwnership(p->state[0].dxgk.DeviceHandle,
                                                             &info) == STATUS_SUCCESS);
}

static void dress(struct probe *p)
{
    memset(&screen, 0, sizeof(screen));
    screen.width = 1024;
    screen.height = 768;
    screen.format = D3DDDIFMT_A8R8G8B8;
    screen.order = screen.opaque = screen.whole = true;
    screen.flags = 99;
    probe_set_entry(p, PROBE_CollectDbgInfo, true);
    probe_set_entry(p, PROBE_ResetDevice, true);
    p->after[PROBE_StartDevice] = acquire;
    p->before[PROBE_SystemDisplayEnable] = enable;
    p->before[PROBE_SystemDisplayWrite] = write_block;
}

static struct probe *make(bool option)
{
    const struct probe_options options = {.port = {.reset_device = option}};
    struct probe *p = display_create(&options);

    dress(p);
    return p;
}

static void stop_inside(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    KeBugCheckEx(0xDEADBEEF, 1, 2, 3, 4);
}

/* In the commit of another mode. */
static void stops(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    probe_forget(p);
    p->before[PROBE_CommitVidPn] = stop_inside;
    (void)display_ask_mode(p, 0, 800, 600, 0);
}

static void run(struct probe *p)
{
    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK(probe_run(p, stops) == SIM_STOPPED);
}

static uint32_t shown(const struct probe *p, UINT x, UINT y)
{
    const struct port_scanout at = port_display_scanout(p->adapter[0], 0);
    uint32_t pixel;

    memcpy(&pixel, at.pixels + (size_t)y * at.pitch + (size_t)x * 4, 4);
    return pixel & 0xFFFFFF;
}

static unsigned calls_after(const struct probe *p, const struct probe_call *call)
{
    unsigned count = 0;

    for (size_t i = 0; i < p->calls; i++)
        count += p->call[i]->order > call->order;
    return count;
}

TEST(it_is_drawn_line_by_line)
{
    struct probe *p = make(true);
    unsigned ink = 0;

    run(p);
    CHECK_RULE("PRES-043", screen.enables == 1 && probe_count(p, PROBE_SystemDisplayEnable) == 1);
    CHECK_RULE("PRES-044",
               screen.irql == HIGH_LEVEL && screen.writes == 768 / 16 && screen.order &&
                   screen.next == 768 &&
                   probe_nth(p, PROBE_CollectDbgInfo, 0)->order <
                       probe_nth(p, PROBE_SystemDisplayEnable, 0)->order &&
                   probe_nth(p, PROBE_SystemDisplayEnable, 0)->order <
                       probe_nth(p, PROBE_SystemDisplayWrite, 0)->order &&
                   calls_after(p, probe_nth(p, PROBE_CollectDbgInfo, 0)) == 1 + screen.writes);
    CHECK_RULE("PRES-045/a", screen.target == DISPLAY_CHILD);
    CHECK_RULE("PRES-046/b", screen.flags == 0);
    CHECK_RULE("PRES-049", screen.whole);
    CHECK_RULE("PRES-050", screen.outside == 0 && screen.opaque);
    for (UINT x = 32; x < 32 + 15 * 12; x++)
        for (UINT y = 32; y < 46; y++)
            ink += shown(p, x, y) == 0xFFFFFF;
    CHECK_RULE("PRES-044", shown(p, 0, 0) == 0x000080 && shown(p, 1023, 767) == 0x000080 &&
                               shown(p, 32, 32) == 0x000080 && shown(p, 34, 32) == 0xFFFFFF &&
                               ink > 400);
    CHECK_RULE("PRES-052/b", probe_rule(p, "PRES-052") == 0);
    probe_destroy(p);
}

/* In front of white and blue the paper alone is another one with red and blue swapped. */
TEST(red_and_blue_are_swapped)
{
    struct probe *p = make(true);
    unsigned paper = 0;
    char count[32];

    screen.swapped = 0xFFFFFF;
    run(p);
    for (UINT y = 0; y < 768; y++)
        for (UINT x = 0; x < 1024; x++)
            paper += shown(p, x, y) == 0x800000;
    snprintf(count, sizeof(count), "%u pixels of the screen", paper);
    CHECK_RULE("PRES-052/a", probe_rule(p, "PRES-052") == 1 && probe_said(p, "PRES-052", count) &&
                                 probe_said(p, "PRES-052", "the first at 0, 0") &&
                                 probe_record(p, "PRES-052")->severity == VERIFY_WARNING);
    probe_destroy(p);
}

/* On a frame buffer of the firmware of this format. */
static struct probe *make_lit(D3DDDIFORMAT format, UINT pitch)
{
    const struct port_firmware_display lit = {
        .width = 1024, .height = 768, .pitch = pitch, .format = format};
    struct probe *p = make(true);

    CHECK(port_post_configure(p->port, p->device[0], &lit) == STATUS_SUCCESS);
    return p;
}

TEST(other_pixels_are_counted)
{
    static const struct {
        D3DDDIFORMAT format;
        UINT pitch;
    } buffers[] = {{D3DDDIFMT_X8R8G8B8, 4096}, {D3DDDIFMT_A8R8G8B8, 4352}, {D3DDDIFMT_R8G8B8, 3072}};

    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        struct probe *p = make_lit(buffers[i].format, buffers[i].pitch);

        screen.stain[0].x = 1023; /* in the last line, and in one before it, further right */
        screen.stain[0].y = 700;
        screen.stain[1].x = 3;
        screen.stain[1].y = 767;
        screen.stain[0].bits = 0x010000;
        screen.stain[1].bits = 0x000001;
        run(p);
        CHECK_RULE("PRES-052/a", probe_rule(p, "PRES-052") == 1 &&
                                     probe_said(p, "PRES-052", "2 pixels of the screen") &&
                                     probe_said(p, "PRES-052", "the first at 1023, 700"));
        probe_destroy(p);

        p = make_lit(buffers[i].format, buffers[i].pitch);
        screen.stain[0].bits = 0xFF000000; /* no color bits */
        run(p);
        CHECK_RULE("PRES-052/b", screen.writes == 48 && probe_rule(p, "PRES-052") == 0);
        probe_destroy(p);
    }
}

/* What is shown is of another size than the screen that the driver gave. */
TEST(another_size_is_not_compared)
{
    static const D3DKMDT_2DREGION sizes[] = {{1000, 768}, {1024, 760}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct probe *p = make(true);

        screen.width = sizes[i].cx;
        screen.height = sizes[i].cy;
        screen.swapped = 0xFFFFFF;
        run(p);
        CHECK_RULE("PRES-052/b", screen.writes == 48 && probe_rule(p, "PRES-052") == 0);
        probe_destroy(p);
    }
}

TEST(only_if_it_is_asked_for)
{
    struct probe *p = make(false);

    run(p);
    CHECK_RULE("PRES-042/c",
               screen.enables == 0 && screen.writes == 0 && probe_count(p, PROBE_ResetDevice) == 0);
    probe_destroy(p);
}

/* ---- drivers that give none ---- */

static void has_none(UINT width, UINT height, D3DDDIFORMAT format, NTSTATUS status)
{
    struct probe *p = make(true);

    screen.width = width;
    screen.height = height;
    screen.format = format;
    screen.status = status;
    run(p);
    CHECK_RULE("PRES-048", screen.enables == 1 && screen.writes == 0);
    CHECK_RULE("PRES-042/b", probe_count(p, PROBE_ResetDevice) == 1 &&
                                 probe_nth(p, PROBE_ResetDevice, 0)->order >
                                     probe_nth(p, PROBE_SystemDisplayEnable, 0)->order);
    CHECK_RULE("PRES-047",
               probe_rule(p, "PRES-047") == NT_SUCCESS(status) &&
                   (!NT_SUCCESS(status) || probe_record(p, "PRES-047")->severity == VERIFY_ERROR));
    CHECK_RULE("PRES-045/b", probe_rule(p, "PRES-045") == (status == STATUS_NO_SUCH_DEVICE));
    probe_destroy(p);
}

TEST(a_screen_that_is_none)
{
    has_none(1024, 768, D3DDDIFMT_A8R8G8B8, STATUS_NOT_SUPPORTED);
    has_none(1024, 768, D3DDDIFMT_A8R8G8B8, STATUS_NO_SUCH_DEVICE);
    has_none(639, 768, D3DDDIFMT_A8R8G8B8, STATUS_SUCCESS);
    has_none(1024, 479, D3DDDIFMT_A8R8G8B8, STATUS_SUCCESS);
    has_none(1024, 768, D3DDDIFMT_R5G6B5, STATUS_SUCCESS);
}

TEST(the_smallest_screen)
{
    struct probe *p = make(true);

    screen.width = 640;
    screen.height = 480;
    screen.format = D3DDDIFMT_R8G8B8;
    run(p);
    CHECK_RULE("PRES-047",
               probe_rule(p, "PRES-047") == 0 && screen.writes == 480 / 16 && screen.outside == 0);
    probe_destroy(p);
}

TEST(a_driver_without_the_entry_is_reset)
{
    struct probe *p = make(true);

    probe_set_entry(p, PROBE_SystemDisplayEnable, false);
    run(p);
    CHECK_RULE("PRES-042/a", probe_count(p, PROBE_ResetDevice) == 1 && screen.writes == 0 &&
                                 probe_nth(p, PROBE_ResetDevice, 0)->order >
                                     probe_nth(p, PROBE_CollectDbgInfo, 0)->order);
    probe_destroy(p);
}

/* ---- before anything is lit ---- */

TEST(nothing_is_lit_yet)
{
    struct probe *p = make(true);

    p->before[PROBE_CommitVidPn] = stop_inside;
    (void)probe_start(p);
    CHECK_RULE("PRES-046/a", screen.enables == 1 && screen.target == D3DDDI_ID_UNINITIALIZED &&
                                 screen.flags == 0);
    probe_destroy(p);
}

TEST(the_last_block_is_as_high_as_what_is_left)
{
    struct probe *p = make(true);

    screen.height = 760;
    run(p);
    CHECK_RULE("PRES-050",
               screen.outside == 0 && screen.writes == 48 && screen.next == 760 && screen.order);
    probe_destroy(p);
}

/* ---- a full driver ---- */

static void full_stops(struct probe *p)
{
    probe_forget(p);
    p->before[PROBE_CommitVidPn] = stop_inside;
    (void)display_ask_mode(p, 0, 800, 600, 0);
}

TEST(a_full_driver_on_the_display_of_the_firmware)
{
    const struct probe_options options = {.port = {.reset_device = true}};
    const struct port_firmware_display lit = {
        .width = 1024, .height = 768, .pitch = 4096, .format = D3DDDIFMT_X8R8G8B8};
    struct probe *p = full_display_create(&options);

    dress(p);
    CHECK(port_post_configure(p->port, p->device[0], &lit) == STATUS_SUCCESS);
    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK(probe_run(p, full_stops) == SIM_STOPPED);
    CHECK_RULE("PRES-043", screen.enables == 1 && screen.target == DISPLAY_CHILD);
    CHECK_RULE("PRES-044",
               screen.writes == 768 / 16 && screen.order && screen.irql == SIM_IRQL_HIGH);
    probe_destroy(p);
}
