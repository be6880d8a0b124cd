/* SPDX-License-Identifier: MIT */
/* Waits and signals of hardware queues, contexts made with HwQueueSupported, the cap on buffers in flight, and priorities. */
#include "nt/base/current.h"
#include "port/support/hardware.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct hardware_client client;
static D3DKMT_HANDLE fence;
static volatile UINT64 *fence_value;

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

static D3DKMT_HANDLE make_object(D3DDDI_SYNCHRONIZATIONOBJECT_TYPE type)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create;

    memset(&create, 0, sizeof(create));
    create.hDevice = client.gpu.device;
    create.Info.Type = type;
    if (type == D3DDDI_SEMAPHORE)
        create.Info.Semaphore.MaxCount = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateSynchronizationObject2(&create)));
    if (type == D3DDDI_MONITORED_FENCE)
        fence_value = create.Info.MonitoredFence.FenceValueCPUVirtualAddress;
    return create.hSyncObject;
}

static NTSTATUS wait_for(const D3DKMT_HANDLE *objects, UINT count, UINT64 value)
{
    UINT64 values[40];
    D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE args = {.hHwQueue = client.queue,
                                                     .ObjectCount = count,
                                                     .ObjectHandleArray = objects,
                                                     .FenceValueArray = values};

    for (unsigned i = 0; i < 40; i++)
        values[i] = value;
    return D3DKMTSubmitWaitForSyncObjectsToHwQueue(&args);
}

static NTSTATUS signal_on(const D3DKMT_HANDLE *queues, ULONG queue_count, D3DKMT_HANDLE object,
                          UINT64 value, UINT flags)
{
    D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE args = {.Flags.Value = flags,
                                                    .BroadcastHwQueueCount = queue_count,
                                                    .BroadcastHwQueueArray = queues,
                                                    .ObjectCount = 1,
                                                    .ObjectHandleArray = &object,
                                                    .FenceValueArray = &value};

    return D3DKMTSubmitSignalSyncObjectsToHwQueue(&args);
}

static void signal_by_cpu(D3DKMT_HANDLE object, UINT64 value)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU args = {.hDevice = client.gpu.device,
                                                      .ObjectCount = 1,
                                                      .ObjectHandleArray = &object,
                                                      .FenceValueArray = &value};

    CHECK(NT_SUCCESS(D3DKMTSignalSynchronizationObjectFromCpu(&args)));
}

static void begin(void)
{
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    fence = make_object(D3DDDI_MONITORED_FENCE);
}

static void end(void)
{
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

/* ---- waits and signals ---- */

static void order_body(struct probe *p)
{
    struct hardware_client second;
    D3DKMT_HANDLE both[2], another;

    (void)p;
    begin();
    CHECK(NT_SUCCESS(wait_for(&fence, 1, 5)) && NT_SUCCESS(hardware_submit(&client, 1)));
    signal_by_cpu(fence, 4);
    probe_sleep(10000000);
    CHECK_RULE("KMT-396", hardware.submissions == 0);
    signal_by_cpu(fence, 5);
    CHECK_RULE("KMT-396", NT_SUCCESS(hardware_wait(&client, 1)) && hardware.submissions == 1);

    hardware.held = true;
    second = client;
    CHECK(NT_SUCCESS(hardware_queue(&second, client.context, (D3DDDI_CREATEHWQUEUEFLAGS){0})));
    both[0] = client.queue;
    both[1] = second.queue;
    another = make_object(D3DDDI_MONITORED_FENCE);
    CHECK(NT_SUCCESS(hardware_submit(&client, 2)) && NT_SUCCESS(hardware_submit(&second, 1)));
    CHECK(NT_SUCCESS(signal_on(both, 2, another, 7, 0)));
    CHECK_RULE("KMT-398", NT_SUCCESS(wait_for(&second.fence, 1, 1)) &&
                              NT_SUCCESS(hardware_submit(&client, 3)));
    probe_sleep(1000000);
    CHECK(hardware_in_flight() == 2);
    hardware_finish(1);
    CHECK_RULE("KMT-397", *fence_value == 0 && hardware.submissions == 3);
    hardware_finish(1);
    CHECK_RULE("KMT-397", *fence_value == 7);
    CHECK_RULE("KMT-398", hardware.submissions == 4 && hardware_in_flight() == 1);
    hardware_finish(1);
    end();
}

TEST(commands_wait_for_fences_and_signals_follow_commands)
{
    run(hardware_create(NULL), order_body);
}

static void refusals_body(struct probe *p)
{
    D3DKMT_HANDLE many[65], semaphore;
    D3DDDICB_SIGNALFLAGS event = {.EnqueueCpuEvent = 1};

    (void)p;
    begin();
    semaphore = make_object(D3DDDI_SEMAPHORE);
    for (unsigned i = 0; i < 65; i++)
        many[i] = i ? make_object(D3DDDI_MONITORED_FENCE) : fence;
    CHECK_RULE("KMT-398", IS(wait_for(many, 0, 0), STATUS_INVALID_PARAMETER) &&
                              IS(wait_for(many, 33, 0), STATUS_INVALID_PARAMETER) &&
                              NT_SUCCESS(wait_for(many, 32, 0)));
    CHECK_RULE("KMT-398",
               IS(wait_for(&semaphore, 1, 0), STATUS_INVALID_PARAMETER) &&
                   IS(signal_on(&client.queue, 1, semaphore, 1, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("KMT-398", IS(signal_on(&client.queue, 1, client.fence, 1, 0), STATUS_ACCESS_DENIED));
    for (unsigned i = 0; i < 65; i++) {
        struct hardware_client more = client;

        if (i)
            CHECK(NT_SUCCESS(hardware_queue(&more, client.context, (D3DDDI_CREATEHWQUEUEFLAGS){0})));
        many[i] = more.queue;
    }
    for (UINT count = 0; count <= 65; count += 65) {
        char text[64];

        CHECK_RULE("KMT-398", IS(signal_on(many, count, fence, 1, 0), STATUS_INVALID_PARAMETER));
        snprintf(text, sizeof(text), "%u queues, 1 to 64 are possible", count);
        CHECK_RULE("KMT-398", strcmp(probe_refused_rule, "KMT-398") == 0 &&
                                  strcmp(probe_refused_text, text) == 0);
    }
    CHECK_RULE("KMT-398", NT_SUCCESS(signal_on(many, 64, fence, 1, 0)));
    CHECK_RULE("KMT-398",
               IS(signal_on(&client.queue, 1, fence, 2, event.Value), STATUS_INVALID_PARAMETER));
    CHECK(*fence_value == 0); /* of the last fence made */
    end();
}

TEST(lists_of_objects_and_queues_have_limits)
{
    run(hardware_create(NULL), refusals_body);
}

/* ---- HwQueueSupported ---- */

static void supported_body(struct probe *p)
{
    D3DKMT_CREATECONTEXTVIRTUAL create = {.NodeOrdinal = HARDWARE_NODE};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU wait = {.ObjectCount = 1};
    D3DKMT_SUBMITCOMMAND submit = {.Commands = 0x10000, .CommandLength = 64};
    const struct probe_call *call;
    D3DKMT_DESTROYCONTEXT destroy;
    D3DKMT_HANDLE first;
    UINT64 zero = 0;

    begin();
    first = client.context;
    create.hDevice = client.gpu.device;
    create.Flags.HwQueueSupported = 1;
    probe_forget(p);
    CHECK_RULE("PATCH-030/b", NT_SUCCESS(D3DKMTCreateContextVirtual(&create)) &&
                                  probe_count(p, PROBE_CreateContext) == 1 &&
                                  hardware.flags.HwQueueSupported &&
                                  probe_count(p, PROBE_CreateHwContext) == 0);
    CHECK_RULE("KMT-173", NT_SUCCESS(hardware_queue(&client, create.hContext,
                                                    (D3DDDI_CREATEHWQUEUEFLAGS){0})) &&
                              IS(hardware_submit(&client, 1), STATUS_INVALID_PARAMETER) &&
                              strstr(probe_refused_text, "private data of 8 bytes"));
    CHECK_RULE("KMT-173",
               IS(hardware_queue(&client, client.gpu.context, (D3DDDI_CREATEHWQUEUEFLAGS){0}),
                  STATUS_INVALID_PARAMETER) &&
                   strstr(probe_refused_text, "without HwQueueSupported"));
    submit.BroadcastContextCount = 1;
    submit.BroadcastContext[0] = create.hContext;
    CHECK_RULE("KMT-316", IS(D3DKMTSubmitCommand(&submit), STATUS_INVALID_PARAMETER) &&
                              strstr(probe_refused_text, "in its hardware queues alone"));
    wait.ObjectHandleArray = &fence;
    wait.MonitoredFenceValueArray = &zero;
    wait.hContext = create.hContext;
    CHECK_RULE("KMT-374",
               IS(D3DKMTWaitForSynchronizationObjectFromGpu(&wait), STATUS_INVALID_PARAMETER) &&
                   strstr(probe_refused_text, "in its hardware queues alone"));
    wait.hContext = first;
    CHECK_RULE("KMT-374",
               IS(D3DKMTWaitForSynchronizationObjectFromGpu(&wait), STATUS_INVALID_PARAMETER));
    destroy.hContext = create.hContext;
    CHECK_RULE("KMT-172", NT_SUCCESS(D3DKMTDestroyContext(&destroy)) &&
                              probe_count(p, PROBE_DestroyHwQueue) == 1);
    call = probe_nth(p, PROBE_DestroyContext, 0);
    CHECK_RULE("KMT-172", probe_nth(p, PROBE_DestroyHwQueue, 0)->order < call->order &&
                              probe_count(p, PROBE_DestroyHwContext) == 0);
    end();
}

static void flags_body(struct probe *p)
{
    D3DDDI_CREATEHWQUEUEFLAGS flags = {.UserModeSubmission = 1};

    begin();
    probe_forget(p);
    CHECK_RULE("KMT-176", IS(hardware_queue(&client, client.context, flags), STATUS_NOT_SUPPORTED));
    flags.Value = 8; /* NoKmdAccess */
    CHECK_RULE("KMT-176",
               IS(hardware_queue(&client, client.context, flags), STATUS_INVALID_PARAMETER));
    flags.Value = 0x20;
    CHECK_RULE("KMT-176",
               IS(hardware_queue(&client, client.context, flags), STATUS_INVALID_PARAMETER) &&
                   probe_count(p, PROBE_CreateHwQueue) == 0);
    flags.Value = 7;
    CHECK_RULE("KMT-176", NT_SUCCESS(hardware_queue(&client, client.context, flags)) &&
                              hardware.create_queue.Flags.Value == 7);
    end();
}

TEST(contexts_with_HwQueueSupported_take_work_in_queues_alone)
{
    run(hardware_create(NULL), supported_body);
    run(hardware_create(NULL), flags_body);
}

/* ---- the cap ---- */

static void cap_body(struct probe *p)
{
    struct hardware_client second;

    (void)p;
    begin();
    hardware.held = true;
    second = client;
    CHECK(NT_SUCCESS(hardware_queue(&second, client.context, (D3DDDI_CREATEHWQUEUEFLAGS){0})));
    for (UINT64 id = 1; id <= 2; id++)
        CHECK(NT_SUCCESS(hardware_submit(&client, id)) && NT_SUCCESS(hardware_submit(&second, id)));
    probe_sleep(10000000);
    CHECK_RULE("SUBMIT-118", hardware.submissions == 3);
    CHECK_RULE("CAPS-103", hardware_in_flight() == 3);
    hardware_finish(1);
    CHECK_RULE("SUBMIT-118", hardware.submissions == 4 && hardware_in_flight() == 3);
    hardware_finish(3);
    end();
}

TEST(no_more_than_MaxInFlightHwQueueBuffers_are_in_flight)
{
    struct probe *p = hardware_create(NULL);

    p->node[HARDWARE_NODE].Flags.MaxInFlightHwQueueBuffers = 3;
    run(p, cap_body);
}

/* ---- priorities ---- */

static DXGKARG_SETCONTEXTSCHEDULINGPROPERTIES properties;
static DXGKARG_SETUPPRIORITYBANDS bands;

static void note_properties(struct probe *p, struct probe_call *call)
{
    (void)p;
    properties = *(const DXGKARG_SETCONTEXTSCHEDULINGPROPERTIES *)(uintptr_t)call->arg[1];
}

static void note_bands(struct probe *p, struct probe_call *call)
{
    (void)p;
    bands = *(const DXGKARG_SETUPPRIORITYBANDS *)(uintptr_t)call->arg[1];
}

static const DXGK_SCHEDULING_PRIORITY_BAND bands_of_classes[] = {
    [D3DKMT_SCHEDULINGPRIORITYCLASS_IDLE] = DXGK_SCHEDULING_PRIORITY_BAND_IDLE,
    [D3DKMT_SCHEDULINGPRIORITYCLASS_BELOW_NORMAL] = DXGK_SCHEDULING_PRIORITY_BAND_NORMAL,
    [D3DKMT_SCHEDULINGPRIORITYCLASS_NORMAL] = DXGK_SCHEDULING_PRIORITY_BAND_NORMAL,
    [D3DKMT_SCHEDULINGPRIORITYCLASS_ABOVE_NORMAL] = DXGK_SCHEDULING_PRIORITY_BAND_NORMAL,
    [D3DKMT_SCHEDULINGPRIORITYCLASS_HIGH] = DXGK_SCHEDULING_PRIORITY_BAND_FOCUS,
    [D3DKMT_SCHEDULINGPRIORITYCLASS_REALTIME] = DXGK_SCHEDULING_PRIORITY_BAND_REALTIME,
};

static void set_class(D3DKMT_SCHEDULINGPRIORITYCLASS value)
{
    CHECK(NT_SUCCESS(D3DKMTSetProcessSchedulingPriorityClass(NULL, value)));
}

/* Of a client whose hardware context has priority 3, and one more on the same node. */
static void other_priorities(struct probe *p)
{
    D3DKMT_SETCONTEXTINPROCESSSCHEDULINGPRIORITY ahead = {client.context, 1};
    size_t told = probe_count(p, PROBE_SetContextSchedulingProperties);

    CHECK_RULE("KMT-168", NT_SUCCESS(D3DKMTSetContextInProcessSchedulingPriority(&ahead)) &&
                              probe_count(p, PROBE_SetContextSchedulingProperties) == ++told &&
                              properties.inProcessPriority == 4);
    ahead.Priority = 0;
    CHECK_RULE("KMT-168", NT_SUCCESS(D3DKMTSetContextInProcessSchedulingPriority(&ahead)) &&
                              probe_count(p, PROBE_SetContextSchedulingProperties) == ++told &&
                              properties.inProcessPriority == 3);
    for (int i = D3DKMT_SCHEDULINGPRIORITYCLASS_IDLE; i <= D3DKMT_SCHEDULINGPRIORITYCLASS_REALTIME;
         i++) {
        set_class((D3DKMT_SCHEDULINGPRIORITYCLASS)i);
        told += 2; /* not the system context */
        CHECK_RULE("KMT-168", probe_count(p, PROBE_SetContextSchedulingProperties) == told &&
                                  properties.priorityBand == bands_of_classes[i]);
        set_class((D3DKMT_SCHEDULINGPRIORITYCLASS)i); /* no change */
        CHECK_RULE("KMT-168", probe_count(p, PROBE_SetContextSchedulingProperties) == told);
    }
}

static void priorities_body(struct probe *p)
{
    D3DKMT_SETCONTEXTSCHEDULINGPRIORITY set = {.Priority = 7};
    const struct probe_call *first;
    size_t told;

    begin();
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)) && NT_SUCCESS(hardware_wait(&client, 1)));
    told = probe_count(p, PROBE_SetContextSchedulingProperties);
    first = probe_nth(p, PROBE_SetContextSchedulingProperties, told - 1);
    CHECK_RULE("SUBMIT-119", probe_count(p, PROBE_SetupPriorityBands) == 1 &&
                                 probe_nth(p, PROBE_SetupPriorityBands, 0)->order <
                                     probe_nth(p, PROBE_CreateDevice, 0)->order);
    CHECK_RULE("SUBMIT-119",
               first->order > probe_nth(p, PROBE_CreateHwContext, 0)->order &&
                   first->order < probe_nth(p, PROBE_SubmitCommandToHwQueue, 0)->order);
    CHECK_RULE("KMT-157", told == 1 + hardware.plain);
    CHECK_RULE("SUBMIT-120", properties.inProcessPriority == 0 &&
                                 properties.realtimeBandPriorityLevel == 0 &&
                                 properties.priorityBand == DXGK_SCHEDULING_PRIORITY_BAND_NORMAL &&
                                 properties.quantum > 0 && bands.targetNormalBandPercentage <= 50);
    set.hContext = client.context;
    CHECK_RULE("KMT-168", NT_SUCCESS(D3DKMTSetContextSchedulingPriority(&set)) &&
                              probe_count(p, PROBE_SetContextSchedulingProperties) == told + 1 &&
                              properties.inProcessPriority == 7);
    set.Priority = 8;
    CHECK_RULE("SUBMIT-120",
               IS(D3DKMTSetContextSchedulingPriority(&set), STATUS_INVALID_PARAMETER) &&
                   probe_count(p, PROBE_SetContextSchedulingProperties) == told + 1);
    set.Priority = 3;
    CHECK(NT_SUCCESS(D3DKMTSetContextSchedulingPriority(&set)));
    other_priorities(p);
    end();
}

static HANDLE new_context;
static unsigned told_of_new;
static DXGK_SCHEDULING_PRIORITY_BAND band_of_new;

static void change_meanwhile(struct probe *p)
{
    (void)p;
    while (told_of_new == 0)
        probe_sleep(100000);
    set_class(D3DKMT_SCHEDULINGPRIORITYCLASS_HIGH);
}

/* Of the new context, which is the first; the class changes before the driver returns. */
static void tell_slowly(struct probe *p, struct probe_call *call)
{
    note_properties(p, call);
    new_context = new_context ? new_context : properties.hContext;
    if (properties.hContext != new_context)
        return;
    band_of_new = properties.priorityBand;
    if (++told_of_new == 1)
        probe_sleep(2000000);
}

static void new_context_body(struct probe *p)
{
    D3DKMT_CREATEHWCONTEXT args = {.NodeOrdinal = HARDWARE_NODE};

    CHECK(NT_SUCCESS(probe_gpu_begin(&client.gpu)));
    args.hDevice = client.gpu.device;
    told_of_new = 0;
    new_context = NULL;
    p->before[PROBE_SetContextSchedulingProperties] = tell_slowly;
    sim_thread_release(probe_thread(p, nt_process_current(), "other", change_meanwhile));
    CHECK(NT_SUCCESS(D3DKMTCreateHwContext(&args)));
    probe_sleep(1000000); /* the thread ends before its process */
    CHECK(new_context == hardware.context[hardware.contexts - 1].driver);
    CHECK_RULE("KMT-168", told_of_new == 2 && band_of_new == DXGK_SCHEDULING_PRIORITY_BAND_FOCUS);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(a_class_that_changes_while_the_driver_is_told_is_told_again)
{
    run(hardware_create(NULL), new_context_body);
}

TEST(the_driver_is_told_of_bands_and_priorities)
{
    struct probe *p = hardware_create(NULL);

    p->after[PROBE_SetContextSchedulingProperties] = note_properties;
    p->after[PROBE_SetupPriorityBands] = note_bands;
    run(p, priorities_body);
}
