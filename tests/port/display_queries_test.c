/* SPDX-License-Identifier: MIT */
/* What clients ask about displays: their names, their state, and what the adapter can do for them. */
#include "port/support/connections.h"
#include "port/support/owner.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

/* ---- names ---- */

static LUID luid_of(const struct probe *p, unsigned adapter)
{
    return port_adapter_luid(p->adapter[adapter]);
}

static bool is_luid(LUID a, LUID b)
{
    return a.LowPart == b.LowPart && a.HighPart == b.HighPart;
}

static NTSTATUS by_name(const WCHAR *name, D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME *args)
{
    memset(args, 0, sizeof(*args));
    for (unsigned i = 0; name[i]; i++)
        args->DeviceName[i] = name[i];
    return D3DKMTOpenAdapterFromGdiDisplayName(args);
}

static NTSTATUS by_context(uintptr_t context, D3DKMT_OPENADAPTERFROMHDC *args)
{
    memset(args, 0, sizeof(*args));
    args->hDc = (HDC)context;
    return D3DKMTOpenAdapterFromHdc(args);
}

static void names(struct probe *p)
{
    static const WCHAR *const none[] = {L"\\\\.\\DISPLAY4",   L"",
                                        L"\\\\.\\DISPLAY",    L"\\\\.\\DISPLAY0",
                                        L"\\\\.\\DISPLAY01",  L"\\\\.\\DISPLAY1x",
                                        L"\\\\.\\MONITOR1",   L"\\\\.\\DISPLAY99999999999999999",
                                        L"\\\\.\\DISPLAY1\\M"};
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME name;
    D3DKMT_OPENADAPTERFROMHDC context;

    CHECK_RULE("PRES-260/a", IS(by_name(L"\\\\.\\DISPLAY1", &name), STATUS_SUCCESS));
    CHECK_RULE("PRES-260/a", name.hAdapter && is_luid(name.AdapterLuid, luid_of(p, 0)) &&
                                 name.VidPnSourceId == 0);
    CHECK_RULE("PRES-260/a", IS(by_name(L"\\\\.\\DISPLAY2", &name), STATUS_SUCCESS) &&
                                 is_luid(name.AdapterLuid, luid_of(p, 1)) &&
                                 name.VidPnSourceId == 0);
    CHECK_RULE("PRES-260/a", IS(by_name(L"\\\\.\\DISPLAY3", &name), STATUS_SUCCESS) &&
                                 is_luid(name.AdapterLuid, luid_of(p, 1)) &&
                                 name.VidPnSourceId == 1);
    for (unsigned i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        CHECK_RULE("PRES-260/b", IS(by_name(none[i], &name), STATUS_UNSUCCESSFUL));
    CHECK_RULE("PRES-260/b", IS(D3DKMTOpenAdapterFromGdiDisplayName(NULL), STATUS_UNSUCCESSFUL));
    CHECK_RULE("PRES-261/a", IS(by_context(0, &context), STATUS_INVALID_PARAMETER) &&
                                 IS(by_context(4, &context), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-261/b", IS(by_context(1, &context), STATUS_SUCCESS) && context.hAdapter &&
                                 is_luid(context.AdapterLuid, luid_of(p, 0)) &&
                                 context.VidPnSourceId == 0);
    CHECK_RULE("PRES-261/b", IS(by_context(3, &context), STATUS_SUCCESS) &&
                                 is_luid(context.AdapterLuid, luid_of(p, 1)) &&
                                 context.VidPnSourceId == 1);
}

/* The first adapter has two, the second one. */
static void other_names(struct probe *p)
{
    D3DKMT_OPENADAPTERFROMGDIDISPLAYNAME name;

    CHECK_RULE("PRES-260/a", IS(by_name(L"\\\\.\\DISPLAY2", &name), STATUS_SUCCESS) &&
                                 is_luid(name.AdapterLuid, luid_of(p, 0)) &&
                                 name.VidPnSourceId == 1);
    CHECK_RULE("PRES-260/a", IS(by_name(L"\\\\.\\DISPLAY3", &name), STATUS_SUCCESS) &&
                                 is_luid(name.AdapterLuid, luid_of(p, 1)) &&
                                 name.VidPnSourceId == 0);
    CHECK_RULE("PRES-260/b", IS(by_name(L"\\\\.\\DISPLAY4", &name), STATUS_UNSUCCESSFUL));
}

static unsigned with_one; /* which adapter has one source */

static void count_sources(struct probe *p, struct probe_call *call)
{
    ULONG *sources = (ULONG *)(uintptr_t)call->arg[3];

    if (call->arg[0] == (uintptr_t)p->state[with_one].context)
        *sources = 1;
}

TEST(displays_by_their_names)
{
    for (with_one = 0; with_one < 2; with_one++) {
        struct probe *p = full_display_create(&(struct probe_options){.adapters = 2});

        display.outputs = display.sources = 2;
        p->after[PROBE_StartDevice] = count_sources;
        owner_run(p, with_one ? other_names : names);
    }
}

/* ---- can it be seen? ---- */

static NTSTATUS window(uintptr_t handle)
{
    return D3DKMTCheckOcclusion(&(D3DKMT_CHECKOCCLUSION){(HWND)handle});
}

static NTSTATUS power(UINT source)
{
    return D3DKMTCheckMonitorPowerState(&(D3DKMT_CHECKMONITORPOWERSTATE){owner.gpu.adapter, source});
}

static void seen(struct probe *p)
{
    owner_begin(p);
    CHECK_RULE("PRES-300/a", IS(window(1), STATUS_SUCCESS) && IS(power(0), STATUS_SUCCESS));
    CHECK_RULE("PRES-300/a",
               IS(window(0), STATUS_INVALID_PARAMETER) && IS(window(2), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-300/a", IS(power(display.sources), STATUS_INVALID_PARAMETER));
    CHECK(IS(owner_own(owner.gpu.device, D3DKMT_VIDPNSOURCEOWNER_SHARED, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-300/b", IS(window(1), STATUS_SUCCESS));
    CHECK(IS(owner_own(owner.gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-300/b", IS(window(1), display.sources == 1 ? STATUS_GRAPHICS_PRESENT_OCCLUDED
                                                                : STATUS_SUCCESS));
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    CHECK_RULE("PRES-300/b", IS(power(0), STATUS_GRAPHICS_PRESENT_OCCLUDED));
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, true)));
    CHECK_RULE("PRES-300/b", IS(power(0), STATUS_SUCCESS));
    owner_end();
}

TEST(windows_and_monitors)
{
    for (UINT sources = 1; sources < 3; sources++) {
        struct probe *p = owner_create(NULL);

        display.outputs = display.sources = sources;
        owner_run(p, seen);
    }
}

/* ---- what the adapter can do ---- */

static NTSTATUS ask(KMTQUERYADAPTERINFOTYPE type, void *answer, UINT bytes)
{
    return D3DKMTQueryAdapterInfo(
        &(D3DKMT_QUERYADAPTERINFO){owner.gpu.adapter, type, answer, bytes});
}

static BOOL supports(KMTQUERYADAPTERINFOTYPE type)
{
    BOOL answer = 77;

    CHECK_RULE("PRES-265", IS(ask(type, &answer, sizeof(answer)), STATUS_SUCCESS));
    return answer;
}

static void ask_modes(void)
{
    D3DKMT_CURRENTDISPLAYMODE mode = {.VidPnSourceId = 0};
    uint8_t buffer[sizeof(D3DKMT_DISPLAYMODELIST) + 12 * sizeof(D3DKMT_DISPLAYMODE)] = {0};
    D3DKMT_DISPLAYMODELIST *list = (void *)buffer;

    CHECK_RULE("PRES-265",
               IS(ask(KMTQAITYPE_CURRENTDISPLAYMODE, &mode, sizeof(mode)), STATUS_SUCCESS));
    CHECK_RULE("PRES-265", mode.DisplayMode.Width == 1024 && mode.DisplayMode.Height == 768 &&
                               mode.DisplayMode.IntegerRefreshRate == 60 &&
                               mode.DisplayMode.DisplayOrientation == D3DDDI_ROTATION_IDENTITY);
    CHECK_RULE("PRES-265", IS(ask(KMTQAITYPE_MODELIST, buffer, sizeof(buffer)), STATUS_SUCCESS) &&
                               list->ModeCount == 12 && list->pModeList[0].Width == 640 &&
                               list->pModeList[11].Width == 1024);
    list->ModeCount = 0;
    CHECK_RULE("PRES-265",
               IS(ask(KMTQAITYPE_MODELIST, buffer, sizeof(buffer) - 1), STATUS_BUFFER_TOO_SMALL) &&
                   list->ModeCount == 12);
    mode.VidPnSourceId = 1;
    CHECK_RULE("PRES-265", IS(ask(KMTQAITYPE_CURRENTDISPLAYMODE, &mode, sizeof(mode)),
                              STATUS_INVALID_PARAMETER));
}

static void caps(struct probe *p)
{
    const bool is = p->caps.SupportDirectFlip != FALSE;
    D3DKMT_FLIPQUEUEINFO queue;
    D3DKMT_WDDM_1_2_CAPS caps12;
    D3DKMT_ADAPTERTYPE type;

    owner_begin(p);
    CHECK_RULE("PRES-265", IS(ask(KMTQAITYPE_FLIPQUEUEINFO, &queue, sizeof(queue)), STATUS_SUCCESS));
    CHECK_RULE("PRES-265", queue.MaxHardwareFlipQueueLength == 2 &&
                               queue.MaxSoftwareFlipQueueLength == 3 &&
                               queue.FlipFlags.FlipInterval == is);
    CHECK_RULE("PRES-265", supports(KMTQAITYPE_DIRECTFLIP_SUPPORT) == is &&
                               supports(KMTQAITYPE_INDEPENDENTFLIP_SUPPORT) == is &&
                               !supports(KMTQAITYPE_PANELFITTER_SUPPORT));
    ask_modes();
    CHECK(IS(ask(KMTQAITYPE_WDDM_1_2_CAPS, &caps12, sizeof(caps12)), STATUS_SUCCESS));
    CHECK_RULE("PRES-264", caps12.SupportGammaRamp == is && caps12.SupportHWCursor == is &&
                               caps12.SupportSoftwareDeviceBitmaps == is);
    CHECK_RULE("PRES-264", caps12.SupportHWVSync && caps12.SupportCCD);
    CHECK(IS(ask(KMTQAITYPE_ADAPTERTYPE, &type, sizeof(type)), STATUS_SUCCESS));
    CHECK_RULE("PRES-263", type.DisplaySupported && type.RenderSupported);
    owner_end();
}

TEST(caps_of_displays)
{
    for (unsigned is = 0; is < 2; is++) {
        struct probe *p = owner_create(NULL);

        p->caps.MaxQueuedFlipOnVSync = 2;
        p->caps.FlipCaps.FlipInterval = p->caps.FlipCaps.FlipIndependent = is & 1;
        p->caps.SupportDirectFlip = is & 1;
        p->caps.GammaRampCaps.Gamma_Rgb256x3x16 = is & 1;
        p->caps.PresentationCaps.SupportSoftwareDeviceBitmaps = is & 1;
        p->caps.PointerCaps.Color = is & 1;
        p->caps.MaxPointerWidth = p->caps.MaxPointerHeight = is ? 64 : 0;
        owner_run(p, caps);
    }
}

static void type_of(struct probe *p)
{
    D3DKMT_ADAPTERTYPE type;

    CHECK(NT_SUCCESS(probe_gpu_begin(&owner.gpu)));
    CHECK(IS(ask(KMTQAITYPE_ADAPTERTYPE, &type, sizeof(type)), STATUS_SUCCESS));
    CHECK_RULE("PRES-263", type.SupportSetTimingsFromVidPn == (p->user != NULL));
    CHECK(NT_SUCCESS(probe_gpu_end(&owner.gpu)));
}

TEST(a_driver_of_the_connection_change_model)
{
    struct probe *p = connections_create(NULL);

    p->user = p;
    owner_run(p, type_of);
    owner_run(owner_create(NULL), type_of);
}

/* ---- without displays ---- */

static void renders(struct probe *p)
{
    D3DKMT_VIDPNSOURCEOWNER_TYPE type = D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE;
    D3DKMT_GETDISPLAYMODELIST list = {.VidPnSourceId = 0};
    D3DKMT_FLIPQUEUEINFO queue;
    UINT source = 0;

    CHECK(NT_SUCCESS(probe_gpu_begin(&owner.gpu)));
    list.hAdapter = owner.gpu.adapter;
    CHECK_RULE("PRES-001", IS(D3DKMTSetVidPnSourceOwner(&(D3DKMT_SETVIDPNSOURCEOWNER){
                                  owner.gpu.device, &type, &source, 1}),
                              STATUS_NOT_SUPPORTED));
    CHECK_RULE("PRES-001",
               IS(D3DKMTGetDisplayModeList(&list), STATUS_NOT_SUPPORTED) &&
                   IS(ask(KMTQAITYPE_FLIPQUEUEINFO, &queue, sizeof(queue)), STATUS_NOT_SUPPORTED));
    CHECK_RULE("PRES-001", IS(window(1), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-001", probe_count(p, PROBE_CommitVidPn) == 0 &&
                               probe_count(p, PROBE_SetVidPnSourceAddress) == 0 &&
                               probe_count(p, PROBE_ControlInterrupt) == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&owner.gpu)));
}

TEST(the_same_driver_without_sources)
{
    struct probe *p = owner_create(NULL);

    display.outputs = display.sources = 0;
    owner_run(p, renders);
}

/* ---- statistics, and calls without effect ---- */

static NTSTATUS statistics(const struct probe *p, int type, UINT source)
{
    D3DKMT_QUERYSTATISTICS args;
    NTSTATUS status;

    memset(&args, 0xEE, sizeof(args));
    args.Type = (D3DKMT_QUERYSTATISTICS_TYPE)type;
    args.AdapterLuid = luid_of(p, 0);
    args.hProcess = NULL;
    args.QueryVidPnSource.VidPnSourceId = source;
    status = D3DKMTQueryStatistics(&args);
    if (NT_SUCCESS(status))
        for (size_t i = 0; i < sizeof(args.QueryResult.VidPnSourceInformation); i++)
            CHECK_RULE("PRES-309/a", ((const uint8_t *)&args.QueryResult)[i] == 0);
    return status;
}

static void others(struct probe *p)
{
    D3DKMT_GETMULTISAMPLEMETHODLIST methods = {.Width = 640, .Height = 480};
    D3DKMT_SHAREDPRIMARYLOCKNOTIFICATION lock = {.VidPnSourceId = 0};
    D3DKMT_SHAREDPRIMARYUNLOCKNOTIFICATION unlock = {.VidPnSourceId = 0};
    D3DKMT_MULTISAMPLEMETHOD method = {0};
    size_t calls;

    owner_begin(p);
    calls = p->calls;
    CHECK_RULE("PRES-309/a",
               IS(statistics(p, 7, 0), STATUS_SUCCESS) && IS(statistics(p, 8, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-309/b", IS(statistics(p, 7, 9), STATUS_INVALID_PARAMETER) &&
                                 IS(statistics(p, 8, 1), STATUS_INVALID_PARAMETER));
    methods.hAdapter = owner.gpu.adapter;
    CHECK_RULE("PRES-301", IS(D3DKMTGetMultisampleMethodList(&methods), STATUS_SUCCESS) &&
                               methods.MethodCount == 1);
    methods.pMethodList = &method;
    CHECK_RULE("PRES-301", IS(D3DKMTGetMultisampleMethodList(&methods), STATUS_SUCCESS) &&
                               method.NumSamples == 1 && method.NumQualityLevels == 1);
    methods.MethodCount = 0;
    CHECK_RULE("PRES-301", IS(D3DKMTGetMultisampleMethodList(&methods), STATUS_BUFFER_TOO_SMALL) &&
                               methods.MethodCount == 1);
    CHECK_RULE("PRES-301", IS(D3DKMTSharedPrimaryLockNotification(&lock), STATUS_INVALID_PARAMETER));
    lock.AdapterLuid = unlock.AdapterLuid = luid_of(p, 0);
    CHECK_RULE("PRES-301", IS(D3DKMTSharedPrimaryLockNotification(&lock), STATUS_SUCCESS) &&
                               IS(D3DKMTSharedPrimaryUnLockNotification(&unlock), STATUS_SUCCESS));
    unlock.VidPnSourceId = 1;
    CHECK_RULE("PRES-301",
               IS(D3DKMTSharedPrimaryUnLockNotification(&unlock), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-301", p->calls == calls);
    owner_end();
}

TEST(calls_without_effect)
{
    owner_run(owner_create(NULL), others);
}

/* Their arguments are not read: one that could not be is as good as any. */
static void refused(struct probe *p)
{
    void *const wild = (void *)(uintptr_t)0x1000;
    size_t calls;

    owner_begin(p);
    calls = p->calls;
#define REFUSED(rule, name) CHECK_RULE(rule, IS(name(wild), STATUS_NOT_SUPPORTED))
    REFUSED("PRES-304", D3DKMTCreateOverlay);
    REFUSED("PRES-304", D3DKMTUpdateOverlay);
    REFUSED("PRES-304", D3DKMTFlipOverlay);
    REFUSED("PRES-304", D3DKMTDestroyOverlay);
    REFUSED("PRES-304", D3DKMTGetOverlayState);
    REFUSED("PRES-305", D3DKMTGetPresentHistory);
    REFUSED("PRES-305", D3DKMTPresentRedirected);
    REFUSED("PRES-305", D3DKMTGetDWMVerticalBlankEvent);
    REFUSED("PRES-305", D3DKMTCreateOutputDupl);
    REFUSED("PRES-305", D3DKMTDestroyOutputDupl);
    REFUSED("PRES-305", D3DKMTOutputDuplGetFrameInfo);
    REFUSED("PRES-305", D3DKMTOutputDuplGetMetaData);
    REFUSED("PRES-305", D3DKMTOutputDuplGetPointerShapeData);
    REFUSED("PRES-305", D3DKMTOutputDuplPresent);
    REFUSED("PRES-305", D3DKMTOutputDuplReleaseFrame);
    REFUSED("PRES-305", D3DKMTCancelPresents);
    REFUSED("PRES-305", D3DKMTSubmitPresentToHwQueue);
    REFUSED("PRES-305", D3DKMTSubmitPresentBltToHwQueue);
    REFUSED("PRES-305", D3DKMTSetDisplayPrivateDriverFormat);
    REFUSED("PRES-305", D3DKMTChangeSurfacePointer);
    REFUSED("PRES-305", D3DKMTSetSyncRefreshCountWaitTarget);
    REFUSED("PRES-305", D3DKMTSetVidPnSourceHwProtection);
    REFUSED("PRES-305", D3DKMTCreateDCFromMemory);
    REFUSED("PRES-305", D3DKMTDestroyDCFromMemory);
    REFUSED("PRES-299", D3DKMTAdjustFullscreenGamma);
#undef REFUSED
    CHECK_RULE("PRES-305", p->calls == calls);
    owner_end();
}

TEST(calls_that_this_host_does_not_carry_out)
{
    struct probe *p = owner_create(NULL);

    p->caps.MaxOverlays = 2;
    owner_run(p, refused);
}
