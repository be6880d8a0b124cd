/* SPDX-License-Identifier: MIT */
/* An adapter that only shows pictures, as clients see it: beside one that renders. */
#include "host/support/refgpu_client.h"

#include "dxgkhost/display.h"

#define LEFT   0x100
#define TOP    0x80
#define PIXELS 16u

static void machine_of_both(struct machine *m, const char *device, const char *option)
{
    struct dxgk_machine_config config;

    machine_config(m, &config);
    machine_create(m, &config);
    machine_add_refgpu(m);
    if (dxgk_machine_add_device(m->dxgk, device, &option, option ? 1 : 0, m->error,
                                sizeof(m->error)) != DXGK_OK ||
        dxgk_machine_load_driver(m->dxgk, machine_path("drivers/bootfb.so"), m->error,
                                 sizeof(m->error)) != DXGK_OK)
        fail_msg("bootfb: %s", m->error);
}

static void both_test(const char *device, const char *option, void (*program)(struct client *c))
{
    struct machine m;

    machine_of_both(&m, device, option);
    machine_run(&m, program);
    machine_end(&m);
}

#define RIG_ARGUMENT_both      struct client *c
#define RIG_RUN_both(program)  both_test("null", NULL, program)
#define RIG_ARGUMENT_dark      struct client *c
#define RIG_RUN_dark(program)  both_test(machine_path("tests/devices/dark.so"), NULL, program)
#define RIG_ARGUMENT_wrong     struct client *c
#define RIG_RUN_wrong(program) both_test(machine_path("tests/devices/dark.so"), "wrong=1", program)

static NTSTATUS close_handle(D3DKMT_HANDLE handle)
{
    D3DKMT_CLOSEADAPTER close = {handle};

    return D3DKMTCloseAdapter(&close);
}

static NTSTATUS ask(D3DKMT_HANDLE adapter, KMTQUERYADAPTERINFOTYPE type, void *data, UINT bytes)
{
    const D3DKMT_QUERYADAPTERINFO query = {adapter, type, data, bytes};

    return D3DKMTQueryAdapterInfo(&query);
}

/* A handle of the second adapter of the list; 0: there is none. */
static D3DKMT_HANDLE open_shown(D3DKMT_ADAPTERINFO *info)
{
    D3DKMT_ENUMADAPTERS one = {0};

    if (D3DKMTEnumAdapters(&one) != STATUS_SUCCESS || one.NumAdapters != 2 ||
        close_handle(one.Adapters[0].hAdapter) != STATUS_SUCCESS)
        return 0;
    *info = one.Adapters[1];
    return info->hAdapter;
}

TEST_WITH(both, enumerations_tell_it_apart)
{
    D3DKMT_ADAPTERINFO list[4] = {0};
    D3DKMT_ENUMADAPTERS2 two = {.NumAdapters = 4, .pAdapters = list};
    D3DKMT_ENUMADAPTERS3 three = {.NumAdapters = 4, .pAdapters = list};

    SHOW(c, "KMT-042", D3DKMTEnumAdapters2(&two) == STATUS_SUCCESS && two.NumAdapters == 2);
    SHOW(c, "PRES-262", list[0].NumOfSources == 0 && list[1].NumOfSources == 1);
    SHOW(c, "KMT-040", list[0].NumOfSources == 0 && list[1].NumOfSources == 1);
    SHOW(c, "PRES-262",
         !list[0].bPrecisePresentRegionsPreferred &&
             list[1].bPrecisePresentRegionsPreferred == TRUE);
    SHOW(c, "KMT-041",
         !list[0].bPrecisePresentRegionsPreferred &&
             list[1].bPrecisePresentRegionsPreferred == TRUE);
    TRY(c, close_handle(list[0].hAdapter) == STATUS_SUCCESS);
    TRY(c, close_handle(list[1].hAdapter) == STATUS_SUCCESS);
    three.Filter.IncludeComputeOnly = 1;
    SHOW(c, "KMT-043",
         D3DKMTEnumAdapters3(&three) == STATUS_SUCCESS && three.NumAdapters == 1 &&
             list[0].NumOfSources == 0);
    TRY(c, close_handle(list[0].hAdapter) == STATUS_SUCCESS);
    three.Filter.Value = 0;
    three.Filter.IncludeDisplayOnly = 1;
    three.NumAdapters = 4;
    SHOW(c, "KMT-043", D3DKMTEnumAdapters3(&three) == STATUS_SUCCESS && three.NumAdapters == 2);
    TRY(c, close_handle(list[0].hAdapter) == STATUS_SUCCESS);
    TRY(c, close_handle(list[1].hAdapter) == STATUS_SUCCESS);
}

TEST_WITH(both, its_type_is_to_show_and_not_to_render)
{
    D3DKMT_SEGMENTSIZEINFO segments;
    D3DKMT_ADAPTERINFO info;
    D3DKMT_ADAPTERTYPE type;
    D3DKMT_HANDLE adapter = open_shown(&info);
    struct gpu g;

    TRY(c, adapter != 0);
    memset(&type, 0xFF, sizeof(type));
    TRY(c, ask(adapter, KMTQAITYPE_ADAPTERTYPE, &type, sizeof(type)) == STATUS_SUCCESS);
    SHOW(c, "PRES-263", type.DisplaySupported && type.PostDevice && !type.RenderSupported);
    SHOW(c, "KMT-083", type.DisplaySupported && type.PostDevice && !type.RenderSupported);
    memset(&segments, 0xFF, sizeof(segments));
    SHOW(c, "KMT-069",
         ask(adapter, KMTQAITYPE_GETSEGMENTSIZE, &segments, sizeof(segments)) == STATUS_SUCCESS &&
             segments.DedicatedVideoMemorySize == 0 && segments.DedicatedSystemMemorySize == 0);
    TRY(c, close_handle(adapter) == STATUS_SUCCESS);
    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    TRY(c, ask(g.adapter, KMTQAITYPE_ADAPTERTYPE, &type, sizeof(type)) == STATUS_SUCCESS);
    SHOW(c, "PRES-263", !type.DisplaySupported && !type.PostDevice && type.RenderSupported);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

/* What needs engines or memory is refused, and the driver hears nothing of it. */
TEST_WITH(both, it_takes_no_work)
{
    D3DKMT_QUERYVIDEOMEMORYINFO memory = {0};
    D3DKMT_TDRDBGCTRL_ESCAPE control = {.TdrControl = D3DKMT_TDRDBGCTRLTYPE_FORCETDR};
    D3DKMT_ESCAPE escape = {.Type = D3DKMT_ESCAPE_TDRDBGCTRL,
                            .pPrivateDriverData = &control,
                            .PrivateDriverDataSize = sizeof(control)};
    D3DDDI_RESERVEGPUVIRTUALADDRESS range = {.Size = 65536};
    D3DKMT_ADAPTERINFO info;
    D3DKMT_HANDLE adapter = open_shown(&info);

    TRY(c, adapter != 0);
    memory.hAdapter = escape.hAdapter = range.hAdapter = adapter;
    TRY(c, D3DKMTQueryVideoMemoryInfo(&memory) == STATUS_NOT_SUPPORTED);
    TRY(c, D3DKMTEscape(&escape) == STATUS_NOT_SUPPORTED);
    TRY(c, D3DKMTReserveGpuVirtualAddress(&range) == STATUS_NOT_SUPPORTED);
    TRY(c, close_handle(adapter) == STATUS_SUCCESS);
}

static D3DKMT_DEVICEEXECUTION_STATE state_of(D3DKMT_HANDLE device)
{
    D3DKMT_GETDEVICESTATE state = {.hDevice = device, .StateType = D3DKMT_DEVICESTATE_EXECUTION};

    return D3DKMTGetDeviceState(&state) == STATUS_SUCCESS ? state.ExecutionState : 0;
}

/* All that a device is there for on other adapters. */
static bool does_no_work(D3DKMT_HANDLE handle)
{
    D3DKMT_CREATECONTEXT context = {.hDevice = handle};
    D3DKMT_CREATECONTEXTVIRTUAL virtual = {.hDevice = handle};
    D3DKMT_CREATEPAGINGQUEUE queue = {.hDevice = handle};
    D3DDDI_ALLOCATIONINFO2 info = {0};
    D3DKMT_CREATEALLOCATION allocation = {
        .hDevice = handle, .NumAllocations = 1, .pAllocationInfo2 = &info};
    D3DKMT_SETQUEUEDLIMIT limit = {.hDevice = handle, .Type = D3DKMT_GET_QUEUEDLIMIT_PRESENT};
    D3DKMT_GETDEVICESTATE fault = {.hDevice = handle, .StateType = D3DKMT_DEVICESTATE_PAGE_FAULT};
    D3DKMT_MARKDEVICEASERROR error = {.hDevice = handle,
                                      .Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC};

    return D3DKMTCreateContext(&context) == STATUS_NOT_SUPPORTED && !context.hContext &&
           D3DKMTCreateContextVirtual(&virtual) == STATUS_NOT_SUPPORTED && !virtual.hContext &&
           D3DKMTCreatePagingQueue(&queue) == STATUS_NOT_SUPPORTED &&
           D3DKMTCreateAllocation2(&allocation) == STATUS_NOT_SUPPORTED &&
           D3DKMTSetQueuedLimit(&limit) == STATUS_NOT_SUPPORTED &&
           D3DKMTGetDeviceState(&fault) == STATUS_NOT_SUPPORTED &&
           D3DKMTMarkDeviceAsError(&error) == STATUS_NOT_SUPPORTED;
}

TEST_WITH(both, a_device_on_it_does_no_work)
{
    D3DKMT_CREATEDEVICE device = {0}, kept = {0};
    D3DKMT_WAITFORIDLE idle = {0};
    D3DKMT_DESTROYDEVICE destroy;
    D3DKMT_CREATECONTEXT context;
    D3DKMT_ADAPTERINFO info;
    D3DKMT_HANDLE adapter = open_shown(&info);

    TRY(c, adapter != 0);
    device.hAdapter = kept.hAdapter = adapter;
    SHOW(c, "DISP-012",
         D3DKMTCreateDevice(&device) == STATUS_SUCCESS && device.hDevice && !device.pCommandBuffer);
    SHOW(c, "DISP-012", does_no_work(device.hDevice));
    idle.hDevice = device.hDevice;
    SHOW(c, "DISP-012",
         D3DKMTWaitForIdle(&idle) == STATUS_SUCCESS &&
             state_of(device.hDevice) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    destroy.hDevice = device.hDevice;
    SHOW(c, "DISP-012",
         D3DKMTDestroyDevice(&destroy) == STATUS_SUCCESS && !state_of(device.hDevice));
    context = (D3DKMT_CREATECONTEXT){.hDevice = device.hDevice};
    SHOW(c, "DISP-012", D3DKMTCreateContext(&context) == STATUS_INVALID_PARAMETER);
    /* one that lives longer than the handle of its adapter, and ends with the process */
    TRY(c, D3DKMTCreateDevice(&kept) == STATUS_SUCCESS);
    TRY(c, close_handle(adapter) == STATUS_SUCCESS);
    SHOW(c, "DISP-012",
         state_of(kept.hDevice) == D3DKMT_DEVICEEXECUTION_ACTIVE && does_no_work(kept.hDevice));
}

static uint32_t pixel_at(const struct client *c, uint32_t x, uint32_t y)
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

TEST_WITH(both, a_device_on_it_presents)
{
    D3DKMT_CREATEDEVICE device = {0};
    D3DKMT_PRESENT args = {0};
    D3DKMT_ADAPTERINFO info;
    D3DKMT_HANDLE adapter = open_shown(&info);

    TRY(c, adapter != 0);
    device.hAdapter = adapter;
    TRY(c, D3DKMTCreateDevice(&device) == STATUS_SUCCESS);
    for (unsigned named = 0; named < 2; named++) { /* its adapter, or no other */
        memset(&args, 0, sizeof(args));
        args.hDevice = device.hDevice;
        args.hAdapter = named ? adapter : 0;
        args.Flags.ColorFill = args.Flags.DstRectValid = 1;
        args.Color = 0x123456 + named;
        args.DstRect = (RECT){100, 50, 200, 80};
        SHOW(c, "DISP-012", D3DKMTPresent(&args) == STATUS_SUCCESS);
        dxgk_client_sleep(50000000);
        SHOW(c, "DISP-012",
             pixel_at(c, 100, 50) == args.Color && pixel_at(c, 199, 79) == args.Color &&
                 pixel_at(c, 200, 80) != args.Color);
    }
    args.Flags.ColorFill = 0;
    args.Flags.Blt = 1;
    args.hSource = 0x40000001;
    SHOW(c, "DISP-012", D3DKMTPresent(&args) == STATUS_INVALID_PARAMETER);
    args.Flags.Blt = 0;
    args.Flags.Flip = 1;
    SHOW(c, "DISP-012", D3DKMTPresent(&args) == STATUS_NOT_SUPPORTED);
    TRY(c, close_handle(adapter) == STATUS_SUCCESS);
}

static bool is_drawn(const struct dxgk_picture *picture, const uint32_t *pixels)
{
    for (uint32_t y = 0; y < PIXELS; y++)
        for (uint32_t x = 0; x < PIXELS; x++) {
            const uint8_t *at = picture->rgb + ((size_t)(TOP + y) * picture->width + LEFT + x) * 3;

            if ((uint32_t)at[0] << 16 != (pixels[y * PIXELS + x] & 0xFF0000) ||
                (uint32_t)at[1] << 8 != (pixels[y * PIXELS + x] & 0xFF00) ||
                at[2] != (pixels[y * PIXELS + x] & 0xFF))
                return false;
        }
    return true;
}

/* The functions of dxgkhost/display.h, on it and on an adapter that shows nothing. */
TEST_WITH(both, a_host_program_draws_and_looks)
{
    const struct dxgk_display_mode wish = {.width = 800, .height = 600},
                                   none = {.width = 801, .height = 600};
    struct dxgk_machine *machine = c->machine->dxgk;
    uint32_t pixels[PIXELS * PIXELS];
    struct dxgk_drawing drawing = {.pixels = pixels,
                                   .pitch = (size_t)PIXELS * 4,
                                   .x = LEFT,
                                   .y = TOP,
                                   .width = PIXELS,
                                   .height = PIXELS};
    struct dxgk_display display;
    struct dxgk_picture picture;
    char why[500] = "";

    for (uint32_t i = 0; i < PIXELS * PIXELS; i++)
        pixels[i] = 0xFF000000 | i * 0x010307;
    TRY(c, !dxgk_machine_display(machine, 0, 0, &display) && !display.lit);
    TRY(c, dxgk_client_draw(0, 0, &drawing, true, why, sizeof(why)) == DXGK_ERROR && why[0]);
    TRY(c, dxgk_machine_display(machine, 1, 0, &display) && display.lit && display.visible);
    TRY(c, display.canvas_width == 1024 && display.canvas_height == 768);
    TRY(c, !dxgk_machine_display(machine, 1, 1, &display));
    TRY(c, dxgk_client_draw(1, 0, &drawing, true, why, sizeof(why)) == DXGK_OK);
    TRY(c, dxgk_machine_capture(machine, 1, 0, &picture, why, sizeof(why)) == DXGK_OK);
    TRY(c, picture.rgb && picture.width == 1024 && is_drawn(&picture, pixels));
    dxgk_picture_free(&picture);
    TRY(c, dxgk_client_set_mode(1, 0, &none, why, sizeof(why)) == DXGK_ERROR && strstr(why, "801"));
    TRY(c, dxgk_machine_display(machine, 1, 0, &display) && display.mode.width == 1024);
    TRY(c, dxgk_client_set_mode(1, 0, &wish, why, sizeof(why)) == DXGK_OK);
    TRY(c, dxgk_machine_display(machine, 1, 0, &display) && display.mode.width == 800);
}

/* A device that sends nothing: a screen without a picture, whatever was drawn. */
TEST_WITH(dark, a_screen_without_a_signal)
{
    struct dxgk_machine *machine = c->machine->dxgk;
    struct dxgk_display display;
    struct dxgk_picture picture;
    char why[500] = "";

    TRY(c, dxgk_machine_display(machine, 1, 0, &display) && display.lit && display.visible);
    TRY(c, dxgk_machine_capture(machine, 1, 0, &picture, why, sizeof(why)) == DXGK_OK);
    TRY(c, !picture.rgb && picture.width == 0 && picture.checksum == 0);
}

/* A model that scans out more than it has. */
TEST_WITH(wrong, a_screen_that_is_no_picture)
{
    struct dxgk_machine *machine = c->machine->dxgk;
    struct dxgk_picture picture;
    char why[500] = "";

    TRY(c, dxgk_machine_capture(machine, 1, 0, &picture, why, sizeof(why)) == DXGK_ERROR);
    TRY(c, strstr(why, "17 rows with a pitch of 64 bytes in 1024 bytes") && !picture.rgb);
}
