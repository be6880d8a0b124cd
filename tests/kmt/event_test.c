/* SPDX-License-Identifier: MIT */
/* Events of clients that the host sets: when contexts have got there, when fences have their values, and at each signal. */
#include "host/support/refgpu_client.h"

#include "sim/machine.h"

struct scene {
    struct gpu g;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 gate;
    HANDLE event;
};

static NTSTATUS scene_begin(struct scene *s)
{
    NTSTATUS status = gpu_begin(&s->g);

    if (NT_SUCCESS(status))
        status = gpu_create_fence(&s->g, &s->gate);
    return NT_SUCCESS(status)
               ? ZwCreateEvent(&s->event, EVENT_ALL_ACCESS, NULL, SynchronizationEvent, FALSE)
               : status;
}

static NTSTATUS scene_end(struct scene *s)
{
    NTSTATUS status = gpu_end(&s->g);

    return NT_SUCCESS(status) ? ZwClose(s->event) : status;
}

/* And it is not any more. */
static bool is_set(const struct scene *s)
{
    LARGE_INTEGER now = {.QuadPart = 0};

    return ZwWaitForSingleObject(s->event, FALSE, &now) == STATUS_SUCCESS;
}

static NTSTATUS signal_cpu(const struct scene *s, UINT64 value)
{
    return D3DKMTSignalSynchronizationObjectFromCpu(
        &(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU){.hDevice = s->g.device,
                                                     .ObjectCount = 1,
                                                     .ObjectHandleArray = &s->gate.hSyncObject,
                                                     .FenceValueArray = &value});
}

/* In the copy context, and the render context as well. */
static NTSTATUS enqueue_old(const struct scene *s, HANDLE event)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 signal = {.BroadcastContextCount = 1};

    signal.hContext = s->g.render;
    signal.BroadcastContext[0] = s->g.copy;
    signal.Flags.EnqueueCpuEvent = 1;
    signal.CpuEventHandle = event;
    return D3DKMTSignalSynchronizationObject2(&signal);
}

static NTSTATUS enqueue_new(const struct scene *s, HANDLE event)
{
    D3DKMT_HANDLE contexts[2] = {s->g.render, s->g.copy};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2 signal = {.BroadcastContextCount = 2};

    signal.BroadcastContextArray = contexts;
    signal.Flags.EnqueueCpuEvent = 1;
    signal.CpuEventHandle = event;
    return D3DKMTSignalSynchronizationObjectFromGpu2(&signal);
}

static NTSTATUS enqueue(const struct scene *s, unsigned form, HANDLE event)
{
    return form ? enqueue_new(s, event) : enqueue_old(s, event);
}

static bool because(const char *rule, const char *part)
{
    struct dxgk_refusal refusal;

    return dxgk_client_last_refusal(&refusal) && strcmp(refusal.rule, rule) == 0 &&
           strstr(refusal.reason, part);
}

/* ---- queued ---- */

TEST_WITH(client, an_event_is_set_when_all_contexts_have_got_there)
{
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    for (unsigned form = 0; form < 2; form++) {
        TRY(c, gpu_wait(s.g.copy, s.gate.hSyncObject, form + 1) == STATUS_SUCCESS);
        TRY(c, enqueue(&s, form, s.event) == STATUS_SUCCESS);
        dxgk_client_sleep(1000000);
        TRY(c, !is_set(&s));
        TRY(c, signal_cpu(&s, form + 1) == STATUS_SUCCESS);
        TRY(c, gpu_wait_idle(&s.g) == STATUS_SUCCESS);
        SHOW(c, "KMT-375", is_set(&s) && !is_set(&s));
    }
    TRY(c, scene_end(&s) == STATUS_SUCCESS);
}

TEST_WITH(client, an_event_stands_alone)
{
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2 old = {.ObjectCount = 1};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2 newest = {.ObjectCount = 1,
                                                         .BroadcastContextCount = 1};
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 semaphore = {.Info = {.Type = D3DDDI_SEMAPHORE}};
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    semaphore.hDevice = s.g.device;
    semaphore.Info.Semaphore.MaxCount = 1;
    TRY(c, D3DKMTCreateSynchronizationObject2(&semaphore) == STATUS_SUCCESS);
    old.hContext = s.g.copy;
    old.ObjectHandleArray[0] = semaphore.hSyncObject;
    old.CpuEventHandle = newest.CpuEventHandle = s.event;
    old.Flags.EnqueueCpuEvent = newest.Flags.EnqueueCpuEvent = 1;
    newest.ObjectHandleArray = &semaphore.hSyncObject;
    newest.BroadcastContextArray = &s.g.copy;
    SHOW(c, "SUBMIT-131",
         D3DKMTSignalSynchronizationObject2(&old) == STATUS_INVALID_PARAMETER &&
             because("SUBMIT-131", "together with 1 objects"));
    SHOW(c, "SUBMIT-131",
         D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_INVALID_PARAMETER &&
             because("SUBMIT-131", "together with 1 objects"));
    newest.ObjectCount = 0;
    for (unsigned i = 1; i < 8; i++) {
        newest.Reserved[i] = 1;
        SHOW(c, "KMT-382",
             D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_INVALID_PARAMETER &&
                 because("KMT-382", "Reserved"));
        newest.Reserved[i] = 0;
    }
    TRY(c, gpu_wait_idle(&s.g) == STATUS_SUCCESS);
    TRY(c, !is_set(&s));
    /* without the flag the member is something else */
    old.Flags.EnqueueCpuEvent = newest.Flags.EnqueueCpuEvent = 0;
    newest.ObjectCount = 1;
    old.CpuEventHandle = newest.CpuEventHandle = (HANDLE)(uintptr_t)0x7777;
    SHOW(c, "KMT-376", D3DKMTSignalSynchronizationObjectFromGpu2(&newest) == STATUS_SUCCESS);
    TRY(c,
        D3DKMTWaitForSynchronizationObjectFromGpu(&(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU){
            .hContext = s.g.copy, .ObjectCount = 1, .ObjectHandleArray = &semaphore.hSyncObject}) ==
            STATUS_SUCCESS);
    SHOW(c, "KMT-376", D3DKMTSignalSynchronizationObject2(&old) == STATUS_SUCCESS);
    TRY(c, gpu_wait_idle(&s.g) == STATUS_SUCCESS);
    TRY(c, !is_set(&s));
    TRY(c, scene_end(&s) == STATUS_SUCCESS);
}

TEST_WITH(client, contexts_of_an_event_are_checked)
{
    struct scene s;
    struct gpu other, good;
    uint64_t blocks;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    TRY(c, gpu_begin(&other) == STATUS_SUCCESS);
    good = s.g;
    blocks = sim_current->heap.live_blocks;
    for (unsigned form = 0; form < 2; form++) {
        s.g.copy = s.g.render; /* one twice */
        TRY(c, enqueue(&s, form, s.event) == STATUS_INVALID_PARAMETER &&
                   because("", "2 contexts has one twice"));
        s.g.copy = other.copy; /* another device's */
        SHOW(c, "KMT-370", enqueue(&s, form, s.event) == STATUS_INVALID_PARAMETER);
        s.g.copy = s.g.device;
        TRY(c, enqueue(&s, form, s.event) == STATUS_INVALID_PARAMETER);
        s.g = good;
        s.g.render = s.g.device;
        TRY(c, enqueue(&s, form, s.event) == STATUS_INVALID_PARAMETER);
        s.g = good;
    }
    TRY(c, gpu_wait_idle(&s.g) == STATUS_SUCCESS);
    TRY(c, !is_set(&s) && sim_current->heap.live_blocks == blocks);
    TRY(c, gpu_end(&other) == STATUS_SUCCESS);
    TRY(c, scene_end(&s) == STATUS_SUCCESS);
}

static NTSTATUS wait_async(const struct scene *s, UINT64 value, HANDLE event)
{
    return D3DKMTWaitForSynchronizationObjectFromCpu(
        &(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU){.hDevice = s->g.device,
                                                      .ObjectCount = 1,
                                                      .ObjectHandleArray = &s->gate.hSyncObject,
                                                      .FenceValueArray = &value,
                                                      .hAsyncEvent = event});
}

/* Handles that are none, of another kind, and without the right. */
TEST_WITH(client, an_event_must_be_one_that_may_be_set)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 shared = {.Info = {.Type = D3DDDI_FENCE}};
    OBJECT_ATTRIBUTES attributes = {.Length = sizeof(attributes)};
    HANDLE wrong[4] = {NULL, (HANDLE)(uintptr_t)0x7774};
    static const NTSTATUS statuses[] = {STATUS_INVALID_HANDLE, STATUS_INVALID_HANDLE,
                                        STATUS_OBJECT_TYPE_MISMATCH, STATUS_ACCESS_DENIED};
    struct scene s;
    uint64_t blocks;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    shared.hDevice = s.g.device;
    shared.Info.Flags.Shared = shared.Info.Flags.NtSecuritySharing = 1;
    TRY(c, D3DKMTCreateSynchronizationObject2(&shared) == STATUS_SUCCESS);
    TRY(c, D3DKMTShareObjects(1, &shared.hSyncObject, &attributes, GENERIC_ALL, &wrong[2]) ==
               STATUS_SUCCESS);
    TRY(c,
        ZwCreateEvent(&wrong[3], SYNCHRONIZE, NULL, SynchronizationEvent, FALSE) == STATUS_SUCCESS);
    blocks = sim_current->heap.live_blocks;
    for (unsigned i = 0; i < 4; i++) {
        SHOW(c, "KMT-376", enqueue(&s, 0, wrong[i]) == statuses[i]);
        SHOW(c, "KMT-376", enqueue(&s, 1, wrong[i]) == statuses[i]);
        if (i > 0) /* without one, the call waits */
            SHOW(c, "KMT-393",
                 wait_async(&s, 5, wrong[i]) == statuses[i] &&
                     because("", "is not that of an event of this process that may be set"));
    }
    TRY(c, gpu_wait_idle(&s.g) == STATUS_SUCCESS);
    TRY(c, sim_current->heap.live_blocks == blocks);
    TRY(c, ZwClose(wrong[2]) == STATUS_SUCCESS && ZwClose(wrong[3]) == STATUS_SUCCESS);
    TRY(c, scene_end(&s) == STATUS_SUCCESS);
}

/* ---- when the device goes ---- */

TEST_WITH(client, an_event_is_set_although_the_device_is_lost)
{
    D3DKMT_MARKDEVICEASERROR mark = {.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC};
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    TRY(c, gpu_wait(s.g.copy, s.gate.hSyncObject, 1) == STATUS_SUCCESS);
    TRY(c, enqueue(&s, 0, s.event) == STATUS_SUCCESS);
    mark.hDevice = s.g.device;
    TRY(c, D3DKMTMarkDeviceAsError(&mark) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    SHOW(c, "KMT-376", is_set(&s) && !is_set(&s));
    /* and nothing more is queued */
    TRY(c, !NT_SUCCESS(enqueue(&s, 0, s.event)) && !NT_SUCCESS(enqueue(&s, 1, s.event)) &&
               !is_set(&s));
    TRY(c, scene_end(&s) == STATUS_SUCCESS);
}

TEST_WITH(client, an_event_is_set_although_the_device_ends)
{
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    TRY(c, gpu_wait(s.g.copy, s.gate.hSyncObject, 1) == STATUS_SUCCESS);
    TRY(c, enqueue(&s, 1, s.event) == STATUS_SUCCESS && !is_set(&s));
    TRY(c, gpu_end(&s.g) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    TRY(c, is_set(&s) && !is_set(&s));
    TRY(c, ZwClose(s.event) == STATUS_SUCCESS);
}

/* ---- waits of the CPU ---- */

TEST_WITH(client, a_wait_with_an_event_does_not_block)
{
    D3DKMT_MARKDEVICEASERROR mark = {.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC};
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    SHOW(c, "KMT-392", wait_async(&s, 0, s.event) == STATUS_SUCCESS && is_set(&s) && !is_set(&s));
    SHOW(c, "SUBMIT-137", wait_async(&s, 3, s.event) == STATUS_SUCCESS && !is_set(&s));
    TRY(c, signal_cpu(&s, 2) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    TRY(c, !is_set(&s));
    TRY(c, signal_cpu(&s, 3) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    SHOW(c, "SUBMIT-137", is_set(&s) && !is_set(&s));
    TRY(c, wait_async(&s, 9, s.event) == STATUS_SUCCESS);
    mark.hDevice = s.g.device;
    TRY(c, D3DKMTMarkDeviceAsError(&mark) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    SHOW(c, "KMT-393", is_set(&s) && !is_set(&s));
    TRY(c, !NT_SUCCESS(wait_async(&s, 9, s.event)) && !is_set(&s));
    TRY(c, scene_end(&s) == STATUS_SUCCESS);
}

TEST_WITH(client, any_of_several_fences_sets_the_event)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 second;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait = {.ObjectCount = 2};
    D3DKMT_HANDLE list[2];
    UINT64 values[2] = {7, 4};
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    TRY(c, gpu_create_fence(&s.g, &second) == STATUS_SUCCESS);
    list[0] = second.hSyncObject;
    list[1] = s.gate.hSyncObject;
    wait.hDevice = s.g.device;
    wait.ObjectHandleArray = list;
    wait.FenceValueArray = values;
    wait.hAsyncEvent = s.event;
    TRY(c, D3DKMTWaitForSynchronizationObjectFromCpu(&wait) == STATUS_SUCCESS);
    wait.Flags.WaitAny = 1;
    TRY(c, D3DKMTWaitForSynchronizationObjectFromCpu(&wait) == STATUS_SUCCESS && !is_set(&s));
    TRY(c, signal_cpu(&s, 4) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    SHOW(c, "SUBMIT-137", is_set(&s) && !is_set(&s)); /* the second wait alone */
    TRY(c, scene_end(&s) == STATUS_SUCCESS);
}

/* ---- notifications ---- */

TEST_WITH(client, a_notification_sets_its_event_at_each_signal)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 object = {.Info = {.Type = D3DDDI_CPU_NOTIFICATION}};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal = {.ObjectCount = 1};
    D3DKMT_DESTROYSYNCHRONIZATIONOBJECT destroy;
    struct scene s;

    TRY(c, scene_begin(&s) == STATUS_SUCCESS);
    object.hDevice = s.g.device;
    object.Info.CPUNotification.Event = s.event;
    TRY(c, D3DKMTCreateSynchronizationObject2(&object) == STATUS_SUCCESS);
    signal.hContext = s.g.copy;
    signal.ObjectHandleArray[0] = object.hSyncObject;
    TRY(c, gpu_wait(s.g.copy, s.gate.hSyncObject, 1) == STATUS_SUCCESS);
    TRY(c, D3DKMTSignalSynchronizationObject(&signal) == STATUS_SUCCESS);
    dxgk_client_sleep(1000000);
    TRY(c, !is_set(&s));
    TRY(c, signal_cpu(&s, 1) == STATUS_SUCCESS && gpu_wait_idle(&s.g) == STATUS_SUCCESS);
    SHOW(c, "KMT-351", is_set(&s) && !is_set(&s));
    TRY(c, D3DKMTSignalSynchronizationObject(&signal) == STATUS_SUCCESS &&
               gpu_wait_idle(&s.g) == STATUS_SUCCESS);
    SHOW(c, "KMT-351", is_set(&s) && !is_set(&s));
    destroy.hSyncObject = object.hSyncObject;
    TRY(c, D3DKMTDestroySynchronizationObject(&destroy) == STATUS_SUCCESS && !is_set(&s));
    TRY(c, scene_end(&s) == STATUS_SUCCESS);
}
