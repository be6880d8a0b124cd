/* SPDX-License-Identifier: MIT */
/* D3DKMTPresent from a device of an adapter that renders to one that only shows pictures. */
#include "host/support/refgpu_client.h"

#include "dxgkhost/display.h"

#define WIDTH  64u
#define HEIGHT 32u

static struct {
    unsigned frames;
    size_t rectangles;
    int32_t rectangle[8][4];
} shown;

static void frame(void *context, const struct dxgk_frame *f)
{
    (void)context;
    shown.frames++;
    shown.rectangles = f->rectangles;
    for (size_t i = 0; i < f->rectangles && i < 8; i++)
        memcpy(shown.rectangle[i], f->rectangle[i], sizeof(shown.rectangle[i]));
}

static void both_test(void (*program)(struct client *c))
{
    struct dxgk_machine_config config;
    struct machine m;

    memset(&shown, 0, sizeof(shown));
    machine_config(&m, &config);
    config.frame = frame;
    machine_create(&m, &config);
    machine_add_refgpu(&m);
    if (dxgk_machine_add_device(m.dxgk, "null", NULL, 0, m.error, sizeof(m.error)) != DXGK_OK ||
        dxgk_machine_load_driver(m.dxgk, machine_path("drivers/bootfb.so"), m.error,
                                 sizeof(m.error)) != DXGK_OK)
        fail_msg("bootfb: %s", m.error);
    machine_run(&m, program);
    machine_end(&m);
}

#define RIG_ARGUMENT_both     struct client *c
#define RIG_RUN_both(program) both_test(program)

static D3DKMT_HANDLE open_shown(void)
{
    D3DKMT_ENUMADAPTERS all = {0};
    D3DKMT_CLOSEADAPTER first = {0};

    if (D3DKMTEnumAdapters(&all) != STATUS_SUCCESS || all.NumAdapters != 2)
        return 0;
    first.hAdapter = all.Adapters[0].hAdapter;
    (void)D3DKMTCloseAdapter(&first);
    return all.Adapters[1].hAdapter;
}

static D3DKMT_PRESENT blt(const struct gpu *g, D3DKMT_HANDLE display, const struct memory *source)
{
    static const RECT all = {0, 0, WIDTH, HEIGHT};
    D3DKMT_PRESENT args;

    memset(&args, 0, sizeof(args));
    args.hContext = g->copy;
    args.hAdapter = display;
    args.Flags.Blt = args.Flags.SrcRectValid = args.Flags.DstRectValid = 1;
    args.hSource = source->handle;
    args.SrcRect = all;
    args.DstRect = (RECT){100, 50, 100 + WIDTH, 50 + HEIGHT};
    args.SubRectCnt = 1;
    args.pSrcSubRects = &all;
    return args;
}

static uint32_t pixel(const struct client *c, uint32_t x, uint32_t y)
{
    struct dxgk_picture picture;
    const uint8_t *rgb;
    uint32_t value;

    if (dxgk_machine_capture(c->machine->dxgk, 1, 0, &picture, NULL, 0) != DXGK_OK)
        return ~0u;
    rgb = picture.rgb + 3 * ((size_t)y * picture.width + x);
    value = (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
    dxgk_picture_free(&picture);
    return value;
}

static bool is_rect(size_t i, int32_t left, int32_t top, int32_t right, int32_t bottom)
{
    return shown.rectangle[i][0] == left && shown.rectangle[i][1] == top &&
           shown.rectangle[i][2] == right && shown.rectangle[i][3] == bottom;
}

static void fill_memory(struct client *c, const struct gpu *g, struct memory *source)
{
    TRY(c, gpu_create_memory(g, (UINT64)WIDTH * HEIGHT * 4, REFGPU_ALLOCATION_CPU_VISIBLE, 0,
                             source) == STATUS_SUCCESS);
    TRY(c, gpu_lock(g, source) == STATUS_SUCCESS);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++)
        ((uint32_t *)source->cpu)[i] = 0x100000 + i;
    TRY(c, gpu_unlock(g, source) == STATUS_SUCCESS);
}

TEST_WITH(both, a_copy_from_an_adapter_that_renders)
{
    static RECT dirty[] = {{0, 0, 4, 4}, {40, 20, 80, 24}};
    static const D3DKMT_MOVE_RECT move = {{0, 0}, {10, 10, 14, 16}};
    D3DKMT_PRESENT_RGNS regions = {
        .DirtyRectCount = 2, .pDirtyRects = dirty, .MoveRectCount = 1, .pMoveRects = &move};
    D3DKMT_HANDLE display;
    D3DKMT_PRESENT args;
    struct memory source;
    struct gpu g;
    unsigned frames;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    display = open_shown();
    TRY(c, display != 0);
    fill_memory(c, &g, &source);

    args = blt(&g, display, &source);
    frames = shown.frames;
    SHOW(c, "PRES-284", D3DKMTPresent(&args) == STATUS_SUCCESS);
    dxgk_client_sleep(50000000);
    SHOW(c, "PRES-284",
         shown.frames == frames + 1 && shown.rectangles == 1 &&
             is_rect(0, 100, 50, 100 + WIDTH, 50 + HEIGHT));
    SHOW(c, "PRES-284",
         pixel(c, 100, 50) == 0x100000 && pixel(c, 163, 81) == 0x100000 + WIDTH * HEIGHT - 1 &&
             pixel(c, 164, 81) == 0 && pixel(c, 99, 50) == 0);

    args.Flags.PresentRegionsValid = 1;
    args.pPresentRegions = &regions;
    args.DstRect = (RECT){200, 100, 200 + WIDTH, 100 + HEIGHT};
    SHOW(c, "PRES-285", D3DKMTPresent(&args) == STATUS_SUCCESS);
    dxgk_client_sleep(50000000);
    SHOW(c, "PRES-285",
         shown.rectangles == 3 && is_rect(0, 210, 110, 214, 116) &&
             is_rect(1, 200, 100, 204, 104) && is_rect(2, 240, 120, 264, 124));
    SHOW(c, "PRES-285", pixel(c, 204, 104) == 0 && pixel(c, 203, 103) == 0x100000 + 3 * WIDTH + 3);

    args = blt(&g, display, &source); /* a fill */
    args.Flags.Blt = args.Flags.SrcRectValid = 0;
    args.Flags.ColorFill = args.Flags.PresentIndirect = 1;
    args.Color = 0x445566;
    args.SubRectCnt = 0;
    SHOW(c, "PRES-284", D3DKMTPresent(&args) == STATUS_SUCCESS);
    dxgk_client_sleep(50000000);
    SHOW(c, "PRES-284", pixel(c, 100, 50) == 0x445566 && pixel(c, 163, 81) == 0x445566);

    args = blt(&g, display, &source);
    args.Flags.Blt = 0;
    args.Flags.Flip = 1;
    SHOW(c, "PRES-284", D3DKMTPresent(&args) == STATUS_NOT_SUPPORTED);
    args = blt(&g, display, &source);
    args.SrcRect.bottom = HEIGHT + 1000; /* more than there is */
    TRY(c, D3DKMTPresent(&args) == STATUS_INVALID_PARAMETER);
    args = blt(&g, g.adapter, &source);
    TRY(c, D3DKMTPresent(&args) == STATUS_NOT_SUPPORTED);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* What has moved is in the source where it is now; whence it came does not count. */
TEST_WITH(both, regions_that_have_moved)
{
    static const D3DKMT_MOVE_RECT moves[] = {{{60, 30}, {10, 10, 14, 16}}, {{0, 0}, {30, 2, 34, 6}}};
    D3DKMT_PRESENT_RGNS regions = {.MoveRectCount = 2, .pMoveRects = moves};
    D3DKMT_HANDLE display;
    D3DKMT_PRESENT args;
    struct memory source;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    display = open_shown();
    TRY(c, display != 0);
    fill_memory(c, &g, &source);
    args = blt(&g, display, &source);
    args.Flags.PresentRegionsValid = 1;
    args.pPresentRegions = &regions;
    SHOW(c, "PRES-285", D3DKMTPresent(&args) == STATUS_SUCCESS);
    dxgk_client_sleep(50000000);
    SHOW(c, "PRES-285",
         shown.rectangles == 2 && is_rect(0, 110, 60, 114, 66) && is_rect(1, 130, 52, 134, 56));
    SHOW(c, "PRES-285",
         pixel(c, 110, 60) == 0x100000 + 10 * WIDTH + 10 &&
             pixel(c, 133, 55) == 0x100000 + 5 * WIDTH + 33 && pixel(c, 100, 50) == 0);

    regions.MoveRectCount = 1; /* beside it */
    regions.pMoveRects = &moves[1];
    regions.DirtyRectCount = 1;
    regions.pDirtyRects = &moves[0].DestRect;
    args.DstRect = (RECT){200, 150, 200 + WIDTH, 150 + HEIGHT};
    SHOW(c, "PRES-285", D3DKMTPresent(&args) == STATUS_SUCCESS);
    dxgk_client_sleep(50000000);
    SHOW(c, "PRES-285",
         shown.rectangles == 2 && is_rect(0, 230, 152, 234, 156) && is_rect(1, 210, 160, 214, 166));

    args.pPresentRegions = NULL;
    SHOW(c, "PRES-285", D3DKMTPresent(&args) == STATUS_INVALID_PARAMETER);
    args.pPresentRegions = &regions;
    regions.pMoveRects = NULL;
    SHOW(c, "PRES-285", D3DKMTPresent(&args) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
