/* SPDX-License-Identifier: MIT */
/* Page faults of hardware queues, and memory of hardware contexts that moves. */
#include "port/support/hardware.h"

#include "port/running/power.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct hardware_client client, other;

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    p->caps.SupportPerEngineTDR = TRUE;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- faults ---- */

static void fault(unsigned flags, HANDLE culprit, UINT64 id)
{
    memset(&hardware.extra, 0, sizeof(hardware.extra));
    hardware.extra.InterruptType = DXGK_INTERRUPT_HWQUEUE_PAGE_FAULTED;
    hardware.extra.HwQueuePageFaulted.FaultedFenceId = id;
    hardware.extra.HwQueuePageFaulted.FaultedVirtualAddress = 0x123000;
    hardware.extra.HwQueuePageFaulted.FaultedHwQueue = culprit;
    hardware.extra.HwQueuePageFaulted.NodeOrdinal = HARDWARE_NODE;
    hardware.extra.HwQueuePageFaulted.PageFaultFlags = (DXGK_PAGE_FAULT_FLAGS)flags;
    hardware_notify();
}

static HANDLE client_queue, client_context;

/* Two devices with a command each in flight. */
static void begin(void)
{
    hardware.held = true;
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    client_queue = hardware.queue_host;
    client_context = hardware.context[hardware.contexts - 1].host;
    CHECK(NT_SUCCESS(hardware_begin(&other)));
    CHECK(NT_SUCCESS(hardware_submit(&client, 12)) && NT_SUCCESS(hardware_submit(&other, 1)));
    probe_sleep(1000000);
    CHECK(hardware_in_flight() == 2);
}

static void end(void)
{
    hardware_finish(2);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)) && NT_SUCCESS(probe_gpu_end(&other.gpu)));
}

static D3DKMT_DEVICEEXECUTION_STATE state_of(const struct hardware_client *c)
{
    return hardware_device_state(c);
}

static void queue_body(struct probe *p)
{
    D3DKMT_GETDEVICESTATE state = {.StateType = D3DKMT_DEVICESTATE_PAGE_FAULT};

    begin();
    fault(0, client_queue, 11);
    CHECK_RULE("SUBMIT-084", probe_said(p, "SUBMIT-084", "id 11, not in flight") &&
                                 state_of(&client) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    fault(0, client_queue, 12);
    CHECK_RULE("SUBMIT-084", state_of(&client) == D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT &&
                                 state_of(&other) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    state.hDevice = client.gpu.device;
    CHECK_RULE("GPUVA-251", NT_SUCCESS(D3DKMTGetDeviceState(&state)) &&
                                state.PageFaultState.FaultedVirtualAddress == 0x123000);
    CHECK_RULE("GPUVA-251",
               IS(hardware_submit(&client, 13), STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE));
    CHECK_RULE("SUBMIT-084", probe_count(p, PROBE_ResetHwEngine) == 0);
    end();
}

static void context_body(struct probe *p)
{
    begin();
    fault(DXGK_PAGE_FAULT_FENCE_INVALID | DXGK_PAGE_FAULT_HW_CONTEXT_VALID |
              DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED,
          client_context, 0);
    CHECK_RULE("SUBMIT-085", state_of(&client) == D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT &&
                                 state_of(&other) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK_RULE("SUBMIT-085", probe_count(p, PROBE_ResetHwEngine) == 1);
    end();
}

static void process_body(struct probe *p)
{
    begin();
    fault(DXGK_PAGE_FAULT_FENCE_INVALID | DXGK_PAGE_FAULT_PROCESS_HANDLE_VALID |
              DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED,
          hardware.process, 0);
    CHECK_RULE("SUBMIT-085", state_of(&client) == D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT &&
                                 state_of(&other) == D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT);
    CHECK_RULE("SUBMIT-085", probe_count(p, PROBE_ResetHwEngine) == 1);
    end();
}

static void neither_body(struct probe *p)
{
    begin();
    fault(DXGK_PAGE_FAULT_FENCE_INVALID | DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED, client_context, 0);
    CHECK_RULE("SUBMIT-085", probe_count(p, PROBE_ResetHwEngine) == 1 &&
                                 state_of(&client) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                                 state_of(&other) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    end();
}

TEST(a_fault_costs_the_device_of_its_queue)
{
    run(hardware_create(NULL), queue_body);
}

TEST(a_fault_without_an_id_costs_the_device_of_its_context)
{
    run(hardware_create(NULL), context_body);
}

TEST(a_fault_of_a_process_costs_all_its_devices)
{
    run(hardware_create(NULL), process_body);
}

TEST(a_fault_of_nobody_is_only_a_reset)
{
    run(hardware_create(NULL), neither_body);
}

/* Each costs the device of its own context, nothing ends in between, and the engine is reset all the same. */
static void again_body(struct probe *p)
{
    hardware.held = true;
    for (unsigned i = 1; i <= 7; i++) {
        CHECK(NT_SUCCESS(hardware_begin(&client)) && NT_SUCCESS(hardware_submit(&client, 1)));
        probe_sleep(1000000);
        hardware.invalidate = (int)hardware.contexts - 1;
        fault(DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED, hardware.queue_host, 1);
        CHECK_RULE("TDR-084", probe_count(p, PROBE_ResetHwEngine) == i &&
                                  probe_count(p, PROBE_ResetFromTimeout) == 0);
        CHECK(state_of(&client) == D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT);
        CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
    }
}

TEST(faults_in_a_row_are_no_resets_without_progress)
{
    run(hardware_create(NULL), again_body);
}

/* ---- memory ---- */

static unsigned switches;

static void note_switch(struct probe *p, struct probe_call *call)
{
    (void)p;
    switches += ((const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)call->arg[1])->Flags.ContextSwitch;
}

static uint64_t first_transfer;

static void note_transfer(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)
                                                call->arg[1];

    (void)p;
    if (first_transfer == 0 && (args->Operation == DXGK_OPERATION_VIRTUAL_TRANSFER ||
                                args->Operation == DXGK_OPERATION_TRANSFER))
        first_transfer = call->order;
}

static void sleep_and_wake(struct probe *p)
{
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
}

static void memory_body(struct probe *p)
{
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)) && NT_SUCCESS(hardware_wait(&client, 1)));
    first_transfer = 0;
    sleep_and_wake(p);
    CHECK_RULE("CTXA-034", first_transfer && probe_count(p, PROBE_SuspendContext) == 1 &&
                               probe_nth(p, PROBE_SuspendContext, 0)->order < first_transfer);
    CHECK_RULE("PREEMPT-035", switches == 0 && first_transfer &&
                                  probe_count(p, PROBE_SuspendContext) == 1 &&
                                  probe_nth(p, PROBE_SuspendContext, 0)->order < first_transfer);
    CHECK_RULE("PREEMPT-044", probe_count(p, PROBE_ResumeContext) == 0 &&
                                  NT_SUCCESS(hardware_submit(&client, 2)) &&
                                  NT_SUCCESS(hardware_wait(&client, 2)) &&
                                  probe_count(p, PROBE_ResumeContext) == 1 &&
                                  probe_nth(p, PROBE_ResumeContext, 0)->order <
                                      probe_nth(p, PROBE_SubmitCommandToHwQueue, 1)->order);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(a_context_is_suspended_before_its_memory_moves)
{
    struct probe *p = hardware_create(NULL);

    switches = 0;
    hardware.memory = true;
    p->before[PROBE_SubmitCommandVirtual] = note_switch;
    p->before[PROBE_BuildPagingBuffer] = note_transfer;
    run(p, memory_body);
}

/* ---- a context that is destroyed meanwhile ---- */

static struct probe_client *sleeper;

static void sleep_body(struct probe *p)
{
    sleep_and_wake(p);
}

/* The driver takes its time, and the machine falls asleep. */
static void destroy_slowly(struct probe *p, struct probe_call *call)
{
    (void)call;
    sleeper = probe_client_start(p, sleep_body);
    probe_sleep(PROBE_SECOND / 10);
}

static void leaving_body(struct probe *p)
{
    D3DKMT_DESTROYHWCONTEXT destroy;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)) && NT_SUCCESS(hardware_wait(&client, 1)));
    destroy.hHwContext = client.context;
    p->before[PROBE_DestroyHwContext] = destroy_slowly;
    CHECK(NT_SUCCESS(D3DKMTDestroyHwContext(&destroy)));
    p->before[PROBE_DestroyHwContext] = NULL;
}

static void awake_body(struct probe *p)
{
    CHECK_RULE("PREEMPT-042", probe_count(p, PROBE_SuspendContext) == 0 &&
                                  probe_count(p, PROBE_SetPowerState) >= 2);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

TEST(a_context_that_is_being_destroyed_is_not_suspended)
{
    struct probe *p = hardware_create(NULL);
    struct probe_client *process;

    hardware.memory = true;
    p->caps.SupportPerEngineTDR = TRUE;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, leaving_body);
    probe_client_wait(p, sleeper);
    probe_client_go_on(p, process, awake_body);
    probe_client_end(p, process);
    probe_client_end(p, sleeper);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- a reset of the adapter while it goes to sleep ---- */

static NTSTATUS slept;
static uint64_t slept_ns;

static void fall_asleep(struct probe *p)
{
    const uint64_t since = sim_now();

    slept = port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep);
    slept_ns = sim_now() - since;
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
}

static void nothing_body(struct probe *p)
{
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(hardware_submit(&client, 1)) && NT_SUCCESS(hardware_wait(&client, 1)));
    (void)p;
}

static void reset_body(struct probe *p)
{
    CHECK_RULE("TDR-058", probe_count(p, PROBE_ResetFromTimeout) == 1 && !p->sim->stopped);
    CHECK(NT_SUCCESS(slept) && slept_ns < 20 * PROBE_SECOND);
    CHECK(state_of(&client) != D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

/* The context is to leave the GPU before its memory moves, and does not. The page tables are rebuilt at once: whoever wants the
 * adapter to rest waits for that, and does not hold it up. */
TEST(a_reset_on_the_way_to_sleep_ends_in_time)
{
    struct probe *p = hardware_create(NULL);
    struct probe_client *process, *other_one;

    hardware.memory = true;
    hardware.suspend = SUSPEND_IGNORED;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, nothing_body);
    other_one = probe_client_run(p, fall_asleep);
    probe_client_go_on(p, process, reset_body);
    probe_client_end(p, process);
    probe_client_end(p, other_one);
    probe_clients_end(p);
    probe_destroy(p);
}
