/* SPDX-License-Identifier: MIT */
/* Flips that the GPU makes, and which it has not made when the mode changes. */
#include "nt/base/current.h"
#include "port/support/copies.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 UINT64_C(1000000)

static struct copies_client client;
static D3DKMT_HANDLE primary[3], semaphore, other_context;

static NTSTATUS flip(D3DKMT_HANDLE handle)
{
    D3DKMT_PRESENT args;

    memset(&args, 0, sizeof(args));
    args.hContext = client.context;
    args.hSource = handle;
    args.FlipInterval = D3DDDI_FLIPINTERVAL_ONE;
    args.Flags.Flip = 1;
    return D3DKMTPresent(&args);
}

/* What is queued in the context waits for the semaphore. */
static void hold_context(void)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT create;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT wait;
    D3DKMT_CREATECONTEXT other = {.EngineAffinity = 1};

    memset(&create, 0, sizeof(create));
    memset(&wait, 0, sizeof(wait));
    create.hDevice = other.hDevice = client.device;
    create.Info.Type = D3DDDI_SEMAPHORE;
    create.Info.Semaphore.MaxCount = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&other)));
    CHECK(NT_SUCCESS(D3DKMTCreateSynchronizationObject(&create)));
    other_context = other.hContext;
    semaphore = create.hSyncObject;
    wait.hContext = client.context;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray[0] = semaphore;
    CHECK(NT_SUCCESS(D3DKMTWaitForSynchronizationObject(&wait)));
}

static void let_context_go(void)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal = {.ObjectCount = 1};

    signal.ObjectHandleArray[0] = semaphore;
    signal.hContext = other_context;
    CHECK(NT_SUCCESS(D3DKMTSignalSynchronizationObject(&signal)));
}

static void begin(struct probe *p)
{
    full_engine_start(p);
    copies_begin(&client);
    for (unsigned i = 0; i < 3; i++)
        CHECK(NT_SUCCESS(copies_create_primary(&client, 0, &primary[i])));
    CHECK(NT_SUCCESS(copies_own(&client, 0)));
    CHECK(NT_SUCCESS(D3DKMTSetDisplayMode(
        &(D3DKMT_SETDISPLAYMODE){.hDevice = client.device, .hPrimaryAllocation = primary[0]})));
    full_engine_await();
}

static void end(void)
{
    probe_device_packet_ns = 1000;
    full_engine_stop();
    copies_end(&client);
}

/* ---- what others do meanwhile ---- */

static bool asked, presented;
static NTSTATUS asked_status, presented_status;

static void ask(void *arg)
{
    asked_status = display_ask_mode(arg, 0, 800, 600, 0);
    asked = true;
}

static void ask_in_background(struct probe *p)
{
    struct sim_thread *thread = sim_thread_create("mode", SIM_THREAD_KERNEL, ask, p);

    CHECK(thread != NULL);
    asked = false;
    sim_thread_release(thread);
}

static void present(struct probe *p)
{
    (void)p;
    presented_status = flip(primary[2]);
    presented = true;
}

static void present_in_background(struct probe *p)
{
    presented = false;
    sim_thread_release(probe_thread(p, nt_process_current(), "presents", present));
}

static struct probe *create(void)
{
    struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WIN7);

    p->caps.FlipCaps.FlipOnVSyncMmIo = 0;
    return p;
}

/* ---- a change of mode ---- */

static void queued(struct probe *p)
{
    begin(p);
    hold_context();
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    ask_in_background(p);
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-338/a", !asked && display_seen.commits == 1 && copies_seen.submits == 0);
    present_in_background(p);
    probe_sleep(1000 * MS);
    CHECK_RULE("PRES-338/b", !presented && copies_seen.presents == 1);
    CHECK_RULE("PRES-338/a", !asked && display_seen.commits == 1);
    let_context_go();
    copies_wait(&client);
    CHECK(copies_seen.done == 1);
    for (unsigned i = 0; i < 100 && !(asked && presented); i++)
        probe_sleep(MS);
    CHECK_RULE("PRES-338/a",
               asked && NT_SUCCESS(asked_status) && display_seen.commits == 2 &&
                   full_seen.address[full_seen.addresses - 1].allocation == full_seen.primary);
    CHECK_RULE("PRES-338/b", presented &&
                                 IS(presented_status, STATUS_GRAPHICS_PRESENT_MODE_CHANGED) &&
                                 copies_seen.presents == 1 && copies_seen.submits == 1);
    CHECK_RULE("PRES-338/a",
               full_engine.pending == full_seen.address[full_seen.addresses - 1].address);
    CHECK(probe_rule(p, "PRES-338") == 0 && probe_rule(p, "PRES-143") == 0);
    end();
}

TEST(a_change_of_mode_waits_for_flips_of_the_gpu)
{
    copies_run(create(), queued);
}

/* What waits for ever does not hold the mode, and does nothing when its turn comes after all. */
static void for_ever(struct probe *p)
{
    UINT calls;

    begin(p);
    hold_context();
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    ask_in_background(p);
    probe_sleep(1900 * MS);
    CHECK_RULE("PRES-338/c", !asked && probe_rule(p, "PRES-338") == 0);
    probe_sleep(200 * MS);
    CHECK_RULE("PRES-338/c", asked && NT_SUCCESS(asked_status) && display_seen.commits == 2 &&
                                 probe_rule(p, "PRES-338") == 1);
    calls = full_seen.addresses;
    let_context_go();
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-338/c", copies_seen.submits == 0 && full_seen.addresses == calls &&
                                 full_engine.pending == full_seen.address[calls - 1].address);
    CHECK_RULE("PRES-338/c", IS(flip(primary[2]), STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE) ||
                                 IS(flip(primary[2]), STATUS_DEVICE_REMOVED));
    end();
}

TEST(flips_of_the_gpu_that_never_run)
{
    copies_run(create(), for_ever);
}

/* The same of a source that loses its path. */
static void unplugged(struct probe *p)
{
    uint64_t queued_at;

    begin(p);
    hold_context();
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    queued_at = sim_now();
    display_indicate(p, 0, false); /* until the host has seen to it */
    CHECK_RULE("PRES-338/c", display_seen.commits == 2 && probe_rule(p, "PRES-338") == 1 &&
                                 probe_nth(p, PROBE_CommitVidPn, 1)->time >= queued_at + 2000 * MS);
    let_context_go();
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-338/c", copies_seen.submits == 0);
    end();
}

TEST(flips_of_the_gpu_to_a_source_without_a_path)
{
    copies_run(create(), unplugged);
}

/* Another primary of the same mode, by D3DKMTSetDisplayMode: the same. */
static void show(struct probe *p)
{
    const D3DKMT_SETDISPLAYMODE args = {.hDevice = client.device, .hPrimaryAllocation = primary[2]};

    (void)p;
    asked_status = D3DKMTSetDisplayMode(&args);
    asked = true;
}

static void behind_a_primary(struct probe *p)
{
    const UINT shown = 1;

    begin(p);
    CHECK(full_seen.addresses == 1 + shown);
    hold_context();
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    asked = false;
    sim_thread_release(probe_thread(p, nt_process_current(), "shows", show));
    probe_sleep(1000 * MS);
    CHECK_RULE("PRES-338/a", !asked && full_seen.addresses == 1 + shown);
    let_context_go();
    for (unsigned i = 0; i < 100 && !asked; i++)
        probe_sleep(MS);
    CHECK_RULE("PRES-338/a", asked && NT_SUCCESS(asked_status) && copies_seen.done == 1 &&
                                 full_seen.addresses == 2 + shown &&
                                 full_engine.pending == full_seen.address[1 + shown].address);
    end();
}

TEST(another_primary_waits_for_flips_of_the_gpu)
{
    copies_run(create(), behind_a_primary);
}

/* ---- how many ---- */

static void limited(struct probe *p)
{
    begin(p);
    hold_context();
    for (unsigned i = 0; i < 3; i++) /* each counts once */
        CHECK(IS(flip(primary[(i + 1) % 3]), STATUS_SUCCESS));
    present_in_background(p);
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-288", !presented && copies_seen.presents == 3);
    let_context_go();
    for (unsigned i = 0; i < 200 && !presented; i++)
        probe_sleep(MS);
    CHECK_RULE("PRES-288", presented && IS(presented_status, STATUS_SUCCESS));
    probe_sleep(100 * MS);
    end();
}

TEST(flips_of_the_gpu_wait_for_room)
{
    copies_run(create(), limited);
}
