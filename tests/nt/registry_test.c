/* SPDX-License-Identifier: MIT */
/* The registry, and what is told of devices. */
#include "nt/cm/registry.h"
#include "nt/io/device_object.h"
#include "nt/io/image_life.h"
#include "nt/ps/process.h"
#include "support/harness.h"
#include "support/test_device.h"

#include <stdlib.h>

#define SERVICE L"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\probe"

static NTSTATUS open_at(HANDLE root, PCWSTR path, ULONG flags, ACCESS_MASK access, HANDLE *handle)
{
    UNICODE_STRING name = unicode_text(path);
    OBJECT_ATTRIBUTES attributes;

    InitializeObjectAttributes(&attributes, &name, flags, root, NULL);
    return ZwOpenKey(handle, access, &attributes);
}

static NTSTATUS create_at(HANDLE root, PCWSTR path, ACCESS_MASK access, ULONG options,
                          HANDLE *handle, ULONG *disposition)
{
    UNICODE_STRING name = unicode_text(path);
    OBJECT_ATTRIBUTES attributes;

    InitializeObjectAttributes(&attributes, &name, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, root,
                               NULL);
    return ZwCreateKey(handle, access, &attributes, 0, NULL, options, disposition);
}

static NTSTATUS set_value(HANDLE key, PCWSTR value, ULONG type, const void *data, ULONG bytes)
{
    UNICODE_STRING name = unicode_text(value);

    return ZwSetValueKey(key, &name, 0, type, (PVOID)(uintptr_t)data, bytes);
}

static NTSTATUS query_value(HANDLE key, PCWSTR value, KEY_VALUE_INFORMATION_CLASS class,
                            void *buffer, ULONG bytes, ULONG *length)
{
    UNICODE_STRING name = unicode_text(value);

    return ZwQueryValueKey(key, &name, class, buffer, bytes, length);
}

static void check_keys(void)
{
    HANDLE key, child, again;
    ULONG disposition;

    CHECK_RULE("NT-140/a", open_at(NULL, SERVICE, OBJ_CASE_INSENSITIVE, KEY_READ, &key) ==
                               STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK_RULE("NT-140/b",
               create_at(NULL, SERVICE, KEY_ALL_ACCESS, 0, &key, &disposition) == STATUS_SUCCESS &&
                   disposition == REG_CREATED_NEW_KEY);
    CHECK_RULE("NT-140/b", create_at(NULL, SERVICE, KEY_ALL_ACCESS, 0, &again, &disposition) ==
                                   STATUS_SUCCESS &&
                               disposition == REG_OPENED_EXISTING_KEY);
    ZwClose(again);
    CHECK_RULE("NT-140/c",
               create_at(key, L"Sub", KEY_ALL_ACCESS, 0, &child, &disposition) == STATUS_SUCCESS &&
                   disposition == REG_CREATED_NEW_KEY);
    CHECK_RULE("NT-140/d",
               open_at(key, L"sUB", OBJ_CASE_INSENSITIVE, KEY_READ, &again) == STATUS_SUCCESS);
    ZwClose(again);
    CHECK_RULE("NT-140/d",
               open_at(key, L"sUB", 0, KEY_READ, &again) == STATUS_OBJECT_NAME_NOT_FOUND);
    ZwClose(child);
    ZwClose(key);
    assert_int_equal(errors(), 0);
}

static void check_values(void)
{
    union {
        KEY_VALUE_PARTIAL_INFORMATION partial;
        KEY_VALUE_BASIC_INFORMATION basic;
        KEY_VALUE_FULL_INFORMATION full;
        uint64_t room[16];
    } buffer;
    ULONG length, data = 0xCAFE;
    HANDLE key, reader;

    create_at(NULL, SERVICE, KEY_ALL_ACCESS, 0, &key, NULL);
    assert_int_equal(set_value(key, L"Level", REG_DWORD, &data, sizeof(data)), STATUS_SUCCESS);
    CHECK_RULE("NT-142/a", query_value(key, L"None", KeyValuePartialInformation, &buffer,
                                       sizeof(buffer), &length) == STATUS_OBJECT_NAME_NOT_FOUND);
    length = 0;
    CHECK_RULE("NT-142/b", query_value(key, L"Level", KeyValuePartialInformation, NULL, 0,
                                       &length) == STATUS_BUFFER_TOO_SMALL &&
                               length == 16);
    length = 0;
    CHECK_RULE("NT-142/c", query_value(key, L"Level", KeyValuePartialInformation, &buffer, 12,
                                       &length) == STATUS_BUFFER_OVERFLOW &&
                               length == 16);
    CHECK_RULE("NT-142/d", query_value(key, L"level", KeyValuePartialInformation, &buffer,
                                       sizeof(buffer), &length) == STATUS_SUCCESS);
    CHECK_RULE("NT-143/a", buffer.partial.Type == REG_DWORD && buffer.partial.DataLength == 4 &&
                               memcmp(buffer.partial.Data, &data, 4) == 0);
    CHECK_RULE("NT-143/b", query_value(key, L"Level", KeyValueBasicInformation, &buffer,
                                       sizeof(buffer), &length) == STATUS_SUCCESS &&
                               buffer.basic.NameLength == 10);
    CHECK_RULE("NT-143/c", query_value(key, L"Level", KeyValueFullInformation, &buffer,
                                       sizeof(buffer), &length) == STATUS_SUCCESS &&
                               memcmp((uint8_t *)&buffer + buffer.full.DataOffset, &data, 4) == 0);
    CHECK_RULE("NT-143/d",
               query_value(key, L"Level", KeyValuePartialInformationAlign64, (uint8_t *)&buffer + 4,
                           64, &length) == STATUS_DATATYPE_MISALIGNMENT);
    CHECK_RULE("NT-143/e", query_value(key, L"Level", (KEY_VALUE_INFORMATION_CLASS)99, &buffer,
                                       sizeof(buffer), &length) == STATUS_INVALID_PARAMETER);

    data = 7;
    set_value(key, L"LEVEL", REG_DWORD, &data, sizeof(data));
    CHECK_RULE("NT-144/a", ZwEnumerateValueKey(key, 0, KeyValuePartialInformation, &buffer,
                                               sizeof(buffer), &length) == STATUS_SUCCESS &&
                               memcmp(buffer.partial.Data, &data, 4) == 0);
    CHECK_RULE("NT-144/b", ZwEnumerateValueKey(key, 1, KeyValuePartialInformation, &buffer,
                                               sizeof(buffer), &length) == STATUS_NO_MORE_ENTRIES);
    open_at(NULL, SERVICE, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, KEY_QUERY_VALUE, &reader);
    CHECK_RULE("NT-144/c",
               set_value(reader, L"Level", REG_DWORD, &data, sizeof(data)) == STATUS_ACCESS_DENIED);
    ZwClose(reader);
    open_at(NULL, SERVICE, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, KEY_SET_VALUE, &reader);
    CHECK_RULE("NT-142/e", query_value(reader, L"Level", KeyValuePartialInformation, &buffer,
                                       sizeof(buffer), &length) == STATUS_ACCESS_DENIED);
    ZwClose(reader);
    ZwClose(key);
    assert_int_equal(errors(), 0);
}

TEST_WITH(machine, keys_hold_values)
{
    run(check_keys);
    run(check_values);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

TEST_WITH(driver, services_check_their_arguments)
{
    UNICODE_STRING bad = unicode_text(L"name");
    OBJECT_ATTRIBUTES attributes;
    FAST_MUTEX mutex;
    HANDLE key;

    ExInitializeFastMutex(&mutex);
    ExAcquireFastMutex(&mutex);
    open_at(NULL, L"\\Registry\\Machine", OBJ_CASE_INSENSITIVE, KEY_READ, &key);
    ExReleaseFastMutex(&mutex);
    ZwClose(key);
    CHECK_RULE("NT-145/a", reported("NT-145", 0xC4, 0xE6));
    bad.Length = 3;
    InitializeObjectAttributes(&attributes, &bad, OBJ_KERNEL_HANDLE, NULL, NULL);
    ZwOpenKey(&key, KEY_READ, &attributes);
    CHECK_RULE("NT-145/b", reported("NT-145", 0xC4, 0xE4));
    CHECK_RULE("NT-145/c", !reported("NT-145", 0xC4, 0xE3));
    bad = unicode_text(L"name");
    bad.Buffer = (PWCH)(uintptr_t)0x1000;
    bad.Length = 0;
    ZwOpenKey(&key, KEY_READ, &attributes);
    CHECK_RULE("NT-145/c", reported("NT-145", 0xC4, 0xE3));
}

static void open_without_kernel_handle(void)
{
    HANDLE key;

    open_at(NULL, L"\\Registry\\Machine", OBJ_CASE_INSENSITIVE, KEY_READ, &key);
    CHECK_RULE("NT-141/a", broken("NT-141") && errors() == 0);
    ZwClose(key);
    forget_reports();
    open_at(NULL, L"\\Registry\\Machine", OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, KEY_READ, &key);
    CHECK_RULE("NT-141/b", !broken("NT-141"));
    ZwClose(key);
}

TEST_WITH(machine, client_context_needs_kernel_handles)
{
    struct nt_process *client = nt_process_create("client");

    run_client(client, open_without_kernel_handle);
    nt_process_destroy(client);
}

/* ---- what a key says of itself ---- */

static void query_keys(void)
{
    union {
        KEY_BASIC_INFORMATION basic;
        KEY_FULL_INFORMATION full;
        uint8_t room[128];
    } buffer;
    static const PCWSTR children[] = {L"One", L"Fourteen", L"Six"};
    const ULONG data[3] = {1, 2, 3}, fixed = offsetof(KEY_BASIC_INFORMATION, Name),
                full = offsetof(KEY_FULL_INFORMATION, Class);
    HANDLE key, child, reader;
    LONGLONG written;
    ULONG length;

    create_at(NULL, SERVICE, KEY_ALL_ACCESS, 0, &key, NULL);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_RULE("NT-140/c",
                   create_at(key, children[i], KEY_ALL_ACCESS, 0, &child, NULL) == STATUS_SUCCESS);
        ZwClose(child);
    }
    set_value(key, L"A", REG_BINARY, data, 12);
    set_value(key, L"Longer", REG_DWORD, data, 4);
    length = 0;
    CHECK_RULE("NT-144/d", ZwQueryKey(key, KeyBasicInformation, &buffer, sizeof(buffer), &length) ==
                                   STATUS_SUCCESS &&
                               length == fixed + 10 && buffer.basic.NameLength == 10);
    CHECK_RULE("NT-144/d", memcmp(buffer.basic.Name, L"probe", 10) == 0);
    written = buffer.basic.LastWriteTime.QuadPart;
    CHECK(buffer.basic.TitleIndex == 0 && written != 0);
    CHECK_RULE("NT-142/f", ZwQueryKey(key, KeyBasicInformation, &buffer, fixed - 1, &length) ==
                                   STATUS_BUFFER_TOO_SMALL &&
                               length == fixed + 10);
    memset(&buffer, 0x5A, sizeof(buffer));
    CHECK_RULE("NT-142/f", ZwQueryKey(key, KeyBasicInformation, &buffer, fixed + 8, &length) ==
                                   STATUS_BUFFER_OVERFLOW &&
                               length == fixed + 10 && buffer.basic.NameLength == 10 &&
                               buffer.room[fixed + 7] == 0 && buffer.room[fixed + 8] == 0x5A);
    CHECK_RULE("NT-142/f",
               ZwQueryKey(key, KeyFullInformation, NULL, 0, &length) == STATUS_BUFFER_TOO_SMALL &&
                   length == full);
    CHECK_RULE("NT-142/f", ZwQueryKey(key, KeyFullInformation, &buffer, full - 1, &length) ==
                               STATUS_BUFFER_TOO_SMALL);
    CHECK_RULE("NT-144/d",
               ZwQueryKey(key, KeyFullInformation, &buffer, full, &length) == STATUS_SUCCESS);
    CHECK_RULE("NT-144/d", buffer.full.SubKeys == 3 && buffer.full.MaxNameLen == 16 &&
                               buffer.full.Values == 2 && buffer.full.MaxValueNameLen == 12 &&
                               buffer.full.MaxValueDataLen == 12);
    CHECK(buffer.full.ClassLength == 0 && buffer.full.ClassOffset == 0xFFFFFFFF &&
          buffer.full.LastWriteTime.QuadPart == written);
    CHECK_RULE("NT-142/g", ZwQueryKey(key, (KEY_INFORMATION_CLASS)77, &buffer, sizeof(buffer),
                                      &length) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-142/g", ZwQueryKey(key, KeyFullInformation, &buffer, sizeof(buffer), NULL) ==
                               STATUS_INVALID_PARAMETER);
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("NT-144/e",
                   ZwEnumerateKey(key, i, KeyBasicInformation, &buffer, sizeof(buffer), &length) ==
                           STATUS_SUCCESS &&
                       memcmp(buffer.basic.Name, children[i], buffer.basic.NameLength) == 0);
    CHECK_RULE("NT-144/e", ZwEnumerateKey(key, 3, KeyBasicInformation, &buffer, sizeof(buffer),
                                          &length) == STATUS_NO_MORE_ENTRIES);
    CHECK_RULE("NT-144/g", ZwEnumerateKey(key, 0, KeyBasicInformation, &buffer, sizeof(buffer),
                                          NULL) == STATUS_INVALID_PARAMETER);
    open_at(NULL, SERVICE, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, KEY_SET_VALUE, &reader);
    CHECK_RULE("NT-144/c", ZwQueryKey(reader, KeyFullInformation, &buffer, sizeof(buffer),
                                      &length) == STATUS_ACCESS_DENIED);
    CHECK_RULE("NT-144/c", ZwEnumerateKey(reader, 0, KeyBasicInformation, &buffer, sizeof(buffer),
                                          &length) == STATUS_ACCESS_DENIED);
    CHECK(ZwFlushKey(reader) == STATUS_SUCCESS);
    ZwClose(reader);
    CHECK(ZwFlushKey(ZwCurrentThread()) == STATUS_INVALID_HANDLE);
    ZwClose(key);
    forget_reports();
}

static void delete_values(void)
{
    UNICODE_STRING name = unicode_text(L"Level"), none = unicode_text(L"None");
    ULONG data = 5, length;
    HANDLE key, reader;
    uint64_t room[8];

    create_at(NULL, SERVICE, KEY_ALL_ACCESS, 0, &key, NULL);
    set_value(key, L"Level", REG_DWORD, &data, 4);
    open_at(NULL, SERVICE, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, KEY_QUERY_VALUE, &reader);
    CHECK_RULE("NT-144/c", ZwDeleteValueKey(reader, &name) == STATUS_ACCESS_DENIED);
    ZwClose(reader);
    CHECK_RULE("NT-144/f", ZwDeleteValueKey(key, &none) == STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK_RULE("NT-144/g", ZwDeleteValueKey(key, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-144/f", ZwDeleteValueKey(key, &name) == STATUS_SUCCESS);
    CHECK_RULE("NT-144/f", ZwDeleteValueKey(key, &name) == STATUS_OBJECT_NAME_NOT_FOUND);
    set_value(key, L"Level", REG_DWORD, &data, 4);
    CHECK(RtlDeleteRegistryValue(RTL_REGISTRY_SERVICES, L"probe", L"None") ==
          STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(RtlDeleteRegistryValue(RTL_REGISTRY_SERVICES, L"nobody", L"Level") ==
          STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(RtlDeleteRegistryValue(RTL_REGISTRY_SERVICES, L"probe", L"Level") == STATUS_SUCCESS);
    CHECK(query_value(key, L"Level", KeyValuePartialInformation, room, sizeof(room), &length) ==
          STATUS_OBJECT_NAME_NOT_FOUND);
    ZwClose(key);
    CHECK(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, L"fresh") == STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(RtlCreateRegistryKey(RTL_REGISTRY_SERVICES, L"fresh") == STATUS_SUCCESS);
    CHECK(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, L"fresh") == STATUS_SUCCESS);
    CHECK(RtlCreateRegistryKey(RTL_REGISTRY_SERVICES, L"fresh") == STATUS_SUCCESS);
    forget_reports();
}

TEST_WITH(machine, keys_tell_what_they_hold)
{
    run(query_keys);
    run(delete_values);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

/* ---- tables ---- */

static NTSTATUS NTAPI note_value(PWSTR name, ULONG type, PVOID data, ULONG length, PVOID context,
                                 PVOID entry_context)
{
    (void)name;
    (void)context;
    assert_int_equal(type, REG_DWORD);
    assert_int_equal(length, 4);
    memcpy(entry_context, data, 4);
    return STATUS_SUCCESS;
}

static NTSTATUS query_table(PRTL_QUERY_REGISTRY_TABLE entry)
{
    RTL_QUERY_REGISTRY_TABLE table[2] = {*entry, {0}};

    return RtlQueryRegistryValues(RTL_REGISTRY_SERVICES, L"probe", table, NULL, NULL);
}

TEST_WITH(driver, tables_are_walked)
{
    ULONG value = 0, stored = 42, fallback = 9;
    RTL_QUERY_REGISTRY_TABLE entry = {
        .QueryRoutine = note_value, .Name = L"Size", .EntryContext = &value};

    RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, L"probe", L"Size", REG_DWORD, &stored, 4);
    RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, L"probe", L"Name", REG_SZ, L"abc", 8);
    CHECK_RULE("NT-146/a", query_table(&entry) == STATUS_SUCCESS && value == 42);
    entry.Name = L"Missing";
    entry.Flags = RTL_QUERY_REGISTRY_REQUIRED;
    CHECK_RULE("NT-146/b", query_table(&entry) == STATUS_OBJECT_NAME_NOT_FOUND);
    entry.Flags = 0;
    entry.DefaultType = REG_DWORD;
    entry.DefaultData = &fallback;
    entry.DefaultLength = 4;
    CHECK_RULE("NT-146/c", query_table(&entry) == STATUS_SUCCESS && value == 9);
    entry.QueryRoutine = NULL;
    entry.Flags = RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_TYPECHECK;
    entry.DefaultType = REG_DWORD << RTL_QUERY_REGISTRY_TYPECHECK_SHIFT | REG_DWORD;
    entry.Name = L"Size";
    CHECK_RULE("NT-146/d", query_table(&entry) == STATUS_SUCCESS && value == 42);
    entry.Name = L"Name";
    CHECK_RULE("NT-146/e", query_table(&entry) == STATUS_OBJECT_TYPE_MISMATCH);
    entry.Name = NULL;
    CHECK_RULE("NT-146/f", query_table(&entry) == STATUS_INVALID_PARAMETER);
    assert_int_equal(errors(), 0);
    entry.Name = L"Size";
    entry.Flags = RTL_QUERY_REGISTRY_DIRECT;
    query_table(&entry);
    CHECK_RULE("NT-147/a", verify_bugcheck_state(h.log)->code == 0x139);
    forget_reports();
    RtlQueryRegistryValues(RTL_REGISTRY_CONTROL, NULL, (RTL_QUERY_REGISTRY_TABLE[2]){entry, {0}},
                           NULL, NULL);
    CHECK_RULE("NT-147/b", broken("NT-147") && errors() == 0);
}

/* ---- saving ---- */

static void write_some(void)
{
    HANDLE key;

    create_at(NULL, SERVICE, KEY_ALL_ACCESS, 0, &key, NULL);
    set_value(key, L"Na\\me \"x\" \x263A", REG_BINARY, "\x00\x7F\xFF", 3);
    ZwClose(key);
    create_at(NULL, SERVICE L"\\Gone", KEY_ALL_ACCESS, REG_OPTION_VOLATILE, &key, NULL);
    ZwClose(key);
}

static void read_some(void)
{
    uint64_t buffer[8];
    KEY_VALUE_PARTIAL_INFORMATION *value = (void *)buffer;
    ULONG length;
    HANDLE key;

    assert_int_equal(open_at(NULL, SERVICE, OBJ_CASE_INSENSITIVE, KEY_READ, &key), STATUS_SUCCESS);
    CHECK_RULE("NT-151/b", query_value(key, L"Na\\me \"x\" \x263A", KeyValuePartialInformation,
                                       value, sizeof(buffer), &length) == STATUS_SUCCESS);
    CHECK_RULE("NT-151/b", value->Type == REG_BINARY && value->DataLength == 3 &&
                               memcmp(value->Data, "\x00\x7F\xFF", 3) == 0);
    ZwClose(key);
    CHECK_RULE("NT-151/c", open_at(NULL, SERVICE L"\\Gone", OBJ_CASE_INSENSITIVE, KEY_READ, &key) ==
                               STATUS_OBJECT_NAME_NOT_FOUND);
}

TEST_WITH(machine, the_registry_survives_in_a_file)
{
    char *saved = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&saved, &bytes);

    run(write_some);
    assert_true(nt_registry_save(file));
    fclose(file);
    harness_teardown();
    harness_boot(1, 2, NULL);
    file = fmemopen(saved, bytes, "r");
    assert_true(nt_registry_load(file));
    fclose(file);
    run(read_some);
    file = fmemopen("[Registry\n", 10, "r");
    assert_false(nt_registry_load(file));
    fclose(file);
    free(saved);
}

/* ---- devices ---- */

static DEVICE_OBJECT pdo, other;

static ULONG number(DEVICE_REGISTRY_PROPERTY property)
{
    ULONG value = 0, length;

    assert_int_equal(IoGetDeviceProperty(&pdo, property, sizeof(value), &value, &length),
                     STATUS_SUCCESS);
    return value;
}

static void check_properties(void)
{
    WCHAR ids[200];
    ULONG length, again;
    UNICODE_STRING id, wanted = unicode_text(L"PCI\\VEN_1234&DEV_5678&SUBSYS_11001AF4&REV_03");

    CHECK_RULE("NT-148/a", IoGetDeviceProperty(&pdo, DevicePropertyHardwareID, 0, NULL, &length) ==
                                   STATUS_BUFFER_TOO_SMALL &&
                               length > 0);
    CHECK_RULE("NT-148/b", IoGetDeviceProperty(&pdo, DevicePropertyHardwareID, sizeof(ids), ids,
                                               &again) == STATUS_SUCCESS &&
                               again == length);
    id = unicode_text(ids);
    CHECK_RULE("NT-149/a", RtlEqualUnicodeString(&id, &wanted, FALSE));
    CHECK_RULE("NT-148/c", IoGetDeviceProperty(&pdo, (DEVICE_REGISTRY_PROPERTY)99, 0, NULL,
                                               &length) == STATUS_INVALID_PARAMETER_2);
    CHECK_RULE("NT-148/d", IoGetDeviceProperty(&other, DevicePropertyHardwareID, 0, NULL,
                                               &length) == STATUS_INVALID_DEVICE_REQUEST);
    CHECK_RULE("NT-149/b", number(DevicePropertyBusNumber) == 3);
    CHECK_RULE("NT-149/c", number(DevicePropertyAddress) == 5u << 16);
    CHECK_RULE("NT-149/d", number(DevicePropertyLegacyBusType) == PCIBus);
    CHECK_RULE("NT-149/e", IoGetDeviceProperty(&pdo, DevicePropertyManufacturer, 0, NULL,
                                               &length) == STATUS_OBJECT_NAME_NOT_FOUND);
}

static void check_device_keys(void)
{
    HANDLE hardware, software;
    ULONG data = 1, length;
    uint64_t buffer[8];

    CHECK_RULE("NT-150/a", IoOpenDeviceRegistryKey(&pdo, PLUGPLAY_REGKEY_DEVICE, KEY_ALL_ACCESS,
                                                   &hardware) == STATUS_SUCCESS);
    CHECK_RULE("NT-150/a", IoOpenDeviceRegistryKey(&pdo, PLUGPLAY_REGKEY_DRIVER, KEY_ALL_ACCESS,
                                                   &software) == STATUS_SUCCESS);
    set_value(hardware, L"x", REG_DWORD, &data, 4);
    CHECK_RULE("NT-150/a", query_value(software, L"x", KeyValuePartialInformation, buffer,
                                       sizeof(buffer), &length) == STATUS_OBJECT_NAME_NOT_FOUND);
    ZwClose(hardware);
    CHECK_RULE("NT-150/b", IoOpenDeviceRegistryKey(&pdo, PLUGPLAY_REGKEY_DEVICE, KEY_READ,
                                                   &hardware) == STATUS_SUCCESS);
    CHECK_RULE("NT-150/b", query_value(hardware, L"x", KeyValuePartialInformation, buffer,
                                       sizeof(buffer), &length) == STATUS_SUCCESS);
    CHECK_RULE("NT-150/c", set_value(hardware, L"x", REG_DWORD, &data, 4) == STATUS_ACCESS_DENIED);
    ZwClose(hardware);
    ZwClose(software);
    CHECK_RULE("NT-150/d",
               IoOpenDeviceRegistryKey(&pdo, PLUGPLAY_REGKEY_DEVICE | PLUGPLAY_REGKEY_DRIVER,
                                       KEY_READ, &hardware) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-150/e", IoOpenDeviceRegistryKey(&other, PLUGPLAY_REGKEY_DEVICE, KEY_READ,
                                                   &hardware) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(machine, devices_have_properties_and_keys)
{
    struct nt_device_info info = {.bus = 3, .slot = 5};

    info.device = test_device_add(h.bus);
    assert_true(nt_device_object_register_physical(&pdo, &info));
    run(check_properties);
    run(check_device_keys);
    assert_int_equal(errors(), 0);
    nt_device_object_unregister(&pdo);
}
