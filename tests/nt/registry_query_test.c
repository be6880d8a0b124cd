/* SPDX-License-Identifier: MIT */
/* Tables of RtlQueryRegistryValues: where values come from, where they go, and what ends the walk. */
#include "nt/cm/registry.h"
#include "support/harness.h"

#define SERVICE       "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\probe"
#define DIRECT        (RTL_QUERY_REGISTRY_DIRECT | RTL_QUERY_REGISTRY_TYPECHECK)
#define CHECKED(type) ((ULONG)(type) << RTL_QUERY_REGISTRY_TYPECHECK_SHIFT)

static NTSTATUS query(ULONG relative, PCWSTR path, const RTL_QUERY_REGISTRY_TABLE *entries,
                      unsigned count, void *context)
{
    RTL_QUERY_REGISTRY_TABLE table[8] = {0};

    memcpy(table, entries, count * sizeof(table[0]));
    return RtlQueryRegistryValues(relative, path, table, context, NULL);
}

static NTSTATUS query_entry(RTL_QUERY_REGISTRY_TABLE entry)
{
    return query(RTL_REGISTRY_SERVICES, L"probe", &entry, 1, NULL);
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

/* ---- calls of the driver's routine ---- */

struct call {
    WCHAR name[200];
    bool named;
    ULONG type, bytes;
    uint8_t data[16];
    void *context, *entry;
};

static struct call calls[8];
static unsigned called;
static NTSTATUS answers[8];

static NTSTATUS NTAPI note(PWSTR name, ULONG type, PVOID data, ULONG bytes, PVOID context,
                           PVOID entry)
{
    struct call *call = &calls[called];

    *call = (struct call){
        .named = name, .type = type, .bytes = bytes, .context = context, .entry = entry};
    for (unsigned i = 0; name && name[i]; i++)
        call->name[i] = name[i];
    if (data)
        memcpy(call->data, data, bytes < sizeof(call->data) ? bytes : sizeof(call->data));
    return answers[called++];
}

static void expect_answers(NTSTATUS first, NTSTATUS second)
{
    memset(calls, 0, sizeof(calls));
    memset(answers, 0, sizeof(answers));
    answers[0] = first;
    answers[1] = second;
    called = 0;
}

static bool was(unsigned which, PCWSTR name, ULONG type, ULONG first)
{
    UNICODE_STRING is = unicode_text(calls[which].name), wanted = unicode_text(name);
    ULONG data;

    memcpy(&data, calls[which].data, sizeof(data));
    return calls[which].named && RtlEqualUnicodeString(&is, &wanted, FALSE) &&
           calls[which].type == type && data == first;
}

TEST_WITH(driver, routines_get_each_value_of_a_key)
{
    ULONG one = 1, two = 2;
    RTL_QUERY_REGISTRY_TABLE entry = {.QueryRoutine = note, .EntryContext = &one};
    WCHAR longest[201] = {0};

    /* No value: none is asked for, unless one is required. */
    RtlCreateRegistryKey(RTL_REGISTRY_SERVICES, (PWSTR)L"probe");
    expect_answers(0, 0);
    CHECK(query_entry(entry) == STATUS_SUCCESS && called == 0);
    entry.Flags = RTL_QUERY_REGISTRY_REQUIRED;
    CHECK(query_entry(entry) == STATUS_OBJECT_NAME_NOT_FOUND && called == 0);

    set(L"probe", L"One", REG_DWORD, &one, 4);
    set(L"probe", L"Two", REG_BINARY, &two, 4);
    CHECK(query(RTL_REGISTRY_SERVICES, L"probe", &entry, 1, &two) == STATUS_SUCCESS && called == 2);
    CHECK(was(0, L"One", REG_DWORD, 1) && calls[0].bytes == 4);
    CHECK(was(1, L"Two", REG_BINARY, 2));
    CHECK(calls[0].context == &two && calls[0].entry == &one);
    CHECK(calls[1].context == &two && calls[1].entry == &one);

    /* A failure ends the walk. */
    expect_answers(STATUS_UNSUCCESSFUL, 0);
    CHECK(query_entry(entry) == STATUS_UNSUCCESSFUL && called == 1);

    /* The name is cut to 127 characters. */
    for (unsigned i = 0; i < 127; i++)
        longest[i] = (WCHAR)('a' + i % 26);
    set(L"other", longest, REG_DWORD, &one, 4);
    expect_answers(0, 0);
    CHECK(query(RTL_REGISTRY_SERVICES, L"other", &entry, 1, NULL) == STATUS_SUCCESS);
    CHECK(called == 1 && was(0, longest, REG_DWORD, 1));
    for (unsigned i = 127; i < 200; i++)
        longest[i] = 'z';
    RtlDeleteRegistryValue(RTL_REGISTRY_SERVICES, L"other", calls[0].name);
    set(L"other", longest, REG_DWORD, &two, 4);
    expect_answers(0, 0);
    CHECK(query(RTL_REGISTRY_SERVICES, L"other", &entry, 1, NULL) == STATUS_SUCCESS);
    longest[127] = 0;
    CHECK(called == 1 && was(0, longest, REG_DWORD, 2));
    CHECK(errors() == 0);
}

TEST_WITH(driver, entries_are_walked_until_one_fails)
{
    ULONG one = 1, two = 2, three = 3;
    RTL_QUERY_REGISTRY_TABLE entries[4] = {
        {.QueryRoutine = note, .Name = (PWSTR)L"Value"},
        {.Flags = RTL_QUERY_REGISTRY_SUBKEY, .Name = (PWSTR)L"Sub"},
        {.QueryRoutine = note, .Name = (PWSTR)L"Value"},
        {.QueryRoutine = note, .Name = (PWSTR)L"Value", .Flags = RTL_QUERY_REGISTRY_TOPKEY},
    };

    set(L"probe", L"Value", REG_DWORD, &one, 4);
    set(L"probe\\Sub", L"Value", REG_DWORD, &two, 4);
    expect_answers(0, 0);
    CHECK(query(RTL_REGISTRY_SERVICES, L"probe", entries, 4, NULL) == STATUS_SUCCESS);
    CHECK(called == 3 && was(0, L"Value", REG_DWORD, 1) && was(1, L"Value", REG_DWORD, 2) &&
          was(2, L"Value", REG_DWORD, 1));

    /* Without TOPKEY the walk stays below; a subkey is one of the top, from wherever. */
    entries[3].Flags = 0;
    expect_answers(0, 0);
    query(RTL_REGISTRY_SERVICES, L"probe", entries, 4, NULL);
    CHECK(called == 3 && was(2, L"Value", REG_DWORD, 2));
    entries[3] = entries[1];
    entries[3].Flags |= RTL_QUERY_REGISTRY_REQUIRED;
    CHECK(query(RTL_REGISTRY_SERVICES, L"probe", entries, 4, NULL) == STATUS_SUCCESS);

    /* A missing subkey leaves the walk at the top, or ends it if it is required; so does one
     * without a name. */
    entries[1].Name = (PWSTR)L"None";
    expect_answers(0, 0);
    CHECK(query(RTL_REGISTRY_SERVICES, L"probe", entries, 3, NULL) == STATUS_SUCCESS);
    CHECK(called == 2 && was(1, L"Value", REG_DWORD, 1));
    entries[1].Flags |= RTL_QUERY_REGISTRY_REQUIRED;
    expect_answers(0, 0);
    CHECK_RULE("NT-146/b", query(RTL_REGISTRY_SERVICES, L"probe", entries, 3, NULL) ==
                                   STATUS_OBJECT_NAME_NOT_FOUND &&
                               called == 1);
    entries[1].Name = NULL;
    expect_answers(0, 0);
    CHECK(query(RTL_REGISTRY_SERVICES, L"probe", entries, 3, NULL) == STATUS_OBJECT_NAME_NOT_FOUND &&
          called == 1);

    /* The first failure is the answer; "buffer too small" is none. */
    set(L"probe", L"Other", REG_DWORD, &three, 4);
    entries[1] = entries[0];
    entries[1].Name = (PWSTR)L"Other";
    expect_answers(STATUS_UNSUCCESSFUL, 0);
    CHECK(query(RTL_REGISTRY_SERVICES, L"probe", entries, 2, NULL) == STATUS_UNSUCCESSFUL);
    CHECK(called == 1);
    expect_answers(STATUS_BUFFER_TOO_SMALL, STATUS_BUFFER_OVERFLOW);
    CHECK(query(RTL_REGISTRY_SERVICES, L"probe", entries, 2, NULL) == STATUS_BUFFER_OVERFLOW);
    CHECK(called == 2 && was(1, L"Other", REG_DWORD, 3));
    CHECK(errors() == 0);
}

TEST_WITH(driver, entries_may_want_no_value_or_take_it_away)
{
    ULONG one = 1, entry_context;
    RTL_QUERY_REGISTRY_TABLE entry = {.QueryRoutine = note,
                                      .Name = (PWSTR)L"Value",
                                      .Flags = RTL_QUERY_REGISTRY_NOVALUE,
                                      .EntryContext = &entry_context};

    set(L"probe", L"Value", REG_DWORD, &one, 4);
    expect_answers(STATUS_UNSUCCESSFUL, 0);
    CHECK(query(RTL_REGISTRY_SERVICES, L"probe", &entry, 1, &one) == STATUS_UNSUCCESSFUL);
    CHECK(called == 1 && !calls[0].named && calls[0].type == REG_NONE && calls[0].bytes == 0 &&
          calls[0].context == &one && calls[0].entry == &entry_context);

    /* Deleted with success alone. */
    entry.Flags = RTL_QUERY_REGISTRY_DELETE;
    expect_answers(STATUS_UNSUCCESSFUL, 0);
    CHECK(query_entry(entry) == STATUS_UNSUCCESSFUL);
    CHECK(is_there(SERVICE, "Value", REG_DWORD, &one, 4));
    expect_answers(0, 0);
    CHECK(query_entry(entry) == STATUS_SUCCESS && was(0, L"Value", REG_DWORD, 1));
    CHECK(!is_there(SERVICE, "Value", REG_DWORD, &one, 4));
    set(L"probe", L"Value", REG_DWORD, &one, 4);
    entry.Flags = 0;
    CHECK(query_entry(entry) == STATUS_SUCCESS);
    CHECK(is_there(SERVICE, "Value", REG_DWORD, &one, 4));

    /* Nobody to tell. */
    entry.QueryRoutine = NULL;
    CHECK(query_entry(entry) == STATUS_INVALID_PARAMETER);
    entry.Flags = RTL_QUERY_REGISTRY_NOVALUE;
    CHECK(query_entry(entry) == STATUS_INVALID_PARAMETER);
    entry.Flags = RTL_QUERY_REGISTRY_NOVALUE | DIRECT;
    CHECK(query_entry(entry) == STATUS_INVALID_PARAMETER);
    entry.Flags = DIRECT;
    entry.QueryRoutine = note;
    expect_answers(0, 0);
    CHECK_RULE("NT-146/f", query_entry(entry) == STATUS_INVALID_PARAMETER && called == 0);
    CHECK(errors() == 0);
}

TEST_WITH(driver, missing_values_have_defaults)
{
    ULONG nine = 9;
    RTL_QUERY_REGISTRY_TABLE entry = {.QueryRoutine = note, .Name = (PWSTR)L"None"};
    UNICODE_STRING text = {0};

    RtlCreateRegistryKey(RTL_REGISTRY_SERVICES, (PWSTR)L"probe");
    expect_answers(0, 0);
    CHECK(query_entry(entry) == STATUS_SUCCESS && called == 0);
    entry.DefaultType = REG_SZ;
    entry.DefaultData = (PVOID)(uintptr_t)L"abc";
    CHECK_RULE("NT-146/c", query_entry(entry) == STATUS_SUCCESS && called == 1 &&
                               calls[0].type == REG_SZ && calls[0].bytes == 8 &&
                               memcmp(calls[0].data, L"abc", 8) == 0);
    entry.DefaultLength = 4; /* taken as it is */
    expect_answers(0, 0);
    CHECK(query_entry(entry) == STATUS_SUCCESS && calls[0].bytes == 4);
    entry.DefaultType = REG_BINARY;
    entry.DefaultData = &nine;
    entry.DefaultLength = 0;
    expect_answers(0, 0);
    CHECK(query_entry(entry) == STATUS_SUCCESS && called == 1 && calls[0].bytes == 0);
    entry.DefaultType = REG_EXPAND_SZ;
    entry.DefaultData = NULL;
    expect_answers(0, 0);
    CHECK(query_entry(entry) == STATUS_SUCCESS && called == 1 && calls[0].bytes == 0);

    /* Straight into a string of the driver; the type that is checked is that of a value. */
    entry.QueryRoutine = NULL;
    entry.Flags = DIRECT;
    entry.DefaultType = CHECKED(REG_DWORD) | REG_SZ;
    entry.DefaultData = (PVOID)(uintptr_t)L"abc";
    entry.EntryContext = &text;
    CHECK(query_entry(entry) == STATUS_SUCCESS && text.Length == 6 && text.MaximumLength == 8 &&
          memcmp(text.Buffer, L"abc", 8) == 0);
    ExFreePool(text.Buffer);
    CHECK(errors() == 0);
}

/* ---- DIRECT ---- */

static NTSTATUS direct(PCWSTR name, ULONG type, void *to)
{
    return query_entry((RTL_QUERY_REGISTRY_TABLE){.Name = (PWSTR)(uintptr_t)name,
                                                  .Flags = DIRECT,
                                                  .DefaultType = CHECKED(type),
                                                  .EntryContext = to});
}

TEST_WITH(driver, text_goes_into_a_string)
{
    static const ULONG types[] = {REG_SZ, REG_EXPAND_SZ, REG_MULTI_SZ};
    WCHAR room[5];
    UNICODE_STRING text;

    for (unsigned i = 0; i < 3; i++) {
        set(L"probe", L"Text", types[i], L"abc", 8);
        text = (UNICODE_STRING){0};
        CHECK_RULE("NT-146/d", direct(L"Text", types[i], &text) == STATUS_SUCCESS &&
                                   text.Length == 6 && text.MaximumLength == 8 &&
                                   memcmp(text.Buffer, L"abc", 8) == 0);
        ExFreePool(text.Buffer);
    }
    text = (UNICODE_STRING){.Buffer = room, .MaximumLength = 7};
    room[0] = 'x';
    CHECK(direct(L"Text", REG_MULTI_SZ, &text) == STATUS_BUFFER_TOO_SMALL && text.Length == 0 &&
          room[0] == 'x');
    text.MaximumLength = 8;
    CHECK(direct(L"Text", REG_MULTI_SZ, &text) == STATUS_SUCCESS && text.Length == 6 &&
          text.Buffer == room && text.MaximumLength == 8 && memcmp(room, L"abc", 8) == 0);
    CHECK_RULE("NT-146/e", direct(L"Text", REG_SZ, &text) == STATUS_OBJECT_TYPE_MISMATCH);

    /* Without a terminator there is nothing to leave out. */
    set(L"probe", L"Empty", REG_SZ, L"", 0);
    CHECK(direct(L"Empty", REG_SZ, &text) == STATUS_SUCCESS && text.Length == 0);
    text = (UNICODE_STRING){0};
    CHECK(direct(L"Empty", REG_SZ, &text) == STATUS_SUCCESS && text.Length == 0 && text.Buffer);
    ExFreePool(text.Buffer);
    set(L"probe", L"End", REG_SZ, L"", 2);
    text = (UNICODE_STRING){.Buffer = room, .MaximumLength = 8, .Length = 4};
    CHECK(direct(L"End", REG_SZ, &text) == STATUS_SUCCESS && text.Length == 0);
    CHECK(direct(L"End", REG_SZ, NULL) == STATUS_INVALID_PARAMETER);
    CHECK(errors() == 0);
}

TEST_WITH(driver, bytes_need_the_size_of_their_place)
{
    static const uint8_t data[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    LONG place[6] = {-1, -1, -1, -1, -1, -1};

    /* Up to four bytes there is none. */
    set(L"probe", L"Short", REG_BINARY, data, 3);
    CHECK(direct(L"Short", REG_BINARY, place) == STATUS_SUCCESS &&
          memcmp(place, "\1\2\3\xFF\xFF", 5) == 0);
    set(L"probe", L"Four", REG_BINARY, data, 4);
    place[0] = 0;
    CHECK(direct(L"Four", REG_BINARY, place) == STATUS_SUCCESS && memcmp(place, data, 4) == 0 &&
          place[1] == -1);

    /* Negative: the bytes alone. */
    set(L"probe", L"Long", REG_BINARY, data, 12);
    place[0] = -11;
    CHECK(direct(L"Long", REG_BINARY, place) == STATUS_BUFFER_TOO_SMALL && place[0] == -11);
    place[0] = -12;
    CHECK(direct(L"Long", REG_BINARY, place) == STATUS_SUCCESS && memcmp(place, data, 12) == 0 &&
          place[3] == -1);

    /* Otherwise size and type come before them. */
    place[0] = 19;
    CHECK(direct(L"Long", REG_BINARY, place) == STATUS_BUFFER_TOO_SMALL && place[0] == 19);
    place[0] = 20;
    CHECK(direct(L"Long", REG_BINARY, place) == STATUS_SUCCESS && place[0] == 12 &&
          place[1] == REG_BINARY && memcmp(place + 2, data, 12) == 0 && place[5] == -1);
    CHECK(errors() == 0);
}

/* ---- the type that is wanted ---- */

TEST_WITH(driver, only_the_systems_hives_are_trusted)
{
    ULONG data = 5, value = 77;
    RTL_QUERY_REGISTRY_TABLE entry = {
        .Name = (PWSTR)L"Value", .Flags = RTL_QUERY_REGISTRY_DIRECT, .EntryContext = &value};

    set(L"probe\\Sub", L"Value", REG_DWORD, &data, 4);
    set(L"", L"Value", REG_DWORD, &data, 4);
    RtlWriteRegistryValue(RTL_REGISTRY_CONTROL, L"own", L"Value", REG_DWORD, &data, 4);
    CHECK_RULE("NT-147/a", query(RTL_REGISTRY_SERVICES, L"probe\\Sub", &entry, 1, NULL) ==
                                   STATUS_ACCESS_DENIED &&
                               value == 77);
    CHECK_RULE("NT-147/a", reported("NT-147", 0x139, 0) && errors() == 1);
    forget_reports();
    CHECK_RULE("NT-147/a",
               query(RTL_REGISTRY_SERVICES, NULL, &entry, 1, NULL) == STATUS_ACCESS_DENIED &&
                   reported("NT-147", 0x139, 0));
    forget_reports();
    CHECK_RULE("NT-147/b", query(RTL_REGISTRY_CONTROL, L"own", &entry, 1, NULL) == STATUS_SUCCESS &&
                               value == 5 && broken("NT-147") && errors() == 0);
    forget_reports();
    /* With TYPECHECK there is nothing to say. */
    entry.Flags = DIRECT;
    entry.DefaultType = CHECKED(REG_DWORD);
    value = 77;
    CHECK(query(RTL_REGISTRY_CONTROL, L"own", &entry, 1, NULL) == STATUS_SUCCESS && value == 5);
    CHECK(query(RTL_REGISTRY_SERVICES, L"probe\\Sub", &entry, 1, NULL) == STATUS_SUCCESS);
    CHECK(!broken("NT-147"));
    /* A routine sees the type itself. */
    entry.QueryRoutine = note;
    entry.Flags = RTL_QUERY_REGISTRY_TYPECHECK;
    entry.DefaultType = CHECKED(REG_SZ);
    expect_answers(0, 0);
    CHECK(query(RTL_REGISTRY_SERVICES, L"probe\\Sub", &entry, 1, NULL) == STATUS_SUCCESS &&
          was(0, L"Value", REG_DWORD, 5) && !broken("NT-147"));
}
