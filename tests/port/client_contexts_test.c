/* SPDX-License-Identifier: MIT */
/* What a client asks for with a context, and what of it reaches the driver. */
#include "port/support/client.h"

#include <string.h>

#define IS(call, wanted) ((NTSTATUS)(call) == (NTSTATUS)(wanted))

#define NULL_RENDERING 8u /* of DXGK_SUBMITCOMMANDFLAGS */

static struct probe_gpu gpu;
static struct {
    DXGKARG_CREATECONTEXT args; /* the latest */
    uint8_t data[64];           /* private data of it */
    NTSTATUS answer;
    bool overwrites;
    UINT submitted, patched; /* flags of the latest */
} driver;

static void created(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    driver.args = *args;
    memset(driver.data, 0, sizeof(driver.data));
    if (args->pPrivateDriverData && args->PrivateDriverDataSize <= sizeof(driver.data)) {
        memcpy(driver.data, args->pPrivateDriverData, args->PrivateDriverDataSize);
        if (driver.overwrites)
            memset(args->pPrivateDriverData, 0xEE, args->PrivateDriverDataSize);
    }
    if (driver.answer == STATUS_SUCCESS)
        return;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)driver.answer;
}

static void submitted_virtual(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.Paging)
        driver.submitted = args->Flags.Value;
}

static void submitted(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMAND *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.Paging)
        driver.submitted = args->Flags.Value;
}

static void patched(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PATCH *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.Paging)
        driver.patched = args->Flags.NullRendering;
}

static void run(void (*body)(struct probe *p))
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    memset(&driver, 0, sizeof(driver));
    p->before[PROBE_CreateContext] = created;
    p->before[PROBE_SubmitCommandVirtual] = submitted_virtual;
    p->before[PROBE_SubmitCommand] = submitted;
    p->before[PROBE_Patch] = patched;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static D3DKMT_CREATECONTEXTVIRTUAL virtual_request(void)
{
    D3DKMT_CREATECONTEXTVIRTUAL create;

    memset(&create, 0, sizeof(create));
    create.hDevice = gpu.device;
    create.NodeOrdinal = 1;
    return create;
}

static D3DKMT_CREATECONTEXT physical_request(void)
{
    D3DKMT_CREATECONTEXT create;

    memset(&create, 0, sizeof(create));
    create.hDevice = gpu.device;
    return create;
}

static NTSTATUS submit(D3DKMT_HANDLE context, bool null)
{
    D3DKMT_SUBMITCOMMAND args;

    memset(&args, 0, sizeof(args));
    args.Commands = 0x10000;
    args.CommandLength = 64;
    args.Flags.NullRendering = null;
    args.BroadcastContextCount = 1;
    args.BroadcastContext[0] = context;
    return D3DKMTSubmitCommand(&args);
}

static NTSTATUS render(D3DKMT_HANDLE context, bool null)
{
    D3DKMT_RENDER args;

    memset(&args, 0, sizeof(args));
    args.hContext = context;
    args.CommandLength = 16;
    args.Flags.NullRendering = null;
    return D3DKMTRender(&args);
}

/* ---- private data and hints ---- */

static void private_data(struct probe *p)
{
    D3DKMT_CREATECONTEXTVIRTUAL create;
    D3DKMT_CREATECONTEXT physical;
    uint8_t data[48], before[48];

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    for (unsigned i = 0; i < sizeof(data); i++)
        data[i] = before[i] = (uint8_t)(i + 1);
    driver.overwrites = true;
    create = virtual_request();
    create.pPrivateDriverData = data;
    create.PrivateDriverDataSize = 47;
    CHECK_RULE("KMT-150", NT_SUCCESS(D3DKMTCreateContextVirtual(&create)) &&
                              driver.args.PrivateDriverDataSize == 47 &&
                              memcmp(driver.data, before, 47) == 0 && driver.data[47] == 0);
    CHECK_RULE("KMT-150",
               driver.args.pPrivateDriverData != data && memcmp(data, before, sizeof(data)) == 0 &&
                   create.pPrivateDriverData == data && create.PrivateDriverDataSize == 47);
    physical = physical_request();
    physical.pPrivateDriverData = data;
    physical.PrivateDriverDataSize = 1;
    CHECK_RULE("KMT-150", NT_SUCCESS(D3DKMTCreateContext(&physical)) &&
                              driver.args.PrivateDriverDataSize == 1 && driver.data[0] == 1 &&
                              driver.data[1] == 0 && memcmp(data, before, sizeof(data)) == 0);
    create = virtual_request();
    CHECK_RULE("KMT-150", NT_SUCCESS(D3DKMTCreateContextVirtual(&create)) &&
                              driver.args.PrivateDriverDataSize == 0 &&
                              driver.args.pPrivateDriverData == NULL);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(private_data_of_a_context_go_to_the_driver)
{
    run(private_data);
}

static void hints(struct probe *p)
{
    static const D3DKMT_CLIENTHINT hint[] = {D3DKMT_CLIENTHINT_UNKNOWN, D3DKMT_CLIENTHINT_OPENGL,
                                             D3DKMT_CLIENTHINT_DX12, D3DKMT_CLIENTHINT_MAX,
                                             (D3DKMT_CLIENTHINT)1000};
    DXGKARG_CREATECONTEXT first, other;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    for (unsigned i = 0; i < sizeof(hint) / sizeof(hint[0]); i++) {
        D3DKMT_CREATECONTEXTVIRTUAL create = virtual_request();

        create.ClientHint = hint[i];
        CHECK_RULE("KMT-151", NT_SUCCESS(D3DKMTCreateContextVirtual(&create)));
        other = driver.args;
        other.hContext = NULL; /* the host's handle */
        if (i == 0)
            first = other;
        CHECK_RULE("KMT-151", memcmp(&first, &other, sizeof(first)) == 0);
        driver.submitted = 0x55;
        CHECK_RULE("KMT-151", NT_SUCCESS(submit(create.hContext, false)) &&
                                  NT_SUCCESS(probe_gpu_wait_idle(&gpu)) && driver.submitted == 0);
    }
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_hint_of_a_context_changes_nothing)
{
    run(hints);
}

/* ---- flags ---- */

static void null_rendering(struct probe *p)
{
    D3DKMT_CREATECONTEXTVIRTUAL create;
    D3DKMT_CREATECONTEXT physical;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    create = virtual_request();
    create.Flags.Value = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&create)));
    for (unsigned i = 0; i < 2; i++) {
        driver.submitted = 0x55;
        CHECK_RULE("KMT-148", NT_SUCCESS(submit(create.hContext, false)) &&
                                  NT_SUCCESS(probe_gpu_wait_idle(&gpu)) &&
                                  driver.submitted == NULL_RENDERING);
    }
    create = virtual_request();
    create.Flags.Value = 2; /* InitialData */
    CHECK_RULE("KMT-148", NT_SUCCESS(D3DKMTCreateContextVirtual(&create)) &&
                              NT_SUCCESS(submit(create.hContext, false)) &&
                              NT_SUCCESS(probe_gpu_wait_idle(&gpu)) && driver.submitted == 0);
    CHECK_RULE("KMT-319", NT_SUCCESS(submit(create.hContext, true)) &&
                              NT_SUCCESS(probe_gpu_wait_idle(&gpu)) &&
                              driver.submitted == NULL_RENDERING);
    CHECK_RULE("KMT-319", NT_SUCCESS(submit(create.hContext, false)) &&
                              NT_SUCCESS(probe_gpu_wait_idle(&gpu)) && driver.submitted == 0);
    physical = physical_request();
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&physical)));
    CHECK(NT_SUCCESS(render(physical.hContext, false)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)) &&
          driver.submitted == 0 && driver.patched == 0);
    CHECK(NT_SUCCESS(render(physical.hContext, true)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)) &&
          driver.submitted == NULL_RENDERING && driver.patched == 1);
    physical = physical_request();
    physical.Flags.NullRendering = 1;
    CHECK_RULE("KMT-148", NT_SUCCESS(D3DKMTCreateContext(&physical)) &&
                              NT_SUCCESS(render(physical.hContext, false)) &&
                              NT_SUCCESS(probe_gpu_wait_idle(&gpu)) &&
                              driver.submitted == NULL_RENDERING && driver.patched == 1);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(null_rendering_is_of_a_context_or_a_submission)
{
    run(null_rendering);
}

static NTSTATUS signal_and_wait(D3DKMT_HANDLE context, UINT64 value)
{
    static D3DKMT_HANDLE fence;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create;
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU signal;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU wait;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU await;
    NTSTATUS status;

    memset(&create, 0, sizeof(create));
    create.hDevice = gpu.device;
    create.Info.Type = D3DDDI_MONITORED_FENCE;
    CHECK(NT_SUCCESS(D3DKMTCreateSynchronizationObject2(&create)));
    fence = create.hSyncObject;
    memset(&signal, 0, sizeof(signal));
    signal.hContext = context;
    signal.ObjectCount = 1;
    signal.ObjectHandleArray = &fence;
    signal.MonitoredFenceValueArray = &value;
    status = D3DKMTSignalSynchronizationObjectFromGpu(&signal);
    if (!NT_SUCCESS(status))
        return status;
    memset(&wait, 0, sizeof(wait));
    wait.hContext = context;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray = &fence;
    wait.MonitoredFenceValueArray = &value;
    status = D3DKMTWaitForSynchronizationObjectFromGpu(&wait);
    if (!NT_SUCCESS(status))
        return status;
    memset(&await, 0, sizeof(await));
    await.hDevice = gpu.device;
    await.ObjectCount = 1;
    await.ObjectHandleArray = &fence;
    await.FenceValueArray = &value;
    return D3DKMTWaitForSynchronizationObjectFromCpu(&await);
}

static void synchronization_only(struct probe *p)
{
    D3DKMT_CREATECONTEXTVIRTUAL create;
    D3DKMT_CREATECONTEXT physical;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK_RULE("PATCH-030/a", driver.args.Flags.Value == 4); /* VirtualAddressing alone */
    create = virtual_request();
    create.Flags.SynchronizationOnly = 1;
    CHECK_RULE("PATCH-030/a",
               NT_SUCCESS(D3DKMTCreateContextVirtual(&create)) && driver.args.Flags.Value == 4);
    physical = physical_request();
    physical.Flags.SynchronizationOnly = 1;
    CHECK_RULE("PATCH-030/a",
               NT_SUCCESS(D3DKMTCreateContext(&physical)) && driver.args.Flags.Value == 0);
    probe_forget(p);
    CHECK_RULE("PATCH-030/c", IS(submit(create.hContext, false), STATUS_INVALID_PARAMETER) &&
                                  strstr(probe_refused_text, "for synchronization only"));
    CHECK_RULE("PATCH-030/c", IS(render(physical.hContext, false), STATUS_INVALID_PARAMETER) &&
                                  probe_count(p, PROBE_Render) == 0 &&
                                  probe_count(p, PROBE_SubmitCommandVirtual) == 0);
    CHECK_RULE("PATCH-030/c", NT_SUCCESS(signal_and_wait(create.hContext, 5)) &&
                                  NT_SUCCESS(signal_and_wait(physical.hContext, 6)));
    CHECK_RULE("PATCH-030/c",
               NT_SUCCESS(submit(gpu.context, false)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_context_for_synchronization_takes_no_commands)
{
    run(synchronization_only);
}

/* ---- what comes back ---- */

static void refuse_contexts(struct probe *p)
{
    static const NTSTATUS answers[] = {(NTSTATUS)STATUS_NO_MEMORY,
                                       (NTSTATUS)STATUS_GRAPHICS_DRIVER_MISMATCH};
    D3DKMT_CREATECONTEXTVIRTUAL create;
    D3DKMT_CREATECONTEXT physical;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    probe_forget(p);
    for (unsigned i = 0; i < 2; i++) {
        driver.answer = answers[i];
        create = virtual_request();
        create.hContext = 0x77;
        CHECK_RULE("KMT-153",
                   IS(D3DKMTCreateContextVirtual(&create), answers[i]) && create.hContext == 0x77);
        physical = physical_request();
        physical.hContext = 0x77;
        CHECK_RULE("KMT-153",
                   IS(D3DKMTCreateContext(&physical), answers[i]) && physical.hContext == 0x77);
    }
    CHECK_RULE("KMT-153", probe_count(p, PROBE_CreateContext) == 4 &&
                              probe_count(p, PROBE_DestroyContext) == 0 &&
                              probe_reports(p, VERIFY_WARNING) == 0);
    driver.answer = STATUS_SUCCESS;
    physical = physical_request();
    physical.CommandBuffer = 0x77;
    CHECK_RULE("KMT-155", NT_SUCCESS(D3DKMTCreateContext(&physical)) &&
                              physical.CommandBuffer == 0 && physical.pCommandBuffer != NULL);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
    CHECK_RULE("KMT-153", probe_count(p, PROBE_DestroyContext) == 2); /* the one of gpu, and this */
}

TEST(a_context_that_the_driver_refuses_is_none)
{
    run(refuse_contexts);
}
