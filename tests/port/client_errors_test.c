/* SPDX-License-Identifier: MIT */
/* Clients whose devices are in error, and what their submissions come to. */
#include "nt/base/current.h"
#include "port/support/client.h"
#include "sim/thread.h"

#include <string.h>

#define IS(call, wanted) ((NTSTATUS)(call) == (NTSTATUS)(wanted))
#define MS               1000000ull

static struct probe_gpu gpu, others;
static unsigned cancelled, sent;
static uint8_t data_seen[64];
static UINT data_bytes;
static bool hangs, overwrites;
static NTSTATUS render_answer;

static void note_cancel(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    cancelled++;
}

/* Packets of the test's client hang if they are to; they are taken off by a reset. */
static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.Paging || args->NodeOrdinal != 1)
        return;
    sent++;
    data_bytes = args->DmaBufferUmdPrivateDataSize;
    if (data_bytes && data_bytes <= sizeof(data_seen)) {
        memcpy(data_seen, args->pDmaBufferPrivateData, data_bytes);
        if (overwrites)
            memset(args->pDmaBufferPrivateData, 0xEE, data_bytes);
    }
    if (!hangs)
        return;
    p->state[0].submitted[1] = args->SubmissionFenceId;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void answer_render(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (render_answer == STATUS_SUCCESS)
        return;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)render_answer;
}

static void private_bytes(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1])->ContextInfo.DmaBufferPrivateDataSize = 64;
}

static struct probe *start(void)
{
    const struct probe_options options = {
        .port = {
            .tdr = {.level = 3, .delay = 2, .ddi_delay = 5, .limit_count = 5, .limit_time = 60}}};
    struct probe *p = probe_create(&options);

    cancelled = sent = 0;
    hangs = overwrites = false;
    render_answer = STATUS_SUCCESS;
    p->caps.SchedulingCaps.CancelCommandAware = 1;
    probe_set_entry(p, PROBE_CancelCommand, true);
    p->before[PROBE_CancelCommand] = note_cancel;
    p->before[PROBE_SubmitCommandVirtual] = note_submission;
    p->before[PROBE_Render] = answer_render;
    p->after[PROBE_CreateContext] = private_bytes;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

static void run(void (*body)(struct probe *p))
{
    struct probe *p = start();
    struct probe_client *client = probe_client_run(p, body);

    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static NTSTATUS device_state(D3DKMT_DEVICESTATE_TYPE type, D3DKMT_GETDEVICESTATE *args)
{
    memset(args, 0xAA, sizeof(*args));
    args->hDevice = gpu.device;
    args->StateType = type;
    return D3DKMTGetDeviceState(args);
}

static D3DKMT_DEVICEEXECUTION_STATE execution(void)
{
    D3DKMT_GETDEVICESTATE args;

    CHECK(NT_SUCCESS(device_state(D3DKMT_DEVICESTATE_EXECUTION, &args)));
    return args.ExecutionState;
}

static void mark(const struct probe_gpu *g)
{
    D3DKMT_MARKDEVICEASERROR args = {g->device, D3DKMT_DEVICE_ERROR_REASON_DRIVER_ERROR};

    CHECK(NT_SUCCESS(D3DKMTMarkDeviceAsError(&args)));
}

/* ---- the state of a device ---- */

static void look_at_states(struct probe *p)
{
    D3DKMT_GETDEVICESTATE args;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK_RULE("KMT-126", NT_SUCCESS(device_state(D3DKMT_DEVICESTATE_EXECUTION, &args)) &&
                              args.ExecutionState == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK_RULE("KMT-126", NT_SUCCESS(device_state(D3DKMT_DEVICESTATE_RESET, &args)) &&
                              args.ResetState.Value == 0);
    CHECK_RULE("KMT-126", NT_SUCCESS(device_state(D3DKMT_DEVICESTATE_PAGE_FAULT, &args)) &&
                              args.PageFaultState.FaultedVirtualAddress == 0);
    mark(&gpu);
    CHECK_RULE("KMT-126", NT_SUCCESS(device_state(D3DKMT_DEVICESTATE_EXECUTION, &args)) &&
                              args.ExecutionState == D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    CHECK_RULE("KMT-126", NT_SUCCESS(device_state(D3DKMT_DEVICESTATE_RESET, &args)) &&
                              args.ResetState.Value == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_state_is_asked_for_by_its_type)
{
    run(look_at_states);
}

static void stay_in_error(struct probe *p)
{
    const D3DKMT_DEVICEEXECUTION_STATE in_error = D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)) && NT_SUCCESS(probe_gpu_begin(&others)));
    mark(&gpu);
    CHECK_RULE("KMT-122",
               IS(probe_gpu_submit(&gpu), STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE) && sent == 0);
    probe_sleep(10 * PROBE_SECOND);
    CHECK(NT_SUCCESS(probe_gpu_submit(&others)) && NT_SUCCESS(probe_gpu_wait_idle(&others)));
    CHECK_RULE("KMT-122", IS(probe_gpu_submit(&gpu), STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE) &&
                              execution() == in_error && sent == 1);
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
    CHECK_RULE("KMT-122", !NT_SUCCESS(probe_gpu_submit(&gpu)) && execution() == in_error);
    CHECK_RULE("KMT-122", !NT_SUCCESS(probe_gpu_submit(&others)) && sent == 1);
    CHECK(NT_SUCCESS(probe_gpu_end(&others)) && NT_SUCCESS(probe_gpu_end(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK_RULE("KMT-122", NT_SUCCESS(probe_gpu_submit(&gpu)) &&
                              NT_SUCCESS(probe_gpu_wait_idle(&gpu)) && sent == 2 &&
                              execution() == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_device_in_error_stays_in_error)
{
    run(stay_in_error);
}

/* ---- the end of a context of a lost device ---- */

static void wait_for_nothing(D3DKMT_HANDLE context)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU wait;
    UINT64 value = 1;

    memset(&create, 0, sizeof(create));
    create.hDevice = gpu.device;
    create.Info.Type = D3DDDI_MONITORED_FENCE;
    CHECK(NT_SUCCESS(D3DKMTCreateSynchronizationObject2(&create)));
    memset(&wait, 0, sizeof(wait));
    wait.hContext = context;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray = &create.hSyncObject;
    wait.MonitoredFenceValueArray = &value;
    CHECK(NT_SUCCESS(D3DKMTWaitForSynchronizationObjectFromGpu(&wait)));
}

static uint64_t left_at;

static void destroy_context(struct probe *p)
{
    const D3DKMT_DESTROYCONTEXT destroy = {gpu.context};

    (void)p;
    CHECK_RULE("KMT-161", NT_SUCCESS(D3DKMTDestroyContext(&destroy)));
    left_at = sim_now();
}

static void queue_ten(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    wait_for_nothing(gpu.context);
    for (unsigned i = 0; i < 10; i++)
        CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    left_at = 0;
}

static void mark_it(struct probe *p)
{
    uint64_t now;

    (void)p;
    probe_sleep(MS);
    CHECK_RULE("KMT-161", left_at == 0 && cancelled == 0); /* it waits as long as the device works */
    mark(&gpu);
    now = sim_now();
    probe_sleep(MS);
    CHECK_RULE("KMT-161", left_at != 0 && left_at - now < MS / 2 && cancelled == 10 && sent == 0);
}

static void mark_and_destroy(struct probe *p)
{
    uint64_t now;

    queue_ten(p);
    mark(&gpu);
    now = sim_now();
    destroy_context(p);
    CHECK_RULE("KMT-161", left_at - now < MS && cancelled == 10 && sent == 0);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

/* A thread that waits in the call while another one loses the device. */
static void mark_beside(struct probe *p)
{
    struct sim_thread *thread;

    queue_ten(p);
    thread = probe_thread(p, nt_process_current(), "destroys", destroy_context);
    mark_it(p);
    sim_thread_release(thread);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_context_of_a_lost_device_is_not_waited_for)
{
    run(mark_and_destroy);
    run(mark_beside);
}

/* ---- a process that hangs the GPU again and again ---- */

static void hang_once(void)
{
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    hangs = true;
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    while (execution() == D3DKMT_DEVICEEXECUTION_ACTIVE)
        probe_sleep(100 * MS);
    hangs = false;
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static void hang_again_and_again(struct probe *p)
{
    D3DKMT_CREATEDEVICE create;

    for (unsigned i = 0; i < 4; i++)
        hang_once();
    CHECK_RULE("KMT-121", probe_rule(p, "TDR-041") == 0 && NT_SUCCESS(probe_gpu_begin(&others)) &&
                              NT_SUCCESS(probe_gpu_submit(&others)) &&
                              NT_SUCCESS(probe_gpu_wait_idle(&others)));
    hang_once();
    CHECK_RULE("KMT-121", probe_rule(p, "TDR-041") == 1);
    memset(&create, 0, sizeof(create));
    create.hAdapter = others.adapter;
    probe_forget(p);
    CHECK_RULE("KMT-121", IS(D3DKMTCreateDevice(&create), STATUS_ACCESS_DENIED) &&
                              create.hDevice == 0 && probe_count(p, PROBE_CreateDevice) == 0);
    CHECK_RULE("KMT-121", IS(probe_gpu_submit(&others), STATUS_DEVICE_REMOVED));
    CHECK(NT_SUCCESS(probe_gpu_end(&others)));
}

static void work(struct probe *p)
{
    (void)p;
    CHECK_RULE("KMT-121", NT_SUCCESS(probe_gpu_begin(&gpu)) && NT_SUCCESS(probe_gpu_submit(&gpu)) &&
                              NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(a_process_that_hangs_too_often_is_shut_out)
{
    struct probe *p = start();
    struct probe_client *guilty = probe_client_run(p, hang_again_and_again);
    struct probe_client *innocent = probe_client_run(p, work);

    probe_client_end(p, innocent);
    probe_client_end(p, guilty);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- submissions ---- */

static void submit_data(struct probe *p)
{
    D3DKMT_SUBMITCOMMAND args;
    uint8_t data[64], before[64];

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    for (unsigned i = 0; i < sizeof(data); i++)
        data[i] = before[i] = (uint8_t)(i + 1);
    memset(&args, 0, sizeof(args));
    args.Commands = 0x10000;
    args.CommandLength = 64;
    args.BroadcastContextCount = 1;
    args.BroadcastContext[0] = gpu.context;
    args.pPrivateDriverData = data;
    args.PrivateDriverDataSize = 33;
    overwrites = true;
    CHECK(NT_SUCCESS(D3DKMTSubmitCommand(&args)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK_RULE("KMT-318", data_bytes == 33 && memcmp(data_seen, before, 33) == 0 &&
                              memcmp(data, before, sizeof(data)) == 0);
    args.PrivateDriverDataSize = 64;
    CHECK(NT_SUCCESS(D3DKMTSubmitCommand(&args)));
    memset(data, 0x77, sizeof(data)); /* what was given is a copy */
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
    CHECK_RULE("KMT-318", data_bytes == 64 && memcmp(data_seen, before, 64) == 0 && data[0] == 0x77);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(private_data_of_a_submission_go_to_the_driver)
{
    run(submit_data);
}

/* One is on the node and does not end; the others are queued all the same. */
static void submit_many(struct probe *p)
{
    enum { MANY = 20000 };
    uint64_t begun = sim_now();

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    hangs = true;
    for (unsigned i = 0; i < MANY; i++)
        CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)));
    CHECK_RULE("KMT-313/b",
               sim_now() - begun < PROBE_SECOND && execution() == D3DKMT_DEVICEEXECUTION_ACTIVE);
    mark(&gpu);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("KMT-313/b", cancelled >= MANY - 2 && cancelled + sent == MANY);
    hangs = false;
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(submissions_are_never_throttled)
{
    run(submit_many);
}

/* Of physical addresses: what the buffers of those that wait may take is all that there is. */
static void small_buffers(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.SystemContext)
        return;
    args->ContextInfo.DmaBufferSize = 256;
    args->ContextInfo.AllocationListSize = args->ContextInfo.PatchLocationListSize = 1;
}

static void note_physical(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMAND *args = (const void *)(uintptr_t)call->arg[1];

    if (args->Flags.Paging || !hangs)
        return;
    sent++;
    p->state[0].submitted[args->NodeOrdinal] = args->SubmissionFenceId;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void render_many(struct probe *p)
{
    enum { MANY = 2000, NEVER = 100000 };
    NTSTATUS status = STATUS_SUCCESS;
    uint64_t begun = sim_now();
    D3DKMT_CREATECONTEXT create;
    unsigned rendered = 0;
    D3DKMT_RENDER args;

    p->after[PROBE_CreateContext] = small_buffers;
    p->before[PROBE_SubmitCommand] = note_physical;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    memset(&create, 0, sizeof(create));
    create.hDevice = gpu.device;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&create)));
    hangs = true;
    while (rendered < NEVER && NT_SUCCESS(status)) {
        memset(&args, 0, sizeof(args));
        args.hContext = create.hContext;
        args.CommandLength = 16;
        status = D3DKMTRender(&args);
        rendered += NT_SUCCESS(status);
    }
    CHECK_RULE("KMT-313/a", rendered >= MANY && IS(status, STATUS_NO_MEMORY) &&
                                sim_now() - begun < PROBE_SECOND &&
                                execution() == D3DKMT_DEVICEEXECUTION_ACTIVE);
    mark(&gpu);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("KMT-313/a", sent <= 2 && cancelled + sent == rendered);
    hangs = false;
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(renders_are_never_throttled)
{
    run(render_many);
}

static void render_answers(struct probe *p)
{
    static const NTSTATUS answers[] = {
        (NTSTATUS)STATUS_NO_MEMORY,           (NTSTATUS)STATUS_INVALID_PARAMETER,
        (NTSTATUS)STATUS_INVALID_HANDLE,      (NTSTATUS)STATUS_PRIVILEGED_INSTRUCTION,
        (NTSTATUS)STATUS_ILLEGAL_INSTRUCTION, (NTSTATUS)STATUS_GRAPHICS_ALLOCATION_INVALID,
        (NTSTATUS)STATUS_DEVICE_REMOVED};
    D3DKMT_CREATECONTEXT create;
    D3DKMT_RENDER args;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    memset(&create, 0, sizeof(create));
    create.hDevice = gpu.device;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&create)));
    probe_forget(p);
    for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        memset(&args, 0, sizeof(args));
        args.hContext = create.hContext;
        args.CommandLength = 16;
        render_answer = answers[i];
        CHECK_RULE("KMT-309", IS(D3DKMTRender(&args), answers[i]));
        CHECK_RULE("KMT-309", probe_count(p, PROBE_SubmitCommand) == 0 &&
                                  execution() == D3DKMT_DEVICEEXECUTION_ACTIVE);
    }
    render_answer = STATUS_SUCCESS;
    CHECK_RULE("KMT-309", NT_SUCCESS(D3DKMTRender(&args)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)) &&
                              probe_count(p, PROBE_SubmitCommand) == 1);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(what_render_answers_reaches_the_client)
{
    run(render_answers);
}
