/* SPDX-License-Identifier: MIT */
/* Counted strings: each routine at the ends of its buffers, and letters at the ends of their rows. */
#include "nt/io/image_life.h"
#include "support/harness.h"

static UNICODE_STRING wide(PCWSTR text)
{
    return unicode_text(text);
}

static ANSI_STRING narrow(PCSZ text)
{
    ANSI_STRING string;

    RtlInitAnsiString(&string, text);
    return string;
}

/* ---- initialising ---- */

#define LONGEST 40000u

static void init_strings(void)
{
    static WCHAR long_wide[LONGEST + 1];
    static CHAR long_narrow[2 * LONGEST + 1];
    UNICODE_STRING u;
    ANSI_STRING a;

    for (unsigned i = 0; i < LONGEST; i++)
        long_wide[i] = 'x';
    memset(long_narrow, 'x', 2 * LONGEST);
    CHECK_RULE("NT-153/c", RtlInitUnicodeStringEx(&u, L"abc") == STATUS_SUCCESS && u.Length == 6 &&
                               u.MaximumLength == 8);
    CHECK_RULE("NT-153/b", RtlInitUnicodeStringEx(&u, NULL) == STATUS_SUCCESS && u.Length == 0 &&
                               u.MaximumLength == 0 && !u.Buffer);
    assert_true(RtlInitUnicodeStringEx(&u, long_wide) == STATUS_NAME_TOO_LONG);
    assert_true(u.Length == 0xFFFC && u.MaximumLength == 0xFFFE);
    long_wide[0x7FFE] = 0;
    assert_true(RtlInitUnicodeStringEx(&u, long_wide) == STATUS_SUCCESS && u.Length == 0xFFFC);
    CHECK_RULE("NT-153/c", RtlInitAnsiStringEx(&a, "abc") == STATUS_SUCCESS && a.Length == 3 &&
                               a.MaximumLength == 4);
    assert_true(RtlInitAnsiStringEx(&a, NULL) == STATUS_SUCCESS && a.MaximumLength == 0);
    assert_true(RtlInitAnsiStringEx(&a, long_narrow) == STATUS_NAME_TOO_LONG && a.Length == 0xFFFE);
    long_narrow[0xFFFE] = 0;
    assert_true(RtlInitAnsiStringEx(&a, long_narrow) == STATUS_SUCCESS && a.Length == 0xFFFE &&
                a.MaximumLength == 0xFFFF);
    RtlInitString(&a, "ab");
    assert_true(a.Length == 2 && a.MaximumLength == 3 && a.Buffer[0] == 'a');
}

TEST_WITH(driver, strings_are_initialised)
{
    init_strings();
    assert_int_equal(errors(), 0);
}

/* ---- copying and appending ---- */

TEST_WITH(driver, strings_are_copied_to_the_last_byte)
{
    WCHAR buffer[4];
    CHAR bytes[4];
    UNICODE_STRING to = {0, 6, buffer}, from = wide(L"ab");
    ANSI_STRING small = {0, 3, bytes}, source = narrow("abcd");

    memset(buffer, 0x11, sizeof(buffer));
    RtlCopyUnicodeString(&to, &from);
    CHECK_RULE("NT-154/a", to.Length == 4 && buffer[1] == 'b' && buffer[2] == 0);
    from = wide(L"abcd");
    RtlCopyUnicodeString(&to, &from);
    CHECK_RULE("NT-154/a", to.Length == 6 && buffer[2] == 'c' && buffer[3] == 0x1111);
    RtlCopyUnicodeString(&to, NULL);
    CHECK_RULE("NT-154/d", to.Length == 0 && buffer[0] == 0);
    memset(bytes, 0x11, sizeof(bytes));
    RtlCopyString(&small, &source);
    CHECK_RULE("NT-154/a", small.Length == 3 && memcmp(bytes, "abc\x11", 4) == 0);
    source = narrow("z");
    RtlCopyString(&small, &source);
    CHECK_RULE("NT-154/a", small.Length == 1 && memcmp(bytes, "zbc\x11", 4) == 0);
    RtlCopyString(&small, NULL);
    CHECK_RULE("NT-154/d", small.Length == 0);
    memset(buffer, 0x11, sizeof(buffer));
    to.Length = 2;
    from = wide(L"xy");
    CHECK_RULE("NT-154/c", RtlAppendUnicodeStringToString(&to, &from) == STATUS_SUCCESS &&
                               to.Length == 6 && buffer[2] == 'y' && buffer[3] == 0x1111);
    CHECK_RULE("NT-154/b", RtlAppendUnicodeStringToString(&to, &from) == STATUS_BUFFER_TOO_SMALL &&
                               to.Length == 6);
    to.Length = 2;
    from.Length = 2;
    CHECK_RULE("NT-154/c", RtlAppendUnicodeStringToString(&to, &from) == STATUS_SUCCESS &&
                               to.Length == 4 && buffer[1] == 'x' && buffer[2] == 0);
    CHECK_RULE("NT-154/d", RtlAppendUnicodeToString(&to, NULL) == STATUS_SUCCESS && to.Length == 4);
    assert_int_equal(errors(), 0);
}

/* ---- comparing ---- */

static int sign(LONG order)
{
    return (order > 0) - (order < 0);
}

TEST_WITH(driver, strings_are_ordered)
{
    static const struct {
        PCWSTR a, b;
        PCSZ c, d;
        int exact, without_case;
        bool prefix, prefix_without_case;
    } pair[] = {
        {L"", L"", "", "", 0, 0, true, true},
        {L"", L"a", "", "a", -1, -1, true, true},
        {L"a", L"", "a", "", 1, 1, false, false},
        {L"abc", L"abd", "abc", "abd", -1, -1, false, false},
        {L"abc", L"abc", "abc", "abc", 0, 0, true, true},
        {L"abc", L"ABC", "abc", "ABC", 1, 0, false, true},
        {L"AB", L"abc", "AB", "abc", -1, -1, false, true},
        {L"ab", L"abc", "ab", "abc", -1, -1, true, true},
        {L"abcd", L"abc", "abcd", "abc", 1, 1, false, false},
        {L"\xE4", L"\xC4", "\xE4", "\xC4", 1, 0, false, true},
    };

    for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
        const UNICODE_STRING a = wide(pair[i].a), b = wide(pair[i].b);
        const STRING c = narrow(pair[i].c), d = narrow(pair[i].d);

        assert_int_equal(sign(RtlCompareUnicodeString(&a, &b, FALSE)), pair[i].exact);
        assert_int_equal(sign(RtlCompareUnicodeString(&a, &b, TRUE)), pair[i].without_case);
        assert_int_equal(RtlEqualUnicodeString(&a, &b, FALSE), pair[i].exact == 0);
        assert_int_equal(RtlEqualUnicodeString(&a, &b, TRUE), pair[i].without_case == 0);
        assert_int_equal(sign(RtlCompareString(&c, &d, FALSE)), pair[i].exact);
        assert_int_equal(sign(RtlCompareString(&c, &d, TRUE)), pair[i].without_case);
        assert_int_equal(RtlEqualString(&c, &d, FALSE), pair[i].exact == 0);
        assert_int_equal(RtlEqualString(&c, &d, TRUE), pair[i].without_case == 0);
        assert_int_equal(RtlPrefixUnicodeString(&a, &b, FALSE), pair[i].prefix);
        assert_int_equal(RtlPrefixUnicodeString(&a, &b, TRUE), pair[i].prefix_without_case);
    }
    assert_int_equal(errors(), 0);
}

/* First and last of each row, and what lies beside it. */
TEST_WITH(driver, letters_have_two_cases)
{
    static const struct {
        WCHAR first, last, first_upper;
    } row[] = {
        {'a', 'z', 'A'},       {0xE0, 0xF6, 0xC0},    {0xF8, 0xFE, 0xD8},    {0x3B1, 0x3C1, 0x391},
        {0x3C3, 0x3C9, 0x3A3}, {0x430, 0x44F, 0x410}, {0x450, 0x45F, 0x400}, {0xFF, 0xFF, 0x178},
    };
    static const WCHAR alone[] = {0,     '@',   '[',   '`',   '{',   0xD7,  0xDF,
                                  0xF7,  0x100, 0x179, 0x390, 0x3A2, 0x3AA, 0x3B0,
                                  0x3C2, 0x3CA, 0x460, 0x3FF, 0xFFFF};
    WCHAR text[2] = {0, 0}, upper[2];
    UNICODE_STRING from = {2, 4, text}, to = {0, 2, upper};

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        for (unsigned c = row[i].first; c <= row[i].last; c++) {
            WCHAR other = (WCHAR)(row[i].first_upper + (c - row[i].first));

            assert_int_equal(RtlUpcaseUnicodeChar((WCHAR)c), other);
            assert_int_equal(RtlUpcaseUnicodeChar(other), other);
            assert_int_equal(RtlDowncaseUnicodeChar(other), c);
            assert_int_equal(RtlDowncaseUnicodeChar((WCHAR)c), c);
            text[0] = (WCHAR)c;
            assert_int_equal(RtlUpcaseUnicodeString(&to, &from, FALSE), STATUS_SUCCESS);
            assert_true(to.Length == 2 && upper[0] == other);
        }
    for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++) {
        assert_int_equal(RtlUpcaseUnicodeChar(alone[i]), alone[i]);
        assert_int_equal(RtlDowncaseUnicodeChar(alone[i]), alone[i]);
    }
    assert_int_equal(errors(), 0);
}

/* ---- conversions ---- */

TEST_WITH(driver, conversions_fill_buffers_to_their_ends)
{
    WCHAR buffer[5];
    CHAR bytes[5];
    UNICODE_STRING u = {0, 8, buffer}, three = wide(L"a\xE9\x20AC");
    ANSI_STRING a = {0, 4, bytes}, source = narrow("a\xE9z");

    assert_int_equal(RtlxAnsiStringToUnicodeSize(&source), 8);
    assert_int_equal(RtlxUnicodeStringToAnsiSize(&three), 4);
    memset(buffer, 0x11, sizeof(buffer));
    assert_int_equal(RtlAnsiStringToUnicodeString(&u, &source, FALSE), STATUS_SUCCESS);
    assert_true(u.Length == 6 && buffer[1] == 0xE9 && buffer[3] == 0 && buffer[4] == 0x1111);
    u.MaximumLength = 7;
    assert_int_equal(RtlAnsiStringToUnicodeString(&u, &source, FALSE), STATUS_BUFFER_OVERFLOW);
    memset(bytes, 0x11, sizeof(bytes));
    assert_int_equal(RtlUnicodeStringToAnsiString(&a, &three, FALSE), STATUS_SUCCESS);
    assert_true(a.Length == 3 && memcmp(bytes, "a\xE9?\0\x11", 5) == 0);
    a.MaximumLength = 3;
    assert_int_equal(RtlUnicodeStringToAnsiString(&a, &three, FALSE), STATUS_BUFFER_OVERFLOW);
    assert_true(a.Length == 2 && bytes[2] == 0);
    a.MaximumLength = 1;
    assert_int_equal(RtlUnicodeStringToAnsiString(&a, &three, FALSE), STATUS_BUFFER_OVERFLOW);
    assert_true(a.Length == 0 && bytes[0] == 0);
    a.MaximumLength = 0;
    assert_int_equal(RtlUnicodeStringToAnsiString(&a, &three, FALSE), STATUS_BUFFER_OVERFLOW);
    u.MaximumLength = 5;
    assert_int_equal(RtlUpcaseUnicodeString(&u, &three, FALSE), STATUS_BUFFER_OVERFLOW);
    u.MaximumLength = 6;
    assert_int_equal(RtlUpcaseUnicodeString(&u, &three, FALSE), STATUS_SUCCESS);
    assert_true(u.Length == 6 && buffer[0] == 'A' && buffer[1] == 0xC9);
    assert_int_equal(errors(), 0);
}

TEST_WITH(driver, conversions_allocate_and_free)
{
    UNICODE_STRING u = {0}, three = wide(L"abc");
    ANSI_STRING a = {0}, source = narrow("abc");

    assert_int_equal(RtlUnicodeStringToAnsiString(&a, &three, TRUE), STATUS_SUCCESS);
    assert_true(a.Length == 3 && a.MaximumLength == 4 && memcmp(a.Buffer, "abc", 4) == 0);
    RtlFreeAnsiString(&a);
    assert_true(a.Length == 0 && a.MaximumLength == 0 && !a.Buffer);
    assert_int_equal(RtlUpcaseUnicodeString(&u, &three, TRUE), STATUS_SUCCESS);
    assert_true(u.Length == 6 && u.MaximumLength == 6 && u.Buffer[2] == 'C');
    RtlFreeUnicodeString(&u);
    assert_true(u.Length == 0 && u.MaximumLength == 0 && !u.Buffer);
    RtlFreeUnicodeString(&u); /* of nothing */
    CHECK_RULE("NT-155/c", nt_image_leak_check(h.image) == 0 && errors() == 0);
    u = three;
    RtlFreeUnicodeString(&u);
    CHECK_RULE("NT-155/b", errors() == 1);
    a = source;
    RtlFreeAnsiString(&a);
    CHECK_RULE("NT-155/b", errors() == 2);
    assert_int_equal(RtlAnsiStringToUnicodeString(&u, &source, TRUE), STATUS_SUCCESS);
    u.Buffer++;
    three = u;
    RtlFreeUnicodeString(&three); /* not its start */
    CHECK_RULE("NT-155/b", errors() == 3);
    u.Buffer--;
    RtlFreeUnicodeString(&u);
    CHECK_RULE("NT-155/c", nt_image_leak_check(h.image) == 0);
}

/* ---- numbers ---- */

static void expect_number(ULONGLONG value, ULONG base, PCWSTR text)
{
    WCHAR buffer[66];
    UNICODE_STRING expected = wide(text), got = {2, expected.Length, buffer};

    memset(buffer, 0x11, sizeof(buffer));
    assert_int_equal(RtlInt64ToUnicodeString(value, base, &got), STATUS_SUCCESS);
    assert_true(got.Length == expected.Length && memcmp(buffer, text, got.Length) == 0);
    assert_int_equal(buffer[got.Length / 2], 0x1111);
    got.MaximumLength = (USHORT)(expected.Length - 1);
    assert_int_equal(RtlInt64ToUnicodeString(value, base, &got), STATUS_BUFFER_OVERFLOW);
    got.MaximumLength = (USHORT)(expected.Length + 2);
    if (value <= 0xFFFFFFFF) {
        assert_int_equal(RtlIntegerToUnicodeString((ULONG)value, base, &got), STATUS_SUCCESS);
        assert_true(got.Length == expected.Length && buffer[got.Length / 2] == 0);
    }
}

TEST_WITH(driver, numbers_become_text_in_four_bases)
{
    UNICODE_STRING none = {0};

    expect_number(0, 0, L"0");
    expect_number(1234567890, 10, L"1234567890");
    expect_number(0xFFFFFFFF, 16, L"FFFFFFFF");
    expect_number(0xFFFFFFFFFFFFFFFF, 16, L"FFFFFFFFFFFFFFFF");
    expect_number(0xFFFFFFFFFFFFFFFF, 10, L"18446744073709551615");
    expect_number(8, 8, L"10");
    expect_number(0xFFFFFFFFFFFFFFFF, 2,
                  L"1111111111111111111111111111111111111111111111111111111111111111");
    assert_int_equal(RtlInt64ToUnicodeString(1, 3, &none), STATUS_INVALID_PARAMETER);
    assert_int_equal(RtlIntegerToUnicodeString(1, 36, &none), STATUS_INVALID_PARAMETER);
}

TEST_WITH(driver, text_becomes_numbers)
{
    static const struct {
        PCWSTR text;
        ULONG base, value;
    } form[] = {
        {L"", 10, 0},
        {L"12", 10, 12},
        {L" \t12x", 10, 12},
        {L"-12", 10, (ULONG)-12},
        {L"+7", 10, 7},
        {L"ff", 16, 255},
        {L"fG", 16, 15},
        {L"0x1F", 0, 31},
        {L"0b101", 0, 5},
        {L"0o17", 0, 15},
        {L"017", 0, 17},
        {L"0", 0, 0},
        {L"19", 8, 1},
        {L"1012", 2, 5},
        {L"0x10", 16, 0},
        {L"-0x10", 0, (ULONG)-16},
        {L"4294967295", 10, 0xFFFFFFFF},
        {L"abc", 10, 0},
        {L"Z", 16, 0},
    };
    const UNICODE_STRING one = wide(L"1");
    ULONG value = 5;

    for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
        const UNICODE_STRING text = wide(form[i].text);

        value = 99;
        assert_int_equal(RtlUnicodeStringToInteger(&text, form[i].base, &value), STATUS_SUCCESS);
        if (value != form[i].value)
            fail_msg("form %zu: %u", i, (unsigned)value);
    }
    assert_int_equal(RtlUnicodeStringToInteger(&one, 7, &value), STATUS_INVALID_PARAMETER);
    assert_int_equal(errors(), 0);
}

/* ---- level ---- */

static void convert(void)
{
    WCHAR buffer[4];
    UNICODE_STRING a = wide(L"a"), u = {0, 8, buffer};
    CHAR bytes[4];
    ANSI_STRING c = narrow("a"), d = {0, 4, bytes};
    ULONG value;
    unsigned before;

#define TELLS(call)              \
    before = (unsigned)errors(); \
    (void)(call);                \
    CHECK_RULE("NT-155/b", errors() == before + 1)

    TELLS(RtlCompareUnicodeString(&a, &a, TRUE));
    TELLS(RtlEqualUnicodeString(&a, &a, TRUE));
    TELLS(RtlPrefixUnicodeString(&a, &a, TRUE));
    TELLS(RtlEqualString(&c, &c, TRUE));
    TELLS(RtlCompareString(&c, &c, TRUE));
    TELLS(RtlUpcaseUnicodeChar('a'));
    TELLS(RtlDowncaseUnicodeChar('a'));
    TELLS(RtlUpcaseUnicodeString(&u, &a, FALSE));
    TELLS(RtlAnsiStringToUnicodeString(&u, &c, FALSE));
    TELLS(RtlUnicodeStringToAnsiString(&d, &a, FALSE));
    TELLS(RtlIntegerToUnicodeString(1, 10, &u));
    TELLS(RtlInt64ToUnicodeString(1, 10, &u));
    TELLS(RtlUnicodeStringToInteger(&a, 10, &value));
}

/* What lies behind a string is no part of it. */
TEST_WITH(driver, strings_end_with_their_length)
{
    WCHAR whole[] = L"abzz", other[] = L"abaz";
    UNICODE_STRING a = {2 * sizeof(WCHAR), sizeof(whole), whole};
    UNICODE_STRING b = {2 * sizeof(WCHAR), sizeof(other), other};

    for (unsigned ignore = 0; ignore < 2; ignore++) {
        CHECK(RtlCompareUnicodeString(&a, &b, (BOOLEAN)ignore) == 0);
        a.Length = 3 * sizeof(WCHAR); /* "abz" and "ab", behind which an 'a' lies */
        CHECK(RtlCompareUnicodeString(&a, &b, (BOOLEAN)ignore) == 1);
        CHECK(RtlCompareUnicodeString(&b, &a, (BOOLEAN)ignore) == -1);
        a.Length = 2 * sizeof(WCHAR); /* "ab", behind which a 'z' lies, and "aba" */
        b.Length = 3 * sizeof(WCHAR);
        CHECK(RtlCompareUnicodeString(&a, &b, (BOOLEAN)ignore) == -1);
        CHECK(RtlCompareUnicodeString(&b, &a, (BOOLEAN)ignore) == 1);
        b.Length = 2 * sizeof(WCHAR);
    }
}

TEST_WITH(driver, tables_and_numbers_need_passive_level)
{
    KIRQL old;

    KeRaiseIrql(APC_LEVEL, &old);
    convert();
    KeLowerIrql(old);
}
