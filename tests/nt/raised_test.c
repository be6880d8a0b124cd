/* SPDX-License-Identifier: MIT */
/* What services that need PASSIVE_LEVEL answer in a DPC, and that they leave alone what they would fill in. */
#include "nt/io/image_life.h"
#include "support/harness.h"

#include <ntifs.h>

#define REFUSES(rule, status, call)                                 \
    do {                                                            \
        forget_reports();                                           \
        CHECK((call) == (status) && broken(rule) && errors() == 1); \
    } while (0)
#define REFUSED STATUS_INVALID_DEVICE_REQUEST
/* Services without an answer. */
#define TELLS(rule, call) REFUSES(rule, 0, ((call), 0))

static union {
    uint8_t bytes[512];
    HANDLE handle;
    PVOID pointer;
    ULONG number;
    UNICODE_STRING string;
    ANSI_STRING ansi;
    GUID guid;
    RTL_OSVERSIONINFOEXW version;
    SECURITY_SUBJECT_CONTEXT subject;
    KAPC_STATE state;
    IO_STATUS_BLOCK status;
    CLIENT_ID client;
    OBJECT_HANDLE_INFORMATION information;
} out;
static PVOID second;
static DEVICE_OBJECT pdo;

static void mark(void)
{
    memset(&out, 0x5A, sizeof(out));
    second = &out;
}

static bool untouched(void)
{
    for (size_t i = 0; i < sizeof(out); i++)
        if (out.bytes[i] != 0x5A)
            return false;
    return second == &out;
}

/* ---- the library ---- */

static WCHAR letters[] = L"5";
static UNICODE_STRING text = {2, 4, letters};
static UNICODE_STRING allocated;
static ANSI_STRING narrow_allocated;

static void use_library(void)
{
    CHAR bytes[2] = "a";
    ANSI_STRING narrow = {1, 2, bytes};
    GUID guid = {0};

    mark();
    REFUSES("NT-155", REFUSED, RtlStringFromGUID(&guid, &out.string));
    REFUSES("NT-155", REFUSED, RtlGUIDFromString(&text, &out.guid));
    REFUSES("THREAD-009", REFUSED, ExUuidCreate(&out.guid));
    REFUSES("NT-157", REFUSED, RtlGetVersion((PRTL_OSVERSIONINFOW)(void *)&out.version));
    REFUSES("NT-157", REFUSED, RtlVerifyVersionInfo(&out.version, 1, 1));
    REFUSES("NT-155", REFUSED, RtlUpcaseUnicodeString(&out.string, &text, TRUE));
    REFUSES("NT-155", REFUSED, RtlUpcaseUnicodeString(&out.string, &text, FALSE));
    REFUSES("NT-155", REFUSED, RtlAnsiStringToUnicodeString(&out.string, &narrow, TRUE));
    REFUSES("NT-155", REFUSED, RtlUnicodeStringToAnsiString(&out.ansi, &text, TRUE));
    REFUSES("NT-155", REFUSED, RtlIntegerToUnicodeString(5, 10, &out.string));
    REFUSES("NT-155", REFUSED, RtlInt64ToUnicodeString(5, 10, &out.string));
    REFUSES("NT-155", REFUSED, RtlUnicodeStringToInteger(&text, 10, &out.number));
    CHECK(untouched());
    TELLS("NT-155", RtlFreeUnicodeString(&allocated));
    TELLS("NT-155", RtlFreeAnsiString(&narrow_allocated));
}

TEST_WITH(driver, the_library_is_refused_in_a_dpc)
{
    CHECK(RtlUpcaseUnicodeString(&allocated, &text, TRUE) == STATUS_SUCCESS);
    CHECK(RtlUnicodeStringToAnsiString(&narrow_allocated, &text, TRUE) == STATUS_SUCCESS);
    in_dpc(use_library);
    forget_reports();
    CHECK(nt_image_leak_check(h.image) == 2); /* the strings that were not freed */
    forget_reports();
}

/* ---- objects ---- */

static HANDLE event_handle;
static PVOID event;
static PVOID process;

static void use_objects(void)
{
    mark();
    REFUSES("NT-145", REFUSED, ZwClose(event_handle));
    REFUSES("NT-106", REFUSED, ObCloseHandle(event_handle, KernelMode));
    REFUSES("NT-103", STATUS_INVALID_PARAMETER,
            ObReferenceObjectByHandle(event_handle, 0, NULL, KernelMode, &out.pointer, NULL));
    REFUSES("NT-103", STATUS_INVALID_PARAMETER,
            ObOpenObjectByPointer(event, OBJ_KERNEL_HANDLE, NULL, 0, NULL, KernelMode, &out.handle));
    REFUSES("NT-145", REFUSED,
            ZwQueryObject(event_handle, ObjectTypeInformation, &out, sizeof(out), NULL));
    CHECK(untouched());
}

static void use_processes(void)
{
    mark();
    TELLS("NT-177", KeStackAttachProcess(process, &out.state));
    TELLS("NT-177", KeUnstackDetachProcess(&out.state));
    TELLS("NT-177", KeAttachProcess(process));
    TELLS("NT-177", KeDetachProcess());
    REFUSES("NT-107", STATUS_INVALID_PARAMETER,
            PsLookupProcessByProcessId(PsGetCurrentProcessId(), (PEPROCESS *)&out.pointer));
    REFUSES("THREAD-009", NULL, PsReferencePrimaryToken(process));
    TELLS("THREAD-009", PsDereferencePrimaryToken(process));
    TELLS("NT-183", SeCaptureSubjectContext(&out.subject));
    TELLS("NT-183", SeReleaseSubjectContext(&out.subject));
    REFUSES("NT-092", REFUSED,
            PsCreateSystemThread(&out.handle, 0, NULL, NULL, NULL, (PKSTART_ROUTINE)(void *)mark,
                                 NULL));
    REFUSES("NT-097", 0, KeSetPriorityThread(KeGetCurrentThread(), 9));
    CHECK(untouched());
    CHECK(IoGetCurrentProcess() == process && KeQueryPriorityThread(KeGetCurrentThread()) == 8);
}

static void check_access(void)
{
    static const uint8_t descriptor[20] = {1, 0, 4, 0x80};
    SECURITY_SUBJECT_CONTEXT subject = {.PrimaryToken = process};
    PPRIVILEGE_SET privileges = (PPRIVILEGE_SET)(void *)&out;
    ACCESS_MASK granted = 5;
    NTSTATUS status = STATUS_SUCCESS;

    REFUSES("NT-183", FALSE,
            SeAccessCheck((PVOID)(uintptr_t)descriptor, &subject, FALSE, 1, 2, &privileges, NULL,
                          KernelMode, &granted, &status));
    CHECK(granted == 0 && status == REFUSED && !privileges);
}

TEST_WITH(driver, objects_are_refused_in_a_dpc)
{
    LONG_PTR before;

    event = IoCreateSynchronizationEvent(NULL, &event_handle);
    process = IoGetCurrentProcess();
    before = ObReferenceObject(event);
    in_dpc(use_objects);
    in_dpc(use_processes);
    in_dpc(check_access);
    forget_reports();
    CHECK(ObReferenceObject(event) == before + 1);
    ObDereferenceObject(event);
    ObDereferenceObject(event);
    CHECK(ZwClose(event_handle) == STATUS_SUCCESS && errors() == 0);
}

/* ---- input and output ---- */

static NTSTATUS NTAPI on_setting(LPCGUID guid, PVOID value, ULONG length, PVOID context)
{
    (void)guid;
    (void)value;
    (void)length;
    (void)context;
    mark();
    return STATUS_SUCCESS;
}

static void use_files(void)
{
    OBJECT_ATTRIBUTES none = {0};
    UNICODE_STRING name = text;

    mark();
    REFUSES("NT-145", REFUSED,
            ZwCreateFile(&out.handle, 0, &none, &out.status, NULL, 0, 0, 0, 0, NULL, 0));
    REFUSES("NT-145", REFUSED, ZwOpenFile(&out.handle, 0, &none, &out.status, 0, 0));
    REFUSES("NT-145", REFUSED,
            ZwReadFile(event_handle, NULL, NULL, NULL, &out.status, &out, 8, NULL, NULL));
    REFUSES("NT-145", REFUSED,
            ZwWriteFile(event_handle, NULL, NULL, NULL, &out.status, &out, 8, NULL, NULL));
    REFUSES("NT-145", REFUSED,
            ZwQueryInformationFile(event_handle, &out.status, &out, 8, FileStandardInformation));
    REFUSES("NT-145", REFUSED,
            ZwSetInformationFile(event_handle, &out.status, &out, 8, FileBasicInformation));
    REFUSES("NT-145", REFUSED, ZwCreateSection(&out.handle, 0, NULL, NULL, 0, 0, NULL));
    REFUSES("NT-145", REFUSED,
            ZwMapViewOfSection(event_handle, ZwCurrentProcess(), &out.pointer, 0, 0, NULL, NULL,
                               ViewUnmap, 0, PAGE_READWRITE));
    REFUSES("NT-145", REFUSED, ZwUnmapViewOfSection(ZwCurrentProcess(), &out));
    REFUSES("NT-145", REFUSED, ZwLoadDriver(&name));
    REFUSES("NT-145", REFUSED, ZwQuerySystemInformation(0, &out, sizeof(out), &out.number));
    CHECK(untouched());
}

static void use_devices(void)
{
    static const GUID guid = {1, 2, 3, {4}};
    UNICODE_STRING name = text;

    mark();
    REFUSES("THREAD-009", REFUSED,
            IoCreateDevice(NULL, 0, &name, 0, 0, FALSE, (PDEVICE_OBJECT *)&out.pointer));
    REFUSES("THREAD-009", REFUSED, IoCreateSymbolicLink(&name, &name));
    REFUSES("THREAD-009", REFUSED, IoDeleteSymbolicLink(&name));
    REFUSES("THREAD-009", REFUSED, IoRegisterDeviceInterface(&pdo, &guid, NULL, &out.string));
    REFUSES("THREAD-009", REFUSED, IoSetDeviceInterfaceState(&name, TRUE));
    REFUSES("THREAD-009", REFUSED, IoGetDeviceInterfaces(&guid, NULL, 0, (PZPWSTR *)&out.pointer));
    REFUSES("THREAD-009", REFUSED, IoRegisterShutdownNotification(&pdo));
    REFUSES("THREAD-009", STATUS_NOT_SUPPORTED, IoConnectInterruptEx(NULL));
    REFUSES("THREAD-009", REFUSED,
            IoGetDeviceObjectPointer(&name, 0, (PFILE_OBJECT *)&out.pointer,
                                     (PDEVICE_OBJECT *)&second));
    REFUSES("THREAD-009", NULL,
            IoBuildDeviceIoControlRequest(0, &pdo, NULL, 0, NULL, 0, FALSE, NULL, &out.status));
    REFUSES("THREAD-009", NULL,
            IoBuildSynchronousFsdRequest(0, &pdo, NULL, 0, NULL, NULL, &out.status));
    REFUSES("NT-148", REFUSED,
            IoGetDeviceProperty(&pdo, DevicePropertyBusNumber, 4, &out, &out.number));
    REFUSES("NT-150", REFUSED,
            IoOpenDeviceRegistryKey(&pdo, PLUGPLAY_REGKEY_DEVICE, 0, &out.handle));
    REFUSES("NT-183", REFUSED, IoWMIRegistrationControl(&pdo, WMIREG_ACTION_REGISTER));
    REFUSES("NT-182", REFUSED,
            PoRegisterPowerSettingCallback(NULL, &guid, on_setting, NULL, &out.pointer));
    REFUSES("NT-182", REFUSED, PoUnregisterPowerSettingCallback(&out));
    REFUSES("NT-181", REFUSED, PoFxRegisterDevice(&pdo, NULL, (POHANDLE *)&out.pointer));
    TELLS("NT-181", PoFxUnregisterDevice((POHANDLE)(void *)&out));
    TELLS("NT-181", PoFxStartDevicePowerManagement((POHANDLE)(void *)&out));
    REFUSES("THREAD-009", NULL, MmGetPhysicalMemoryRanges());
    REFUSES("THREAD-009", NULL, MmLockPagableDataSection(&out));
    REFUSES("THREAD-009", NULL, MmSecureVirtualMemory((PVOID)0x20000, 1, 0));
    REFUSES("NT-159", NULL, MmGetSystemRoutineAddress(&name));
    CHECK(untouched());
}

TEST_WITH(driver, devices_are_refused_in_a_dpc)
{
    event = IoCreateSynchronizationEvent(NULL, &event_handle);
    in_dpc(use_files);
    in_dpc(use_devices);
    forget_reports();
    CHECK(ZwClose(event_handle) == STATUS_SUCCESS && errors() == 0);
    CHECK(nt_image_leak_check(h.image) == 0);
    CHECK(IoWMIRegistrationControl(&pdo, WMIREG_ACTION_DEREGISTER) == STATUS_INVALID_PARAMETER);
}

/* ---- what is allowed there, but not in an interrupt ---- */

static PIRP packet;
static PVOID entry;

static void use_packets(void)
{
    PIRP irp;
    PVOID log;

    forget_reports();
    irp = IoAllocateIrp(2, FALSE);
    CHECK(irp && broken("THREAD-009") && errors() == 1);
    TELLS("THREAD-009", IoFreeIrp(irp));
    REFUSES("THREAD-009", FALSE, IoCancelIrp(packet));
    IoGetNextIrpStackLocation(packet)->MajorFunction = IRP_MJ_READ;
    REFUSES("THREAD-009", STATUS_INVALID_DEVICE_REQUEST, IofCallDriver(&pdo, packet));
    IoReuseIrp(packet, STATUS_SUCCESS);
    IoSetNextIrpStackLocation(packet);
    TELLS("THREAD-009", IofCompleteRequest(packet, 0));
    REFUSES("THREAD-009", STATUS_INVALID_DEVICE_REQUEST, IoSynchronousCallDriver(&pdo, packet));
    forget_reports();
    log = IoAllocateErrorLogEntry(&pdo, 100);
    CHECK(log && broken("THREAD-009") && errors() == 1);
    TELLS("THREAD-009", IoFreeErrorLogEntry(log));
    forget_reports();
    IoWriteErrorLogEntry(entry);
    CHECK(broken("THREAD-009") && broken("NT-164"));
}

TEST_WITH(driver, packets_are_for_dispatch_level)
{
    packet = IoAllocateIrp(2, FALSE);
    entry = IoAllocateErrorLogEntry(&pdo, 100);
    in_interrupt(use_packets);
    forget_reports();
    IoFreeIrp(packet);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}
