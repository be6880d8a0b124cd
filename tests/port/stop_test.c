/* SPDX-License-Identifier: MIT */
/* An adapter that stops with clients on it: what is ended before the driver hears of the stop, and what clients are told. */
#include "port/support/client.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define BYTES              (1u << 20)

static struct probe_gpu gpu;
static D3DKMT_HANDLE allocation, fence;

static NTSTATUS create_fence(void)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create;
    NTSTATUS status;

    memset(&create, 0, sizeof(create));
    create.hDevice = gpu.device;
    create.Info.Type = D3DDDI_MONITORED_FENCE;
    status = D3DKMTCreateSynchronizationObject2(&create);
    fence = create.hSyncObject;
    return status;
}

/* The client has work under way and more of it queued. */
static void set_up(struct probe *p)
{
    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&gpu, BYTES, &allocation), STATUS_SUCCESS));
    CHECK(IS(create_fence(), STATUS_SUCCESS));
    for (unsigned i = 0; i < 20; i++)
        CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    probe_sleep(1000000);
}

static void remove_body(struct probe *p)
{
    probe_remove(p, 0);
}

static bool in_order(struct probe *p, enum probe_ddi first, enum probe_ddi second)
{
    return probe_nth(p, first, probe_count(p, first) - 1)->order <
           probe_nth(p, second, probe_count(p, second) - 1)->order;
}

/* Packets of clients that the driver was given, and the order of the last one. */
static unsigned packets;
static uint64_t last_packet;

static void note_packet(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    if (args->Flags.Paging)
        return;
    packets++;
    last_packet = call->order;
}

/* ---- afterwards ---- */

static NTSTATUS state_of(D3DKMT_DEVICEEXECUTION_STATE *state)
{
    D3DKMT_GETDEVICESTATE args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.StateType = D3DKMT_DEVICESTATE_EXECUTION;
    status = D3DKMTGetDeviceState(&args);
    *state = args.ExecutionState;
    return status;
}

static NTSTATUS lock(void)
{
    D3DKMT_LOCK2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.hAllocation = allocation;
    return D3DKMTLock2(&args);
}

static NTSTATUS signal_fence(void)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU args;
    UINT64 value = 1;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.ObjectCount = 1;
    args.ObjectHandleArray = &fence;
    args.FenceValueArray = &value;
    return D3DKMTSignalSynchronizationObjectFromCpu(&args);
}

static NTSTATUS create_device(void)
{
    D3DKMT_CREATEDEVICE args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = gpu.adapter;
    return D3DKMTCreateDevice(&args);
}

static NTSTATUS destroy_allocation(void)
{
    D3DKMT_DESTROYALLOCATION2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.phAllocationList = &allocation;
    args.AllocationCount = 1;
    return D3DKMTDestroyAllocation2(&args);
}

static void use_it(struct probe *p)
{
    D3DKMT_DEVICEEXECUTION_STATE state;
    size_t calls = p->calls;

    CHECK_RULE("LIFE-168/b", IS(probe_gpu_submit(&gpu), STATUS_DEVICE_REMOVED) &&
                                 IS(lock(), STATUS_DEVICE_REMOVED) &&
                                 IS(signal_fence(), STATUS_DEVICE_REMOVED) &&
                                 IS(create_device(), STATUS_DEVICE_REMOVED));
    CHECK_RULE("LIFE-168/b",
               IS(state_of(&state), STATUS_SUCCESS) && state == D3DKMT_DEVICEEXECUTION_STOPPED);
    /* a handle that never was is still a bad one */
    CHECK_RULE("LIFE-168/b", IS(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){0x7654321}),
                                STATUS_INVALID_PARAMETER));
    CHECK(IS(destroy_allocation(), STATUS_SUCCESS));
    CHECK(IS(D3DKMTDestroySynchronizationObject(
                 &(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){.hSyncObject = fence}),
             STATUS_SUCCESS));
    CHECK(IS(D3DKMTDestroyContext(&(D3DKMT_DESTROYCONTEXT){gpu.context}), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
    CHECK_RULE("LIFE-168/c", p->calls == calls); /* no call of the driver any more */
    CHECK(IS(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){gpu.adapter}), STATUS_INVALID_PARAMETER));
}

TEST(clients_objects_go_first)
{
    for (unsigned again = 0; again < 2; again++) {
        struct probe *p = probe_create(NULL);
        struct probe_client *client;

        packets = 0;
        p->before[PROBE_SubmitCommandVirtual] = note_packet;
        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        probe_device_packet_ns = 2000000;
        client = probe_client_run(p, set_up);
        CHECK(probe_run(p, remove_body) == SIM_DONE);
        CHECK_RULE("LIFE-168/a",
                   in_order(p, PROBE_DestroyContext, PROBE_StopDevice) &&
                       in_order(p, PROBE_CloseAllocation, PROBE_DestroyAllocation) &&
                       in_order(p, PROBE_DestroyAllocation, PROBE_DestroyDevice) &&
                       in_order(p, PROBE_DestroyDevice, PROBE_StopDevice) &&
                       in_order(p, PROBE_DestroyProcess, PROBE_StopDevice) &&
                       probe_count(p, PROBE_DestroyProcess) == probe_count(p, PROBE_CreateProcess));
        CHECK_RULE("LIFE-167/a", packets > 0 && packets < 20);
        CHECK_RULE("LIFE-167/b", /* the others were cancelled */
                   last_packet < probe_nth(p, PROBE_DestroyContext, 0)->order);
        if (again)
            probe_client_go_on(p, client, use_it);
        probe_client_end(p, client); /* with its handles open, the first time */
        probe_clients_end(p);
        probe_destroy(p);
    }
}

/* ---- a client that does not stop asking ---- */

static bool ended;
static NTSTATUS last;

static void keep_asking(struct probe *p)
{
    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    do {
        last = probe_gpu_submit(&gpu);
        probe_sleep(10000);
    } while (NT_SUCCESS(last));
    ended = true;
}

static void remove_under_load(struct probe *p)
{
    probe_sleep(20000000);
    probe_remove(p, 0);
    while (!ended)
        probe_sleep(1000000);
}

TEST(no_new_work_gets_in)
{
    for (uint64_t seed = 1; seed < 6; seed++) {
        const struct probe_options options = {.seed = seed};
        struct probe *p = probe_create(&options);
        struct probe_client *client;

        packets = 0;
        p->before[PROBE_SubmitCommandVirtual] = note_packet;
        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        probe_device_packet_ns = 200000;
        ended = false;
        client = probe_client_start(p, keep_asking);
        CHECK(probe_run(p, remove_under_load) == SIM_DONE);
        CHECK_RULE("LIFE-167/b", IS(last, STATUS_DEVICE_REMOVED) &&
                                     last_packet < probe_nth(p, PROBE_DestroyContext, 0)->order);
        probe_client_end(p, client);
        probe_clients_end(p);
        probe_destroy(p);
    }
}
