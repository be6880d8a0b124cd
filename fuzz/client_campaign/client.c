/* SPDX-License-Identifier: MIT */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "host/support/refgpu_client.h"
#include "sim/fault.h"

struct thread {
    struct process *process;
    struct rng rng;
};

struct process {
    struct client_plan *plan;
    struct rng rng;
    struct pool pool;
    struct process *other;
    struct gpu gpu;
    struct memory memory;
    D3DKMT_HANDLE adapters; /* opened in all */
    uint32_t lives;         /* devices made */
    unsigned threads;       /* that run */
    struct thread thread[CLIENT_THREADS];
};

/* They may end at any call, and are never freed: each machine has a process of its own. */
static struct process all[CLIENT_PROCESSES];

static bool over(const struct process *p)
{
    return p->plan->results->calls >= p->plan->budget;
}

/* ---- things that work ---- */

static void put_gpu(struct process *p)
{
    pool_put(&p->pool, &p->rng, HANDLE_ADAPTER, p->gpu.adapter);
    pool_put(&p->pool, &p->rng, HANDLE_DEVICE, p->gpu.device);
    pool_put(&p->pool, &p->rng, HANDLE_CONTEXT, p->gpu.copy);
    pool_put(&p->pool, &p->rng, HANDLE_CONTEXT, p->gpu.render);
    pool_put(&p->pool, &p->rng, HANDLE_PAGING_QUEUE, p->gpu.queue);
    pool_put(&p->pool, &p->rng, HANDLE_SYNC, p->gpu.queue_fence);
}

/* A resource and a fence that others may open. */
static void share(struct process *p)
{
    struct refgpu_allocation_data data = {.magic = REFGPU_UMD_MAGIC, .bytes = 4096};
    D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = &data,
                                   .PrivateDriverDataSize = sizeof(data)};
    D3DKMT_CREATEALLOCATION create = {.hDevice = p->gpu.device, .NumAllocations = 1};
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence = {.hDevice = p->gpu.device};
    OBJECT_ATTRIBUTES attributes;
    HANDLE handle = NULL;

    create.pAllocationInfo2 = &info;
    create.Flags.CreateResource = create.Flags.CreateShared = 1;
    create.Flags.NtSecuritySharing = rng_below(&p->rng, 2) & 1u;
    fence.Info.Type = D3DDDI_MONITORED_FENCE;
    fence.Info.Flags.Shared = 1;
    fence.Info.Flags.NtSecuritySharing = 1;
    if (D3DKMTCreateAllocation2(&create) == STATUS_SUCCESS) {
        pool_put(&p->pool, &p->rng, HANDLE_RESOURCE, create.hResource);
        pool_put(&p->pool, &p->rng, HANDLE_SHARED, create.hGlobalShare);
        InitializeObjectAttributes(&attributes, NULL, 0, NULL, NULL);
        if (create.Flags.NtSecuritySharing &&
            D3DKMTShareObjects(1, &create.hResource, &attributes, 0x80000000, &handle) ==
                STATUS_SUCCESS)
            p->pool.nt[0] = (uintptr_t)handle;
    }
    if (D3DKMTCreateSynchronizationObject2(&fence) == STATUS_SUCCESS) {
        pool_put(&p->pool, &p->rng, HANDLE_SYNC, fence.hSyncObject);
        if (D3DKMTShareObjects(1, &fence.hSyncObject, &attributes, 0x80000000, &handle) ==
            STATUS_SUCCESS)
            p->pool.nt[1] = (uintptr_t)handle;
    }
}

/* A new device, with what belongs to it, in the places that are picked most. */
static void begin_life(struct process *p)
{
    if (p->lives++)
        (void)gpu_end(&p->gpu);
    memset(p->pool.handle, 0, sizeof(p->pool.handle));
    if (gpu_begin(&p->gpu) != STATUS_SUCCESS)
        return;
    put_gpu(p);
    share(p);
    for (unsigned i = 0; i < 3; i++) {
        D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;

        if (gpu_memory(&p->gpu, 65536, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE,
                       &p->memory) == STATUS_SUCCESS) {
            pool_put(&p->pool, &p->rng, HANDLE_ALLOCATION, p->memory.handle);
            p->pool.address[i] = p->memory.va;
            p->pool.memory[i] = p->memory.cpu;
        }
        if (gpu_create_fence(&p->gpu, &fence) == STATUS_SUCCESS)
            pool_put(&p->pool, &p->rng, HANDLE_SYNC, fence.hSyncObject);
    }
}

/* Work for the copy engine; sometimes at an address where there is nothing. */
static void submit(struct process *p)
{
    uint32_t commands[64];
    struct refgpu_builder b;

    if (!p->memory.cpu || !p->memory.va)
        return;
    refgpu_builder_init(&b, commands, sizeof(commands));
    refgpu_nop(&b);
    refgpu_fill(&b, p->memory.va + 8192 + (rng_below(&p->rng, 200) ? 0 : 1ull << 40), 4096,
                rng_below(&p->rng, 256));
    if (!sim_copy_checked(p->memory.cpu, commands, refgpu_builder_bytes(&b)))
        return; /* a random call has destroyed it */
    (void)gpu_submit(p->gpu.copy, p->memory.va, refgpu_builder_bytes(&b));
}

/* ---- random calls ---- */

static bool takes_away(const char *name)
{
    return strstr(name, "Destroy") || strstr(name, "Close") || strstr(name, "Invalidate") ||
           strstr(name, "Mark") || strstr(name, "Terminate") || strstr(name, "FreeGpu") ||
           strstr(name, "Evict");
}

/* One of the reasons, so that it can be seen what keeps a call from succeeding. */
static void keep_reason(struct thread *t, uint32_t index)
{
    struct dxgk_refusal refusal;
    char *why = t->process->plan->results->why[index];

    if ((!why[0] || rng_below(&t->rng, 8) == 0) && dxgk_client_last_refusal(&refusal) &&
        strcmp(refusal.call, call_at(index)->name) == 0)
        snprintf(why, sizeof(t->process->plan->results->why[index]), "%s %s", refusal.status,
                 refusal.reason);
}

static void call_one(struct thread *t, struct arguments *a)
{
    struct client_results *results = t->process->plan->results;
    uint32_t index;
    const struct call *call;
    void *arguments;
    NTSTATUS status;

    do {
        index = rng_below(&t->rng, CALLS);
        call = call_at(index);
    } while (takes_away(call->name) &&
             rng_below(&t->rng,
                       strstr(call->name, "Device") || strstr(call->name, "Adapter") ? 300 : 8));
    arguments = arguments_fill(a, call);
    results->made[index]++;
    results->last[results->calls % LAST_CALLS] = (uint16_t)index;
    results->calls++;
    status = call->function(arguments);
    if (!NT_SUCCESS(status)) {
        keep_reason(t, index);
        return;
    }
    results->succeeded[index]++;
    arguments_keep(a, call);
}

static void thread_main(void *argument)
{
    struct thread *t = argument;
    struct process *p = t->process;
    struct arguments a;

    if (arguments_init(&a, &t->rng, &p->pool, &p->other->pool)) {
        while (!over(p)) {
            uint32_t chance = rng_below(&t->rng, 1000);

            if (chance < 3)
                begin_life(p);
            else if (chance < 10)
                submit(p);
            else if (chance < 12)
                dxgk_client_sleep(1000u << rng_below(&t->rng, 12));
            else
                call_one(t, &a);
        }
        arguments_finish(&a);
    }
    p->threads--;
}

static void process_main(void *argument)
{
    struct process *p = argument;
    static char name[] = "client thread";

    begin_life(p);
    for (unsigned i = 0; i < CLIENT_THREADS; i++)
        p->thread[i] = (struct thread){.process = p, .rng = {rng_next(&p->rng)}};
    for (unsigned i = 1; i < CLIENT_THREADS; i++) {
        p->threads++;
        if (!dxgk_client_thread(name, thread_main, &p->thread[i]))
            p->threads--;
    }
    p->threads++;
    thread_main(&p->thread[0]);
}

void client_run(void *argument)
{
    struct client_plan *plan = argument;

    for (unsigned i = 0; i < CLIENT_PROCESSES; i++) {
        all[i].plan = plan;
        all[i].other = &all[(i + 1) % CLIENT_PROCESSES];
        all[i].rng = (struct rng){plan->seed * 1000 + i};
    }
    for (unsigned i = 1; i < CLIENT_PROCESSES; i++)
        (void)dxgk_client_process("client", process_main, &all[i]);
    process_main(&all[0]);
}
