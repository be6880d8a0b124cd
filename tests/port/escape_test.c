/* SPDX-License-Identifier: MIT */
/* Escapes and private queries: what reaches the driver, under which level, and what the client gets back. */
#include "port/support/client.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define BYTES              24u

static struct probe_gpu gpu;
static uint8_t data[BYTES];

static NTSTATUS escape(D3DKMT_HANDLE device, D3DKMT_HANDLE context, UINT flags)
{
    D3DKMT_ESCAPE args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = gpu.adapter;
    args.hDevice = device;
    args.hContext = context;
    args.Flags.Value = flags;
    args.pPrivateDriverData = data;
    args.PrivateDriverDataSize = sizeof(data);
    return D3DKMTEscape(&args);
}

/* ---- what the driver saw ---- */

static struct {
    DXGKARG_ESCAPE args;
    uint8_t bytes[BYTES];
    NTSTATUS answer;
    unsigned calls;
} seen;

static void serve(struct probe *p, struct probe_call *call)
{
    const DXGKARG_ESCAPE *args = (const DXGKARG_ESCAPE *)(uintptr_t)call->arg[1];

    (void)p;
    seen.calls++;
    seen.args = *args;
    if (args->pPrivateDriverData) {
        memcpy(seen.bytes, args->pPrivateDriverData, sizeof(seen.bytes));
        memset(args->pPrivateDriverData, 0x77, args->PrivateDriverDataSize);
    }
    call->answered = true;
    call->result = (uint32_t)seen.answer;
}

static void run(void (*body)(struct probe *p), void (*hook)(struct probe *, struct probe_call *))
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    memset(&seen, 0, sizeof(seen));
    probe_set_entry(p, PROBE_Escape, true);
    p->before[PROBE_Escape] = hook;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static bool all_are(const uint8_t *bytes, uint8_t value)
{
    for (unsigned i = 0; i < BYTES; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

static HANDLE device_handle, context_handle, process_handle;

static void note_device(struct probe *p, struct probe_call *call)
{
    (void)p;
    device_handle = ((DXGKARG_CREATEDEVICE *)(uintptr_t)call->arg[1])->hDevice;
}

static void note_context(struct probe *p, struct probe_call *call)
{
    (void)p;
    context_handle = ((DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1])->hContext;
}

static void note_process(struct probe *p, struct probe_call *call)
{
    (void)p;
    process_handle = ((DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1])->hKmdProcess;
}

static void note_handles(struct probe *p)
{
    p->after[PROBE_CreateDevice] = note_device;
    p->after[PROBE_CreateContext] = note_context;
    p->after[PROBE_CreateProcess] = note_process;
}

/* ---- there and back ---- */

static void round_trip_body(struct probe *p)
{
    static const NTSTATUS failures[] = {STATUS_INVALID_PARAMETER, STATUS_NO_MEMORY,
                                        STATUS_PRIVILEGED_INSTRUCTION, STATUS_ILLEGAL_INSTRUCTION,
                                        STATUS_GRAPHICS_DRIVER_MISMATCH};

    note_handles(p);
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    memset(data, 0x33, sizeof(data));
    CHECK_RULE("LIFE-136/a", IS(escape(gpu.device, gpu.context, 0), STATUS_SUCCESS) &&
                                 all_are(seen.bytes, 0x33) && all_are(data, 0x77));
    CHECK_RULE("LIFE-136/a",
               seen.args.pPrivateDriverData != data && seen.args.PrivateDriverDataSize == BYTES);
    CHECK_RULE("LIFE-136/b",
               seen.args.hDevice == device_handle && seen.args.hContext == context_handle);
    CHECK_RULE("LIFE-136/c", IS(escape(0, 0, 0), STATUS_SUCCESS) && !seen.args.hDevice &&
                                 !seen.args.hContext && seen.calls == 2);
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        memset(data, 0x33, sizeof(data));
        seen.answer = failures[i];
        CHECK_RULE("LIFE-136/d", IS(escape(0, 0, 0), failures[i]) && all_are(data, 0x33));
    }
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(buffers_and_handles)
{
    run(round_trip_body, serve);
}

/* ---- flags ---- */

#define HARDWARE_ACCESS 1u
#define STATUS_QUERY    2u
#define FRAME_LATENCY   4u
#define NO_ADAPTER_SYNC 8u

static void flags_body(struct probe *p)
{
    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    for (UINT flags = 1; flags < 8; flags++) {
        bool two = (flags & (flags - 1)) != 0;

        if (flags == HARDWARE_ACCESS)
            continue;
        CHECK_RULE("LIFE-138", IS(escape(0, 0, flags), STATUS_INVALID_PARAMETER) &&
                                   (two || flags == STATUS_QUERY || flags == FRAME_LATENCY) &&
                                   seen.calls == 0);
    }
    CHECK_RULE("LIFE-139/c", IS(escape(0, 0, 0x80000000u), STATUS_INVALID_PARAMETER) &&
                                 IS(escape(0, 0, 0x100u), STATUS_INVALID_PARAMETER) &&
                                 seen.calls == 0);
    CHECK_RULE("LIFE-139/d", IS(escape(0, 0, NO_ADAPTER_SYNC), STATUS_SUCCESS) && seen.calls == 1 &&
                                 seen.args.Flags.NoAdapterSynchronization);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(flags_exclude_each_other)
{
    run(flags_body, serve);
}

/* ---- levels ---- */

static unsigned inside;
static bool overlapped;
static struct probe_client *beside;

static void stay(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    overlapped |= inside != 0;
    inside++;
    probe_sleep(2000000);
    overlapped |= inside != 1;
    inside--;
}

static UINT level_flags;

static void one_escape(struct probe *p)
{
    D3DKMT_ENUMADAPTERS adapters;
    D3DKMT_ESCAPE args;

    (void)p;
    memset(&adapters, 0, sizeof(adapters));
    CHECK(IS(D3DKMTEnumAdapters(&adapters), STATUS_SUCCESS));
    memset(&args, 0, sizeof(args));
    args.hAdapter = adapters.Adapters[0].hAdapter;
    CHECK(IS(D3DKMTEscape(&args), STATUS_SUCCESS));
}

static void levels_body(struct probe *p)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    overlapped = false;
    beside = probe_client_start(p, one_escape);
    probe_sleep(1000000); /* it is inside */
    CHECK(inside == 1);
    CHECK(IS(escape(0, 0, level_flags), STATUS_SUCCESS));
    while (!beside->done)
        probe_sleep(1000000);
    CHECK_RULE("LIFE-137", overlapped == !(level_flags & HARDWARE_ACCESS));
    CHECK_RULE("SUBMIT-153", overlapped == !(level_flags & HARDWARE_ACCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

static void run_levels(UINT flags)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    level_flags = flags;
    probe_set_entry(p, PROBE_Escape, true);
    p->before[PROBE_Escape] = stay;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, levels_body);
    probe_client_end(p, client);
    probe_client_end(p, beside);
    probe_clients_end(p);
    probe_destroy(p);
}

TEST(hardware_access_is_exclusive)
{
    run_levels(HARDWARE_ACCESS);
    run_levels(0);
    run_levels(NO_ADAPTER_SYNC);
}

/* ---- the process ---- */

static DXGKARG_QUERYADAPTERINFO query_seen;
static uint8_t query_bytes[BYTES];

static void serve_query(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->query_type != DXGKQAITYPE_UMDRIVERPRIVATE)
        return;
    query_seen = call->query;
    memcpy(query_bytes, call->query.pInputData, BYTES);
    for (unsigned i = 0; i < BYTES; i++)
        ((uint8_t *)call->query.pOutputData)[i] = (uint8_t)(0xF0 - i);
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static NTSTATUS query(void)
{
    D3DKMT_QUERYADAPTERINFO args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = gpu.adapter;
    args.Type = KMTQAITYPE_UMDRIVERPRIVATE;
    args.pPrivateDriverData = data;
    args.PrivateDriverDataSize = sizeof(data);
    return D3DKMTQueryAdapterInfo(&args);
}

static void process_body(struct probe *p)
{
    D3DKMT_ENUMADAPTERS adapters;
    D3DKMT_CREATEDEVICE device;
    D3DKMT_DESTROYDEVICE destroy;

    note_handles(p);
    p->before[PROBE_QueryAdapterInfo] = serve_query;
    memset(&adapters, 0, sizeof(adapters));
    CHECK(IS(D3DKMTEnumAdapters(&adapters), STATUS_SUCCESS));
    gpu.adapter = adapters.Adapters[0].hAdapter;
    process_handle = NULL;
    CHECK(IS(escape(0, 0, 0), STATUS_SUCCESS) && IS(query(), STATUS_SUCCESS));
    CHECK_RULE("LIFE-140/a", !seen.args.hKmdProcessHandle && !query_seen.hKmdProcessHandle);
    memset(&device, 0, sizeof(device));
    device.hAdapter = gpu.adapter;
    CHECK(IS(D3DKMTCreateDevice(&device), STATUS_SUCCESS) && process_handle);
    CHECK(IS(escape(0, 0, 0), STATUS_SUCCESS) && IS(query(), STATUS_SUCCESS));
    CHECK_RULE("LIFE-140/b", seen.args.hKmdProcessHandle == process_handle &&
                                 query_seen.hKmdProcessHandle == process_handle);
    destroy.hDevice = device.hDevice;
    CHECK(IS(D3DKMTDestroyDevice(&destroy), STATUS_SUCCESS) && IS(escape(0, 0, 0), STATUS_SUCCESS));
    CHECK_RULE("LIFE-140/c", seen.args.hKmdProcessHandle == process_handle &&
                                 probe_count(p, PROBE_DestroyProcess) == 0);
    CHECK(IS(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){gpu.adapter}), STATUS_SUCCESS));
    CHECK_RULE("LIFE-140/d", probe_count(p, PROBE_DestroyProcess) == 1);
}

TEST(the_process_is_told_from_its_first_device_on)
{
    run(process_body, serve);
}

static void private_query_body(struct probe *p)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    p->before[PROBE_QueryAdapterInfo] = serve_query;
    for (unsigned i = 0; i < BYTES; i++)
        data[i] = (uint8_t)(3 * i);
    CHECK(IS(query(), STATUS_SUCCESS));
    for (unsigned i = 0; i < BYTES; i++)
        CHECK_RULE("CAPS-015", query_bytes[i] == (uint8_t)(3 * i) && data[i] == (uint8_t)(0xF0 - i));
    CHECK_RULE("CAPS-015", query_seen.OutputDataSize == BYTES && query_seen.pOutputData != data);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_private_query_arrives_as_it_was_sent)
{
    run(private_query_body, serve);
}
