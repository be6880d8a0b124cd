/* SPDX-License-Identifier: MIT */
/* Native fences: their life, the values that the driver is told, and the interrupt by which it tells of signals. */
#include "port/support/native.h"
#include "port/support/va_shadow.h"

#include "nt/base/current.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static const WCHAR fence_name[] = L"\\BaseNamedObjects\\native";
static const D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS plain;
static struct hardware_client client;
static D3DKMT_CREATENATIVEFENCE first;

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *process;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    process = probe_client_run(p, body);
    probe_client_end(p, process);
    probe_clients_end(p);
    CHECK(native.destroyed == native.fences);
    probe_destroy(p);
}

static void begin(void)
{
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(native_make(client.gpu.device, 40, plain, &first)));
}

static void end(void)
{
    CHECK(NT_SUCCESS(probe_gpu_end(&client.gpu)));
}

/* ---- whether there are any ---- */

static UINT caps_3_1(void)
{
    D3DKMT_WDDM_3_1_CAPS caps = {.Value = 0xFF};
    D3DKMT_QUERYADAPTERINFO query = {.hAdapter = client.gpu.adapter,
                                     .Type = KMTQAITYPE_WDDM_3_1_CAPS,
                                     .pPrivateDriverData = &caps,
                                     .PrivateDriverDataSize = sizeof(caps)};

    CHECK(NT_SUCCESS(D3DKMTQueryAdapterInfo(&query)));
    return caps.Value;
}

/* As the driver asks; the status, and the caps. */
static NTSTATUS ask_host(struct probe *p, DXGKARGCB_QUERYFEATUREINTERFACE *query, UINT *caps)
{
    DXGK_FEATURE_INTERFACE interface = {.Size = sizeof(interface),
                                        .Version = DXGK_FEATURE_INTERFACE_VERSION_1};
    DXGKCBINT_FEATURE_NATIVEFENCE_1 own = {NULL};
    DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    NTSTATUS status;

    CHECK(NT_SUCCESS(dxgk->DxgkCbQueryServices(dxgk->DeviceHandle, DxgkServicesFeature,
                                               (PINTERFACE)(void *)&interface)));
    query->FeatureId = DXGK_FEATURE_NATIVE_FENCE;
    query->Interface = &own;
    status = interface.QueryFeatureInterface(dxgk->DeviceHandle, query);
    interface.InterfaceDereference(interface.Context);
    CHECK(NT_SUCCESS(status) == (own.GetOSCaps != NULL));
    if (NT_SUCCESS(status)) {
        CHECK(NT_SUCCESS(own.GetOSCaps((DXGKARGCB_FEATURE_NATIVEFENCE_CAPS_1 *)(void *)caps)));
        CHECK(IS(own.GetOSCaps(NULL), STATUS_INVALID_PARAMETER));
    }
    return status;
}

static void without_body(struct probe *p)
{
    D3DKMT_OPENNATIVEFENCEFROMNTHANDLE open = {.hNtHandle = (HANDLE)(uintptr_t)0x1234};

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    open.hDevice = client.gpu.device;
    CHECK_RULE("KMT-420",
               IS(native_make(client.gpu.device, 0, plain, &first), STATUS_NOT_SUPPORTED) &&
                   strstr(probe_refused_text, "native fences"));
    CHECK_RULE("KMT-420", IS(D3DKMTOpenNativeFenceFromNtHandle(&open), STATUS_NOT_SUPPORTED));
    CHECK_RULE("SUBMIT-148", probe_count(p, PROBE_CreateNativeFence) == 0);
    CHECK_RULE("KMT-093", caps_3_1() == 0);
    CHECK_RULE("CAPS-121", probe_queries(p, DXGKQAITYPE_NATIVE_FENCE_CAPS) == 0);
    end();
}

static void with_body(struct probe *p)
{
    begin();
    CHECK_RULE("KMT-093", caps_3_1() == 1);
    CHECK_RULE("CAPS-121", probe_queries(p, DXGKQAITYPE_NATIVE_FENCE_CAPS) == 1);
    end();
}

static void interface_body(struct probe *p)
{
    const bool enabled = native.features >> DXGK_FEATURE_NATIVE_FENCE & 1;
    DXGKARGCB_QUERYFEATUREINTERFACE query = {.Version = 1, .InterfaceSize = 64};
    UINT caps = UINT32_MAX;

    if (!enabled) {
        CHECK_RULE("LIFE-127/d", IS(ask_host(p, &query, &caps), STATUS_NOT_SUPPORTED));
        return;
    }
    CHECK_RULE("LIFE-127/d", NT_SUCCESS(ask_host(p, &query, &caps)) && caps == 0 &&
                                 query.InterfaceSize == sizeof(DXGKCBINT_FEATURE_NATIVEFENCE_1));
    CHECK_RULE("LIFE-127/d", NT_SUCCESS(ask_host(p, &query, &caps))); /* just enough */
    query.InterfaceSize--;
    CHECK_RULE("LIFE-127/d", IS(ask_host(p, &query, &caps), STATUS_BUFFER_TOO_SMALL) &&
                                 query.InterfaceSize == sizeof(DXGKCBINT_FEATURE_NATIVEFENCE_1));
    query.Version = 2;
    CHECK_RULE("LIFE-127/d", IS(ask_host(p, &query, &caps), STATUS_NOT_SUPPORTED));
}

TEST(the_feature_has_an_interface_in_the_host)
{
    struct probe *p = native_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, interface_body);
    p = native_create(NULL);
    native.features = 1ull << DXGK_FEATURE_HWSCH;
    p->caps.SchedulingCaps.NativeGpuFence = 0;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, interface_body);
}

/* Without the cap; without the feature, where the cap is cleared; with both. */
TEST(there_are_native_fences_with_the_feature_and_the_cap)
{
    struct probe *p = native_create(NULL);

    p->caps.SchedulingCaps.NativeGpuFence = 0;
    run(p, without_body);
    p = native_create(NULL);
    native.features = 1ull << DXGK_FEATURE_HWSCH;
    CHECK(verify_set_severity(verify_current, "SUBMIT-148", VERIFY_WARNING));
    run(p, without_body);
    run(native_create(NULL), with_body);
}

/* ---- their life ---- */

static void life_body(struct probe *p)
{
    static char data[8] = "private";
    const struct native_fence *given = &native.fence[0];
    D3DKMT_CREATENATIVEFENCE bad;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    memset(&first, 0, sizeof(first));
    first.hDevice = client.gpu.device;
    first.Info.InitialFenceValue = 40;
    first.Info.pPrivateDriverData = data;
    first.Info.PrivateDriverDataSize = sizeof(data);
    CHECK_RULE("KMT-419/a", NT_SUCCESS(D3DKMTCreateNativeFence(&first)) && first.Info.hSyncObject);
    CHECK_RULE("SUBMIT-149/a", native.fences == 1 && given->host && given->host != given->driver &&
                                   memcmp(given->private_data, "private", 8) == 0 &&
                                   data[0] == ('p' ^ 0x55));
    CHECK_RULE("SUBMIT-150/a",
               memcmp(&given->args.NativeFenceMapping, &first.Info.NativeFenceMapping,
                      sizeof(first.Info.NativeFenceMapping)) == 0 &&
                   first.Info.NativeFenceMapping.CurrentValueGpuVa &&
                   first.Info.NativeFenceMapping.MonitoredValueGpuVa &&
                   first.Info.NativeFenceMapping.CurrentValueGpuVa >> 12 !=
                       first.Info.NativeFenceMapping.MonitoredValueGpuVa >> 12);
    CHECK_RULE("SUBMIT-150/a",
               *(volatile UINT64 *)first.Info.NativeFenceMapping.CurrentValueCpuVa == 40);
    CHECK(given->args.CurrentValueGpuVaInCmpAddressSpace == 0 &&
          given->args.MonitoredValueGpuVaInCmpAddressSpace == 0);
    CHECK_RULE("KMT-419/a",
               NT_SUCCESS(native_destroy(first.Info.hSyncObject)) &&
                   IS(native_destroy(first.Info.hSyncObject), STATUS_INVALID_PARAMETER));
    CHECK_RULE("SUBMIT-149/a", native.destroyed == 1);

    bad = first;
    bad.Info.Flags.Reserved = 1;
    CHECK(IS(D3DKMTCreateNativeFence(&bad), STATUS_INVALID_PARAMETER));
    bad.Info.Flags.Value = 1; /* Shared, by a global handle */
    CHECK_RULE("KMT-419/a", IS(D3DKMTCreateNativeFence(&bad), STATUS_INVALID_PARAMETER));
    bad.Info.Flags.Value = 0;
    bad.Info.EngineAffinity = 2;
    CHECK_RULE("KMT-350", IS(D3DKMTCreateNativeFence(&bad), STATUS_INVALID_PARAMETER));
    bad.Info.EngineAffinity = 0;
    bad.Info.Flags.Shared = bad.Info.Flags.NtSecuritySharing = bad.Info.Flags.CrossAdapter = 1;
    CHECK_RULE("KMT-419/a", IS(D3DKMTCreateNativeFence(&bad), STATUS_NOT_SUPPORTED));
    bad.Info.Flags.Value = 0;
    bad.Info.pPrivateDriverData = NULL;
    CHECK(IS(D3DKMTCreateNativeFence(&bad), STATUS_INVALID_PARAMETER) && native.fences == 1);
    p->before[PROBE_CreateNativeFence] = probe_fail_call;
    p->after[PROBE_CreateNativeFence] = NULL;
    CHECK_RULE("SUBMIT-149/a",
               IS(native_make(client.gpu.device, 0, plain, &bad), STATUS_UNSUCCESSFUL) &&
                   probe_count(p, PROBE_DestroyNativeFence) == 1);
    end();
}

TEST(the_driver_makes_and_destroys_native_fences)
{
    run(native_create(NULL), life_body);
}

/* ---- a thread that guesses the handle ---- */

#define NEXT_HANDLE 64u /* from one handle of a process to the next */

static D3DKMT_HANDLE known;   /* the latest of the process */
static bool pausing, enough;  /* the call of the other thread pauses in the driver, or is over */
static unsigned tries, found; /* guesses meanwhile, and objects that had the handle */

static void pry_body(struct probe *p)
{
    (void)p;
    while (!enough) {
        for (unsigned i = 1; pausing && i < 8; i++, tries++)
            found += NT_SUCCESS(native_destroy(known + i * NEXT_HANDLE));
        probe_sleep(100000);
    }
}

static void pause(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    pausing = true;
    probe_sleep(1000000);
    pausing = false;
}

static void begin_prying(struct probe *p)
{
    enough = false;
    tries = found = 0;
    sim_thread_release(probe_thread(p, nt_process_current(), "guesser", pry_body));
}

static void end_prying(D3DKMT_HANDLE given)
{
    enough = true;
    probe_sleep(1000000); /* the thread ends before its process */
    CHECK(tries > 0 && given == known + NEXT_HANDLE);
    CHECK_RULE("KMT-419/c", found == 0 && native.destroyed == 0);
    CHECK_RULE("KMT-419/c", NT_SUCCESS(native_destroy(given)));
}

static void guessing_body(struct probe *p)
{
    D3DKMT_CREATENATIVEFENCE second;

    begin();
    known = first.Info.hSyncObject;
    p->before[PROBE_CreateNativeFence] = pause;
    begin_prying(p);
    CHECK_RULE("KMT-419/c", NT_SUCCESS(native_make(client.gpu.device, 40, plain, &second)));
    end_prying(second.Info.hSyncObject);
    end();
}

TEST(a_fence_that_the_driver_is_making_has_no_handle)
{
    run(native_create(NULL), guessing_body);
}

/* ---- two processes ---- */

static void share_by_name(D3DKMT_HANDLE fence)
{
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES attributes;
    HANDLE nt;

    RtlInitUnicodeString(&name, fence_name);
    InitializeObjectAttributes(&attributes, &name, 0, NULL, NULL);
    CHECK(NT_SUCCESS(D3DKMTShareObjects(1, &fence, &attributes, GENERIC_ALL, &nt)));
}

static NTSTATUS open_by_name(D3DKMT_HANDLE device, D3DKMT_OPENNATIVEFENCEFROMNTHANDLE *open)
{
    D3DKMT_OPENSYNCOBJECTNTHANDLEFROMNAME find = {.dwDesiredAccess = GENERIC_ALL};
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES attributes;
    NTSTATUS status;

    RtlInitUnicodeString(&name, fence_name);
    InitializeObjectAttributes(&attributes, &name, 0, NULL, NULL);
    find.pObjAttrib = &attributes;
    status = D3DKMTOpenSyncObjectNtHandleFromName(&find);
    if (!NT_SUCCESS(status))
        return status;
    memset(open, 0, sizeof(*open));
    open->hNtHandle = find.hNtHandle;
    open->hDevice = device;
    status = D3DKMTOpenNativeFenceFromNtHandle(open);
    CHECK(NT_SUCCESS(ZwClose(find.hNtHandle)));
    return status;
}

static void opening_body(struct probe *p)
{
    D3DKMT_OPENNATIVEFENCEFROMNTHANDLE open;
    struct probe_gpu gpu;
    unsigned told = native.count;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK_RULE("KMT-419/a", NT_SUCCESS(open_by_name(gpu.device, &open)) && open.hSyncObject);
    CHECK_RULE("SUBMIT-149/a", native.fences == 1 && native.destroyed == 0);
    CHECK_RULE("SUBMIT-150/a",
               open.NativeFenceMapping.CurrentValueCpuVa !=
                       first.Info.NativeFenceMapping.CurrentValueCpuVa &&
                   open.NativeFenceMapping.CurrentValueGpuVa &&
                   open.NativeFenceMapping.MonitoredValueGpuVa &&
                   *(volatile UINT64 *)open.NativeFenceMapping.CurrentValueCpuVa == 7);
    CHECK(NT_SUCCESS(native_signal(gpu.device, open.hSyncObject, 8)));
    probe_sleep(1000000);
    CHECK_RULE("KMT-420", native.count == told + 1 && native.told[told].current &&
                              *(volatile UINT64 *)open.NativeFenceMapping.CurrentValueCpuVa == 8);
}

/* Opened by the process that has it: the GPU's mapping takes its time. */
static void guessing_open_body(struct probe *p)
{
    const D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags = {.Shared = 1, .NtSecuritySharing = 1};
    D3DKMT_OPENNATIVEFENCEFROMNTHANDLE open;

    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(native_make(client.gpu.device, 7, flags, &first)));
    share_by_name(first.Info.hSyncObject);
    known = first.Info.hSyncObject;
    p->before[PROBE_BuildPagingBuffer] = pause;
    begin_prying(p);
    CHECK_RULE("KMT-419/c", NT_SUCCESS(open_by_name(client.gpu.device, &open)));
    end_prying(open.hSyncObject);
    p->before[PROBE_BuildPagingBuffer] = NULL;
    end();
}

TEST(a_fence_that_is_being_opened_has_no_handle)
{
    run(native_create(NULL), guessing_open_body);
}

static void sharing_body(struct probe *p)
{
    D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags = {.Shared = 1, .NtSecuritySharing = 1};

    (void)p;
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    CHECK(NT_SUCCESS(native_make(client.gpu.device, 7, flags, &first)));
    share_by_name(first.Info.hSyncObject);
}

static void closing_body(struct probe *p)
{
    (void)p;
    CHECK_RULE("SUBMIT-149/a", NT_SUCCESS(native_destroy(first.Info.hSyncObject)) &&
                                   native.fences == 1 && native.destroyed == 0);
}

TEST(a_shared_fence_ends_with_its_last_handle)
{
    struct probe *p = native_create(NULL);
    struct probe_client *creator, *other;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    creator = probe_client_run(p, sharing_body);
    other = probe_client_run(p, opening_body);
    probe_client_go_on(p, creator, closing_body);
    probe_client_end(p, creator); /* with the NT handle */
    CHECK_RULE("SUBMIT-149/a", native.destroyed == 0);
    probe_client_end(p, other);
    CHECK_RULE("SUBMIT-149/a", native.destroyed == 1);
    probe_clients_end(p);
    probe_destroy(p);
}

static void remove_body(struct probe *p)
{
    probe_remove(p, 0);
}

TEST(a_stop_destroys_fences_that_clients_still_share)
{
    struct probe *p = native_create(NULL);
    struct probe_client *creator;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    creator = probe_client_run(p, sharing_body);
    CHECK(probe_run(p, remove_body) == SIM_DONE);
    CHECK_RULE("SUBMIT-149/a",
               native.destroyed == 1 && probe_nth(p, PROBE_DestroyNativeFence, 0)->order <
                                            probe_nth(p, PROBE_StopDevice, 0)->order);
    probe_client_end(p, creator);
    probe_clients_end(p);
    probe_destroy(p);
}

static void ordinary_body(struct probe *p)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 create;
    D3DKMT_OPENNATIVEFENCEFROMNTHANDLE open;

    (void)p;
    CHECK(NT_SUCCESS(hardware_begin(&client)));
    memset(&create, 0, sizeof(create));
    create.hDevice = client.gpu.device;
    create.Info.Type = D3DDDI_MONITORED_FENCE;
    create.Info.Flags.Shared = create.Info.Flags.NtSecuritySharing = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateSynchronizationObject2(&create)));
    share_by_name(create.hSyncObject);
    CHECK_RULE("KMT-420", IS(open_by_name(client.gpu.device, &open), STATUS_INVALID_PARAMETER) &&
                              strstr(probe_refused_text, "no native fence"));
    end();
}

TEST(an_ordinary_fence_is_not_opened_as_a_native_one)
{
    run(native_create(NULL), ordinary_body);
}

/* ---- what the GPU sees ---- */

static uint64_t gpu_reads(const struct va_shadow_context *context, D3DGPU_VIRTUAL_ADDRESS va)
{
    const DXGK_PTE entry = va_shadow_walk(context, va);
    uint64_t value = 0;

    CHECK(entry.Valid && !entry.Zero && entry.Segment == 0);
    CHECK(probe_device_dma(0, entry.PageAddress << 12 | (va & 0xFFF), &value, sizeof(value), false));
    return value;
}

static void wait_body(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(native_wait(client.gpu.device, first.Info.hSyncObject, 42)));
}

static void walk_body(struct probe *p)
{
    const D3DDDI_NATIVEFENCEMAPPING *m = &first.Info.NativeFenceMapping;
    const struct va_shadow_context *context;

    begin();
    context = &va_shadow.context[va_shadow.contexts - 1];
    CHECK_RULE("SUBMIT-150/a", gpu_reads(context, m->CurrentValueGpuVa) == 40);
    CHECK_RULE("SUBMIT-150/b", gpu_reads(context, m->MonitoredValueGpuVa) == UINT64_MAX);
    sim_thread_release(probe_thread(p, nt_process_current(), "waiter", wait_body));
    probe_sleep(1000000);
    CHECK_RULE("SUBMIT-150/b", gpu_reads(context, m->MonitoredValueGpuVa) == 41);
    CHECK(NT_SUCCESS(native_signal(client.gpu.device, first.Info.hSyncObject, 42)));
    probe_sleep(1000000);
    CHECK_RULE("SUBMIT-150/c", gpu_reads(context, m->MonitoredValueGpuVa) == UINT64_MAX);
    end();
}

TEST(the_gpu_has_addresses_of_both_values)
{
    struct probe *p = native_create(NULL);

    va_shadow_begin(p);
    run(p, walk_body);
}

static void cmp_body(struct probe *p)
{
    const DXGKARG_CREATENATIVEFENCE *args = &native.fence[0].args;

    (void)p;
    begin();
    CHECK_RULE("SUBMIT-150/a", args->CurrentValueGpuVaInCmpAddressSpace &&
                                   args->MonitoredValueGpuVaInCmpAddressSpace);
    end();
}

TEST(both_values_are_mapped_for_the_context_management_processor)
{
    struct probe *p = native_create(NULL);

    p->before[PROBE_QueryAdapterInfo] = native_give_cmp;
    run(p, cmp_body);
}
