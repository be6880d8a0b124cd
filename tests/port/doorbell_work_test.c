/* SPDX-License-Identifier: MIT */
/* Queues for submission from user mode: what they refuse, what the client has queued there, and what becomes of them in the end. */
#include "port/support/doorbells.h"

#include "nt/base/current.h"
#include "ram/ram.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct bell_client client;

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    probe_clients_end(p);
    CHECK(doorbells.destroyed == doorbells.bells);
    probe_destroy(p);
}

static void begin(void)
{
    CHECK(NT_SUCCESS(bell_begin(&client)) && NT_SUCCESS(bell_create(&client)) &&
          NT_SUCCESS(bell_connect(&client)));
}

static void end(void)
{
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

static uint64_t first(struct probe *p, enum probe_ddi ddi)
{
    return probe_nth(p, ddi, 0)->order;
}

/* ---- nothing comes through the host ---- */

static void kernel_body(struct probe *p)
{
    static const UINT64 one = 1;
    const D3DKMT_HANDLE queues[2] = {client.plain_queue, client.hw.queue};
    D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE signal = {.BroadcastHwQueueCount = 2,
                                                      .BroadcastHwQueueArray = queues,
                                                      .ObjectCount = 1,
                                                      .FenceValueArray = &one};
    D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE wait = {
        .hHwQueue = client.hw.queue, .ObjectCount = 1, .FenceValueArray = &one};
    static const D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS plain;
    D3DKMT_CREATENATIVEFENCE fence;

    CHECK(NT_SUCCESS(native_make(client.hw.gpu.device, 0, plain, &fence)));
    wait.ObjectHandleArray = signal.ObjectHandleArray = &fence.Info.hSyncObject;
    CHECK_RULE("KMT-180", IS(hardware_submit(&client.hw, 1), STATUS_INVALID_PARAMETER) &&
                              strstr(probe_refused_text, "UserModeSubmission"));
    CHECK_RULE("SUBMIT-124/a",
               hardware.submissions == 0 && probe_count(p, PROBE_SubmitCommandToHwQueue) == 0);
    CHECK_RULE("KMT-181",
               IS(D3DKMTSubmitWaitForSyncObjectsToHwQueue(&wait), STATUS_INVALID_PARAMETER));
    CHECK_RULE("KMT-181",
               IS(D3DKMTSubmitSignalSyncObjectsToHwQueue(&signal), STATUS_INVALID_PARAMETER));
    signal.BroadcastHwQueueCount = 1;
    CHECK_RULE("KMT-181", NT_SUCCESS(D3DKMTSubmitSignalSyncObjectsToHwQueue(&signal)));
    probe_sleep(1000000);
}

static void refusing_body(struct probe *p)
{
    begin();
    kernel_body(p);
    end();
}

TEST(queues_for_user_mode_take_nothing_of_the_host)
{
    run(doorbells_create(NULL), refusing_body);
}

/* ---- the ring buffer ---- */

static NTSTATUS destroy_allocation(D3DKMT_HANDLE allocation)
{
    D3DKMT_DESTROYALLOCATION2 args = {
        .hDevice = client.hw.gpu.device, .phAllocationList = &allocation, .AllocationCount = 1};

    return D3DKMTDestroyAllocation2(&args);
}

static void ring_body(struct probe *p)
{
    begin();
    CHECK(NT_SUCCESS(destroy_allocation(client.ring)));
    CHECK(NT_SUCCESS(destroy_allocation(client.control)));
    probe_sleep(10000000);
    CHECK_RULE("KMT-189", probe_count(p, PROBE_DestroyAllocation) == 0 &&
                              probe_count(p, PROBE_CloseAllocation) == 0);
    CHECK_RULE("SUBMIT-124/b", probe_count(p, PROBE_DestroyAllocation) == 0);
    CHECK(NT_SUCCESS(bell_destroy(&client)));
    probe_sleep(10000000);
    CHECK_RULE("KMT-188", probe_count(p, PROBE_DestroyAllocation) == 2 &&
                              first(p, PROBE_DestroyDoorbell) < first(p, PROBE_DestroyAllocation));
    end();
}

static void kept_body(struct probe *p)
{
    begin();
    CHECK(NT_SUCCESS(bell_destroy(&client)));
    probe_sleep(10000000);
    CHECK_RULE("KMT-189", probe_count(p, PROBE_DestroyAllocation) == 0);
    CHECK(NT_SUCCESS(bell_create(&client)));
    end();
    CHECK_RULE("KMT-189", probe_count(p, PROBE_DestroyAllocation) == 2);
    CHECK_RULE("KMT-118",
               probe_nth(p, PROBE_DestroyDoorbell, 1)->order < first(p, PROBE_DestroyAllocation) &&
                   first(p, PROBE_DestroyAllocation) < first(p, PROBE_DestroyDevice));
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
}

TEST(the_ring_buffer_stays_while_the_doorbell_lives)
{
    run(doorbells_create(NULL), ring_body);
    run(doorbells_create(NULL), kept_body);
}

/* ---- what is queued ---- */

static bool destroyed;

static void destroy_body(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(D3DKMTDestroyHwQueue(&(D3DKMT_DESTROYHWQUEUE){.hHwQueue = client.hw.queue})));
    destroyed = true;
}

static void busy(struct probe *p, bool bell_first)
{
    destroyed = false;
    begin();
    *client.queued = 5;
    bell_progress(p, &client, 4);
    probe_sleep(1000000);
    if (bell_first)
        CHECK(NT_SUCCESS(bell_destroy(&client)));
    sim_thread_release(probe_thread(p, nt_process_current(), "destroyer", destroy_body));
    probe_sleep(10000000);
    CHECK_RULE("SUBMIT-125/a", !destroyed && probe_count(p, PROBE_DestroyHwQueue) == 0);
    CHECK_RULE("KMT-470/a", probe_count(p, PROBE_DisconnectDoorbell) == 1 &&
                                probe_count(p, PROBE_DestroyDoorbell) == bell_first);
    bell_progress(p, &client, 5);
    probe_sleep(1000000);
    CHECK_RULE("SUBMIT-125/b", destroyed && probe_count(p, PROBE_DestroyHwQueue) == 1);
    CHECK_RULE("KMT-470/b", first(p, PROBE_DestroyDoorbell) < first(p, PROBE_DestroyHwQueue));
    CHECK(probe_count(p, PROBE_DisconnectDoorbell) == 1);
    end();
}

static void busy_body(struct probe *p)
{
    busy(p, false);
}

static void bell_gone_body(struct probe *p)
{
    busy(p, true);
}

TEST(the_end_of_a_queue_waits_for_what_the_client_queued)
{
    run(doorbells_create(NULL), busy_body);
    run(doorbells_create(NULL), bell_gone_body);
}

static void idle_body(struct probe *p)
{
    begin();
    *client.queued = 5;
    bell_progress(p, &client, 5);
    probe_sleep(1000000);
    destroy_body(p); /* returns at once */
    CHECK_RULE("SUBMIT-125/b", probe_count(p, PROBE_DestroyHwQueue) == 1);
    end();
}

TEST(an_idle_queue_ends_at_once)
{
    run(doorbells_create(NULL), idle_body);
}

static void untold_body(struct probe *p)
{
    begin();
    *client.queued = 5;
    bell_progress(p, &client, 5);
    probe_sleep(1000000);
    CHECK_RULE("SUBMIT-125/d", probe_rule(p, "SUBMIT-125") == 0);
    bell_progress(p, &client, 6);
    probe_sleep(1000000);
    CHECK_RULE("SUBMIT-125/d", probe_rule(p, "SUBMIT-125") == 1 && probe_rule(p, "SUBMIT-117") == 0);
    end();
}

TEST(a_client_that_queues_without_telling_is_reported)
{
    run(doorbells_create(NULL), untold_body);
}

/* ---- the end of the process ---- */

static void gpu_finishes(struct probe *p)
{
    bell_progress(p, &client, 2);
}

static void leave_body(struct probe *p)
{
    (void)p;
    begin();
    *client.queued = 2;
}

TEST(a_process_that_ends_lets_its_work_finish)
{
    struct probe *p = doorbells_create(NULL);
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, leave_body);
    doorbells.at_disconnect = gpu_finishes;
    probe_client_end(p, process);
    CHECK_RULE("KMT-470/a", probe_count(p, PROBE_DisconnectDoorbell) == 1 &&
                                probe_count(p, PROBE_SuspendContext) == 0 &&
                                hardware.extra.InterruptType == 0);
    CHECK_RULE("KMT-470/b",
               first(p, PROBE_DisconnectDoorbell) < first(p, PROBE_DestroyDoorbell) &&
                   first(p, PROBE_DestroyDoorbell) < probe_nth(p, PROBE_DestroyHwQueue, 1)->order &&
                   probe_nth(p, PROBE_DestroyHwQueue, 1)->order < first(p, PROBE_DestroyAllocation));
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- loss ---- */

static void lost_body(struct probe *p)
{
    D3DKMT_MARKDEVICEASERROR mark = {.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC};

    begin();
    *client.queued = 5;
    *client.bell = 1;
    mark.hDevice = client.hw.gpu.device;
    CHECK(NT_SUCCESS(D3DKMTMarkDeviceAsError(&mark)));
    probe_sleep(10000000);
    CHECK_RULE("SUBMIT-124/c", *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT &&
                                   probe_count(p, PROBE_DisconnectDoorbell) == 1);
    *client.bell = 2;
    CHECK_RULE("SUBMIT-124/c", *(volatile UINT64 *)(void *)doorbells.memory == 1);
    CHECK_RULE("KMT-471", probe_count(p, PROBE_SuspendContext) == 1 &&
                              first(p, PROBE_SuspendContext) < first(p, PROBE_DisconnectDoorbell));
    CHECK_RULE("KMT-185", IS(bell_connect(&client), STATUS_DEVICE_REMOVED) &&
                              probe_count(p, PROBE_ConnectDoorbell) == 1);
    CHECK_RULE("KMT-186", NT_SUCCESS(doorbells_take(p, client.queue_host,
                                                    D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY)) &&
                              *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT);
    CHECK_RULE("KMT-188", NT_SUCCESS(bell_destroy(&client)));
    end(); /* though the work is not done */
    CHECK_RULE("KMT-471", probe_count(p, PROBE_DestroyHwQueue) == 2 &&
                              probe_count(p, PROBE_ResumeContext) == 0);
}

TEST(a_lost_device_aborts_its_doorbells)
{
    run(doorbells_create(NULL), lost_body);
}

static void mark_body(struct probe *p)
{
    D3DKMT_MARKDEVICEASERROR mark = {.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC};

    (void)p;
    mark.hDevice = client.hw.gpu.device;
    CHECK(NT_SUCCESS(D3DKMTMarkDeviceAsError(&mark)));
}

static void be_slow(struct probe *p, struct probe_call *call)
{
    LARGE_INTEGER interval = {.QuadPart = -100000};

    (void)p;
    (void)call;
    CHECK(NT_SUCCESS(KeDelayExecutionThread(KernelMode, FALSE, &interval)));
}

static void meanwhile_body(struct probe *p)
{
    CHECK(NT_SUCCESS(bell_begin(&client)) && NT_SUCCESS(bell_create(&client)));
    p->before[PROBE_ConnectDoorbell] = be_slow;
    sim_thread_release(probe_thread(p, nt_process_current(), "other", mark_body));
    CHECK_RULE("KMT-185", IS(bell_connect(&client), STATUS_DEVICE_REMOVED));
    CHECK_RULE("SUBMIT-124/c", *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT &&
                                   doorbells.bell[0].connects == 1 &&
                                   doorbells.bell[0].disconnects == 1);
    *client.bell = 1;
    CHECK_RULE("SUBMIT-124/c", *(volatile UINT64 *)(void *)doorbells.memory == 0);
    end();
}

TEST(a_device_that_is_lost_while_it_connects_rings_nothing)
{
    run(doorbells_create(NULL), meanwhile_body);
}

static void end_bell_body(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(bell_destroy(&client)));
    destroyed = true;
}

static void end_meanwhile_body(struct probe *p)
{
    CHECK(NT_SUCCESS(bell_begin(&client)) && NT_SUCCESS(bell_create(&client)));
    p->before[PROBE_ConnectDoorbell] = be_slow;
    destroyed = false;
    sim_thread_release(probe_thread(p, nt_process_current(), "other", end_bell_body));
    CHECK(NT_SUCCESS(bell_connect(&client)));
    probe_sleep(10000000);
    CHECK_RULE("KMT-188", destroyed && doorbells.bell[0].disconnects == 1 &&
                              first(p, PROBE_DisconnectDoorbell) < first(p, PROBE_DestroyDoorbell));
    end();
}

static NTSTATUS late;

static void connect_late_body(struct probe *p)
{
    (void)p;
    late = bell_connect(&client);
    destroyed = true;
}

static void slow_end_body(struct probe *p)
{
    begin();
    p->before[PROBE_DisconnectDoorbell] = be_slow;
    destroyed = false;
    sim_thread_release(probe_thread(p, nt_process_current(), "other", connect_late_body));
    CHECK(NT_SUCCESS(bell_destroy(&client)));
    probe_sleep(20000000);
    CHECK_RULE("KMT-188", destroyed && IS(late, STATUS_INVALID_PARAMETER) &&
                              doorbells.bell[0].connects == 1 && doorbells.destroyed == 1);
    end();
}

/* And what comes too late finds none. */
TEST(the_end_of_a_doorbell_waits_for_its_connection)
{
    run(doorbells_create(NULL), end_meanwhile_body);
    run(doorbells_create(NULL), slow_end_body);
}

static void stay_body(struct probe *p)
{
    (void)p;
    begin();
}

static void remove_body(struct probe *p)
{
    probe_remove(p, 0);
}

static volatile UINT64 last_status;

static void remember(struct probe *p)
{
    (void)p;
    last_status = *client.status;
}

TEST(a_stop_aborts_and_destroys_doorbells)
{
    struct probe *p = doorbells_create(NULL);
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, stay_body);
    doorbells.at_disconnect = remember;
    CHECK(probe_run(p, remove_body) == SIM_DONE);
    CHECK_RULE("KMT-186", last_status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT);
    CHECK_RULE("SUBMIT-124/c", doorbells.destroyed == 1 &&
                                   first(p, PROBE_DestroyDoorbell) < first(p, PROBE_StopDevice));
    probe_client_end(p, process);
    probe_clients_end(p);
    probe_destroy(p);
}

static UINT64 status_inside;

/* The client rings. */
static void ring_inside(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    *client.bell = 9;
    status_inside = *client.status;
}

static void reset_body(struct probe *p)
{
    begin();
    *client.bell = 8;
    p->before[PROBE_ResetFromTimeout] = ring_inside;
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
    probe_sleep(10000000);
    CHECK_RULE("SUBMIT-124/c", *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT &&
                                   probe_count(p, PROBE_DisconnectDoorbell) == 1);
    CHECK_RULE("TDR-048/b", status_inside == D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT &&
                                *(volatile UINT64 *)(void *)doorbells.memory == 8);
    end();
}

TEST(a_reset_of_the_adapter_aborts_doorbells)
{
    run(doorbells_create(NULL), reset_body);
}

/* ---- timeouts ---- */

/* The GPU hangs at the fifth command, and it will be this context's fault. */
static void hang(struct probe *p)
{
    hardware.suspend = SUSPEND_IGNORED;
    for (unsigned i = 0; i < hardware.contexts; i++)
        if (hardware.context[i].host == hardware.create_context.hHwContext)
            hardware.invalidate = (int)i;
    *client.queued = 5;
    bell_progress(p, &client, 4);
}

static void hung_body(struct probe *p)
{
    begin();
    probe_sleep(10 * PROBE_SECOND);
    hang(p);
    probe_sleep(20 * PROBE_SECOND); /* nobody waits, and nothing was connected meanwhile */
    CHECK(probe_count(p, PROBE_SuspendContext) == 0);
    CHECK_RULE("SUBMIT-125/c", IS(hardware_wait(&client.hw, 5), STATUS_DEVICE_REMOVED) &&
                                   probe_count(p, PROBE_ResetHwEngine) == 1 &&
                                   hardware_device_state(&client.hw) == D3DKMT_DEVICEEXECUTION_HUNG);
    CHECK_RULE("SUBMIT-124/c", *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT);
    end();
}

static void hung_connected_body(struct probe *p)
{
    begin();
    hang(p);
    probe_sleep(20 * PROBE_SECOND);
    CHECK_RULE("SUBMIT-125/c", probe_count(p, PROBE_ResetHwEngine) == 1 &&
                                   IS(bell_connect(&client), STATUS_DEVICE_REMOVED));
    end();
}

static void hung_destroyed_body(struct probe *p)
{
    begin();
    probe_sleep(10 * PROBE_SECOND);
    hang(p);
    destroy_body(p);
    CHECK_RULE("SUBMIT-125/c", probe_count(p, PROBE_ResetHwEngine) == 1 &&
                                   first(p, PROBE_ResetHwEngine) < first(p, PROBE_DestroyHwQueue));
    end();
}

static void slow_step(struct probe *p)
{
    for (UINT64 value = 1; value <= 5; value++) {
        probe_sleep(3 * PROBE_SECOND / 2);
        bell_progress(p, &client, value);
    }
}

static void slow_body(struct probe *p)
{
    begin();
    hardware.suspend = SUSPEND_IGNORED;
    *client.queued = 5;
    sim_thread_release(probe_thread(p, nt_process_current(), "gpu", slow_step));
    CHECK_RULE("SUBMIT-125/c", NT_SUCCESS(hardware_wait(&client.hw, 5)) &&
                                   probe_count(p, PROBE_SuspendContext) == 0);
    probe_sleep(20 * PROBE_SECOND); /* idle */
    CHECK_RULE("SUBMIT-125/c", probe_count(p, PROBE_SuspendContext) == 0);
    end();
}

TEST(a_queue_without_progress_is_a_timeout)
{
    static void (*const bodies[])(struct probe *) = {hung_body, hung_connected_body,
                                                     hung_destroyed_body, slow_body};

    for (unsigned i = 0; i < 4; i++) {
        struct probe *p = doorbells_create(NULL);

        p->caps.SupportPerEngineTDR = TRUE;
        run(p, bodies[i]);
    }
}

/* ---- power ---- */

static void power_body(struct probe *p)
{
    begin();
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionNone)));
    CHECK_RULE(
        "KMT-186",
        *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY &&
            probe_count(p, PROBE_DisconnectDoorbell) == 1 &&
            first(p, PROBE_DisconnectDoorbell) <
                probe_nth(p, PROBE_SetPowerState, probe_count(p, PROBE_SetPowerState) - 1)->order);
    *client.bell = 2;
    CHECK_RULE("KMT-186", *(volatile UINT64 *)(void *)doorbells.memory == 0);
    CHECK_RULE("KMT-185",
               NT_SUCCESS(bell_connect(&client)) && *client.status == 0 &&
                   probe_nth(p, PROBE_SetPowerState, probe_count(p, PROBE_SetPowerState) - 1)->order <
                       probe_nth(p, PROBE_ConnectDoorbell, 1)->order);
    *client.bell = 3;
    CHECK_RULE("KMT-185", *(volatile UINT64 *)(void *)doorbells.memory == 3);
    end();
}

TEST(doorbells_are_disconnected_while_the_adapter_sleeps)
{
    run(doorbells_create(NULL), power_body);
}

/* ---- without memory ---- */

static uint64_t shortage_at;
static NTSTATUS shortage_status;

static void shortage_body(struct probe *p)
{
    CHECK(NT_SUCCESS(bell_begin(&client)));
    client.args.Flags.RequireSecondaryCpuVA = 1;
    p->sim->heap.fail_at = p->sim->heap.requests + shortage_at;
    shortage_status = bell_create(&client);
    if (NT_SUCCESS(shortage_status))
        shortage_status = bell_connect(&client);
    p->sim->heap.fail_at = 0;
    CHECK(NT_SUCCESS(shortage_status) || IS(shortage_status, STATUS_NO_MEMORY));
    if (doorbells.bells == doorbells.destroyed)
        CHECK(NT_SUCCESS(bell_create(&client)));
    CHECK(NT_SUCCESS(bell_connect(&client)) && *client.status == 0);
    end();
}

TEST(nothing_is_left_of_a_doorbell_for_which_memory_was_short)
{
    unsigned failed = 0;
    bool more = true;

    for (shortage_at = 1; more; shortage_at++) {
        struct probe *p = doorbells_create(NULL);
        struct probe_client *process;
        uint64_t pages = ram_free_pages(p->ram);

        doorbells.caps.Flags.SecondaryDoorbellSupported = 1;
        doorbells.caps.SecondaryDoorbellSizeInBytes = PAGE_SIZE;
        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        process = probe_client_run(p, shortage_body);
        probe_client_end(p, process);
        CHECK(doorbells.destroyed == doorbells.bells && probe_reports(p, VERIFY_WARNING) == 0);
        more = p->sim->heap.failures != 0;
        failed += !NT_SUCCESS(shortage_status);
        probe_clients_end(p);
        CHECK(probe_stop(p) == 0 && ram_free_pages(p->ram) == pages);
        probe_destroy(p);
    }
    CHECK(failed > 8);
}
