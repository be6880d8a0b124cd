/* SPDX-License-Identifier: MIT */
/* What texts are made of: lines in pieces, cells, numbers, times. */
#include "support/check_rule.h"
#include "support/test.h"
#include "util/array.h"
#include "wintrace/cells.h"
#include "wintrace/lines.h"
#include "wintrace/text_time.h"

#include <stdio.h>
#include <string.h>

/* All lines of a text that comes in two pieces, with '|' behind each. */
static const char *lines_of(const char *bytes, size_t length, size_t cut)
{
    static char text[256];
    struct lines lines;

    text[0] = 0;
    CHECK(lines_init(&lines, (const uint8_t *)bytes, length));
    for (size_t at = 0; at < length;) {
        size_t end = at < cut ? cut : length;

        at += lines_take(&lines, (const uint8_t *)bytes + at, end - at);
        if (lines.whole)
            strcat(strcat(text, lines.line), "|");
    }
    if (lines_rest(&lines))
        strcat(strcat(text, lines.line), "|");
    lines_finish(&lines);
    return text;
}

#define LINES(bytes, said)                                                      \
    do {                                                                        \
        for (size_t cut = 0; cut < sizeof(bytes); cut++)                        \
            assert_string_equal(lines_of(bytes, sizeof(bytes) - 1, cut), said); \
    } while (0)

TEST(lines_end_where_they_end)
{
    LINES("one\r\ntwo\n\nfour", "one|two||four|");
    LINES("one\n", "one|");
    LINES("\n\n", "||");
    LINES("\xEF\xBB\xBFone\n\xC3\xA4", "one|\xC3\xA4|");
    LINES("ab\0c\n", "ab c|"); /* a zero would end what follows */
}

TEST(lines_of_utf16_become_utf8)
{
    LINES("\xFF\xFEo\0n\0\r\0\n\0", "on|");
    LINES("\xFE\xFF\0o\0n\0\n\0e", "on|e|");
    LINES("o\0\xE4\0\xAC\x20\n\0", "o\xC3\xA4\xE2\x82\xAC|");
    LINES("o\0\x3D\xD8\x00\xDEx\0", "o\xF0\x9F\x98\x80x|");             /* a pair */
    LINES("o\0\x3D\xD8x\0\x00\xDEy\0", "o\xEF\xBF\xBDx\xEF\xBF\xBDy|"); /* halves of one */
}

static const char *cells_of(const char *line)
{
    static char text[256];
    struct cells cells;

    text[0] = 0;
    cells_split(&cells, (struct text){line, strlen(line)});
    for (unsigned i = 0; i < cells.count; i++) {
        struct text cell = cells_unquoted(cells.cell[i]);

        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%.*s|", (int)cell.length,
                 cell.at);
    }
    return text;
}

TEST(cells_end_at_commas)
{
    assert_string_equal(cells_of("a, b ,,\tc"), "a|b||c|");
    assert_string_equal(cells_of(""), "|");
    assert_string_equal(cells_of("\"a, b\", [1, 2], {x; [y, z]}, c"), "a, b|[1, 2]|{x; [y, z]}|c|");
    assert_string_equal(cells_of("\"a [, b\", c"), "a [, b|c|");
    assert_string_equal(cells_of("a \"b, c, [d, e]"),
                        "a \"b|c|[d|e]|"); /* without a partner, and nothing after it has one */
    assert_string_equal(cells_of("[a, b, c"), "[a|b|c|");
    assert_string_equal(cells_of("a], b, [c, d]"), "a]|b|[c, d]|"); /* one that opens nothing */
}

TEST(cells_without_number_are_cut)
{
    static char line[4 * CELLS];
    struct cells cells;

    memset(line, ',', sizeof(line));
    cells_split(&cells, (struct text){line, sizeof(line)});
    CHECK(cells.count == CELLS);
}

static bool is_number(const char *text, uint64_t value)
{
    uint64_t read = ~value;

    return text_number(text_of(text), &read) && read == value;
}

TEST(numbers_are_decimal_or_hexadecimal)
{
    uint64_t value;
    static const char *const none[] = {"",
                                       "-",
                                       "0x",
                                       "1x",
                                       "x1",
                                       "1 2",
                                       "0xG",
                                       "18446744073709551616",
                                       "0x10000000000000000",
                                       "--1",
                                       "-9223372036854775809"};

    CHECK(is_number("0", 0) && is_number(" 17 ", 17) && is_number("+5", 5) &&
          is_number("-1", UINT64_MAX));
    CHECK(is_number("0xfF", 255) && is_number("0X10", 16) &&
          is_number("18446744073709551615", UINT64_MAX));
    CHECK(is_number("-9223372036854775808", (uint64_t)1 << 63) &&
          is_number("0xFFFFFFFFFFFFFFFF", UINT64_MAX));
    for (size_t i = 0; i < ARRAY_COUNT(none); i++)
        CHECK(!text_number(text_of(none[i]), &value));
}

static bool is_time(const char *text, uint64_t seconds, uint64_t ns)
{
    uint64_t read;

    return text_time(text_of(text), &read) && read == seconds * 1000000000 + ns;
}

TEST(times_are_since_1970)
{
    CHECK(is_time("1970-01-01T00:00:00Z", 0, 0));
    CHECK(is_time("1970-01-01T00:00:00.000000001", 0, 1));
    CHECK(is_time("2000-02-29T23:59:59.5Z", 951868799, 500000000));
    CHECK(is_time("2000-03-01T00:00:00Z", 951868800, 0));
    CHECK(is_time("2026-11-26T14:08:09.1234567Z", 1795702089, 123456700));
    CHECK(is_time("2026-11-26T15:08:09.123456789999+01:00", 1795702089, 123456789));
    CHECK(is_time("2026-11-26T13:07:09-01:01", 1795702089, 0));
    CHECK(is_time("2100-03-01T00:00:00Z", 4107542400, 0)); /* no leap year */
    CHECK(is_time("2250-12-31T23:59:59Z", 8867491199, 0));
}

TEST(what_is_no_time_is_none)
{
    static const char *const none[] = {"",
                                       "2026",
                                       "2026-11-26",
                                       "2026-11-26 14:08:09",
                                       "1969-12-31T23:59:59Z",
                                       "2251-01-01T00:00:00Z",
                                       "2026-00-26T14:08:09Z",
                                       "2026-13-26T14:08:09Z",
                                       "2026-11-00T14:08:09Z",
                                       "2026-11-32T14:08:09Z",
                                       "2026-11-26T24:08:09Z",
                                       "2026-11-26T14:60:09Z",
                                       "2026-11-26T14:08:61Z",
                                       "2026-11-26T14:08:09x",
                                       "2026-11-26T14:08:09+1",
                                       "2026-11-26T14:08:09+01:00x",
                                       "1970-01-01T00:00:00+01:00"};
    uint64_t ns;

    for (size_t i = 0; i < ARRAY_COUNT(none); i++)
        CHECK(!text_time(text_of(none[i]), &ns));
}
