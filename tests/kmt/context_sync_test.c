/* SPDX-License-Identifier: MIT */
/* Signals and waits that contexts carry out: which lists, contexts and values each call takes. */
#include "host/support/refgpu_client.h"

/* A client with one object of each kind, and two monitored fences more. */
struct scene {
    struct gpu g;
    D3DKMT_HANDLE mutex, semaphore, fence, monitored, second, gate;
    const volatile UINT64 *value, *second_value;
};

static NTSTATUS create(const struct gpu *g, D3DDDI_SYNCHRONIZATIONOBJECT_TYPE type,
                       D3DKMT_HANDLE *handle, const volatile UINT64 **value)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hDevice = g->device;
    args.Info.Type = type;
    if (type == D3DDDI_SEMAPHORE)
        args.Info.Semaphore.MaxCount = 4;
    status = D3DKMTCreateSynchronizationObject2(&args);
    *handle = args.hSyncObject;
    if (value)
        *value = args.Info.MonitoredFence.FenceValueCPUVirtualAddress;
    return status;
}

static NTSTATUS scene_begin(struct scene *s)
{
    NTSTATUS status = gpu_begin(&s->g);

    if (NT_SUCCESS(status))
        status = create(&s->g, D3DDDI_SYNCHRONIZATION_MUTEX, &s->mutex, NULL);
    if (NT_SUCCESS(status))
        status = create(&s->g, D3DDDI_SEMAPHORE, &s->semaphore, NULL);
    if (NT_SUCCESS(status))
        status = create(&s->g, D3DDDI_FENCE, &s->fence, NULL);
    if (NT_SUCCESS(status))
        status = create(&s->g, D3DDDI_MONITORED_FENCE, &s->monitored, &s->value);
    if (NT_SUCCESS(status))
        status = create(&s->g, D3DDDI_MONITORED_FENCE, &s->second, &s->second_value);
    return NT_SUCCESS(status) ? create(&s->g, D3DDDI_MONITORED_FENCE, &s->gate, NULL) : status;
}

static NTSTATUS signal_cpu(const struct gpu *g, D3DKMT_HANDLE fence, UINT64 value)
{
    return D3DKMTSignalSynchronizationObjectFromCpu(
        &(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU){.hDevice = g->device,
                                                     .ObjectCount = 1,
                                                     .ObjectHandleArray = &fence,
                                                     .FenceValueArray = &value});
}

/* The last call was refused with this rule and text. */
static bool because(const char *rule, const char *part)
{
    struct dxgk_refusal refusal;
    bool so = dxgk_client_last_refusal(&refusal) && strcmp(refusal.rule, rule) == 0 &&
              strstr(refusal.reason, part);

    if (!so)
        printf("    \"%s\" (%s)\n", refusal.reason, refusal.rule);
    return so;
}

/* The context has nothing before it that waits. */
static bool passes(const struct scene *s, D3DKMT_HANDLE context)
{
    static UINT64 turn;
    D3DKMT_HANDLE fence = 0;
    const volatile UINT64 *value = NULL;
    bool passed;

    turn++;
    passed = create(&s->g, D3DDDI_MONITORED_FENCE, &fence, &value) == STATUS_SUCCESS &&
             gpu_signal(context, fence, turn) == STATUS_SUCCESS;
    dxgk_client_sleep(1000000);
    return passed && *value == turn;
}

/* ---- the calls of 2.x ---- */

static NTSTATUS wait_many(D3DKMT_HANDLE context, const D3DKMT_HANDLE *list, UINT count,
                          const UINT64 *values)
{
    return D3DKMTWaitForSynchronizationObjectFromGpu(
        &(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU){.hContext = context,
                                                      .ObjectCount = count,
                                                      .ObjectHandleArray = list,
                                                      .MonitoredFenceValueArray = values});
}

static NTSTATUS signal_many(D3DKMT_HANDLE context, const D3DKMT_HANDLE *list, UINT count,
                            const UINT64 *values)
{
    return D3DKMTSignalSynchronizationObjectFromGpu(
        &(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU){.hContext = context,
                                                     .ObjectCount = count,
                                                     .ObjectHandleArray = list,
                                                     .MonitoredFenceValueArray = values});
}

TEST_WITH(client, each_monitored_fence_has_a_value_of_its_own)
{
    UINT64 values[2] = {3, 9}, less[2] = {3, 2};
    D3DKMT_HANDLE list[2];
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    list[0] = s.monitored;
    list[1] = s.second;
    TRY(c, gpu_wait(s.g.copy, s.gate, 1) == STATUS_SUCCESS);
    TRY(c, signal_many(s.g.copy, list, 2, values) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    TRY(c, *s.value == 0 && *s.second_value == 0);
    TRY(c, signal_cpu(&s.g, s.gate, 1) == STATUS_SUCCESS);
    TRY(c, gpu_wait_cpu(&s.g, s.second, 9) == STATUS_SUCCESS);
    SHOW(c, "KMT-377", *s.value == 3 && *s.second_value == 9);
    TRY(c, wait_many(s.g.copy, list, 2, less) == STATUS_SUCCESS);
    TRY(c, passes(&s, s.g.copy));
    less[0] = 4; /* the first one is not there yet */
    TRY(c, wait_many(s.g.copy, list, 2, less) == STATUS_SUCCESS);
    SHOW(c, "KMT-390", !passes(&s, s.g.copy));
    TRY(c, signal_cpu(&s.g, s.monitored, 4) == STATUS_SUCCESS);
    SHOW(c, "KMT-390", passes(&s, s.g.copy));
    TRY(c, gpu_end(&s.g) == STATUS_SUCCESS);
}

TEST_WITH(client, only_fences_have_values)
{
    D3DKMT_HANDLE pair[2], fences[2];
    UINT64 values[2] = {5, 6};
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    fences[0] = s.fence;
    TRY(c, create(&s.g, D3DDDI_FENCE, &fences[1], NULL) == STATUS_SUCCESS);
    pair[0] = s.semaphore;
    pair[1] = s.mutex;
    /* none */
    SHOW(c, "KMT-378", signal_many(s.g.copy, pair, 1, NULL) == STATUS_SUCCESS);
    SHOW(c, "KMT-378", wait_many(s.g.copy, pair, 2, NULL) == STATUS_SUCCESS);
    TRY(c, passes(&s, s.g.copy));
    TRY(c, signal_many(s.g.copy, pair, 2, NULL) == STATUS_SUCCESS);
    TRY(c, passes(&s, s.g.copy));
    /* one of a lone fence: in the array for a signal, in the structure for a wait */
    TRY(c, signal_many(s.g.copy, &s.fence, 1, NULL) == STATUS_INVALID_PARAMETER);
    TRY(c, signal_many(s.g.copy, &s.fence, 1, values) == STATUS_SUCCESS);
    SHOW(c, "KMT-390",
         wait_many(s.g.copy, &s.fence, 1, (const UINT64 *)5) == STATUS_SUCCESS &&
             passes(&s, s.g.copy));
    /* no list of them */
    SHOW(c, "SUBMIT-132",
         signal_many(s.g.copy, fences, 2, values) == STATUS_INVALID_PARAMETER &&
             because("SUBMIT-132", "a list of 2 objects"));
    TRY(c, wait_many(s.g.copy, fences, 2, (const UINT64 *)5) == STATUS_INVALID_PARAMETER &&
               because("SUBMIT-132", "a list of 2 objects"));
    /* one for each monitored fence, and no other object beside */
    TRY(c, signal_many(s.g.copy, &s.monitored, 1, NULL) == STATUS_INVALID_PARAMETER);
    TRY(c, wait_many(s.g.copy, &s.monitored, 1, NULL) == STATUS_INVALID_PARAMETER);
    pair[1] = s.monitored;
    SHOW(c, "KMT-381",
         signal_many(s.g.copy, pair, 2, values) == STATUS_INVALID_PARAMETER &&
             because("KMT-381", "together with other"));
    SHOW(c, "KMT-381",
         wait_many(s.g.copy, pair, 2, values) == STATUS_INVALID_PARAMETER &&
             because("KMT-381", "together with other"));
    pair[0] = s.second;
    TRY(c, signal_many(s.g.copy, pair, 2, values) == STATUS_SUCCESS);
    TRY(c, wait_many(s.g.copy, &s.fence, 1, (const UINT64 *)6) == STATUS_SUCCESS);
    TRY(c, !passes(&s, s.g.copy)); /* it is at 5 */
    TRY(c, gpu_end(&s.g) == STATUS_SUCCESS);
}

TEST_WITH(client, a_list_has_up_to_thirty_two_objects)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT wait = {0};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 wait2 = {0};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal = {0};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 signal2 = {0};
    D3DKMT_HANDLE many[33];
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 33; i++)
        TRY(c, create(&s.g, D3DDDI_SEMAPHORE, &many[i], NULL) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 32; i++)
        wait.ObjectHandleArray[i] = wait2.ObjectHandleArray[i] = signal.ObjectHandleArray[i] =
            signal2.ObjectHandleArray[i] = many[i];
    wait.hContext = wait2.hContext = signal.hContext = signal2.hContext = s.g.copy;
    SHOW(c, "KMT-371", D3DKMTWaitForSynchronizationObject(&wait) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-371", D3DKMTWaitForSynchronizationObject2(&wait2) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-371", D3DKMTSignalSynchronizationObject(&signal) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-371", D3DKMTSignalSynchronizationObject2(&signal2) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-371", wait_many(s.g.copy, many, 0, NULL) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-371", signal_many(s.g.copy, many, 0, NULL) == STATUS_INVALID_PARAMETER);
    wait.ObjectCount = wait2.ObjectCount = signal.ObjectCount = signal2.ObjectCount = 33;
    SHOW(c, "KMT-371",
         D3DKMTWaitForSynchronizationObject(&wait) == STATUS_INVALID_PARAMETER &&
             because("KMT-371", "33 objects, 1 to 32 are possible"));
    SHOW(c, "KMT-371",
         D3DKMTWaitForSynchronizationObject2(&wait2) == STATUS_INVALID_PARAMETER &&
             because("KMT-371", "33 objects, 1 to 32 are possible"));
    SHOW(c, "KMT-371",
         D3DKMTSignalSynchronizationObject(&signal) == STATUS_INVALID_PARAMETER &&
             because("KMT-368", "33 objects, Flags 0x0: 1 to 32"));
    SHOW(c, "KMT-371",
         D3DKMTSignalSynchronizationObject2(&signal2) == STATUS_INVALID_PARAMETER &&
             because("KMT-371", "0 contexts besides, 33 objects"));
    SHOW(c, "KMT-371",
         wait_many(s.g.copy, many, 33, NULL) == STATUS_INVALID_PARAMETER &&
             because("KMT-371", "33 handles"));
    SHOW(c, "KMT-371",
         signal_many(s.g.copy, many, 33, NULL) == STATUS_INVALID_PARAMETER &&
             because("KMT-371", "33 handles"));
    wait.ObjectCount = wait2.ObjectCount = signal.ObjectCount = signal2.ObjectCount = 32;
    TRY(c, D3DKMTSignalSynchronizationObject(&signal) == STATUS_SUCCESS);
    TRY(c, D3DKMTSignalSynchronizationObject2(&signal2) == STATUS_SUCCESS);
    TRY(c, signal_many(s.g.copy, many, 32, NULL) == STATUS_SUCCESS);
    TRY(c, D3DKMTWaitForSynchronizationObject(&wait) == STATUS_SUCCESS);
    TRY(c, D3DKMTWaitForSynchronizationObject2(&wait2) == STATUS_SUCCESS);
    TRY(c, passes(&s, s.g.copy));
    TRY(c, wait_many(s.g.copy, many, 32, NULL) == STATUS_SUCCESS);
    TRY(c, passes(&s, s.g.copy));
    TRY(c, wait_many(s.g.copy, many + 31, 1, NULL) == STATUS_SUCCESS);
    TRY(c, !passes(&s, s.g.copy)); /* all three had the last one, too */
    TRY(c, gpu_end(&s.g) == STATUS_SUCCESS);
}

TEST_WITH(client, every_handle_of_a_list_is_looked_at)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT wait = {.ObjectCount = 2};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal = {.ObjectCount = 2};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 signal2 = {.ObjectCount = 2};
    D3DKMT_HANDLE list[2];
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    wait.hContext = signal.hContext = signal2.hContext = s.g.copy;
    for (unsigned bad = 0; bad < 2; bad++) {
        list[bad] = s.g.device;
        list[1 - bad] = s.semaphore;
        memcpy(wait.ObjectHandleArray, list, sizeof(list));
        memcpy(signal.ObjectHandleArray, list, sizeof(list));
        memcpy(signal2.ObjectHandleArray, list, sizeof(list));
        TRY(c, D3DKMTWaitForSynchronizationObject(&wait) == STATUS_INVALID_PARAMETER);
        TRY(c, D3DKMTSignalSynchronizationObject(&signal) == STATUS_INVALID_PARAMETER);
        TRY(c, D3DKMTSignalSynchronizationObject2(&signal2) == STATUS_INVALID_PARAMETER);
        TRY(c, wait_many(s.g.copy, list, 2, NULL) == STATUS_INVALID_PARAMETER);
        TRY(c, signal_many(s.g.copy, list, 2, NULL) == STATUS_INVALID_PARAMETER);
    }
    /* and the context's */
    list[0] = s.semaphore;
    memcpy(wait.ObjectHandleArray, list, sizeof(list));
    memcpy(signal.ObjectHandleArray, list, sizeof(list));
    memcpy(signal2.ObjectHandleArray, list, sizeof(list));
    wait.ObjectCount = signal.ObjectCount = signal2.ObjectCount = 1;
    wait.hContext = signal.hContext = signal2.hContext = s.g.queue;
    TRY(c, D3DKMTWaitForSynchronizationObject(&wait) == STATUS_INVALID_PARAMETER &&
               because("KMT-026", "is not that of a context"));
    TRY(c, D3DKMTSignalSynchronizationObject(&signal) == STATUS_INVALID_PARAMETER &&
               because("KMT-026", "is not that of a context"));
    TRY(c, D3DKMTSignalSynchronizationObject2(&signal2) == STATUS_INVALID_PARAMETER &&
               because("KMT-026", "is not that of a context"));
    TRY(c, wait_many(s.g.queue, list, 1, NULL) == STATUS_INVALID_PARAMETER &&
               because("KMT-026", "is not that of a context"));
    TRY(c, signal_many(s.g.queue, list, 1, NULL) == STATUS_INVALID_PARAMETER &&
               because("KMT-026", "is not that of a context"));
    TRY(c, passes(&s, s.g.copy)); /* nothing was queued */
    TRY(c, gpu_end(&s.g) == STATUS_SUCCESS);
}

/* ---- the older calls ---- */

TEST_WITH(client, an_older_call_has_at_most_one_value)
{
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT wait = {.ObjectCount = 1};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2 wait2 = {.ObjectCount = 1};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal = {.ObjectCount = 1};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 signal2 = {.ObjectCount = 1};
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    wait.hContext = wait2.hContext = signal.hContext = signal2.hContext = s.g.copy;
    wait.ObjectHandleArray[0] = wait2.ObjectHandleArray[0] = s.monitored;
    signal.ObjectHandleArray[0] = signal2.ObjectHandleArray[0] = s.monitored;
    SHOW(c, "KMT-372", D3DKMTWaitForSynchronizationObject(&wait) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-372", D3DKMTSignalSynchronizationObject(&signal) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-372",
         D3DKMTSignalSynchronizationObject2(&signal2) == STATUS_INVALID_PARAMETER &&
             because("", "monitored fences have calls of their own"));
    wait.ObjectHandleArray[0] = wait2.ObjectHandleArray[0] = s.fence;
    signal.ObjectHandleArray[0] = signal2.ObjectHandleArray[0] = s.fence;
    TRY(c, D3DKMTWaitForSynchronizationObject(&wait) == STATUS_INVALID_PARAMETER &&
               because("KMT-386", "a list of 1 objects, in a call without a fence value"));
    SHOW(c, "KMT-368",
         D3DKMTSignalSynchronizationObject(&signal) == STATUS_INVALID_PARAMETER &&
             because("KMT-386", "a list of 1 objects, in a call without a fence value"));
    signal2.Fence.FenceValue = wait2.Fence.FenceValue = 7;
    TRY(c, D3DKMTSignalSynchronizationObject2(&signal2) == STATUS_SUCCESS);
    TRY(c, D3DKMTWaitForSynchronizationObject2(&wait2) == STATUS_SUCCESS);
    TRY(c, passes(&s, s.g.copy));
    signal2.ObjectCount = wait2.ObjectCount = 2;
    signal2.ObjectHandleArray[1] = wait2.ObjectHandleArray[1] = s.semaphore;
    TRY(c, D3DKMTSignalSynchronizationObject2(&signal2) == STATUS_INVALID_PARAMETER &&
               because("KMT-386", "a list of 2 objects"));
    SHOW(c, "KMT-386",
         D3DKMTWaitForSynchronizationObject2(&wait2) == STATUS_INVALID_PARAMETER &&
             because("KMT-386", "a list of 2 objects"));
    wait2.ObjectCount = 1;
    wait2.Fence.FenceValue = 8;
    TRY(c, D3DKMTWaitForSynchronizationObject2(&wait2) == STATUS_SUCCESS);
    TRY(c, !passes(&s, s.g.copy));
    TRY(c, gpu_end(&s.g) == STATUS_SUCCESS);
}

TEST_WITH(client, flags_of_signals_are_checked)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal = {.ObjectCount = 1};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 signal2 = {.ObjectCount = 1};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2 newest = {.ObjectCount = 1,
                                                         .BroadcastContextCount = 1};
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    signal.hContext = signal2.hContext = s.g.copy;
    signal.ObjectHandleArray[0] = signal2.ObjectHandleArray[0] = s.semaphore;
    newest.ObjectHandleArray = &s.semaphore;
    newest.BroadcastContextArray = &s.g.copy;
    for (unsigned bit = 1; bit < 32; bit++) {
        signal.Flags.Value = signal2.Flags.Value = newest.Flags.Value = 1u << bit;
        SHOW(c, "KMT-368",
             D3DKMTSignalSynchronizationObject(&signal) == STATUS_INVALID_PARAMETER &&
                 because("KMT-368", "SignalAtSubmission alone"));
        if (bit != 1)
            TRY(c, D3DKMTSignalSynchronizationObject2(&signal2) == STATUS_INVALID_PARAMETER &&
                       because("KMT-009", "Flags 0x"));
        if (bit > 2)
            SHOW(c, "KMT-009",
                 D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_INVALID_PARAMETER &&
                     because("KMT-009", "reserved bits in Flags 0x"));
    }
    signal.Flags.Value = signal2.Flags.Value = newest.Flags.Value = 1;
    TRY(c, D3DKMTSignalSynchronizationObject(&signal) == STATUS_SUCCESS);
    TRY(c, D3DKMTSignalSynchronizationObject2(&signal2) == STATUS_SUCCESS);
    TRY(c, D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_SUCCESS);
    /* AllowFenceRewind does what it says in the newest call alone */
    newest.ObjectHandleArray = &s.monitored;
    newest.Flags.Value = 0;
    newest.MonitoredFenceValueArray = (const UINT64[]){10};
    TRY(c, D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_SUCCESS);
    newest.MonitoredFenceValueArray = (const UINT64[]){6};
    SHOW(c, "SUBMIT-139",
         D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_INVALID_PARAMETER);
    newest.Flags.AllowFenceRewind = 1;
    SHOW(c, "SUBMIT-139",
         D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_SUCCESS &&
             gpu_wait_idle(&s.g) == STATUS_SUCCESS && *s.value == 6);
    TRY(c, gpu_end(&s.g) == STATUS_SUCCESS);
}

TEST_WITH(client, a_broadcast_takes_all_contexts_of_its_list)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2 newest = {.ObjectCount = 1};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 signal2 = {.ObjectCount = 1};
    D3DKMT_HANDLE contexts[2];
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    newest.ObjectHandleArray = &s.monitored;
    newest.MonitoredFenceValueArray = (const UINT64[]){4};
    newest.BroadcastContextArray = contexts;
    newest.BroadcastContextCount = 2;
    signal2.ObjectHandleArray[0] = s.semaphore;
    signal2.BroadcastContextCount = 1;
    for (unsigned bad = 0; bad < 2; bad++) { /* one that is none */
        contexts[bad] = s.semaphore;
        contexts[1 - bad] = s.g.copy;
        TRY(c, D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_INVALID_PARAMETER &&
                   because("KMT-026", "is not that of a context"));
        signal2.hContext = contexts[0];
        signal2.BroadcastContext[0] = contexts[1];
        TRY(c, D3DKMTSignalSynchronizationObject2(&signal2) == STATUS_INVALID_PARAMETER &&
                   because("KMT-026", "is not that of a context"));
    }
    contexts[0] = s.g.copy;
    contexts[1] = s.g.render;
    TRY(c, gpu_wait(s.g.render, s.gate, 1) == STATUS_SUCCESS);
    TRY(c, D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    SHOW(c, "KMT-379", *s.value == 0);
    TRY(c, signal_cpu(&s.g, s.gate, 1) == STATUS_SUCCESS);
    SHOW(c, "KMT-379", gpu_wait_cpu(&s.g, s.monitored, 4) == STATUS_SUCCESS);
    /* the same of the older call */
    TRY(c, gpu_wait(s.g.render, s.gate, 2) == STATUS_SUCCESS);
    signal2.hContext = s.g.copy;
    signal2.BroadcastContext[0] = s.g.render;
    TRY(c, D3DKMTSignalSynchronizationObject2(&signal2) == STATUS_SUCCESS);
    TRY(c, wait_many(s.g.copy, &s.semaphore, 1, NULL) == STATUS_SUCCESS);
    TRY(c, !passes(&s, s.g.copy));
    TRY(c, signal_cpu(&s.g, s.gate, 2) == STATUS_SUCCESS);
    SHOW(c, "KMT-369", passes(&s, s.g.copy));
    TRY(c, gpu_end(&s.g) == STATUS_SUCCESS);
}

TEST_WITH(client, what_lies_behind_a_value_is_zero)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2 newest = {.ObjectCount = 1,
                                                         .BroadcastContextCount = 1};
    UINT64 value = 3;
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    newest.BroadcastContextArray = &s.g.copy;
    for (unsigned i = 1; i < 8; i++) {
        newest.Reserved[i] = 1;
        newest.ObjectHandleArray = &s.monitored;
        newest.MonitoredFenceValueArray = &value;
        SHOW(c, "KMT-382",
             D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_INVALID_PARAMETER &&
                 because("KMT-382", "Reserved members are not 0"));
        newest.ObjectHandleArray = &s.fence;
        newest.FenceValue = 5;
        SHOW(c, "KMT-382",
             D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_INVALID_PARAMETER);
        if (i < 7)
            newest.Reserved[i] = 0;
    }
    newest.ObjectHandleArray = &s.semaphore;
    SHOW(c, "KMT-380", D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_SUCCESS);
    newest.Reserved[7] = 0;
    newest.ObjectHandleArray = &s.fence;
    SHOW(c, "KMT-380",
         D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_SUCCESS &&
             wait_many(s.g.copy, &s.fence, 1, (const UINT64 *)5) == STATUS_SUCCESS &&
             passes(&s, s.g.copy));
    TRY(c, gpu_end(&s.g) == STATUS_SUCCESS);
}
