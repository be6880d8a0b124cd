/* SPDX-License-Identifier: MIT */
/* Submissions to hardware queues, through the driver and the device that schedules them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "util/array.h"

#define DRAIN_EVERY 64u
#define MOST_QUEUES 8u

static const char settings[] =
    "[\\Registry\\Machine\\System\\CurrentControlSet\\Control\\GraphicsDrivers]\n"
    "\"HwSchMode\"=4:02000000\n"
    "[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\refgpu]\n"
    "\"HardwareScheduling\"=4:01000000\n";

static void wait_for(const struct bench_client *c, D3DKMT_HANDLE fence, UINT64 value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait = {.hDevice = c->device,
                                                       .ObjectCount = 1,
                                                       .ObjectHandleArray = &fence,
                                                       .FenceValueArray = &value};

    bench_check("D3DKMTWaitForSynchronizationObjectFromCpu",
                D3DKMTWaitForSynchronizationObjectFromCpu(&wait));
}

/* Queues of a context each. */
static void open_queues(const struct bench_client *c, uint64_t count, D3DKMT_CREATEHWQUEUE *queue)
{
    for (uint64_t i = 0; i < count; i++) {
        D3DKMT_CREATEHWCONTEXT context = {.hDevice = c->device,
                                          .NodeOrdinal = REFGPU_NODE_SCHEDULED};

        bench_check("D3DKMTCreateHwContext", D3DKMTCreateHwContext(&context));
        queue[i] = (D3DKMT_CREATEHWQUEUE){.hHwContext = context.hHwContext};
        bench_check("D3DKMTCreateHwQueue", D3DKMTCreateHwQueue(&queue[i]));
    }
}

static void queue_client(void *argument)
{
    const uint64_t queues = *(uint64_t *)argument;
    const uint64_t count = bench_options.quick ? 2000 : 400000;
    D3DKMT_CREATEHWQUEUE queue[MOST_QUEUES];
    UINT64 id[MOST_QUEUES] = {0};
    struct bench_client c;
    double start;

    bench_client_open(&c);
    open_queues(&c, queues, queue);
    start = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t q = i % queues;
        D3DKMT_SUBMITCOMMANDTOHWQUEUE submit = {.hHwQueue = queue[q].hHwQueue,
                                                .HwQueueProgressFenceId = ++id[q]};

        bench_check("D3DKMTSubmitCommandToHwQueue", D3DKMTSubmitCommandToHwQueue(&submit));
        if ((i + 1) % (DRAIN_EVERY * queues) == 0)
            for (uint64_t n = 0; n < queues; n++)
                wait_for(&c, queue[n].hHwQueueProgressFence, id[n]);
    }
    for (uint64_t n = 0; n < queues; n++)
        wait_for(&c, queue[n].hHwQueueProgressFence, id[n]);
    bench_result("submit, hardware queues", queues, count, bench_now() - start);
    bench_client_close(&c);
}

void bench_queues(void)
{
    static const uint64_t counts[] = {1, MOST_QUEUES};
    char path[] = "/tmp/dxgk-bench-XXXXXX";
    const int file = mkstemp(path);

    if (file < 0 || write(file, settings, sizeof(settings) - 1) != (ssize_t)sizeof(settings) - 1)
        bench_die("no file for the registry");
    close(file);
    bench_options.registry = path;
    for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
        uint64_t queues = counts[i];

        bench_on_machine(queue_client, &queues);
    }
    bench_options.registry = NULL;
    (void)unlink(path);
}
