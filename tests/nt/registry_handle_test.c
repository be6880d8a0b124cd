/* SPDX-License-Identifier: MIT */
/* Keys by handle: what opening, querying and changing them refuses, and how much of an answer fits. */
#include "nt/cm/registry.h"
#include "support/harness.h"

#define SERVICE  L"\\Registry\\Machine\\System\\CurrentControlSet\\Services\\probe"
#define ASCII    "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\probe"
#define ANY_CASE (OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE)

static NTSTATUS open_at(HANDLE root, PCWSTR path, ACCESS_MASK access, HANDLE *handle)
{
    UNICODE_STRING name = unicode_text(path);
    OBJECT_ATTRIBUTES attributes;

    InitializeObjectAttributes(&attributes, &name, ANY_CASE, root, NULL);
    return ZwOpenKey(handle, access, &attributes);
}

static NTSTATUS create_at(HANDLE root, PCWSTR path, HANDLE *handle, ULONG *disposition)
{
    UNICODE_STRING name = unicode_text(path);
    OBJECT_ATTRIBUTES attributes;

    InitializeObjectAttributes(&attributes, &name, ANY_CASE, root, NULL);
    return ZwCreateKey(handle, KEY_ALL_ACCESS, &attributes, 0, NULL, 0, disposition);
}

static NTSTATUS set(HANDLE key, PCWSTR value, ULONG type, const void *data, ULONG bytes)
{
    UNICODE_STRING name = unicode_text(value);

    return ZwSetValueKey(key, &name, 0, type, (PVOID)(uintptr_t)data, bytes);
}

static uint8_t answer[96] __attribute__((aligned(16)));
static ULONG needed;

static NTSTATUS query(HANDLE key, PCWSTR value, KEY_VALUE_INFORMATION_CLASS class, ULONG room)
{
    UNICODE_STRING name = unicode_text(value);

    memset(answer, 0x5A, sizeof(answer));
    needed = 0;
    return ZwQueryValueKey(key, &name, class, answer, room, &needed);
}

/* ---- opening ---- */

TEST_WITH(driver, paths_of_keys_are_checked)
{
    HANDLE key, other = (HANDLE)(uintptr_t)77;
    ULONG disposition = 99;

    CHECK(create_at(NULL, SERVICE, &key, NULL) == STATUS_SUCCESS);
    CHECK(open_at(NULL, L"Registry\\Machine", KEY_READ, &other) == STATUS_OBJECT_PATH_SYNTAX_BAD);
    CHECK(open_at(NULL, L"", KEY_READ, &other) == STATUS_OBJECT_PATH_SYNTAX_BAD);
    CHECK(open_at(key, L"\\Sub", KEY_READ, &other) == STATUS_OBJECT_PATH_SYNTAX_BAD);
    CHECK(open_at(NULL, L"\\Machine", KEY_READ, &other) == STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(open_at(NULL, L"\\Registr", KEY_READ, &other) == STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(open_at((HANDLE)(uintptr_t)0x12344, L"Sub", KEY_READ, &other) == STATUS_INVALID_HANDLE);
    CHECK(create_at(NULL, L"Machine", &other, &disposition) == STATUS_OBJECT_PATH_SYNTAX_BAD);
    CHECK(other == (HANDLE)(uintptr_t)77 && disposition == 99);

    /* Empty parts are none; the empty path is the key itself. */
    CHECK(open_at(NULL, L"\\registry", KEY_READ, &other) == STATUS_SUCCESS);
    ZwClose(other);
    CHECK(create_at(key, L"Sub\\\\Deep\\", &other, &disposition) == STATUS_SUCCESS &&
          disposition == REG_CREATED_NEW_KEY);
    ZwClose(other);
    CHECK(create_at(key, L"sub\\deep", &other, &disposition) == STATUS_SUCCESS &&
          disposition == REG_OPENED_EXISTING_KEY);
    ZwClose(other);
    CHECK(open_at(key, L"", KEY_READ, &other) == STATUS_SUCCESS);
    CHECK(ZwQueryKey(other, KeyBasicInformation, answer, sizeof(answer), &needed) == STATUS_SUCCESS);
    CHECK(memcmp(((KEY_BASIC_INFORMATION *)(void *)answer)->Name, L"probe", 10) == 0);
    ZwClose(other);
    ZwClose(key);
}

TEST_WITH(driver, attributes_of_keys_are_checked)
{
    UNICODE_STRING name = unicode_text(SERVICE);
    OBJECT_ATTRIBUTES attributes;
    HANDLE key = NULL;

    InitializeObjectAttributes(&attributes, &name, ANY_CASE, NULL, NULL);
    CHECK(ZwCreateKey(NULL, KEY_READ, &attributes, 0, NULL, 0, NULL) == STATUS_INVALID_PARAMETER);
    CHECK(ZwCreateKey(&key, KEY_READ, NULL, 0, NULL, 0, NULL) == STATUS_INVALID_PARAMETER);
    attributes.Length++;
    CHECK(ZwCreateKey(&key, KEY_READ, &attributes, 0, NULL, 0, NULL) == STATUS_INVALID_PARAMETER);
    attributes.Length--;
    CHECK(errors() == 0 && !key);
    attributes.ObjectName = NULL;
    CHECK(ZwOpenKey(&key, KEY_READ, &attributes) == STATUS_OBJECT_NAME_INVALID);
    CHECK_RULE("NT-145/b", reported("NT-145", 0xC4, 0xE4));
    forget_reports();
    attributes.ObjectName = &name;
    name.MaximumLength = (USHORT)(name.Length - 2);
    CHECK(ZwOpenKey(&key, KEY_READ, &attributes) == STATUS_OBJECT_NAME_INVALID);
    CHECK_RULE("NT-145/b", reported("NT-145", 0xC4, 0xE4));
    forget_reports();
    name.MaximumLength = name.Length; /* enough */
    CHECK(ZwOpenKey(&key, KEY_READ, &attributes) == STATUS_OBJECT_NAME_NOT_FOUND && errors() == 0);
    name.Buffer = NULL;
    CHECK(ZwOpenKey(&key, KEY_READ, &attributes) == STATUS_OBJECT_NAME_INVALID);
    CHECK_RULE("NT-145/b", reported("NT-145", 0xC4, 0xE4));
    forget_reports();
    name.Length = 0;
    CHECK(ZwOpenKey(&key, KEY_READ, &attributes) == STATUS_OBJECT_PATH_SYNTAX_BAD);
    CHECK(errors() == 0 && !key);
}

TEST_WITH(driver, generic_rights_are_those_of_keys)
{
    static const struct {
        ACCESS_MASK asked;
        bool query, set, delete;
    } rights[] = {
        {0, false, false, false},
        {GENERIC_READ, true, false, false},
        {GENERIC_WRITE, false, true, false},
        {GENERIC_READ | GENERIC_WRITE, true, true, false},
        {GENERIC_ALL, true, true, true},
        {MAXIMUM_ALLOWED, true, true, true},
        {KEY_QUERY_VALUE, true, false, false},
        {DELETE, false, false, true},
    };
    HANDLE key;
    ULONG one = 1;

    for (unsigned i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
        create_at(NULL, SERVICE, &key, NULL);
        set(key, L"Value", REG_DWORD, &one, 4);
        ZwClose(key);
        CHECK(open_at(NULL, SERVICE, rights[i].asked, &key) == STATUS_SUCCESS);
        CHECK(query(key, L"Value", KeyValuePartialInformation, sizeof(answer)) ==
              (rights[i].query ? STATUS_SUCCESS : STATUS_ACCESS_DENIED));
        CHECK(ZwEnumerateValueKey(key, 0, KeyValuePartialInformation, answer, sizeof(answer),
                                  &needed) ==
              (rights[i].query ? STATUS_SUCCESS : STATUS_ACCESS_DENIED));
        CHECK(set(key, L"Value", REG_DWORD, &one, 4) ==
              (rights[i].set ? STATUS_SUCCESS : STATUS_ACCESS_DENIED));
        CHECK(ZwFlushKey(key) == STATUS_SUCCESS);
        CHECK(ZwDeleteKey(key) == (rights[i].delete ? STATUS_SUCCESS : STATUS_ACCESS_DENIED));
        ZwClose(key);
    }
    CHECK(errors() == 0);
}

/* ---- deletion ---- */

TEST_WITH(driver, deleted_keys_are_gone_for_their_handles)
{
    UNICODE_STRING name = unicode_text(L"Value");
    HANDLE key, child, root;
    ULONG one = 1, disposition;

    create_at(NULL, SERVICE, &key, NULL);
    create_at(key, L"Sub", &child, NULL);
    set(key, L"Value", REG_DWORD, &one, 4);
    CHECK(ZwDeleteKey(key) == STATUS_CANNOT_DELETE);
    CHECK(query(key, L"Value", KeyValuePartialInformation, sizeof(answer)) == STATUS_SUCCESS);
    CHECK(ZwDeleteKey(child) == STATUS_SUCCESS);
    CHECK(ZwDeleteKey(child) == STATUS_KEY_DELETED);
    CHECK(ZwDeleteKey(key) == STATUS_SUCCESS);
    CHECK(query(key, L"Value", KeyValuePartialInformation, sizeof(answer)) == STATUS_KEY_DELETED);
    CHECK(set(key, L"Value", REG_DWORD, &one, 4) == STATUS_KEY_DELETED);
    CHECK(ZwDeleteValueKey(key, &name) == STATUS_KEY_DELETED);
    CHECK(ZwEnumerateValueKey(key, 0, KeyValuePartialInformation, answer, sizeof(answer),
                              &needed) == STATUS_KEY_DELETED);
    CHECK(ZwEnumerateKey(key, 0, KeyBasicInformation, answer, sizeof(answer), &needed) ==
          STATUS_KEY_DELETED);
    CHECK(ZwQueryKey(key, KeyBasicInformation, answer, sizeof(answer), &needed) ==
          STATUS_KEY_DELETED);
    CHECK(ZwFlushKey(key) == STATUS_KEY_DELETED);
    CHECK(open_at(key, L"Sub", KEY_READ, &root) == STATUS_KEY_DELETED);
    ZwClose(child);
    ZwClose(key);
    CHECK(open_at(NULL, SERVICE, KEY_READ, &key) == STATUS_OBJECT_NAME_NOT_FOUND);
    CHECK(create_at(NULL, SERVICE, &key, &disposition) == STATUS_SUCCESS &&
          disposition == REG_CREATED_NEW_KEY);
    CHECK(query(key, L"Value", KeyValuePartialInformation, sizeof(answer)) ==
          STATUS_OBJECT_NAME_NOT_FOUND);
    ZwClose(key);
    CHECK(open_at(NULL, L"\\Registry", KEY_ALL_ACCESS, &root) == STATUS_SUCCESS);
    CHECK(ZwDeleteKey(root) == STATUS_CANNOT_DELETE);
    ZwClose(root);
    CHECK(errors() == 0);
}

/* ---- handles and levels ---- */

TEST_WITH(driver, only_handles_of_keys_are_taken)
{
    UNICODE_STRING name = unicode_text(L"Value");
    OBJECT_ATTRIBUTES attributes;
    HANDLE event, key;

    InitializeObjectAttributes(&attributes, NULL, OBJ_KERNEL_HANDLE, NULL, NULL);
    CHECK(ZwCreateEvent(&event, EVENT_ALL_ACCESS, &attributes, NotificationEvent, FALSE) ==
          STATUS_SUCCESS);
    CHECK(ZwFlushKey(event) == STATUS_OBJECT_TYPE_MISMATCH);
    CHECK(ZwDeleteKey(event) == STATUS_OBJECT_TYPE_MISMATCH);
    CHECK(ZwDeleteValueKey(event, &name) == STATUS_OBJECT_TYPE_MISMATCH);
    CHECK(open_at(event, L"Sub", KEY_READ, &key) == STATUS_OBJECT_TYPE_MISMATCH);
    ZwClose(event);
}

TEST_WITH(driver, keys_are_for_passive_level)
{
    UNICODE_STRING path = unicode_text(SERVICE L"\\Sub"), name = unicode_text(L"Value");
    OBJECT_ATTRIBUTES attributes;
    HANDLE key, other = NULL;
    ULONG one = 1, two = 2;
    KIRQL old;

    create_at(NULL, SERVICE, &key, NULL);
    set(key, L"Value", REG_DWORD, &one, 4);
    InitializeObjectAttributes(&attributes, &path, ANY_CASE, NULL, NULL);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK(ZwCreateKey(&other, KEY_READ, &attributes, 0, NULL, 0, NULL) ==
          STATUS_INVALID_DEVICE_REQUEST);
    CHECK(ZwOpenKey(&other, KEY_READ, &attributes) == STATUS_INVALID_DEVICE_REQUEST);
    CHECK(ZwSetValueKey(key, &name, 0, REG_DWORD, &two, 4) == STATUS_INVALID_DEVICE_REQUEST);
    CHECK(ZwQueryValueKey(key, &name, KeyValuePartialInformation, answer, sizeof(answer),
                          &needed) == STATUS_INVALID_DEVICE_REQUEST);
    CHECK(ZwDeleteValueKey(key, &name) == STATUS_INVALID_DEVICE_REQUEST);
    CHECK(ZwDeleteKey(key) == STATUS_INVALID_DEVICE_REQUEST);
    CHECK(ZwFlushKey(key) == STATUS_INVALID_DEVICE_REQUEST);
    KeLowerIrql(old);
    CHECK_RULE("NT-145/a", errors() == 7 && reported("NT-145", 0xC4, 0xE6));
    CHECK(!other && query(key, L"Value", KeyValuePartialInformation, 16) == STATUS_SUCCESS &&
          answer[12] == 1);
    ZwClose(key);
}

/* ---- answers ---- */

/* Below `fixed` bytes nothing is written, below `total` what fits. */
static void check_room(HANDLE key, KEY_VALUE_INFORMATION_CLASS class, ULONG fixed, ULONG total)
{
    uint8_t whole[sizeof(answer)];

    CHECK(query(key, L"Level", class, total) == STATUS_SUCCESS && needed == total);
    CHECK(answer[total - 1] != 0x5A && answer[total] == 0x5A);
    memcpy(whole, answer, sizeof(whole));
    CHECK(query(key, L"Level", class, total - 1) == STATUS_BUFFER_OVERFLOW && needed == total);
    CHECK(memcmp(answer, whole, total - 1) == 0 && answer[total - 1] == 0x5A);
    CHECK(query(key, L"Level", class, fixed) == STATUS_BUFFER_OVERFLOW && needed == total);
    CHECK(memcmp(answer, whole, fixed) == 0 && answer[fixed] == 0x5A);
    CHECK(query(key, L"Level", class, fixed - 1) == STATUS_BUFFER_TOO_SMALL && needed == total);
    CHECK(answer[0] == 0x5A && answer[fixed - 1] == 0x5A);
}

TEST_WITH(driver, answers_are_cut_at_the_end_of_the_buffer)
{
    static const uint8_t data[7] = {1, 2, 3, 4, 5, 6, 7};
    const KEY_VALUE_BASIC_INFORMATION *basic = (void *)answer;
    const KEY_VALUE_FULL_INFORMATION *full = (void *)answer;
    const KEY_VALUE_PARTIAL_INFORMATION *partial = (void *)answer;
    const KEY_VALUE_PARTIAL_INFORMATION_ALIGN64 *aligned = (void *)answer;
    HANDLE key;

    create_at(NULL, SERVICE, &key, NULL);
    set(key, L"Level", REG_BINARY, data, 7);
    check_room(key, KeyValueBasicInformation, 12, 12 + 10);
    CHECK(query(key, L"Level", KeyValueBasicInformation, 22) == STATUS_SUCCESS);
    CHECK(basic->TitleIndex == 0 && basic->Type == REG_BINARY && basic->NameLength == 10 &&
          memcmp(basic->Name, L"Level", 10) == 0);
    check_room(key, KeyValuePartialInformation, 12, 12 + 7);
    CHECK(query(key, L"Level", KeyValuePartialInformation, 19) == STATUS_SUCCESS);
    CHECK(partial->TitleIndex == 0 && partial->Type == REG_BINARY && partial->DataLength == 7 &&
          memcmp(partial->Data, data, 7) == 0);
    check_room(key, KeyValuePartialInformationAlign64, 8, 8 + 7);
    CHECK(query(key, L"Level", KeyValuePartialInformationAlign64, 15) == STATUS_SUCCESS);
    CHECK_RULE("NT-143/d", aligned->Type == REG_BINARY && aligned->DataLength == 7 &&
                               memcmp(aligned->Data, data, 7) == 0);
    /* 20 bytes, a name of 10, data at a multiple of 4 or of 8 */
    check_room(key, KeyValueFullInformation, 20, 32 + 7);
    CHECK(query(key, L"Level", KeyValueFullInformation, 39) == STATUS_SUCCESS);
    CHECK_RULE("NT-143/c", full->TitleIndex == 0 && full->Type == REG_BINARY &&
                               full->DataOffset == 32 && full->DataLength == 7 &&
                               full->NameLength == 10 && memcmp(full->Name, L"Level", 10) == 0 &&
                               memcmp(answer + 32, data, 7) == 0);
    set(key, L"Levels", REG_BINARY, data, 7);
    CHECK(query(key, L"Levels", KeyValueFullInformation, 64) == STATUS_SUCCESS && needed == 39);
    set(key, L"Le", REG_BINARY, data, 7);
    CHECK(query(key, L"Le", KeyValueFullInformation, 64) == STATUS_SUCCESS && needed == 24 + 7);
    set(key, L"Lev", REG_BINARY, data, 7);
    CHECK(query(key, L"Lev", KeyValueFullInformation, 64) == STATUS_SUCCESS && needed == 28 + 7 &&
          full->DataOffset == 28);
    CHECK(query(key, L"Lev", KeyValueFullInformationAlign64, 64) == STATUS_SUCCESS &&
          needed == 32 + 7 && full->DataOffset == 32 && memcmp(answer + 32, data, 7) == 0);
    ZwClose(key);
    CHECK(errors() == 0);
}

TEST_WITH(driver, classes_of_values_want_aligned_buffers)
{
    UNICODE_STRING name = unicode_text(L"Level");
    ULONG data = 7;
    HANDLE key, child;

    create_at(NULL, SERVICE, &key, NULL);
    create_at(key, L"Sub", &child, NULL);
    ZwClose(child);
    set(key, L"Level", REG_DWORD, &data, 4);
    for (int class = KeyValueBasicInformation; class <= KeyValuePartialInformationAlign64 + 1;
         class ++) {
        NTSTATUS wanted = class > KeyValuePartialInformationAlign64 ? STATUS_INVALID_PARAMETER
                          : class >= KeyValueFullInformationAlign64 ? STATUS_DATATYPE_MISALIGNMENT
                                                                    : STATUS_SUCCESS;

        CHECK(ZwQueryValueKey(key, &name, (KEY_VALUE_INFORMATION_CLASS) class, answer + 4, 64,
                              &needed) == wanted);
        CHECK(ZwEnumerateValueKey(key, 0, (KEY_VALUE_INFORMATION_CLASS) class, answer + 4, 64,
                                  &needed) == wanted);
    }
    CHECK(ZwQueryValueKey(key, &name, KeyValueFullInformationAlign64, answer + 8, 64, &needed) ==
          STATUS_SUCCESS);
    CHECK(ZwQueryValueKey(key, &name, KeyValuePartialInformation, answer, 64, NULL) ==
          STATUS_INVALID_PARAMETER);
    CHECK(ZwQueryValueKey(key, &name, KeyValuePartialInformation, NULL, 64, &needed) ==
              STATUS_BUFFER_TOO_SMALL &&
          needed == 16);
    CHECK(ZwEnumerateValueKey(key, 0, KeyValuePartialInformation, NULL, 64, &needed) ==
          STATUS_BUFFER_TOO_SMALL);
    CHECK(ZwEnumerateValueKey(key, 0, KeyValuePartialInformation, answer, 64, NULL) ==
          STATUS_INVALID_PARAMETER);
    CHECK(ZwQueryKey(key, KeyBasicInformation, NULL, 64, &needed) == STATUS_BUFFER_TOO_SMALL);
    CHECK(ZwEnumerateKey(key, 0, KeyBasicInformation, NULL, 64, &needed) == STATUS_BUFFER_TOO_SMALL);
    CHECK(errors() == 0);
    CHECK(ZwQueryValueKey(key, NULL, KeyValuePartialInformation, answer, 64, &needed) ==
          STATUS_INVALID_PARAMETER);
    CHECK(errors() == 1);
    ZwClose(key);
}

TEST_WITH(driver, values_are_in_order_and_replaced_in_place)
{
    static const PCWSTR names[] = {L"One", L"Two", L"Three"};
    const KEY_VALUE_BASIC_INFORMATION *basic = (void *)answer;
    UNICODE_STRING name = unicode_text(L"None");
    uint32_t type = 0, bytes = 0;
    ULONG data = 0;
    HANDLE key;

    create_at(NULL, SERVICE, &key, NULL);
    for (unsigned i = 0; i < 3; i++)
        set(key, names[i], REG_DWORD, &data, 4);
    set(key, L"TWO", REG_QWORD, &answer, 8);
    for (ULONG i = 0; i < 3; i++) {
        CHECK_RULE("NT-144/a", ZwEnumerateValueKey(key, i, KeyValueBasicInformation, answer,
                                                   sizeof(answer), &needed) == STATUS_SUCCESS &&
                                   memcmp(basic->Name, names[i], basic->NameLength) == 0);
        CHECK_RULE("NT-144/a", basic->Type == (i == 1 ? REG_QWORD : REG_DWORD));
    }
    CHECK_RULE("NT-144/b", ZwEnumerateValueKey(key, 3, KeyValueBasicInformation, answer,
                                               sizeof(answer), &needed) == STATUS_NO_MORE_ENTRIES);

    /* No data is data; data without an address is not. */
    CHECK(set(key, L"None", REG_NONE, NULL, 0) == STATUS_SUCCESS);
    CHECK(nt_registry_get(ASCII, "None", &type, &bytes) && type == REG_NONE && bytes == 0);
    CHECK(set(key, L"None", REG_BINARY, NULL, 1) == STATUS_INVALID_PARAMETER);
    CHECK(nt_registry_get(ASCII, "None", &type, &bytes) && type == REG_NONE);
    CHECK(errors() == 0);
    CHECK(ZwSetValueKey(key, NULL, 0, REG_DWORD, &data, 4) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-145/b", reported("NT-145", 0xC4, 0xE4));
    CHECK(ZwSetValueKey(key, &name, 0, REG_BINARY, (PVOID)(uintptr_t)0x1000, 0) == STATUS_SUCCESS);
    CHECK_RULE("NT-145/c", reported("NT-145", 0xC4, 0xE3));
    ZwClose(key);
}

static LONGLONG written(HANDLE key)
{
    CHECK(ZwQueryKey(key, KeyBasicInformation, answer, sizeof(answer), &needed) == STATUS_SUCCESS);
    return ((KEY_BASIC_INFORMATION *)(void *)answer)->LastWriteTime.QuadPart;
}

TEST_WITH(driver, keys_know_when_they_were_written)
{
    LARGE_INTEGER before, after;
    ULONG data = 1;
    HANDLE key;

    KeQuerySystemTimePrecise(&before);
    create_at(NULL, SERVICE, &key, NULL);
    KeQuerySystemTimePrecise(&after);
    CHECK(written(key) >= before.QuadPart && written(key) <= after.QuadPart);
    pause_ns(1000000);
    query(key, L"Level", KeyValuePartialInformation, sizeof(answer));
    CHECK(written(key) <= after.QuadPart);
    KeQuerySystemTimePrecise(&before);
    set(key, L"Level", REG_DWORD, &data, 4);
    CHECK(written(key) >= before.QuadPart && before.QuadPart > after.QuadPart);
    ZwClose(key);
    CHECK(errors() == 0);
}
