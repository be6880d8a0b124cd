/* SPDX-License-Identifier: MIT */
/* Events of clients that the driver signals. */
#include "port/support/client.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk

static struct probe_gpu gpu;
static HANDLE event_handle, host_event, process_handle;
static D3DKMT_HANDLE object;

static void note_event(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECPUEVENT *created = (DXGKARG_CREATECPUEVENT *)(uintptr_t)call->arg[1];

    (void)p;
    host_event = created->hDxgCpuEvent;
    created->hKmdCpuEvent = (HANDLE)(uintptr_t)0x5150;
}

static void note_process(struct probe *p, struct probe_call *call)
{
    (void)p;
    process_handle = ((DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1])->hDxgkProcess;
}

static NTSTATUS create_event(void)
{
    return ZwCreateEvent(&event_handle, EVENT_ALL_ACCESS, NULL, SynchronizationEvent, FALSE);
}

static NTSTATUS create_object(D3DKMT_HANDLE device)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create;
    NTSTATUS status;

    memset(&create, 0, sizeof(create));
    create.hDevice = device;
    create.Info.Type = D3DDDI_CPU_NOTIFICATION;
    create.Info.Flags.SignalByKmd = 1;
    create.Info.CPUNotification.Event = event_handle;
    status = D3DKMTCreateSynchronizationObject2(&create);
    object = create.hSyncObject;
    return status;
}

static bool is_set(void)
{
    LARGE_INTEGER now = {.QuadPart = 0};

    return ZwWaitForSingleObject(event_handle, FALSE, &now) == STATUS_SUCCESS;
}

static DXGKARGCB_SIGNALEVENT args;
static NTSTATUS answer;

/* The interrupt that a test raises, beside those of the device: the signal comes from it, or from its deferred call. */
static bool raised, from_isr;

static void claim(struct probe *p, struct probe_call *call)
{
    if (!raised)
        return;
    call->answered = true;
    call->result = TRUE;
    if (from_isr) {
        answer = DXGK.DxgkCbSignalEvent(&args);
        raised = false;
    }
    (void)DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle);
}

static void signal_in_dpc(struct probe *p, struct probe_call *call)
{
    (void)call;
    if (raised)
        answer = DXGK.DxgkCbSignalEvent(&args);
    raised = false;
}

static NTSTATUS interrupt(void)
{
    answer = (NTSTATUS)0x12345;
    raised = true;
    probe_device_raise(0, 0);
    while (raised)
        probe_sleep(1000);
    return answer;
}

static void objects_body(struct probe *p)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS) && IS(create_event(), STATUS_SUCCESS));
    CHECK(IS(create_object(0), STATUS_INVALID_PARAMETER));
    CHECK(IS(create_object(gpu.device), STATUS_SUCCESS));
    p->before[PROBE_InterruptRoutine] = claim;
    p->before[PROBE_DpcRoutine] = signal_in_dpc;
    args = (DXGKARGCB_SIGNALEVENT){.hEvent = host_event, .CpuEventObject = 1};
    CHECK_RULE("LIFE-129/a", !is_set() && IS(interrupt(), STATUS_SUCCESS) && is_set() && !is_set());
    CHECK_RULE("SUBMIT-147", IS(interrupt(), STATUS_SUCCESS) && is_set()); /* at DISPATCH_LEVEL */
    CHECK_RULE("SUBMIT-147", IS(DXGK.DxgkCbSignalEvent(&args), STATUS_SUCCESS) && is_set());
    args.hDxgkProcess = process_handle;
    CHECK_RULE("LIFE-129/b", IS(interrupt(), STATUS_INVALID_PARAMETER) && !is_set());
    args.hDxgkProcess = NULL;
    args.Reserved = 1;
    CHECK_RULE("LIFE-129/c", IS(interrupt(), STATUS_INVALID_PARAMETER) && !is_set());
    args.Reserved = 0;
    /* above its level */
    from_isr = true;
    CHECK_RULE("LIFE-129/d", IS(interrupt(), STATUS_INVALID_DEVICE_REQUEST) && !is_set() &&
                                 probe_rule(p, "THREAD-050") == 1);
    CHECK_RULE("SUBMIT-147", IS(interrupt(), STATUS_INVALID_DEVICE_REQUEST) && !is_set());
    from_isr = false;
    /* by the handle of the process that gave it */
    args = (DXGKARGCB_SIGNALEVENT){.hDxgkProcess = process_handle, .hEvent = event_handle};
    CHECK_RULE("LIFE-129/a", IS(interrupt(), STATUS_SUCCESS) && is_set());
    args.hEvent = (HANDLE)(uintptr_t)0x7774;
    CHECK_RULE("LIFE-129/b", IS(interrupt(), STATUS_INVALID_PARAMETER));
    /* after its end */
    CHECK(IS(D3DKMTDestroySynchronizationObject(
                 &(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){.hSyncObject = object}),
             STATUS_SUCCESS));
    CHECK(probe_nth(p, PROBE_DestroyCpuEvent, 0)->arg[1] == 0x5150);
    CHECK_RULE("LIFE-130", probe_rule(p, "LIFE-130") == 0);
    args = (DXGKARGCB_SIGNALEVENT){.hEvent = host_event, .CpuEventObject = 1};
    CHECK_RULE("LIFE-130", IS(interrupt(), STATUS_INVALID_PARAMETER) && !is_set() &&
                               probe_rule(p, "LIFE-130") == 1);
    CHECK_RULE("SUBMIT-147", probe_rule(p, "LIFE-130") == 1);
    CHECK(IS(create_object(gpu.device), STATUS_SUCCESS)); /* one for the end of the device */
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
    CHECK_RULE("LIFE-130", probe_count(p, PROBE_DestroyCpuEvent) == 2 &&
                               probe_nth(p, PROBE_DestroyCpuEvent, 1)->order <
                                   probe_nth(p, PROBE_DestroyDevice, 0)->order);
    CHECK(NT_SUCCESS(ZwClose(event_handle)));
}

static void run(bool entries, void (*body)(struct probe *p))
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_0};
    struct probe *p = probe_create(&options);
    struct probe_client *client;

    probe_set_entry(p, PROBE_CreateCpuEvent, entries);
    probe_set_entry(p, PROBE_DestroyCpuEvent, entries);
    p->after[PROBE_CreateCpuEvent] = note_event;
    p->after[PROBE_CreateProcess] = note_process;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

TEST(the_driver_signals_events)
{
    run(true, objects_body);
}

static void refused_body(struct probe *p)
{
    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS) && IS(create_event(), STATUS_SUCCESS));
    CHECK(IS(create_object(gpu.device), STATUS_NOT_SUPPORTED));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS) && NT_SUCCESS(ZwClose(event_handle)));
}

TEST(without_the_entries_there_are_none)
{
    run(false, refused_body);
}

/* ---- failures ---- */

static void failing_body(struct probe *p)
{
    unsigned failed = 0;
    size_t created;

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS) && IS(create_event(), STATUS_SUCCESS));
    host_event = NULL;
    p->before[PROBE_CreateCpuEvent] = probe_fail_call;
    CHECK(IS(create_object(gpu.device), STATUS_UNSUCCESSFUL) && host_event != NULL);
    p->before[PROBE_CreateCpuEvent] = NULL;
    CHECK(probe_count(p, PROBE_DestroyCpuEvent) == 0);
    /* the handle that the driver saw is none any more */
    args = (DXGKARGCB_SIGNALEVENT){.hEvent = host_event, .CpuEventObject = 1};
    CHECK_RULE("LIFE-130", IS(DXGK.DxgkCbSignalEvent(&args), STATUS_INVALID_PARAMETER) &&
                               !is_set() && probe_rule(p, "LIFE-130") == 1);
    for (unsigned n = 1;; n++) {
        NTSTATUS status;

        created = probe_count(p, PROBE_CreateCpuEvent);
        p->sim->heap.fail_at = p->sim->heap.requests + n;
        status = create_object(gpu.device);
        p->sim->heap.fail_at = 0;
        if (NT_SUCCESS(status))
            break;
        CHECK(IS(status, STATUS_NO_MEMORY) || IS(status, STATUS_INSUFFICIENT_RESOURCES));
        CHECK(probe_count(p, PROBE_CreateCpuEvent) - created ==
              probe_count(p, PROBE_DestroyCpuEvent)); /* what was made was unmade */
        probe_forget(p);
        failed++;
    }
    CHECK(failed >= 2);
    args.hEvent = host_event;
    CHECK_RULE("LIFE-129/a", IS(DXGK.DxgkCbSignalEvent(&args), STATUS_SUCCESS) && is_set());
    CHECK(IS(DXGK.DxgkCbSignalEvent(NULL), STATUS_INVALID_PARAMETER));
    args.hDxgkProcess = (HANDLE)(uintptr_t)0x1234567;
    args.CpuEventObject = 0;
    CHECK_RULE("LIFE-129/b", IS(DXGK.DxgkCbSignalEvent(&args), STATUS_INVALID_PARAMETER) &&
                                 probe_said(p, "LIFE-129", "not that of a process"));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS) && NT_SUCCESS(ZwClose(event_handle)));
}

TEST(events_that_are_not_made)
{
    run(true, failing_body);
}

TEST(both_entries_are_needed)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_0};
        struct probe *p = probe_create(&options);
        struct probe_client *client;

        probe_set_entry(p, PROBE_CreateCpuEvent, i == 0);
        probe_set_entry(p, PROBE_DestroyCpuEvent, i == 1);
        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        client = probe_client_run(p, refused_body);
        CHECK(probe_count(p, PROBE_CreateCpuEvent) == 0);
        probe_client_end(p, client);
        probe_clients_end(p);
        probe_destroy(p);
    }
}
