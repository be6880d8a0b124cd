/* SPDX-License-Identifier: MIT */
#include "port/support/doorbells.h"

#include <string.h>

struct doorbells_state doorbells;

/* ---- the driver ---- */

static void allocate(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    doorbells.memory = MmAllocateContiguousMemory((DOORBELL_PAGES + 1) * PAGE_SIZE,
                                                  (PHYSICAL_ADDRESS){.QuadPart = -1});
    CHECK(doorbells.memory != NULL);
    memset(doorbells.memory, 0, DOORBELL_PAGES * PAGE_SIZE);
}

static void release(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    MmFreeContiguousMemory(doorbells.memory);
    doorbells.memory = NULL;
}

static void give_caps(struct probe *p, struct probe_call *call)
{
    const DXGKARG_QUERYADAPTERINFO *q = (const DXGKARG_QUERYADAPTERINFO *)(uintptr_t)call->arg[1];

    (void)p;
    if (q->Type != DXGKQAITYPE_USERMODESUBMISSION_CAPS)
        return;
    memcpy(q->pOutputData, &doorbells.caps, sizeof(doorbells.caps));
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void create(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEDOORBELL *args = (DXGKARG_CREATEDOORBELL *)(uintptr_t)call->arg[0];
    struct doorbell *b = &doorbells.bell[doorbells.bells];

    (void)p;
    if (doorbells.bells == DOORBELLS_MOST)
        fail_msg("too many doorbells");
    b->host = args->hDoorbell;
    b->driver = (HANDLE)(uintptr_t)(0xB00000 + 16 * doorbells.bells++);
    b->args = *args;
    for (UINT i = 0; i < args->PrivateDriverDataSize && i < 16; i++) {
        b->private_data[i] = ((uint8_t *)args->PrivateDriverData)[i];
        ((uint8_t *)args->PrivateDriverData)[i] ^= 0x55;
    }
    args->hDoorbell = b->driver;
}

static struct doorbell *find(HANDLE driver)
{
    for (unsigned i = 0; i < doorbells.bells; i++)
        if (doorbells.bell[i].driver == driver && !doorbells.bell[i].destroyed)
            return &doorbells.bell[i];
    fail_msg("a doorbell was named that is none");
    return NULL;
}

static void connect(struct probe *p, struct probe_call *call)
{
    DXGKARG_CONNECTDOORBELL *args = (DXGKARG_CONNECTDOORBELL *)(uintptr_t)call->arg[0];

    doorbells.connect = *args;
    find(args->hDoorbell)->connects++;
    if (doorbells.steal)
        doorbells.stolen = doorbells_take(p, doorbells.steal,
                                          D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
    doorbells.steal = NULL;
    args->KernelCpuVirtualAddress = doorbells.answer ? doorbells.answer : doorbells.memory;
    args->SecondaryKernelCpuVirtualAddress = doorbells.memory + 2 * PAGE_SIZE;
    args->Status = doorbells.status;
}

static void disconnect(struct probe *p, struct probe_call *call)
{
    find(((const DXGKARG_DISCONNECTDOORBELL *)(uintptr_t)call->arg[0])->hDoorbell)->disconnects++;
    if (doorbells.at_disconnect)
        doorbells.at_disconnect(p);
}

static void destroy(struct probe *p, struct probe_call *call)
{
    (void)p;
    find(((const DXGKARG_DESTROYDOORBELL *)(uintptr_t)call->arg[0])->hDoorbell)->destroyed = true;
    doorbells.destroyed++;
}

static void notify(struct probe *p, struct probe_call *call)
{
    (void)p;
    doorbells.notified = ((const DXGKARG_NOTIFYWORKSUBMISSION *)(uintptr_t)call->arg[0])->hHwQueue;
}

struct probe *doorbells_create(const struct probe_options *options)
{
    static const enum probe_ddi entries[] = {PROBE_CreateDoorbell, PROBE_ConnectDoorbell,
                                             PROBE_DisconnectDoorbell, PROBE_DestroyDoorbell,
                                             PROBE_NotifyWorkSubmission};
    struct probe_options own = options ? *options : (struct probe_options){0};
    struct probe *p;

    memset(&doorbells, 0, sizeof(doorbells));
    doorbells.caps.DoorbellSizeInBytes = PAGE_SIZE;
    own.port.features |= 1ull << DXGK_FEATURE_USER_MODE_SUBMISSION;
    p = native_create(&own);
    native.features |= 1ull << DXGK_FEATURE_USER_MODE_SUBMISSION;
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        probe_set_entry(p, entries[i], true);
    p->node[HARDWARE_NODE].Flags.UserModeSubmission = 1;
    p->before[PROBE_StartDevice] = allocate;
    p->before[PROBE_StopDevice] = release;
    p->before[PROBE_QueryAdapterInfo] = give_caps;
    p->after[PROBE_CreateDoorbell] = create;
    p->after[PROBE_ConnectDoorbell] = connect;
    p->after[PROBE_DisconnectDoorbell] = disconnect;
    p->after[PROBE_DestroyDoorbell] = destroy;
    p->after[PROBE_NotifyWorkSubmission] = notify;
    return p;
}

NTSTATUS doorbells_take(struct probe *p, HANDLE queue, D3DDDI_DOORBELLSTATUS reason)
{
    DXGKARGCB_DISCONNECTDOORBELL args = {.hHwQueue = queue, .DisconnectReason = reason};

    return p->state[0].dxgk.DxgkCbDisconnectDoorbell(&args);
}

/* ---- clients ---- */

NTSTATUS bell_begin(struct bell_client *c)
{
    D3DDDI_CREATEHWQUEUEFLAGS flags = {.UserModeSubmission = 1};
    NTSTATUS status;

    memset(c, 0, sizeof(*c));
    status = hardware_begin(&c->hw);
    c->plain_queue = c->hw.queue;
    if (NT_SUCCESS(status))
        status = hardware_queue(&c->hw, c->hw.context, flags);
    c->queue_host = hardware.queue_host;
    c->queue_driver = hardware.queue_driver;
    if (NT_SUCCESS(status))
        status = probe_gpu_allocate(&c->hw.gpu, 65536, &c->ring);
    return NT_SUCCESS(status) ? probe_gpu_allocate(&c->hw.gpu, 4096, &c->control) : status;
}

NTSTATUS bell_create(struct bell_client *c)
{
    NTSTATUS status;

    c->args.hHwQueue = c->hw.queue;
    c->args.hRingBuffer = c->ring;
    c->args.hRingBufferControl = c->control;
    status = D3DKMTCreateDoorbell((D3DKMT_CREATE_DOORBELL *)(void *)&c->args);
    c->bell = c->args.DoorbellCPUVirtualAddress;
    c->status = c->args.DoorbellStatusCPUVirtualAddress;
    c->queued = c->args.HwQueueProgressFenceLastQueuedValueCPUVirtualAddress;
    return status;
}

NTSTATUS bell_connect(const struct bell_client *c)
{
    return D3DKMTConnectDoorbell(&(D3DKMT_CONNECT_DOORBELL){.hHwQueue = c->hw.queue});
}

NTSTATUS bell_destroy(const struct bell_client *c)
{
    return D3DKMTDestroyDoorbell(&(D3DKMT_DESTROY_DOORBELL){.hHwQueue = c->hw.queue});
}

void bell_progress(const struct probe *p, const struct bell_client *c, UINT64 value)
{
    native_gpu_write(p, (const void *)(uintptr_t)c->hw.value, value);
    memset(&hardware.extra, 0, sizeof(hardware.extra));
    hardware.extra.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED;
    hardware.extra.MonitoredFenceSignaled.NodeOrdinal = HARDWARE_NODE;
    probe_device_cause(0, 1u << HARDWARE_ENGINE, 0);
}
