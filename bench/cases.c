/* SPDX-License-Identifier: MIT */
/* Cases on a whole machine: first submission, empty submissions, patches, GPU virtual addresses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "util/rng.h"

#define DRAIN_EVERY 64u

/* ---- first submission ---- */

static void render_nothing(struct bench_client *c, const struct refgpu_builder *b, UINT allocations)
{
    D3DKMT_RENDER render;

    memset(&render, 0, sizeof(render));
    render.hContext = c->physical;
    render.CommandLength = refgpu_builder_bytes(b);
    render.AllocationCount = allocations;
    bench_check("D3DKMTRender", D3DKMTRender(&render));
    c->commands = render.pNewCommandBuffer;
    c->command_bytes = render.NewCommandBufferSize;
    c->list = render.pNewAllocationList;
    c->list_count = render.NewAllocationListSize;
}

static void first_client(void *argument)
{
    struct bench_client c;
    struct refgpu_builder b;

    (void)argument;
    bench_client_open(&c);
    refgpu_builder_init(&b, c.commands, c.command_bytes);
    refgpu_nop(&b);
    render_nothing(&c, &b, 0);
    bench_drain(&c, c.physical);
    if (write(STDOUT_FILENO, "done", 4) != 4)
        bench_die("cannot report");
    bench_client_close(&c);
}

int bench_first_submission_child(void)
{
    bench_on_machine(first_client, NULL);
    return 0;
}

void bench_first_submission(void)
{
    unsigned repetitions = bench_options.quick ? 3 : 15;
    double best = 1e9, total = 0;

    for (unsigned i = 0; i < repetitions; i++) {
        int ends[2];
        char text[4];
        double start = bench_now(), took;
        pid_t child;

        if (pipe(ends) != 0)
            bench_die("no pipe");
        child = fork();
        if (child < 0)
            bench_die("no process");
        if (child == 0) {
            dup2(ends[1], STDOUT_FILENO);
            close(ends[0]);
            execl("/proc/self/exe", "dxgk-bench", "--first-submission-child", (char *)NULL);
            _exit(127);
        }
        close(ends[1]);
        if (read(ends[0], text, sizeof(text)) != (ssize_t)sizeof(text))
            bench_die("the child failed");
        took = bench_now() - start;
        close(ends[0]);
        waitpid(child, NULL, 0);
        best = took < best ? took : best;
        total += took;
    }
    bench_milliseconds("first submission, best", best);
    bench_milliseconds("first submission, mean", total / repetitions);
}

/* ---- empty submissions ---- */

static void submit_virtual(struct bench_client *c, D3DGPU_VIRTUAL_ADDRESS va, UINT bytes)
{
    D3DKMT_SUBMITCOMMAND args;

    memset(&args, 0, offsetof(D3DKMT_SUBMITCOMMAND, BroadcastContext));
    memset(&args.pPrivateDriverData, 0,
           sizeof(args) - offsetof(D3DKMT_SUBMITCOMMAND, pPrivateDriverData));
    args.Commands = va;
    args.CommandLength = bytes;
    args.BroadcastContextCount = 1;
    args.BroadcastContext[0] = c->virtual;
    bench_check("D3DKMTSubmitCommand", D3DKMTSubmitCommand(&args));
}

/* One command that does nothing, into a CPU-visible allocation. */
static void write_nop(struct bench_client *c, D3DKMT_HANDLE allocation)
{
    D3DKMT_LOCK2 lock;
    D3DKMT_UNLOCK2 unlock;
    struct refgpu_builder b;

    memset(&lock, 0, sizeof(lock));
    lock.hDevice = c->device;
    lock.hAllocation = allocation;
    bench_check("D3DKMTLock2", D3DKMTLock2(&lock));
    refgpu_builder_init(&b, lock.pData, 4096);
    refgpu_nop(&b);
    memset(&unlock, 0, sizeof(unlock));
    unlock.hDevice = c->device;
    unlock.hAllocation = allocation;
    bench_check("D3DKMTUnlock2", D3DKMTUnlock2(&unlock));
}

static void submit_client(void *argument)
{
    uint64_t live = *(uint64_t *)argument;
    uint64_t count = bench_options.quick ? 2000 : 400000;
    struct bench_client c;
    D3DKMT_HANDLE *list, command_buffer;
    D3DGPU_VIRTUAL_ADDRESS va;
    UINT64 fence;
    double start;

    bench_client_open(&c);
    list = bench_make_live(&c, live);
    start = bench_now();
    for (uint64_t i = 1; i <= count; i++) {
        struct refgpu_builder b;

        refgpu_builder_init(&b, c.commands, c.command_bytes);
        refgpu_nop(&b);
        render_nothing(&c, &b, 0);
        if (i % DRAIN_EVERY == 0)
            bench_drain(&c, c.physical);
    }
    bench_drain(&c, c.physical);
    bench_result("submit, physical (Render)", live, count, bench_now() - start);

    command_buffer = bench_allocate(&c, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE);
    bench_make_resident(&c, &command_buffer, 1);
    va = bench_map_pages(&c, command_buffer, 1, &fence);
    bench_wait_queue(&c, fence);
    write_nop(&c, command_buffer);
    start = bench_now();
    for (uint64_t i = 1; i <= count; i++) {
        submit_virtual(&c, va, 4);
        if (i % DRAIN_EVERY == 0)
            bench_drain(&c, c.virtual);
    }
    bench_drain(&c, c.virtual);
    bench_result("submit, virtual (SubmitCommand)", live, count, bench_now() - start);
    bench_free(&c, &command_buffer, 1);
    bench_drop_live(&c, list, live);
    bench_client_close(&c);
}

void bench_submit(void)
{
    for (size_t i = 0; i < (bench_options.quick ? 1u : 3u); i++) {
        uint64_t live = bench_live_counts[i];

        bench_on_machine(submit_client, &live);
    }
}

/* ---- patches ---- */

struct patch_run {
    uint32_t allocations; /* at most 64 */
    uint32_t commands; /* copies in a submission, two addresses each, two patch locations an address */
    uint64_t submissions;
    double seconds; /* what they took; out */
};

static void fill_copies(const struct patch_run *run, struct bench_client *c,
                        struct refgpu_builder *b)
{
    refgpu_builder_init(b, c->commands, c->command_bytes);
    for (uint32_t i = 0; i < run->commands; i++)
        refgpu_copy(b, REFGPU_REF(i % run->allocations, 64 * i),
                    REFGPU_REF((i + 3) % run->allocations, 64 * i), 4);
    if (b->overflow)
        bench_die("the command buffer of %u bytes is too small", c->command_bytes);
}

static void patch_client(void *argument)
{
    struct patch_run *run = argument;
    struct bench_client c;
    D3DKMT_HANDLE list[64];
    double start;

    bench_client_open(&c);
    for (uint32_t i = 0; i < run->allocations; i++)
        list[i] = bench_allocate(&c, 1 << 16, REFGPU_ALLOCATION_PHYSICAL, REFGPU_IN_VRAM);
    bench_make_resident(&c, list, run->allocations);
    start = bench_now();
    for (uint64_t n = 1; n <= run->submissions; n++) {
        struct refgpu_builder b;

        fill_copies(run, &c, &b);
        for (uint32_t i = 0; i < run->allocations; i++) {
            c.list[i].hAllocation = list[i];
            c.list[i].Value = 1;
        }
        render_nothing(&c, &b, run->allocations);
        if (n % 8 == 0)
            bench_drain(&c, c.physical);
    }
    bench_drain(&c, c.physical);
    run->seconds = bench_now() - start;
    bench_free(&c, list, run->allocations);
    bench_client_close(&c);
}

/* The least of some turns, without and with the check of DxgkDdiPatch, turn by turn. */
static void compare_checked(struct patch_run run)
{
    double least[2] = {1e9, 1e9};
    struct dxgk_machine_config config;

    dxgk_machine_config_init(&config);
    for (unsigned turn = 0; turn < (bench_options.quick ? 2u : 10u); turn++) {
        config.unchecked_patches = turn % 2 == 0;
        bench_on_machine_as(&config, patch_client, &run);
        if (run.seconds < least[turn % 2])
            least[turn % 2] = run.seconds;
    }
    bench_result("submission, 64 allocations and 256 patch locations, unchecked", 0,
                 run.submissions, least[0]);
    bench_result("the same, DxgkDdiPatch checked", 0, run.submissions, least[1]);
    printf("%-52s  %.3f times\n", "checked, to unchecked", least[1] / least[0]);
}

void bench_patches(void)
{
    struct patch_run run = {
        .allocations = 8, .commands = 200, .submissions = bench_options.quick ? 20 : 5000};

    bench_on_machine(patch_client, &run);
    bench_result("patch locations", 0, run.submissions * run.commands * 4, run.seconds);
    compare_checked((struct patch_run){
        .allocations = 64, .commands = 64, .submissions = bench_options.quick ? 20 : 2000});
}
