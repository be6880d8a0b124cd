/* SPDX-License-Identifier: MIT */
/* Gamma ramps and palettes, as a full driver gets them. */
#include "port/support/owner.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

/* ---- what the driver gets ---- */

static struct {
    UINT updates, gammas;
    D3DDDI_GAMMARAMP_TYPE type;
    SIZE_T bytes;
    USHORT first, last;
    UINT target, committed; /* type in the last commit */
} seen;
static NTSTATUS answer;

static void note(const D3DKMDT_GAMMA_RAMP *ramp, UINT target)
{
    seen.type = ramp->Type;
    seen.bytes = ramp->DataSize;
    seen.target = target;
    seen.first = seen.last = 0;
    if (ramp->Type != D3DDDI_GAMMARAMP_RGB256x3x16)
        return;
    seen.first = ramp->Data.pRgb256x3x16->Red[1];
    seen.last = ramp->Data.pRgb256x3x16->Blue[255];
}

static void update(struct probe *p, struct probe_call *call)
{
    const DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *args =
        (const DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *)(uintptr_t)call->arg[1];

    (void)p;
    seen.updates++;
    note(&args->VidPnPresentPathInfo.GammaRamp, args->VidPnPresentPathInfo.VidPnTargetId);
    call->answered = true;
    call->result = (uint64_t)answer;
}

static void set_target(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETTARGETGAMMA *args = (const DXGKARG_SETTARGETGAMMA *)(uintptr_t)call->arg[1];

    (void)p;
    seen.gammas++;
    note(&args->GammaRamp, args->TargetId);
    call->answered = true;
    call->result = (uint64_t)answer;
}

static void in_commit(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                      const DXGK_VIDPN_INTERFACE *vidpn)
{
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = NULL;
    D3DKMDT_HVIDPNTOPOLOGY handle;

    (void)p;
    if (!NT_SUCCESS(vidpn->pfnGetTopology(args->hFunctionalVidPn, &handle, &topology)) ||
        !NT_SUCCESS(topology->pfnAcquirePathInfo(handle, 0, DISPLAY_CHILD, &path)) || !path)
        return;
    seen.committed = path->GammaRamp.Type;
    if (path->GammaRamp.Type == D3DDDI_GAMMARAMP_RGB256x3x16)
        seen.last = path->GammaRamp.Data.pRgb256x3x16->Blue[255];
    CHECK(NT_SUCCESS(topology->pfnReleasePathInfo(handle, path)));
}

/* ---- the client ---- */

static D3DDDI_GAMMA_RAMP_RGB256x3x16 ramp;

static NTSTATUS set(D3DKMT_HANDLE device, D3DDDI_GAMMARAMP_TYPE type, UINT bytes)
{
    const D3DKMT_SETGAMMARAMP args = {.hDevice = device,
                                      .Type = type,
                                      .pGammaRampRgb256x3x16 = bytes ? &ramp : NULL,
                                      .Size = bytes};

    return D3DKMTSetGammaRamp(&args);
}

static void fill(void)
{
    for (UINT i = 0; i < 256; i++) {
        ramp.Red[i] = (USHORT)(i * 3);
        ramp.Green[i] = (USHORT)(i * 5);
        ramp.Blue[i] = (USHORT)(65535 - i);
    }
}

static struct probe *with_gamma(UINT caps, bool own_entry)
{
    struct probe *p = owner_create(NULL);

    memset(&seen, 0, sizeof(seen));
    answer = STATUS_SUCCESS;
    fill();
    p->caps.ColorTransformCaps.Value = caps;
    probe_set_entry(p, PROBE_UpdateActiveVidPnPresentPath, true);
    p->before[PROBE_UpdateActiveVidPnPresentPath] = update;
    probe_set_entry(p, PROBE_SetTargetGamma, own_entry);
    p->before[PROBE_SetTargetGamma] = set_target;
    display.in_commit = in_commit;
    return p;
}

static void shows(struct probe *p)
{
    const D3DKMT_HANDLE *device = &owner.gpu.device;

    owner_begin(p);
    CHECK_RULE("PRES-299",
               IS(set(*device, D3DDDI_GAMMARAMP_RGB256x3x16, 1535), STATUS_INVALID_PARAMETER) &&
                   IS(set(*device, D3DDDI_GAMMARAMP_UNINITIALIZED, 0), STATUS_INVALID_PARAMETER) &&
                   IS(set(*device, D3DDDI_GAMMARAMP_MATRIX_3x4, 48), STATUS_INVALID_PARAMETER));
    CHECK(seen.updates == 0);
    CHECK_RULE("PRES-298", IS(set(*device, D3DDDI_GAMMARAMP_RGB256x3x16, 1536), STATUS_SUCCESS));
    CHECK_RULE("PRES-298", seen.updates == 1 && seen.target == DISPLAY_CHILD);
    CHECK_RULE("VIDPN-122", seen.type == D3DDDI_GAMMARAMP_RGB256x3x16 && seen.bytes == 1536 &&
                                seen.first == 3 && seen.last == 65280);
    seen.last = 0;
    CHECK(IS(display_ask_mode(p, 0, 800, 600, 0), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-123", seen.committed == D3DDDI_GAMMARAMP_RGB256x3x16 && seen.last == 65280);
    CHECK_RULE("PRES-298", IS(set(*device, D3DDDI_GAMMARAMP_DEFAULT, 0), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-122",
               seen.updates == 2 && seen.type == D3DDDI_GAMMARAMP_DEFAULT && seen.bytes == 0);
    CHECK(IS(set(*device, D3DDDI_GAMMARAMP_RGB256x3x16, 1536), STATUS_SUCCESS));
    CHECK(seen.updates == 3);
    owner_end();
    CHECK_RULE("PRES-299", seen.updates == 4 && seen.type == D3DDDI_GAMMARAMP_DEFAULT);
}

TEST(a_ramp_of_a_client)
{
    owner_run(with_gamma(3, false), shows);
}

static void without(struct probe *p)
{
    owner_begin(p);
    CHECK_RULE("DISP-164", IS(set(owner.gpu.device, D3DDDI_GAMMARAMP_RGB256x3x16, 1536),
                              STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED));
    CHECK_RULE("PRES-299",
               IS(set(owner.gpu.device, D3DDDI_GAMMARAMP_DXGI_1, sizeof(D3DDDI_GAMMA_RAMP_DXGI_1)),
                  STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED));
    CHECK_RULE("VIDPN-198", seen.updates == 0 && seen.gammas == 0);
    CHECK(IS(display_ask_mode(p, 0, 800, 600, 0), STATUS_SUCCESS));
    CHECK_RULE("DISP-164", seen.committed == D3DDDI_GAMMARAMP_DEFAULT);
    owner_end();
    CHECK(seen.updates == 0);
}

TEST(a_driver_without_the_cap)
{
    owner_run(with_gamma(0, false), without);
}

static void refused(struct probe *p)
{
    owner_begin(p);
    answer = STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED;
    CHECK_RULE("VIDPN-123", IS(set(owner.gpu.device, D3DDDI_GAMMARAMP_RGB256x3x16, 1536),
                               STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED));
    CHECK(seen.updates == 1 && seen.type == D3DDDI_GAMMARAMP_RGB256x3x16);
    CHECK(IS(display_ask_mode(p, 0, 800, 600, 0), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-123", seen.committed == D3DDDI_GAMMARAMP_DEFAULT);
    owner_end();
}

TEST(a_driver_that_refuses_a_ramp)
{
    owner_run(with_gamma(1, false), refused);
}

static void own_entry(struct probe *p)
{
    owner_begin(p);
    CHECK_RULE("DISP-117",
               IS(set(owner.gpu.device, D3DDDI_GAMMARAMP_RGB256x3x16, 1536), STATUS_SUCCESS));
    CHECK_RULE("DISP-117", seen.updates == 0 && seen.gammas == 1 && seen.target == DISPLAY_CHILD &&
                               seen.last == 65280 && seen.bytes == 1536);
    owner_end();
    CHECK_RULE("DISP-117", seen.updates == 0 && seen.gammas == 2);
}

TEST(a_driver_with_an_entry_for_it)
{
    owner_run(with_gamma(3, true), own_entry);
}

static void owned(struct probe *p)
{
    D3DKMT_CREATEDEVICE other = {.hAdapter = 0};

    owner_begin(p);
    other.hAdapter = owner.gpu.adapter;
    CHECK(IS(D3DKMTCreateDevice(&other), STATUS_SUCCESS));
    CHECK(IS(owner_own(owner.gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-299", IS(set(other.hDevice, D3DDDI_GAMMARAMP_RGB256x3x16, 1536),
                              STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER) &&
                               seen.updates == 0);
    CHECK_RULE("PRES-299",
               IS(set(owner.gpu.device, D3DDDI_GAMMARAMP_RGB256x3x16, 1536), STATUS_SUCCESS));
    owner_end();
}

TEST(who_may_set_a_ramp)
{
    owner_run(with_gamma(1, false), owned);
}

/* ---- palettes ---- */

static UINT palettes, entries, first_entry;
static D3DKMDT_PALETTEDATA color[2];
static NTSTATUS palette_answer;

static void set_palette(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETPALETTE *args = (const DXGKARG_SETPALETTE *)(uintptr_t)call->arg[1];

    (void)p;
    palettes++;
    entries = args->NumEntries;
    first_entry = args->FirstEntry;
    color[0] = args->pLookupTable[0];
    color[1] = args->pLookupTable[255];
    call->answered = true;
    call->result = (uint64_t)palette_answer;
}

static struct probe *with_palette(bool entry)
{
    struct probe *p = full_display_create(NULL);
    D3DKMDT_GRAPHICS_RENDERING_FORMAT *format;

    palettes = entries = 0;
    first_entry = 99;
    palette_answer = STATUS_SUCCESS;
    display.source_mode[display.source_modes] = display_source_mode(320, 200);
    format = &display.source_mode[display.source_modes++].Format.Graphics;
    format->PixelFormat = D3DDDIFMT_P8;
    format->PixelValueAccessMode = D3DKMDT_PVAM_SETTABLEPALETTE;
    format->Stride = 320;
    probe_set_entry(p, PROBE_SetPalette, entry);
    p->before[PROBE_SetPalette] = set_palette;
    return p;
}

static void colors(struct probe *p)
{
    CHECK_RULE("PRES-244", palettes == 0); /* 32 bits */
    CHECK(IS(display_ask_mode(p, 0, 320, 200, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-243", palettes == 1 && entries == 256 && first_entry == 0);
    CHECK_RULE("PRES-244", color[0].Red == 0 && color[0].Green == 0 && color[0].Blue == 0 &&
                               color[1].Red == 255 && color[1].Green == 255 && color[1].Blue == 255);
    CHECK(IS(display_ask_mode(p, 0, 1024, 768, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-244", palettes == 1);
    palette_answer = STATUS_UNSUCCESSFUL;
    CHECK_RULE("PRES-244", IS(display_ask_mode(p, 0, 320, 200, 0), STATUS_SUCCESS) &&
                               probe_rule(p, "PRES-244") == 1);
}

static void no_colors(struct probe *p)
{
    CHECK_RULE("PRES-244", !NT_SUCCESS(display_ask_mode(p, 0, 320, 200, 0)));
}

TEST(a_mode_of_256_colors)
{
    struct probe *p = with_palette(true);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, colors);
    p = with_palette(false);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, no_colors);
}

/* ---- caps ---- */

static UINT colors_of(UINT version, UINT caps)
{
    struct probe *p = full_display_create(&(struct probe_options){.version = version});
    NTSTATUS status;
    UINT found;

    p->caps.ColorTransformCaps.Value = caps;
    status = probe_start(p);
    found = (UINT)probe_rule(p, "PRES-245");
    if (NT_SUCCESS(status))
        display_end(p);
    else
        probe_destroy(p);
    return found;
}

TEST(transforms_that_need_one_another)
{
    CHECK_RULE("PRES-245", colors_of(0, 0x3) == 0 && colors_of(0, 0x1F) == 0);
    CHECK_RULE("PRES-245", colors_of(0, 0x7) == 0 && colors_of(0, 0xF) == 0);
    CHECK_RULE("PRES-245", colors_of(0, 0x13) == 1 && colors_of(0, 0xB) == 1);
    CHECK_RULE("PRES-245", colors_of(0, 0x1B) == 1 && colors_of(0, 0x17) == 1);
    CHECK_RULE("PRES-245", colors_of(DXGKDDI_INTERFACE_VERSION_WDDM2_1, 0x10) == 0);
}
