/* SPDX-License-Identifier: MIT */
/* The run-time library where memory ends, strings are longest, and arguments are nothing. */
#include "nt/io/image_life.h"
#include "nt/routine.h"
#include "sim/machine.h"
#include "support/harness.h"

/* What analysers of sources must not know to be nothing. */
static void *none;
static size_t zero;

/* ---- conversions ---- */

static WCHAR longest_wide[0x8000];
static CHAR longest_narrow[0x8000];

TEST_WITH(driver, conversions_without_memory_change_nothing)
{
    UNICODE_STRING from = unicode_text(L"abc"), to = {6, 7, (PWCH)(void *)&none}, before = to;
    ANSI_STRING narrow, small = {3, 4, (PCHAR)(void *)&none}, same = small;

    RtlInitAnsiString(&narrow, "abc");
    h.machine->heap.fail_at = h.machine->heap.requests + 1;
    CHECK(RtlUpcaseUnicodeString(&to, &from, TRUE) == STATUS_NO_MEMORY);
    h.machine->heap.fail_at = h.machine->heap.requests + 1;
    CHECK(RtlAnsiStringToUnicodeString(&to, &narrow, TRUE) == STATUS_NO_MEMORY);
    h.machine->heap.fail_at = h.machine->heap.requests + 1;
    CHECK(RtlUnicodeStringToAnsiString(&small, &from, TRUE) == STATUS_NO_MEMORY);
    h.machine->heap.fail_at = 0;
    CHECK(memcmp(&to, &before, sizeof(to)) == 0 && memcmp(&small, &same, sizeof(small)) == 0);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST_WITH(driver, strings_have_a_longest_length)
{
    ANSI_STRING narrow = {0, sizeof(longest_narrow), longest_narrow};
    UNICODE_STRING wide = {0, 0xFFFE, longest_wide};

    memset(longest_narrow, 'a', sizeof(longest_narrow));
    narrow.Length = 0x7FFE;
    CHECK(RtlAnsiStringToUnicodeString(&wide, &narrow, FALSE) == STATUS_SUCCESS &&
          wide.Length == 0xFFFC && longest_wide[0x7FFD] == 'a' && longest_wide[0x7FFE] == 0);
    CHECK(RtlUpcaseUnicodeString(&wide, &wide, FALSE) == STATUS_SUCCESS && longest_wide[9] == 'A');
    narrow.Length = 0x7FFF;
    CHECK(RtlAnsiStringToUnicodeString(&wide, &narrow, FALSE) == STATUS_INVALID_PARAMETER_2);
    CHECK(RtlAnsiStringToUnicodeString(&wide, &narrow, TRUE) == STATUS_INVALID_PARAMETER_2);
    CHECK(wide.Length == 0xFFFC && wide.Buffer == longest_wide);
    CHECK(RtlxAnsiStringToUnicodeSize(&narrow) == 0x10000);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST_WITH(driver, strings_are_freed_once)
{
    UNICODE_STRING from = unicode_text(L"abc"), to, again;

    CHECK(RtlUpcaseUnicodeString(&to, &from, TRUE) == STATUS_SUCCESS);
    again = to;
    RtlFreeUnicodeString(&to);
    CHECK(errors() == 0);
    RtlFreeUnicodeString(&again);
    CHECK_RULE("NT-155/b", errors() == 1 && broken("NT-155"));
}

static ULONG read_number(const WCHAR *text, ULONG base)
{
    UNICODE_STRING string = unicode_text(text);
    ULONG value = 99;

    CHECK(RtlUnicodeStringToInteger(&string, base, &value) == STATUS_SUCCESS);
    return value;
}

TEST_WITH(driver, digits_end_where_others_begin)
{
    CHECK(read_number(L"1/", 16) == 1 && read_number(L"1:", 16) == 1);
    CHECK(read_number(L"1@", 16) == 1 && read_number(L"1G", 16) == 1 && read_number(L"1g", 16) == 1);
    CHECK(read_number(L"9fF", 16) == 0x9FF && read_number(L"aA", 16) == 0xAA);
    CHECK(read_number(L"78", 8) == 7 && read_number(L"12", 2) == 1 && read_number(L"9A", 10) == 9);
    CHECK(read_number(L"0", 0) == 0 && read_number(L"05", 0) == 5 && read_number(L"0x", 0) == 0);
    CHECK(read_number(L"0o17", 0) == 15 && read_number(L"0b101", 0) == 5);
    CHECK(read_number(L"0x1F", 16) == 0 && read_number(L"1x1", 0) == 1);
    CHECK(read_number(L"", 0) == 0 && read_number(L"-", 10) == 0 && read_number(L"  ", 10) == 0);
    CHECK(read_number(L" \t\n+7", 10) == 7 && read_number(L"!7", 10) == 0);
    CHECK(errors() == 0);
}

/* ---- strings that know their room ---- */

static char text[8];
static WCHAR wide_text[8];

static void fill(void)
{
    memset(text, 'x', sizeof(text));
    memcpy(wide_text, L"xxxxxxx", sizeof(wide_text));
}

TEST_WITH(driver, nothing_is_copied_to_nothing)
{
    fill();
    CHECK_RULE("NT-185/c", strncat_s(none, zero, none, zero) == 0);
    CHECK_RULE("NT-185/c", strncat_s(none, zero, "a", 1) == EINVAL &&
                               strncat_s(none, 1, none, zero) == EINVAL &&
                               strncat_s(text, zero, none, zero) == EINVAL && text[0] == 'x');
    CHECK_RULE("NT-185/c", strcat_s(none, 8, "a") == EINVAL && strcat_s(text, zero, "a") == EINVAL);
    CHECK_RULE("NT-185/b", strncpy_s(none, zero, "a", 1) == EINVAL &&
                               strncpy_s(none, 1, none, zero) == EINVAL &&
                               strncpy_s(text, zero, none, zero) == EINVAL && text[0] == 'x');
    CHECK_RULE("NT-185/d", wcsncat_s(none, zero, none, zero) == 0 &&
                               wcsncpy_s(none, zero, none, zero) == 0 &&
                               wcscpy_s(wide_text, zero, L"a") == EINVAL && wide_text[0] == 'x');
    CHECK_RULE("NT-185/f", memmove_s(none, zero, none, zero) == 0 &&
                               memmove_s(text, 8, none, zero) == 0 &&
                               memmove_s(none, 8, "a", 1) == EINVAL && text[0] == 'x');
    CHECK_RULE("NT-185/f", memmove_s(text, 4, "abcd", 4) == 0 && memcmp(text, "abcdxxxx", 8) == 0);
    CHECK_RULE("NT-185/e", memcpy_s(text, 3, "ABC", 3) == 0 && memcmp(text, "ABCdxxxx", 8) == 0);
    CHECK_RULE("NT-185/e",
               memcpy_s(text, 3, none, 2) == EINVAL && memcmp(text, "\0\0\0dxxxx", 8) == 0);
}

TEST_WITH(driver, wide_strings_know_their_room)
{
    fill();
    wide_text[7] = 'x';
    CHECK_RULE("NT-185/d", wcscat_s(wide_text, 8, L"a") == EINVAL && wide_text[0] == 0);
    CHECK_RULE("NT-185/d", wcsncpy_s(wide_text, 8, none, 0) == 0 && wide_text[0] == 0 &&
                               wcsncpy_s(wide_text, 8, none, 1) == EINVAL);
    CHECK_RULE("NT-185/d", wcscpy_s(wide_text, 8, L"\x0100\x0141") == 0 && wide_text[0] == 0x100 &&
                               wide_text[1] == 0x141 && wide_text[2] == 0);
    CHECK_RULE("NT-185/d", wcscat_s(wide_text, 8, L"\x0200") == 0 && wide_text[2] == 0x200);
    CHECK_RULE("NT-185/d", wcsncat_s(wide_text, 5, L"abc", _TRUNCATE) == STRUNCATE &&
                               wide_text[3] == 'a' && wide_text[4] == 0);
}

static int NTAPI list(bool wide, size_t size, size_t count, const void *format, ...)
{
    __builtin_ms_va_list arguments;
    int written;

    __builtin_ms_va_start(arguments, format);
    if (count == zero)
        written = wide ? vswprintf_s(wide_text, size, format, arguments)
                       : vsprintf_s(text, size, format, arguments);
    else
        written = wide ? _vsnwprintf_s(wide_text, size, count, format, arguments)
                       : _vsnprintf_s(text, size, count, format, arguments);
    __builtin_ms_va_end(arguments);
    return written;
}

TEST_WITH(driver, formats_know_their_room)
{
    fill();
    CHECK_RULE("NT-185/g", sprintf_s(text, 8, none) == -1 && text[0] == 'x');
    CHECK_RULE("NT-185/g", list(false, 4, 0, "%u", 123u) == 3 && strcmp(text, "123") == 0);
    CHECK_RULE("NT-185/g", list(false, 4, 0, "%u", 1234u) == -1 && text[0] == 0 && text[4] == 'x');
    CHECK_RULE("NT-185/g", list(true, 4, 0, L"%u", 123u) == 3 && wcscmp(wide_text, L"123") == 0);
    CHECK_RULE("NT-185/g", list(true, 4, 0, L"%u", 1234u) == -1 && wide_text[0] == 0);
    CHECK_RULE("NT-185/h", list(false, 8, 3, "%u", 1234u) == -1 && strcmp(text, "123") == 0);
    CHECK_RULE("NT-185/h", list(false, 4, 4, "%u", 1234u) == -1 && text[0] == 0);
    CHECK_RULE("NT-185/h", list(true, 8, 3, L"%u", 1234u) == -1 && wcscmp(wide_text, L"123") == 0);
    CHECK_RULE("NT-185/h",
               list(true, 4, _TRUNCATE, L"%u", 1234u) == -1 && wcscmp(wide_text, L"123") == 0);
    CHECK_RULE("NT-185/g", swprintf_s(wide_text, 3, L"%s", L"ab") == 2 &&
                               swprintf_s(wide_text, 2, L"%s", L"ab") == -1 && wide_text[0] == 0);
    CHECK_RULE("NT-185/h",
               _snwprintf_s(wide_text, 8, 2, L"%s", L"abc") == -1 && wcscmp(wide_text, L"ab") == 0);
}

/* ---- memory ---- */

TEST_WITH(driver, ranges_that_touch_do_not_overlap)
{
    void *(NTAPI * copy)(void *, const void *, size_t);
    char bytes[16] = "abcdefgh";

    *(void **)&copy = nt_routine_find("memcpy");
    CHECK(copy(bytes, bytes, 8) == bytes && errors() == 0); /* onto itself */
    CHECK(copy(bytes + 4, bytes, 4) == bytes + 4 && memcmp(bytes, "abcdabcd", 8) == 0);
    copy(bytes, bytes + 4, 4);
    CHECK(copy(bytes, bytes + 1, 0) == bytes && errors() == 0);
    copy(bytes + 3, bytes, 4);
    CHECK_RULE("NT-152/d", reported("NT-152", 0xC4, 0xF0) && errors() == 1);
    copy(bytes, bytes + 3, 4);
    CHECK_RULE("NT-152/d", errors() == 2);
    CHECK_RULE("NT-152/a", RtlCompareMemory(bytes, bytes + 8, 0) == 0);
}

TEST_WITH(driver, runs_of_bits_do_not_cross_others)
{
    ULONG bits[4] = {0x0FFFFFFF, 0xFFFFFFFF, 0xFFFFFF00, 0};
    RTL_BITMAP map;

    RtlInitializeBitMap(&map, bits, 128);
    CHECK(RtlFindClearBits(&map, 4, 0) == 28 && RtlFindClearBits(&map, 5, 0) == 64);
    CHECK(RtlFindClearBits(&map, 8, 0) == 64 && RtlFindClearBits(&map, 9, 0) == 96);
    CHECK(RtlFindClearBits(&map, 32, 0) == 96 && RtlFindClearBits(&map, 33, 0) == 0xFFFFFFFF);
    CHECK(RtlFindClearBits(&map, 4, 97) == 97 && RtlFindClearBits(&map, 32, 97) == 96);
    CHECK(RtlFindClearBits(&map, 1, 128) == 28 && RtlFindClearBits(&map, 0, 77) == 72);
    CHECK(RtlFindClearBits(&map, 0, 127) == 120 && RtlFindClearBits(&map, 0, 128) == 0);
    CHECK(RtlFindClearBits(&map, 129, 0) == 0xFFFFFFFF);
    CHECK(RtlFindSetBits(&map, 60, 0) == 0xFFFFFFFF && RtlFindSetBits(&map, 32, 1) == 32);
    CHECK(errors() == 0);
}
