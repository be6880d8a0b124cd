/* SPDX-License-Identifier: MIT */
/* The kernel's printf: each flag, size and conversion, in texts of narrow and of wide characters. */
#include "nt/routine.h"
#include "support/harness.h"

static int(NTAPI *narrow)(char *, size_t, const char *, ...);
static int(NTAPI *wide)(WCHAR *, size_t, const WCHAR *, ...);

static char text[64];
static WCHAR wide_text[64];
static char room[1200000];

static void find(void)
{
    *(void **)&narrow = nt_routine_find("_snprintf");
    *(void **)&wide = nt_routine_find("_snwprintf");
}

static bool is(int length, const char *expected)
{
    bool good = length == (int)strlen(expected) && strcmp(text, expected) == 0;

    if (!good)
        print_message("\"%s\" of %d instead of \"%s\"\n", text, length, expected);
    memset(text, 'x', sizeof(text));
    return good;
}

static bool wide_is(int length, const WCHAR *expected, size_t bytes)
{
    bool good = length == (int)(bytes / sizeof(WCHAR)) - 1 &&
                memcmp(wide_text, expected, bytes) == 0;

    memset(wide_text, 'x', sizeof(wide_text));
    return good;
}

#define IS(expected, ...) CHECK(is(narrow(text, sizeof(text), __VA_ARGS__), expected))
#define WIDE_IS(expected, ...) \
    CHECK(wide_is(wide(wide_text, 64, __VA_ARGS__), expected, sizeof(expected)))

TEST_WITH(driver, signs_and_widths_of_numbers)
{
    find();
    IS("0", "%d", 0);
    IS("7", "%i", 7);
    IS(" 5|-5", "% d|% d", 5, -5);
    IS("+5|-5|+0", "%+d|%+d|%+d", 5, -5, 0);
    IS("+5|+5", "%+ d|% +d", 5, 5);
    IS("-0042|00042", "%05d|%05d", -42, 42);
    IS("42   |-42  ", "%-5d|%-5d", 42, -42);
    IS("42   |42   ", "%-05d|%0-5d", 42, 42);
    IS("   42|  -42", "%5d|%5d", 42, -42);
    IS("12345|12345|123456", "%5d|%4d|%5d", 12345, 12345, 123456);
    IS("+0042| 0042", "%+05d|% 05d", 42, 42);
    IS("  +42|+42  ", "%+5d|%+-5d", 42, 42);
    IS("42", "%+u", 42u);
}

TEST_WITH(driver, precisions_of_numbers)
{
    find();
    IS("005|-005", "%.3d|%.3d", 5, -5);
    IS("12345|123", "%.2d|%.3d", 12345, 123);
    IS("||+", "%.0d|%.d|%+.0d", 0, 0, 0);
    IS("0|5|  ", "%.1d|%.0d|%2.0d", 0, 5, 0);
    IS("  007|007  ", "%5.3d|%-5.3d", 7, 7);
    IS("  007", "%05.3d", 7); /* a precision replaces zeroes */
    IS(" -007", "%5.3d", -7);
    IS("00ff|  0xff", "%.4x|%#6x", 255u, 255u);
}

TEST_WITH(driver, bases_of_numbers)
{
    find();
    IS("10|0|777", "%o|%o|%o", 8u, 0u, 511u);
    IS("010|0", "%#o|%#o", 8u, 0u);
    IS("abcdef09|ABCDEF09", "%x|%X", 0xABCDEF09u, 0xABCDEF09u);
    IS("0xff|0XFF|0|0", "%#x|%#X|%#x|%#X", 255u, 255u, 0u, 0u);
    IS("0x00ab|0xab  |0x000ab", "%#06x|%-#6x|%#.5x", 0xABu, 0xABu, 0xABu);
    IS("4294967295|0", "%u|%u", 0xFFFFFFFFu, 0u);
    IS("18446744073709551615", "%I64u", ~0ull);
    IS("1777777777777777777777", "%I64o", ~0ull);
    IS("-9223372036854775808", "%I64d", (LONGLONG)(1ull << 63));
}

TEST_WITH(driver, widths_from_arguments)
{
    find();
    IS("   42|42   |", "%*d|%*d|", 5, 42, -5, 42);
    IS("42|42", "%*d|%*d", 0, 42, 2, 42);
    IS("007|7||0", "%.*d|%.*d|%.*d|%.*d", 3, 7, -1, 7, 0, 0, -1, 0);
    IS("  ab|", "%*.*s|", 4, 2, "abc");
    IS("42   |", "%0*d|", -5, 42);
    CHECK(narrow(room, sizeof(room), "%*d", -99999, 5) == 99999 && room[0] == '5');
    CHECK(narrow(room, sizeof(room), "%*d", -100000, 5) == 100000 && room[1] == ' ');
    CHECK(narrow(room, sizeof(room), "%*d", -100001, 5) == 100000);
    CHECK(narrow(room, sizeof(room), "%*d", (int)(1u << 31), 5) == 100000);
    /* A width of more than six digits is not read to its end. */
    CHECK(narrow(room, sizeof(room), "%999999d", 5) == 999999);
    CHECK(narrow(room, sizeof(room), "%9999999d", 5) == 999999);
    CHECK(narrow(room, sizeof(room), "%1000001d", 5) == 100000);
}

TEST_WITH(driver, sizes_of_numbers)
{
    const ULONGLONG value = 0x1234567887658181;

    find();
    IS("8181|-32383|33153", "%hx|%hd|%hu", value, value, value);
    IS("81|-127|129", "%hhx|%hhd|%hhu", value, value, value);
    IS("127|32767", "%hhd|%hd", 127, 32767);
    IS("87658181|-2023390847|87658181", "%x|%d|%lx", value, value, value);
    IS("-2023390847|87658181", "%ld|%I32x", value, value);
    IS("1234567887658181|1234567887658181", "%llx|%I64x", value, value);
    IS("1234567887658181|1234567887658181", "%Ix|%zx", value, value);
    IS("1234567887658181|1234567887658181", "%jx|%tx", value, value);
    IS("1234567887658181|87658181|5", "%I6x|%I3x|%wd", value, value, 5);
    IS("1234567887658181|0000000000000000", "%p|%p", (void *)value, NULL);
    IS("    00000000ABCDEF01|", "%20p|", (void *)0xABCDEF01);
    IS("00000000ABCDEF01    |", "%-20.2p|", (void *)0xABCDEF01);
}

TEST_WITH(driver, texts_within_texts)
{
    static const WCHAR strange[] = {0xFF, 0x100, 0x141, 'z', 0};
    const char *nothing = NULL;

    find();
    IS("abc|  abc|abc  |", "%s|%5s|%-5s|", "abc", "abc", "abc");
    IS("abc|ab||abc", "%2s|%.2s|%.0s|%.9s", "abc", "abc", "abc", "abc");
    IS("   ab|ab   |", "%5.2s|%-5.2s|", "abc", "abc");
    IS("wide|wide|wide", "%S|%ls|%ws", L"wide", L"wide", L"wide");
    IS("narrow|narrow", "%hs|%hS", "narrow", "narrow");
    IS("(null)|(nu|  (null)", "%s|%.3s|%8S", nothing, nothing, nothing);
    IS("\xFF??z", "%S", strange);
    IS("A|A|A|A", "%c|%C|%lc|%hc", 'A', 'A', 'A', 'A');
    IS("    A|A    |A||", "%5c|%-5c|%.1c|%.0c|", 'A', 'A', 'A', 'A');
    IS("A|?|?|A", "%c|%C|%lc|%hC", 0x141, 0x141, 0x141, 0x141);
    IS("a%b|y|100", "a%%b|%y|100%", 5);
    IS("1||2", "%d|%n|%d", 1, &text, 2); /* nothing is written through it */
    CHECK(text[0] == 'x');
}

TEST_WITH(driver, counted_texts_within_texts)
{
    UNICODE_STRING counted = {6, 10, (PWCH)(uintptr_t)L"abcde"};
    STRING bytes = {3, 5, (PCHAR)(uintptr_t) "fghij"};
    const void *nothing = NULL;

    find();
    IS("abc|abc|ab|  abc", "%wZ|%lZ|%.2wZ|%5wZ", &counted, &counted, &counted, &counted);
    IS("fgh|fg|fgh  |fgh", "%Z|%.2Z|%-5Z|%hZ", &bytes, &bytes, &bytes, &bytes);
    IS("(null)|(null)", "%Z|%wZ", nothing, nothing);
    counted.Length = 0;
    IS("|", "%wZ|", &counted);
}

TEST_WITH(driver, wide_texts)
{
    UNICODE_STRING counted = {4, 6, (PWCH)(uintptr_t)L"\x0141z"};

    find();
    WIDE_IS(L"a5|0x1f|%", L"a%d|%#x|%%", 5, 31);
    WIDE_IS(L"\x0141w|n|n|w", L"%s|%S|%hs|%ls", L"\x0141w", "n", "n", L"w");
    WIDE_IS(L"\x0141|A|\x0141|A", L"%c|%C|%lc|%hc", 0x141, 0x141, 0x141, 0x141);
    WIDE_IS(L"(null)|  (null)", L"%s|%8S", NULL, NULL);
    WIDE_IS(L"\x0141z", L"%wZ", &counted);
    WIDE_IS(L"\x0142", L"\x0142");
}

/* Without room for a terminator there is none, and without room for the text only its begin. */
TEST_WITH(driver, texts_end_with_their_buffers)
{
    find();
    memset(text, 'x', sizeof(text));
    CHECK(narrow(text, 4, "%s", "abc") == 3 && memcmp(text, "abc\0x", 5) == 0);
    memset(text, 'x', sizeof(text));
    CHECK(narrow(text, 3, "%s", "abc") == 3 && memcmp(text, "abcx", 4) == 0);
    memset(text, 'x', sizeof(text));
    CHECK(narrow(text, 2, "%s", "abc") == -1 && memcmp(text, "abx", 3) == 0);
    memset(text, 'x', sizeof(text));
    CHECK(narrow(text, 0, "") == 0 && narrow(text, 0, "a") == -1 && text[0] == 'x');
    memset(wide_text, 'x', sizeof(wide_text));
    CHECK(wide(wide_text, 3, L"%d", 123) == 3 && wide_text[3] == 0x7878);
    CHECK(wide(wide_text, 4, L"%d", 123) == 3 && wide_text[3] == 0);
    CHECK(wide(wide_text, 2, L"%d", 456) == -1 && wide_text[1] == '5' && wide_text[2] == '3');
}

/* ---- the other routines ---- */

static int NTAPI by_list(const char *name, size_t count, const void *format, ...)
{
    int(NTAPI * counted)(void *, size_t, const void *, __builtin_ms_va_list);
    int(NTAPI * open)(void *, const void *, __builtin_ms_va_list);
    __builtin_ms_va_list arguments;
    int length;

    *(void **)&counted = *(void **)&open = nt_routine_find(name);
    __builtin_ms_va_start(arguments, format);
    length = count ? counted(strstr(name, "w") ? (void *)wide_text : text, count, format, arguments)
                   : open(strstr(name, "w") ? (void *)wide_text : text, format, arguments);
    __builtin_ms_va_end(arguments);
    return length;
}

TEST_WITH(driver, all_routines_format)
{
    int(NTAPI * open)(char *, const char *, ...);
    int(NTAPI * open_wide)(WCHAR *, const WCHAR *, ...);

    find();
    *(void **)&open = nt_routine_find("sprintf");
    *(void **)&open_wide = nt_routine_find("swprintf");
    CHECK(is(open(text, "%d-%s", 5, "abc"), "5-abc"));
    CHECK(wide_is(open_wide(wide_text, L"%d-%s", 5, L"abc"), L"5-abc", 12));
    CHECK(is(by_list("vsprintf", 0, "%d-%s", 6, "abc"), "6-abc"));
    CHECK(wide_is(by_list("vswprintf", 0, L"%d-%s", 6, L"abc"), L"6-abc", 12));
    CHECK(is(by_list("_vsnprintf", 6, "%d-%s", 7, "abc"), "7-abc"));
    CHECK(by_list("_vsnprintf", 4, "%d-%s", 7, "abc") == -1 && memcmp(text, "7-abx", 5) == 0);
    CHECK(wide_is(by_list("_vsnwprintf", 6, L"%d-%s", 7, L"abc"), L"7-abc", 12));
    CHECK(by_list("_vsnwprintf", 4, L"%d-%s", 7, L"abc") == -1 && wide_text[3] == 'b' &&
          wide_text[4] == 0x7878);
}

/* ---- debug output ---- */

static PCSTR form;
static PVOID argument;

static void print_form(void)
{
    DbgPrint(form, argument);
}

static bool reported_raised(PCSTR format, const void *value)
{
    form = format;
    argument = (PVOID)(uintptr_t)value;
    forget_reports();
    in_dpc(print_form);
    return broken("NT-164");
}

TEST_WITH(driver, wide_characters_are_converted_at_passive_level)
{
    UNICODE_STRING counted = unicode_text(L"abc");
    STRING bytes = {3, 3, (PCHAR)(uintptr_t) "abc"};

    CHECK(!reported_raised("%s\n", "a") && !reported_raised("%hs\n", "a"));
    CHECK(!reported_raised("%hS\n", "a") && !reported_raised("%Z\n", &bytes));
    CHECK(!reported_raised("%c\n", (PVOID)'a') && !reported_raised("%hC\n", (PVOID)'a'));
    CHECK_RULE("NT-164/c", reported_raised("%S\n", L"a"));
    CHECK_RULE("NT-164/c", reported_raised("%ls\n", L"a"));
    CHECK_RULE("NT-164/c", reported_raised("%ws\n", L"a"));
    CHECK_RULE("NT-164/c", reported_raised("%C\n", (PVOID)'a'));
    CHECK_RULE("NT-164/c", reported_raised("%lc\n", (PVOID)'a'));
    CHECK_RULE("NT-164/c", reported_raised("%wZ\n", &counted));
    form = "%S\n";
    forget_reports();
    argument = (PVOID)(uintptr_t)L"a";
    print_form();
    CHECK_RULE("NT-164/c", errors() == 0);
}

TEST_WITH(driver, no_floating_point_is_printed)
{
    static const char *const forms[] = {"%e|\n", "%E|\n", "%f|\n", "%g|\n",
                                        "%G|\n", "%a|\n", "%A|\n"};

    for (size_t i = 0; i < RTL_NUMBER_OF(forms); i++) {
        CHECK_RULE("NT-164/d", reported_raised(forms[i], NULL));
        CHECK(strcmp(h.line[i], "|") == 0);
    }
}

TEST_WITH(driver, debug_text_comes_in_lines)
{
    static char longest[600];

    CHECK(DbgPrint(NULL) == (ULONG)STATUS_INVALID_PARAMETER && h.lines == 0);
    CHECK(DbgPrint("a\r\nb\r") == STATUS_SUCCESS && h.lines == 1 && strcmp(h.line[0], "a") == 0);
    DbgPrint("c\n\nd\n");
    CHECK(h.lines == 4 && strcmp(h.line[1], "bc") == 0 && strcmp(h.line[2], "") == 0);
    /* A line of 1023 characters is given out without its end, too. */
    memset(longest, 'y', 511);
    DbgPrint("%s", longest);
    longest[511] = 'y';
    DbgPrint("%s", longest);
    CHECK(h.lines == 4);
    DbgPrint("z");
    CHECK(h.lines == 5 && h.line[4][0] == 'y');
    DbgPrint("\n");
    CHECK(h.lines == 6 && strcmp(h.line[5], "z") == 0);
    /* Of one text 512 characters are kept: the end of the line is not among them. */
    DbgPrint("%s\n", longest);
    CHECK(h.lines == 6);
    longest[511] = '\0';
    DbgPrint("%s\n", longest);
    CHECK(h.lines == 7);
    CHECK(DbgPrompt("really?\n", NULL, 5) == 0);
    CHECK(errors() == 0);
}

static void print_raised(void)
{
    DbgPrint("raised\n");
}

TEST_WITH(driver, debug_text_is_printed_up_to_the_devices_levels)
{
    KIRQL old;

    for (KIRQL level = 3; level < 13; level++) {
        forget_reports();
        KeRaiseIrql(level, &old);
        print_raised();
        KeLowerIrql(old);
        CHECK(broken("NT-164") == (level == 12));
    }
}

TEST_WITH(driver, failed_assertions_name_what_they_know)
{
    RtlAssert((PVOID)(uintptr_t) "a == b", (PVOID)(uintptr_t) "file.c", 5,
              (PSTR)(uintptr_t) "message");
    CHECK(broken("NT-167"));
    forget_reports();
    RtlAssert(NULL, NULL, 0, NULL);
    CHECK(broken("NT-167") && errors() == 1);
}

static bool assertion_names(const char *file, const char *shown)
{
    char place[80];

    forget_reports();
    RtlAssert((PVOID)(uintptr_t) "a == b", (PVOID)(uintptr_t)file, 5, NULL);
    snprintf(place, sizeof(place), "(%s:5)", shown);
    return strstr(verify_record_at(h.log, verify_records(h.log) - 1)->seen, place);
}

/* A tree may be anywhere; the place in a report is the same, and is not cut. */
TEST_WITH(driver, failed_assertions_name_a_file_and_its_folder)
{
    CHECK(assertion_names("file.c", "file.c"));
    CHECK(assertion_names("/file.c", "/file.c"));
    CHECK(assertion_names("render/file.c", "render/file.c"));
    CHECK(assertion_names("/a/long/folder/of/somebody/who/builds/drivers/render/file.c",
                          "render/file.c"));
    CHECK(assertion_names("D:\\drivers\\render\\file.c", "render\\file.c"));
    CHECK(assertion_names("", ""));
}
