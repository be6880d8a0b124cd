/* SPDX-License-Identifier: MIT */
/* Registry services by path: where the key is, handles for it, and levels. */
#include "nt/cm/registry.h"
#include "support/harness.h"

#define SERVICE "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\probe"
#define DIRECT  (RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_TYPECHECK)

static NTSTATUS query(ULONG relative, PCWSTR path, const RTL_QUERY_REGISTRY_TABLE *entries,
                      unsigned count, void *context)
{
    RTL_QUERY_REGISTRY_TABLE table[8] = {0};

    memcpy(table, entries, count * sizeof(table[0]));
    return RtlQueryRegistryValues(relative, path, table, context, NULL);
}

static NTSTATUS set(PCWSTR path, PCWSTR name, ULONG type, const void *data, ULONG bytes)
{
    return RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, path, name, type, (PVOID)(uintptr_t)data,
                                 bytes);
}

/* The same value, to be found in one place of the tree alone. */
static bool is_there(const char *path, const char *name, ULONG type, const void *data, ULONG bytes)
{
    uint32_t found_type = 0, found_bytes = 0;
    const void *found = nt_registry_get(path, name, &found_type, &found_bytes);

    return found && found_type == type && found_bytes == bytes && memcmp(found, data, bytes) == 0;
}

static unsigned called;
static bool was_one;

static NTSTATUS NTAPI note(PWSTR name, ULONG type, PVOID data, ULONG bytes, PVOID context,
                           PVOID entry)
{
    (void)name;
    (void)context;
    (void)entry;
    called++;
    was_one = type == REG_DWORD && bytes == 4 && *(ULONG *)data == 1;
    return STATUS_SUCCESS;
}

/* ---- where the key is ---- */

#define MACHINE "\\Registry\\Machine\\"

TEST_WITH(driver, paths_are_relative_to_known_keys)
{
    static const struct {
        ULONG relative;
        PCWSTR path;
        const char *place;
    } kinds[] = {
        {RTL_REGISTRY_ABSOLUTE, L"\\Registry\\Machine\\Software\\here", MACHINE "Software\\here"},
        {RTL_REGISTRY_SERVICES, L"here", MACHINE "System\\CurrentControlSet\\Services\\here"},
        {RTL_REGISTRY_CONTROL, L"here", MACHINE "System\\CurrentControlSet\\Control\\here"},
        {RTL_REGISTRY_WINDOWS_NT, L"here",
         MACHINE "Software\\Microsoft\\Windows NT\\CurrentVersion\\here"},
        {RTL_REGISTRY_DEVICEMAP, L"here", MACHINE "Hardware\\DeviceMap\\here"},
        {RTL_REGISTRY_USER, L"here", "\\Registry\\User\\.Default\\here"},
    };
    ULONG data;

    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        data = 100 + i;
        CHECK(RtlCheckRegistryKey(kinds[i].relative, (PWSTR)(uintptr_t)kinds[i].path) ==
              STATUS_OBJECT_NAME_NOT_FOUND);
        CHECK(RtlWriteRegistryValue(kinds[i].relative, kinds[i].path, L"Kind", REG_DWORD, &data,
                                    4) == STATUS_SUCCESS);
        CHECK(is_there(kinds[i].place, "Kind", REG_DWORD, &data, 4));
        CHECK(RtlCheckRegistryKey(kinds[i].relative, (PWSTR)(uintptr_t)kinds[i].path) ==
              STATUS_SUCCESS);
    }
    CHECK(RtlCheckRegistryKey(RTL_REGISTRY_USER + 1, (PWSTR)L"here") == STATUS_INVALID_PARAMETER);
    CHECK(RtlCreateRegistryKey(RTL_REGISTRY_USER + 1, (PWSTR)L"here") == STATUS_INVALID_PARAMETER);
    CHECK(RtlWriteRegistryValue(RTL_REGISTRY_USER + 1, L"here", L"Kind", REG_DWORD, &data, 4) ==
          STATUS_INVALID_PARAMETER);
    CHECK(RtlDeleteRegistryValue(RTL_REGISTRY_USER + 1, L"here", L"Kind") ==
          STATUS_INVALID_PARAMETER);
    /* Not from the root; no path. */
    CHECK(RtlCheckRegistryKey(RTL_REGISTRY_ABSOLUTE, (PWSTR)L"Registry") ==
          STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(RtlCheckRegistryKey(RTL_REGISTRY_ABSOLUTE, (PWSTR)L"\\Machine") ==
          STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(RtlCreateRegistryKey(RTL_REGISTRY_ABSOLUTE, NULL) == STATUS_INSUFFICIENT_RESOURCES);
    CHECK(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, NULL) == STATUS_SUCCESS);
    CHECK(errors() == 0);
}

TEST_WITH(driver, an_optional_key_may_be_missing)
{
    ULONG one = 1;
    RTL_QUERY_REGISTRY_TABLE entry = {
        .QueryRoutine = note, .Name = (PWSTR)L"Value", .Flags = RTL_QUERY_REGISTRY_REQUIRED};

    called = 0;
    CHECK(query(RTL_REGISTRY_SERVICES, L"none", &entry, 1, NULL) == STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(query(RTL_REGISTRY_SERVICES | RTL_REGISTRY_OPTIONAL, L"none", &entry, 1, NULL) ==
              STATUS_SUCCESS &&
          called == 0);
    CHECK(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, (PWSTR)L"none") ==
          STATUS_OBJECT_NAME_NOT_FOUND);
    set(L"probe", L"Value", REG_DWORD, &one, 4);
    CHECK(query(RTL_REGISTRY_SERVICES | RTL_REGISTRY_OPTIONAL, L"probe", &entry, 1, NULL) ==
              STATUS_SUCCESS &&
          called == 1 && was_one);
    CHECK(errors() == 0);
}

TEST_WITH(driver, a_handle_stands_for_a_path)
{
    ULONG one = 1;
    RTL_QUERY_REGISTRY_TABLE entry = {
        .QueryRoutine = note, .Name = (PWSTR)L"Value", .Flags = RTL_QUERY_REGISTRY_REQUIRED};
    UNICODE_STRING name = unicode_text(
        L"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\probe");
    OBJECT_ATTRIBUTES attributes;
    HANDLE key;

    set(L"probe", L"Value", REG_DWORD, &one, 4);
    InitializeObjectAttributes(&attributes, &name, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, NULL,
                               NULL);
    CHECK(ZwOpenKey(&key, KEY_ALL_ACCESS, &attributes) == STATUS_SUCCESS);
    called = 0;
    CHECK(query(RTL_REGISTRY_HANDLE, key, &entry, 1, NULL) == STATUS_SUCCESS && called == 1 &&
          was_one);
    one = 2;
    CHECK(RtlWriteRegistryValue(RTL_REGISTRY_HANDLE, key, L"Value", REG_DWORD, &one, 4) ==
          STATUS_SUCCESS);
    CHECK(is_there(SERVICE, "Value", REG_DWORD, &one, 4));
    CHECK(RtlDeleteRegistryValue(RTL_REGISTRY_HANDLE, key, L"Value") == STATUS_SUCCESS);
    CHECK(!is_there(SERVICE, "Value", REG_DWORD, &one, 4));
    CHECK(RtlDeleteRegistryValue(RTL_REGISTRY_HANDLE, key, L"Value") ==
          STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(RtlCheckRegistryKey(RTL_REGISTRY_HANDLE, key) == STATUS_SUCCESS);
    CHECK(ZwDeleteKey(key) == STATUS_SUCCESS);
    CHECK(RtlCheckRegistryKey(RTL_REGISTRY_HANDLE, key) == STATUS_KEY_DELETED);
    CHECK(RtlWriteRegistryValue(RTL_REGISTRY_HANDLE, key, L"Value", REG_DWORD, &one, 4) ==
          STATUS_KEY_DELETED);
    ZwClose(key);
    CHECK(errors() == 0);
    CHECK(RtlCheckRegistryKey(RTL_REGISTRY_HANDLE, (PWSTR)(uintptr_t)0x12344) ==
          STATUS_INVALID_HANDLE);
}

/* ---- levels ---- */

TEST_WITH(driver, tables_and_changes_are_for_passive_level)
{
    ULONG one = 1;
    RTL_QUERY_REGISTRY_TABLE table[2] = {{.QueryRoutine = note, .Name = (PWSTR)L"Value"}, {0}};
    KIRQL old;

    set(L"probe", L"Value", REG_DWORD, &one, 4);
    called = 0;
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK(RtlQueryRegistryValues(RTL_REGISTRY_SERVICES, L"probe", table, NULL, NULL) ==
              STATUS_INVALID_DEVICE_REQUEST &&
          called == 0);
    CHECK(RtlWriteRegistryValue(RTL_REGISTRY_SERVICES, L"probe", L"Other", REG_DWORD, &one, 4) ==
          STATUS_INVALID_DEVICE_REQUEST);
    CHECK(RtlDeleteRegistryValue(RTL_REGISTRY_SERVICES, L"probe", L"Value") ==
          STATUS_INVALID_DEVICE_REQUEST);
    CHECK(RtlCreateRegistryKey(RTL_REGISTRY_SERVICES, (PWSTR)L"new") ==
          STATUS_INVALID_DEVICE_REQUEST);
    CHECK(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, (PWSTR)L"probe") ==
          STATUS_INVALID_DEVICE_REQUEST);
    KeLowerIrql(old);
    CHECK(errors() == 5);
    CHECK(is_there(SERVICE, "Value", REG_DWORD, &one, 4) &&
          !is_there(SERVICE, "Other", REG_DWORD, &one, 4));
    CHECK(RtlCheckRegistryKey(RTL_REGISTRY_SERVICES, (PWSTR)L"new") == STATUS_OBJECT_NAME_NOT_FOUND);
}
