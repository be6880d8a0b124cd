/* SPDX-License-Identifier: MIT */
/*
 * Context allocations of the probe: a client with a device and a virtual context on a started adapter, the host's handles of
 * both as the driver was given them, and callbacks made from inside a DDI.
 *
 *     context_rig_run(p, body);             body on the client's thread
 *     context_rig_inside(flags, calls);     calls(p) from inside DxgkDdiEscape with these flags
 */
#ifndef DXGK_TESTS_PORT_CONTEXT_CALLS_H
#define DXGK_TESTS_PORT_CONTEXT_CALLS_H

#include "port/support/client.h"

#include <string.h>

#define HARDWARE_ACCESS 1u
#define NO_ADAPTER_SYNC 8u

static struct {
    struct probe_gpu gpu;
    HANDLE process, device, context; /* the latest of each; not of the system */
    void (*calls)(struct probe *p);
} context_rig;

static inline void context_rig_note_process(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEPROCESS *args = (const DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.SystemProcess)
        context_rig.process = args->hDxgkProcess;
}

static inline void context_rig_note_device(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEDEVICE *args = (const DXGKARG_CREATEDEVICE *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.SystemDevice)
        context_rig.device = args->hDevice;
}

static inline void context_rig_note_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.SystemContext)
        context_rig.context = args->hContext;
}

static inline void context_rig_serve(struct probe *p, struct probe_call *call)
{
    if (context_rig.calls)
        context_rig.calls(p);
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

/* Before the start: hooks and entries. */
static inline struct probe *context_rig_create(const struct probe_options *options)
{
    struct probe *p = probe_create(options);

    memset(&context_rig, 0, sizeof(context_rig));
    probe_set_entry(p, PROBE_Escape, true);
    p->before[PROBE_Escape] = context_rig_serve;
    p->before[PROBE_CreateProcess] = context_rig_note_process;
    p->before[PROBE_CreateDevice] = context_rig_note_device;
    p->before[PROBE_CreateContext] = context_rig_note_context;
    return p;
}

static inline void context_rig_run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

#define RIG_ARGUMENT_context_driver  struct probe *p
#define RIG_RUN_context_driver(body) context_rig_run(context_rig_create(NULL), body)

static inline void context_rig_inside(UINT flags, void (*calls)(struct probe *p))
{
    D3DKMT_ESCAPE args;
    uint32_t data = 0;

    memset(&args, 0, sizeof(args));
    args.hAdapter = context_rig.gpu.adapter;
    args.Flags.Value = flags;
    args.pPrivateDriverData = &data;
    args.PrivateDriverDataSize = sizeof(data);
    context_rig.calls = calls;
    CHECK((NTSTATUS)D3DKMTEscape(&args) == STATUS_SUCCESS);
    context_rig.calls = NULL;
}

/* ---- the callbacks, on the first adapter ---- */

static inline DXGKARGCB_CREATECONTEXTALLOCATION context_request(const struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = p->state[0].dxgk.DeviceHandle;
    args.hDevice = context_rig.device;
    args.hContext = context_rig.context;
    args.Size = 2 * 4096;
    args.SupportedSegmentSet = 1;
    args.hAllocation = (HANDLE)(uintptr_t)0x5A5A;
    return args;
}

static inline NTSTATUS context_create(struct probe *p, DXGKARGCB_CREATECONTEXTALLOCATION *args)
{
    return p->state[0].dxgk.DxgkCbCreateContextAllocation(args);
}

static inline HANDLE context_make(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    CHECK(context_create(p, &args) == STATUS_SUCCESS);
    return args.hAllocation;
}

static inline NTSTATUS context_destroy(struct probe *p, HANDLE handle)
{
    return p->state[0].dxgk.DxgkCbDestroyContextAllocation(p->state[0].dxgk.DeviceHandle, handle);
}

static inline DXGKARGCB_MAPCONTEXTALLOCATION context_map_request(HANDLE handle)
{
    DXGKARGCB_MAPCONTEXTALLOCATION args;

    memset(&args, 0, sizeof(args));
    args.hAllocation = handle;
    args.SizeInPages = 2;
    args.Protection.Write = 1;
    return args;
}

static inline D3DGPU_VIRTUAL_ADDRESS context_map(struct probe *p,
                                                 const DXGKARGCB_MAPCONTEXTALLOCATION *args)
{
    return p->state[0].dxgk.DxgkCbMapContextAllocation(p->state[0].dxgk.DeviceHandle, args);
}

static inline D3DGPU_VIRTUAL_ADDRESS context_map_at(struct probe *p, HANDLE handle, uint64_t base)
{
    DXGKARGCB_MAPCONTEXTALLOCATION args = context_map_request(handle);

    args.BaseAddress = base;
    return context_map(p, &args);
}

static inline NTSTATUS context_update(struct probe *p, HANDLE handle)
{
    static uint32_t data[4] = {1, 2, 3, 4};
    DXGKARGCB_UPDATECONTEXTALLOCATION args;

    memset(&args, 0, sizeof(args));
    args.hAllocation = handle;
    args.pPrivateDriverData = data;
    args.PrivateDriverDataSize = sizeof(data);
    return p->state[0].dxgk.DxgkCbUpdateContextAllocation(p->state[0].dxgk.DeviceHandle, &args);
}

#endif
