/* SPDX-License-Identifier: MIT */
/* The registry as text: how names and bytes are written, and which lines are none. */
#include "nt/cm/registry.h"
#include "sim/machine.h"
#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>

#define KEY "\\Registry\\Machine\\Software\\probe"

static bool load(const char *text)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    bool good = nt_registry_load(file);

    fclose(file);
    return good;
}

static bool is_there(const char *name, uint32_t type, const void *data, uint32_t bytes)
{
    uint32_t found_type = 99, found_bytes = 99;
    const void *found = nt_registry_get(KEY, name, &found_type, &found_bytes);

    return found && found_type == type && found_bytes == bytes && memcmp(found, data, bytes) == 0;
}

TEST_WITH(machine, values_are_read_from_text)
{
    CHECK(load("# a comment\r\n\n[" KEY "]\r\n\"A\"=4:01020304\r\n\"b c\"=3:aAfF09\n\"None\"=0:\n"));
    CHECK_RULE("NT-151/a", is_there("A", REG_DWORD, "\1\2\3\4", 4));
    CHECK_RULE("NT-151/a", is_there("b c", REG_BINARY, "\xAA\xFF\x09", 3));
    CHECK(is_there("none", REG_NONE, "", 0));
    CHECK(!nt_registry_get(KEY, "B", &(uint32_t){0}, &(uint32_t){0}));
    CHECK(!nt_registry_get(KEY "\\Sub", "A", &(uint32_t){0}, &(uint32_t){0}));
    /* Without an end of line; escaped characters; a value that is there is replaced. */
    CHECK(load("[" KEY "]\n\"\\x0041\"=3:07"));
    CHECK_RULE("NT-151/a", is_there("A", REG_BINARY, "\7", 1));
    CHECK(load("[\\Registry\\Machine\\Software\\pro\\x0062e]\n\"D\"=3:fa\n"));
    CHECK(is_there("D", REG_BINARY, "\xFA", 1));
    CHECK(load(""));
}

TEST_WITH(machine, bad_lines_end_the_reading)
{
    static const char *const bad[] = {
        "\"A\"=4:0\n",
        "\"A\"=4:0/\n",
        "\"A\"=4::0\n",
        "\"A\"=4:@0\n",
        "\"A\"=4:0G\n",
        "\"A\"=4:`0\n",
        "\"A\"=4:0g\n",
        "\"A\"=4\n",
        "\"A\"=:00\n",
        "\"A\"4:00\n",
        "\"A=4:00\n",
        "A\"=4:00\n",
        "\"\\x00\"=4:00\n",
        "\"\\x00G0\"=4:00\n",
        "\"\\x000`\"=4:00\n",
        "[\\Registry\\Machine\n",
        "[Registry\\Machine]\n",
        "[]\n",
        "[\\Machine]\n",
        " \n",
    };
    char text[128];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        snprintf(text, sizeof(text), "[" KEY "]\n%s\"After\"=3:01\n", bad[i]);
        CHECK(!load(text));
        CHECK(!nt_registry_get(KEY, "After", &(uint32_t){0}, &(uint32_t){0}));
    }
    CHECK(!nt_registry_get(KEY, "A", &(uint32_t){0}, &(uint32_t){0}));
    /* A value of no key. */
    CHECK(!load("\"A\"=3:01\n"));
    CHECK(load("[" KEY "]\n\"After\"=3:01\n") && is_there("After", REG_BINARY, "\1", 1));
}

TEST_WITH(machine, names_have_a_limit)
{
    char text[1200];
    int at;

    for (int length = 1024; length <= 1025; length++) {
        at = snprintf(text, sizeof(text), "[" KEY "]\n\"");
        memset(text + at, 'n', (size_t)length);
        snprintf(text + at + length, sizeof(text) - (size_t)(at + length), "\"=3:01\n");
        CHECK(load(text) == (length == 1024));
    }
}

static void set_odd_names(void)
{
    static const WCHAR name[] = {0x1F, 0x20, 0x7E, 0x7F, '"', '\\', ']', '[', 0x263A};
    static const uint8_t data[] = {0x00, 0x0A, 0xFF};
    UNICODE_STRING path = unicode_text(L"\\Registry\\Machine\\Software\\probe\\x]x"),
                   value = {.Length = sizeof(name), .MaximumLength = sizeof(name)};
    OBJECT_ATTRIBUTES attributes;
    HANDLE key;

    value.Buffer = (PWCH)(uintptr_t)name;
    InitializeObjectAttributes(&attributes, &path, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, NULL,
                               NULL);
    CHECK(ZwCreateKey(&key, KEY_ALL_ACCESS, &attributes, 0, NULL, 0, NULL) == STATUS_SUCCESS);
    CHECK(ZwSetValueKey(key, &value, 0, REG_BINARY, (PVOID)(uintptr_t)data, 3) == STATUS_SUCCESS);
    ZwClose(key);
}

TEST_WITH(machine, odd_characters_are_written_as_numbers)
{
    char *saved = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&saved, &bytes);

    run(set_odd_names);
    CHECK(nt_registry_set(KEY "\\empty", NULL, 0, NULL, 0));
    CHECK(nt_registry_set(KEY "\\last", "Value", REG_DWORD, "\1\0\0\x80", 4));
    CHECK(nt_registry_save(file));
    fclose(file);
    CHECK_RULE("NT-151/b",
               strstr(saved, "[\\REGISTRY\\Machine\\Software\\probe]\n"
                             "[\\REGISTRY\\Machine\\Software\\probe\\\\x0078\\x005Dx]\n"
                             "\"\\x001F ~\\x007F\\x0022\\x005C\\x005D[\\x263A\"=3:000AFF\n"
                             "[\\REGISTRY\\Machine\\Software\\probe\\empty]\n"
                             "[\\REGISTRY\\Machine\\Software\\probe\\last]\n"
                             "\"Value\"=4:01000080\n"));
    free(saved);
}

TEST_WITH(machine, keys_that_begin_like_an_escape_come_back)
{
    char *saved = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&saved, &bytes);

    CHECK(nt_registry_set(KEY "\\x64", "x", REG_DWORD, "\1\2\3\4", 4));
    CHECK(nt_registry_save(file));
    fclose(file);
    harness_teardown();
    harness_boot(1, 2, NULL);
    CHECK_RULE("NT-151/b", load(saved));
    CHECK_RULE("NT-151/b", nt_registry_get(KEY "\\x64", "x", &(uint32_t){0}, &(uint32_t){0}));
    free(saved);
}

TEST_WITH(machine, the_value_of_a_key_itself_has_no_name)
{
    char *saved = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&saved, &bytes);

    CHECK(nt_registry_set(KEY, "", REG_DWORD, "\1\0\0\0", 4));
    CHECK(nt_registry_save(file));
    fclose(file);
    CHECK(strstr(saved, "\\probe]\n\"\"=4:01000000\n"));
    free(saved);
    CHECK(load("[" KEY "]\n\"\"=3:09\n") && is_there("", REG_BINARY, "\x09", 1));
    CHECK(!nt_registry_get(KEY, "A", &(uint32_t){0}, &(uint32_t){0}));
}

/* ---- long lines ---- */

#define LONG_BYTES 200001u

static bool is_long_value(void)
{
    uint32_t type = 0, bytes = 0;
    const uint8_t *found = nt_registry_get(KEY, "Long", &type, &bytes);

    for (uint32_t i = 0; found && i < bytes; i++) {
        if (found[i] != (uint8_t)(i * 7))
            return false;
    }
    return found && bytes == LONG_BYTES;
}

TEST_WITH(machine, long_values_come_back)
{
    uint8_t *data = malloc(LONG_BYTES);
    char *saved = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&saved, &bytes);

    for (uint32_t i = 0; i < LONG_BYTES; i++)
        data[i] = (uint8_t)(i * 7);
    CHECK(nt_registry_set(KEY, "Long", REG_BINARY, data, LONG_BYTES) && is_long_value());
    CHECK(nt_registry_set(KEY, "Next", REG_BINARY, data, 1));
    CHECK(nt_registry_save(file));
    fclose(file);
    free(data);
    harness_teardown();
    harness_boot(1, 2, NULL);
    h.machine->heap.fail_at = h.machine->heap.requests + 2; /* more room for a line */
    CHECK(!load(saved));
    h.machine->heap.fail_at = 0;
    CHECK(!nt_registry_get(KEY, "Long", &(uint32_t){0}, &(uint32_t){0}));
    CHECK_RULE("NT-151/b", load(saved) && is_long_value());
    CHECK_RULE("NT-151/b", is_there("Next", REG_BINARY, "", 1));
    free(saved);
}

/* A line that just fits, and one more, with and without an end of line. */
TEST_WITH(machine, lines_of_any_length_are_read)
{
    static char text[200000];

    for (size_t length = 65533; length <= 65538; length++) {
        for (unsigned end = 0; end < 2; end++) {
            memset(text, 'x', sizeof(text));
            text[0] = '#';
            snprintf(text + length, sizeof(text) - length, "%s",
                     end ? "\n[" KEY "]\n\"A\"=3:01" : "");
            CHECK(load(text));
            CHECK(!nt_registry_get(KEY, "A", &(uint32_t){0}, &(uint32_t){0}) == (end == 0));
        }
        harness_teardown();
        harness_boot(1, 1, NULL);
    }
}
