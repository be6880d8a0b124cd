/* SPDX-License-Identifier: MIT */
/* Flips whose end does not come by itself: no vertical sync, a device that ends, another mode. */
#include "nt/base/current.h"
#include "port/support/overlays.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 UINT64_C(1000000)

static bool done;
static NTSTATUS last_status;

static void start(struct probe *p, const char *name, void (*body)(struct probe *p))
{
    done = false;
    sim_thread_release(probe_thread(p, nt_process_current(), name, body));
}

static bool is_done_within(uint64_t ns)
{
    for (uint64_t end = sim_now() + ns; !done && sim_now() < end;)
        probe_sleep(MS);
    return done;
}

/* ---- no vertical sync comes ---- */

static void present_on(struct probe *p)
{
    (void)p;
    for (unsigned i = 0; i < 5; i++)
        last_status = flips_flip_at(flips.primary[i % 3], D3DDDI_FLIPINTERVAL_TWO);
    done = true;
}

static void count_in_vain(struct probe *p)
{
    flips_begin(p);
    flips_show_first();
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    CHECK(flips_complete(p) == 1);
    full_engine.silent = true;
    start(p, "presents", present_on);
    CHECK_RULE("PRES-327", is_done_within(30 * PROBE_SECOND) && probe_rule(p, "PRES-327") >= 1);
    CHECK_RULE("PRES-256", probe_rule(p, "PRES-256") >= 1);
    full_engine.silent = false;
    flips_end();
}

TEST(intervals_of_vertical_syncs_that_do_not_come)
{
    struct probe *p = flips_create(NULL);

    p->caps.FlipCaps.FlipInterval = 1;
    flips_run(p, count_in_vain);
}

/* They come late: it is still they that are counted. */
static void count_slowly(struct probe *p)
{
    UINT calls;

    flips_begin(p);
    flips_show_first();
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    calls = full_seen.addresses;
    full_engine.silent = true;
    CHECK(IS(flips_flip_at(flips.primary[2], D3DDDI_FLIPINTERVAL_TWO), STATUS_SUCCESS));
    probe_sleep(1800 * MS);
    CHECK_RULE("PRES-146", full_seen.addresses == calls);
    full_engine.silent = false;
    probe_sleep(60 * MS);
    CHECK_RULE("PRES-146", full_seen.addresses == calls + 1);
    flips_end();
}

TEST(intervals_of_vertical_syncs_that_come_late)
{
    struct probe *p = flips_create(NULL);

    p->caps.FlipCaps.FlipInterval = 1;
    flips_run(p, count_slowly);
}

static void pull_out(struct probe *p)
{
    probe_sleep(100 * MS);
    CHECK(!done);
    CHECK(NT_SUCCESS(port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, true)));
}

static void presents_until_gone(struct probe *p)
{
    flips_begin(p);
    flips_show_first();
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    full_engine.silent = true;
    start(p, "presents", present_on);
    sim_thread_release(probe_thread(p, nt_process_system(), "pulls out", pull_out));
    CHECK_RULE("PRES-288", is_done_within(20 * PROBE_SECOND) && !NT_SUCCESS(last_status));
    full_engine_stop();
    (void)probe_gpu_end(&flips.gpu);
}

TEST(intervals_of_a_device_that_is_gone)
{
    struct probe *p = flips_create(NULL);

    p->caps.FlipCaps.FlipInterval = 1;
    flips_run(p, presents_until_gone);
}

/* ---- a device ends behind flips that wait for ever ---- */

static struct probe_gpu other;
static D3DKMT_HANDLE others_primary, fence;

/* `flips` and its calls are of one device at a time. */
static void swap(void)
{
    const struct probe_gpu one = flips.gpu;

    flips.gpu = other;
    other = one;
}

static void wait_on_gpu(void)
{
    static const UINT64 value = 1;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create = {.hDevice = flips.gpu.device,
                                                  .Info.Type = D3DDDI_MONITORED_FENCE};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU wait = {.hContext = flips.gpu.context,
                                                       .ObjectCount = 1,
                                                       .ObjectHandleArray = &fence,
                                                       .MonitoredFenceValueArray = &value};

    CHECK(NT_SUCCESS(D3DKMTCreateSynchronizationObject2(&create)));
    fence = create.hSyncObject;
    CHECK(NT_SUCCESS(D3DKMTWaitForSynchronizationObjectFromGpu(&wait)));
}

static void signal_it(D3DKMT_HANDLE device)
{
    static const UINT64 value = 1;
    const D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU signal = {
        .hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &fence, .FenceValueArray = &value};

    CHECK(NT_SUCCESS(D3DKMTSignalSynchronizationObjectFromCpu(&signal)));
}

static void end_first(struct probe *p)
{
    (void)p;
    last_status = probe_gpu_end(&flips.gpu);
    done = true;
}

static void leave_behind(struct probe *p)
{
    const HANDLE shared = full_seen.primary;
    const D3DKMT_SETVIDPNSOURCEOWNER nothing = {.hDevice = 0};
    D3DKMT_SETVIDPNSOURCEOWNER release = nothing;

    flips_begin(p);
    flips_show_first();
    release.hDevice = flips.gpu.device;
    CHECK(NT_SUCCESS(D3DKMTSetVidPnSourceOwner(&release)));
    CHECK(NT_SUCCESS(probe_gpu_begin(&other)));
    swap();
    CHECK(NT_SUCCESS(flips_create_primary(0, &others_primary)));
    CHECK(NT_SUCCESS(flips_own(D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0)));
    wait_on_gpu();
    CHECK(NT_SUCCESS(probe_gpu_submit(&flips.gpu)));
    CHECK(IS(flips_flip(others_primary), STATUS_SUCCESS));
    swap();
    start(p, "ends", end_first);
    CHECK_RULE("PRES-259", is_done_within(10 * PROBE_SECOND) && NT_SUCCESS(last_status));
    CHECK_RULE("PRES-259", flips_last()->allocation == shared);
    swap();
    signal_it(flips.gpu.device);
    probe_sleep(40 * MS);
    CHECK(flips_last()->allocation != shared); /* the other one's flip, at its turn */
    flips_end();
}

TEST(a_device_ends_before_flips_that_wait)
{
    flips_run(flips_create(NULL), leave_behind);
}

/* ---- the shared primary of the mode before ---- */

static HANDLE before;
static bool ending, ended;
static UINT wrong_pictures;

static void destroy_slowly(struct probe *p, struct probe_call *call)
{
    const DXGKARG_DESTROYALLOCATION *args = (const DXGKARG_DESTROYALLOCATION *)(uintptr_t)
                                                call->arg[1];
    struct port_scanout seen;

    if (!args->NumAllocations || args->pAllocationList[0] != before)
        return;
    seen = port_display_scanout(p->adapter[0], 0);
    wrong_pictures += seen.width != 800 || seen.height != 600;
    ending = true;
    probe_sleep(5 * MS);
    ended = true;
}

static void change_mode(struct probe *p)
{
    last_status = display_ask_mode(p, 0, 800, 600, 0);
    done = true;
}

static void ask_meanwhile(struct probe *p)
{
    D3DKMT_GETSHAREDPRIMARYHANDLE ask = {0};

    flips_begin(p);
    before = full_seen.primary;
    ending = ended = false;
    wrong_pictures = 0;
    ask.hAdapter = flips.gpu.adapter;
    start(p, "changes", change_mode);
    while (!ending)
        probe_sleep(MS / 10);
    CHECK_RULE("PRES-278", IS(D3DKMTGetSharedPrimaryHandle(&ask), STATUS_SUCCESS) && !ended);
    CHECK_RULE("PRES-278", ask.hSharedPrimary != 0);
    CHECK(is_done_within(PROBE_SECOND) && IS(last_status, STATUS_SUCCESS));
    CHECK_RULE("PRES-154", wrong_pictures == 0 && ended);
    flips_end();
}

TEST(the_shared_primary_of_the_mode_before_ends)
{
    struct probe *p = flips_create(NULL);

    p->before[PROBE_DestroyAllocation] = destroy_slowly;
    flips_run(p, ask_meanwhile);
}

/* ---- whose picture is it ---- */

static void end_stranger(struct probe *p)
{
    const HANDLE shared = full_seen.primary;
    UINT calls;

    flips_begin(p);
    flips_show_first();
    CHECK(NT_SUCCESS(probe_gpu_begin(&other)));
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(MS); /* the driver has it */
    calls = full_seen.addresses;
    CHECK(NT_SUCCESS(probe_gpu_end(&other)));
    probe_sleep(60 * MS);
    CHECK_RULE("PRES-259", full_seen.addresses == calls && flips_last()->allocation != shared);
    CHECK(flips_complete(p) == 1);
    flips_end();
}

TEST(a_device_that_shows_nothing_ends)
{
    flips_run(flips_create(NULL), end_stranger);
}

static bool controlling;

static void control_slowly(struct probe *p, struct probe_call *call)
{
    (void)p;
    full_engine.enabled = (call->arg[2] & 0xFF) != 0;
    controlling = true;
    probe_sleep(20 * MS);
    call->answered = true;
}

/* Its first flip is on its way to the driver, and nothing of it was shown before. */
static void end_early(struct probe *p)
{
    const HANDLE shared = full_seen.primary;
    const UINT calls = full_seen.addresses;

    flips_begin(p);
    CHECK(NT_SUCCESS(flips_own(D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0)));
    controlling = false;
    p->before[PROBE_ControlInterrupt] = control_slowly;
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    while (!controlling)
        probe_sleep(MS / 10);
    CHECK(full_seen.addresses == calls);
    CHECK(NT_SUCCESS(probe_gpu_end(&flips.gpu)));
    CHECK_RULE("PRES-259", full_seen.addresses > calls && flips_last()->allocation == shared);
    full_engine_stop();
}

TEST(a_device_ends_while_its_first_flip_begins)
{
    flips_run(flips_create(NULL), end_early);
}

/* ---- the line of a source that gets its first path ---- */

static bool asked, asks_on;

static void answer_slowly(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    asked = true;
    probe_sleep(2 * MS);
    asks_on = false;
}

static void connect(struct probe *p)
{
    display_indicate(p, 0, true);
    done = true;
}

static void look_for_line(struct probe *p)
{
    D3DKMT_GETSCANLINE line = {0};

    asked = false;
    asks_on = true;
    CHECK(NT_SUCCESS(probe_gpu_begin(&flips.gpu)));
    line.hAdapter = flips.gpu.adapter;
    CHECK_RULE("PRES-295", IS(D3DKMTGetScanLine(&line), STATUS_INVALID_PARAMETER));
    start(p, "connects", connect);
    while (!asked)
        probe_sleep(MS / 10);
    CHECK_RULE("PRES-295", IS(D3DKMTGetScanLine(&line), STATUS_SUCCESS) && line.ScanLine < 798);
    CHECK(asks_on || done);
    CHECK(is_done_within(PROBE_SECOND));
    CHECK(NT_SUCCESS(probe_gpu_end(&flips.gpu)));
}

TEST(a_line_of_the_first_path)
{
    struct probe *p = flips_create(NULL);

    display.connected[0] = false;
    probe_set_entry(p, PROBE_GetScanLine, false);
    p->before[PROBE_QueryVidPnHWCapability] = answer_slowly;
    flips_run(p, look_for_line);
}

/* ---- the same with planes ---- */

static struct plane_wish pair[2];

/* Layers 0 and 1, and the driver has said yes. */
static void ask_pair(void)
{
    BOOL supported = FALSE;
    UINT info;

    pair[0] = overlays_of(0);
    pair[1] = overlays_of(1);
    CHECK(IS(overlays_check(2, pair, &supported, &info), STATUS_SUCCESS) && supported);
}

static void present_planes_on(struct probe *p)
{
    (void)p;
    for (unsigned i = 0; i < 5; i++) {
        pair[1].interval = D3DDDI_FLIPINTERVAL_TWO;
        pair[1].primary = 1 + i % 2;
        last_status = overlays_present(1, &pair[1]);
    }
    done = true;
}

static void count_planes_in_vain(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    CHECK(flips_complete(p) == 2);
    full_engine.silent = true;
    start(p, "presents", present_planes_on);
    CHECK_RULE("PRES-327", is_done_within(60 * PROBE_SECOND) && probe_rule(p, "PRES-327") >= 1);
    full_engine.silent = false;
    flips_end();
}

TEST(intervals_of_planes_without_vertical_syncs)
{
    struct probe *p = overlays_create(NULL, 3);

    p->caps.FlipCaps.FlipInterval = 1;
    flips_run(p, count_planes_in_vain);
}

static void end_stranger_of_planes(struct probe *p)
{
    size_t calls;

    overlays_begin(p);
    ask_pair();
    CHECK(NT_SUCCESS(probe_gpu_begin(&other)));
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(MS); /* the driver has them */
    calls = probe_count(p, PROBE_SetVidPnSourceAddress);
    CHECK(NT_SUCCESS(probe_gpu_end(&other)));
    probe_sleep(60 * MS);
    CHECK_RULE("PRES-259", probe_count(p, PROBE_SetVidPnSourceAddress) == calls);
    CHECK(flips_complete(p) == 2);
    flips_end();
}

TEST(a_device_that_shows_no_plane_ends)
{
    flips_run(overlays_create(NULL, 3), end_stranger_of_planes);
}

static void leave_behind_planes(struct probe *p)
{
    const HANDLE shared = full_seen.primary;
    D3DKMT_SETVIDPNSOURCEOWNER release = {.hDevice = 0};

    overlays_begin(p);
    release.hDevice = flips.gpu.device;
    CHECK(NT_SUCCESS(D3DKMTSetVidPnSourceOwner(&release)));
    CHECK(NT_SUCCESS(probe_gpu_begin(&other)));
    swap();
    for (unsigned i = 0; i < 3; i++)
        CHECK(NT_SUCCESS(flips_create_primary(0, &flips.primary[i])));
    CHECK(NT_SUCCESS(flips_own(D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0)));
    ask_pair();
    wait_on_gpu();
    CHECK(NT_SUCCESS(probe_gpu_submit(&flips.gpu)));
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    swap();
    start(p, "ends", end_first);
    CHECK_RULE("PRES-259", is_done_within(10 * PROBE_SECOND) && NT_SUCCESS(last_status));
    CHECK_RULE("PRES-259", flips_last()->allocation == shared && !overlays_seen.calls);
    swap();
    signal_it(flips.gpu.device);
    probe_sleep(60 * MS);
    CHECK(overlays_seen.calls == 1);
    flips_end();
}

TEST(a_device_ends_before_planes_that_wait)
{
    flips_run(overlays_create(NULL, 3), leave_behind_planes);
}
