/* SPDX-License-Identifier: MIT */
/* Services with nobody on the other side: files, sections, device objects of the driver's own, interrupts, and the log. */
#include "nt/io/device_object.h"
#include "nt/io/image_life.h"
#include "support/harness.h"

static DEVICE_OBJECT known;
static PDEVICE_OBJECT object;
static HANDLE none, event;

/* ---- files and sections ---- */

static void use_files(void)
{
    UNICODE_STRING name = unicode_text(L"\\??\\C:\\file");
    PVOID base = NULL;
    OBJECT_ATTRIBUTES attributes;
    IO_STATUS_BLOCK status;
    LARGE_INTEGER size = {.QuadPart = 4096};
    HANDLE handle = NULL;
    SIZE_T view = 0;

    InitializeObjectAttributes(&attributes, &name, OBJ_KERNEL_HANDLE, NULL, NULL);
    assert_int_equal(ZwOpenFile(&handle, GENERIC_READ, &attributes, &status, 0, 0),
                     STATUS_OBJECT_PATH_NOT_FOUND);
    assert_int_equal(
        ZwCreateSection(&handle, SECTION_ALL_ACCESS, NULL, &size, PAGE_READWRITE, SEC_COMMIT, NULL),
        STATUS_INSUFFICIENT_RESOURCES);
    assert_int_equal(ZwUnmapViewOfSection(ZwCurrentProcess(), base), STATUS_NOT_MAPPED_VIEW);
    assert_null(IoCreateNotificationEvent(&name, NULL));
    assert_non_null(IoCreateNotificationEvent(&name, &event));
    for (unsigned i = 0; i < 2; i++) {
        HANDLE wrong = i ? event : none;
        NTSTATUS expected = i ? STATUS_OBJECT_TYPE_MISMATCH : STATUS_INVALID_HANDLE;

        assert_int_equal(ZwReadFile(wrong, NULL, NULL, NULL, &status, &view, 8, NULL, NULL),
                         expected);
        assert_int_equal(ZwQueryInformationFile(wrong, &status, &view, 8, FileStandardInformation),
                         expected);
        assert_int_equal(ZwSetInformationFile(wrong, &status, &view, 8, FileBasicInformation),
                         expected);
        assert_int_equal(ZwMapViewOfSection(wrong, ZwCurrentProcess(), &base, 0, 0, NULL, &view,
                                            ViewUnmap, 0, PAGE_READWRITE),
                         expected);
    }
    ZwClose(event);
    assert_null(handle);
    assert_int_equal(errors(), 0);
}

TEST_WITH(driver, there_are_no_files)
{
    use_files();
}

/* ---- device objects ---- */

static void use_devices(void)
{
    UNICODE_STRING name = unicode_text(L"\\Device\\Mine"), link = unicode_text(L"\\??\\Mine");

    assert_int_equal(IoCreateDevice(NULL, 0, &name, FILE_DEVICE_VIDEO, 0, FALSE, &object),
                     STATUS_NOT_SUPPORTED);
    assert_int_equal(IoCreateSymbolicLink(&link, &name), STATUS_SUCCESS);
    assert_int_equal(IoDeleteSymbolicLink(&link), STATUS_SUCCESS);
    assert_null(IoAttachDeviceToDeviceStack(&known, &known));
    assert_ptr_equal(IoGetAttachedDeviceReference(&known), &known);
    IoDetachDevice(&known);
    IoInvalidateDeviceRelations(&known, BusRelations);
    assert_int_equal(IoRegisterShutdownNotification(&known), STATUS_SUCCESS);
    IoUnregisterShutdownNotification(&known);
    assert_int_equal(IoConnectInterruptEx(NULL), STATUS_NOT_SUPPORTED);
    assert_int_equal(errors(), 0);
    IoDeleteDevice(&known);
    CHECK_RULE("NT-005/e", errors() == 1);
    IoDisconnectInterruptEx(NULL);
    CHECK_RULE("NT-005/c", errors() == 2);
    CHECK_RULE("NT-005/c", !KeSynchronizeExecution(NULL, NULL, NULL) && errors() == 3);
    CHECK_RULE("NT-005/c", KeAcquireInterruptSpinLock(NULL) == PASSIVE_LEVEL && errors() == 4);
    KeReleaseInterruptSpinLock(NULL, PASSIVE_LEVEL);
    CHECK_RULE("NT-005/c", errors() == 5);
}

TEST_WITH(driver, devices_and_interrupts_are_the_ports)
{
    use_devices();
}

static void use_at_a_high_level(void)
{
    UNICODE_STRING name = unicode_text(L"x");
    const LARGE_INTEGER size = {.QuadPart = 1};
    KIRQL old;
    size_t before = 0;

#define TELLS(call)                                   \
    (void)(call);                                     \
    CHECK_RULE("THREAD-009", errors() == before + 1); \
    before = errors()

    (void)size;
    KeRaiseIrql(APC_LEVEL, &old);
    TELLS(IoCreateDevice(NULL, 0, &name, 0, 0, FALSE, &object));
    TELLS(IoCreateSymbolicLink(&name, &name));
    TELLS(IoDeleteSymbolicLink(&name));
    TELLS(IoRegisterShutdownNotification(&known));
    TELLS((IoUnregisterShutdownNotification(&known), 0));
    TELLS(IoConnectInterruptEx(NULL));
    TELLS(IoSetDeviceInterfaceState(&name, TRUE));
    assert_non_null(MmLockPagableDataSection(&known));
    assert_non_null(MmPageEntireDriver(&known));
    MmUnlockPagableImageSection(&known);
    assert_true(errors() == before);
    KeLowerIrql(old);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    TELLS(MmLockPagableDataSection(&known));
    TELLS(MmPageEntireDriver(&known));
    TELLS((MmUnlockPagableImageSection(&known), 0));
    TELLS(MmSecureVirtualMemory((PVOID)0x10000, 1, PAGE_READWRITE));
    TELLS((MmUnsecureVirtualMemory(&known), 0));
    IoInvalidateDeviceRelations(&known, BusRelations);
    assert_true(errors() == before);
    KeLowerIrql(old);
    KeRaiseIrql(DISPATCH_LEVEL + 1, &old);
    TELLS((IoInvalidateDeviceRelations(&known, BusRelations), 0));
    KeLowerIrql(old);
}

TEST_WITH(driver, each_has_its_level)
{
    use_at_a_high_level();
}

TEST_WITH(driver, client_memory_is_secured)
{
    uint8_t *block = ExAllocatePoolWithTag(NonPagedPoolNx, 64, TAG);
    PVOID user = (PVOID)0x10000;

    assert_ptr_equal(MmSecureVirtualMemory(user, 16, PAGE_READWRITE), user);
    MmUnsecureVirtualMemory(user);
    assert_null(MmSecureVirtualMemory(user, 0, PAGE_READWRITE));
    assert_null(MmSecureVirtualMemory(block, 16, PAGE_READWRITE)); /* the kernel's */
    assert_int_equal(errors(), 0);
    MmUnsecureVirtualMemory(NULL);
    CHECK_RULE("NT-005/e", errors() == 1);
    ExFreePool(block);
}

/* ---- device interfaces ---- */

static const GUID class_guid = {
    0x5B45201D, 0xF2F2, 0x4F3B, {0x85, 0xBB, 0x30, 0xFF, 0x1F, 0x95, 0x35, 0x99}};

static void use_interfaces(void)
{
    static const WCHAR expected[] = L"\\??\\PCI#{5B45201D-F2F2-4F3B-85BB-30FF1F953599}";
    PZPWSTR list = NULL;
    UNICODE_STRING link = {0};

    nt_device_object_register(&known);
    assert_int_equal(IoRegisterDeviceInterface(&known, &class_guid, NULL, &link), STATUS_SUCCESS);
    assert_true(link.Length == sizeof(expected) - 2 && link.MaximumLength == sizeof(expected) &&
                memcmp(link.Buffer, expected, sizeof(expected)) == 0);
    assert_int_equal(IoSetDeviceInterfaceState(&link, TRUE), STATUS_SUCCESS);
    assert_int_equal(IoSetDeviceInterfaceState(&link, FALSE), STATUS_SUCCESS);
    RtlFreeUnicodeString(&link);
    assert_int_equal(IoSetDeviceInterfaceState(&link, TRUE), STATUS_OBJECT_NAME_NOT_FOUND);
    assert_int_equal(IoSetDeviceInterfaceState(NULL, TRUE), STATUS_OBJECT_NAME_NOT_FOUND);
    assert_int_equal(IoRegisterDeviceInterface(NULL, &class_guid, NULL, &link),
                     STATUS_INVALID_DEVICE_REQUEST);
    assert_int_equal(IoRegisterDeviceInterface(&known, NULL, NULL, &link),
                     STATUS_INVALID_DEVICE_REQUEST);
    assert_int_equal(IoRegisterDeviceInterface(&known, &class_guid, NULL, NULL),
                     STATUS_INVALID_DEVICE_REQUEST);
    assert_int_equal(IoGetDeviceInterfaces(&class_guid, NULL, 0, &list), STATUS_SUCCESS);
    assert_true(list && ((PWCHAR)list)[0] == 0 && ((PWCHAR)list)[1] == 0); /* an empty list */
    ExFreePool(list);
    assert_int_equal(IoGetDeviceInterfaces(&class_guid, NULL, 0, NULL),
                     STATUS_INVALID_DEVICE_REQUEST);
    nt_device_object_unregister(&known);
    assert_int_equal(errors(), 0);
}

TEST_WITH(machine, interfaces_have_a_link)
{
    run(use_interfaces);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

/* ---- the log ---- */

static void use_log(void)
{
    IO_ERROR_LOG_PACKET *entry = IoAllocateErrorLogEntry(&known, sizeof(*entry));
    PVOID other;

    assert_non_null(entry);
    assert_null(IoAllocateErrorLogEntry(&known, sizeof(*entry) - 1));
    entry->ErrorCode = (NTSTATUS)0xC0040001;
    entry->FinalStatus = STATUS_DEVICE_NOT_READY;
    IoWriteErrorLogEntry(entry);
    CHECK_RULE("NT-164/e", broken("NT-164") && errors() == 0); /* a note */
    entry = IoAllocateErrorLogEntry(&known, 200);
    assert_non_null(entry);
    IoFreeErrorLogEntry(entry);
    assert_int_equal(errors(), 0);
    IoFreeErrorLogEntry(entry);
    CHECK_RULE("NT-005/e", errors() == 1);
    other = ExAllocatePoolWithTag(NonPagedPoolNx, 64, TAG);
    IoWriteErrorLogEntry(other);
    CHECK_RULE("NT-005/e", errors() == 2);
    ExFreePool(other);
}

TEST_WITH(machine, log_entries_are_written_once)
{
    run(use_log);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}
