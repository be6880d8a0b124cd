/* SPDX-License-Identifier: MIT */
/* Page faults that a driver reports on a started adapter: whose they are, what a client learns, and what follows. */
#include "port/support/client.h"
#include "sim/machine.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define NODE               1u
#define ADDRESS            0x123456000ull

/* ---- a driver whose hardware faults on one packet ---- */

static struct {
    UINT fence;        /* of the packet; 0: none */
    UINT flags, named; /* PageFaultFlags, FaultedFenceId */
    HANDLE process;
    bool done;
} fault;

static void notify(struct probe *p, UINT fence)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    memset(&data, 0, sizeof(data));
    if (!fault.done && fence < fault.fence)
        return; /* the fault says that, too */
    if (fence == fault.fence && !fault.done) {
        fault.done = true;
        data.InterruptType = DXGK_INTERRUPT_DMA_PAGE_FAULTED;
        data.DmaPageFaulted.FaultedFenceId = fault.named;
        data.DmaPageFaulted.PageFaultFlags = (DXGK_PAGE_FAULT_FLAGS)fault.flags;
        data.DmaPageFaulted.FaultedVirtualAddress = ADDRESS;
        data.DmaPageFaulted.FaultedBindTableEntry = 77;
        data.DmaPageFaulted.FaultedPrimitiveAPISequenceNumber = 0x1122334455;
        data.DmaPageFaulted.FaultErrorCode.IsDeviceSpecificCode = 1;
        data.DmaPageFaulted.FaultErrorCode.DeviceSpecificCode = 0x51;
        data.DmaPageFaulted.NodeOrdinal = NODE;
        data.DmaPageFaulted.PageTableLevel = 2;
        data.DmaPageFaulted.FaultedProcessHandle = fault.process;
    } else {
        data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
        data.DmaCompleted.SubmissionFenceId = fence;
        data.DmaCompleted.NodeOrdinal = NODE;
    }
    A->dxgk.DxgkCbNotifyInterrupt(A->dxgk.DeviceHandle, &data);
}

static void interrupt(struct probe *p, struct probe_call *call)
{
    ULONG completed;

    if (!READ_REGISTER_ULONG(A->registers + PROBE_REG_STATUS / 4))
        return;
    completed = READ_REGISTER_ULONG(A->registers + PROBE_REG_COMPLETED(NODE) / 4);
    while (A->reported[NODE] != completed)
        notify(p, ++A->reported[NODE]);
    (void)A->dxgk.DxgkCbQueueDpc(A->dxgk.DeviceHandle);
    call->answered = true;
    call->result = TRUE;
}

/* ---- clients: two devices of one process, each with a context ---- */

static struct probe_gpu gpu[2];
static HANDLE context[2], dxgk_process;
static unsigned contexts;
static UINT fence_of[2]; /* of the latest packet of each */

static void note_process(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEPROCESS *args = (const DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.SystemProcess)
        dxgk_process = args->hDxgkProcess;
}

static void note_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.SystemContext && contexts < 2)
        context[contexts++] = args->hContext;
}

static UINT flags_wanted;
static bool with_fence;

static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    for (unsigned i = 0; i < 2; i++)
        if (args->hContext == context[i])
            fence_of[i] = args->SubmissionFenceId;
    if (args->hContext == context[1] && !fault.fence) {
        fault.fence = args->SubmissionFenceId;
        fault.flags = flags_wanted;
        fault.named = with_fence ? fault.fence : 0;
    }
}

static struct probe *create(UINT flags, bool fence)
{
    struct probe *p = probe_create(NULL);

    memset(&fault, 0, sizeof(fault));
    contexts = 0;
    flags_wanted = flags;
    with_fence = fence;
    p->after[PROBE_CreateProcess] = note_process;
    p->after[PROBE_CreateContext] = note_context;
    p->before[PROBE_SubmitCommandVirtual] = note_submission;
    p->before[PROBE_InterruptRoutine] = interrupt;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static D3DKMT_GETDEVICESTATE state_of(unsigned i, D3DKMT_DEVICESTATE_TYPE type)
{
    D3DKMT_GETDEVICESTATE args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu[i].device;
    args.StateType = type;
    CHECK(NT_SUCCESS(D3DKMTGetDeviceState(&args)));
    return args;
}

static bool is_active(unsigned i)
{
    return state_of(i, D3DKMT_DEVICESTATE_EXECUTION).ExecutionState == D3DKMT_DEVICEEXECUTION_ACTIVE;
}

static void begin(void)
{
    for (unsigned i = 0; i < 2; i++)
        CHECK(IS(probe_gpu_begin(&gpu[i]), STATUS_SUCCESS));
}

static void end(void)
{
    for (unsigned i = 0; i < 2; i++)
        CHECK(IS(probe_gpu_end(&gpu[i]), STATUS_SUCCESS));
}

/* A packet of the first, whose end the driver does not report, and one of the second, which faults. */
static void submit_both(void)
{
    probe_device_packet_ns = PROBE_SECOND / 1000;
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu[0])));
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu[1])));
    probe_sleep(PROBE_SECOND / 100);
    probe_device_packet_ns = 1000;
    CHECK(fault.done);
}

/* ---- the packet that the driver names ---- */

static void named_body(struct probe *p)
{
    UINT first;
    D3DKMT_DEVICEPAGEFAULT_STATE state;

    begin();
    submit_both();
    first = fence_of[0];
    CHECK_RULE("GPUVA-252", first < fault.fence && is_active(0) && !is_active(1));
    CHECK(IS(probe_gpu_wait_idle(&gpu[0]), STATUS_SUCCESS));
    CHECK_RULE("GPUVA-252", NT_SUCCESS(probe_gpu_submit(&gpu[0])) &&
                                NT_SUCCESS(probe_gpu_wait_idle(&gpu[0])) &&
                                fence_of[0] == fault.fence + 1);
    CHECK_RULE("GPUVA-252", !NT_SUCCESS(probe_gpu_submit(&gpu[1])));
    state = state_of(1, D3DKMT_DEVICESTATE_PAGE_FAULT).PageFaultState;
    CHECK_RULE("GPUVA-258", state.FaultedVirtualAddress == ADDRESS &&
                                (UINT)state.PageFaultFlags == DXGK_PAGE_FAULT_WRITE);
    CHECK_RULE("GPUVA-258", state.FaultedBindTableEntry == 77 &&
                                state.FaultedPrimitiveAPISequenceNumber == 0x1122334455 &&
                                state.FaultErrorCode.DeviceSpecificCode == 0x51);
    state = state_of(0, D3DKMT_DEVICESTATE_PAGE_FAULT).PageFaultState;
    CHECK_RULE("GPUVA-258", state.FaultedVirtualAddress == 0);
    CHECK_RULE("GPUVA-249", probe_rule(p, "GPUVA-249") == 0);
    CHECK(probe_count(p, PROBE_ResetEngine) == 0);
    end();
}

TEST(the_named_packet_is_the_culprit)
{
    run(create(DXGK_PAGE_FAULT_WRITE, true), named_body);
}

/* ---- the process that the driver names ---- */

static HANDLE named_process;
static unsigned reports_expected;

static void name_process(struct probe *p, struct probe_call *call)
{
    note_submission(p, call);
    fault.process = named_process ? named_process : dxgk_process;
}

static void process_body(struct probe *p)
{
    begin();
    submit_both();
    CHECK_RULE("GPUVA-249", probe_rule(p, "GPUVA-249") == reports_expected && !is_active(1));
    end();
}

TEST(the_process_of_a_fault_is_the_hosts_handle)
{
    for (reports_expected = 0; reports_expected < 2; reports_expected++) {
        struct probe *p = create(0, true);

        named_process = reports_expected ? (HANDLE)(uintptr_t)0xBAD0 : NULL;
        p->before[PROBE_SubmitCommandVirtual] = name_process;
        run(p, process_body);
    }
}

/* ---- no packet is named ---- */

static void reset_body(struct probe *p)
{
    begin();
    submit_both();
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("GPUVA-253", probe_count(p, PROBE_ResetEngine) == 1 && !p->sim->stopped);
    end();
}

static void fatal_body(struct probe *p)
{
    (void)p;
    begin();
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu[1])));
    probe_sleep(PROBE_SECOND);
}

TEST(a_fault_without_a_packet_says_what_is_to_be_reset)
{
    run(create(DXGK_PAGE_FAULT_FENCE_INVALID | DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED, false),
        reset_body);
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = i ? create(DXGK_PAGE_FAULT_FENCE_INVALID |
                                         DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED,
                                     true)
                            : create(DXGK_PAGE_FAULT_FENCE_INVALID, false);
        struct probe_client *client;

        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        client = probe_client_run(p, fatal_body);
        CHECK_RULE("GPUVA-253", p->sim->stopped && probe_rule(p, "GPUVA-253") == 1);
        probe_client_end(p, client);
        probe_clients_end(p);
        probe_destroy(p);
    }
}
