/* SPDX-License-Identifier: MIT */
/* Hardware contexts and hardware queues: creation, commands, progress, destruction, and an adapter that is stopped meanwhile. */
#include "port/support/hardware.h"

#include "port/record/adapter_record.h"
#include "sim/machine.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct hardware_client client;

/* A client's body on a started adapter, and the client's end. */
static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- contexts ---- */

static void contexts_body(struct probe *p)
{
    D3DKMT_CREATEHWCONTEXT args = {.NodeOrdinal = 0};
    D3DKMT_DESTROYHWCONTEXT destroy;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK_RULE("KMT-169", probe_count(p, PROBE_CreateHwContext) == 1 && client.context &&
                              hardware.create_context.NodeOrdinal == HARDWARE_NODE &&
                              hardware.create_context.PrivateDriverDataSize == 8);
    args.hDevice = client.gpu.device;
    CHECK_RULE("KMT-170", IS(D3DKMTCreateHwContext(&args), STATUS_NOT_SUPPORTED) &&
                              strstr(probe_refused_text, "node 0 is not hardware-scheduled"));
    args.NodeOrdinal = HARDWARE_NODE;
    args.Flags.Value = 1;
    CHECK_RULE("KMT-170", IS(D3DKMTCreateHwContext(&args), STATUS_INVALID_PARAMETER));
    args.Flags.Value = 0;
    args.NodeOrdinal = 3;
    CHECK_RULE("KMT-170", IS(D3DKMTCreateHwContext(&args), STATUS_INVALID_PARAMETER));
    args.NodeOrdinal = HARDWARE_NODE;
    args.PrivateDriverDataSize = 4;
    CHECK_RULE("KMT-170", IS(D3DKMTCreateHwContext(&args), STATUS_INVALID_PARAMETER));
    args.PrivateDriverDataSize = 0;
    p->before[PROBE_CreateHwContext] = probe_fail_call;
    p->after[PROBE_CreateHwContext] = NULL;
    CHECK_RULE("KMT-170", IS(D3DKMTCreateHwContext(&args), STATUS_UNSUCCESSFUL));
    CHECK(probe_count(p, PROBE_CreateHwContext) == 2);
    destroy.hHwContext = client.gpu.context;
    CHECK(IS(D3DKMTDestroyHwContext(&destroy), STATUS_INVALID_PARAMETER));
    destroy.hHwContext = client.context;
    CHECK_RULE("KMT-171", NT_SUCCESS(D3DKMTDestroyHwContext(&destroy)) &&
                              probe_count(p, PROBE_DestroyHwContext) == 1);
    CHECK_RULE("KMT-172", probe_count(p, PROBE_DestroyHwQueue) == 1 &&
                              probe_nth(p, PROBE_DestroyHwQueue, 0)->order <
                                  probe_nth(p, PROBE_DestroyHwContext, 0)->order);
    CHECK_RULE("KMT-031", IS(hardware_submit(&client, 1), STATUS_INVALID_PARAMETER));
    CHECK(IS(D3DKMTDestroyHwContext(&destroy), STATUS_INVALID_PARAMETER));
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(hardware_contexts_are_made_and_destroyed)
{
    run(hardware_create(NULL), contexts_body);
}

static void without_body(struct probe *p)
{
    D3DKMT_CREATECONTEXTVIRTUAL queues = {.NodeOrdinal = HARDWARE_NODE};
    D3DKMT_CREATEHWCONTEXT args = {.NodeOrdinal = HARDWARE_NODE};

    CHECK(NT_SUCCESS(probe_gpu_begin(&client.gpu)));
    args.hDevice = queues.hDevice = client.gpu.device;
    queues.Flags.HwQueueSupported = 1;
    CHECK_RULE("KMT-170", IS(D3DKMTCreateHwContext(&args), STATUS_NOT_SUPPORTED) &&
                              probe_count(p, PROBE_CreateHwContext) == 0);
    CHECK_RULE("KMT-170", IS(D3DKMTCreateContextVirtual(&queues), STATUS_NOT_SUPPORTED));
    CHECK_RULE("SUBMIT-119", probe_count(p, PROBE_SetupPriorityBands) == 0 &&
                                 probe_count(p, PROBE_SetContextSchedulingProperties) == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

/* No flag; not asked for; without an entry. */
TEST(there_are_none_without_the_flag_the_feature_or_the_entries)
{
    for (unsigned i = 0; i < 3; i++) {
        struct probe *p = hardware_create(NULL);

        if (i == 0)
            p->node[HARDWARE_NODE].Flags.ContextSchedulingSupported = 0;
        else if (i == 1)
            p->after[PROBE_StartDevice] = NULL;
        else
            probe_set_entry(p, PROBE_SubmitCommandToHwQueue, false);
        run(p, without_body);
    }
}

/* ---- queues ---- */

static void queue_body(struct probe *p)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU signal;
    D3DKMT_DESTROYSYNCHRONIZATIONOBJECT sync;
    const DXGKARG_SUBMITCOMMANDTOHWQUEUE *given = &hardware.submission[0].args;
    D3DKMT_DESTROYHWQUEUE destroy;
    static const UINT64 nine = 9;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK_RULE("KMT-173",
               client.queue && client.fence && client.value && *client.value == 0 &&
                   client.va == hardware.create_queue.HwQueueProgressFenceGPUVirtualAddress &&
                   client.va && hardware.create_queue.hHwQueueProgressFence == client.fence);
    CHECK_RULE("KMT-177", memcmp(hardware.create_private, "queue", 6) == 0);
    CHECK_RULE("KMT-325", NT_SUCCESS(hardware_submit(&client, 1)) &&
                              NT_SUCCESS(hardware_wait(&client, 1)) && *client.value == 1);
    CHECK_RULE("KMT-325", hardware.submissions == 1 && given->HwQueueProgressFenceId == 1 &&
                              given->DmaBufferVirtualAddress == 0x10000 &&
                              given->DmaBufferSize == 64 && given->DmaBufferPrivateDataSize == 8 &&
                              memcmp(hardware.submission[0].private_data, "command", 8) == 0);
    CHECK_RULE("SUBMIT-115", given->Flags.Value == 0 &&
                                 given->HwQueueProgressFenceGpuVa == client.va &&
                                 given->HwQueueProgressFenceCpuVa ==
                                     hardware.create_queue.HwQueueProgressFenceCPUVirtualAddress);
    CHECK_RULE("KMT-326", NT_SUCCESS(hardware_submit(&client, 5)) &&
                              IS(hardware_submit(&client, 5), STATUS_INVALID_PARAMETER) &&
                              strstr(probe_refused_text, "progress fence id 5, the last one"));
    CHECK_RULE("KMT-326", NT_SUCCESS(hardware_submit(&client, 6)));
    CHECK(NT_SUCCESS(hardware_wait(&client, 6)) && hardware.submissions == 3);
    CHECK_RULE("THREAD-041",
               hardware.submission[0].irql + hardware.submission[1].irql == DISPATCH_LEVEL);
    memset(&signal, 0, sizeof(signal));
    signal.hDevice = client.gpu.device;
    signal.ObjectCount = 1;
    signal.ObjectHandleArray = &client.fence;
    signal.FenceValueArray = &nine;
    CHECK_RULE("KMT-174",
               IS(D3DKMTSignalSynchronizationObjectFromCpu(&signal), STATUS_ACCESS_DENIED));
    sync.hSyncObject = client.fence;
    CHECK_RULE("KMT-174", IS(D3DKMTDestroySynchronizationObject(&sync), STATUS_INVALID_PARAMETER) &&
                              strstr(probe_refused_text, "the progress fence of a hardware queue"));
    destroy.hHwQueue = client.queue;
    CHECK_RULE("KMT-178", NT_SUCCESS(D3DKMTDestroyHwQueue(&destroy)) &&
                              probe_count(p, PROBE_DestroyHwQueue) == 1);
    CHECK_RULE("KMT-178", IS(hardware_wait(&client, 1), STATUS_INVALID_PARAMETER));
    CHECK(IS(D3DKMTDestroyHwQueue(&destroy), STATUS_INVALID_PARAMETER));
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
    CHECK_RULE("KMT-118", probe_nth(p, PROBE_DestroyHwContext, 0)->order <
                              probe_nth(p, PROBE_DestroyDevice, 0)->order);
}

TEST(a_command_of_a_queue_ends_with_its_progress_fence)
{
    run(hardware_create(NULL), queue_body);
}

/* ---- the adapter stops ---- */

static void leave_work_body(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)) && NT_SUCCESS(hardware_submit(&client, 2)));
    probe_sleep(1000000);
    CHECK(hardware_in_flight() == 2);
}

static void remove_body(struct probe *p)
{
    probe_remove(p, 0);
}

static void afterwards_body(struct probe *p)
{
    (void)p;
    CHECK_RULE("LIFE-168/b", IS(hardware_submit(&client, 3), STATUS_DEVICE_REMOVED));
}

/* What is in flight is given up once the GPU has let go of the context: by an interrupt, at once, or by a reset. */
TEST(a_stop_suspends_contexts_with_work_and_destroys_their_queues)
{
    static const enum hardware_suspend answers[] = {SUSPEND_ACKNOWLEDGED, SUSPEND_AT_ONCE,
                                                    SUSPEND_IGNORED};

    for (unsigned i = 0; i < 3; i++) {
        struct probe *p = hardware_create(NULL);
        struct probe_client *process;

        p->caps.SupportPerEngineTDR = TRUE;
        hardware.held = true;
        hardware.suspend = answers[i];
        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        process = probe_client_run(p, leave_work_body);
        CHECK(probe_run(p, remove_body) == SIM_DONE);
        CHECK_RULE("KMT-471", probe_count(p, PROBE_SuspendContext) == 1 &&
                                  probe_nth(p, PROBE_SuspendContext, 0)->order <
                                      probe_nth(p, PROBE_DestroyHwQueue, 0)->order);
        CHECK_RULE("LIFE-168/a", probe_nth(p, PROBE_DestroyHwQueue, 0)->order <
                                         probe_nth(p, PROBE_DestroyHwContext, 0)->order &&
                                     probe_nth(p, PROBE_DestroyHwContext, 0)->order <
                                         probe_nth(p, PROBE_DestroyDevice, 0)->order &&
                                     probe_nth(p, PROBE_DestroyDevice, 0)->order <
                                         probe_nth(p, PROBE_StopDevice, 0)->order);
        CHECK_RULE("TDR-074", probe_count(p, PROBE_ResetHwEngine) == (i == 2));
        CHECK(hardware.ended == 0);
        probe_client_go_on(p, process, afterwards_body);
        probe_client_end(p, process);
        probe_clients_end(p);
        probe_destroy(p);
    }
}

/* ---- a queue that is destroyed while it works ---- */

static void finish_later(struct probe *p)
{
    (void)p;
    probe_sleep(PROBE_SECOND / 2);
    CHECK_RULE("KMT-179", probe_count(p, PROBE_DestroyHwQueue) == 0);
    hardware_finish(2);
}

static void busy_body(struct probe *p)
{
    D3DKMT_DESTROYHWQUEUE destroy;
    uint64_t since;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)) && NT_SUCCESS(hardware_submit(&client, 2)));
    probe_sleep(1000000);
    since = sim_now();
    destroy.hHwQueue = client.queue;
    CHECK(NT_SUCCESS(D3DKMTDestroyHwQueue(&destroy)));
    CHECK_RULE("KMT-179", sim_now() - since >= PROBE_SECOND / 3 && hardware_in_flight() == 0 &&
                              probe_count(p, PROBE_SuspendContext) == 0 &&
                              probe_count(p, PROBE_DestroyHwQueue) == 1);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(a_queue_is_destroyed_when_its_commands_have_ended)
{
    struct probe *p = hardware_create(NULL);
    struct probe_client *busy, *helper;

    hardware.held = true;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    busy = probe_client_start(p, busy_body);
    helper = probe_client_run(p, finish_later);
    probe_client_wait(p, busy);
    probe_client_end(p, helper);
    probe_client_end(p, busy);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- many commands ---- */

static void many_body(struct probe *p)
{
    uint64_t since;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    hardware.suspend = SUSPEND_IGNORED;
    hardware.invalidate = (int)hardware.contexts - 1;
    since = sim_now();
    for (UINT64 id = 1; id <= 100000; id++)
        if (!NT_SUCCESS(hardware_submit(&client, id)))
            fail_msg("submission %llu failed", (unsigned long long)id);
    CHECK_RULE("KMT-313/c", sim_now() - since < PROBE_SECOND);
    probe_sleep(1000000);
    CHECK_RULE("KMT-313/c", hardware_in_flight() == 2);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
    CHECK(probe_count(p, PROBE_DestroyHwQueue) == 1);
}

TEST(commands_are_never_throttled)
{
    struct probe *p = hardware_create(NULL);

    p->caps.SupportPerEngineTDR = TRUE;
    p->node[HARDWARE_NODE].Flags.MaxInFlightHwQueueBuffers = 2;
    hardware.held = true;
    run(p, many_body);
}

/* ---- a queue that the driver refuses ---- */

/* What the memory manager has of a process's contexts holds together afterwards, which it did not. */
static void refused_body(struct probe *p)
{
    struct hardware_client more;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    more = client;
    p->before[PROBE_CreateHwQueue] = probe_fail_call;
    p->after[PROBE_CreateHwQueue] = NULL;
    for (unsigned i = 0; i < 3; i++)
        CHECK(IS(hardware_queue(&more, client.context, (D3DDDI_CREATEHWQUEUEFLAGS){0}),
                 STATUS_UNSUCCESSFUL));
    CHECK(probe_count(p, PROBE_CreateHwQueue) == 4);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
    CHECK(probe_count(p, PROBE_DestroyHwQueue) == 1);
}

TEST(a_queue_that_the_driver_refuses_leaves_nothing)
{
    run(hardware_create(NULL), refused_body);
}

/* ---- without memory ---- */

static void shortage_body(struct probe *p)
{
    const struct handle_table *handles = &p->adapter[0]->ddi.handles.table;
    struct hardware_client more;
    NTSTATUS status;
    uint32_t before;
    unsigned failed = 0;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    for (uint64_t at = 1;; at++) {
        more = client;
        before = handles->live;
        p->sim->heap.fail_at = p->sim->heap.requests + at;
        status = hardware_queue(&more, client.context, (D3DDDI_CREATEHWQUEUEFLAGS){0});
        p->sim->heap.fail_at = 0;
        if (NT_SUCCESS(status))
            break;
        failed++;
        CHECK_RULE("KMT-013", IS(status, STATUS_NO_MEMORY) && handles->live == before &&
                                  hardware_in_flight() == 0);
    }
    CHECK(failed > 4 && handles->live == before + 1);
    CHECK_RULE("KMT-013",
               NT_SUCCESS(hardware_submit(&more, 1)) && NT_SUCCESS(hardware_wait(&more, 1)));
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(a_queue_for_which_memory_was_short_leaves_no_handle)
{
    run(hardware_create(NULL), shortage_body);
}
