/* SPDX-License-Identifier: MIT */
/* The callbacks of DXGKRNL_INTERFACE: handles, states and levels. */
#include "port/support/probe.h"

#include <stdio.h>
#include <string.h>

#include <acpiioct.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk

/* ---- handles and states ---- */

TEST_WITH(probe, handles_are_checked)
{
    DXGK_DEVICE_INFO info;

    CHECK_RULE("LIFE-063/a", !DXGK.DxgkCbQueueDpc(A->context) && probe_rule(p, "LIFE-063") == 1 &&
                                 probe_said(p, "LIFE-063", "MiniportDeviceContext"));
    CHECK_RULE("LIFE-063/b",
               IS(DXGK.DxgkCbGetDeviceInformation(NULL, &info), STATUS_INVALID_PARAMETER) &&
                   probe_said(p, "LIFE-063", "no DeviceHandle"));
    CHECK_RULE("LIFE-063/a",
               IS(DXGK.DxgkCbGetDeviceInformation(A->context, &info), STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-084/a",
               IS(DXGK.DxgkCbGetDeviceInformation(DXGK.DeviceHandle, &info), STATUS_SUCCESS));
    CHECK_RULE("LIFE-084/b", IS(DXGK.DxgkCbGetDeviceInformation(DXGK.DeviceHandle, NULL),
                                STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-084/c", IS(DXGK.DxgkCbGetDeviceInformation((HANDLE)(uintptr_t)0x1234567, &info),
                                STATUS_INVALID_PARAMETER));
    probe_remove(p, 0);
    CHECK_RULE("LIFE-063/c", IS(DXGK.DxgkCbGetDeviceInformation(DXGK.DeviceHandle, &info),
                                STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "LIFE-063") == 5);
}

static DXGKARGCB_ALLOCATECONTIGUOUSMEMORY contiguous;
static NTSTATUS after_stop[3];

static void allocate_block(struct probe *p, struct probe_call *call)
{
    (void)call;
    memset(&contiguous, 0, sizeof(contiguous));
    contiguous.NumberOfBytes = 4096;
    contiguous.HighestAcceptableAddress.QuadPart = (1ll << 40) - 1;
    CHECK(NT_SUCCESS(DXGK.DxgkCbAllocateContiguousMemory(DXGK.DeviceHandle, &contiguous)));
}

static void use_after_stop(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_FREECONTIGUOUSMEMORY free_args = {.hMemoryHandle = contiguous.hMemoryHandle};
    PHYSICAL_ADDRESS bar = {.QuadPart = 0};
    PVOID mapped;

    (void)call;
    after_stop[0] = DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, bar, 4096, FALSE, FALSE, MmNonCached,
                                         &mapped);
    after_stop[1] = DXGK.DxgkCbFreeContiguousMemory(DXGK.DeviceHandle, &free_args);
    DXGK.DxgkCbLogEtwEvent(NULL, 0, 0, NULL);
}

TEST(after_stop_only_freeing_is_accepted)
{
    struct probe *p = probe_started(NULL);
    uint64_t reports;

    p->before[PROBE_StopDevice] = allocate_block;
    p->before[PROBE_RemoveDevice] = use_after_stop;
    (void)probe_stop(p);
    reports = probe_rule(p, "LIFE-064");
    CHECK_RULE("LIFE-064/a", IS(after_stop[0], STATUS_INVALID_DEVICE_STATE) && reports == 1);
    CHECK_RULE("LIFE-064/b", IS(after_stop[1], STATUS_SUCCESS));
    probe_destroy(p);
}

/* ---- reasons ---- */

static bool because(const char *call, const char *rule, const char *part)
{
    if (probe_refused_call && strcmp(probe_refused_call, call) == 0 &&
        strcmp(probe_refused_rule, rule) == 0 && strstr(probe_refused_text, part))
        return true;
    printf("    %s: %s (%s)\n", probe_refused_call ? probe_refused_call : "nothing",
           probe_refused_text, probe_refused_rule);
    return false;
}

/* What a rule says, what a service says, and what the memory says. */
TEST_WITH(probe, failed_callbacks_have_reasons)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = {.NumberOfBytes = (SIZE_T)1 << 50,
                                                .HighestAcceptableAddress.QuadPart = -1,
                                                .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED};
    PVOID mapped = NULL;
    USHORT id;
    ULONG moved;

    assert_true(IS(DXGK.DxgkCbReadDeviceSpace(DXGK.DeviceHandle, DXGK_WHICHSPACE_CONFIG, &id, 256,
                                              sizeof(id), &moved),
                   STATUS_UNSUCCESSFUL));
    assert_true(because("DxgkCbReadDeviceSpace", "LIFE-093", "offset 0x100"));
    assert_true(IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, (PHYSICAL_ADDRESS){.QuadPart = 0x1000},
                                        4096, FALSE, FALSE, MmNonCached, &mapped),
                   STATUS_INVALID_PARAMETER));
    assert_true(because("DxgkCbMapMemory", "PHYS-027", "0x1000 + 0x1000 lies in no memory range"));
    assert_true(IS(DXGK.DxgkCbGetDeviceInformation(DXGK.DeviceHandle, (void *)(uintptr_t)0x1000),
                   STATUS_INVALID_PARAMETER));
    assert_true(because("DxgkCbGetDeviceInformation", "", "0x1000 cannot be written"));
    if (DXGK.DxgkCbAllocateContiguousMemory) {
        assert_false(NT_SUCCESS(DXGK.DxgkCbAllocateContiguousMemory(DXGK.DeviceHandle, &block)));
        assert_true(because("DxgkCbAllocateContiguousMemory", "", "1125899906842624 bytes"));
    }
}

/* ---- levels ---- */

typedef NTSTATUS invoke(struct probe *p);

static NTSTATUS get_information(struct probe *p)
{
    DXGK_DEVICE_INFO info;

    return DXGK.DxgkCbGetDeviceInformation(DXGK.DeviceHandle, &info);
}

static NTSTATUS read_space(struct probe *p)
{
    USHORT id;
    ULONG moved;

    return DXGK.DxgkCbReadDeviceSpace(DXGK.DeviceHandle, DXGK_WHICHSPACE_CONFIG, &id, 0, sizeof(id),
                                      &moved);
}

static NTSTATUS write_space(struct probe *p)
{
    UCHAR line = 3;
    ULONG moved;

    return DXGK.DxgkCbWriteDeviceSpace(DXGK.DeviceHandle, DXGK_WHICHSPACE_CONFIG, &line, 0x3C, 1,
                                       &moved);
}

static NTSTATUS map_and_unmap(struct probe *p)
{
    PVOID mapped = NULL;
    NTSTATUS status = DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, probe_bar(p, 0), 4096, FALSE, FALSE,
                                           MmNonCached, &mapped);
    NTSTATUS second = DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, mapped);

    return NT_SUCCESS(status) ? second : status;
}

static NTSTATUS query_services(struct probe *p)
{
    DXGK_TIMED_OPERATION_INTERFACE timed = {.Size = sizeof(timed), .Version = 1};
    NTSTATUS status = DXGK.DxgkCbQueryServices(DXGK.DeviceHandle, DxgkServicesTimedOperation,
                                               (PINTERFACE)&timed);

    if (NT_SUCCESS(status))
        timed.InterfaceDereference(timed.Context);
    return status;
}

static NTSTATUS eval_acpi(struct probe *p)
{
    ACPI_EVAL_INPUT_BUFFER_COMPLEX input = {.Signature = 1};
    NTSTATUS status = DXGK.DxgkCbEvalAcpiMethod(DXGK.DeviceHandle, DISPLAY_ADAPTER_HW_ID, &input,
                                                sizeof(input), NULL, 0);

    return IS(status, STATUS_OBJECT_NAME_NOT_FOUND) ? STATUS_SUCCESS : status;
}

static NTSTATUS device_present(struct probe *p)
{
    PCI_DEVICE_PRESENCE_PARAMETERS parameters = {.Size = sizeof(parameters)};
    BOOLEAN present;

    return DXGK.DxgkCbIsDevicePresent(DXGK.DeviceHandle, &parameters, &present);
}

static NTSTATUS exclude(struct probe *p)
{
    NTSTATUS status = DXGK.DxgkCbExcludeAdapterAccess(DXGK.DeviceHandle, 0, NULL, NULL);

    return IS(status, STATUS_INVALID_PARAMETER) ? STATUS_SUCCESS : status; /* no callback given */
}

static NTSTATUS feature_enabled(struct probe *p)
{
    DXGKARGCB_ISFEATUREENABLED args = {.DeviceHandle = DXGK.DeviceHandle,
                                       .FeatureId = DXGK_FEATURE_HWSCH};

    return DXGK.DxgkCbIsFeatureEnabled(&args);
}

static NTSTATUS create_allocation(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = {.hAdapter = DXGK.DeviceHandle};
    NTSTATUS status = DXGK.DxgkCbCreateContextAllocation(&args);

    return IS(status, STATUS_INVALID_PARAMETER) ? STATUS_SUCCESS : status;
}

static NTSTATUS destroy_allocation(struct probe *p)
{
    NTSTATUS status = DXGK.DxgkCbDestroyContextAllocation(DXGK.DeviceHandle, NULL);

    return IS(status, STATUS_INVALID_DEVICE_REQUEST) ? status : STATUS_SUCCESS;
}

static NTSTATUS update_allocation(struct probe *p)
{
    DXGKARGCB_UPDATECONTEXTALLOCATION args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    status = DXGK.DxgkCbUpdateContextAllocation(DXGK.DeviceHandle, &args);
    return IS(status, STATUS_INVALID_DEVICE_REQUEST) ? status : STATUS_SUCCESS;
}

/* Those that cannot say whether they were refused for their level: the report is what shows. */
static NTSTATUS reserve_va(struct probe *p)
{
    DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE args;

    memset(&args, 0, sizeof(args));
    (void)DXGK.DxgkCbReserveGpuVirtualAddressRange(
        DXGK.DeviceHandle, &args); /* outside CreateProcess: refused anyway */
    return STATUS_INVALID_DEVICE_REQUEST;
}

static NTSTATUS map_allocation(struct probe *p)
{
    DXGKARGCB_MAPCONTEXTALLOCATION args;

    memset(&args, 0, sizeof(args));
    (void)DXGK.DxgkCbMapContextAllocation(DXGK.DeviceHandle, &args);
    return STATUS_INVALID_DEVICE_REQUEST;
}

static NTSTATUS enum_children(struct probe *p)
{
    DXGKARGCB_ENUMHANDLECHILDREN args;

    memset(&args, 0, sizeof(args));
    (void)DXGK.DxgkCbEnumHandleChildren(&args);
    return STATUS_INVALID_DEVICE_REQUEST;
}

static NTSTATUS power_active(struct probe *p)
{
    DXGK.DxgkCbSetPowerComponentActive(DXGK.DeviceHandle, 0);
    return STATUS_INVALID_DEVICE_REQUEST;
}

static NTSTATUS capture_address(struct probe *p)
{
    DXGKARGCB_GETCAPTUREADDRESS args;

    memset(&args, 0, sizeof(args));
    (void)DXGK.DxgkCbGetCaptureAddress(&args);
    return STATUS_INVALID_DEVICE_REQUEST;
}

static NTSTATUS hot_update(struct probe *p)
{
    (void)DXGK.DxgkCbSaveMemoryForHotUpdate(DXGK.DeviceHandle, NULL);
    return STATUS_INVALID_DEVICE_REQUEST;
}

static invoke *const at_passive[] = {
    get_information,    read_space,        write_space, map_and_unmap,   query_services,
    eval_acpi,          device_present,    exclude,     feature_enabled, create_allocation,
    destroy_allocation, update_allocation, reserve_va,  map_allocation,  enum_children,
    power_active,       capture_address,   hot_update,
};

static void passive_body(struct probe *p)
{
    KIRQL before;

    for (unsigned i = 0; i < sizeof(at_passive) / sizeof(at_passive[0]); i++) {
        bool has_status = i < 12;
        uint64_t reports;
        NTSTATUS status;

        reports = probe_rule(p, "THREAD-047");
        status = at_passive[i](p);
        CHECK_RULE("THREAD-047", probe_rule(p, "THREAD-047") == reports &&
                                     (!has_status || IS(status, STATUS_SUCCESS)));
        KeRaiseIrql(APC_LEVEL, &before);
        status = at_passive[i](p);
        KeLowerIrql(before);
        CHECK_RULE("THREAD-047", probe_rule(p, "THREAD-047") > reports);
        CHECK_RULE("THREAD-009", !has_status || IS(status, STATUS_SUCCESS)); /* carried out */
        reports = probe_rule(p, "THREAD-047");
        KeRaiseIrql(DISPATCH_LEVEL, &before);
        status = at_passive[i](p);
        KeLowerIrql(before);
        CHECK_RULE("THREAD-009", probe_rule(p, "THREAD-047") > reports &&
                                     IS(status, STATUS_INVALID_DEVICE_REQUEST));
    }
}

TEST(passive_callbacks)
{
    struct probe *p = probe_create(NULL);

    probe_use_components(p, 1);
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, passive_body);
}

TEST_WITH(probe, handle_lookups)
{
    DXGKARGCB_GETHANDLEDATA args = {.hObject = 1, .Type = DXGK_HANDLE_ALLOCATION};
    DXGKARG_RELEASE_HANDLE release;
    KIRQL before;

    for (KIRQL level = APC_LEVEL; level <= DISPATCH_LEVEL; level++) {
        uint64_t reports = probe_rule(p, "THREAD-048");

        KeRaiseIrql(level, &before);
        (void)DXGK.DxgkCbGetHandleData(&args);
        (void)DXGK.DxgkCbGetHandleParent(1);
        (void)DXGK.DxgkCbAcquireHandleData(&args, &release);
        DXGK.DxgkCbReleaseHandleData((DXGKARGCB_RELEASEHANDLEDATA){0});
        KeLowerIrql(before);
        CHECK_RULE("THREAD-048",
                   probe_rule(p, "THREAD-048") == reports + (level == DISPATCH_LEVEL ? 4 : 0));
    }
}

TEST_WITH(probe, feature_support_level)
{
    DXGKARGCB_QUERYFEATURESUPPORT args = {.DeviceHandle = DXGK.DeviceHandle,
                                          .FeatureId = DXGK_FEATURE_HWSCH,
                                          .DriverSupportState = 2};
    KIRQL before;

    CHECK_RULE("THREAD-054", NT_SUCCESS(DXGK.DxgkCbQueryFeatureSupport(&args)) &&
                                 probe_rule(p, "THREAD-054") == 0);
    KeRaiseIrql(APC_LEVEL, &before);
    (void)DXGK.DxgkCbQueryFeatureSupport(&args);
    KeLowerIrql(before);
    CHECK_RULE("THREAD-054", probe_rule(p, "THREAD-054") == 1);
}

/* ---- stubs ---- */

TEST_WITH(probe, stubs_say_so)
{
    union {
        DXGKCB_COMPLETEPSTATETRANSITION complete;
        NTSTATUS(NTAPI *plain)(void);
    } reserved = {.complete = DXGK.DxgkCbCompletePStateTransition};

    CHECK_RULE("LIFE-059/b", IS(reserved.plain(), STATUS_NOT_SUPPORTED) &&
                                 probe_rule(p, "LIFE-059") == 1 &&
                                 probe_said(p, "LIFE-059", "DxgkCbCompletePStateTransition"));
}
