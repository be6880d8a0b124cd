/* SPDX-License-Identifier: MIT */
/* The order of flips and of work around them, also of work that writes to what is shown. */
#include "nt/cm/registry.h"
#include "port/support/copies.h"
#include "port/support/owner.h"
#include "port/support/paged.h"
#include "screens/scanouts.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define LONG_NS            50000000ull
#define DRIVERS            "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\GraphicsDrivers"

static struct copies_client client;
static D3DKMT_HANDLE primary[3];

static uint64_t flips(const struct probe *p)
{
    return scanouts_flips(port_display_scanouts(p->adapter[0]), 0);
}

static void flip(D3DKMT_HANDLE handle)
{
    D3DKMT_PRESENT args;

    memset(&args, 0, sizeof(args));
    args.hContext = client.context;
    args.hSource = handle;
    args.FlipInterval = D3DDDI_FLIPINTERVAL_ONE;
    args.Flags.Flip = 1;
    CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS));
}

/* Writes to the allocation, or to none. */
static void render(D3DKMT_HANDLE handle)
{
    D3DKMT_RENDER args;

    memset(&args, 0, sizeof(args));
    client.answer.pAllocationList[0] = (D3DDDI_ALLOCATIONLIST){.hAllocation = handle};
    client.answer.pAllocationList[0].WriteOperation = 1;
    args.hContext = client.context;
    args.CommandLength = 64;
    args.AllocationCount = handle != 0;
    CHECK(IS(D3DKMTRender(&args), STATUS_SUCCESS));
    client.answer.pAllocationList = args.pNewAllocationList;
}

/* The GPU is at it for a while; not at what follows. */
static void render_long(void)
{
    probe_device_packet_ns = LONG_NS;
    render(0);
    probe_sleep(1000000);
    probe_device_packet_ns = 1000;
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
    render(primary[0]); /* each is in memory from here on */
    render(primary[1]);
    copies_wait(&client);
    copies_seen.submits = 0;
    full_engine_await();
}

static void end(void)
{
    full_engine_stop();
    copies_end(&client);
}

/* ---- around a flip ---- */

static void elsewhere(struct probe *p)
{
    UINT calls;

    begin(p);
    calls = full_seen.addresses;
    render_long();
    flip(primary[1]);
    render(0);
    render(primary[2]);
    probe_sleep(1000000);
    CHECK_RULE("PRES-137/a", copies_seen.submits == 2 && full_seen.addresses == calls);
    probe_sleep(LONG_NS);
    CHECK_RULE("PRES-137/a", full_seen.addresses == calls + 1);
    copies_wait(&client);
    end();
}

TEST(work_behind_a_flip_goes_on)
{
    copies_run(copies_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3), elsewhere);
}

static void to_the_old(struct probe *p)
{
    UINT calls;

    begin(p);
    calls = full_seen.addresses;
    render(0);
    flip(primary[1]);
    full_engine.stuck = true;
    render(primary[0]);
    render(0);
    probe_sleep(40000000);
    CHECK_RULE("PRES-137/b", full_seen.addresses == calls + 1 && copies_seen.submits == 1);
    full_engine.stuck = false;
    probe_sleep(17000000);
    CHECK_RULE("PRES-137/b", flips(p) == 1 && copies_seen.submits == 3);

    /* and back: now the other one is shown */
    flip(primary[0]);
    full_engine.stuck = true;
    render(primary[0]);
    probe_sleep(20000000);
    CHECK_RULE("PRES-138", copies_seen.submits == 4);
    render(primary[1]);
    probe_sleep(20000000);
    CHECK_RULE("PRES-138", copies_seen.submits == 4);
    full_engine.stuck = false;
    probe_sleep(17000000);
    CHECK_RULE("PRES-138", copies_seen.submits == 5 && flips(p) == 2);
    end();
}

TEST(work_to_what_is_shown_waits)
{
    copies_run(copies_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3), to_the_old);
}

/* Queued before the flip: the flip waits for it. */
static void before(struct probe *p)
{
    begin(p);
    render_long();
    render(0);
    render(primary[0]);
    flip(primary[1]);
    probe_sleep(4 * LONG_NS);
    CHECK_RULE("PRES-138", copies_seen.submits == 3 && flips(p) == 1);
    end();
}

TEST(work_before_a_flip_does_not_wait)
{
    copies_run(copies_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3), before);
}

/* ---- without a flip, and with one that is dropped ---- */

static void single(struct probe *p)
{
    D3DKMT_PRESENT args;

    begin(p);
    full_engine.stuck = true;
    memset(&args, 0, sizeof(args)); /* a flip to what is shown */
    args.hContext = client.context;
    args.FlipInterval = D3DDDI_FLIPINTERVAL_THREE;
    args.Flags.Flip = args.Flags.FlipDoNotFlip = 1;
    CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    render(primary[0]); /* it is shown */
    probe_sleep(1000000);
    CHECK_RULE("PRES-138", copies_seen.submits == 1 && flips(p) == 0);
    full_engine.stuck = false;
    probe_sleep(80000000);
    flip(primary[1]);
    full_engine.stuck = true;
    args = copies_args(&client, 0);
    args.Color = 0x123456;
    CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS)); /* to primary[0] */
    probe_sleep(40000000);
    CHECK_RULE("PRES-138", copies_seen.submits == 1);
    CHECK(NT_SUCCESS(D3DKMTSetDisplayMode(
        &(D3DKMT_SETDISPLAYMODE){.hDevice = client.device, .hPrimaryAllocation = primary[2]})));
    copies_wait(&client);
    CHECK_RULE("PRES-138", copies_seen.submits == 2);
    full_engine.stuck = false;
    end();
}

TEST(drawing_to_what_stays)
{
    struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3);
    const UINT level = 0; /* a flip that is stuck counts as shown, and resets nothing */

    p->caps.FlipCaps.FlipInterval = 1;
    CHECK(nt_registry_set(DRIVERS, "TdrLevel", REG_DWORD, &level, sizeof(level)));
    copies_run(p, single);
}

/* ---- D3DKMTSubmitCommand ---- */

static NTSTATUS submit(D3DKMT_HANDLE written)
{
    D3DKMT_SUBMITCOMMAND args;

    memset(&args, 0, sizeof(args));
    args.Commands = 0x10000;
    args.CommandLength = 64;
    args.BroadcastContextCount = 1;
    args.BroadcastContext[0] = owner.gpu.context;
    args.NumPrimaries = written != 0;
    args.WrittenPrimaries[0] = written;
    return D3DKMTSubmitCommand(&args);
}

static UINT submits;

static void note_submit(struct probe *p, struct probe_call *call)
{
    (void)p;
    submits += !((const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)call->arg[1])->Flags.Paging;
}

static void written(struct probe *p)
{
    (void)p;
    owner_begin(p);
    owner_show(owner.primary[0]);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t fence;

        CHECK(NT_SUCCESS(paged_make_resident(&owner.gpu, owner.primary[i], &fence)) &&
              NT_SUCCESS(paged_wait(&owner.gpu, fence)));
    }
    submits = 0;
    full_engine.stuck = true;
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    CHECK(IS(submit(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(20000000);
    CHECK_RULE("PRES-138", submits == 1);
    CHECK(IS(submit(owner.primary[0]), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK_RULE("PRES-138", submits == 1);
    full_engine.stuck = false;
    probe_sleep(17000000);
    CHECK_RULE("PRES-138", submits == 2);
    owner_end();
}

TEST(primaries_that_a_submission_names)
{
    struct probe *p = owner_create(NULL);

    p->before[PROBE_SubmitCommandVirtual] = note_submit;
    owner_run(p, written);
}
