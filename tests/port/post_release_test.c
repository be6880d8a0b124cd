/* SPDX-License-Identifier: MIT */
/* A display that its driver hands on when it is stopped: when it is asked to, and what it may
 * answer. */
#include "port/running/post.h"
#include "port/support/full_display.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define RELEASE            PROBE_StopDeviceAndReleasePostDisplayOwnership

/* What the last StartDevice was told, and what the release answers. */
static struct {
    NTSTATUS status;
    DXGK_DISPLAY_INFORMATION info, released;
    DXGK_DISPLAY_OWNERSHIP_FLAGS flags;
    bool answer;    /* give `released` */
    bool zeroed;    /* the structure was, when the release was called */
    UINT target;    /* as the release was given */
    uint32_t at;    /* this pixel */
    uint32_t pixel; /* becomes this colour, after all others were made black */
} post;

static void acquire(struct probe *p, struct probe_call *call)
{
    const DXGKRNL_INTERFACE *dxgk = &probe_adapter_of(p, call->arg[0])->dxgk;

    if (p->devices > 1 && probe_adapter_of(p, call->arg[0]) != &p->state[0])
        return;
    post.status = dxgk->DxgkCbAcquirePostDisplayOwnership2(dxgk->DeviceHandle, &post.info,
                                                           &post.flags);
}

static void release(struct probe *p, struct probe_call *call)
{
    DXGK_DISPLAY_INFORMATION *info = (DXGK_DISPLAY_INFORMATION *)(uintptr_t)call->arg[2];
    static const DXGK_DISPLAY_INFORMATION zero;

    (void)p;
    post.zeroed = memcmp(info, &zero, sizeof(zero)) == 0;
    post.target = (UINT)call->arg[1];
}

static void answer(struct probe *p, struct probe_call *call)
{
    uint8_t *at = p->adapters ? (uint8_t *)(uintptr_t)port_post_pixels(p->adapter[0]) : NULL;

    if (post.answer)
        *(DXGK_DISPLAY_INFORMATION *)(uintptr_t)call->arg[2] = post.released;
    if (at && post.pixel)
        memcpy(at + (size_t)post.at * 4, &post.pixel, 4);
}

static probe_hook *release_default;

static void before_release(struct probe *p, struct probe_call *call)
{
    release(p, call);
    release_default(p, call);
    answer(p, call);
}

static struct probe *releasing(const struct probe_options *options)
{
    struct probe *p = display_create(options);

    memset(&post, 0, sizeof(post));
    post.target = 0xDEAD;
    p->after[PROBE_StartDevice] = acquire;
    release_default = p->before[RELEASE];
    p->before[RELEASE] = before_release;
    return p;
}

static void restart(struct probe *p)
{
    probe_restart(p);
}

/* Start, stop and start again. */
static void around(struct probe *p)
{
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    post.released = post.released.Width || post.answer ? post.released : post.info;
    CHECK(probe_run(p, restart) == SIM_DONE);
}

/* ---- when ---- */

TEST(the_post_device_hands_its_display_on)
{
    struct probe *p = releasing(NULL);
    DXGK_DISPLAY_INFORMATION first;
    const struct probe_call *call;

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    first = post.info;
    post.answer = true;
    post.released = first;
    post.released.TargetId = DISPLAY_CHILD;
    post.released.AcpiId = 0x400;
    CHECK(probe_run(p, restart) == SIM_DONE);
    call = probe_nth(p, RELEASE, 0);
    CHECK_RULE("PRES-029/a", probe_count(p, RELEASE) == 1 && call->irql == PASSIVE_LEVEL &&
                                 probe_count(p, PROBE_StopDevice) == 0);
    CHECK_RULE("PRES-035", post.zeroed && probe_rule(p, "PRES-035") == 0);
    CHECK_RULE("PRES-031", post.target == DISPLAY_CHILD);
    CHECK_RULE("PRES-010/b", post.info.TargetId == DISPLAY_CHILD && post.info.AcpiId == 0x400 &&
                                 post.info.Width == first.Width);
    CHECK_RULE("PRES-018/b", post.flags.Value == FrameBufferStateInitializedByDriver);
    CHECK_RULE("PRES-037", probe_rule(p, "PRES-038") == 0);
    /* the picture stays: nothing is hidden, no path removed before */
    CHECK_RULE("PRES-030", display_seen.commits == 2 && display_seen.commit[1].paths == 1 &&
                               probe_count(p, PROBE_SetVidPnSourceVisibility) == 2);
    display_end(p);
}

TEST(it_is_handed_on_unasked_for)
{
    struct probe *p = releasing(NULL);

    p->after[PROBE_StartDevice] = NULL; /* never acquired */
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    (void)probe_stop(p);
    CHECK_RULE("PRES-015", probe_count(p, RELEASE) == 1 && probe_count(p, PROBE_StopDevice) == 0);
    probe_destroy(p);
}

TEST(only_drivers_that_say_so_hand_it_on)
{
    const struct probe_options strict = {.strict = true};
    struct probe *p = releasing(NULL);

    p->caps.SupportNonVGA = FALSE;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-028/a", probe_rule(p, "PRES-028") == 0 && probe_rule(p, "DISP-160") == 1);
    (void)probe_stop(p);
    CHECK_RULE("PRES-027", probe_count(p, RELEASE) == 0 && probe_count(p, PROBE_StopDevice) == 1);
    probe_destroy(p);

    p = releasing(&strict); /* entries that no cap promises */
    p->caps.SupportNonVGA = FALSE;
    probe_set_entry(p, RELEASE, false);
    probe_set_entry(p, PROBE_SystemDisplayEnable, false);
    probe_set_entry(p, PROBE_SystemDisplayWrite, false);
    CHECK_RULE("PRES-028/a", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                 probe_rule(p, "PRES-028") == 0 && probe_rule(p, "DISP-160") == 1);
    probe_destroy(p);

    p = releasing(&strict);
    probe_set_entry(p, RELEASE, false);
    CHECK_RULE("PRES-028/b", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                 probe_rule(p, "PRES-028") == 1);
    probe_destroy(p);
    p = releasing(NULL);
    probe_set_entry(p, RELEASE, false);
    CHECK_RULE("PRES-028/b", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "PRES-028") == 1);
    (void)probe_stop(p);
    CHECK(probe_count(p, PROBE_StopDevice) == 1);
    probe_destroy(p);
    for (unsigned i = 0; i < 2; i++) {
        p = releasing(&strict);
        probe_set_entry(p, i ? PROBE_SystemDisplayEnable : PROBE_SystemDisplayWrite, false);
        CHECK_RULE("PRES-028/b", IS(probe_start(p), STATUS_SUCCESS) &&
                                     probe_rule(p, "PRES-028") == 1 &&
                                     probe_record(p, "PRES-028")->severity == VERIFY_WARNING);
        display_end(p);
    }
    p = full_display_create(&strict); /* and so of a driver that renders */
    probe_set_entry(p, RELEASE, false);
    CHECK_RULE("PRES-028/b", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                 probe_rule(p, "PRES-028") == 1);
    probe_destroy(p);
}

TEST(another_adapter_is_just_stopped)
{
    const struct probe_options two = {.adapters = 2};
    struct probe *p = releasing(&two);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    (void)probe_stop(p);
    CHECK_RULE("PRES-029/a", probe_count(p, RELEASE) == 1 && probe_count(p, PROBE_StopDevice) == 1);
    CHECK_RULE("PRES-029/a", probe_adapter_of(p, probe_nth(p, RELEASE, 0)->arg[0]) == &p->state[0]);
    probe_destroy(p);
}

static void unplug(struct probe *p)
{
    CHECK(NT_SUCCESS(port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, false)));
}

static void power_down(struct probe *p)
{
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK_RULE("PRES-030", probe_count(p, RELEASE) == 0);
}

TEST(it_is_not_handed_on_by_what_is_gone)
{
    struct probe *p = releasing(NULL);

    p->caps.SupportSurpriseRemoval = TRUE;
    probe_set_entry(p, PROBE_NotifySurpriseRemoval, true);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK(probe_run(p, unplug) == SIM_DONE);
    (void)probe_stop(p);
    CHECK_RULE("PRES-030", probe_count(p, RELEASE) == 0);
    probe_destroy(p);

    p = releasing(NULL);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, power_down);
}

static void next_driver(struct probe *p)
{
    probe_remove(p, 0);
    CHECK(NT_SUCCESS(probe_add(p, 0)));
}

TEST(the_next_driver_finds_it)
{
    static const char *const small_vram[] = {"vram=1048576", NULL};
    const struct probe_options in_ram = {.device = small_vram};

    for (unsigned ram = 0; ram < 2; ram++) {
        struct probe *p = releasing(ram ? &in_ram : NULL);
        DXGK_DISPLAY_INFORMATION first;

        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        first = post.info;
        post.answer = true;
        post.released = first;
        post.released.TargetId = DISPLAY_CHILD;
        CHECK(probe_run(p, next_driver) == SIM_DONE);
        CHECK_RULE("PRES-010/b",
                   post.info.TargetId == DISPLAY_CHILD && post.info.Width == 1024 &&
                       post.info.PhysicAddress.QuadPart == first.PhysicAddress.QuadPart);
        CHECK_RULE("PRES-018/b", post.flags.Value == FrameBufferStateInitializedByDriver);
        display_end(p);
    }
}

/* ---- failures ---- */

static void fail_release(struct probe *p, struct probe_call *call)
{
    before_release(p, call);
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_NOT_SUPPORTED;
}

/* Nothing is known of the display any more. */
static bool is_unknown(void)
{
    return IS(post.status, STATUS_SUCCESS) && post.info.Width == 0 && post.info.Height == 0 &&
           post.info.PhysicAddress.QuadPart == 0 && post.info.TargetId == D3DDDI_ID_UNINITIALIZED &&
           post.flags.Value == FrameBufferStateUnknown;
}

TEST(a_driver_may_fail_to_hand_it_on)
{
    struct probe *p = releasing(NULL);

    p->before[RELEASE] = fail_release;
    display.connected[0] = false;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK(probe_run(p, restart) == SIM_DONE);
    CHECK_RULE("PRES-029/b",
               probe_count(p, RELEASE) == 1 && probe_count(p, PROBE_StopDevice) == 1 &&
                   probe_nth(p, PROBE_StopDevice, 0)->order >= probe_nth(p, RELEASE, 0)->left);
    CHECK_RULE("PRES-033", probe_reports(p, VERIFY_WARNING) == 0);
    CHECK_RULE("PRES-019/c", is_unknown());
    CHECK_RULE("PRES-012", is_unknown());
    CHECK_RULE("PRES-030", display_seen.commits == 0);
    display_end(p);

    p = releasing(NULL); /* with a picture: it is not taken away first */
    p->before[RELEASE] = fail_release;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    (void)probe_stop(p);
    CHECK_RULE("PRES-030", probe_count(p, PROBE_StopDevice) == 1 && display_seen.commits == 1);
    probe_destroy(p);
}

/* ---- the target ---- */

TEST(the_target_that_stays_lit_is_named)
{
    struct probe *p = releasing(NULL);

    display.outputs = 3; /* the first with a path */
    display.sources = 2;
    display.connected[0] = false;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    (void)probe_stop(p);
    CHECK_RULE("PRES-032", post.target == DISPLAY_CHILD + 1);
    CHECK_RULE("PRES-031", post.target == DISPLAY_CHILD + 1);
    probe_destroy(p);

    p = releasing(NULL); /* no path: the first that is connected */
    display.outputs = 3;
    display.connected[0] = false;
    display.supported = FALSE;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    (void)probe_stop(p);
    CHECK_RULE("PRES-032", display_seen.commits == 0 && post.target == DISPLAY_CHILD + 1);
    probe_destroy(p);

    p = releasing(NULL); /* none is */
    display.outputs = 2;
    display.connected[0] = display.connected[1] = false;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    (void)probe_stop(p);
    CHECK_RULE("PRES-032", post.target == DISPLAY_CHILD);
    probe_destroy(p);
}

/* ---- what is handed on ---- */

/* The release answers what the driver acquired, changed so. */
struct handed {
    void (*change)(DXGK_DISPLAY_INFORMATION *info);
    const char *rule; /* NULL: it is sound */
    bool unknown;     /* afterwards */
};

static void unchanged(DXGK_DISPLAY_INFORMATION *info)
{
    info->TargetId = D3DDDI_ID_UNINITIALIZED;
}

static void other_pitch(DXGK_DISPLAY_INFORMATION *info)
{
    info->Pitch = 100;
}

static void pitch_just_short(DXGK_DISPLAY_INFORMATION *info)
{
    info->Pitch = 1024 * 4 - 1;
}

static void larger_pitch(DXGK_DISPLAY_INFORMATION *info)
{
    info->Pitch = 1024 * 4 + 64;
}

static void no_address(DXGK_DISPLAY_INFORMATION *info)
{
    info->PhysicAddress.QuadPart = 0;
}

static void no_memory(DXGK_DISPLAY_INFORMATION *info)
{
    info->PhysicAddress.QuadPart = 0x7FFFFFFF0000;
}

static void other_ram(DXGK_DISPLAY_INFORMATION *info)
{
    info->PhysicAddress.QuadPart = 0x400000;
}

static void beyond_the_bar(DXGK_DISPLAY_INFORMATION *info)
{
    info->PhysicAddress.QuadPart += (16 << 20) - 4096 * 768 + 4096;
}

static void end_of_the_bar(DXGK_DISPLAY_INFORMATION *info)
{
    info->PhysicAddress.QuadPart += (16 << 20) - 4096 * 768;
}

static void other_target(DXGK_DISPLAY_INFORMATION *info)
{
    info->TargetId = 0x999;
}

static void no_lines(DXGK_DISPLAY_INFORMATION *info)
{
    info->Height = 0;
}

static void other_format(DXGK_DISPLAY_INFORMATION *info)
{
    info->ColorFormat = D3DDDIFMT_R5G6B5;
}

static void with_alpha(DXGK_DISPLAY_INFORMATION *info)
{
    info->ColorFormat = D3DDDIFMT_A8R8G8B8;
}

static void too_small(DXGK_DISPLAY_INFORMATION *info)
{
    info->Width = 640;
    info->Height = 480;
}

static void too_low(DXGK_DISPLAY_INFORMATION *info)
{
    info->Width = 800;
    info->Height = 599;
}

static void too_narrow(DXGK_DISPLAY_INFORMATION *info)
{
    info->Width = 799;
    info->Height = 600;
}

static void small_enough(DXGK_DISPLAY_INFORMATION *info)
{
    info->Width = 800;
    info->Height = 600;
}

static void nothing(DXGK_DISPLAY_INFORMATION *info)
{
    memset(info, 0, sizeof(*info));
}

static const struct handed handed_on[] = {
    {unchanged, NULL, false},
    {larger_pitch, NULL, false},
    {end_of_the_bar, NULL, false},
    {with_alpha, NULL, false},
    {small_enough, NULL, false},
    {other_pitch, "PRES-035", true},
    {pitch_just_short, "PRES-035", true},
    {no_address, "PRES-035", true},
    {no_memory, "PRES-035", true},
    {other_ram, "PRES-035", true},
    {beyond_the_bar, "PRES-035", true},
    {other_target, "PRES-035", true},
    {no_lines, "PRES-035", true},
    {other_format, "PRES-034/a", false},
    {too_small, "PRES-034/b", false},
    {too_low, "PRES-034/b", false},
    {too_narrow, "PRES-034/b", false},
    {nothing, "PRES-036", true},
};

TEST(what_is_handed_on_is_checked)
{
    for (size_t i = 0; i < sizeof(handed_on) / sizeof(handed_on[0]); i++) {
        struct probe *p = releasing(NULL);
        const struct handed *handed = &handed_on[i];
        char rule[16] = "";
        bool told, kept;

        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        post.released = post.info;
        handed->change(&post.released);
        post.answer = true;
        CHECK(probe_run(p, restart) == SIM_DONE);
        if (handed->rule)
            memcpy(rule, handed->rule, 8);
        told = handed->rule
                   ? probe_rule(p, rule) == 1 && probe_record(p, rule)->severity == VERIFY_ERROR
                   : probe_reports(p, VERIFY_ERROR) == 0;
        kept = handed->unknown
                   ? is_unknown()
                   : post.info.Width == post.released.Width &&
                         post.info.Height == post.released.Height &&
                         post.info.Pitch == post.released.Pitch &&
                         post.info.ColorFormat == post.released.ColorFormat &&
                         post.info.PhysicAddress.QuadPart == post.released.PhysicAddress.QuadPart &&
                         post.flags.Value == FrameBufferStateInitializedByDriver;
        if (!handed->rule)
            CHECK_RULE("PRES-035", told && kept);
        else if (strcmp(handed->rule, "PRES-035") == 0)
            CHECK_RULE("PRES-035", told && kept);
        else if (strcmp(handed->rule, "PRES-034/a") == 0)
            CHECK_RULE("PRES-034/a", told && kept);
        else if (strcmp(handed->rule, "PRES-034/b") == 0)
            CHECK_RULE("PRES-034/b", told && kept);
        else
            CHECK_RULE("PRES-036", told && kept);
        CHECK(probe_count(p, PROBE_StopDevice) == 0);
        display_end(p);
    }
}

/* A frame buffer in RAM: another part of it is sound, what is behind it is not. */
static void half_of_it(DXGK_DISPLAY_INFORMATION *info)
{
    info->Height = 384;
    info->PhysicAddress.QuadPart += 4096 * 384;
}

static void beside_it(DXGK_DISPLAY_INFORMATION *info)
{
    half_of_it(info);
    info->PhysicAddress.QuadPart += 4096;
}

static void in_front_of_it(DXGK_DISPLAY_INFORMATION *info)
{
    info->Height = 384;
    info->PhysicAddress.QuadPart -= 4096;
}

TEST(other_memory_than_the_frame_buffer_is_not_handed_on)
{
    static const char *const small_vram[] = {"vram=1048576", NULL};
    static void (*const changes[])(DXGK_DISPLAY_INFORMATION *) = {half_of_it, beside_it,
                                                                  in_front_of_it};
    const struct probe_options in_ram = {.device = small_vram};

    for (unsigned i = 0; i < 3; i++) {
        struct probe *p = releasing(&in_ram);

        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        post.released = post.info;
        changes[i](&post.released);
        post.answer = true;
        CHECK(probe_run(p, restart) == SIM_DONE);
        CHECK_RULE("PRES-035", probe_rule(p, "PRES-035") == (i > 0) && is_unknown() == (i > 0));
        display_end(p);
    }
}

static void remove_first(struct probe *p)
{
    post.answer = true;
    probe_remove(p, 0);
}

TEST(a_display_may_be_dark_beside_another)
{
    const struct probe_options two = {.adapters = 2};

    for (unsigned connected = 0; connected < 2; connected++) {
        struct probe *p = releasing(&two);

        display.connected[0] = connected;
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        CHECK(probe_run(p, remove_first) == SIM_DONE);
        CHECK_RULE("PRES-036",
                   probe_count(p, RELEASE) == 1 && probe_rule(p, "PRES-036") == connected);
        display_end(p);
    }
}

/* The other one shows nothing itself. */
static void without_sources(struct probe *p, struct probe_call *call)
{
    acquire(p, call);
    if (probe_adapter_of(p, call->arg[0]) != &p->state[1])
        return;
    *(ULONG *)(uintptr_t)call->arg[3] = 0;
    *(ULONG *)(uintptr_t)call->arg[4] = 0;
}

static void unplug_second(struct probe *p)
{
    CHECK(NT_SUCCESS(port_adapter_unplug(p->adapter[1], DxgkRemovalPnPNotify, true)));
    remove_first(p);
}

TEST(a_display_may_not_be_dark_beside_none)
{
    for (unsigned i = 0; i < 3; i++) {
        const struct probe_options options = {.adapters = i ? 2 : 1};
        struct probe *p = releasing(&options);

        display.connected[0] = false;
        if (i == 1)
            p->after[PROBE_StartDevice] = without_sources;
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        CHECK(probe_run(p, i == 2 ? unplug_second : remove_first) == SIM_DONE);
        CHECK_RULE("PRES-036", probe_rule(p, "PRES-036") == 1 &&
                                   probe_record(p, "PRES-036")->severity == VERIFY_ERROR);
        display_end(p);
    }
}

/* Nothing is said of a display then. */
TEST(a_release_that_fails_is_not_dark)
{
    struct probe *p = releasing(NULL);

    p->before[RELEASE] = fail_release;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK(probe_run(p, remove_first) == SIM_DONE);
    CHECK_RULE("PRES-036", probe_count(p, RELEASE) == 1 && probe_rule(p, "PRES-036") == 0);
    display_end(p);
}

TEST(what_is_handed_on_is_black)
{
    struct probe *p = releasing(NULL);

    post.at = 7 * 1024 + 5;
    post.pixel = 0x00FFFFFF;
    around(p);
    CHECK_RULE("PRES-038", probe_rule(p, "PRES-038") == 1 && probe_said(p, "PRES-038", "5, 7") &&
                               probe_record(p, "PRES-038")->severity == VERIFY_WARNING);
    CHECK_RULE("PRES-037", probe_rule(p, "PRES-038") == 1);
    display_end(p);

    p = releasing(NULL); /* what is no colour does not count */
    post.at = 767 * 1024 + 1023;
    post.pixel = 0xFF000000;
    around(p);
    CHECK_RULE("PRES-038", probe_rule(p, "PRES-038") == 0);
    display_end(p);

    p = releasing(NULL);
    post.at = 767 * 1024 + 1023;
    post.pixel = 1;
    around(p);
    CHECK_RULE("PRES-038", probe_rule(p, "PRES-038") == 1 && probe_said(p, "PRES-038", "1023, 767"));
    display_end(p);
}
