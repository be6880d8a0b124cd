/* SPDX-License-Identifier: MIT */
/* Vertical blanks for clients: waits beside other objects, the scan line, and what is counted. */
#include "port/support/owner.h"
#include "sim/sim.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 1000000u

/* ---- waiting ---- */

static HANDLE event[2];

static void set_second(struct probe *p)
{
    (void)p;
    probe_sleep(3 * MS);
    CHECK(IS(ZwSetEvent(event[1], NULL), STATUS_SUCCESS));
}

static HANDLE new_event(void)
{
    OBJECT_ATTRIBUTES attributes;
    HANDLE handle = NULL;

    InitializeObjectAttributes(&attributes, NULL, 0, NULL, NULL);
    CHECK(IS(ZwCreateEvent(&handle, EVENT_ALL_ACCESS, &attributes, SynchronizationEvent, FALSE),
             STATUS_SUCCESS));
    return handle;
}

static void waits(struct probe *p)
{
    D3DKMT_WAITFORVERTICALBLANKEVENT2 args;
    uint64_t before;

    memset(&args, 0, sizeof(args));
    owner_begin(p);
    args.hAdapter = owner.gpu.adapter;
    before = sim_now();
    CHECK_RULE("PRES-292", IS(D3DKMTWaitForVerticalBlankEvent2(&args), STATUS_WAIT_0));
    CHECK_RULE("PRES-292", full_engine.reports == 1 && sim_now() - before < 17 * MS);
    event[0] = new_event();
    event[1] = new_event();
    args.NumObjects = 2;
    args.ObjectHandleArray[0] = event[0];
    args.ObjectHandleArray[1] = event[1];
    CHECK_RULE("PRES-292", IS(D3DKMTWaitForVerticalBlankEvent2(&args), STATUS_WAIT_0));
    CHECK(IS(ZwSetEvent(event[0], NULL), STATUS_SUCCESS));
    CHECK_RULE("PRES-292", IS(D3DKMTWaitForVerticalBlankEvent2(&args), STATUS_WAIT_1));
    CHECK_RULE("PRES-292", IS(D3DKMTWaitForVerticalBlankEvent2(&args), STATUS_WAIT_0));
    set_second(p);
    before = sim_now();
    CHECK_RULE("PRES-292", IS(D3DKMTWaitForVerticalBlankEvent2(&args), STATUS_WAIT_2));
    CHECK(sim_now() - before < MS);
    args.ObjectHandleArray[1] = (HANDLE)(uintptr_t)77;
    CHECK_RULE("PRES-292", IS(D3DKMTWaitForVerticalBlankEvent2(&args), STATUS_INVALID_HANDLE));
    args.NumObjects = 9;
    CHECK_RULE("PRES-293", IS(D3DKMTWaitForVerticalBlankEvent2(&args), STATUS_INVALID_PARAMETER));
    args.NumObjects = 0;
    args.VidPnSourceId = 1;
    CHECK_RULE("PRES-291", IS(D3DKMTWaitForVerticalBlankEvent2(&args),
                              STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE));
    CHECK(IS(ZwClose(event[0]), STATUS_SUCCESS) && IS(ZwClose(event[1]), STATUS_SUCCESS));
    owner_end();
}

TEST(beside_other_objects)
{
    owner_run(owner_create(NULL), waits);
}

/* The host makes a blank up where none is reported. */
static void none(struct probe *p)
{
    D3DKMT_WAITFORVERTICALBLANKEVENT plain = {.hAdapter = 0};
    D3DKMT_WAITFORVERTICALBLANKEVENT2 args;
    uint64_t before;

    memset(&args, 0, sizeof(args));
    owner_begin(p);
    args.hAdapter = plain.hAdapter = owner.gpu.adapter;
    full_engine.silent = true;
    before = sim_now();
    CHECK_RULE("PRES-293", IS(D3DKMTWaitForVerticalBlankEvent2(&args), STATUS_WAIT_0));
    CHECK_RULE("PRES-293", sim_now() - before >= 33 * MS && sim_now() - before < 34 * MS);
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    before = sim_now();
    CHECK_RULE("PRES-293", IS(D3DKMTWaitForVerticalBlankEvent2(&args), STATUS_WAIT_0));
    CHECK_RULE("PRES-293", sim_now() - before >= 16 * MS && sim_now() - before < 17 * MS);
    before = sim_now();
    CHECK_RULE("PRES-293", IS(D3DKMTWaitForVerticalBlankEvent(&plain), STATUS_SUCCESS));
    CHECK_RULE("PRES-293", sim_now() - before >= 16 * MS && sim_now() - before < 17 * MS);
    owner_end();
}

TEST(blanks_that_nobody_reports)
{
    owner_run(owner_create(NULL), none);
}

/* How long both waits take, at 50 Hz. */
static void lasts(UINT periods)
{
    D3DKMT_WAITFORVERTICALBLANKEVENT plain = {.hAdapter = owner.gpu.adapter};
    D3DKMT_WAITFORVERTICALBLANKEVENT2 args;
    uint64_t before = sim_now();

    memset(&args, 0, sizeof(args));
    args.hAdapter = owner.gpu.adapter;
    CHECK_RULE("PRES-293", IS(D3DKMTWaitForVerticalBlankEvent(&plain), STATUS_SUCCESS) &&
                               sim_now() - before >= 20 * MS * periods &&
                               sim_now() - before < 20 * MS * periods + MS);
    before = sim_now();
    CHECK_RULE("PRES-293", IS(D3DKMTWaitForVerticalBlankEvent2(&args), STATUS_WAIT_0) &&
                               sim_now() - before >= 20 * MS * periods &&
                               sim_now() - before < 20 * MS * periods + MS);
}

static void while_asleep(struct probe *p)
{
    const bool forced = *(const bool *)p->user;
    UINT enables;

    owner_begin(p);
    if (forced) {
        display_indicate(p, 0, false);
        CHECK(NT_SUCCESS(display_force(display_modes(p), DISPLAY_CHILD, true)));
    }
    full_engine.silent = true;
    lasts(2);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    enables = full_engine.enables;
    lasts(1);
    CHECK_RULE("PRES-293", full_engine.enables == enables && !full_engine.enabled);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    lasts(2);
    owner_end();
}

/* With a monitor, whose display is off meanwhile; and with none, whose path stays. */
TEST(blanks_while_the_adapter_sleeps)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = owner_create(NULL);
        bool forced = i != 0;

        display.target_mode[0] = full_target_mode(1024, 768, 50);
        display.target_mode[0].WireFormatAndPreference.Preference = D3DKMDT_MP_PREFERRED;
        p->child[0].ChildDeviceType = TypeVideoOutput;
        p->child[0].ChildUid = DISPLAY_CHILD;
        p->child[0].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
        p->child[0].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_HD15;
        p->child[0].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
        p->user = &forced;
        owner_run(p, while_asleep);
    }
}

/* ---- the scan line ---- */

static DXGKARG_GETSCANLINE answer;
static NTSTATUS answer_status;
static UINT asked, asked_target;
static BOOLEAN preset;

static void answer_line(struct probe *p, struct probe_call *call)
{
    DXGKARG_GETSCANLINE *args = (DXGKARG_GETSCANLINE *)(uintptr_t)call->arg[1];

    (void)p;
    asked++;
    asked_target = args->VidPnTargetId;
    preset = args->InVerticalBlank == FALSE && args->ScanLine == 0;
    args->InVerticalBlank = answer.InVerticalBlank;
    args->ScanLine = answer.ScanLine;
    call->answered = true;
    call->result = (uint64_t)answer_status;
}

static D3DKMT_GETSCANLINE line_of(UINT source, NTSTATUS wanted)
{
    D3DKMT_GETSCANLINE args = {.hAdapter = owner.gpu.adapter, .VidPnSourceId = source};

    CHECK_RULE("PRES-295", IS(D3DKMTGetScanLine(&args), wanted));
    return args;
}

static void lines(struct probe *p)
{
    D3DKMT_GETSCANLINE got;

    owner_begin(p);
    CHECK_RULE("PRES-178/a", asked == 0);
    answer = (DXGKARG_GETSCANLINE){.InVerticalBlank = TRUE, .ScanLine = 797};
    got = line_of(0, STATUS_SUCCESS);
    CHECK_RULE("PRES-294", got.InVerticalBlank == TRUE && got.ScanLine == 797);
    CHECK_RULE("PRES-177", asked == 1 && asked_target == DISPLAY_CHILD);
    CHECK_RULE("PRES-178/a", preset);
    CHECK_RULE("PRES-178/b", probe_rule(p, "PRES-178") == 0);
    answer.ScanLine = 798; /* as many as there are */
    (void)line_of(0, STATUS_SUCCESS);
    CHECK_RULE("PRES-178/b", probe_rule(p, "PRES-178") == 1);
    (void)line_of(1, STATUS_INVALID_PARAMETER);
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    asked = 0;
    (void)line_of(0, STATUS_INVALID_PARAMETER);
    CHECK_RULE("PRES-178/a", asked == 0); /* the path is off */
    owner_end();
}

/* 798 lines, 768 of them active, in a period of 16.667 ms. */
static void simulated(struct probe *p)
{
    D3DKMT_WAITFORVERTICALBLANKEVENT wait = {.hAdapter = 0};
    D3DKMT_GETSCANLINE got;

    owner_begin(p);
    wait.hAdapter = owner.gpu.adapter;
    answer_status = STATUS_NO_MEMORY;
    CHECK(IS(D3DKMTWaitForVerticalBlankEvent(&wait), STATUS_SUCCESS));
    probe_sleep(8 * MS);
    got = line_of(0, STATUS_SUCCESS);
    CHECK_RULE("PRES-295", probe_rule(p, "PRES-295") == 1);
    CHECK_RULE("PRES-196", got.ScanLine >= 382 && got.ScanLine <= 384 && !got.InVerticalBlank);
    probe_sleep(8 * MS + MS / 5);
    got = line_of(0, STATUS_SUCCESS);
    CHECK_RULE("PRES-196", got.ScanLine >= 768 && got.ScanLine < 798 && got.InVerticalBlank);
    owner_end();
}

static struct probe *with_lines(void)
{
    struct probe *p = owner_create(NULL);

    asked = 0;
    answer_status = STATUS_SUCCESS;
    p->before[PROBE_GetScanLine] = answer_line;
    return p;
}

TEST(the_line_that_the_driver_tells)
{
    owner_run(with_lines(), lines);
}

TEST(a_simulated_line)
{
    owner_run(with_lines(), simulated);
}

/* ---- what is counted ---- */

static D3DKMT_GETDEVICESTATE state(D3DKMT_HANDLE device, D3DKMT_DEVICESTATE_TYPE type,
                                   NTSTATUS wanted)
{
    D3DKMT_GETDEVICESTATE args;

    memset(&args, 0, sizeof(args));
    args.hDevice = device;
    args.StateType = type;
    CHECK_RULE("PRES-297", IS(D3DKMTGetDeviceState(&args), wanted));
    return args;
}

static D3DKMT_PRESENT_STATS statistics(D3DKMT_HANDLE device)
{
    return state(device, D3DKMT_DEVICESTATE_PRESENT, STATUS_SUCCESS).PresentState.PresentStats;
}

static void counts(struct probe *p)
{
    D3DKMT_WAITFORVERTICALBLANKEVENT wait = {.hAdapter = 0};
    D3DKMT_PRESENT_STATS before, after;

    owner_begin(p);
    wait.hAdapter = owner.gpu.adapter;
    owner_show(owner.primary[0]);
    before = statistics(owner.gpu.device);
    CHECK_RULE("PRES-296", before.PresentCount == 0 && before.SyncRefreshCount == 0 &&
                               before.SyncQPCTime.QuadPart == 0);
    for (unsigned i = 0; i < 3; i++)
        CHECK(IS(owner_flip(owner.primary[(i + 1) % 3]), STATUS_SUCCESS));
    probe_sleep(60 * MS);
    after = statistics(owner.gpu.device);
    CHECK_RULE("PRES-296", after.PresentCount == 3 && after.PresentRefreshCount == 3 &&
                               after.SyncRefreshCount >= 3 && after.SyncGPUTime.QuadPart == 0);
    CHECK(IS(D3DKMTWaitForVerticalBlankEvent(&wait), STATUS_SUCCESS));
    before = after;
    after = statistics(owner.gpu.device);
    CHECK_RULE("PRES-296", after.PresentRefreshCount == 3 &&
                               after.SyncRefreshCount == before.SyncRefreshCount + 1);
    CHECK_RULE("PRES-296", after.SyncQPCTime.QuadPart <= (LONGLONG)(sim_now() / 100) &&
                               after.SyncQPCTime.QuadPart + 10000 > (LONGLONG)(sim_now() / 100));
    (void)state(owner.gpu.device, D3DKMT_DEVICESTATE_PRESENT_DWM, STATUS_NOT_SUPPORTED);
    (void)state(owner.gpu.device, (D3DKMT_DEVICESTATE_TYPE)7, STATUS_INVALID_PARAMETER);
    owner_end();
}

TEST(flips_and_vertical_syncs_are_counted)
{
    owner_run(owner_create(NULL), counts);
}

static NTSTATUS limit(D3DKMT_QUEUEDLIMIT_TYPE type, UINT *value)
{
    D3DKMT_SETQUEUEDLIMIT args = {
        .hDevice = owner.gpu.device, .Type = type, .QueuedPresentLimit = *value};
    const NTSTATUS status = D3DKMTSetQueuedLimit(&args);

    *value = args.QueuedPresentLimit;
    return status;
}

static bool is_reached(void)
{
    return state(owner.gpu.device, D3DKMT_DEVICESTATE_PRESENT_QUEUE, STATUS_SUCCESS)
               .PresentQueueState.bQueuedPresentLimitReached != FALSE;
}

static bool has_limit(UINT wanted)
{
    UINT value = 99;

    return IS(limit(D3DKMT_GET_QUEUEDLIMIT_PRESENT, &value), STATUS_SUCCESS) && value == wanted;
}

static void limited(struct probe *p)
{
    UINT value = 64;
    uint64_t before;

    owner_begin(p);
    owner_show(owner.primary[0]);
    CHECK_RULE("PRES-290", has_limit(3));
    CHECK_RULE("PRES-290",
               IS(limit(D3DKMT_SET_QUEUEDLIMIT_PRESENT, &value), STATUS_SUCCESS) && has_limit(64));
    value = 65;
    CHECK_RULE("PRES-290",
               IS(limit(D3DKMT_SET_QUEUEDLIMIT_PRESENT, &value), STATUS_INVALID_PARAMETER));
    value = 2;
    CHECK_RULE("PRES-290", IS(limit((D3DKMT_QUEUEDLIMIT_TYPE)3, &value), STATUS_INVALID_PARAMETER));
    value = 0;
    CHECK_RULE("PRES-290",
               IS(limit(D3DKMT_SET_QUEUEDLIMIT_PRESENT, &value), STATUS_SUCCESS) && has_limit(3));
    value = 1;
    CHECK(IS(limit(D3DKMT_SET_QUEUEDLIMIT_PRESENT, &value), STATUS_SUCCESS));
    CHECK_RULE("PRES-297", !is_reached());
    before = sim_now();
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    CHECK_RULE("PRES-290", sim_now() - before < MS);
    CHECK_RULE("PRES-297", is_reached());
    CHECK(IS(owner_flip(owner.primary[2]), STATUS_SUCCESS)); /* it waits for a vertical sync */
    CHECK_RULE("PRES-290", sim_now() - before > 10 * MS && full_engine.reports > 0);
    probe_sleep(40 * MS);
    CHECK_RULE("PRES-297", !is_reached());
    owner_end();
}

TEST(how_many_presents_are_queued)
{
    owner_run(owner_create(NULL), limited);
}

/* ---- other forms of owning ---- */

static bool owned(void)
{
    const D3DKMT_CHECKVIDPNEXCLUSIVEOWNERSHIP args = {.hAdapter = owner.gpu.adapter};

    return IS(D3DKMTCheckVidPnExclusiveOwnership(&args), STATUS_GRAPHICS_PRESENT_OCCLUDED);
}

static void forms(struct probe *p)
{
    const D3DKMT_VIDPNSOURCEOWNER_TYPE type = D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE;
    const UINT source = 0;
    D3DKMT_SETVIDPNSOURCEOWNER2 args;

    owner_begin(p);
    memset(&args, 0, sizeof(args));
    args.Version1.Version0 = (D3DKMT_SETVIDPNSOURCEOWNER){owner.gpu.device, &type, &source, 1};
    args.Version1.Flags.UseNtHandles = 1;
    CHECK_RULE("PRES-270", IS(D3DKMTSetVidPnSourceOwner1(&args.Version1), STATUS_NOT_SUPPORTED));
    CHECK_RULE("PRES-270", IS(D3DKMTSetVidPnSourceOwner2(&args), STATUS_NOT_SUPPORTED) && !owned());
    args.Version1.Flags.Value = 3;
    CHECK_RULE("PRES-270", IS(D3DKMTSetVidPnSourceOwner1(&args.Version1), STATUS_SUCCESS));
    CHECK_RULE("PRES-270", owned());
    CHECK_RULE("PRES-271", IS(D3DKMTReleaseProcessVidPnSourceOwners((HANDLE)(uintptr_t)77),
                              STATUS_INVALID_HANDLE));
    CHECK_RULE("PRES-271", owned());
    CHECK_RULE("PRES-271",
               IS(D3DKMTReleaseProcessVidPnSourceOwners(NtCurrentProcess()), STATUS_SUCCESS));
    CHECK_RULE("PRES-271", !owned());
    CHECK_RULE("PRES-270", IS(D3DKMTSetVidPnSourceOwner2(&args), STATUS_SUCCESS) && owned());
    owner_end();
}

TEST(owners_by_newer_forms)
{
    owner_run(owner_create(NULL), forms);
}
