/* SPDX-License-Identifier: MIT */
/* Primaries of flips stay in memory, and only as long as those take: most of them by the GPU. */
#include "modes/display_worker.h"
#include "nt/base/current.h"
#include "port/support/copies.h"
#include "port/support/paged.h"
#include "screens/scanouts.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 UINT64_C(1000000)
#define BYTES              (3u << 20) /* of a primary; five of them are in the segment at once */

static struct copies_client client;
static struct probe_gpu gpu; /* what memory is asked for with */
static D3DKMT_HANDLE primary[3];

/* Without GPU virtual addresses, and of a version with residency lists. */
static struct probe *create(void)
{
    struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WDDM2_9);

    p->caps.MemoryManagementCaps.VirtualAddressingSupported = 0;
    p->caps.MemoryManagementCaps.GpuMmuSupported = 0;
    p->physical.Flags.GpuMmuSupported = 0;
    for (unsigned i = 0; i <= PROBE_MAX_NODES; i++)
        p->node[i].GpuMmuSupported = FALSE;
    p->caps.FlipCaps.FlipOnVSyncMmIo = 0;
    return p;
}

static void begin(struct probe *p)
{
    D3DKMT_CREATEPAGINGQUEUE queue;

    full_engine_start(p);
    copies_begin(&client);
    for (unsigned i = 0; i < 3; i++)
        CHECK(NT_SUCCESS(copies_create_primary(&client, 0, &primary[i])));
    CHECK(NT_SUCCESS(copies_own(&client, 0)));
    CHECK(NT_SUCCESS(D3DKMTSetDisplayMode(
        &(D3DKMT_SETDISPLAYMODE){.hDevice = client.device, .hPrimaryAllocation = primary[0]})));
    memset(&queue, 0, sizeof(queue));
    queue.hDevice = client.device;
    CHECK(NT_SUCCESS(D3DKMTCreatePagingQueue(&queue)));
    gpu = (struct probe_gpu){
        .device = client.device, .queue = queue.hPagingQueue, .queue_fence = queue.hSyncObject};
    full_engine_await();
}

static void end(void)
{
    full_engine_stop();
    copies_end(&client);
}

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

/* So many allocations, as large as a primary, are on the residency list. */
static void press(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        D3DKMT_HANDLE much;
        uint64_t fence;

        CHECK(NT_SUCCESS(paged_create(&gpu, BYTES, &much)));
        CHECK(NT_SUCCESS(paged_make_resident(&gpu, much, &fence)));
        CHECK(NT_SUCCESS(paged_wait(&gpu, fence)));
    }
}

static bool is_in_memory(D3DKMT_HANDLE handle)
{
    return paged_residency(&gpu, handle) != D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT;
}

/* Beside the shared primary, the one that is shown, and the one of the flip is room for two. */
static void on_its_way(struct probe *p)
{
    D3DKMT_HANDLE more;
    uint64_t fence;

    begin(p);
    full_engine.stuck = true;
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    copies_wait(&client);
    press(2);
    CHECK(NT_SUCCESS(paged_create(&gpu, BYTES, &more)));
    (void)paged_make_resident(&gpu, more, &fence);
    probe_sleep(10 * MS);
    CHECK_RULE("PRES-135", is_in_memory(primary[0]) && is_in_memory(primary[1]));
    full_engine.stuck = false;
    end();
}

TEST(a_primary_stays_while_its_flip_is_on_its_way)
{
    copies_run(create(), on_its_way);
}

static void shown(struct probe *p)
{
    begin(p);
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    probe_sleep(40 * MS);
    CHECK(scanouts_flips(port_display_scanouts(p->adapter[0]), 0) == 1);
    press(3);
    CHECK_RULE("PRES-135", !is_in_memory(primary[0]) && is_in_memory(primary[1]));
    end();
}

TEST(a_primary_stays_until_it_is_shown_no_more)
{
    copies_run(create(), shown);
}

static void refused(struct probe *p)
{
    begin(p);
    copies.status = STATUS_INSUFFICIENT_RESOURCES;
    CHECK(IS(flip(primary[1]), STATUS_INSUFFICIENT_RESOURCES));
    CHECK(is_in_memory(primary[1]));
    press(3);
    CHECK_RULE("PRES-135", !is_in_memory(primary[1]));
    end();
}

TEST(a_primary_of_a_flip_that_the_driver_refuses)
{
    copies_run(create(), refused);
}

static void dropped(struct probe *p)
{
    begin(p);
    full_engine.stuck = true;
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    copies_wait(&client);
    CHECK(NT_SUCCESS(D3DKMTSetDisplayMode(
        &(D3DKMT_SETDISPLAYMODE){.hDevice = client.device, .hPrimaryAllocation = primary[2]})));
    full_engine.stuck = false;
    probe_sleep(40 * MS);
    press(3);
    CHECK_RULE("PRES-135",
               !is_in_memory(primary[1]) && !is_in_memory(primary[0]) && is_in_memory(primary[2]));
    end();
}

TEST(a_primary_of_a_flip_that_is_dropped)
{
    copies_run(create(), dropped);
}

/* ---- a flip that waits twice ---- */

static void power_beside(struct probe *p)
{
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, true)));
}

/* On its way to the driver when the display is turned off, and again when it is on. */
static void twice(struct probe *p)
{
    struct copies_client other;
    D3DKMT_RENDER render;

    begin(p);
    copies_begin(&other);
    probe_sleep(100 * MS);
    CHECK(!full_engine.enabled);
    memset(&render, 0, sizeof(render));
    render.hContext = other.context;
    render.CommandLength = 64;
    probe_device_packet_ns = 20 * MS;
    CHECK(NT_SUCCESS(D3DKMTRender(&render)));
    probe_sleep(MS);
    probe_device_packet_ns = 1000;
    sim_thread_release(probe_thread(p, nt_process_current(), "power", power_beside));
    probe_sleep(5 * MS);
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    probe_sleep(100 * MS);
    CHECK(display_seen.commits == 3 && scanouts_flips(port_display_scanouts(p->adapter[0]), 0) == 1);
    CHECK(IS(flip(primary[2]), STATUS_SUCCESS));
    probe_sleep(100 * MS);
    press(3);
    CHECK_RULE("PRES-081", !is_in_memory(primary[1]) && is_in_memory(primary[2]));
    copies_end(&other);
    end();
}

TEST(a_primary_whose_flip_waits_again)
{
    struct probe *p = create();

    p->caps.FlipCaps.FlipOnVSyncMmIo = 1;
    copies_run(p, twice);
}
