/* SPDX-License-Identifier: MIT */
/* Stopping, restarting, removing, unloading. */
#include "nt/base/current.h"
#include "port/support/held_client.h"
#include "port/support/probe.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 1000000ull
#define TAG                0x426F7250u

static struct probe *start_adapters(unsigned adapters)
{
    const struct probe_options options = {.adapters = adapters};
    struct probe *p = probe_create(&options);

    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

/* Default answer, error status. */
static void fail_after(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = (uint64_t)(uint32_t)STATUS_UNSUCCESSFUL;
}

/* ---- the order of things ---- */

static void remove_beside(struct probe *p)
{
    struct sim_thread *thread = held_client_start(p);

    probe_remove(p, 0);
    sim_thread_release(thread);
}

TEST(stop_then_remove)
{
    struct probe *p = start_adapters(1);
    const struct probe_call *stop, *removal;
    uint64_t client;
    bool used = false;

    CHECK(probe_run(p, remove_beside) == SIM_DONE);
    stop = probe_nth(p, PROBE_StopDevice, 0);
    removal = probe_nth(p, PROBE_RemoveDevice, 0);
    client = probe_nth(p, PROBE_CreateDevice, probe_count(p, PROBE_CreateDevice) - 1)->left;
    CHECK_RULE("LIFE-169", probe_count(p, PROBE_StopDevice) == 1 && stop->irql == PASSIVE_LEVEL &&
                               stop->order >= client);
    CHECK_RULE("LIFE-171/d", probe_rule(p, "LIFE-171") == 0);
    CHECK_RULE("LIFE-174/a", probe_count(p, PROBE_RemoveDevice) == 1 &&
                                 removal->irql == PASSIVE_LEVEL && removal->order >= stop->left);
    (void)probe_stop(p);
    CHECK(p->call[p->calls - 1]->ddi == PROBE_Unload);
    for (size_t i = (size_t)removal->order + 1; i < p->calls; i++)
        used = used || p->call[i]->arg[0] == removal->arg[0];
    CHECK_RULE("LIFE-174/b", !used);
    probe_destroy(p);
}

TEST(a_failed_start_is_removed)
{
    struct probe *p = probe_create(NULL);
    const struct probe_call *removal;

    p->before[PROBE_StartDevice] = probe_fail_call;
    CHECK(IS(probe_start(p), STATUS_UNSUCCESSFUL));
    removal = probe_nth(p, PROBE_RemoveDevice, 0);
    CHECK_RULE("LIFE-174/c", probe_count(p, PROBE_RemoveDevice) == 1 &&
                                 removal->order == p->calls - 1 &&
                                 probe_count(p, PROBE_StopDevice) == 0);
    probe_destroy(p);
}

TEST(errors_do_not_stop_the_removal)
{
    struct probe *p = start_adapters(1);

    p->after[PROBE_StopDevice] = fail_after;
    p->after[PROBE_RemoveDevice] = fail_after;
    (void)probe_stop(p);
    CHECK_RULE("LIFE-170", probe_rule(p, "LIFE-170") == 1 &&
                               probe_record(p, "LIFE-170")->severity == VERIFY_ERROR &&
                               probe_count(p, PROBE_RemoveDevice) == 1);
    CHECK_RULE("LIFE-175", probe_rule(p, "LIFE-175") == 1 && probe_count(p, PROBE_Unload) == 1 &&
                               !port_adapter_first(p->port));
    probe_destroy(p);
}

static bool at_dma;

static void disturb(struct probe *p)
{
    uint8_t byte = 0;

    (void)p;
    probe_sleep(MS / 10);
    if (at_dma)
        (void)probe_device_dma(0, 0x100000, &byte, 1, false);
    else
        probe_device_raise(0, 0);
}

static void disturb_later(struct probe *p, struct probe_call *call)
{
    (void)call;
    sim_thread_release(probe_thread(p, nt_process_system(), "device", disturb));
}

TEST(a_stopped_device_is_silent)
{
    for (unsigned dma = 0; dma < 2; dma++) {
        struct probe *p = start_adapters(1);
        size_t interrupts = probe_count(p, PROBE_InterruptRoutine);

        at_dma = dma;
        p->after[PROBE_StopDevice] = disturb_later;
        (void)probe_stop(p);
        CHECK_RULE(dma ? "LIFE-171/b" : "LIFE-171/a",
                   probe_rule(p, "LIFE-171") == 1 &&
                       probe_said(p, "LIFE-171", dma ? "accessed memory" : "raised an interrupt"));
        CHECK_RULE("LIFE-171/c", probe_count(p, PROBE_InterruptRoutine) == interrupts);
        probe_destroy(p);
    }
}

/* ---- displays: nothing of them is called ---- */

static bool is_of_displays(const char *name)
{
    static const char *const part[] = {"VidPn",   "Pointer", "Overlay",       "ScanLine",
                                       "Palette", "Monitor", "SystemDisplay", "Display",
                                       "Target",  "Flip",    "Mode"};

    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
        if (strstr(name, part[i]))
            return true;
    return false;
}

static void exercise(struct probe *p)
{
    struct sim_thread *thread = held_client_free(p);

    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    probe_sleep(10 * MS);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    CHECK(NT_SUCCESS(port_adapter_restart(p->adapter[0])));
    sim_thread_release(thread);
}

TEST(a_full_driver_without_sources)
{
    struct probe *p = probe_create(NULL);

    probe_add_display_entries(p);
    p->caps.SupportNonVGA = TRUE;
    CHECK_RULE("LIFE-025", NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, exercise) == SIM_DONE);
    (void)probe_stop(p);
    for (size_t i = 0; i < p->calls; i++)
        CHECK_RULE("LIFE-025", !is_of_displays(p->call[i]->name));
    CHECK_RULE("LIFE-144", probe_count(p, PROBE_ControlInterrupt) +
                                   probe_count(p, PROBE_ControlInterrupt2) +
                                   probe_count(p, PROBE_ControlInterrupt3) ==
                               0);
    CHECK_RULE("SUBMIT-069", probe_count(p, PROBE_ControlInterrupt) +
                                     probe_count(p, PROBE_ControlInterrupt2) +
                                     probe_count(p, PROBE_ControlInterrupt3) ==
                                 0);
    CHECK_RULE("LIFE-145/b", probe_count(p, PROBE_SetVirtualMachineData) +
                                     probe_count(p, PROBE_GetChildContainerId) ==
                                 0);
    CHECK_RULE("LIFE-133", probe_count(p, PROBE_DispatchIoRequest) == 0);
    CHECK_RULE("LIFE-172", probe_count(p, PROBE_StopDeviceAndReleasePostDisplayOwnership) == 0 &&
                               probe_count(p, PROBE_StopDevice) == 2);
    probe_destroy(p);
}

/* ---- again ---- */

static void restart_body(struct probe *p)
{
    LUID luid = p->state[0].info.AdapterLuid;
    GUID guid = p->state[0].info.AdapterGuid;
    uint64_t context = probe_nth(p, PROBE_StartDevice, 0)->arg[0];
    const struct probe_call *stop, *again;
    DXGK_DEVICE_INFO info;

    port_adapter_retain(p->adapter[0]);
    CHECK(IS(port_adapter_restart(p->adapter[0]), STATUS_DEVICE_BUSY));
    port_adapter_release(p->adapter[0]);
    CHECK(NT_SUCCESS(port_adapter_restart(p->adapter[0])));
    stop = probe_nth(p, PROBE_StopDevice, 0);
    again = probe_nth(p, PROBE_StartDevice, 1);
    CHECK_RULE("LIFE-173/a", again->order >= stop->left && again->arg[0] == context &&
                                 probe_count(p, PROBE_AddDevice) == 1 &&
                                 probe_count(p, PROBE_RemoveDevice) == 0);
    CHECK_RULE("LIFE-173/b", NT_SUCCESS(p->state[0].dxgk.DxgkCbGetDeviceInformation(
                                 p->state[0].dxgk.DeviceHandle, &info)) &&
                                 info.TranslatedResourceList);
    CHECK_RULE("LIFE-056/a", p->state[0].info.AdapterLuid.LowPart == luid.LowPart &&
                                 p->state[0].info.AdapterLuid.HighPart == luid.HighPart &&
                                 memcmp(&p->state[0].info.AdapterGuid, &guid, sizeof(guid)) == 0);
    probe_remove(p, 0);
    CHECK(NT_SUCCESS(probe_add(p, 0)));
    CHECK_RULE("LIFE-056/b", p->state[1].info.AdapterLuid.LowPart !=
                                 luid.LowPart); /* a device object of its own */
}

TEST(stop_and_start_again)
{
    probe_end(start_adapters(1), restart_body);
}

static void use_old_interface(struct probe *p, struct probe_call *call)
{
    (void)call;
    p->user = p->state[0].interface_address->DxgkCbQueueDpc; /* lent for StartDevice only */
}

static void old_interface_body(struct probe *p)
{
    DXGKARG_CREATEDEVICE args = {.hDevice = (HANDLE)(uintptr_t)1};

    (void)ddi_create_device(port_adapter_ddi(p->adapter[0]), &args);
}

TEST(the_old_interface_is_gone)
{
    struct probe *p = start_adapters(1);

    p->before[PROBE_CreateDevice] = use_old_interface;
    CHECK_RULE("LIFE-061",
               probe_run(p, old_interface_body) == SIM_STOPPED && probe_rule(p, "LIFE-061") == 1);
    probe_destroy(p);
}

static void fail_second_start(struct probe *p, struct probe_call *call)
{
    if (probe_count(p, PROBE_StartDevice) == 2)
        probe_fail_call(p, call);
}

static void failing_restart_body(struct probe *p)
{
    CHECK(IS(port_adapter_restart(p->adapter[0]), STATUS_UNSUCCESSFUL) &&
          port_adapter_lost(p->adapter[0]));
    probe_remove(p, 0);
    CHECK_RULE("LIFE-174/a",
               probe_count(p, PROBE_RemoveDevice) == 1 && probe_count(p, PROBE_StopDevice) == 1);
}

TEST(a_failed_restart_loses_the_adapter)
{
    struct probe *p = start_adapters(1);

    p->before[PROBE_StartDevice] = fail_second_start;
    probe_end(p, failing_restart_body);
}

/* ---- unload ---- */

TEST(unload_comes_last)
{
    struct probe *p = start_adapters(2);
    const struct probe_call *unload;

    CHECK_RULE("LIFE-176/a", probe_stop(p) == 0);
    unload = probe_nth(p, PROBE_Unload, 0);
    CHECK_RULE("LIFE-176/a", probe_count(p, PROBE_Unload) == 1 && unload->irql == PASSIVE_LEVEL);
    CHECK_RULE("LIFE-176/b", unload->order == p->calls - 1 &&
                                 unload->order > probe_nth(p, PROBE_RemoveDevice, 1)->order);
    probe_destroy(p);
}

static KTIMER timer;
static ERESOURCE resource;
static NPAGED_LOOKASIDE_LIST lookaside;
static uint8_t page[4096];

static void NTAPI thread_ends(PVOID context)
{
    (void)context;
}

static void leave_one_of_each(struct probe *p, struct probe_call *call)
{
    static const GUID provider = {.Data1 = 7};
    const LARGE_INTEGER hour = {.QuadPart = -36000000000ll};
    REGHANDLE etw;
    HANDLE thread;

    (void)call;
    CHECK(ExAllocatePoolWithTag(NonPagedPoolNx, 64, TAG));
    KeInitializeTimer(&timer);
    KeSetTimer(&timer, hour, NULL);
    CHECK(IoAllocateWorkItem(p->state[0].pdo));
    ExInitializeNPagedLookasideList(&lookaside, NULL, NULL, 0, 64, TAG, 0);
    CHECK(NT_SUCCESS(ExInitializeResourceLite(&resource)));
    CHECK(NT_SUCCESS(EtwRegister(&provider, NULL, NULL, &etw)));
    CHECK(IoAllocateMdl(page, sizeof(page), FALSE, FALSE, NULL));
    CHECK(NT_SUCCESS(
        PsCreateSystemThread(&thread, THREAD_ALL_ACCESS, NULL, NULL, NULL, thread_ends, NULL)));
}

static bool reported(const struct probe *p, const char *what, uint32_t code, uint64_t subcode)
{
    for (size_t i = 0; i < verify_records(p->log); i++) {
        const struct verify_record *record = verify_record_at(p->log, i);

        if (strstr(record->seen, what) && record->severity == VERIFY_ERROR &&
            (!code || record->code == code) && (!subcode || record->parameter[0] == subcode))
            return true;
    }
    return false;
}

TEST(everything_left_is_reported)
{
    struct probe *p = start_adapters(1);

    p->before[PROBE_RemoveDevice] = leave_one_of_each;
    CHECK_RULE("LIFE-177/a", probe_stop(p) == 8);
    CHECK_RULE("LIFE-177/a", reported(p, "left a pool block", 0xC4, 0x62));
    CHECK_RULE("LIFE-177/b", reported(p, "left a set timer", 0xC7, 0));
    CHECK_RULE("LIFE-177/c", reported(p, "left a ETW registration", 0xC4, 0xDD));
    CHECK_RULE("LIFE-177/d", reported(p, "work item", 0, 0));
    CHECK_RULE("LIFE-177/e", reported(p, "lookaside list", 0, 0));
    CHECK_RULE("LIFE-177/f", reported(p, "ERESOURCE", 0, 0));
    CHECK_RULE("LIFE-177/g", reported(p, "MDL", 0, 0));
    CHECK_RULE("LIFE-001/a", strcmp(probe_record(p, "NT-027")->rule, "NT-027") == 0 &&
                                 probe_record(p, "NT-027")->severity == VERIFY_ERROR &&
                                 probe_record(p, "NT-027")->code == 0xC4 &&
                                 probe_record(p, "NT-027")->parameter[0] == 0x62);
    CHECK_RULE("LIFE-001/c", !verify_bugcheck_state(p->log)->happened);
    CHECK_RULE("LIFE-177/h", reported(p, "kernel handle", 0, 0));
    probe_destroy(p);
}

static bool let_go;

static void NTAPI thread_waits(PVOID context)
{
    (void)context;
    while (!let_go)
        probe_sleep(MS);
}

static void leave_thread(struct probe *p, struct probe_call *call)
{
    HANDLE thread;

    (void)p;
    (void)call;
    CHECK(NT_SUCCESS(
        PsCreateSystemThread(&thread, THREAD_ALL_ACCESS, NULL, NULL, NULL, thread_waits, NULL)));
    CHECK(NT_SUCCESS(ZwClose(thread)));
}

static void NTAPI thread_takes_a_second(PVOID context)
{
    (void)context;
    probe_sleep(PROBE_SECOND);
    let_go = true;
}

static void leave_slow_thread(struct probe *p, struct probe_call *call)
{
    HANDLE thread;

    (void)p;
    (void)call;
    CHECK(NT_SUCCESS(PsCreateSystemThread(&thread, THREAD_ALL_ACCESS, NULL, NULL, NULL,
                                          thread_takes_a_second, NULL)));
    CHECK(NT_SUCCESS(ZwClose(thread)));
}

TEST(unload_waits_for_threads)
{
    const struct probe_options options = {.port = {.unload_limit_ns = 3 * PROBE_SECOND}};
    struct probe *p = probe_create(&options);
    uint64_t begin;

    let_go = false;
    CHECK(NT_SUCCESS(probe_start(p)));
    p->before[PROBE_Unload] = leave_slow_thread;
    CHECK_RULE("LIFE-178/a", probe_stop(p) == 0 && let_go && probe_rule(p, "LIFE-178") == 0);
    probe_destroy(p);

    let_go = false;
    p = probe_create(&options);
    CHECK(NT_SUCCESS(probe_start(p)));
    p->before[PROBE_RemoveDevice] = leave_thread;
    begin = sim_now();
    CHECK_RULE("LIFE-178/b", probe_stop(p) > 0 && probe_rule(p, "LIFE-178") == 1 &&
                                 sim_now() - begin >= 3 * PROBE_SECOND &&
                                 sim_now() - begin < 4 * PROBE_SECOND);
    let_go = true;
    probe_destroy(p);
}
