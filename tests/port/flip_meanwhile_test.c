/* SPDX-License-Identifier: MIT */
/* What changes while a client is inside a call that shows something: the mode, and who owns the source. */
#include "modes/display_worker.h"
#include "nt/base/current.h"
#include "port/support/overlays.h"
#include "port/support/owner.h"
#include "screens/scanouts.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 UINT64_C(1000000)
#define LIMIT              3u /* of queued presents, unless a client sets another (PRES-288) */

/* ---- one call beside another ---- */

static bool done;
static NTSTATUS status;

static void beside(struct probe *p, void (*body)(struct probe *p))
{
    done = false;
    sim_thread_release(probe_thread(p, nt_process_current(), "beside", body));
}

static void await_done(void)
{
    while (!done)
        probe_sleep(MS);
}

static NTSTATUS own(D3DKMT_VIDPNSOURCEOWNER_TYPE type)
{
    return owner_own(owner.gpu.device, type, 0);
}

/* Where the address calls from `first` on were flips. */
static UINT flips_from(UINT first)
{
    UINT count = 0;

    for (UINT i = first; i < full_seen.addresses; i++)
        count += (full_seen.address[i % FULL_CALLS].flags & 1) == 0;
    return count;
}

/* ---- a present that waits for room ---- */

static void flip_beside(struct probe *p)
{
    (void)p;
    status = owner_flip(owner.primary[1]);
    done = true;
}

/* One flip is with the driver, and two wait; the next waits inside the call. */
static void begin_waiting(struct probe *p)
{
    owner_begin(p);
    owner_show(owner.primary[0]);
    full_engine.stuck = true;
    for (unsigned i = 0; i < LIMIT; i++)
        CHECK(IS(owner_flip(owner.primary[(i + 1) % 3]), STATUS_SUCCESS));
    beside(p, flip_beside);
    probe_sleep(5 * MS);
    CHECK(!done);
}

static void go_on(void)
{
    full_engine.stuck = false;
    await_done();
    probe_sleep(100 * MS);
}

static void unchanged(struct probe *p)
{
    UINT calls;

    begin_waiting(p);
    calls = full_seen.addresses;
    go_on();
    CHECK_RULE("PRES-288", IS(status, STATUS_SUCCESS) && flips_from(calls) == LIMIT);
    owner_end();
}

TEST(a_present_that_has_waited_for_room)
{
    owner_run(owner_create(NULL), unchanged);
}

static void another_mode(struct probe *p)
{
    UINT calls;

    begin_waiting(p);
    calls = full_seen.addresses;
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0)));
    go_on();
    CHECK_RULE("PRES-088",
               IS(status, STATUS_GRAPHICS_PRESENT_MODE_CHANGED) && flips_from(calls) == 0);
    owner_end();
}

TEST(the_mode_changes_while_a_present_waits)
{
    owner_run(owner_create(NULL), another_mode);
}

/* Off and on: the mode is that for which the primary was made, all the time. */
static void same_mode(struct probe *p)
{
    begin_waiting(p);
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, true)));
    go_on();
    CHECK_RULE("PRES-088", IS(status, STATUS_SUCCESS));
    CHECK_RULE("PRES-248", scanouts_flips(port_display_scanouts(p->adapter[0]), 0) == LIMIT + 1);
    owner_end();
}

TEST(the_display_is_off_while_a_present_waits)
{
    owner_run(owner_create(NULL), same_mode);
}

/* A present wakes the adapter, which lights its display again. */
static void while_asleep(struct probe *p)
{
    const struct full_address *last;

    owner_begin(p);
    owner_show(owner.primary[0]);
    last = owner_last();
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK_RULE("PRES-252", IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-252", owner_last()->allocation != last->allocation &&
                               scanouts_flips(port_display_scanouts(p->adapter[0]), 0) == 1);
    owner_end();
}

TEST(a_present_while_the_adapter_sleeps)
{
    owner_run(owner_create(NULL), while_asleep);
}

/* The path goes, and another one comes. */
static void without_path(struct probe *p)
{
    UINT calls;

    begin_waiting(p);
    calls = full_seen.addresses;
    display_indicate(p, 0, false);
    go_on();
    CHECK_RULE("PRES-088", IS(status, STATUS_GRAPHICS_PRESENT_MODE_CHANGED));
    display_indicate(p, 0, true);
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-088", full_seen.addresses == calls + 1 && flips_from(calls) == 0 &&
                               owner_last()->allocation == full_seen.primary);
    owner_end();
}

TEST(the_monitor_leaves_while_a_present_waits)
{
    owner_run(owner_create(NULL), without_path);
}

static void reset_meanwhile(struct probe *p)
{
    UINT calls;

    begin_waiting(p);
    calls = full_seen.addresses;
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
    go_on();
    CHECK_RULE("PRES-254", IS(status, STATUS_DEVICE_REMOVED) && flips_from(calls) == 0);
    owner_end();
}

TEST(the_adapter_is_reset_while_a_present_waits)
{
    owner_run(owner_create(NULL), reset_meanwhile);
}

static void another_owner(struct probe *p)
{
    D3DKMT_CREATEDEVICE other = {.hAdapter = 0};
    UINT calls;

    begin_waiting(p);
    calls = full_seen.addresses;
    other.hAdapter = owner.gpu.adapter;
    CHECK(NT_SUCCESS(D3DKMTCreateDevice(&other)));
    CHECK(NT_SUCCESS(own(D3DKMT_VIDPNSOURCEOWNER_UNOWNED)));
    CHECK(NT_SUCCESS(owner_own(other.hDevice, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0)));
    go_on();
    CHECK_RULE("PRES-281", IS(status, STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER) &&
                               flips_from(calls) == LIMIT - 1);
    owner_end();
}

TEST(the_owner_changes_while_a_present_waits)
{
    owner_run(owner_create(NULL), another_owner);
}

static void owned_otherwise(struct probe *p)
{
    begin_waiting(p);
    CHECK(NT_SUCCESS(own(D3DKMT_VIDPNSOURCEOWNER_UNOWNED)));
    CHECK(NT_SUCCESS(own(D3DKMT_VIDPNSOURCEOWNER_SHARED)));
    go_on();
    CHECK_RULE("PRES-281", IS(status, STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER));
    owner_end();
}

TEST(the_owner_shares_while_a_present_waits)
{
    owner_run(owner_create(NULL), owned_otherwise);
}

static void present_beside(struct probe *p)
{
    const struct plane_wish planes[] = {overlays_of(0), overlays_of(1)};

    (void)p;
    status = overlays_present(2, planes);
    done = true;
}

static void planes_wait(struct probe *p)
{
    const struct plane_wish planes[] = {overlays_of(0), overlays_of(1)};
    UINT calls, info;
    BOOL supported;

    overlays_begin(p);
    CHECK(NT_SUCCESS(overlays_check(2, planes, &supported, &info)));
    full_engine.silent = true;
    for (unsigned i = 0; i < LIMIT; i++)
        CHECK(IS(overlays_present(2, planes), STATUS_SUCCESS));
    beside(p, present_beside);
    probe_sleep(5 * MS);
    CHECK(!done);
    calls = overlays_seen.calls;
    CHECK(NT_SUCCESS(flips_own(D3DKMT_VIDPNSOURCEOWNER_UNOWNED, 0)));
    full_engine.silent = false;
    await_done();
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-303", IS(status, STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER) &&
                               overlays_seen.calls == calls + LIMIT - 1);
    flips_end();
}

TEST(the_owner_changes_while_planes_wait)
{
    flips_run(overlays_create(NULL, 3), planes_wait);
}

static void limited(struct probe *p)
{
    const struct plane_wish planes[] = {overlays_of(0), overlays_of(1)};
    D3DKMT_SETQUEUEDLIMIT limit = {.Type = D3DKMT_SET_QUEUEDLIMIT_PRESENT, .QueuedPresentLimit = 1};
    UINT info;
    BOOL supported;

    overlays_begin(p);
    CHECK(NT_SUCCESS(overlays_check(2, planes, &supported, &info)));
    limit.hDevice = flips.gpu.device;
    CHECK(IS(D3DKMTSetQueuedLimit(&limit), STATUS_SUCCESS));
    full_engine.silent = true;
    CHECK(IS(overlays_present(2, planes), STATUS_SUCCESS));
    beside(p, present_beside);
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-290", !done);
    full_engine.silent = false;
    await_done();
    CHECK(IS(status, STATUS_SUCCESS));
    flips_end();
}

TEST(planes_wait_for_the_limit_of_their_device)
{
    flips_run(overlays_create(NULL, 3), limited);
}

/* ---- D3DKMTSetDisplayMode behind another request ---- */

static NTSTATUS wait_there(struct modes *modes, void *arg)
{
    (void)modes;
    (void)arg;
    probe_sleep(10 * MS);
    return STATUS_SUCCESS;
}

/* The display worker, so that what follows is queued. */
static void occupy(struct probe *p)
{
    CHECK(NT_SUCCESS(display_do(display_modes(p), wait_there, NULL)));
}

static void ask_beside(struct probe *p)
{
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0)));
    done = true;
}

/* The mode is that of the primary when it is asked for, and another one when its turn comes. */
static void mode_behind(struct probe *p)
{
    UINT calls;

    owner_begin(p);
    owner_show(owner.primary[0]);
    calls = full_seen.addresses;
    beside(p, occupy);
    probe_sleep(MS);
    beside(p, ask_beside);
    probe_sleep(MS);
    CHECK(!done);
    CHECK_RULE("PRES-277",
               IS(owner_set_mode(owner.primary[1]), STATUS_GRAPHICS_PRESENT_MODE_CHANGED));
    CHECK_RULE("PRES-088", done && full_seen.addresses == calls + 1); /* that of the other mode */
    owner_end();
}

TEST(the_mode_changes_before_it_is_shown)
{
    owner_run(owner_create(NULL), mode_behind);
}

static void release_beside(struct probe *p)
{
    (void)p;
    probe_sleep(2 * MS);
    status = own(D3DKMT_VIDPNSOURCEOWNER_UNOWNED);
    done = true;
}

static void owner_behind(struct probe *p)
{
    UINT calls;

    owner_begin(p);
    owner_show(owner.primary[0]);
    calls = full_seen.addresses;
    beside(p, occupy);
    beside(p, release_beside);
    probe_sleep(MS);
    CHECK_RULE("PRES-275",
               IS(owner_set_mode(owner.primary[1]), STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER) &&
                   full_seen.addresses == calls);
    CHECK(done && IS(status, STATUS_SUCCESS));
    owner_end();
}

TEST(the_owner_changes_before_it_is_shown)
{
    owner_run(owner_create(NULL), owner_behind);
}

/* ---- a flip on its way to the driver ---- */

/* Vertical syncs are to be enabled first, which waits for the change of mode, and that for the GPU. */
static void on_its_way(struct probe *p)
{
    struct probe_gpu other;
    UINT calls, enables;

    owner_begin(p);
    owner_show(owner.primary[0]);
    CHECK(NT_SUCCESS(probe_gpu_begin(&other)));
    probe_sleep(100 * MS);
    calls = full_seen.addresses;
    enables = full_engine.enables;
    CHECK(!full_engine.enabled);
    probe_device_packet_ns = 20 * MS;
    CHECK(NT_SUCCESS(probe_gpu_submit(&other)));
    probe_sleep(MS);
    probe_device_packet_ns = 1000;
    beside(p, ask_beside);
    probe_sleep(5 * MS);
    CHECK(!done && display_seen.commits == 1);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    await_done();
    probe_sleep(20 * MS);
    CHECK(full_engine.enables == enables + 1);
    CHECK_RULE("PRES-088", full_seen.addresses == calls + 1 && flips_from(calls) == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&other)));
    owner_end();
}

TEST(the_mode_changes_while_a_flip_is_on_its_way)
{
    owner_run(owner_create(NULL), on_its_way);
}

static void power_beside(struct probe *p)
{
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, true)));
    done = true;
}

/* A flip that waits until the display has been off and on. */
static void flip_around(struct probe *p, struct probe_gpu *other)
{
    owner_begin(p);
    owner_show(owner.primary[0]);
    CHECK(NT_SUCCESS(probe_gpu_begin(other)));
    probe_sleep(100 * MS);
    CHECK(!full_engine.enabled);
    probe_device_packet_ns = 20 * MS;
    CHECK(NT_SUCCESS(probe_gpu_submit(other)));
    probe_sleep(MS);
    probe_device_packet_ns = 1000;
    beside(p, power_beside);
    probe_sleep(5 * MS);
    CHECK(!done && display_seen.commits == 1);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
}

static void lit_again(struct probe *p)
{
    const struct full_address *first;
    struct probe_gpu other;

    flip_around(p, &other);
    first = owner_last();
    await_done();
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-248", scanouts_flips(port_display_scanouts(p->adapter[0]), 0) == 1 &&
                               owner_last()->allocation != first->allocation);
    CHECK(NT_SUCCESS(probe_gpu_end(&other)));
    owner_end();
}

TEST(the_display_is_off_while_a_flip_is_on_its_way)
{
    owner_run(owner_create(NULL), lit_again);
}

static void device_ends(struct probe *p)
{
    const struct full_address *first;
    struct probe_gpu other;

    flip_around(p, &other);
    first = owner_last();
    probe_sleep(MS);
    CHECK(NT_SUCCESS(probe_gpu_end(&owner.gpu)));
    await_done();
    probe_sleep(100 * MS);
    for (UINT i = 0; i < full_seen.addresses; i++)
        CHECK_RULE("PRES-259", full_seen.address[i].allocation == first->allocation ||
                                   full_seen.address[i].allocation == full_seen.primary);
    CHECK_RULE("PRES-259", owner_last()->allocation == full_seen.primary);
    CHECK(NT_SUCCESS(probe_gpu_end(&other)));
    full_engine_stop();
}

TEST(a_device_ends_while_its_flip_is_on_its_way)
{
    owner_run(owner_create(NULL), device_ends);
}
