/* SPDX-License-Identifier: MIT */
/* Client processes of the adapter of the probe; client.h says how they are used. */
#include "kmt/kmt.h"
#include "kmt/process.h"
#include "nt/ps/process.h"
#include "nt/ps/thread.h"
#include "port/support/client.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <stdlib.h>
#include <string.h>

static struct kmt *kmt; /* of the one probe */

void probe_clients_begin(struct probe *p)
{
    kmt = kmt_create(p->port);
    if (!kmt)
        fail_msg("no client interface");
}

void probe_clients_end(struct probe *p)
{
    if (!p->sim->stopped)
        kmt_destroy(kmt);
    kmt = NULL;
}

struct start {
    struct probe *p;
    struct probe_client *client;
    void (*body)(struct probe *p);
};

static void client_main(void *arg)
{
    struct start start = *(struct start *)arg;

    free(arg);
    start.body(start.p);
    start.client->done = true;
}

static void start_thread(struct probe *p, struct probe_client *client, void (*body)(struct probe *p))
{
    struct start *start = malloc(sizeof(*start));
    struct sim_thread *thread;

    *start = (struct start){p, client, body};
    client->done = false;
    thread = nt_client_thread_create(client->nt, "client", client_main, start);
    if (!thread)
        fail_msg("no thread");
    sim_thread_release(thread);
}

struct probe_client *probe_client_start(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client = calloc(1, sizeof(*client));

    client->nt = nt_process_create("client");
    if (!client->nt || !kmt_process_begin(client->nt))
        fail_msg("no process");
    start_thread(p, client, body);
    return client;
}

static bool is_done(void *arg)
{
    return ((struct probe_client *)arg)->done;
}

void probe_client_wait(struct probe *p, const struct probe_client *client)
{
    enum sim_outcome outcome = sim_run(is_done, (void *)(uintptr_t)client,
                                       sim_now() + 3600 * PROBE_SECOND);

    (void)p;
    if (outcome != SIM_DONE && outcome != SIM_STOPPED)
        fail_msg("the client did not end: %d", (int)outcome);
}

struct probe_client *probe_client_run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client = probe_client_start(p, body);

    probe_client_wait(p, client);
    return client;
}

void probe_client_go_on(struct probe *p, struct probe_client *client, void (*body)(struct probe *p))
{
    start_thread(p, client, body);
    probe_client_wait(p, client);
}

static struct probe_client *ending;

static void end_body(struct probe *p)
{
    probe_validate(p);
    kmt_process_end(ending->nt, false, NULL);
}

void probe_client_end(struct probe *p, struct probe_client *client)
{
    ending = client;
    if (!p->sim->stopped) {
        if (probe_run(p, end_body) != SIM_DONE)
            fail_msg("the process did not end");
        nt_process_destroy(client->nt);
    }
    free(client);
}

/* ---- what clients do ---- */

NTSTATUS probe_gpu_begin(struct probe_gpu *g)
{
    D3DKMT_CREATECONTEXTVIRTUAL context;
    D3DKMT_CREATEPAGINGQUEUE queue;
    D3DKMT_ENUMADAPTERS adapters;
    D3DKMT_CREATEDEVICE device;
    NTSTATUS status;

    memset(g, 0, sizeof(*g));
    memset(&adapters, 0, sizeof(adapters));
    status = D3DKMTEnumAdapters(&adapters);
    if (!NT_SUCCESS(status) || !adapters.NumAdapters)
        return NT_SUCCESS(status) ? STATUS_NOT_FOUND : status;
    g->adapter = adapters.Adapters[0].hAdapter;
    memset(&device, 0, sizeof(device));
    device.hAdapter = g->adapter;
    status = D3DKMTCreateDevice(&device);
    if (!NT_SUCCESS(status))
        return status;
    g->device = device.hDevice;
    memset(&queue, 0, sizeof(queue));
    queue.hDevice = g->device;
    status = D3DKMTCreatePagingQueue(&queue);
    if (!NT_SUCCESS(status))
        return status;
    g->queue = queue.hPagingQueue;
    g->queue_fence = queue.hSyncObject;
    memset(&context, 0, sizeof(context));
    context.hDevice = g->device;
    context.NodeOrdinal = 1;
    status = D3DKMTCreateContextVirtual(&context);
    g->context = context.hContext;
    return status;
}

static NTSTATUS wait_queue(const struct probe_gpu *g, UINT64 value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait;

    memset(&wait, 0, sizeof(wait));
    wait.hDevice = g->device;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray = &g->queue_fence;
    wait.FenceValueArray = &value;
    return D3DKMTWaitForSynchronizationObjectFromCpu(&wait);
}

NTSTATUS probe_gpu_allocate(const struct probe_gpu *g, uint64_t bytes, D3DKMT_HANDLE *allocation)
{
    D3DKMT_CREATEALLOCATION create;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DDDI_MAKERESIDENT resident;
    NTSTATUS status;

    memset(&info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    info.pPrivateDriverData = &bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    create.hDevice = g->device;
    create.NumAllocations = 1;
    create.pAllocationInfo2 = &info;
    status = D3DKMTCreateAllocation2(&create);
    if (!NT_SUCCESS(status))
        return status;
    *allocation = info.hAllocation;
    memset(&resident, 0, sizeof(resident));
    resident.hPagingQueue = g->queue;
    resident.NumAllocations = 1;
    resident.AllocationList = allocation;
    status = D3DKMTMakeResident(&resident);
    return status == STATUS_PENDING ? wait_queue(g, resident.PagingFenceValue) : status;
}

NTSTATUS probe_gpu_submit(const struct probe_gpu *g)
{
    D3DKMT_SUBMITCOMMAND submit;

    memset(&submit, 0, sizeof(submit));
    submit.Commands = 0x10000;
    submit.CommandLength = 64;
    submit.BroadcastContextCount = 1;
    submit.BroadcastContext[0] = g->context;
    return D3DKMTSubmitCommand(&submit);
}

NTSTATUS probe_gpu_wait_idle(const struct probe_gpu *g)
{
    D3DKMT_WAITFORIDLE wait = {g->device};

    return D3DKMTWaitForIdle(&wait);
}

NTSTATUS probe_gpu_end(const struct probe_gpu *g)
{
    D3DKMT_DESTROYDEVICE destroy = {g->device};
    D3DKMT_CLOSEADAPTER close = {g->adapter};
    NTSTATUS status = D3DKMTDestroyDevice(&destroy);

    return NT_SUCCESS(status) ? D3DKMTCloseAdapter(&close) : status;
}
