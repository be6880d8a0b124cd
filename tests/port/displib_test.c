/* SPDX-License-Identifier: MIT */
/*
 * Registration as a Windows image does it: the sources of libdisplib.a, under other names, against \Device\DxgKrnl. And that
 * device object by itself.
 */
#include "port/support/probe.h"

#include <string.h>

#define DxgkInitialize                  displib_initialize
#define DxgkInitializeDisplayOnlyDriver displib_initialize_display_only
#define DxgkUnInitialize                displib_uninitialize
NTSTATUS NTAPI DxgkInitialize(PDRIVER_OBJECT object, PUNICODE_STRING path,
                              PDRIVER_INITIALIZATION_DATA data);
NTSTATUS NTAPI DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT object, PUNICODE_STRING path,
                                               PKMDDOD_INITIALIZATION_DATA data);
NTSTATUS NTAPI DxgkUnInitialize(PDRIVER_OBJECT object);
#include "../../displib/displib.c"
#undef DxgkInitialize
#undef DxgkInitializeDisplayOnlyDriver
#undef DxgkUnInitialize

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct {
    PDRIVER_OBJECT object;
    NTSTATUS status[8];
    NTSTATUS early, again;
} entry;

static void forget(void)
{
    memset(&entry, 0, sizeof(entry));
    registered_object = NULL;
    registered_unload = NULL;
}

/* ---- the library ---- */

static NTSTATUS register_by_library(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    entry.object = object;
    return displib_initialize(object, path, &p->table);
}

static void withdraw_body(struct probe *p)
{
    probe_remove(p, 0);
    CHECK(IS(displib_uninitialize(NULL), STATUS_INVALID_PARAMETER));
    CHECK(IS(displib_uninitialize(entry.object), STATUS_SUCCESS));
    CHECK_RULE("LIFE-182/b",
               !p->driver || IS(DxgkUnInitialize(entry.object), STATUS_INVALID_PARAMETER));
    CHECK(IS(displib_uninitialize(entry.object), STATUS_INVALID_PARAMETER));
}

TEST(a_driver_registers_by_the_library)
{
    struct probe *p = probe_create(NULL);

    forget();
    p->driver_entry = register_by_library;
    CHECK_RULE("LIFE-180", IS(probe_start(p), STATUS_SUCCESS) && p->adapters == 1 &&
                               probe_count(p, PROBE_StartDevice) == 1);
    CHECK(registered_object == entry.object && registered_unload);
    CHECK(probe_run(p, withdraw_body) == SIM_DONE);
    CHECK(probe_stop(p) == 0); /* no request packet and no file object is left */
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    probe_destroy(p);
}

static NTSTATUS register_a_bad_table(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    KMDDOD_INITIALIZATION_DATA display_only = {.Version = p->table.Version};

    entry.object = object;
    entry.status[0] = displib_initialize(NULL, path, &p->table);
    entry.status[1] = displib_initialize(object, NULL, &p->table);
    entry.status[2] = displib_initialize(object, path, NULL);
    entry.status[3] = displib_initialize_display_only(object, path, NULL);
    entry.status[4] = displib_initialize_display_only(object, path, &display_only);
    p->table.Version = 0x1234;
    entry.status[5] = displib_initialize(object, path, &p->table);
    entry.status[6] = displib_uninitialize(object);
    return entry.status[5];
}

TEST(what_the_port_driver_refuses_is_passed_on)
{
    const struct probe_options dark = {.port.no_displays = true};
    struct probe *p = probe_create(&dark);

    forget();
    p->driver_entry = register_a_bad_table;
    CHECK(IS(probe_start(p), STATUS_REVISION_MISMATCH));
    for (unsigned i = 0; i < 4; i++)
        CHECK(IS(entry.status[i], STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-181/a",
               IS(entry.status[4], STATUS_NOT_SUPPORTED)); /* LIFE-036: it was reached */
    CHECK(IS(entry.status[5], STATUS_REVISION_MISMATCH));
    CHECK(IS(entry.status[6], STATUS_INVALID_PARAMETER) && !registered_object);
    probe_destroy(p);
}

static NTSTATUS register_and_give_up(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    CHECK(IS(displib_initialize(object, path, &p->table), STATUS_SUCCESS));
    CHECK_RULE("LIFE-182/b", IS(displib_uninitialize(object), STATUS_SUCCESS) &&
                                 IS(DxgkUnInitialize(object), STATUS_INVALID_PARAMETER));
    return STATUS_SUCCESS;
}

TEST(a_driver_can_give_up_in_its_entry)
{
    struct probe *p = probe_create(NULL);

    forget();
    p->driver_entry = register_and_give_up;
    CHECK(IS(probe_start(p), STATUS_UNSUCCESSFUL));
    probe_destroy(p);
}

/* With the n-th request for memory failing: nothing is registered by halves, and nothing left. */
TEST(every_lack_of_memory_is_survived)
{
    struct probe *p;
    NTSTATUS status = STATUS_NO_MEMORY;
    uint64_t n;

    for (n = 1; !NT_SUCCESS(status) && n < 1000; n++) {
        p = probe_create(NULL);
        forget();
        p->driver_entry = register_by_library;
        util_heap_current->fail_at = util_heap_current->requests + n;
        status = probe_load(p);
        util_heap_current->fail_at = 0;
        CHECK(NT_SUCCESS(status) || IS(status, STATUS_NO_MEMORY) ||
              IS(status, STATUS_INSUFFICIENT_RESOURCES));
        CHECK(NT_SUCCESS(status) == (registered_object != NULL) || !NT_SUCCESS(status));
        CHECK(probe_reports(p, VERIFY_WARNING) == 0);
        probe_destroy(p);
    }
    CHECK(n > 4);
}

/* ---- the device object ---- */

static NTSTATUS request(PDEVICE_OBJECT device, ULONG code, BOOLEAN internal, PVOID output,
                        ULONG bytes)
{
    IO_STATUS_BLOCK result = {.Status = STATUS_PENDING};
    KEVENT done;
    NTSTATUS status;

    KeInitializeEvent(&done, NotificationEvent, FALSE);
    status = IoCallDriver(device, IoBuildDeviceIoControlRequest(code, device, NULL, 0, output,
                                                                bytes, internal, &done, &result));
    CHECK(KeReadStateEvent(&done) && result.Status == status);
    return status;
}

static NTSTATUS look_closely(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    PVOID routine = NULL, display_only = NULL, untouched = &untouched;
    PDEVICE_OBJECT device = NULL, again = NULL;
    PFILE_OBJECT file = NULL, other = NULL;
    UNICODE_STRING name;

    RtlInitUnicodeString(&name, L"\\device\\DXGKRNL");
    CHECK_RULE("LIFE-179", IS(IoGetDeviceObjectPointer(&name, FILE_ALL_ACCESS, &file, &device),
                              STATUS_SUCCESS) &&
                               device->DriverObject && device->DriverObject != object);
    CHECK(device->Type == 3 && device->Size == sizeof(DEVICE_OBJECT) && device->StackSize == 1 &&
          device->DeviceType == FILE_DEVICE_VIDEO && device->DriverObject->DeviceObject == device &&
          device->DriverObject->Type == 4 && device->DriverObject->Size == sizeof(DRIVER_OBJECT));
    CHECK_RULE("NT-170/a",
               file && IoGetRelatedDeviceObject(file) == device &&
                   IS(IoGetDeviceObjectPointer(&name, 0, &other, &again), STATUS_SUCCESS) &&
                   again == device && other != file);
    ObDereferenceObject(other);

    CHECK_RULE("LIFE-180",
               IS(request(device, 0x23003F, TRUE, &routine, sizeof(routine)), STATUS_SUCCESS) &&
                   routine == (PVOID)(uintptr_t)DxgkInitialize);
    CHECK_RULE("LIFE-181/a", IS(request(device, 0x230047, TRUE, &display_only, 8), STATUS_SUCCESS) &&
                                 display_only == (PVOID)(uintptr_t)DxgkInitializeDisplayOnlyDriver);
    CHECK_RULE("LIFE-181/b",
               IS(request(device, 0x23003F, TRUE, &untouched, 7), STATUS_BUFFER_TOO_SMALL));
    CHECK_RULE("LIFE-181/c", IS(request(device, 0x23003F, TRUE, NULL, 8), STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-181/d", IS(request(device, 0x23003F, TRUE, (PVOID)(uintptr_t)0x10, 8),
                                STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-181/e",
               IS(request(device, 0x23013F, TRUE, &untouched, 8), STATUS_INVALID_DEVICE_REQUEST) &&
                   untouched == &untouched);
    CHECK_RULE("LIFE-179",
               IS(request(device, 0x23003F, FALSE, &untouched, 8), STATUS_INVALID_DEVICE_REQUEST) &&
                   untouched == &untouched);
    entry.status[0] = ((REGISTER_ROUTINE)(uintptr_t)routine)(object, path, &p->table);
    /* `file` is not given back: see below. */
    return entry.status[0];
}

TEST(the_device_object_answers)
{
    struct probe *p = probe_create(NULL);

    forget();
    p->driver_entry = look_closely;
    CHECK_RULE("LIFE-180", IS(probe_start(p), STATUS_SUCCESS));
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    CHECK_RULE("NT-170/b", probe_stop(p) == 1 && probe_rule(p, "NT-170") == 1);
    probe_destroy(p);
}

static NTSTATUS look_for_nothing(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    WCHAR long_text[80];
    PDEVICE_OBJECT device = NULL;
    PFILE_OBJECT file = NULL;
    UNICODE_STRING name;
    KIRQL before;

    (void)p;
    (void)path;
    for (unsigned i = 0; i < 80; i++)
        long_text[i] = 'x';
    RtlInitUnicodeString(&name, L"\\Device\\DxgKrnl2");
    CHECK_RULE("NT-170/c", IS(IoGetDeviceObjectPointer(&name, 0, &file, &device),
                              STATUS_OBJECT_NAME_NOT_FOUND));
    name = (UNICODE_STRING){160, 160, long_text};
    CHECK(IS(IoGetDeviceObjectPointer(&name, 0, &file, &device), STATUS_OBJECT_NAME_NOT_FOUND));
    name = (UNICODE_STRING){30, 30, (PWSTR)(uintptr_t)0x10};
    CHECK(IS(IoGetDeviceObjectPointer(&name, 0, &file, &device), STATUS_OBJECT_NAME_NOT_FOUND));
    CHECK(IS(IoGetDeviceObjectPointer(NULL, 0, &file, &device), STATUS_INVALID_PARAMETER));
    CHECK(!IoGetRelatedDeviceObject((PFILE_OBJECT)(PVOID)object));
    RtlInitUnicodeString(&name,
                         L"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\DXGKrnl");
    CHECK(IS(ZwLoadDriver(&name), STATUS_OBJECT_NAME_NOT_FOUND));
    CHECK(!file && !device && probe_reports(p, VERIFY_WARNING) == 0);
    RtlInitUnicodeString(&name, L"\\Device\\DxgKrnl");
    KeRaiseIrql(APC_LEVEL, &before);
    (void)IoGetDeviceObjectPointer(&name, 0, &file, &device);
    CHECK_RULE("NT-170/d", probe_rule(p, "THREAD-009") == 1);
    KeLowerIrql(before);
    if (file)
        ObDereferenceObject(file);
    return STATUS_NOT_SUPPORTED;
}

TEST(nothing_else_is_found)
{
    struct probe *p = probe_create(NULL);

    p->driver_entry = look_for_nothing;
    CHECK(IS(probe_start(p), STATUS_NOT_SUPPORTED));
    probe_destroy(p);
}

static NTSTATUS keep(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    entry.object = object;
    return DxgkInitialize(object, path, &p->table);
}

static void unload_body(struct probe *p)
{
    entry.object->DriverUnload(entry.object);
    CHECK_RULE("LIFE-182/a", IS(DxgkUnInitialize(entry.object), STATUS_DEVICE_BUSY));
    probe_remove(p, 0);
    entry.object->DriverUnload(entry.object);
    CHECK_RULE("LIFE-182/b", IS(DxgkUnInitialize(entry.object), STATUS_INVALID_PARAMETER));
}

TEST(the_unload_routine_withdraws)
{
    struct probe *p = probe_create(NULL);

    forget();
    p->driver_entry = keep;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK(probe_run(p, unload_body) == SIM_DONE);
    probe_destroy(p);
}
