/* SPDX-License-Identifier: MIT */
/* The C library functions that know the size of their destination. */
#include "nt/routine.h"
#include "support/harness.h"

static char text[8];
static WCHAR wide[8];
/* What analysers of sources must not know to be nothing. */
static char *none;
static size_t zero;

static void fill(void)
{
    memset(text, 'x', sizeof(text));
    memcpy(wide, L"xxxxxxx", sizeof(wide));
}

static bool is(const char *expected)
{
    return strcmp(text, expected) == 0;
}

TEST_WITH(driver, strings_are_copied)
{
    fill();
    CHECK_RULE("NT-185/a", strcpy_s(text, 8, "1234567") == 0 && is("1234567"));
    CHECK_RULE("NT-185/a", strcpy_s(text, 8, "12345678") == ERANGE && is(""));
    fill();
    CHECK_RULE("NT-185/a", strcpy_s(text, 3, "123") == ERANGE && text[0] == 0 && text[3] == 'x');
    fill();
    CHECK_RULE("NT-185/a", strcpy_s(text, 8, none) == EINVAL && is(""));
    CHECK_RULE("NT-185/a", strcpy_s(none, 8, "a") == EINVAL && strcpy_s(text, zero, "a") == EINVAL);

    CHECK_RULE("NT-185/b", strncpy_s(text, 8, "123456789", 7) == 0 && is("1234567"));
    CHECK_RULE("NT-185/b", strncpy_s(text, 8, "123456789", 8) == ERANGE && is(""));
    CHECK_RULE("NT-185/b", strncpy_s(text, 4, "123456789", _TRUNCATE) == STRUNCATE && is("123"));
    CHECK_RULE("NT-185/b", strncpy_s(text, 8, "12", _TRUNCATE) == 0 && is("12"));
    CHECK_RULE("NT-185/b", strncpy_s(text, 8, "12", 0) == 0 && is(""));
    CHECK_RULE("NT-185/b",
               strncpy_s(text, 8, none, 0) == 0 && strncpy_s(none, zero, none, zero) == 0);
    CHECK(errors() == 0);
}

TEST_WITH(driver, strings_are_appended)
{
    strcpy_s(text, 8, "123");
    CHECK_RULE("NT-185/c", strcat_s(text, 8, "4567") == 0 && is("1234567"));
    CHECK_RULE("NT-185/c", strcat_s(text, 8, "8") == ERANGE && is(""));
    fill();
    CHECK_RULE("NT-185/c", strcat_s(text, 8, "8") == EINVAL && is("")); /* it had no end */
    strcpy_s(text, 8, "12");
    CHECK_RULE("NT-185/c", strncat_s(text, 8, "3456", 2) == 0 && is("1234"));
    CHECK_RULE("NT-185/c", strncat_s(text, 6, "56789", _TRUNCATE) == STRUNCATE && is("12345"));
    CHECK_RULE("NT-185/c", strncat_s(text, 8, none, 0) == 0 && is("12345"));
    CHECK_RULE("NT-185/c", strncat_s(text, 8, none, 1) == EINVAL && is(""));
}

TEST_WITH(driver, wide_strings_are_copied_and_appended)
{
    fill();
    CHECK_RULE("NT-185/d", wcscpy_s(wide, 8, L"1234567") == 0 && wcscmp(wide, L"1234567") == 0);
    CHECK_RULE("NT-185/d", wcscpy_s(wide, 8, L"12345678") == ERANGE && wide[0] == 0);
    CHECK_RULE("NT-185/d",
               wcsncpy_s(wide, 3, L"12345", _TRUNCATE) == STRUNCATE && wcscmp(wide, L"12") == 0);
    CHECK_RULE("NT-185/d", wcscat_s(wide, 8, L"345") == 0 && wcscmp(wide, L"12345") == 0);
    CHECK_RULE("NT-185/d", wcsncat_s(wide, 8, L"678", 2) == 0 && wcscmp(wide, L"1234567") == 0);
    CHECK_RULE("NT-185/d", wcscat_s(wide, 8, L"8") == ERANGE && wide[0] == 0);
}

TEST_WITH(driver, memory_is_copied)
{
    fill();
    CHECK_RULE("NT-185/e", memcpy_s(text, 8, "1234567", 8) == 0 && is("1234567"));
    CHECK_RULE("NT-185/e", memcpy_s(text, 7, "abcdefgh", 8) == ERANGE && text[6] == 0);
    strcpy_s(text, 8, "1234567");
    CHECK_RULE("NT-185/f", memmove_s(text + 1, 6, text, 6) == 0 && is("1123456"));
    CHECK_RULE("NT-185/f", memmove_s(text, 5, "abcdef", 6) == ERANGE && is("1123456"));
    CHECK_RULE("NT-185/e", memcpy_s(text, 8, none, 1) == EINVAL && text[0] == 0);
    CHECK_RULE("NT-185/f",
               memcpy_s(none, 8, "a", 1) == EINVAL && memcpy_s(none, zero, none, zero) == 0);
    CHECK_RULE("NT-185/e", memmove_s(text, 8, none, 1) == EINVAL && errors() == 0);
}

TEST_WITH(driver, texts_are_formatted)
{
    CHECK_RULE("NT-185/g", sprintf_s(text, 8, "%u-%s", 12u, "3456") == 7 && is("12-3456"));
    CHECK_RULE("NT-185/g", sprintf_s(text, 8, "%u-%s", 12u, "34567") == -1 && is(""));
    CHECK_RULE("NT-185/g", sprintf_s(none, 8, "a") == -1 && sprintf_s(text, zero, "a") == -1);
    CHECK_RULE("NT-185/h", _snprintf_s(text, 8, 3, "%s", "12345") == -1 && is("123"));
    CHECK_RULE("NT-185/h",
               _snprintf_s(text, 8, _TRUNCATE, "%s", "123456789") == -1 && is("1234567"));
    CHECK_RULE("NT-185/h", _snprintf_s(text, 8, 20, "%s", "123456789") == -1 && is(""));
    CHECK_RULE("NT-185/h", _snprintf_s(text, 8, 3, "%s", "123") == 3 && is("123"));
    CHECK_RULE("NT-185/g",
               swprintf_s(wide, 8, L"%u", 1234567u) == 7 && wcscmp(wide, L"1234567") == 0);
    CHECK_RULE("NT-185/h", _snwprintf_s(wide, 8, _TRUNCATE, L"%u", 12345678u) == -1 &&
                               wcscmp(wide, L"1234567") == 0);
}

/* Windows images find them by name, the older ones without sizes, too. */
TEST_WITH(driver, names_are_found)
{
    static const char *const names[] = {
        "strcpy_s",   "strcat_s",    "strncpy_s",   "strncat_s",    "wcscpy_s",     "wcscat_s",
        "wcsncpy_s",  "wcsncat_s",   "memcpy_s",    "memmove_s",    "sprintf_s",    "swprintf_s",
        "vsprintf_s", "vswprintf_s", "_snprintf_s", "_snwprintf_s", "_vsnprintf_s", "_vsnwprintf_s",
        "strncat",    "strspn",      "isdigit",     "isspace",      "isupper",      "islower",
        "isxdigit",   "_purecall"};
    int(NTAPI * test)(int);

    for (size_t i = 0; i < RTL_NUMBER_OF(names); i++)
        CHECK(nt_routine_find(names[i]) != NULL);
    *(void **)&test = nt_routine_find("isxdigit");
    CHECK(test('f') && test('A') && test('9') && !test('g') && !test('G') && !test('/'));
    *(void **)&test = nt_routine_find("isspace");
    CHECK(test(' ') && test('\t') && test('\r') && !test('\b') && !test(14));
    *(void **)&test = nt_routine_find("isupper");
    CHECK(test('A') && test('Z') && !test('a') && !test('@') && !test('['));
    *(void **)&test = nt_routine_find("islower");
    CHECK(test('a') && test('z') && !test('A') && !test('`') && !test('{'));
    *(void **)&test = nt_routine_find("isdigit");
    CHECK(test('0') && test('9') && !test(':') && !test('/'));
}
