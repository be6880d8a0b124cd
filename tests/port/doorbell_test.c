/* SPDX-License-Identifier: MIT */
/* Doorbells: creation and what refuses it, connecting and disconnecting, and their end. */
#include "port/support/doorbells.h"
#include "port/support/scattered.h"

#include "sim/fault.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct bell_client client, other;

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
    CHECK(NT_SUCCESS(bell_begin(&client)));
    CHECK(NT_SUCCESS(bell_create(&client)));
}

static void end(void)
{
    CHECK(NT_SUCCESS(probe_gpu_end(&client.hw.gpu)));
}

static volatile UINT64 *physical(unsigned page)
{
    return (volatile UINT64 *)(void *)(doorbells.memory + page * PAGE_SIZE);
}

/* ---- whether there are any ---- */

static void without_body(struct probe *p)
{
    D3DDDI_CREATEHWQUEUEFLAGS flags = {.UserModeSubmission = 1};

    memset(&client, 0, sizeof(client));
    CHECK(NT_SUCCESS(hardware_begin(&client.hw)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&client.hw.gpu, 4096, &client.ring)));
    CHECK_RULE("KMT-183", IS(bell_create(&client), STATUS_NOT_SUPPORTED) &&
                              probe_count(p, PROBE_CreateDoorbell) == 0);
    CHECK_RULE("KMT-176",
               IS(hardware_queue(&client.hw, client.hw.context, flags), STATUS_NOT_SUPPORTED));
    CHECK_RULE("CAPS-121", probe_queries(p, DXGKQAITYPE_USERMODESUBMISSION_CAPS) == 0);
    end();
}

TEST(there_are_none_without_the_feature)
{
    struct probe *p = doorbells_create(NULL);

    native.features &= ~(1ull << DXGK_FEATURE_USER_MODE_SUBMISSION);
    run(p, without_body);
    p = doorbells_create(NULL); /* which it needs */
    native.features &= ~(1ull << DXGK_FEATURE_NATIVE_FENCE);
    p->caps.SchedulingCaps.NativeGpuFence = 0;
    run(p, without_body);
}

static void incomplete_body(struct probe *p)
{
    D3DDDI_CREATEHWQUEUEFLAGS flags = {.UserModeSubmission = 1};

    (void)p;
    CHECK(NT_SUCCESS(hardware_begin(&client.hw)));
    CHECK_RULE("KMT-176",
               IS(hardware_queue(&client.hw, client.hw.context, flags), STATUS_NOT_SUPPORTED));
    end();
}

/* The flag of the node; an entry. */
TEST(queues_for_user_mode_need_the_nodes_flag_and_the_entries)
{
    struct probe *p = doorbells_create(NULL);

    p->node[HARDWARE_NODE].Flags.UserModeSubmission = 0;
    run(p, incomplete_body);
    p = doorbells_create(NULL);
    probe_set_entry(p, PROBE_DisconnectDoorbell, false);
    run(p, incomplete_body);
}

static void size_body(struct probe *p)
{
    memset(&client, 0, sizeof(client));
    CHECK(NT_SUCCESS(bell_begin(&client)));
    CHECK_RULE("SUBMIT-122/e",
               IS(bell_create(&client), STATUS_NOT_SUPPORTED) && probe_rule(p, "SUBMIT-122") == 1);
    end();
}

TEST(doorbells_have_at_most_16_KB)
{
    struct probe *p = doorbells_create(NULL);

    doorbells.caps.DoorbellSizeInBytes = DXGK_MAX_DOORBELL_SIZE_BYTES + 1;
    run(p, size_body);
}

/* ---- what refuses one ---- */

static NTSTATUS attempt(D3DKMT_HANDLE queue, D3DKMT_HANDLE ring, D3DKMT_HANDLE control, UINT flags)
{
    D3DKMT_CREATE_DOORBELL_WDDM3_2 args = {
        .hHwQueue = queue, .hRingBuffer = ring, .hRingBufferControl = control, .Flags.Value = flags};

    return D3DKMTCreateDoorbell((D3DKMT_CREATE_DOORBELL *)(void *)&args);
}

static void refusals_body(struct probe *p)
{
    struct probe_gpu second;
    D3DKMT_HANDLE foreign;
    D3DKMT_EVICT evict = {.NumAllocations = 1};

    CHECK(NT_SUCCESS(bell_begin(&client)) && NT_SUCCESS(probe_gpu_begin(&second)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&second, 4096, &foreign)));
    CHECK_RULE("KMT-183",
               IS(attempt(client.plain_queue, client.ring, 0, 0), STATUS_INVALID_PARAMETER) &&
                   strstr(probe_refused_text, "without UserModeSubmission"));
    CHECK_RULE("KMT-183", IS(attempt(client.hw.queue, foreign, 0, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("KMT-183",
               IS(attempt(client.hw.queue, client.ring, foreign, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("KMT-183", IS(attempt(client.hw.queue, 0, 0, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("KMT-184", IS(attempt(client.hw.queue, client.ring, 0, 1), STATUS_INVALID_PARAMETER));
    CHECK(IS(attempt(client.hw.queue, client.ring, 0, 4), STATUS_INVALID_PARAMETER));
    CHECK(IS(attempt(client.hw.context, client.ring, 0, 0), STATUS_INVALID_PARAMETER));
    evict.hDevice = client.hw.gpu.device;
    evict.AllocationList = &client.control;
    CHECK(NT_SUCCESS(D3DKMTEvict(&evict)));
    CHECK_RULE("KMT-183", IS(attempt(client.hw.queue, client.ring, client.control, 0),
                             STATUS_INVALID_PARAMETER) &&
                              strstr(probe_refused_text, "made resident"));
    CHECK_RULE("KMT-183",
               IS(attempt(client.hw.queue, client.control, 0, 0), STATUS_INVALID_PARAMETER));
    CHECK(doorbells.bells == 0);
    p->before[PROBE_CreateDoorbell] = probe_fail_call;
    p->after[PROBE_CreateDoorbell] = NULL;
    CHECK(IS(attempt(client.hw.queue, client.ring, 0, 0), STATUS_UNSUCCESSFUL));
    CHECK(probe_count(p, PROBE_DestroyDoorbell) == 0);
    CHECK_RULE("KMT-188", IS(bell_destroy(&client), STATUS_INVALID_PARAMETER) &&
                              IS(bell_connect(&client), STATUS_INVALID_PARAMETER));
    end();
}

TEST(a_doorbell_needs_its_queue_and_a_resident_ring)
{
    run(doorbells_create(NULL), refusals_body);
}

/* ---- creation ---- */

static void life_body(struct probe *p)
{
    static char data[8] = "private";
    const struct doorbell *bell = &doorbells.bell[0];
    UINT64 value = 1;

    CHECK(NT_SUCCESS(bell_begin(&client)));
    client.args.Flags.ResizeRingBufferOperation = 1;
    client.args.PrivateDriverData = data;
    client.args.PrivateDriverDataSize = sizeof(data);
    CHECK_RULE("KMT-182", NT_SUCCESS(bell_create(&client)) && doorbells.bells == 1 && client.bell &&
                              client.status && client.queued &&
                              *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
    CHECK_RULE("KMT-182", bell->host && bell->args.hHwQueue == client.queue_driver &&
                              bell->args.hRingBuffer && bell->args.hRingBufferControl &&
                              bell->args.hRingBuffer != bell->args.hRingBufferControl &&
                              memcmp(bell->private_data, "private", 8) == 0 &&
                              data[0] == ('p' ^ 0x55));
    CHECK_RULE("KMT-184", bell->args.Flags.ResizeRingBufferOperation == 1 &&
                              !client.args.DoorbellSecondaryCPUVirtualAddress);
    CHECK_RULE("KMT-183", IS(bell_create(&client), STATUS_INVALID_PARAMETER) &&
                              strstr(probe_refused_text, "has a doorbell"));
    CHECK_RULE("SUBMIT-122/a", probe_count(p, PROBE_ConnectDoorbell) == 0);
    *client.bell = 7;
    CHECK_RULE("SUBMIT-122/a", *physical(0) == 0);
    CHECK_RULE("KMT-185", NT_SUCCESS(bell_connect(&client)) && bell->connects == 1 &&
                              doorbells.connect.hDoorbell == bell->driver &&
                              *client.status == D3DDDI_DOORBELLSTATUS_CONNECTED);
    *client.bell = 8;
    CHECK_RULE("SUBMIT-122/b", *physical(0) == 8);
    CHECK_RULE("KMT-186", !sim_copy_checked((void *)(uintptr_t)client.status, &value, 8) &&
                              *client.status == 0);
    CHECK(NT_SUCCESS(bell_connect(&client)) && bell->connects == 1);
    CHECK_RULE("KMT-188", NT_SUCCESS(bell_destroy(&client)) && bell->destroyed &&
                              bell->disconnects == 1 &&
                              probe_nth(p, PROBE_DisconnectDoorbell, 0)->order <
                                  probe_nth(p, PROBE_DestroyDoorbell, 0)->order);
    CHECK_RULE("KMT-188", !sim_copy_checked(&value, (void *)(uintptr_t)client.bell, 8) &&
                              !sim_copy_checked(&value, (void *)(uintptr_t)client.status, 8) &&
                              !sim_copy_checked(&value, (void *)(uintptr_t)client.queued, 8));
    CHECK_RULE("KMT-188", IS(bell_destroy(&client), STATUS_INVALID_PARAMETER));
    client.args.PrivateDriverDataSize = 0;
    CHECK(NT_SUCCESS(bell_create(&client)));
    end();
}

TEST(a_doorbell_rings_once_it_is_connected)
{
    run(doorbells_create(NULL), life_body);
}

static void secondary_body(struct probe *p)
{
    volatile UINT64 *secondary;

    (void)p;
    CHECK(NT_SUCCESS(bell_begin(&client)));
    client.args.Flags.RequireSecondaryCpuVA = 1;
    CHECK_RULE("KMT-184", NT_SUCCESS(bell_create(&client)) &&
                              client.args.DoorbellSecondaryCPUVirtualAddress != NULL);
    secondary = client.args.DoorbellSecondaryCPUVirtualAddress;
    secondary[512] = 5;
    CHECK_RULE("KMT-184", NT_SUCCESS(bell_connect(&client)) &&
                              doorbells.connect.Flags.RequireSecondaryAddress == 1);
    CHECK(*physical(2) == 0 && *physical(3) == 0);
    secondary[0] = 6;
    secondary[512] = 7;
    CHECK_RULE("KMT-184", *physical(2) == 6 && *physical(3) == 7 && *physical(0) == 0);
    CHECK(
        NT_SUCCESS(doorbells_take(p, client.queue_host, D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY)));
    secondary[0] = 9;
    CHECK_RULE("SUBMIT-123/c", *physical(2) == 6);
    end();
}

TEST(a_secondary_doorbell_has_an_address_of_its_own)
{
    struct probe *p = doorbells_create(NULL);

    doorbells.caps.Flags.SecondaryDoorbellSupported = 1;
    doorbells.caps.SecondaryDoorbellSizeInBytes = PAGE_SIZE + 1;
    run(p, secondary_body);
}

/* ---- pages here and there ---- */

static MDL *apart;

/* Two pages of RAM that do not follow each other. */
static void scatter(struct probe *p, struct probe_call *call)
{
    static const PHYSICAL_ADDRESS low, high = {.QuadPart = -1};

    (void)call;
    scattered_begin(p, 64, 1);
    apart = MmAllocatePagesForMdl(low, high, low, 2 * PAGE_SIZE);
    scattered_end(p, 64, 1);
    CHECK(apart && MmGetMdlByteCount(apart) == 2 * PAGE_SIZE);
    CHECK(MmGetMdlPfnArray(apart)[0] + 1 != MmGetMdlPfnArray(apart)[1]);
    doorbells.answer = MmMapLockedPagesSpecifyCache(apart, KernelMode, MmCached, NULL, FALSE,
                                                    NormalPagePriority);
    CHECK(doorbells.answer != NULL);
}

static void gather(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    MmUnmapLockedPages(doorbells.answer, apart);
    MmFreePagesFromMdl(apart);
    ExFreePool(apart);
}

static void scattered_body(struct probe *p)
{
    const volatile UINT64 *words;

    p->before[PROBE_ConnectDoorbell] = scatter;
    p->before[PROBE_DestroyDoorbell] = gather;
    begin();
    CHECK(NT_SUCCESS(bell_connect(&client)));
    words = doorbells.answer;
    client.bell[0] = 6;
    client.bell[512] = 7;
    CHECK_RULE("SUBMIT-122/g", words[0] == 6 && words[512] == 7);
    end();
}

TEST(pages_of_a_doorbell_need_not_follow_each_other)
{
    struct probe *p = doorbells_create(NULL);

    doorbells.caps.DoorbellSizeInBytes = 2 * PAGE_SIZE;
    run(p, scattered_body);
}

/* ---- what the driver answers ---- */

static void answers_body(struct probe *p)
{
    begin();
    doorbells.status = D3DDDI_DOORBELLSTATUS_CONNECTED_NOTIFY_KMD;
    CHECK_RULE("KMT-185", NT_SUCCESS(bell_connect(&client)) && *client.status == 1);
    CHECK(
        NT_SUCCESS(doorbells_take(p, client.queue_host, D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY)));
    doorbells.status = D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY;
    CHECK_RULE("SUBMIT-122/d", IS(bell_connect(&client), STATUS_UNSUCCESSFUL) &&
                                   *client.status == 2 && probe_rule(p, "SUBMIT-122") == 1 &&
                                   doorbells.bell[0].disconnects == 1);
    doorbells.status = D3DDDI_DOORBELLSTATUS_CONNECTED;
    doorbells.answer = doorbells.memory + 8;
    CHECK_RULE("SUBMIT-122/d",
               IS(bell_connect(&client), STATUS_UNSUCCESSFUL) && probe_rule(p, "SUBMIT-122") == 2);
    CHECK(probe_reports(p, VERIFY_ERROR) == 2);
    doorbells.answer = (void *)p->state[0].registers;
    CHECK_RULE("SUBMIT-122/f", IS(bell_connect(&client), STATUS_NOT_SUPPORTED) &&
                                   *client.status == 2 && probe_rule(p, "SUBMIT-122") == 3 &&
                                   probe_reports(p, VERIFY_WARNING) == 2 &&
                                   doorbells.bell[0].disconnects == 3);
    doorbells.answer = NULL;
    *client.bell = 3;
    CHECK(*physical(0) == 0);
    p->before[PROBE_ConnectDoorbell] = probe_fail_call;
    CHECK_RULE("KMT-185", IS(bell_connect(&client), STATUS_UNSUCCESSFUL) && *client.status == 2);
    p->before[PROBE_ConnectDoorbell] = NULL;
    CHECK_RULE("SUBMIT-122/c", NT_SUCCESS(bell_connect(&client)) && *client.status == 0);
    *client.bell = 4;
    CHECK_RULE("SUBMIT-122/c", *physical(0) == 4);
    end();
}

TEST(the_client_finds_what_the_driver_answers)
{
    run(doorbells_create(NULL), answers_body);
}

/* ---- the driver takes them ---- */

static void taken_body(struct probe *p)
{
    begin();
    CHECK(NT_SUCCESS(bell_connect(&client)));
    CHECK_RULE("SUBMIT-123/a",
               IS(doorbells_take(p, client.queue_driver, D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY),
                  STATUS_INVALID_PARAMETER) &&
                   *client.status == 0);
    *client.bell = 1;
    CHECK_RULE("SUBMIT-123/c",
               NT_SUCCESS(doorbells_take(p, client.queue_host,
                                         D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY)) &&
                   *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY);
    *client.bell = 2;
    CHECK_RULE("SUBMIT-123/c", *physical(0) == 1 && probe_count(p, PROBE_DisconnectDoorbell) == 0);
    CHECK_RULE("SUBMIT-123/b", NT_SUCCESS(doorbells_take(p, client.queue_host,
                                                         D3DDDI_DOORBELLSTATUS_DISCONNECTED_RETRY)));
    CHECK(NT_SUCCESS(bell_connect(&client)) && *client.status == 0);
    CHECK_RULE("KMT-186", NT_SUCCESS(doorbells_take(p, client.queue_host,
                                                    D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT)) &&
                              *client.status == D3DDDI_DOORBELLSTATUS_DISCONNECTED_ABORT);
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    end();
}

/* Neither a status of connected doorbells nor one that there is not. */
static void no_reason_body(struct probe *p)
{
    static const D3DDDI_DOORBELLSTATUS reasons[] = {D3DDDI_DOORBELLSTATUS_CONNECTED,
                                                    D3DDDI_DOORBELLSTATUS_CONNECTED_NOTIFY_KMD,
                                                    (D3DDDI_DOORBELLSTATUS)4};

    begin();
    doorbells.status = D3DDDI_DOORBELLSTATUS_CONNECTED_NOTIFY_KMD;
    CHECK(NT_SUCCESS(bell_connect(&client)));
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("SUBMIT-123/d",
                   IS(doorbells_take(p, client.queue_host, reasons[i]), STATUS_INVALID_PARAMETER) &&
                       probe_rule(p, "SUBMIT-123") == i + 1 && *client.status == 1);
    *client.bell = 5;
    CHECK_RULE("SUBMIT-123/d", *physical(0) == 5);
    end();
}

TEST(the_driver_takes_a_doorbell_away)
{
    run(doorbells_create(NULL), taken_body);
    run(doorbells_create(NULL), no_reason_body);
}

static void stealing_body(struct probe *p)
{
    (void)p;
    begin();
    CHECK(NT_SUCCESS(bell_begin(&other)) && NT_SUCCESS(bell_create(&other)));
    CHECK(NT_SUCCESS(bell_connect(&client)));
    *client.bell = 1;
    doorbells.steal = client.queue_host;
    CHECK_RULE("SUBMIT-123/c", NT_SUCCESS(bell_connect(&other)) && NT_SUCCESS(doorbells.stolen) &&
                                   *client.status == 2 && *other.status == 0);
    *client.bell = 2;
    CHECK_RULE("SUBMIT-123/c", *physical(0) == 1);
    *other.bell = 3;
    CHECK_RULE("SUBMIT-122/b", *physical(0) == 3);
    doorbells.steal = client.queue_host; /* its own, while it is connected */
    CHECK_RULE("SUBMIT-123/c", NT_SUCCESS(bell_connect(&client)) && *client.status == 2);
    *client.bell = 4;
    CHECK_RULE("SUBMIT-123/c", *physical(0) == 3);
    end();
    CHECK(NT_SUCCESS(probe_gpu_end(&other.hw.gpu)));
}

TEST(one_physical_doorbell_serves_two_queues)
{
    run(doorbells_create(NULL), stealing_body);
}

/* ---- notifications ---- */

static void notify_body(struct probe *p)
{
    D3DKMT_NOTIFY_WORK_SUBMISSION args = {.Flags.Value = 1};

    begin();
    args.hHwQueue = client.hw.queue;
    CHECK_RULE("KMT-187", IS(D3DKMTNotifyWorkSubmission(&args), STATUS_INVALID_PARAMETER));
    args.Flags.Value = 0;
    CHECK_RULE("KMT-187", NT_SUCCESS(D3DKMTNotifyWorkSubmission(&args)) &&
                              doorbells.notified == client.queue_driver &&
                              probe_count(p, PROBE_NotifyWorkSubmission) == 1);
    args.hHwQueue = client.plain_queue;
    CHECK_RULE("KMT-187", IS(D3DKMTNotifyWorkSubmission(&args), STATUS_INVALID_PARAMETER));
    args.hHwQueue = client.hw.context;
    CHECK_RULE("KMT-187", IS(D3DKMTNotifyWorkSubmission(&args), STATUS_INVALID_PARAMETER) &&
                              probe_count(p, PROBE_NotifyWorkSubmission) == 1);
    end();
}

TEST(notifications_reach_the_driver)
{
    run(doorbells_create(NULL), notify_body);
}
