/* SPDX-License-Identifier: MIT */
/* Modes for clients: the list, the change, and the shared primary. */
#include "port/support/owner.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

/* ---- the list ---- */

static NTSTATUS get_list(D3DKMT_HANDLE adapter, UINT source, D3DKMT_DISPLAYMODE *modes, UINT *count)
{
    D3DKMT_GETDISPLAYMODELIST args = {
        .hAdapter = adapter, .VidPnSourceId = source, .pModeList = modes, .ModeCount = *count};
    const NTSTATUS status = D3DKMTGetDisplayModeList(&args);

    *count = args.ModeCount;
    return status;
}

static bool is_mode(const D3DKMT_DISPLAYMODE *mode, UINT width, UINT hertz, D3DDDIFORMAT format,
                    UINT orientation)
{
    return mode->Width == width && mode->Height == width * 3 / 4 && mode->Format == format &&
           mode->RefreshRate.Numerator == hertz && mode->RefreshRate.Denominator == 1 &&
           mode->IntegerRefreshRate == hertz && mode->DisplayOrientation == orientation;
}

/* One target mode and three source modes, in two formats; the path can be turned. */
static void list(struct probe *p)
{
    D3DKMT_DISPLAYMODE modes[20];
    UINT count = 0;

    owner_begin(p);
    CHECK_RULE("PRES-273", IS(get_list(owner.gpu.adapter, 0, NULL, &count), STATUS_SUCCESS));
    CHECK_RULE("PRES-274", count == 16);
    count = 15;
    CHECK_RULE("PRES-273",
               IS(get_list(owner.gpu.adapter, 0, modes, &count), STATUS_BUFFER_TOO_SMALL));
    CHECK_RULE("PRES-273", count == 16);
    memset(modes, 0xEE, sizeof(modes));
    CHECK_RULE("PRES-273", IS(get_list(owner.gpu.adapter, 0, modes, &count), STATUS_SUCCESS));
    CHECK_RULE("PRES-273", count == 16 && modes[16].Width == 0xEEEEEEEE);
    CHECK_RULE("PRES-274", is_mode(&modes[0], 640, 60, D3DDDIFMT_A8R8G8B8, 1) &&
                               is_mode(&modes[1], 640, 60, D3DDDIFMT_A8R8G8B8, 2) &&
                               is_mode(&modes[3], 640, 60, D3DDDIFMT_A8R8G8B8, 4) &&
                               is_mode(&modes[4], 800, 60, D3DDDIFMT_A8R8G8B8, 1));
    CHECK_RULE("PRES-274", is_mode(&modes[8], 1024, 60, D3DDDIFMT_A8R8G8B8, 1) &&
                               is_mode(&modes[12], 1024, 60, D3DDDIFMT_R5G6B5, 1));
    count = 16;
    CHECK_RULE("PRES-273", IS(get_list(owner.gpu.adapter, 1, modes, &count),
                              STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE));
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    count = 0;
    CHECK_RULE("PRES-273", IS(get_list(owner.gpu.adapter, 0, NULL, &count),
                              STATUS_GRAPHICS_NO_AVAILABLE_VIDPN_TARGET));
    owner_end();
}

TEST(the_list_of_a_source)
{
    struct probe *p = owner_create(NULL);

    display.source_mode[display.source_modes] = display_source_mode(1024, 768);
    display.source_mode[display.source_modes++].Format.Graphics.PixelFormat = D3DDDIFMT_R5G6B5;
    owner_run(p, list);
}

/* ---- another mode ---- */

static const struct display_commit *committed(void)
{
    return &display_seen.commit[(display_seen.commits - 1) % 64];
}

static UINT rate_of_active(struct probe *p)
{
    const union mode *mode = mode_set_pinned(
        *vidpn_target_set(display_modes(p)->active, DISPLAY_CHILD));

    return mode->target.VideoSignalInfo.VSyncFreq.Numerator;
}

/* The driver describes each primary once (PRES-085). */
static D3DKMT_HANDLE another(void)
{
    D3DKMT_HANDLE handle;

    CHECK(NT_SUCCESS(owner_allocate(0, &handle)));
    return handle;
}

static void change(struct probe *p)
{
    UINT commits;

    owner_begin(p);
    CHECK(IS(owner_own(owner.gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0), STATUS_SUCCESS));
    commits = display_seen.commits;
    owner.rate = (D3DDDI_RATIONAL){120, 2}; /* the same ratio */
    CHECK_RULE("PRES-277",
               IS(owner_set_mode(another()), STATUS_SUCCESS) && display_seen.commits == commits);
    owner.rate = (D3DDDI_RATIONAL){75, 1};
    CHECK_RULE("PRES-277", IS(owner_set_mode(another()), STATUS_SUCCESS) &&
                               display_seen.commits > commits && rate_of_active(p) == 75);
    owner.rate = (D3DDDI_RATIONAL){59999, 1000}; /* near a mode is none */
    CHECK_RULE("PRES-277",
               IS(owner_set_mode(another()), STATUS_INVALID_PARAMETER) && rate_of_active(p) == 75);
    owner.rate = (D3DDDI_RATIONAL){D3DKMDT_FREQUENCY_NOTSPECIFIED, D3DKMDT_FREQUENCY_NOTSPECIFIED};
    commits = display_seen.commits;
    CHECK_RULE("PRES-277",
               IS(owner_set_mode(another()), STATUS_SUCCESS) && display_seen.commits == commits);
    owner.rate = (D3DDDI_RATIONAL){0, 0};
    owner.width = 800;
    owner.height = 600;
    owner.format = D3DDDIFMT_A8R8G8B8;
    CHECK_RULE("PRES-277", IS(owner_set_mode(another()), STATUS_SUCCESS) &&
                               committed()->size.cx == 800 && committed()->size.cy == 600);
    CHECK_RULE("PRES-277", owner_last()->flags == 1);
    owner.format = D3DDDIFMT_R5G6B5; /* which 800 x 600 does not have */
    CHECK_RULE("PRES-277", IS(owner_set_mode(another()), STATUS_INVALID_PARAMETER));
    owner.width = 1024;
    owner.height = 768; /* and this has, if not as its best */
    CHECK_RULE("PRES-277", IS(owner_set_mode(another()), STATUS_SUCCESS) &&
                               (*vidpn_source_set(display_modes(p)->active, 0))->pinned != 0 &&
                               mode_set_pinned(*vidpn_source_set(display_modes(p)->active, 0))
                                       ->source.Format.Graphics.PixelFormat == D3DDDIFMT_R5G6B5);
    owner_end();
}

TEST(the_mode_that_a_primary_was_made_for)
{
    struct probe *p = owner_create(NULL);

    display.source_mode[display.source_modes] = display_source_mode(1024, 768);
    display.source_mode[display.source_modes++].Format.Graphics.PixelFormat = D3DDDIFMT_R5G6B5;
    display.target_mode[display.target_modes++] = full_target_mode(1024, 768, 75);
    owner_run(p, change);
}

static void turn(struct probe *p)
{
    D3DKMT_SETDISPLAYMODE args = {.DisplayOrientation = D3DDDI_ROTATION_90};

    owner_begin(p);
    CHECK(IS(owner_own(owner.gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0), STATUS_SUCCESS));
    args.hDevice = owner.gpu.device;
    args.hPrimaryAllocation = owner.primary[0];
    CHECK_RULE("PRES-277",
               IS(D3DKMTSetDisplayMode(&args), STATUS_SUCCESS) &&
                   vidpn_path_from(display_modes(p)->active, 0, 0)->ContentTransformation.Rotation ==
                       D3DKMDT_VPPR_ROTATE90);
    args.DisplayOrientation = D3DDDI_ROTATION_270 + 1;
    CHECK_RULE("PRES-277", IS(D3DKMTSetDisplayMode(&args), STATUS_INVALID_PARAMETER));
    args.DisplayOrientation = 0; /* as it is */
    CHECK_RULE("PRES-277",
               IS(D3DKMTSetDisplayMode(&args), STATUS_SUCCESS) &&
                   vidpn_path_from(display_modes(p)->active, 0, 0)->ContentTransformation.Rotation ==
                       D3DKMDT_VPPR_ROTATE90);
    owner_end();
}

TEST(an_orientation)
{
    owner_run(owner_create(NULL), turn);
}

static void private_format(struct probe *p)
{
    D3DKMT_SETDISPLAYMODE args = {.PrivateDriverFormatAttribute = 99};
    UINT calls;

    owner_begin(p);
    args.hDevice = owner.gpu.device;
    args.hPrimaryAllocation = owner.primary[0];
    CHECK(IS(owner_own(owner.gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0), STATUS_SUCCESS));
    owner.attribute = 7;
    CHECK_RULE("PRES-276", IS(D3DKMTSetDisplayMode(&args), STATUS_SUCCESS)); /* the first one */
    calls = full_seen.addresses;
    owner.attribute = 8;
    args.hPrimaryAllocation = owner.primary[1];
    CHECK_RULE("PRES-276",
               IS(D3DKMTSetDisplayMode(&args), STATUS_GRAPHICS_INCOMPATIBLE_PRIVATE_FORMAT));
    CHECK_RULE("PRES-276", args.PrivateDriverFormatAttribute == 7 && full_seen.addresses == calls);
    owner.attribute = 7;
    args.hPrimaryAllocation = owner.primary[2];
    CHECK_RULE("PRES-276",
               IS(D3DKMTSetDisplayMode(&args), STATUS_SUCCESS) && full_seen.addresses == calls + 1);
    owner_end();
}

TEST(a_private_format_that_does_not_fit)
{
    owner_run(owner_create(NULL), private_format);
}

/* ---- the shared primary ---- */

static D3DKMT_HANDLE shared_of(D3DKMT_HANDLE adapter)
{
    D3DKMT_GETSHAREDPRIMARYHANDLE args = {.hAdapter = adapter, .hSharedPrimary = 99};

    CHECK(IS(D3DKMTGetSharedPrimaryHandle(&args), STATUS_SUCCESS));
    return args.hSharedPrimary;
}

static NTSTATUS open(D3DKMT_HANDLE shared, D3DKMT_HANDLE *allocation, uint64_t data[2])
{
    D3DDDI_OPENALLOCATIONINFO2 info;
    D3DKMT_OPENRESOURCE args;
    UINT word = 0;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    memset(&info, 0, sizeof(info));
    args.hDevice = owner.gpu.device;
    args.hGlobalShare = shared;
    args.NumAllocations = 1;
    args.pOpenAllocationInfo2 = &info;
    args.pResourcePrivateDriverData = &word;
    args.ResourcePrivateDriverDataSize = sizeof(word);
    args.pTotalPrivateDriverDataBuffer = data;
    args.TotalPrivateDriverDataBufferSize = 2 * sizeof(data[0]);
    status = D3DKMTOpenResource2(&args);
    *allocation = info.hAllocation;
    return status;
}

static void share(struct probe *p)
{
    D3DKMT_GETSHAREDPRIMARYHANDLE args = {.VidPnSourceId = 1};
    D3DKMT_HANDLE shared, allocation = 0;
    uint64_t data[2] = {0, 0};

    owner_begin(p);
    args.hAdapter = owner.gpu.adapter;
    CHECK_RULE("PRES-278", IS(D3DKMTGetSharedPrimaryHandle(&args),
                              STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE));
    shared = shared_of(owner.gpu.adapter);
    CHECK_RULE("PRES-278", shared != 0 && shared_of(owner.gpu.adapter) == shared);
    CHECK_RULE("PRES-278", IS(open(shared, &allocation, data), STATUS_SUCCESS) && allocation != 0);
    CHECK_RULE("PRES-278", data[0] == 1024 * 768 * 4); /* as the driver described it */
    CHECK(IS(display_ask_mode(p, 0, 800, 600, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-278",
               shared_of(owner.gpu.adapter) != 0 && shared_of(owner.gpu.adapter) != shared);
    CHECK_RULE("PRES-278",
               IS(open(shared_of(owner.gpu.adapter), &allocation, data), STATUS_SUCCESS) &&
                   data[0] == 800 * 600 * 4);
    owner_end();
}

TEST(the_shared_primary_is_opened)
{
    owner_run(owner_create(NULL), share);
}
