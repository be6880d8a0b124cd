/* SPDX-License-Identifier: MIT */
/* Frames of a full driver, as recordings and traces get them. */
#include "bus/device_record.h"
#include "port/support/flips.h"
#include "screens/scanouts.h"
#include "sim/machine.h"
#include "support/test.h"
#include "trace/sink.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

/* ---- who records ---- */

static struct {
    UINT count;
    struct screens_frame last;
    RECT rectangle;
    UINT pixel; /* the last of the picture */
    bool numbered;
} recorded;

static void record(void *context, struct port_adapter *adapter, const struct screens_frame *frame)
{
    const struct port_scanout seen = port_display_scanout(adapter, frame->source);

    (void)context;
    recorded.count++;
    recorded.last = *frame;
    recorded.numbered &= frame->number == recorded.count;
    recorded.rectangle = frame->rectangles == 1 ? *frame->rectangle : (RECT){0};
    recorded.pixel = 0;
    if (seen.pixels)
        memcpy(&recorded.pixel,
               seen.pixels + (size_t)seen.pitch * (seen.height - 1) + ((size_t)seen.width - 1) * 4,
               sizeof(recorded.pixel));
}

static bool is_frame(UINT count, enum screens_cause cause, UINT pixel)
{
    return recorded.count == count && recorded.numbered && recorded.last.cause == cause &&
           recorded.pixel == pixel && recorded.last.source == 0 && recorded.rectangle.left == 0 &&
           recorded.rectangle.top == 0 && recorded.rectangle.right == 1024 &&
           recorded.rectangle.bottom == 768;
}

static struct probe *recording(void)
{
    const struct probe_options options = {.port.frame = record};
    struct probe *p = flips_create(&options);

    memset(&recorded, 0, sizeof(recorded));
    recorded.numbered = true;
    flips_keep_pixels(p);
    return p;
}

/* ---- frames ---- */

static void each_flip(struct probe *p)
{
    const struct scanouts *scanouts = port_display_scanouts(p->adapter[0]);

    CHECK_RULE("PRES-317", is_frame(1, SCREENS_MODE, 0)); /* of the start */
    flips_begin(p);
    for (UINT i = 0; i < 3; i++)
        flips_fill(flips.primary[i], 0x111111 * (i + 1));
    flips_show_first();
    CHECK_RULE("PRES-317", is_frame(2, SCREENS_MODE, 0x111111));
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK(recorded.count == 2); /* not before it is latched */
    probe_sleep(17000000);
    CHECK_RULE("PRES-317", is_frame(3, SCREENS_FLIP, 0x222222));
    CHECK(IS(flips_flip_at(flips.primary[2], D3DDDI_FLIPINTERVAL_IMMEDIATE), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK_RULE("PRES-317", is_frame(4, SCREENS_FLIP, 0x333333));
    CHECK(scanouts_frames(scanouts, 0) == 4 && scanouts_frames(scanouts, 16) == 0);
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK(recorded.count == 4); /* nobody sees it */
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, true)));
    CHECK_RULE("PRES-317", is_frame(5, SCREENS_MODE, 0x222222));
    flips_end();
}

TEST(each_flip_is_a_frame)
{
    struct probe *p = recording();

    p->caps.FlipCaps.FlipImmediateMmIo = 1;
    flips_run(p, each_flip);
}

/* Two that one vertical sync completes: the first was never on the screen. */
static void overtaken(struct probe *p)
{
    flips_begin(p);
    flips_fill(flips.primary[2], 0x333333);
    flips_show_first();
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    CHECK(IS(flips_flip(flips.primary[2]), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK(flips_complete(p) == 2);
    CHECK_RULE("PRES-317", is_frame(3, SCREENS_FLIP, 0x333333));
    flips_end();
}

TEST(what_is_overtaken_is_no_frame)
{
    struct probe *p = recording();

    p->caps.MaxQueuedFlipOnVSync = 2;
    flips_run(p, overtaken);
}

/* ---- a device model that says what it scans out ---- */

static uint8_t pixels[4096];

static enum dxgk_scanout_state scan_out(void *device, unsigned output, struct dxgk_scanout *scanout)
{
    (void)device;
    (void)output;
    *scanout = (struct dxgk_scanout){
        .width = 16, .height = 8, .pitch = 128, .pixels = pixels, .bytes = sizeof(pixels)};
    return DXGK_SCANOUT_ON;
}

static void of_the_model(struct probe *p)
{
    static const struct dxgk_device_outputs outputs = {.count = 1, .scanout = scan_out};

    p->adapter[0]->device->outputs = &outputs;
    memset(pixels, 0x5A, sizeof(pixels));
    flips_begin(p);
    flips_show_first();
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-312", is_frame(3, SCREENS_FLIP, 0x5A5A5A5A));
    flips_end();
}

TEST(the_picture_is_that_of_the_model)
{
    flips_run(recording(), of_the_model);
}

/* ---- the trace ---- */

struct spans {
    UINT begun, shown, dropped;
    uint64_t address, from, until;
};

static struct spans spans_of(const struct trace_sink *sink, trace_track track)
{
    struct trace_cursor cursor = {.sink = sink};
    struct spans spans = {0};
    struct trace_event event;

    while (trace_cursor_next(&cursor, &event)) {
        if (event.track != track || !event.name || strcmp(event.name, "flip") != 0)
            continue;
        if (event.phase == 'b') {
            spans.begun++;
            spans.from = event.time;
        } else if (event.phase == 'e') {
            spans.until = event.time;
            spans.shown += event.value[0] == 1;
            spans.dropped += event.value[0] == 0;
        }
    }
    return spans;
}

static struct trace_sink *traced;

static void in_the_trace(struct probe *p)
{
    const trace_track track = display_modes(p)->source[0].track;
    struct spans spans;

    CHECK(track != 0);
    flips_begin(p);
    flips_show_first();
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(18000000);
    spans = spans_of(traced, track);
    CHECK(spans.begun == 1 && spans.shown == 1 && spans.until > spans.from + 10000000);
    CHECK(IS(flips_flip(flips.primary[2]), STATUS_SUCCESS));
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK(spans_of(traced, track).begun == 3 && spans_of(traced, track).shown == 1);
    CHECK(IS(flips_set_mode(flips.primary[0]), STATUS_SUCCESS)); /* before they are latched */
    spans = spans_of(traced, track);
    CHECK(spans.begun == 3 && spans.shown == 1 && spans.dropped == 2);
    flips_end();
}

TEST(a_span_for_each_flip)
{
    struct probe *p = flips_create(NULL);
    struct trace_sink *const own = trace_current ? NULL : trace_sink_create();

    p->caps.MaxQueuedFlipOnVSync = 2;
    if (own)
        trace_sink_install(own, &p->sim->now);
    traced = trace_current;
    CHECK(traced != NULL);
    flips_run(p, in_the_trace);
    if (own)
        trace_sink_destroy(own);
}
