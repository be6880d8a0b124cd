/* SPDX-License-Identifier: MIT */
/* The paging fence, signalled by the driver: with operation 16, or by its entry (GPUVA-242, GPUVA-243). */
#include "port/support/paged.h"

#include <string.h>

static struct probe_gpu gpu;

/* ---- the driver ---- */

static struct {
    DXGKARG_SIGNALMONITOREDFENCE args; /* of the latest call */
    HANDLE context;
    unsigned calls;
    uint8_t irql;
    bool ordered, rising; /* whether all calls came last in a buffer; each with the next value */
    uint64_t value, va;   /* of the latest signal of either kind */
    uint64_t order;       /* of its call */
    bool unsubmitted;     /* other operations have been built since the latest one */
    unsigned submissions, submitted_without;
} seen;

static enum { SILENT, SOUND, EARLY, WRONG } habit;

static void signalled(const struct probe_call *call, uint64_t va, uint64_t value)
{
    seen.rising &= value == seen.value + 1 && (!seen.va || va == seen.va);
    seen.value = value;
    seen.va = va;
    seen.order = call->order;
    seen.unsubmitted = false;
}

static void by_entry(struct probe *p, struct probe_call *call)
{
    DXGKARG_SIGNALMONITOREDFENCE *args = (void *)(uintptr_t)call->arg[1];

    (void)p;
    seen.args = *args;
    seen.context = (HANDLE)(uintptr_t)call->arg[0];
    seen.irql = call->irql;
    seen.calls++;
    signalled(call, args->MonitoredFenceGpuVa, args->MonitoredFenceValue);
    memset(args->pDmaBuffer, 16, 64);
    args->pDmaBuffer = (uint8_t *)args->pDmaBuffer + 64;
    if (habit == EARLY)
        *(volatile uint64_t *)args->MonitoredFenceCpuVa = args->MonitoredFenceValue;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static probe_hook *note_operation;

static void by_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const void *)(uintptr_t)call->arg[1];

    note_operation(p, call);
    if (args->Operation == DXGK_OPERATION_SIGNAL_MONITORED_FENCE)
        signalled(call, args->SignalMonitoredFence.MonitoredFenceGpuVa,
                  args->SignalMonitoredFence.MonitoredFenceValue);
    else if (args->pDmaBuffer)
        seen.unsubmitted = true;
}

/* As the GPU would. */
static void submit(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.Paging)
        return;
    seen.submissions++;
    seen.submitted_without += seen.unsubmitted;
    if (seen.calls && (habit == SOUND || habit == WRONG))
        *(volatile uint64_t *)seen.args.MonitoredFenceCpuVa = seen.value + (habit == WRONG);
}

/* ---- the client ---- */

static void body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    paged.segments = 1;
    for (unsigned i = 0; i < 4; i++) {
        CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, 3 * PAGED_MIB, &allocation)));
        CHECK(NT_SUCCESS(paged_evict(&gpu, allocation)));
    }
    probe_sleep(PROBE_SECOND);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static uint64_t reports;
static bool said_early, said_instead, said_entry, said_first;

/* How many signals by the operation. */
static unsigned run(UINT version, DXGK_WDDMVERSION wddm, bool wanted, bool entry)
{
    const struct probe_options options = {.version = version, .port = {.driver_fences = wanted}};
    struct probe *p = probe_create(&options);
    struct probe_client *client;
    unsigned count;

    memset(&seen, 0, sizeof(seen));
    seen.rising = true;
    paged_watch(p);
    note_operation = p->before[PROBE_BuildPagingBuffer];
    p->before[PROBE_BuildPagingBuffer] = by_operation;
    p->before[PROBE_SubmitCommandVirtual] = submit;
    p->before[PROBE_SignalMonitoredFence] = by_entry;
    probe_set_entry(p, PROBE_SignalMonitoredFence, entry);
    p->caps.WDDMVersion = p->device_wddm = wddm;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    count = paged_count(DXGK_OPERATION_SIGNAL_MONITORED_FENCE, 0);
    reports = probe_rule(p, "GPUVA-242");
    said_early = probe_said(p, "GPUVA-242", "was not submitted yet");
    said_instead = probe_said(p, "GPUVA-242", "instead of");
    said_first = probe_said(p, "GPUVA-242", "has the value 0x0 instead of 0x1");
    said_entry = probe_said(p, "GPUVA-242", "DxgkDdiSignalMonitoredFence: ");
    probe_clients_end(p);
    probe_destroy(p);
    return count;
}

#define V(minor) DXGKDDI_INTERFACE_VERSION_WDDM2_##minor, DXGKDDI_WDDMv2_##minor

TEST(paging_buffers_end_with_the_fence)
{
    unsigned count;

    habit = SILENT;
    CHECK_RULE("GPUVA-242/b",
               run(DXGKDDI_INTERFACE_VERSION_WDDM2_0, DXGKDDI_WDDMv2, true, true) == 0);
    CHECK_RULE("GPUVA-242/b", run(V(1), true, true) == 0 && seen.calls == 0 && reports == 0);
    CHECK_RULE("GPUVA-242/c", run(V(9), false, true) == 0 && seen.calls == 0 && reports == 0);
    count = run(V(2), true, false);
    CHECK_RULE("GPUVA-242/a", count >= 8 && seen.rising && seen.va && seen.value == count);
    CHECK_RULE("PAGE-078", seen.submissions == count && seen.submitted_without == 0);
    CHECK_RULE("GPUVA-242/d", reports && said_instead && !said_early && !said_entry);
}

TEST(the_entry_takes_the_place_of_the_operation)
{
    habit = SOUND;
    CHECK_RULE("GPUVA-243/a", run(V(4), true, true) >= 8 && seen.calls == 0);
    CHECK_RULE("GPUVA-243/a", run(V(5), true, false) >= 8);
    CHECK_RULE("GPUVA-243/a", run(V(5), true, true) == 0 && seen.calls >= 8);
    CHECK_RULE("GPUVA-243/a", run(V(9), true, true) == 0 && seen.calls >= 8);
    CHECK_RULE("PAGE-078", seen.submissions == seen.calls && seen.submitted_without == 0);
    CHECK_RULE("GPUVA-243/b", seen.context && seen.context == paged.system_context &&
                                  seen.irql == PASSIVE_LEVEL && seen.rising);
    CHECK_RULE("GPUVA-243/b",
               seen.args.KernelSubmissionType == DXGK_KERNEL_SUBMISSION_BUILD_PAGING_BUFFER &&
                   seen.args.pDmaBuffer && seen.args.DmaSize >= 64 &&
                   seen.args.DmaBufferGpuVirtualAddress && seen.args.hHwQueue == NULL &&
                   seen.args.MultipassOffset == 0);
    CHECK_RULE("GPUVA-242/d", reports == 0);
}

TEST(what_the_driver_writes_is_checked)
{
    habit = SILENT;
    CHECK(run(V(9), true, true) == 0);
    CHECK_RULE("GPUVA-242/d", reports && said_first && !said_early && said_entry);
    habit = EARLY;
    CHECK(run(V(9), true, true) == 0);
    CHECK_RULE("GPUVA-242/d", reports == seen.calls && said_early && !said_instead && said_entry);
    habit = WRONG;
    CHECK(run(V(9), true, true) == 0);
    CHECK_RULE("GPUVA-242/d", reports && said_instead);
}
