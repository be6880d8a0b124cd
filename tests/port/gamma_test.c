/* SPDX-License-Identifier: MIT */
/* Gamma ramps and palettes, as a full driver gets them. */
#include "modes/arrange.h"
#include "modes/display_worker.h"
#include "nt/base/current.h"
#include "port/support/owner.h"
#include "sim/thread.h"
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

static void refused_another(struct probe *p)
{
    owner_begin(p);
    CHECK(IS(set(owner.gpu.device, D3DDDI_GAMMARAMP_RGB256x3x16, 1536), STATUS_SUCCESS));
    ramp.Blue[255] = 7;
    answer = STATUS_UNSUCCESSFUL;
    CHECK_RULE("VIDPN-123",
               IS(set(owner.gpu.device, D3DDDI_GAMMARAMP_RGB256x3x16, 1536), STATUS_UNSUCCESSFUL) &&
                   probe_rule(p, "VIDPN-123") == 1);
    CHECK(seen.updates == 2 && seen.last == 7);
    CHECK(IS(display_ask_mode(p, 0, 800, 600, 0), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-123", seen.committed == D3DDDI_GAMMARAMP_RGB256x3x16 && seen.last == 65280);
    CHECK_RULE("VIDPN-123",
               IS(set(owner.gpu.device, D3DDDI_GAMMARAMP_DEFAULT, 0), STATUS_UNSUCCESSFUL));
    CHECK(IS(display_ask_mode(p, 0, 1024, 768, 0), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-123", seen.committed == D3DDDI_GAMMARAMP_RGB256x3x16 && seen.last == 65280);
    answer = STATUS_SUCCESS;
    owner_end();
    CHECK_RULE("PRES-299", seen.updates == 4 && seen.type == D3DDDI_GAMMARAMP_DEFAULT);
}

TEST(the_ramp_before_one_that_is_refused)
{
    owner_run(with_gamma(1, false), refused_another);
}

static USHORT blue[4];
static UINT calls;
static UINT refusing;

static void update_all(struct probe *p, struct probe_call *call)
{
    update(p, call);
    blue[calls++ % 4] = seen.last;
    if (seen.target == refusing)
        call->result = (uint32_t)STATUS_UNSUCCESSFUL;
}

static void refused_by_one(struct probe *p)
{
    owner_begin(p);
    CHECK(IS(display_arrange(display_modes(p), MODES_CLONE), STATUS_SUCCESS));
    p->before[PROBE_UpdateActiveVidPnPresentPath] = update_all;
    calls = refusing = 0;
    CHECK(IS(set(owner.gpu.device, D3DDDI_GAMMARAMP_RGB256x3x16, 1536), STATUS_SUCCESS));
    CHECK(calls == 2 && blue[0] == 65280 && blue[1] == 65280);
    ramp.Blue[255] = 7;
    calls = 0;
    refusing = DISPLAY_CHILD + 1;
    CHECK(IS(set(owner.gpu.device, D3DDDI_GAMMARAMP_RGB256x3x16, 1536), STATUS_UNSUCCESSFUL));
    CHECK_RULE("VIDPN-123", calls == 3 && blue[0] == 7 && blue[1] == 7 && blue[2] == 65280 &&
                                seen.target == DISPLAY_CHILD);
    refusing = 0;
    owner_end();
}

static struct probe *with_two_outputs(void)
{
    struct probe *p = with_gamma(1, false);

    display.outputs = display.sources = 2;
    display.connected[1] = true;
    return p;
}

TEST(a_ramp_that_one_of_two_paths_refuses)
{
    owner_run(with_two_outputs(), refused_by_one);
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

/* ---- whose it is ---- */

static NTSTATUS set_on(D3DKMT_HANDLE device, UINT source)
{
    const D3DKMT_SETGAMMARAMP args = {.hDevice = device,
                                      .VidPnSourceId = source,
                                      .Type = D3DDDI_GAMMARAMP_RGB256x3x16,
                                      .pGammaRampRgb256x3x16 = &ramp,
                                      .Size = sizeof(ramp)};

    return D3DKMTSetGammaRamp(&args);
}

static D3DKMT_HANDLE another_device(void)
{
    D3DKMT_CREATEDEVICE args = {.hAdapter = owner.gpu.adapter};

    CHECK(IS(D3DKMTCreateDevice(&args), STATUS_SUCCESS));
    return args.hDevice;
}

static void destroy(D3DKMT_HANDLE device)
{
    CHECK(IS(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){device}), STATUS_SUCCESS));
}

static void of_each_source(struct probe *p)
{
    D3DKMT_HANDLE other;

    owner_begin(p);
    other = another_device();
    CHECK(IS(set_on(owner.gpu.device, 0), STATUS_SUCCESS) && seen.target == DISPLAY_CHILD);
    CHECK(IS(set_on(other, 1), STATUS_SUCCESS) && seen.target == DISPLAY_CHILD + 1);
    destroy(other);
    CHECK_RULE("PRES-299", seen.updates == 3 && seen.target == DISPLAY_CHILD + 1 &&
                               seen.type == D3DDDI_GAMMARAMP_DEFAULT);
    other = another_device();
    CHECK(IS(set_on(other, 0), STATUS_SUCCESS)); /* nobody owns it */
    owner_end();
    CHECK_RULE("PRES-299", seen.updates == 4 && seen.type == D3DDDI_GAMMARAMP_RGB256x3x16);
    destroy(other);
    CHECK_RULE("PRES-299", seen.updates == 5 && seen.target == DISPLAY_CHILD &&
                               seen.type == D3DDDI_GAMMARAMP_DEFAULT);
}

TEST(ramps_of_two_devices)
{
    owner_run(with_two_outputs(), of_each_source);
}

static void kept_at_the_end(struct probe *p)
{
    D3DKMT_HANDLE device;

    owner_begin(p);
    device = another_device();
    CHECK(IS(set_on(device, 0), STATUS_SUCCESS));
    answer = STATUS_UNSUCCESSFUL;
    destroy(device);
    CHECK(seen.updates == 2);
    answer = STATUS_SUCCESS;
    device = another_device();
    destroy(device);
    CHECK_RULE("PRES-299", seen.updates == 2); /* it is no ramp of this one */
    owner_end();
}

TEST(a_ramp_that_is_nobodys)
{
    owner_run(with_gamma(1, false), kept_at_the_end);
}

/* ---- who asks while the display worker is busy ---- */

#define MS UINT64_C(1000000)

static NTSTATUS wait_there(struct modes *modes, void *arg)
{
    (void)modes;
    (void)arg;
    probe_sleep(10 * MS);
    return STATUS_SUCCESS;
}

static void occupy(struct probe *p)
{
    CHECK(NT_SUCCESS(display_do(display_modes(p), wait_there, NULL)));
}

static D3DKMT_HANDLE second;

static void own_beside(struct probe *p)
{
    (void)p;
    probe_sleep(5 * MS);
    CHECK(IS(owner_own(second, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0), STATUS_SUCCESS));
}

static void beside(struct probe *p, void (*body)(struct probe *p))
{
    sim_thread_release(probe_thread(p, nt_process_current(), "beside", body));
}

static void owned_meanwhile(struct probe *p)
{
    owner_begin(p);
    second = another_device();
    beside(p, occupy);
    beside(p, own_beside);
    probe_sleep(MS);
    CHECK_RULE("PRES-299",
               IS(set_on(owner.gpu.device, 0), STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER) &&
                   seen.updates == 0);
    destroy(second);
    owner_end();
}

TEST(the_owner_changes_before_a_ramp_is_set)
{
    owner_run(with_gamma(1, false), owned_meanwhile);
}

static void set_beside(struct probe *p)
{
    (void)p;
    CHECK(IS(set_on(second, 0), STATUS_SUCCESS));
}

static void set_meanwhile(struct probe *p)
{
    D3DKMT_HANDLE first;

    owner_begin(p);
    first = another_device();
    second = another_device();
    CHECK(IS(set_on(first, 0), STATUS_SUCCESS));
    beside(p, occupy);
    probe_sleep(MS);
    beside(p, set_beside);
    probe_sleep(MS);
    destroy(first);
    CHECK_RULE("PRES-299", seen.updates == 2 && seen.type == D3DDDI_GAMMARAMP_RGB256x3x16);
    destroy(second);
    CHECK(seen.updates == 3);
    owner_end();
}

TEST(another_ramp_comes_before_the_default_one)
{
    owner_run(with_gamma(1, false), set_meanwhile);
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
