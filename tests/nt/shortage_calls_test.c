/* SPDX-License-Identifier: MIT */
/*
 * Calls that need memory, each with its first, second, ... request failing until it succeeds: what it answers, and that
 * neither its outputs nor the machine are changed.
 */
#include "bus/device.h"
#include "nt/io/device_object.h"
#include "nt/io/image_life.h"
#include "nt/ps/process.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "support/harness.h"
#include "support/test_device.h"

static DEVICE_OBJECT pdo;
static const GUID guid = {
    0x6FE69556, 0x704A, 0x47A0, {0x8F, 0x24, 0xC2, 0x8D, 0x93, 0x6F, 0xDA, 0x47}};
static const GUID other_guid = {1, 2, 3, {4}};
static struct bus_device *device;
static PMDL mdl;
static uint8_t *block;
static PVOID event;
static struct {
    PVOID pointer, second;
    HANDLE handle;
    UNICODE_STRING string;
    CLIENT_ID client;
} out;

static bool untouched(void)
{
    for (size_t i = 0; i < sizeof(out); i++)
        if (((uint8_t *)&out)[i] != 0x5A)
            return false;
    return true;
}

static NTSTATUS found(const void *pointer)
{
    return pointer ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;
}

/* ---- the calls; each gives back what it got ---- */

static NTSTATUS string_of_guid(void)
{
    NTSTATUS status = RtlStringFromGUID(&guid, &out.string);

    if (NT_SUCCESS(status))
        RtlFreeUnicodeString(&out.string);
    return status;
}

static NTSTATUS device_interface(void)
{
    NTSTATUS status = IoRegisterDeviceInterface(&pdo, &guid, NULL, &out.string);

    if (NT_SUCCESS(status))
        RtlFreeUnicodeString(&out.string);
    return status;
}

static NTSTATUS interface_list(void)
{
    NTSTATUS status = IoGetDeviceInterfaces(&guid, NULL, 0, (PZPWSTR *)&out.pointer);

    if (NT_SUCCESS(status))
        ExFreePool(out.pointer);
    return status;
}

static NTSTATUS log_entry(void)
{
    PVOID entry = IoAllocateErrorLogEntry(&pdo, 100);

    if (entry)
        IoFreeErrorLogEntry(entry);
    return found(entry);
}

static NTSTATUS memory_ranges(void)
{
    PVOID ranges = MmGetPhysicalMemoryRanges();

    if (ranges)
        ExFreePool(ranges);
    return found(ranges);
}

static NTSTATUS request_packet(void)
{
    PIRP irp = IoAllocateIrp(2, FALSE);

    if (irp)
        IoFreeIrp(irp);
    return found(irp);
}

static NTSTATUS control_request(void)
{
    PIRP irp = IoBuildDeviceIoControlRequest(5, &pdo, NULL, 0, NULL, 0, FALSE, NULL, NULL);

    if (irp)
        IoFreeIrp(irp);
    return found(irp);
}

static NTSTATUS synchronous_request(void)
{
    PIRP irp = IoBuildSynchronousFsdRequest(IRP_MJ_READ, &pdo, NULL, 0, NULL, NULL, NULL);

    if (irp)
        IoFreeIrp(irp);
    return found(irp);
}

static NTSTATUS device_by_name(void)
{
    UNICODE_STRING name = unicode_text(L"\\Device\\Thing");
    NTSTATUS status = IoGetDeviceObjectPointer(&name, 0, (PFILE_OBJECT *)&out.pointer,
                                               (PDEVICE_OBJECT *)&out.second);

    if (NT_SUCCESS(status))
        ObDereferenceObject(out.pointer);
    return status;
}

static NTSTATUS device_key(void)
{
    NTSTATUS status = IoOpenDeviceRegistryKey(&pdo, PLUGPLAY_REGKEY_DRIVER, KEY_READ, &out.handle);

    if (NT_SUCCESS(status))
        ZwClose(out.handle);
    return status;
}

static NTSTATUS handle_by_pointer(void)
{
    NTSTATUS status = ObOpenObjectByPointer(event, OBJ_KERNEL_HANDLE, NULL, 0, NULL, KernelMode,
                                            &out.handle);

    if (NT_SUCCESS(status))
        ZwClose(out.handle);
    return status;
}

static VOID NTAPI thread_main(PVOID context)
{
    (void)context;
}

static NTSTATUS system_thread(void)
{
    NTSTATUS status = PsCreateSystemThread(&out.handle, 0, NULL, NULL, &out.client, thread_main,
                                           NULL);

    if (!NT_SUCCESS(status))
        return status;
    ZwClose(out.handle);
    h.machine->heap.fail_at = 0;
    pause_ns(1000000);
    return status;
}

static NTSTATUS NTAPI on_setting(LPCGUID setting, PVOID value, ULONG length, PVOID context)
{
    (void)setting;
    (void)value;
    (void)length;
    (void)context;
    return STATUS_SUCCESS;
}

static NTSTATUS power_setting(void)
{
    NTSTATUS status = PoRegisterPowerSettingCallback(&pdo, &other_guid, on_setting, NULL,
                                                     &out.pointer);

    if (NT_SUCCESS(status))
        PoUnregisterPowerSettingCallback(out.pointer);
    return status;
}

static NTSTATUS power_device(void)
{
    static PO_FX_COMPONENT_IDLE_STATE states[1];
    PO_FX_DEVICE_V1 description = {.Version = PO_FX_VERSION_V1, .ComponentCount = 1};
    NTSTATUS status;

    description.Components[0].IdleStateCount = 1;
    description.Components[0].IdleStates = states;
    status = PoFxRegisterDevice(&pdo, &description, (POHANDLE *)&out.pointer);
    if (NT_SUCCESS(status))
        PoFxUnregisterDevice(out.pointer);
    return status;
}

static NTSTATUS provider(void)
{
    NTSTATUS status = IoWMIRegistrationControl(&pdo, WMIREG_ACTION_REGISTER);

    if (NT_SUCCESS(status))
        IoWMIRegistrationControl(&pdo, WMIREG_ACTION_DEREGISTER);
    return status;
}

static NTSTATUS work_item(void)
{
    PIO_WORKITEM item = IoAllocateWorkItem(&pdo);

    if (item)
        IoFreeWorkItem(item);
    return found(item);
}

static NTSTATUS system_view(void)
{
    PVOID view = MmMapLockedPagesSpecifyCache(mdl, KernelMode, MmCached, NULL, FALSE,
                                              NormalPagePriority);

    if (view)
        MmUnmapLockedPages(view, mdl);
    else
        CHECK(!(mdl->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA));
    return found(view);
}

static NTSTATUS part_view(void)
{
    PMDL part;
    PVOID view;
    uint64_t at = h.machine->heap.fail_at - h.machine->heap.requests;

    h.machine->heap.fail_at = 0;
    part = IoAllocateMdl(block, PAGE_SIZE, FALSE, FALSE, NULL);
    IoBuildPartialMdl(mdl, part, block, PAGE_SIZE);
    h.machine->heap.fail_at = h.machine->heap.requests + at;
    view = MmGetSystemAddressForMdlSafe(part, NormalPagePriority);
    h.machine->heap.fail_at = 0;
    IoFreeMdl(part);
    return found(view);
}

static NTSTATUS memory_view(void)
{
    PVOID view = MmMapIoSpace(MmGetPhysicalAddress(block), PAGE_SIZE, MmCached);

    if (view)
        MmUnmapIoSpace(view, PAGE_SIZE);
    return found(view);
}

static NTSTATUS device_view(void)
{
    PVOID view = MmMapIoSpace(physical(bus_device_bar(device, 2).value), 65536, MmNonCached);

    if (view)
        MmUnmapIoSpace(view, 65536);
    return found(view);
}

static NTSTATUS contiguous(void)
{
    PVOID memory = MmAllocateContiguousMemory(3 * PAGE_SIZE, physical(~0ull >> 1));

    if (memory)
        MmFreeContiguousMemory(memory);
    return found(memory);
}

static NTSTATUS pages(void)
{
    PMDL list = MmAllocatePagesForMdl(physical(0), physical(~0ull >> 1), physical(0), 20000);

    if (list) {
        MmFreePagesFromMdl(list);
        ExFreePool(list);
    }
    return found(list);
}

static NTSTATUS descriptor_list(void)
{
    PMDL list = IoAllocateMdl(block, 100, FALSE, FALSE, NULL);

    if (list)
        IoFreeMdl(list);
    return found(list);
}

static NTSTATUS executable_pool(void)
{
    PVOID memory = ExAllocatePool2(POOL_FLAG_NON_PAGED_EXECUTE, 3 * PAGE_SIZE, TAG);

    if (memory)
        ExFreePoolWithTag(memory, TAG);
    return found(memory);
}

#define NONE STATUS_INSUFFICIENT_RESOURCES

static const struct {
    const char *name;
    NTSTATUS (*call)(void);
    NTSTATUS failure;
} calls[] = {
    {"RtlStringFromGUID", string_of_guid, STATUS_NO_MEMORY},
    {"IoRegisterDeviceInterface", device_interface, NONE},
    {"IoGetDeviceInterfaces", interface_list, NONE},
    {"IoAllocateErrorLogEntry", log_entry, NONE},
    {"MmGetPhysicalMemoryRanges", memory_ranges, NONE},
    {"IoAllocateIrp", request_packet, NONE},
    {"IoBuildDeviceIoControlRequest", control_request, NONE},
    {"IoBuildSynchronousFsdRequest", synchronous_request, NONE},
    {"IoGetDeviceObjectPointer", device_by_name, NONE},
    {"IoOpenDeviceRegistryKey", device_key, NONE},
    {"ObOpenObjectByPointer", handle_by_pointer, NONE},
    {"PsCreateSystemThread", system_thread, NONE},
    {"PoRegisterPowerSettingCallback", power_setting, NONE},
    {"PoFxRegisterDevice", power_device, NONE},
    {"IoWMIRegistrationControl", provider, NONE},
    {"IoAllocateWorkItem", work_item, NONE},
    {"MmMapLockedPagesSpecifyCache", system_view, NONE},
    {"MmGetSystemAddressForMdlSafe", part_view, NONE},
    {"MmMapIoSpace", memory_view, NONE},
    {"MmMapIoSpace", device_view, NONE},
    {"MmAllocateContiguousMemory", contiguous, NONE},
    {"MmAllocatePagesForMdl", pages, NONE},
    {"IoAllocateMdl", descriptor_list, NONE},
    {"ExAllocatePool2", executable_pool, NONE},
};

static unsigned number;

static void call_until_it_succeeds(void)
{
    uint64_t before;

    block = ExAllocatePoolWithTag(NonPagedPoolNx, 2 * PAGE_SIZE, TAG);
    mdl = IoAllocateMdl(block, 2 * PAGE_SIZE, FALSE, FALSE, NULL);
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    event = IoCreateSynchronizationEvent(NULL, &out.handle);
    for (uint64_t n = 1;; n++) {
        NTSTATUS status;

        memset(&out, 0x5A, sizeof(out));
        before = h.machine->heap.live_blocks;
        h.machine->heap.fail_at = h.machine->heap.requests + n;
        status = calls[number].call();
        h.machine->heap.fail_at = 0;
        if (NT_SUCCESS(status)) {
            if (n < 2)
                fail_msg("%s needs no memory", calls[number].name);
            break;
        }
        if (status != calls[number].failure &&
            !(calls[number].call == device_interface && status == STATUS_NO_MEMORY))
            fail_msg("%s: %#x", calls[number].name, (unsigned)status);
        if (!untouched())
            fail_msg("%s: outputs with request %u", calls[number].name, (unsigned)n);
        /* a table may have grown, and keys that are on the way to another one stay */
        if (h.machine->heap.live_blocks > before + 1 && calls[number].call != device_key)
            fail_msg("%s: a leak with request %u", calls[number].name, (unsigned)n);
        if (n == 50)
            fail_msg("%s never succeeds", calls[number].name);
    }
    memset(&out, 0, sizeof(out));
    MmUnlockPages(mdl);
    IoFreeMdl(mdl);
    ExFreePoolWithTag(block, TAG);
}

TEST_WITH(machine, calls_without_memory_change_nothing)
{
    for (number = 0; number < RTL_NUMBER_OF(calls); number++) {
        struct nt_device_info info = {0};

        harness_teardown();
        harness_boot(1, 1, NULL);
        info.device = device = test_device_add(h.bus);
        CHECK(nt_device_object_register_physical(&pdo, &info));
        CHECK(nt_device_object_name(&pdo, "\\Device\\Thing"));
        run(call_until_it_succeeds);
        if (errors() != 0)
            fail_msg("%s: %s", calls[number].name,
                     verify_record_at(h.log, verify_records(h.log) - 1)->seen);
        CHECK_RULE("NT-003/d", nt_image_leak_check(h.image) == 1); /* the handle of the event */
        CHECK(ram_validate(h.ram));
        forget_reports();
    }
}

/* For a client a view that cannot be made is an exception. */
static void map_for_client(void)
{
    PVOID view = NULL;
    unsigned n = 0;

    block = ExAllocatePoolWithTag(NonPagedPoolNx, 2 * PAGE_SIZE, TAG);
    mdl = IoAllocateMdl(block, 2 * PAGE_SIZE, FALSE, FALSE, NULL);
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    while (!view) {
        h.machine->heap.fail_at = h.machine->heap.requests + ++n;
        view = MmMapLockedPagesSpecifyCache(mdl, UserMode, MmCached, NULL, FALSE,
                                            NormalPagePriority);
        h.machine->heap.fail_at = 0;
        CHECK(h.raises == (view ? n - 1 : n));
        CHECK(n == 1 || h.raised == STATUS_INSUFFICIENT_RESOURCES);
    }
    CHECK(n > 3);
    forget_reports(); /* nobody caught the exceptions */
    MmUnmapLockedPages(view, mdl);
    MmUnlockPages(mdl);
    IoFreeMdl(mdl);
    ExFreePoolWithTag(block, TAG);
    CHECK(errors() == 0);
}

TEST_WITH(machine, views_of_clients_need_memory)
{
    struct nt_process *client = nt_process_create("client");

    run_client(client, map_for_client);
    nt_process_destroy(client);
    CHECK(nt_image_leak_check(h.image) == 0 && ram_validate(h.ram));
}

/* Processes are made by the host. */
TEST_WITH(machine, processes_need_memory)
{
    struct nt_process *process = NULL;
    uint64_t before, n = 0;

    while (!process) {
        before = h.machine->heap.live_blocks;
        h.machine->heap.fail_at = h.machine->heap.requests + ++n;
        process = nt_process_create("client");
        h.machine->heap.fail_at = 0;
        CHECK(process || h.machine->heap.live_blocks == before);
    }
    CHECK(n > 2);
    nt_process_destroy(process);
}
