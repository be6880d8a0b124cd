/* SPDX-License-Identifier: MIT */
/* The callbacks of DXGKRNL_INTERFACE: handles, states and levels; device information, spaces and mappings; features. */
#include "port/support/probe.h"

#include <string.h>

#include <acpiioct.h>

#include "x64/x64.h"

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk

static struct probe *start(void)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

static void end(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(probe_run(p, body) == SIM_DONE);
    probe_destroy(p);
}

/* ---- handles and states ---- */

static void handles_body(struct probe *p)
{
    DXGK_DEVICE_INFO info;

    CHECK_RULE("LIFE-063", !DXGK.DxgkCbQueueDpc(A->context) && probe_rule(p, "LIFE-063") == 1 &&
                               probe_said(p, "LIFE-063", "MiniportDeviceContext"));
    CHECK_RULE("LIFE-063",
               IS(DXGK.DxgkCbGetDeviceInformation(NULL, &info), STATUS_INVALID_PARAMETER) &&
                   probe_said(p, "LIFE-063", "no DeviceHandle"));
    CHECK_RULE("LIFE-063",
               IS(DXGK.DxgkCbGetDeviceInformation(A->context, &info), STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-084",
               IS(DXGK.DxgkCbGetDeviceInformation(DXGK.DeviceHandle, &info), STATUS_SUCCESS) &&
                   IS(DXGK.DxgkCbGetDeviceInformation(DXGK.DeviceHandle, NULL),
                      STATUS_INVALID_PARAMETER) &&
                   IS(DXGK.DxgkCbGetDeviceInformation((HANDLE)(uintptr_t)0x1234567, &info),
                      STATUS_INVALID_PARAMETER));
    probe_remove(p, 0);
    CHECK_RULE("LIFE-063", IS(DXGK.DxgkCbGetDeviceInformation(DXGK.DeviceHandle, &info),
                              STATUS_INVALID_PARAMETER) &&
                               probe_rule(p, "LIFE-063") == 5);
}

static void handles_are_checked(void **state)
{
    (void)state;
    end(start(), handles_body);
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

static void after_stop_only_freeing_is_accepted(void **state)
{
    struct probe *p = start();
    uint64_t reports;

    (void)state;
    p->before[PROBE_StopDevice] = allocate_block;
    p->before[PROBE_RemoveDevice] = use_after_stop;
    (void)probe_stop(p);
    reports = probe_rule(p, "LIFE-064");
    CHECK_RULE("LIFE-064", IS(after_stop[0], STATUS_INVALID_DEVICE_STATE) &&
                               IS(after_stop[1], STATUS_SUCCESS) && reports == 1);
    probe_destroy(p);
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

static PHYSICAL_ADDRESS bar(const struct probe *p, unsigned index)
{
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *first =
        A->device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors;

    return first[index].u.Memory.Start;
}

static NTSTATUS map_and_unmap(struct probe *p)
{
    PVOID mapped = NULL;
    NTSTATUS status = DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, bar(p, 0), 4096, FALSE, FALSE,
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

static void passive_callbacks(void **state)
{
    struct probe *p = probe_create(NULL);

    (void)state;
    probe_use_components(p, 1);
    CHECK(NT_SUCCESS(probe_start(p)));
    end(p, passive_body);
}

static void lookups_body(struct probe *p)
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

static void handle_lookups(void **state)
{
    (void)state;
    end(start(), lookups_body);
}

static void memory_levels_body(struct probe *p)
{
    DXGKARGCB_ALLOCATE_ADL adl;
    KIRQL before;

    for (KIRQL level = PASSIVE_LEVEL; level <= DISPATCH_LEVEL; level++) {
        uint64_t reports = probe_rule(p, "THREAD-049");
        DXGKARGCB_FREECONTIGUOUSMEMORY free_args;
        NTSTATUS status;

        memset(&contiguous, 0, sizeof(contiguous));
        contiguous.NumberOfBytes = 4096;
        contiguous.HighestAcceptableAddress.QuadPart = (1ll << 40) - 1;
        memset(&adl, 0, sizeof(adl));
        KeRaiseIrql(level, &before);
        status = DXGK.DxgkCbAllocateContiguousMemory(DXGK.DeviceHandle, &contiguous);
        (void)DXGK.DxgkCbAllocateAdl(&adl);
        KeLowerIrql(before);
        CHECK_RULE("THREAD-049",
                   probe_rule(p, "THREAD-049") == reports + (level == DISPATCH_LEVEL ? 2 : 0));
        CHECK_RULE("PHYS-013", IS(status, STATUS_SUCCESS));
        free_args.hMemoryHandle = contiguous.hMemoryHandle;
        CHECK(NT_SUCCESS(DXGK.DxgkCbFreeContiguousMemory(DXGK.DeviceHandle, &free_args)));
    }
}

static void memory_callback_levels(void **state)
{
    (void)state;
    end(start(), memory_levels_body);
}

static void feature_levels_body(struct probe *p)
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

static void feature_support_level(void **state)
{
    (void)state;
    end(start(), feature_levels_body);
}

/* ---- information ---- */

static void information_body(struct probe *p)
{
    const CM_PARTIAL_RESOURCE_LIST *list;
    DXGK_DEVICE_INFO info;
    char path[128] = "";
    uint32_t one = 1;

    CHECK(NT_SUCCESS(DXGK.DxgkCbGetDeviceInformation(DXGK.DeviceHandle, &info)));
    for (unsigned i = 0; i < info.DeviceRegistryPath.Length / sizeof(WCHAR) && i < sizeof(path) - 1;
         i++)
        path[i] = (char)info.DeviceRegistryPath.Buffer[i];
    CHECK_RULE("LIFE-085", info.MiniportDeviceContext == A->context &&
                               info.PhysicalDeviceObject == A->pdo &&
                               nt_registry_set(path, "HardwareInformation.MemorySize", REG_DWORD,
                                               &one, sizeof(one)) &&
                               port_adapter_memory_size(p->adapter[0]) == 1u << 20);
    CHECK_RULE("LIFE-086", info.SystemMemorySize.QuadPart == 64 << 20 &&
                               info.HighestPhysicalAddress.QuadPart == (64 << 20) - 1);
    CHECK_RULE("LIFE-087", info.AgpApertureBase.QuadPart == 0 && info.AgpApertureSize == 0);
    CHECK_RULE("LIFE-088", info.DockingState == DockStateUnsupported);
    CHECK_RULE("LIFE-089", info.TranslatedResourceList->Count == 1);
    list = &info.TranslatedResourceList->List[0].PartialResourceList;
    CHECK_RULE("LIFE-089", list->Count == 3 &&
                               list->PartialDescriptors[0].Type == CmResourceTypeMemory &&
                               list->PartialDescriptors[0].u.Memory.Start.QuadPart ==
                                   (LONGLONG)bus_device_bar(p->device[0], 0).value &&
                               list->PartialDescriptors[0].u.Memory.Length == 0x1000 &&
                               list->PartialDescriptors[2].Type == CmResourceTypeInterrupt &&
                               list->PartialDescriptors[2].u.MessageInterrupt.Translated.Level ==
                                   SIM_IRQL_DEVICE);
    CHECK_RULE("LIFE-090", list->PartialDescriptors[2].Flags & CM_RESOURCE_INTERRUPT_MESSAGE);
}

static void device_information(void **state)
{
    (void)state;
    end(start(), information_body);
}

static void large_bars(void **state)
{
    static const char *const vram[] = {"vram=8589934592", "messages=2", NULL};
    const struct probe_options options = {.device = vram};
    struct probe *p = probe_create(&options);
    const CM_PARTIAL_RESOURCE_DESCRIPTOR *list;

    (void)state;
    CHECK(NT_SUCCESS(probe_start(p)));
    list = A->device.TranslatedResourceList->List[0].PartialResourceList.PartialDescriptors;
    CHECK_RULE("LIFE-090",
               list[1].Type == CmResourceTypeMemoryLarge &&
                   (list[1].Flags & (CM_RESOURCE_MEMORY_LARGE_40 | CM_RESOURCE_MEMORY_LARGE_48 |
                                     CM_RESOURCE_MEMORY_LARGE_64)) == CM_RESOURCE_MEMORY_LARGE_40 &&
                   (uint64_t)list[1].u.Memory40.Length40 << 8 == 8ull << 30);
    CHECK_RULE(
        "LIFE-091",
        list[0].u.Memory.Start.QuadPart == (LONGLONG)bus_device_bar(p->device[0], 0).value &&
            list[1].u.Memory40.Start.QuadPart == (LONGLONG)bus_device_bar(p->device[0], 2).value &&
            list[2].Type == CmResourceTypeInterrupt && list[3].Type == CmResourceTypeInterrupt &&
            A->device.TranslatedResourceList->List[0].PartialResourceList.Count == 4);
    probe_destroy(p);
}

static void write_the_list(struct probe *p, struct probe_call *call)
{
    (void)call;
    A->device.TranslatedResourceList->Count = 0;
}

static void read_the_list(struct probe *p, struct probe_call *call)
{
    (void)call;
    A->device.DockingState = (DOCKING_STATE)A->device.TranslatedResourceList->Count;
}

static void resource_list_is_on_loan(void **state)
{
    struct probe *p = probe_create(NULL);

    (void)state;
    p->before[PROBE_GetNodeMetadata] = write_the_list;
    (void)probe_start(p);
    CHECK_RULE("LIFE-091", p->sim->stopped && probe_said(p, "LIFE-091", "wrote to"));
    probe_destroy(p);

    p = start();
    p->after[PROBE_StopDevice] = read_the_list; /* still there */
    (void)probe_stop(p);
    CHECK_RULE("LIFE-091", !p->sim->stopped && probe_rule(p, "LIFE-091") == 0);
    probe_destroy(p);

    p = start();
    p->before[PROBE_RemoveDevice] = read_the_list;
    (void)probe_stop(p);
    CHECK_RULE("LIFE-091", p->sim->stopped && probe_said(p, "LIFE-091", "read from"));
    probe_destroy(p);
}

/* ---- spaces and mappings ---- */

static NTSTATUS space(struct probe *p, bool write, ULONG type, void *buffer, ULONG offset,
                      ULONG length, ULONG *moved)
{
    *moved = 99;
    return write
               ? DXGK.DxgkCbWriteDeviceSpace(DXGK.DeviceHandle, type, buffer, offset, length, moved)
               : DXGK.DxgkCbReadDeviceSpace(DXGK.DeviceHandle, type, buffer, offset, length, moved);
}

static void spaces_body(struct probe *p)
{
    UCHAR bytes[16];
    USHORT id;
    ULONG moved;

    CHECK_RULE("LIFE-092",
               IS(space(p, false, DXGK_WHICHSPACE_CONFIG, &id, 0, 2, &moved), STATUS_SUCCESS) &&
                   moved == 2 && id == 0x1AF4 &&
                   IS(space(p, false, 7, &id, 0, 2, &moved), STATUS_INVALID_PARAMETER) &&
                   IS(space(p, false, DXGK_WHICHSPACE_CONFIG, NULL, 0, 2, &moved),
                      STATUS_INVALID_PARAMETER) &&
                   IS(space(p, false, DXGK_WHICHSPACE_ROM, &id, 0, 2, &moved), STATUS_UNSUCCESSFUL) &&
                   moved == 0);
    CHECK_RULE(
        "LIFE-093",
        IS(space(p, false, DXGK_WHICHSPACE_CONFIG, bytes, 250, 16, &moved), STATUS_SUCCESS) &&
            moved == 6 &&
            IS(space(p, false, DXGK_WHICHSPACE_CONFIG, bytes, 256, 1, &moved), STATUS_UNSUCCESSFUL) &&
            moved == 0 &&
            IS(space(p, false, DXGK_WHICHSPACE_MCH, bytes, 0, 1, &moved), STATUS_UNSUCCESSFUL) &&
            moved == 0 &&
            IS(space(p, true, DXGK_WHICHSPACE_ROM, bytes, 0, 1, &moved), STATUS_UNSUCCESSFUL) &&
            moved == 0);
    (void)space(p, false, DXGK_WHICHSPACE_BRIDGE, bytes, 0, 4, &moved);
    CHECK_RULE("LIFE-094", probe_rule(p, "LIFE-094") == 1);
    bytes[0] = 0x42;
    CHECK_RULE("LIFE-095",
               IS(space(p, true, DXGK_WHICHSPACE_CONFIG, bytes, 0x3C, 1, &moved), STATUS_SUCCESS) &&
                   probe_rule(p, "LIFE-095") == 0 &&
                   IS(space(p, false, DXGK_WHICHSPACE_CONFIG, bytes + 1, 0x3C, 1, &moved),
                      STATUS_SUCCESS) &&
                   bytes[1] == 0x42);
    id = 0xFFFF;
    CHECK_RULE("LIFE-095",
               IS(space(p, true, DXGK_WHICHSPACE_CONFIG, &id, 0, 2, &moved), STATUS_SUCCESS) &&
                   probe_rule(p, "LIFE-095") == 1 &&
                   probe_record(p, "LIFE-095")->severity == VERIFY_WARNING &&
                   IS(space(p, false, DXGK_WHICHSPACE_CONFIG, &id, 0, 2, &moved), STATUS_SUCCESS) &&
                   id == 0x1AF4);
}

static void device_spaces(void **state)
{
    (void)state;
    end(start(), spaces_body);
}

static void mappings_body(struct probe *p)
{
    PHYSICAL_ADDRESS registers = bar(p, 0), beyond = bar(p, 0), ram = {.QuadPart = 0x1000};
    PVOID a, b, c;

    beyond.QuadPart += 1;
    CHECK_RULE("LIFE-096", IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, registers, 0x1000, FALSE,
                                                   FALSE, MmNonCached, &a),
                              STATUS_SUCCESS) &&
                               READ_REGISTER_ULONG(a) == PROBE_ID);
    CHECK_RULE(
        "LIFE-098",
        IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, beyond, 0x1000, FALSE, FALSE, MmNonCached, &b),
           STATUS_INVALID_PARAMETER) &&
            IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, registers, 0, FALSE, FALSE, MmNonCached, &b),
               STATUS_INVALID_PARAMETER) &&
            IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, registers, 4, FALSE, FALSE,
                                    (MEMORY_CACHING_TYPE)9, &b),
               STATUS_INVALID_PARAMETER));
    CHECK_RULE("PHYS-027", IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, ram, 0x1000, FALSE, FALSE,
                                                   MmNonCached, &b),
                              STATUS_INVALID_PARAMETER) &&
                               probe_rule(p, "PHYS-027") == 2);
    CHECK_RULE("LIFE-098", IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, registers, 0x1000, FALSE,
                                                   FALSE, MmNonCached, &b),
                              STATUS_SUCCESS) &&
                               IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, registers, 0x1000, FALSE,
                                                       FALSE, MmCached, &c),
                                  STATUS_CONFLICTING_ADDRESSES) &&
                               probe_rule(p, "LIFE-098") == 1);
    CHECK_RULE("LIFE-099", IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, a), STATUS_SUCCESS) &&
                               IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, b), STATUS_SUCCESS));
    CHECK_RULE("LIFE-100",
               IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, a), STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "LIFE-100") == 1);
    CHECK_RULE("LIFE-097", IS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, registers, 0x1000, TRUE, TRUE,
                                                   MmNonCached, &a),
                              STATUS_INVALID_PARAMETER)); /* no ports */
}

static void pointer_body(struct probe *p)
{
    volatile ULONG *mapped;
    PVOID address;

    CHECK(NT_SUCCESS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, bar(p, 0), 0x1000, FALSE, FALSE,
                                          MmNonCached, &address)));
    mapped = address;
    CHECK_RULE("NT-171", mapped[0] == PROBE_ID && x64_traps() == 1);
    CHECK(NT_SUCCESS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, address)));
}

static void mapped_registers_are_read_through_pointers(void **state)
{
    struct probe *p = start();

    (void)state;
    CHECK(x64_create());
    CHECK(probe_run(p, pointer_body) == SIM_DONE);
    x64_destroy();
    probe_destroy(p);
}

static PVOID user_mapping;

static void map_for_user(struct probe *p)
{
    CHECK(NT_SUCCESS(DXGK.DxgkCbMapMemory(DXGK.DeviceHandle, bar(p, 1), 0x1000, FALSE, TRUE,
                                          MmWriteCombined, &user_mapping)));
}

static void unmap_elsewhere(struct probe *p)
{
    CHECK_RULE("LIFE-100", IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, user_mapping),
                              STATUS_INVALID_PARAMETER));
}

static void unmap_here(struct probe *p)
{
    CHECK_RULE("LIFE-100",
               IS(DXGK.DxgkCbUnmapMemory(DXGK.DeviceHandle, user_mapping), STATUS_SUCCESS));
}

static void in_process(struct probe *p, struct nt_process *process, void (*body)(struct probe *p))
{
    struct sim_thread *thread = probe_thread(p, process, "client", body);

    while (!sim_thread_ended(thread))
        probe_sleep(1000000);
    sim_thread_release(thread);
}

static void user_mappings_body(struct probe *p)
{
    struct nt_process *process = probe_process(p, "client");

    in_process(p, process, map_for_user);
    unmap_elsewhere(p); /* the system process */
    in_process(p, process, unmap_here);
}

static void mappings(void **state)
{
    struct probe *p;

    (void)state;
    end(start(), mappings_body);
    end(start(), user_mappings_body);
    p = start();
    A->registers = NULL; /* StopDevice forgets to unmap */
    (void)probe_stop(p);
    CHECK_RULE("LIFE-101", probe_rule(p, "LIFE-101") == 1 && bus_mappings(p->bus) == 0);
    probe_destroy(p);
}

static void presence_body(struct probe *p)
{
    PCI_DEVICE_PRESENCE_PARAMETERS query = {
        .Size = sizeof(query), .Flags = PCI_USE_VENDEV_IDS, .VendorID = 0x1AF4, .DeviceID = 0x1234};
    BOOLEAN present = FALSE;

    CHECK_RULE("LIFE-102", IS(DXGK.DxgkCbIsDevicePresent(DXGK.DeviceHandle, &query, &present),
                              STATUS_SUCCESS) &&
                               present);
    query.Flags |= PCI_USE_CLASS_SUBCLASS | PCI_USE_REVISION | PCI_USE_SUBSYSTEM_IDS;
    query.RevisionID = 2;
    query.SubVendorID = 0x1AF4;
    query.SubSystemID = 40;
    query.BaseClass = 3;
    query.SubClass = 0x80;
    CHECK_RULE("LIFE-102", IS(DXGK.DxgkCbIsDevicePresent(DXGK.DeviceHandle, &query, &present),
                              STATUS_SUCCESS) &&
                               present);
    query.DeviceID = 0x4321;
    CHECK_RULE("LIFE-102", IS(DXGK.DxgkCbIsDevicePresent(DXGK.DeviceHandle, &query, &present),
                              STATUS_SUCCESS) &&
                               !present);
}

static void device_presence(void **state)
{
    (void)state;
    end(start(), presence_body);
}

static void firmware_body(struct probe *p)
{
    ACPI_EVAL_INPUT_BUFFER_COMPLEX input = {.Signature = 0x12345678};
    UCHAR output[32];
    DXGK_DISPLAY_INFORMATION display;
    DXGK_DISPLAY_OWNERSHIP_FLAGS flags;

    memset(output, 0x5A, sizeof(output));
    CHECK_RULE("LIFE-104", IS(DXGK.DxgkCbEvalAcpiMethod(
                                  DXGK.DeviceHandle, DISPLAY_ADAPTER_HW_ID, &input, sizeof(input),
                                  (PACPI_EVAL_OUTPUT_BUFFER)output, sizeof(output)),
                              STATUS_OBJECT_NAME_NOT_FOUND) &&
                               output[0] == 0x5A && output[31] == 0x5A);
    CHECK_RULE("LIFE-103", input.Signature == ACPI_EVAL_INPUT_BUFFER_COMPLEX_SIGNATURE);
    memset(&display, 0x5A, sizeof(display));
    CHECK_RULE("LIFE-073", IS(DXGK.DxgkCbAcquirePostDisplayOwnership(DXGK.DeviceHandle, &display),
                              STATUS_UNSUCCESSFUL) &&
                               display.Width == 0 && display.PhysicAddress.QuadPart == 0);
    memset(&display, 0x5A, sizeof(display));
    flags.Value = 3;
    CHECK_RULE("LIFE-073",
               IS(DXGK.DxgkCbAcquirePostDisplayOwnership2(DXGK.DeviceHandle, &display, &flags),
                  STATUS_UNSUCCESSFUL) &&
                   display.Height == 0 && flags.Value == 0);
    CHECK_RULE("LIFE-083", IS(DXGK.DxgkCbIndicateChildStatus(
                                  DXGK.DeviceHandle,
                                  &(DXGK_CHILD_STATUS){.Type = StatusConnection, .ChildUid = 5}),
                              STATUS_INVALID_PARAMETER) &&
                               probe_rule(p, "LIFE-083") == 1);
}

static void firmware_and_displays(void **state)
{
    (void)state;
    end(start(), firmware_body);
}

/* ---- stubs ---- */

static void stubs_body(struct probe *p)
{
    union {
        DXGKCB_COMPLETEPSTATETRANSITION complete;
        NTSTATUS(NTAPI *plain)(void);
    } reserved = {.complete = DXGK.DxgkCbCompletePStateTransition};

    CHECK_RULE("LIFE-059", IS(reserved.plain(), STATUS_NOT_SUPPORTED) &&
                               probe_rule(p, "LIFE-059") == 1 &&
                               probe_said(p, "LIFE-059", "DxgkCbCompletePStateTransition"));
}

static void stubs_say_so(void **state)
{
    (void)state;
    end(start(), stubs_body);
}

/* ---- features ---- */

static bool enabled(struct probe *p, DXGK_FEATURE_ID feature, NTSTATUS *status)
{
    DXGKARGCB_ISFEATUREENABLED args = {
        .DeviceHandle = DXGK.DeviceHandle, .FeatureId = feature, .Enabled = TRUE};

    *status = DXGK.DxgkCbIsFeatureEnabled(&args);
    return args.Enabled;
}

static bool supported(struct probe *p, DXGK_FEATURE_ID feature, UINT driver, NTSTATUS *status)
{
    DXGKARGCB_QUERYFEATURESUPPORT args = {.DeviceHandle = DXGK.DeviceHandle,
                                          .FeatureId = feature,
                                          .DriverSupportState = driver,
                                          .Enabled = TRUE};

    *status = DXGK.DxgkCbQueryFeatureSupport(&args);
    return args.Enabled;
}

static void features_body(struct probe *p)
{
    bool experiments = p->options.port.experiments;
    NTSTATUS status;

    /* HWSCH is granted, HWFLIPQUEUE is not. */
    CHECK_RULE("LIFE-122", enabled(p, DXGK_FEATURE_HWSCH, &status) && IS(status, STATUS_SUCCESS) &&
                               !enabled(p, DXGK_FEATURE_HWFLIPQUEUE, &status) &&
                               IS(status, STATUS_SUCCESS));
    CHECK_RULE("LIFE-123", supported(p, DXGK_FEATURE_HWSCH, DXGK_FEATURE_SUPPORT_STABLE, &status) &&
                               IS(status, STATUS_SUCCESS) && probe_rule(p, "LIFE-123") == 0);
    CHECK_RULE("LIFE-123",
               !supported(p, DXGK_FEATURE_HWSCH, DXGK_FEATURE_SUPPORT_ALWAYS_OFF, &status) &&
                   probe_rule(p, "LIFE-123") == 1 &&
                   probe_record(p, "LIFE-123")->severity == VERIFY_WARNING);
    CHECK_RULE("LIFE-124", supported(p, DXGK_FEATURE_HWSCH, DXGK_FEATURE_SUPPORT_EXPERIMENTAL,
                                     &status) == experiments &&
                               probe_rule(p, "LIFE-124") == 0);
    CHECK_RULE("LIFE-124",
               !supported(p, DXGK_FEATURE_HWFLIPQUEUE, DXGK_FEATURE_SUPPORT_ALWAYS_ON, &status) &&
                   probe_rule(p, "LIFE-124") == 1 &&
                   probe_record(p, "LIFE-124")->severity == VERIFY_WARNING);
    CHECK_RULE("LIFE-125",
               !enabled(p, (DXGK_FEATURE_ID)6, &status) && IS(status, STATUS_INVALID_PARAMETER) &&
                   !supported(p, (DXGK_FEATURE_ID)6, DXGK_FEATURE_SUPPORT_STABLE, &status) &&
                   IS(status, STATUS_INVALID_PARAMETER));
}

static void ask_for_scheduling(struct probe *p, struct probe_call *call)
{
    NTSTATUS status;

    (void)call;
    (void)enabled(p, DXGK_FEATURE_HWSCH, &status);
}

static void features(void **state)
{
    (void)state;
    for (unsigned experiments = 0; experiments < 2; experiments++) {
        const struct probe_options options = {
            .port = {.features = 1u << DXGK_FEATURE_HWSCH, .experiments = experiments != 0}};
        struct probe *p = probe_create(&options);

        CHECK(NT_SUCCESS(probe_start(p)));
        end(p, features_body);
    }
    for (unsigned asks = 0; asks < 2; asks++) {
        const struct probe_options options = {.port = {.features = 1u << DXGK_FEATURE_HWSCH}};
        struct probe *p = probe_create(&options);

        p->node[1].Flags.ContextSchedulingSupported = 1;
        p->after[PROBE_StartDevice] = asks ? ask_for_scheduling : NULL;
        CHECK_RULE("LIFE-126", NT_SUCCESS(probe_start(p)) && probe_rule(p, "LIFE-126") == !asks);
        probe_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handles_are_checked),
        cmocka_unit_test(after_stop_only_freeing_is_accepted),
        cmocka_unit_test(passive_callbacks),
        cmocka_unit_test(handle_lookups),
        cmocka_unit_test(memory_callback_levels),
        cmocka_unit_test(feature_support_level),
        cmocka_unit_test(device_information),
        cmocka_unit_test(large_bars),
        cmocka_unit_test(resource_list_is_on_loan),
        cmocka_unit_test(device_spaces),
        cmocka_unit_test(mappings),
        cmocka_unit_test(mapped_registers_are_read_through_pointers),
        cmocka_unit_test(device_presence),
        cmocka_unit_test(firmware_and_displays),
        cmocka_unit_test(stubs_say_so),
        cmocka_unit_test(features),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
