/* SPDX-License-Identifier: MIT */
/*
 * Two attacks on the whole: each internal allocation of each call fails once, and nothing may have
 * changed; and many clients do random things, with a GPU that is slow, preempts, faults and hangs,
 * and every invariant holds after every step.
 */
#include "sim/machine.h"
#include "sim/thread.h"
#include "vidsch/support/fixture.h"

#include <stdlib.h>
#include <string.h>

/* ---- out of memory ---- */

struct state { /* what a failed call must leave as it was */
    uint64_t handles, device_pending, context_pending, contexts, syncs, ticket;
};

struct subject {
    struct fixture *f;
    struct vidsch_device *device;
    struct vidsch_context *context, *physical, *second;
    struct vidsch_sync *fences[8];
};

static uint32_t length(const struct list *list)
{
    uint32_t count = 0;

    LIST_FOR(link, list)
        count++;
    return count;
}

static struct state look(const struct subject *s)
{
    return (struct state){
        .handles = s->f->ddi.handles.table.live,
        .device_pending = s->device->pending,
        .context_pending = s->context->pending + s->physical->pending,
        .contexts = length(&s->device->contexts),
        .syncs = length(&s->device->syncs),
        .ticket = s->device->last_ticket,
    };
}

typedef NTSTATUS (*operation)(struct subject *s);

static NTSTATUS op_device(struct subject *s)
{
    struct vidsch_device *device = NULL;
    NTSTATUS status = vidsch_device_create(s->f->vidsch, &s->f->client, NULL, &device);

    CHECK(NT_SUCCESS(status) || !device);
    if (device)
        vidsch_device_destroy(device);
    return status;
}

static NTSTATUS create_context(struct subject *s, UINT node)
{
    uint8_t data[8] = {0};
    struct vidsch_context_request request = {
        .node = node, .virtual_addressing = node == 1, .private_data = data, .private_bytes = 8};
    struct vidsch_context *context = NULL;
    NTSTATUS status = vidsch_context_create(s->device, &request, &context);

    CHECK(NT_SUCCESS(status) || !context);
    if (context)
        vidsch_context_destroy(context);
    return status;
}

static NTSTATUS op_context(struct subject *s)
{
    return create_context(s, 1);
}

static NTSTATUS op_physical_context(struct subject *s)
{
    return create_context(s, 0);
}

static NTSTATUS op_fence(struct subject *s)
{
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info = {.Type = D3DDDI_MONITORED_FENCE};
    struct vidsch_sync *sync = NULL;
    NTSTATUS status = vidsch_sync_create(s->device, &info, &sync);

    if (!NT_SUCCESS(status))
        CHECK(!sync && !info.MonitoredFence.FenceValueCPUVirtualAddress &&
              !info.MonitoredFence.FenceValueGPUVirtualAddress); /* outputs untouched */
    else
        vidsch_sync_destroy(sync);
    return status;
}

static NTSTATUS op_submit(struct subject *s)
{
    struct vidsch_context *both[2] = {s->context, s->second};
    D3DKMT_SUBMITCOMMAND args = {.Commands = 0x1000, .CommandLength = 16};

    return vidsch_submit_command(both, 2, &args, NULL);
}

static NTSTATUS op_render(struct subject *s)
{
    D3DKMT_RENDER args = {.CommandLength = 64, .QueuedBufferCount = 77};
    NTSTATUS status = vidsch_render(s->physical, &args);

    CHECK(NT_SUCCESS(status) || args.QueuedBufferCount == 77);
    CHECK(args.pNewCommandBuffer && args.NewCommandBufferSize == 8192);
    return status;
}

static NTSTATUS op_wait(struct subject *s)
{
    UINT64 values[8] = {0};

    return vidsch_sync_wait_gpu(s->context, s->fences, values, 8);
}

static NTSTATUS op_signal(struct subject *s)
{
    struct vidsch_context *both[2] = {s->context, s->second};
    UINT64 values[8] = {0};

    return vidsch_sync_signal_gpu(both, 2, s->fences, values, 8, (D3DDDICB_SIGNALFLAGS){.Value = 0});
}

static void on_event(void *context, NTSTATUS status)
{
    (void)status;
    (*(int *)context)++;
}

static NTSTATUS op_event(struct subject *s)
{
    int events = 0;
    NTSTATUS status = vidsch_sync_enqueue_event(&s->context, 1, on_event, &events);

    vidsch_device_wait_idle(s->device);
    CHECK(events == NT_SUCCESS(status));
    return status;
}

static NTSTATUS op_cpu_wait(struct subject *s)
{
    UINT64 values[8] = {0};

    return vidsch_sync_wait_cpu(s->fences, values, 8, false, SIM_FOREVER);
}

static void fail_each_allocation(struct subject *s, const char *name, operation run)
{
    struct util_heap *heap = &s->f->sim->heap;
    uint64_t n = 0;
    NTSTATUS status;

    do {
        struct state before, after;

        vidsch_device_wait_idle(s->device);
        pass(100000);
        before = look(s);
        heap->fail_at = heap->requests + ++n;
        status = run(s);
        heap->fail_at = 0;
        if (status == STATUS_SUCCESS)
            break;
        after = look(s);
        if (status != STATUS_NO_MEMORY || memcmp(&before, &after, sizeof(before)) != 0)
            fail_msg("%s, allocation %llu: 0x%08x", name, (unsigned long long)n, (unsigned)status);
        if (!vidsch_validate(s->f->vidsch))
            fail_msg("%s, allocation %llu: not sound", name, (unsigned long long)n);
    } while (n < 200);
    CHECK(status == STATUS_SUCCESS);
}

TEST_WITH(fixture, every_allocation_fails_once)
{
    struct subject s = {.f = f, .device = make_device(f)};

    s.context = make_context(s.device, 1);
    s.second = make_context(s.device, 1);
    s.physical = make_context(s.device, 0);
    for (int i = 0; i < 8; i++)
        s.fences[i] = make_fence(s.device, 0);
    fail_each_allocation(&s, "device", op_device);
    fail_each_allocation(&s, "context", op_context);
    fail_each_allocation(&s, "physical context", op_physical_context);
    fail_each_allocation(&s, "fence", op_fence);
    fail_each_allocation(&s, "submit", op_submit);
    fail_each_allocation(&s, "render", op_render);
    fail_each_allocation(&s, "wait", op_wait);
    fail_each_allocation(&s, "signal", op_signal);
    fail_each_allocation(&s, "event", op_event);
    fail_each_allocation(&s, "cpu wait", op_cpu_wait);
    vidsch_device_destroy(s.device);
}

TEST_WITH(fixture, a_failed_resize_keeps_the_old_sizes)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 0);
    struct util_heap *heap = &f->sim->heap;

    render(context, 16);
    vidsch_device_wait_idle(device);
    for (uint64_t n = 1; n < 40; n++) {
        D3DKMT_RENDER args = {.CommandLength = 16,
                              .NewCommandBufferSize = 65536,
                              .NewAllocationListSize = 1000,
                              .NewPatchLocationListSize = 1000};

        args.Flags.ResizeCommandBuffer = args.Flags.ResizeAllocationList =
            args.Flags.ResizePatchLocationList = 1;
        heap->fail_at = heap->requests + n;
        if (vidsch_render(context, &args) == STATUS_SUCCESS) {
            CHECK_RULE("KMT-305",
                       args.NewCommandBufferSize == 8192 || args.NewCommandBufferSize == 65536);
            memset(args.pNewCommandBuffer, 1, args.NewCommandBufferSize);
            CHECK(context->reserve && context->reserve->capacity == args.NewCommandBufferSize);
        }
        heap->fail_at = 0;
        args.NewCommandBufferSize = args.NewAllocationListSize = args.NewPatchLocationListSize = 0;
        CHECK(vidsch_render(context, &args) == STATUS_SUCCESS && vidsch_validate(f->vidsch));
        vidsch_device_wait_idle(device);
    }
    vidsch_device_destroy(device);
}

static void nothing(struct fixture *f)
{
    (void)f;
}

TEST(starting_fails_cleanly)
{
    bool done = false;

    for (uint64_t n = 1; n < 100 && !done; n++) {
        struct fixture *f = fixture_run(&(struct fixture_options){.fail_start = n}, nothing);

        CHECK(f->finished && !f->bug.happened && f->leaked == 0 && f->pages_lost == 0 &&
              f->mapped == 0);
        CHECK(f->start_status == STATUS_SUCCESS || f->start_status == STATUS_NO_MEMORY);
        done = f->start_status == STATUS_SUCCESS;
        fixture_close(f);
    }
    CHECK(done);
}

TEST(creating_fails_cleanly)
{
    struct fixture *f = fixture_run(NULL, nothing);
    struct util_heap *heap = &f->sim->heap;
    struct vidsch *vidsch = NULL;
    NTSTATUS status = STATUS_NO_MEMORY;

    f->config.node = f->info;
    for (uint64_t n = 1; status == STATUS_NO_MEMORY; n++) {
        uint64_t blocks = heap->live_blocks;

        heap->fail_at = heap->requests + n;
        status = vidsch_create(&f->config, &vidsch);
        heap->fail_at = 0;
        CHECK(status == STATUS_SUCCESS || (!vidsch && heap->live_blocks == blocks));
    }
    CHECK(status == STATUS_SUCCESS);
    vidsch_destroy(vidsch);
    fixture_close(f);
}

/* ---- random ---- */

enum { CLIENTS = 4, STEPS = 2000 };

struct client {
    struct fixture *f;
    uint32_t index;
    struct vidsch_device *device;
    struct vidsch_context *contexts[3];
    struct vidsch_sync *fence;
    UINT64 queued;
    uint32_t lost;
};

static void open_client(struct client *c)
{
    D3DKMT_CREATEDEVICEFLAGS flags = {0};

    c->device = NULL;
    while (vidsch_device_create(c->f->vidsch, c->index & 1 ? &c->f->other_client : &c->f->client,
                                &flags, &c->device) != STATUS_SUCCESS)
        pass(MS);
    for (UINT i = 0; i < 3; i++) {
        struct vidsch_context_request request = {.node = i, .virtual_addressing = i > 0};

        c->contexts[i] = NULL;
        if (vidsch_context_create(c->device, &request, &c->contexts[i]) != STATUS_SUCCESS)
            return;
    }
    {
        D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info = {.Type = D3DDDI_MONITORED_FENCE};

        c->fence = NULL;
        c->queued = 0;
        vidsch_sync_create(c->device, &info, &c->fence);
    }
}

static bool is_usable(const struct client *c)
{
    return vidsch_device_check(c->device, true) == STATUS_SUCCESS && c->contexts[2] && c->fence;
}

static void one_step(struct client *c)
{
    struct vidsch_context *context = c->contexts[sim_random(3)];

    switch (sim_random(10)) {
    case 0:
    case 1:
    case 2:
        if (context->has_lists)
            render(context, 16 * sim_random(30));
        else
            submit(context, 0x1000, 16);
        break;
    case 3:
        if (signal_gpu(context, c->fence, c->queued + 1) == STATUS_SUCCESS)
            c->queued++;
        break;
    case 4:
        if (c->queued)
            wait_gpu(context, c->fence, 1 + sim_random((uint32_t)c->queued));
        break;
    case 5:
        if (sim_random(4) == 0)
            wait_cpu(c->fence, c->queued);
        break;
    case 6:
        vidsch_context_set_priority(context, (INT)sim_random(15) - 7);
        break;
    case 7:
        pass(1000 * sim_random(500));
        break;
    case 8: /* something is paged out, and in again */
        c->device->mm->missing = true;
        pass(1000 * sim_random(300));
        c->device->mm->missing = false;
        vidsch_for_vidmm.device_resident(c->device->mm);
        break;
    default:
        if (sim_random(30) == 0)
            vidsch_device_mark_error(c->device, D3DKMT_DEVICEEXECUTION_HUNG);
        break;
    }
}

static void client_thread(void *arg)
{
    struct client *c = arg;

    open_client(c);
    for (int i = 0; i < STEPS; i++) {
        if (is_usable(c))
            one_step(c);
        if (!is_usable(c) || sim_random(100) == 0) {
            c->lost++;
            if (c->fence && vidsch_device_check(c->device, true) == STATUS_SUCCESS)
                wait_cpu(c->fence, c->queued);
            vidsch_device_destroy(c->device);
            open_client(c);
        }
        if (!vidsch_validate(c->f->vidsch))
            fail_msg("seed %llu, client %u, step %d", (unsigned long long)c->f->options.seed,
                     c->index, i);
    }
    vidsch_device_destroy(c->device);
}

static void pager_thread(void *arg)
{
    struct fixture *f = arg;

    for (int i = 0; i < 200; i++) {
        uint64_t ticket = page(f, sim_random(3) * 64);

        if (sim_random(3) == 0)
            CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, ticket) == STATUS_SUCCESS);
        pass(1000 * sim_random(300));
    }
}

/* Nothing of one process runs, as while its page tables move. The node must come back, or
 * suspending waits for a reset. */
static void suspend_for_a_while(struct fixture *f, struct fake_engine *engine)
{
    struct vidmm_process *process = sim_random(2) ? &f->client : &f->other_client;

    engine->ignores_preemption = false;
    driver_run(f, engine->ordinal);
    vidsch_for_vidmm.process_suspend(process);
    pass(1000 * sim_random(1000));
    vidsch_for_vidmm.process_resume(process);
}

static void random_clients(struct fixture *f)
{
    static struct client clients[CLIENTS];
    struct sim_thread *threads[CLIENTS + 1];
    uint32_t resets = 0;

    for (uint32_t i = 0; i < 3; i++)
        f->driver.engine[i].run_ns = 20000 + 30000 * i;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.f = f, .index = i};
        threads[i] = spawn_in(i & 1 ? f->other_process : f->process, client_thread, &clients[i]);
    }
    threads[CLIENTS] = spawn(f, pager_thread, f);
    for (;;) {
        bool running = false;

        for (uint32_t i = 0; i <= CLIENTS; i++)
            running |= !sim_thread_ended(threads[i]);
        if (!running)
            break;
        pass(MS);
        if (sim_random(3) == 0 && resets < 30) { /* something goes wrong on a node */
            struct fake_engine *engine = &f->driver.engine[sim_random(3)];

            resets++;
            engine->hang = true;
            engine->ignores_preemption = sim_random(2);
            if (sim_random(3) == 0)
                suspend_for_a_while(f, engine);
            else
                pass(sim_random(2) ? 5 * SECOND : 30 * MS);
            engine->ignores_preemption = false;
            driver_run(f, engine->ordinal);
        }
        if (!vidsch_validate(f->vidsch))
            fail_msg("seed %llu", (unsigned long long)f->options.seed);
    }
    for (uint32_t i = 0; i <= CLIENTS; i++)
        sim_thread_release(threads[i]);
}

TEST(random_runs)
{
    const uint64_t seeds = getenv("DXGK_LONG") ? 1000 : 15;
    uint32_t total[CALL_KINDS] = {0};

    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct vidsch_tdr_settings tdr = {
            .level = 3, .debug_mode = 3, .limit_count = 1000, .enable_preemption = true};

        struct fixture *f = fixture_run(&(struct fixture_options){.seed = seed,
                                                                  .nodes = 3,
                                                                  .virtual_mask = 6,
                                                                  .cancel_aware = seed & 1,
                                                                  .tdr = tdr,
                                                                  .no_engine_reset = seed % 3 == 0,
                                                                  .depth = 1 + (uint32_t)seed % 4},
                                        random_clients);

        if (!f->finished || f->bug.happened || f->leaked || f->pages_lost || f->mapped)
            fail_msg("seed %llu: %s", (unsigned long long)seed,
                     f->bug.happened ? f->bug.rule : "not clean");
        for (uint32_t kind = 0; kind < CALL_KINDS; kind++)
            total[kind] += calls_of(f, (enum call_kind)kind);
        fixture_close(f);
    }
    for (uint32_t kind = 0; kind < CALL_KINDS; kind++)
        if (total[kind] < 10) /* everything that can happen should */
            fail_msg("call %u was made %u times only", kind, total[kind]);
}

TEST(the_same_seed_is_the_same_run)
{
    uint64_t results[2][3];

    for (int i = 0; i < 2; i++) {
        struct vidsch_tdr_settings tdr = {
            .level = 3, .debug_mode = 3, .limit_count = 1000, .enable_preemption = true};
        struct fixture *f = fixture_run(
            &(struct fixture_options){.seed = 99, .nodes = 3, .virtual_mask = 6, .tdr = tdr},
            random_clients);

        results[i][0] = f->sim->now;
        results[i][1] = f->driver.call_count;
        results[i][2] = f->ddi.calls;
        CHECK(f->finished);
        fixture_close(f);
    }
    CHECK(memcmp(results[0], results[1], sizeof(results[0])) == 0);
}
