/* SPDX-License-Identifier: MIT */
/* From AddDevice to an open adapter: what is called when, with which arguments, and what follows a failure. */
#include "bus/dma.h"
#include "nt/base/current.h"
#include "port/support/admission.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

/* ---- AddDevice ---- */

static void count_inside(struct probe *p, struct probe_call *call)
{
    unsigned *inside = p->user;

    (void)call;
    CHECK(++*inside == 1);
    KeStallExecutionProcessor(20);
}

static void count_outside(struct probe *p, struct probe_call *call)
{
    (void)call;
    --*(unsigned *)p->user;
}

static void add_second(struct probe *p)
{
    (void)probe_add(p, 1);
}

static void add_both_at_once(struct probe *p)
{
    struct sim_thread *other;

    CHECK(NT_SUCCESS(probe_load(p)));
    other = probe_thread(p, nt_process_system(), "second", add_second);
    CHECK(NT_SUCCESS(probe_add(p, 0)));
    while (!sim_thread_ended(other))
        probe_sleep(1000000);
    sim_thread_release(other);
}

TEST(add_device_comes_once_per_device_and_alone)
{
    const struct probe_options two = {.adapters = 2};
    unsigned inside = 0;
    struct probe *p = probe_create(&two);

    p->user = &inside;
    p->before[PROBE_AddDevice] = count_inside;
    p->after[PROBE_AddDevice] = count_outside;
    CHECK(probe_run(p, add_both_at_once) == SIM_DONE);
    CHECK_RULE("LIFE-039/a", probe_count(p, PROBE_AddDevice) == 2 &&
                                 probe_nth(p, PROBE_AddDevice, 0)->arg[0] !=
                                     probe_nth(p, PROBE_AddDevice, 1)->arg[0]);
    CHECK_RULE("LIFE-039/b", probe_nth(p, PROBE_AddDevice, 0)->irql == PASSIVE_LEVEL &&
                                 probe_nth(p, PROBE_AddDevice, 1)->irql == PASSIVE_LEVEL &&
                                 probe_nth(p, PROBE_AddDevice, 0)->left <=
                                     probe_nth(p, PROBE_AddDevice, 1)->order);
    probe_destroy(p);
}

static void decline(struct probe *p, struct probe_call *call)
{
    (void)p;
    *(PVOID *)(uintptr_t)call->arg[1] = NULL;
}

static void fail_call(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = (uint64_t)(uint32_t)STATUS_INSUFFICIENT_RESOURCES;
}

static void look_at_out_variable(struct probe *p, struct probe_call *call)
{
    *(PVOID *)p->user = *(PVOID *)(uintptr_t)call->arg[1];
}

TEST(declined_and_failed_devices_get_no_adapter)
{
    PVOID seen = &seen;
    struct probe *p = probe_create(NULL);

    p->user = &seen;
    p->before[PROBE_AddDevice] = look_at_out_variable;
    p->after[PROBE_AddDevice] = decline;
    CHECK_RULE("LIFE-040", !NT_SUCCESS(probe_start(p)) && p->adapters == 0 &&
                               probe_count(p, PROBE_StartDevice) == 0 &&
                               port_adapter_first(p->port) == NULL);
    CHECK_RULE("LIFE-041/a", seen == NULL);
    CHECK_RULE("LIFE-041/b", p->calls == 1);
    probe_destroy(p);

    p = probe_create(NULL);
    p->after[PROBE_AddDevice] = fail_call;
    CHECK_RULE("LIFE-041/c", IS(probe_start(p), STATUS_INSUFFICIENT_RESOURCES) && p->calls == 1);
    probe_destroy(p);
}

TEST(context_is_the_drivers_own_value)
{
    static const enum probe_ddi with_context[] = {
        PROBE_StartDevice,      PROBE_StopDevice,        PROBE_RemoveDevice,
        PROBE_QueryAdapterInfo, PROBE_GetNodeMetadata,   PROBE_InterruptRoutine,
        PROBE_DpcRoutine,       PROBE_CreateProcess,     PROBE_DestroyProcess,
        PROBE_CreateDevice,     PROBE_BuildPagingBuffer, PROBE_SubmitCommandVirtual,
        PROBE_SetRootPageTable,
    };
    struct probe *p = probe_create(NULL);
    uint64_t context;

    CHECK(NT_SUCCESS(probe_start(p)) && probe_stop(p) == 0);
    context = (uint64_t)(uintptr_t)p->state[0].context;
    for (unsigned i = 0; i < sizeof(with_context) / sizeof(with_context[0]); i++)
        for (size_t n = 0; n < probe_count(p, with_context[i]); n++)
            CHECK_RULE("LIFE-042", probe_nth(p, with_context[i], n)->arg[0] == context);
    CHECK_RULE("CAPS-098", probe_count(p, PROBE_GetNodeMetadata) == 2 &&
                               probe_nth(p, PROBE_GetNodeMetadata, 0)->arg[0] == context);
    for (UINT i = 0; i < 2; i++) {
        CHECK_RULE("SUBMIT-007", probe_nth(p, PROBE_GetNodeMetadata, i)->arg[0] == context);
        CHECK_RULE("SUBMIT-008", (UINT)probe_nth(p, PROBE_GetNodeMetadata, i)->arg[1] == i);
    }
    CHECK_RULE("LIFE-062", (uint64_t)(uintptr_t)p->state[0].dxgk.DeviceHandle != context &&
                               p->state[0].dxgk.DeviceHandle != NULL);
    probe_destroy(p);
}

static void same_context(struct probe *p, struct probe_call *call)
{
    *(PVOID *)(uintptr_t)call->arg[1] = p->state[0].context;
}

TEST(two_adapters_share_no_context)
{
    const struct probe_options two = {.adapters = 2};
    struct probe *p = probe_create(&two);

    p->after[PROBE_AddDevice] = same_context;
    (void)probe_start(p);
    CHECK_RULE("LIFE-043", probe_rule(p, "LIFE-043") == 1 &&
                               probe_record(p, "LIFE-043")->severity == VERIFY_WARNING);
    probe_destroy(p);
}

/* ---- the device object, and what the driver writes into its key ---- */

static struct {
    NTSTATUS property, opened, written;
    WCHAR id[64];
} hardware;

static NTSTATUS write_value(HANDLE key, const char *name, ULONG type, PVOID data, ULONG bytes)
{
    WCHAR text[64];
    UNICODE_STRING unicode = {0, sizeof(text), text};

    for (unsigned i = 0; name[i]; i++, unicode.Length += sizeof(WCHAR))
        text[i] = (WCHAR)name[i];
    return ZwSetValueKey(key, &unicode, 0, type, data, bytes);
}

static void register_hardware(struct probe *p, struct probe_call *call)
{
    PDEVICE_OBJECT pdo = (PDEVICE_OBJECT)(uintptr_t)call->arg[0];
    WCHAR adapter[] = {'P', 'r', 'o', 'b', 'e', ' ', '1', 0};
    ULONG megabytes = 64, bytes;
    HANDLE key;

    (void)p;
    hardware.property = IoGetDeviceProperty(pdo, DevicePropertyHardwareID, sizeof(hardware.id),
                                            hardware.id, &bytes);
    if (hardware.property == STATUS_BUFFER_TOO_SMALL) /* it exists, and is longer */
        hardware.property = STATUS_SUCCESS;
    hardware.opened = IoOpenDeviceRegistryKey(pdo, PLUGPLAY_REGKEY_DRIVER, KEY_SET_VALUE, &key);
    if (!NT_SUCCESS(hardware.opened))
        return;
    hardware.written = write_value(key, "HardwareInformation.AdapterString", REG_SZ, adapter,
                                   sizeof(adapter));
    if (NT_SUCCESS(hardware.written))
        hardware.written = write_value(key, "HardwareInformation.MemorySize", REG_DWORD, &megabytes,
                                       sizeof(megabytes));
    ZwClose(key);
}

TEST(hardware_information_reaches_the_hosts_callers)
{
    struct probe *p = probe_create(NULL);

    p->before[PROBE_AddDevice] = register_hardware;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("LIFE-044/a", IS(hardware.property, STATUS_SUCCESS));
    CHECK_RULE("LIFE-044/b", IS(hardware.opened, STATUS_SUCCESS));
    CHECK_RULE("LIFE-045/a", IS(hardware.written, STATUS_SUCCESS) &&
                                 strcmp(port_adapter_name(p->adapter[0]), "Probe 1") == 0);
    CHECK_RULE("LIFE-045/b", port_adapter_memory_size(p->adapter[0]) == 64u << 20);
    probe_destroy(p);

    p = probe_create(NULL);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("LIFE-045/c", strcmp(port_adapter_name(p->adapter[0]), "probe") == 0 &&
                                 port_adapter_memory_size(p->adapter[0]) == 0);
    probe_destroy(p);
}

/* ---- LinkDevice, ExchangePreStartInfo ---- */

static ULONG links;

static void link_answer(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((PLINKED_DEVICE)(uintptr_t)call->arg[2])->NumberOfLinksInChain = links;
}

TEST(link_device_follows_add_device)
{
    for (links = 0; links <= 3; links++) {
        struct probe *p = probe_create(NULL);
        NTSTATUS status;

        probe_set_entry(p, PROBE_LinkDevice, true);
        p->after[PROBE_LinkDevice] = links < 3 ? link_answer : fail_call;
        status = probe_start(p);
        CHECK_RULE(links == 2 ? "LIFE-047/b" : "LIFE-047/a",
                   IS(status, links == 2 ? STATUS_NOT_SUPPORTED : STATUS_SUCCESS));
        CHECK_RULE("LIFE-046/a", probe_nth(p, PROBE_LinkDevice, 0)->order == 1 &&
                                     probe_nth(p, PROBE_LinkDevice, 0)->irql == PASSIVE_LEVEL);
        CHECK_RULE("LIFE-046/b", probe_nth(p, PROBE_LinkDevice, 0)->arg[0] ==
                                         probe_nth(p, PROBE_AddDevice, 0)->arg[0] &&
                                     probe_nth(p, PROBE_LinkDevice, 0)->arg[1] ==
                                         (uint64_t)(uintptr_t)p->state[0].context);
        probe_destroy(p);
    }
}

static DXGK_PRE_START_INFO pre_start;

static void record_pre_start(struct probe *p, struct probe_call *call)
{
    PDXGK_PRE_START_INFO info = (PDXGK_PRE_START_INFO)(uintptr_t)call->arg[1];

    (void)p;
    pre_start = *info;
    info->Output = ~0u;
}

TEST(exchange_comes_between_add_and_start)
{
    struct probe *p = probe_create(NULL);
    const struct probe_call *exchange;

    probe_set_entry(p, PROBE_ExchangePreStartInfo, true);
    p->before[PROBE_ExchangePreStartInfo] = record_pre_start;
    p->after[PROBE_ExchangePreStartInfo] = fail_call;
    CHECK_RULE("LIFE-049", NT_SUCCESS(probe_start(p)) && probe_rule(p, "LIFE-049") == 1 &&
                               probe_reports(p, VERIFY_WARNING) == 0);
    exchange = probe_nth(p, PROBE_ExchangePreStartInfo, 0);
    CHECK_RULE("LIFE-048/a", exchange->order > probe_nth(p, PROBE_AddDevice, 0)->order &&
                                 exchange->order < probe_nth(p, PROBE_StartDevice, 0)->order &&
                                 exchange->irql == PASSIVE_LEVEL);
    CHECK_RULE("LIFE-048/b", pre_start.Input == 0 && pre_start.Output == 0);
    probe_destroy(p);
}

/* ---- queries before the start ---- */

static struct {
    unsigned asked, zeroed; /* of the two */
    bool attached;
} early;

static void look_at_early_query(struct probe *p, struct probe_call *call)
{
    static const uint8_t zero[64];
    const DXGKARG_QUERYADAPTERINFO *q = &call->query;

    if (q->Type != DXGKQAITYPE_PHYSICAL_MEMORY_CAPS && q->Type != DXGKQAITYPE_IOMMU_CAPS)
        return;
    early.asked += !q->pInputData && q->InputDataSize == 0 &&
                   call->arg[0] == (uint64_t)(uintptr_t)p->state[0].context;
    early.zeroed += q->OutputDataSize <= sizeof(zero) &&
                    memcmp(q->pOutputData, zero, q->OutputDataSize) == 0;
}

static void look_at_attachment(struct probe *p, struct probe_call *call)
{
    const struct iommu_device *device = bus_device_iommu(p->device[0]);

    (void)call;
    early.attached = device->domain && iommu_domain_mode(device->domain) == IOMMU_REMAP;
}

TEST(domain_exists_before_the_device_starts)
{
    const struct probe_options remap = {.port = {.iommu = IOMMU_REMAP}};
    struct probe *p = probe_create(&remap);
    uint64_t start;

    memset(&early, 0, sizeof(early));
    p->before[PROBE_QueryAdapterInfo] = look_at_early_query;
    p->before[PROBE_StartDevice] = look_at_attachment;
    CHECK(NT_SUCCESS(probe_start(p)));
    start = probe_nth(p, PROBE_StartDevice, 0)->order;
    CHECK_RULE("LIFE-050/a", probe_query(p, DXGKQAITYPE_WDDMDEVICECAPS, 0)->order < start);
    CHECK_RULE("LIFE-050/b", probe_query(p, DXGKQAITYPE_PHYSICAL_MEMORY_CAPS, 0)->order < start);
    CHECK_RULE("LIFE-050/c", probe_query(p, DXGKQAITYPE_IOMMU_CAPS, 0)->order < start);
    CHECK_RULE("LIFE-050/d", probe_query(p, DXGKQAITYPE_DRIVERCAPS, 0)->order > start);
    CHECK_RULE("IOMMU-006", probe_query(p, DXGKQAITYPE_PHYSICAL_MEMORY_CAPS, 0)->order <
                                    probe_query(p, DXGKQAITYPE_IOMMU_CAPS, 0)->order &&
                                probe_query(p, DXGKQAITYPE_IOMMU_CAPS, 0)->irql == PASSIVE_LEVEL);
    CHECK_RULE("IOMMU-007/abc",
               probe_queries(p, DXGKQAITYPE_PHYSICAL_MEMORY_CAPS) == 1 &&
                   probe_queries(p, DXGKQAITYPE_IOMMU_CAPS) == 1 &&
                   !probe_query(p, DXGKQAITYPE_PHYSICAL_MEMORY_CAPS, 0)->query.pInputData &&
                   probe_query(p, DXGKQAITYPE_PHYSICAL_MEMORY_CAPS, 0)->query.InputDataSize == 0 &&
                   probe_query(p, DXGKQAITYPE_PHYSICAL_MEMORY_CAPS, 0)->query.OutputDataSize ==
                       sizeof(DXGK_PHYSICAL_MEMORY_CAPS) &&
                   probe_query(p, DXGKQAITYPE_IOMMU_CAPS, 0)->query.OutputDataSize ==
                       sizeof(DXGK_IOMMU_CAPS));
    CHECK_RULE("IOMMU-007/ab", early.asked == 2);
    CHECK_RULE("IOMMU-007/c", early.zeroed == 2);
    CHECK_RULE("IOMMU-044/a", early.attached);
    CHECK_RULE("IOMMU-044/b", iommu_domain_mode(port_adapter_domain(p->adapter[0])) == IOMMU_REMAP &&
                                  probe_count(p, PROBE_BeginExclusiveAccess) == 0);
    probe_destroy(p);
}

/* ---- StartDevice ---- */

static struct {
    DXGK_START_INFO info;
    DXGKRNL_INTERFACE interface;
    bool pointers;
} arguments;

static void record_arguments(struct probe *p, struct probe_call *call)
{
    (void)p;
    arguments.pointers = call->arg[1] && call->arg[2] && call->arg[3] && call->arg[4];
    arguments.info = *(PDXGK_START_INFO)(uintptr_t)call->arg[1];
    arguments.interface = *(PDXGKRNL_INTERFACE)(uintptr_t)call->arg[2];
}

static bool guid_equal(const GUID *a, const GUID *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

TEST(start_arguments)
{
    static const GUID none;
    const struct probe_options two = {.adapters = 2};
    const struct probe_options deep = {.port = {.required_dma_queue_entry = 5}};
    struct probe *p = probe_create(&two);
    LUID luid;

    p->before[PROBE_StartDevice] = record_arguments;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("LIFE-051", arguments.pointers &&
                               probe_nth(p, PROBE_StartDevice, 0)->irql == PASSIVE_LEVEL &&
                               probe_nth(p, PROBE_StartDevice, 0)->arg[0] ==
                                   (uint64_t)(uintptr_t)p->state[0].context);
    CHECK_RULE("LIFE-053/a", p->state[0].info.RequiredDmaQueueEntry == 2);
    CHECK_RULE("LIFE-054/a", !guid_equal(&p->state[0].info.AdapterGuid, &none));
    CHECK_RULE("LIFE-054/b",
               !guid_equal(&p->state[0].info.AdapterGuid, &p->state[1].info.AdapterGuid));
    luid = p->state[1].info.AdapterLuid;
    CHECK_RULE("LIFE-055/a",
               luid.LowPart != 0 && luid.LowPart != p->state[0].info.AdapterLuid.LowPart);
    CHECK_RULE("LIFE-055/b", port_adapter_by_luid(p->port, luid) == p->adapter[1]);
    probe_destroy(p);

    p = probe_create(&deep);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("LIFE-053/b", p->state[0].info.RequiredDmaQueueEntry == 5);
    probe_destroy(p);
}

TEST(interface_is_of_the_hosts_version)
{
    static const struct {
        UINT host, bytes, size;
        bool of_host;
    } sizes[] = {{0, sizeof(DXGKRNL_INTERFACE), 568, false},
                 {DXGKDDI_INTERFACE_VERSION_WDDM3_0, 568, 568, false},
                 {DXGKDDI_INTERFACE_VERSION_WDDM2_9, 568, 568, false},
                 {DXGKDDI_INTERFACE_VERSION_WDDM2_3,
                  offsetof(DXGKRNL_INTERFACE, DxgkCbAllocateContiguousMemory), 312, false},
                 {0, sizeof(DXGKRNL_INTERFACE), sizeof(DXGKRNL_INTERFACE), true}};

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct probe_options options = {
            .version = i == 3 ? DXGKDDI_INTERFACE_VERSION_WDDM2_0 : 0,
            .port = {.interface_version = sizes[i].host, .sizes_of_host = sizes[i].of_host}};
        UINT host = sizes[i].host ? sizes[i].host : DXGKDDI_INTERFACE_VERSION_WDDM3_1;
        struct probe *p = probe_create(&options);
        const char *byte = (const char *)&arguments.interface;
        bool zero = true;

        p->before[PROBE_StartDevice] = record_arguments;
        if (i == 3)
            p->caps.WDDMVersion = (DXGK_WDDMVERSION)0;
        CHECK(NT_SUCCESS(probe_start(p)));
        for (size_t offset = sizes[i].bytes; offset < sizeof(arguments.interface); offset++)
            zero = zero && byte[offset] == 0;
        CHECK_RULE("LIFE-057", arguments.interface.Version == host);
        if (sizes[i].of_host)
            CHECK_RULE("LIFE-058/c", arguments.interface.Size == sizes[i].size);
        else
            CHECK_RULE("LIFE-058/a", arguments.interface.Size == sizes[i].size);
        CHECK_RULE("LIFE-058/b", zero);
        if (i != 3)
            CHECK_RULE("CAPS-112",
                       *(const ULONG *)(const void *)probe_query(p, DXGKQAITYPE_WDDMDEVICECAPS, 0)
                                   ->query_input == arguments.interface.Version &&
                           probe_query(p, DXGKQAITYPE_WDDMDEVICECAPS, 0)->query.InputDataSize ==
                               sizeof(DXGK_WDDMDEVICECAPSIN));
        for (size_t offset = offsetof(DXGKRNL_INTERFACE, DxgkCbEvalAcpiMethod);
             offset < sizes[i].bytes; offset += sizeof(void *))
            CHECK_RULE("LIFE-059/a", *(void *const *)(const void *)(byte + offset) != NULL);
        probe_destroy(p);
    }
}

static void use_kept_interface(struct probe *p, struct probe_call *call)
{
    (void)call;
    p->state[0].dxgk.DeviceHandle = p->state[0].interface_address->DeviceHandle;
}

TEST(kept_pointers_are_caught)
{
    struct probe *p = probe_create(NULL);

    CHECK_RULE("LIFE-060", NT_SUCCESS(probe_start(p)) && probe_stop(p) == 0 &&
                               probe_reports(p, VERIFY_NOTE) == 0); /* it lives on copies */
    probe_destroy(p);

    p = probe_create(NULL);
    p->before[PROBE_GetNodeMetadata] = use_kept_interface;
    CHECK_RULE("LIFE-061",
               IS(probe_start(p), STATUS_DEVICE_REMOVED) && probe_rule(p, "LIFE-061") == 1 &&
                   probe_said(p, "LIFE-061", "DXGKRNL_INTERFACE") &&
                   strcmp(probe_record(p, "LIFE-061")->where, "DxgkDdiGetNodeMetadata") == 0);
    probe_destroy(p);
}

/* ---- interrupts around it ---- */

static void interrupt_and_wait(struct probe *p, struct probe_call *call)
{
    uint64_t end = sim_now() + PROBE_SECOND;

    (void)call;
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    while (probe_count(p, PROBE_DpcRoutine) == 0 && sim_now() < end)
        KeStallExecutionProcessor(1);
}

static void raise_early(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    probe_device_raise(0, 0);
    KeStallExecutionProcessor(10);
}

/* Was the n-th call of one entry made while the only call of another one ran? */
static bool is_inside(const struct probe *p, enum probe_ddi ddi, size_t n, enum probe_ddi outer)
{
    const struct probe_call *call = probe_nth(p, ddi, n), *around = probe_nth(p, outer, 0);

    return call->order > around->order && call->order < around->left;
}

TEST(isr_is_connected_from_start_to_stop)
{
    struct probe *p = probe_create(NULL);
    size_t served, during_start = 0, during_stop = 0;

    p->before[PROBE_AddDevice] = raise_early; /* before: nobody listens */
    p->before[PROBE_QueryAdapterInfo] = NULL;
    p->after[PROBE_StartDevice] = interrupt_and_wait;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("LIFE-065/a", probe_nth(p, PROBE_InterruptRoutine, 0)->order >
                                 probe_nth(p, PROBE_StartDevice, 0)->order);
    CHECK_RULE("LIFE-065/b",
               probe_nth(p, PROBE_DpcRoutine, 0)->left <= probe_nth(p, PROBE_StartDevice, 0)->left);
    CHECK_RULE("THREAD-034",
               probe_nth(p, PROBE_DpcRoutine, 0)->order < probe_nth(p, PROBE_StartDevice, 0)->left);
    served = probe_count(p, PROBE_InterruptRoutine);
    p->before[PROBE_StopDevice] = raise_early;
    p->before[PROBE_RemoveDevice] = raise_early; /* after: nobody listens either */
    CHECK(probe_stop(p) == 0);
    for (size_t i = 0; i < probe_count(p, PROBE_InterruptRoutine); i++) {
        CHECK_RULE("LIFE-066/a", probe_nth(p, PROBE_InterruptRoutine, i)->order >
                                     probe_nth(p, PROBE_StartDevice, 0)->order);
        CHECK_RULE("LIFE-066/b", probe_nth(p, PROBE_InterruptRoutine, i)->order <
                                     probe_nth(p, PROBE_RemoveDevice, 0)->order);
        during_start += is_inside(p, PROBE_InterruptRoutine, i, PROBE_StartDevice);
        during_stop += is_inside(p, PROBE_InterruptRoutine, i, PROBE_StopDevice);
    }
    CHECK_RULE("SUBMIT-048", during_start == 1 && during_stop == 1 &&
                                 probe_count(p, PROBE_InterruptRoutine) == 2);
    CHECK(served > 0);
    probe_destroy(p);
}

/* ---- outputs and failures ---- */

static ULONG sources_answer;

static void set_sources(struct probe *p, struct probe_call *call)
{
    (void)p;
    *(PULONG)(uintptr_t)call->arg[3] = sources_answer;
}

static ULONG marker[2];

static void leave_outputs(struct probe *p, struct probe_call *call)
{
    (void)p;
    *(PULONG)(uintptr_t)call->arg[3] = marker[0];
    *(PULONG)(uintptr_t)call->arg[4] = marker[1];
}

static void remember_outputs(struct probe *p, struct probe_call *call)
{
    (void)p;
    marker[0] = *(PULONG)(uintptr_t)call->arg[3];
    marker[1] = *(PULONG)(uintptr_t)call->arg[4];
}

TEST(outputs_of_start_device)
{
    const struct probe_options dark = {.port.no_displays = true};
    struct probe *p = probe_create(NULL);

    CHECK_RULE("LIFE-067", NT_SUCCESS(probe_start(p)) && probe_rule(p, "LIFE-068") == 0 &&
                               probe_count(p, PROBE_QueryChildRelations) == 0);
    probe_destroy(p);

    p = probe_create(NULL);
    p->before[PROBE_StartDevice] = remember_outputs;
    p->after[PROBE_StartDevice] = leave_outputs;
    CHECK_RULE("LIFE-068/a", NT_SUCCESS(probe_start(p)) && probe_rule(p, "LIFE-068") == 1);
    CHECK_RULE("LIFE-068/b", marker[0] != 0 && marker[1] != 0);
    probe_destroy(p);

    for (unsigned i = 0; i < 2; i++) { /* one of them alone */
        const ULONG unwritten = marker[i];

        p = probe_create(NULL);
        marker[1 - i] = 0;
        p->after[PROBE_StartDevice] = leave_outputs;
        CHECK_RULE(
            "LIFE-068/a",
            NT_SUCCESS(probe_start(p)) && probe_rule(p, "LIFE-068") == 1 &&
                probe_said(p, "LIFE-068", i ? "NumberOfChildren" : "NumberOfVideoPresentSources"));
        probe_destroy(p);
        marker[0] = marker[1] = unwritten;
    }

    p = probe_create(&dark);
    sources_answer = 1;
    p->after[PROBE_StartDevice] = set_sources;
    CHECK_RULE("LIFE-069/a", IS(probe_start(p), STATUS_NOT_SUPPORTED));
    CHECK_RULE("LIFE-069/c",
               probe_count(p, PROBE_StopDevice) == 1 && probe_count(p, PROBE_RemoveDevice) == 1);
    CHECK_RULE("LIFE-069/b", probe_queries(p, DXGKQAITYPE_DRIVERCAPS) == 1);
    probe_destroy(p);
}

static void undo_and_fail(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = probe_adapter_of(p, call->arg[0]);

    (void)a->dxgk.DxgkCbUnmapMemory(a->dxgk.DeviceHandle, a->registers);
    a->registers = NULL;
    call->result = (uint64_t)(uint32_t)STATUS_INSUFFICIENT_RESOURCES;
}

TEST(failures_are_undone_in_order)
{
    struct probe *p = probe_create(NULL);

    p->after[PROBE_StartDevice] = undo_and_fail;
    p->before[PROBE_RemoveDevice] = raise_early;
    CHECK_RULE("LIFE-070/a", IS(probe_start(p), STATUS_INSUFFICIENT_RESOURCES));
    CHECK_RULE("LIFE-070/b",
               probe_count(p, PROBE_StopDevice) == 0 && probe_count(p, PROBE_RemoveDevice) == 1);
    CHECK_RULE("LIFE-070/c", probe_count(p, PROBE_InterruptRoutine) == 0);
    probe_destroy(p);

    p = probe_create(NULL);
    p->caps.SchedulingCaps.MultiEngineAware = 0; /* PreemptionAware without it */
    CHECK_RULE("LIFE-071", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                               probe_count(p, PROBE_StopDevice) == 1 &&
                               probe_count(p, PROBE_RemoveDevice) == 1 &&
                               probe_nth(p, PROBE_StopDevice, 0)->order <
                                   probe_nth(p, PROBE_RemoveDevice, 0)->order);
    CHECK_RULE("LIFE-003/a", probe_reports(p, VERIFY_ERROR) >= 1 &&
                                 admission_reported(p, "CAPS-048", VERIFY_ERROR, true));
    probe_destroy(p);

    p = probe_create(NULL);
    p->query_status[DXGKQAITYPE_QUERYSEGMENT4] = STATUS_NO_MEMORY;
    CHECK_RULE("LIFE-003/d",
               IS(probe_start(p), STATUS_NO_MEMORY) && probe_reports(p, VERIFY_ERROR) == 0);
    CHECK_RULE("LIFE-071",
               probe_count(p, PROBE_StopDevice) == 1 && probe_count(p, PROBE_RemoveDevice) == 1);
    probe_destroy(p);

    p = probe_create(NULL);
    p->caps.HighestAcceptableAddress.QuadPart = 0xFFFF; /* sound, but this machine has more RAM */
    CHECK_RULE("LIFE-003/e",
               IS(probe_start(p), STATUS_NOT_SUPPORTED) && probe_reports(p, VERIFY_ERROR) == 0);
    probe_destroy(p);
}

/* ---- the order of it all ---- */

TEST(order_after_the_start)
{
    static const DXGK_QUERYADAPTERINFOTYPE types[] = {
        DXGKQAITYPE_DRIVERCAPS,          DXGKQAITYPE_PHYSICALADAPTERCAPS,
        DXGKQAITYPE_FRAMEBUFFERSAVESIZE, DXGKQAITYPE_HARDWARERESERVEDRANGES,
        DXGKQAITYPE_GPUMMUCAPS,          DXGKQAITYPE_PAGETABLELEVELDESC,
        DXGKQAITYPE_PAGETABLELEVELDESC,  DXGKQAITYPE_PAGETABLELEVELDESC,
        DXGKQAITYPE_PAGETABLELEVELDESC,
    };
    struct probe *p = probe_create(NULL);
    size_t at = 0, start;

    probe_set_entry(p, PROBE_QueryChildRelations, true);
    CHECK(NT_SUCCESS(probe_start(p)));
    start = (size_t)probe_nth(p, PROBE_StartDevice, 0)->order;
    CHECK_RULE("LIFE-072", p->call[start + 1]->ddi == PROBE_QueryChildRelations);
    at = start + 2;
    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++, at++)
        CHECK_RULE("LIFE-072", p->call[at]->ddi == PROBE_QueryAdapterInfo &&
                                   p->call[at]->query_type == types[i]);
    CHECK_RULE("LIFE-072", p->call[at]->ddi == PROBE_GetNodeMetadata &&
                               p->call[at + 1]->ddi == PROBE_GetNodeMetadata &&
                               p->call[at + 2]->query_type == DXGKQAITYPE_QUERYSEGMENT4 &&
                               p->call[at + 3]->query_type == DXGKQAITYPE_QUERYSEGMENT4 &&
                               p->call[at + 4]->query_type == DXGKQAITYPE_NUMPOWERCOMPONENTS &&
                               p->call[at + 5]->query_type == DXGKQAITYPE_HISTORYBUFFERPRECISION);
    at += 6;
    while (p->call[at]->ddi == PROBE_QueryAdapterInfo)
        at++; /* optional ones */
    CHECK_RULE("LIFE-072", p->call[at]->ddi == PROBE_ControlEtwLogging &&
                               p->call[at + 1]->ddi == PROBE_CreateProcess);
    CHECK_RULE("CAPS-018", probe_queries(p, DXGKQAITYPE_DRIVERCAPS) == 1 &&
                               p->call[start + 2]->query_type == DXGKQAITYPE_DRIVERCAPS);
    probe_destroy(p);
}
