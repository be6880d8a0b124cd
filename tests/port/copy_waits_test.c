/* SPDX-License-Identifier: MIT */
/* Copies that wait in the queue of their context while the screen is to show another primary. */
#include "nt/base/current.h"
#include "port/support/copies.h"
#include "port/support/paged.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 UINT64_C(1000000)
#define LIMIT              (2000 * MS) /* how long what is shown waits for copies */

static struct copies_client client;
static D3DKMT_HANDLE primary[2], gate, other;

static NTSTATUS show(D3DKMT_HANDLE handle)
{
    return D3DKMTSetDisplayMode(
        &(D3DKMT_SETDISPLAYMODE){.hDevice = client.device, .hPrimaryAllocation = handle});
}

static D3DKMT_HANDLE new_context(void)
{
    D3DKMT_CREATECONTEXT args = {.hDevice = client.device, .EngineAffinity = 1};

    CHECK(NT_SUCCESS(D3DKMTCreateContext(&args)));
    return args.hContext;
}

/* The context waits for `gate`, and a fill of the screen is queued behind. */
static void fill_behind_gate(void)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT create;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT wait;
    D3DKMT_PRESENT args = copies_args(&client, 0);

    memset(&create, 0, sizeof(create));
    memset(&wait, 0, sizeof(wait));
    create.hDevice = client.device;
    create.Info.Type = D3DDDI_SEMAPHORE;
    create.Info.Semaphore.MaxCount = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateSynchronizationObject(&create)));
    gate = create.hSyncObject;
    wait.hContext = client.context;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray[0] = gate;
    CHECK(NT_SUCCESS(D3DKMTWaitForSynchronizationObject(&wait)));
    CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS));
}

static void open_gate(void)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT args = {.ObjectCount = 1};

    args.ObjectHandleArray[0] = gate;
    args.hContext = other;
    CHECK(NT_SUCCESS(D3DKMTSignalSynchronizationObject(&args)));
}

static void begin(void)
{
    copies_begin(&client);
    other = new_context();
    CHECK(NT_SUCCESS(copies_own(&client, 0)));
    for (unsigned i = 0; i < 2; i++)
        CHECK(NT_SUCCESS(copies_create_primary(&client, 0, &primary[i])));
    CHECK(NT_SUCCESS(show(primary[0])));
    fill_behind_gate();
}

/* ---- another primary ---- */

static bool done;
static NTSTATUS status;

static void show_beside(struct probe *p)
{
    (void)p;
    status = show(primary[1]);
    done = true;
}

static void another_primary(struct probe *p)
{
    UINT calls;

    begin();
    calls = full_seen.addresses;
    done = false;
    sim_thread_release(probe_thread(p, nt_process_current(), "shows", show_beside));
    probe_sleep(LIMIT - 100 * MS);
    CHECK_RULE("PRES-112", !done && full_seen.addresses == calls);
    open_gate();
    copies_wait(&client);
    CHECK(copies_seen.done == 1 && probe_rule(p, "PRES-112") == 0);
    probe_sleep(10 * MS);
    CHECK_RULE("PRES-112", done && IS(status, STATUS_SUCCESS) && full_seen.addresses == calls + 1);
    copies_end(&client);
}

TEST(another_primary_waits_for_a_queued_copy)
{
    copies_run(copies_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3), another_primary);
}

/* ---- a primary that leaves memory ---- */

static NTSTATUS execution(D3DKMT_DEVICEEXECUTION_STATE *state)
{
    D3DKMT_GETDEVICESTATE args;
    NTSTATUS result;

    memset(&args, 0, sizeof(args));
    args.hDevice = client.device;
    args.StateType = D3DKMT_DEVICESTATE_EXECUTION;
    result = D3DKMTGetDeviceState(&args);
    *state = args.ExecutionState;
    return result;
}

static void leaves(struct probe *p, bool pressure)
{
    D3DKMT_DEVICEEXECUTION_STATE state = 0;
    D3DKMT_CREATEPAGINGQUEUE queue;
    struct probe_gpu gpu = {0};
    D3DKMT_HANDLE much;
    uint64_t fence;

    begin();
    memset(&queue, 0, sizeof(queue));
    queue.hDevice = client.device;
    CHECK(NT_SUCCESS(D3DKMTCreatePagingQueue(&queue)));
    gpu.device = client.device;
    gpu.queue = queue.hPagingQueue;
    gpu.queue_fence = queue.hSyncObject;
    CHECK(IS(show(primary[1]), STATUS_SUCCESS) && probe_rule(p, "PRES-112") == 1);
    for (unsigned i = 0; pressure && i < 3; i++) {
        CHECK(NT_SUCCESS(paged_create(&gpu, 3u << 20, &much)));
        CHECK(NT_SUCCESS(paged_make_resident(&gpu, much, &fence)));
        CHECK(NT_SUCCESS(paged_wait(&gpu, fence)));
    }
    open_gate();
    copies_wait(&client);
    CHECK_RULE("PRES-112", copies_seen.submits == !pressure && copies_seen.done == !pressure);
    CHECK_RULE("PRES-112", probe_rule(p, "PRES-112") == (pressure ? 2 : 1));
    CHECK(NT_SUCCESS(execution(&state)));
    CHECK_RULE("PRES-112", (state == D3DKMT_DEVICEEXECUTION_ACTIVE) == !pressure);
    copies_end(&client);
}

static void stays_in(struct probe *p)
{
    leaves(p, false);
}

static void goes_out(struct probe *p)
{
    leaves(p, true);
}

static struct probe *physical(void)
{
    struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WDDM2_9);

    p->caps.MemoryManagementCaps.VirtualAddressingSupported = 0;
    p->caps.MemoryManagementCaps.GpuMmuSupported = 0;
    p->physical.Flags.GpuMmuSupported = 0;
    for (unsigned i = 0; i <= PROBE_MAX_NODES; i++)
        p->node[i].GpuMmuSupported = FALSE;
    return p;
}

TEST(a_primary_that_is_shown_no_more_is_copied_to)
{
    copies_run(physical(), stays_in);
}

TEST(a_primary_that_has_left_memory_is_not_copied_to)
{
    struct probe *p = physical();

    copies.no_pixels = true;
    copies_run(p, goes_out);
}
