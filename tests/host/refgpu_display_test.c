/* SPDX-License-Identifier: MIT */
/* The reference GPU as a display: flips of a client's primaries, as its outputs show them; monitors
 * that come and go; the way back to the firmware. */
#include "host/support/refgpu_client.h"

#include "dxgkhost/display.h"

#define WIDTH  1024u
#define HEIGHT 768u
#define PITCH  4160u /* not what the host would infer */
#define MS     UINT64_C(1000000)

/* ---- machines ---- */

static void begin(struct machine *m, const char *const *options, size_t count)
{
    struct dxgk_machine_config config;

    machine_config(m, &config);
    machine_create(m, &config);
    if (dxgk_machine_add_device(m->dxgk, machine_path("devices/refgpu.so"), options, count,
                                m->error, sizeof(m->error)) != DXGK_OK)
        fail_msg("device: %s", m->error);
    if (dxgk_machine_load_driver(m->dxgk, machine_path("drivers/refgpu.so"), m->error,
                                 sizeof(m->error)) != DXGK_OK)
        fail_msg("driver: %s", m->error);
}

static void on_outputs(const char *const *options, size_t count, void (*program)(struct client *c))
{
    struct machine m;

    begin(&m, options, count);
    machine_run(&m, program);
    machine_end(&m);
}

static const char *const two_outputs[] = {"outputs=2"};
static const char *const firmware[] = {"outputs=2", "vga=1"};

#define RIG_ARGUMENT_displays     struct client *c
#define RIG_RUN_displays(program) on_outputs(two_outputs, 1, program)

/* ---- what is seen ---- */

/* The one colour that is seen, 0xRRGGBB; 0xFF000000: there is no signal, 0xFE000000: several. */
static uint32_t color(struct client *c, unsigned source)
{
    struct dxgk_picture picture;
    uint32_t pixel = 0xFF000000u;

    if (dxgk_machine_capture(c->machine->dxgk, 0, source, &picture, NULL, 0) != DXGK_OK)
        return 0xFD000000u;
    if (picture.rgb)
        pixel = (uint32_t)picture.rgb[0] << 16 | (uint32_t)picture.rgb[1] << 8 | picture.rgb[2];
    for (size_t i = 3; picture.rgb && i < (size_t)picture.width * picture.height * 3; i++)
        if (picture.rgb[i] != picture.rgb[i - 3])
            pixel = 0xFE000000u;
    dxgk_picture_free(&picture);
    return pixel;
}

static void plug(const struct client *c, unsigned output, const char *modes)
{
    size_t bytes = 0;
    uint8_t *edid = modes ? dxgk_edid_of_modes(modes, &bytes, NULL, 0) : NULL;
    const struct dxgk_monitor monitor = {.output = output, .edid = edid, .bytes = bytes};

    (void)dxgk_machine_set_monitor(c->machine->dxgk, &monitor, NULL, 0);
    free(edid);
}

/* ---- primaries ---- */

static NTSTATUS create(const struct gpu *g, UINT flags, UINT pitch, D3DKMT_HANDLE *handle)
{
    struct refgpu_allocation_data data = {.magic = REFGPU_UMD_MAGIC,
                                          .flags = flags,
                                          .bytes = (uint64_t)PITCH * HEIGHT,
                                          .width = WIDTH,
                                          .height = HEIGHT,
                                          .pitch = pitch};
    D3DDDI_ALLOCATIONINFO2 info = {
        .pPrivateDriverData = &data, .PrivateDriverDataSize = sizeof(data), .Flags.Primary = 1};
    D3DKMT_CREATEALLOCATION args = {
        .hDevice = g->device, .NumAllocations = 1, .pAllocationInfo2 = &info};
    NTSTATUS status = D3DKMTCreateAllocation2(&args);

    *handle = info.hAllocation;
    return status;
}

static NTSTATUS paint(const struct gpu *g, D3DKMT_HANDLE handle, uint32_t color)
{
    struct memory m = {.handle = handle};
    NTSTATUS status = gpu_lock(g, &m);

    if (!NT_SUCCESS(status))
        return status;
    for (size_t i = 0; i < (size_t)PITCH * HEIGHT / 4; i++)
        ((uint32_t *)m.cpu)[i] = i % (PITCH / 4) < WIDTH ? color : 0x123456u;
    return gpu_unlock(g, &m);
}

static NTSTATUS own(const struct gpu *g, UINT source)
{
    D3DKMT_VIDPNSOURCEOWNER_TYPE type = D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE;
    D3DKMT_SETVIDPNSOURCEOWNER args = {
        .hDevice = g->device, .pType = &type, .pVidPnSourceId = &source, .VidPnSourceCount = 1};

    return D3DKMTSetVidPnSourceOwner(&args);
}

static NTSTATUS set_mode(const struct gpu *g, D3DKMT_HANDLE handle)
{
    const D3DKMT_SETDISPLAYMODE args = {.hDevice = g->device, .hPrimaryAllocation = handle};

    return D3DKMTSetDisplayMode(&args);
}

static NTSTATUS flip(const struct gpu *g, D3DKMT_HANDLE handle, D3DDDI_FLIPINTERVAL_TYPE interval)
{
    D3DKMT_PRESENT args = {
        .hContext = g->copy, .hSource = handle, .FlipInterval = interval, .Flags.Flip = 1};

    return D3DKMTPresent(&args);
}

/* ---- flips ---- */

TEST_WITH(displays, what_is_flipped_to_is_seen_from_the_next_blank_on)
{
    D3DKMT_HANDLE primary[2];
    struct gpu g;

    TRY(c, color(c, 0) == 0 && color(c, 1) == 0xFF000000u);
    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 2; i++) {
        TRY(c, create(&g, REFGPU_ALLOCATION_PRIMARY | REFGPU_ALLOCATION_CPU_VISIBLE, PITCH,
                      &primary[i]) == STATUS_SUCCESS);
        TRY(c, paint(&g, primary[i], i ? 0xFF00C000u : 0xFFC00000u) == STATUS_SUCCESS);
    }
    TRY(c, own(&g, 0) == STATUS_SUCCESS && set_mode(&g, primary[0]) == STATUS_SUCCESS);
    TRY(c, color(c, 0) == 0xC00000);
    for (unsigned i = 1; i < 6; i++) {
        const uint32_t before = i % 2 ? 0xC00000 : 0x00C000, after = i % 2 ? 0x00C000 : 0xC00000;

        TRY(c, flip(&g, primary[i % 2], D3DDDI_FLIPINTERVAL_ONE) == STATUS_SUCCESS);
        dxgk_client_sleep(MS / 100);
        TRY(c, color(c, 0) == before);
        dxgk_client_sleep(17 * MS);
        SHOW(c, "PRES-313/a", color(c, 0) == after);
        dxgk_client_sleep(3 * MS);
    }
    TRY(c, flip(&g, primary[0], D3DDDI_FLIPINTERVAL_IMMEDIATE) == STATUS_SUCCESS);
    dxgk_client_sleep(MS / 100);
    SHOW(c, "PRES-148", color(c, 0) == 0xC00000);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
    dxgk_client_sleep(40 * MS);
    TRY(c, color(c, 0) == 0); /* the shared primary again */
}

/* Pitches that the output cannot have, and memory that it does not reach. */
TEST_WITH(displays, primaries_are_as_the_output_needs_them)
{
    const UINT good = REFGPU_ALLOCATION_PRIMARY | REFGPU_ALLOCATION_CPU_VISIBLE;
    D3DKMT_HANDLE handle, plain;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, good, WIDTH * 4 + 4, &handle) == STATUS_INVALID_PARAMETER);
    TRY(c, create(&g, good, WIDTH * 4 - 64, &handle) == STATUS_INVALID_PARAMETER);
    TRY(c, create(&g, good, PITCH + 64, &handle) == STATUS_INVALID_PARAMETER);
    TRY(c, create(&g, good | REFGPU_ALLOCATION_CACHED, PITCH, &handle) == STATUS_INVALID_PARAMETER);
    TRY(c, create(&g, good, PITCH, &handle) == STATUS_SUCCESS);
    TRY(c, create(&g, REFGPU_ALLOCATION_CPU_VISIBLE, PITCH, &plain) == STATUS_SUCCESS);
    TRY(c, own(&g, 0) == STATUS_SUCCESS && set_mode(&g, handle) == STATUS_SUCCESS);
    TRY(c, flip(&g, plain, D3DDDI_FLIPINTERVAL_ONE) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* ---- copies ---- */

static NTSTATUS window(const struct gpu *g, uint32_t width, uint32_t height, struct memory *m)
{
    struct refgpu_allocation_data data = {.magic = REFGPU_UMD_MAGIC,
                                          .flags = REFGPU_ALLOCATION_PHYSICAL |
                                                   REFGPU_ALLOCATION_CPU_VISIBLE,
                                          .bytes = (uint64_t)width * 4 * height,
                                          .width = width,
                                          .height = height,
                                          .pitch = width * 4};
    D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = &data,
                                   .PrivateDriverDataSize = sizeof(data)};
    D3DKMT_CREATEALLOCATION args = {
        .hDevice = g->device, .NumAllocations = 1, .pAllocationInfo2 = &info};
    NTSTATUS status = D3DKMTCreateAllocation2(&args);

    *m = (struct memory){.handle = info.hAllocation, .bytes = data.bytes};
    return NT_SUCCESS(status) ? gpu_make_resident(g, m->handle) : status;
}

static D3DKMT_PRESENT to_screen(const struct gpu *g, const struct memory *from, RECT to)
{
    return (D3DKMT_PRESENT){.hContext = g->render,
                            .hSource = from ? from->handle : 0,
                            .DstRect = to,
                            .Flags.Blt = from != NULL,
                            .Flags.ColorFill = from == NULL,
                            .Flags.DstRectValid = 1};
}

/* The pixel at a place of source 0. */
static uint32_t seen(struct client *c, uint32_t x, uint32_t y)
{
    struct dxgk_picture picture;
    const uint8_t *at;
    uint32_t pixel = 0xFF000000u;

    if (dxgk_machine_capture(c->machine->dxgk, 0, 0, &picture, NULL, 0) != DXGK_OK || !picture.rgb)
        return pixel;
    at = picture.rgb + 3 * ((size_t)y * picture.width + x);
    pixel = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
    dxgk_picture_free(&picture);
    return pixel;
}

static NTSTATUS count_pixels(const struct gpu *g, struct memory *m)
{
    NTSTATUS status = gpu_lock(g, m);

    for (uint32_t i = 0; NT_SUCCESS(status) && i < m->bytes / 4; i++)
        ((uint32_t *)m->cpu)[i] = i + 1;
    return NT_SUCCESS(status) ? gpu_unlock(g, m) : status;
}

TEST_WITH(displays, copies_and_fills_are_on_the_screen)
{
    const RECT all = {0, 0, 64, 32}, subs[] = {{0, 0, 10, 10}, {20, 5, 30, 20}};
    D3DKMT_PRESENT present;
    struct memory m;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, window(&g, 64, 32, &m) == STATUS_SUCCESS && count_pixels(&g, &m) == STATUS_SUCCESS);
    present = to_screen(&g, NULL, (RECT){100, 100, 200, 200});
    present.Color = 0xFF336699u;
    TRY(c, D3DKMTPresent(&present) == STATUS_SUCCESS && gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, seen(c, 100, 100) == 0x336699 && seen(c, 199, 199) == 0x336699);
    TRY(c, seen(c, 99, 100) == 0 && seen(c, 200, 199) == 0 && seen(c, 100, 99) == 0);

    present = to_screen(&g, &m, (RECT){110, 120, 174, 152});
    present.SubRectCnt = 1;
    present.pSrcSubRects = &all;
    TRY(c, D3DKMTPresent(&present) == STATUS_SUCCESS && gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, seen(c, 110, 120) == 1 && seen(c, 173, 151) == 2048 && seen(c, 111, 121) == 66);
    TRY(c, seen(c, 109, 120) == 0x336699 && seen(c, 174, 151) == 0x336699);

    present.DstRect = (RECT){300, 300, 364, 332}; /* parts of it */
    present.SubRectCnt = 2;
    present.pSrcSubRects = subs;
    TRY(c, D3DKMTPresent(&present) == STATUS_SUCCESS && gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, seen(c, 300, 300) == 1 && seen(c, 309, 309) == 586 && seen(c, 310, 309) == 0);
    TRY(c, seen(c, 320, 305) == 341 && seen(c, 329, 319) == 1246 && seen(c, 329, 304) == 0);

    present = to_screen(&g, &m, (RECT){500, 500, 628, 564}); /* twice as large */
    present.SubRectCnt = 1;
    present.pSrcSubRects = &all;
    TRY(c, D3DKMTPresent(&present) == STATUS_SUCCESS && gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, seen(c, 500, 500) == 1 && seen(c, 627, 563) == 2048 && seen(c, 628, 563) == 0);

    present.Flags.SrcColorKey = 1;
    TRY(c, D3DKMTPresent(&present) == STATUS_GRAPHICS_CANNOTCOLORCONVERT);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* More rectangles than a buffer has room for: several passes. */
TEST_WITH(displays, a_copy_of_many_parts)
{
    enum { PARTS = 4000 };
    RECT *subs = calloc(PARTS, sizeof(*subs));
    D3DKMT_PRESENT present;
    struct memory m;
    struct gpu g;

    TRY(c, subs && gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, window(&g, 64, 64, &m) == STATUS_SUCCESS && count_pixels(&g, &m) == STATUS_SUCCESS);
    for (LONG i = 0; i < PARTS; i++)
        subs[i] = (RECT){i % 64, i / 64, i % 64 + 1, i / 64 + 1};
    present = to_screen(&g, &m, (RECT){0, 0, 64, 64});
    present.SubRectCnt = PARTS;
    present.pSrcSubRects = subs;
    TRY(c, D3DKMTPresent(&present) == STATUS_SUCCESS && gpu_wait_idle(&g) == STATUS_SUCCESS);
    for (uint32_t i = 0; i < PARTS + 5; i += 333)
        TRY(c, seen(c, i % 64, i / 64) == (i < PARTS ? i + 1 : 0));
    TRY(c, seen(c, 31, 62) == 4000 && seen(c, 32, 62) == 0);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
    free(subs);
}

/* ---- the pointer ---- */

static bool shape(enum dxgk_pointer_kind kind, const uint32_t *pixels)
{
    const struct dxgk_pointer_shape made = {
        .kind = kind, .width = 4, .height = 4, .pitch = 16, .hot_x = 2, .pixels = pixels};

    return dxgk_client_shape_pointer(0, &made, NULL, 0) == DXGK_OK;
}

static bool point(int32_t x, int32_t y)
{
    const struct dxgk_pointer at = {.x = x, .y = y, .visible = true};

    return dxgk_client_move_pointer(0, &at, NULL, 0) == DXGK_OK;
}

TEST_WITH(displays, the_pointer_is_seen)
{
    uint32_t half[16], masked[16];

    for (unsigned i = 0; i < 16; i++) {
        half[i] = 0x80FF0000u;
        masked[i] = 0xFF00FFFFu;
    }
    TRY(c, shape(DXGK_POINTER_COLOR, half) && point(100, 50));
    TRY(c, seen(c, 98, 50) == 0x800000 && seen(c, 101, 53) == 0x800000);
    TRY(c, seen(c, 97, 50) == 0 && seen(c, 102, 50) == 0 && seen(c, 101, 54) == 0);
    TRY(c, point(0, 767) && seen(c, 1, 767) == 0x800000 && seen(c, 2, 767) == 0);
    /* of a kind that the hardware does not have: in pictures alone */
    TRY(c, shape(DXGK_POINTER_MASKED_COLOR, masked) && point(100, 50));
    TRY(c, seen(c, 98, 50) == 0x00FFFF && seen(c, 0, 767) == 0);
}

/* ---- modes and monitors ---- */

static bool shows(struct client *c, unsigned source, uint32_t width, uint32_t height)
{
    struct dxgk_picture picture;
    bool same;

    if (dxgk_machine_capture(c->machine->dxgk, 0, source, &picture, NULL, 0) != DXGK_OK)
        return false;
    same = width ? picture.rgb && picture.width == width && picture.height == height : !picture.rgb;
    dxgk_picture_free(&picture);
    return same;
}

TEST_WITH(displays, monitors_bring_their_modes)
{
    const struct dxgk_display_mode wanted = {.width = 1280, .height = 720},
                                   none = {.width = 1000, .height = 700};
    struct dxgk_display display;

    TRY(c, shows(c, 0, 1024, 768) && shows(c, 1, 0, 0));
    TRY(c, dxgk_client_set_mode(0, 0, &none, NULL, 0) != DXGK_OK);
    TRY(c, dxgk_client_set_mode(0, 0, &wanted, NULL, 0) == DXGK_OK && shows(c, 0, 1280, 720));
    plug(c, 1, "1920x1080@50,800x600@75");
    dxgk_client_sleep(50 * MS);
    TRY(c, shows(c, 1, 1920, 1080) && shows(c, 0, 1280, 720));
    TRY(c, dxgk_machine_display(c->machine->dxgk, 0, 1, &display) && display.target == 1);
    TRY(c, display.mode.hz_numerator / display.mode.hz_denominator == 50 && display.visible);
    plug(c, 1, "640x480@60");
    dxgk_client_sleep(50 * MS);
    TRY(c, shows(c, 1, 640, 480));
    plug(c, 0, NULL);
    dxgk_client_sleep(50 * MS);
    TRY(c, shows(c, 0, 0, 0) && shows(c, 1, 640, 480));
    plug(c, 0, "800x600@60");
    dxgk_client_sleep(50 * MS);
    TRY(c, shows(c, 0, 800, 600) && shows(c, 1, 640, 480));
    TRY(c, dxgk_client_display_power(0, 0, false, NULL, 0) == DXGK_OK && shows(c, 0, 0, 0));
    TRY(c, dxgk_client_display_power(0, 0, true, NULL, 0) == DXGK_OK && shows(c, 0, 800, 600));
}

/* ---- a reset of the adapter ---- */

static NTSTATUS force_reset(const struct gpu *g)
{
    D3DKMT_TDRDBGCTRL_ESCAPE control = {.TdrControl = D3DKMT_TDRDBGCTRLTYPE_FORCETDR};
    D3DKMT_ESCAPE escape = {.hAdapter = g->adapter,
                            .Type = D3DKMT_ESCAPE_TDRDBGCTRL,
                            .pPrivateDriverData = &control,
                            .PrivateDriverDataSize = sizeof(control)};

    return D3DKMTEscape(&escape);
}

/* The device is reset, so its outputs send nothing until the mode is committed again; what the
 * client had shown is lost. */
TEST_WITH(displays, a_reset_lights_the_screen_again)
{
    struct dxgk_statistics statistics;
    D3DKMT_HANDLE primary;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, REFGPU_ALLOCATION_PRIMARY | REFGPU_ALLOCATION_CPU_VISIBLE, PITCH, &primary) ==
               STATUS_SUCCESS);
    TRY(c, paint(&g, primary, 0xFFC00000u) == STATUS_SUCCESS);
    TRY(c, own(&g, 0) == STATUS_SUCCESS && set_mode(&g, primary) == STATUS_SUCCESS);
    TRY(c, color(c, 0) == 0xC00000 && point(10, 10));
    TRY(c, force_reset(&g) == STATUS_SUCCESS);
    dxgk_client_sleep(50 * MS);
    TRY(c, color(c, 0) == 0);
    dxgk_machine_statistics(c->machine->dxgk, &statistics);
    TRY(c, statistics.adapter_resets == 1);
}

/* ---- gamma ---- */

/* Red is turned round, green is halved, blue stays. */
static NTSTATUS correct(const struct gpu *g, D3DDDI_GAMMARAMP_TYPE type)
{
    static D3DDDI_GAMMA_RAMP_RGB256x3x16 ramp;
    const D3DKMT_SETGAMMARAMP args = {
        .hDevice = g->device, .Type = type, .pGammaRampRgb256x3x16 = &ramp, .Size = sizeof(ramp)};

    for (UINT i = 0; i < 256; i++) {
        ramp.Red[i] = (USHORT)((255 - i) << 8);
        ramp.Green[i] = (USHORT)(i << 7);
        ramp.Blue[i] = (USHORT)(i << 8);
    }
    return D3DKMTSetGammaRamp(&args);
}

TEST_WITH(displays, a_gamma_ramp_is_seen)
{
    const struct dxgk_display_mode wanted = {.width = 1280, .height = 720};
    D3DKMT_HANDLE primary;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, REFGPU_ALLOCATION_PRIMARY | REFGPU_ALLOCATION_CPU_VISIBLE, PITCH, &primary) ==
               STATUS_SUCCESS);
    TRY(c, paint(&g, primary, 0xFF408020u) == STATUS_SUCCESS);
    TRY(c, own(&g, 0) == STATUS_SUCCESS && set_mode(&g, primary) == STATUS_SUCCESS);
    TRY(c, color(c, 0) == 0x408020);
    SHOW(c, "PRES-298",
         correct(&g, D3DDDI_GAMMARAMP_RGB256x3x16) == STATUS_SUCCESS && color(c, 0) == 0xBF4020);
    TRY(c, correct(&g, D3DDDI_GAMMARAMP_DXGI_1) != STATUS_SUCCESS && color(c, 0) == 0xBF4020);
    /* of later commits, and after a reset */
    TRY(c, dxgk_client_set_mode(0, 0, &wanted, NULL, 0) == DXGK_OK);
    SHOW(c, "VIDPN-123", color(c, 0) == 0xFF0000);
    TRY(c, correct(&g, D3DDDI_GAMMARAMP_DEFAULT) == STATUS_SUCCESS);
    SHOW(c, "PRES-298", color(c, 0) == 0);
    TRY(c, correct(&g, D3DDDI_GAMMARAMP_RGB256x3x16) == STATUS_SUCCESS && color(c, 0) == 0xFF0000);
    TRY(c, force_reset(&g) == STATUS_SUCCESS);
    dxgk_client_sleep(50 * MS);
    SHOW(c, "VIDPN-123", color(c, 0) == 0xFF0000);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
    SHOW(c, "PRES-299", color(c, 0) == 0);
}

/* ---- the firmware's display ---- */

static void on_firmware(struct client *c)
{
    TRY(c, shows(c, 0, 1024, 768) && color(c, 0) == 0);
}

/* Its picture is handed back, black, in the mode that was shown. */
TEST(the_display_of_the_firmware_is_taken_over_and_handed_back)
{
    on_outputs(firmware, 2, on_firmware);
}

/* ---- none ---- */

static void without(struct client *c)
{
    D3DKMT_HANDLE handle;
    struct dxgk_display display;
    struct gpu g;

    TRY(c, !dxgk_machine_display(c->machine->dxgk, 0, 0, &display));
    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, create(&g, REFGPU_ALLOCATION_PRIMARY, PITCH, &handle) != STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST(a_board_without_outputs_renders_only)
{
    on_outputs(NULL, 0, without);
}
