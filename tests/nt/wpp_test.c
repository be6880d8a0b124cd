/* SPDX-License-Identifier: MIT */
/* Trace messages of a driver that uses WPP: what they come to as debug output. */
#include "support/harness.h"

#include "../abi/wpp_source.c"

static const char *line_with(const char *text)
{
    for (unsigned i = 0; i < h.lines && i < 16; i++) {
        if (strstr(h.line[i], text))
            return h.line[i];
    }
    return NULL;
}

TEST_WITH(driver, messages_are_printed)
{
    DRIVER_OBJECT object = {0};

    assert_int_equal(SampleTrace(&object, NULL), STATUS_NO_MEMORY);
    assert_int_equal(h.lines, 12);
    assert_non_null(line_with("Enter SampleTrace"));
    assert_non_null(line_with("plain"));
    assert_non_null(line_with("100% of 123456789a at heap"));
    assert_non_null(line_with("status 0xc0000017 of 7"));
    assert_non_null(line_with("SampleTrace 1 0")); /* and an address */
    assert_non_null(line_with("SampleTrace: cannot start"));
    assert_non_null(line_with("allocation 3 (0xc0000017)"));
    assert_non_null(line_with("] broken: status != STATUS_NO_MEMORY"));
    assert_null(line_with("bytes != 0"));
    assert_int_equal(SampleBroken, 2); /* its flag is the second bit that the driver defines */
    assert_non_null(line_with("] arguments of the prefix come before 8"));
    assert_non_null(line_with("] wide, of kind"));
    assert_non_null(line_with("] wrapped, with 9 and text (0xc0000017)"));
    assert_non_null(line_with("] wrapped alone (0xc0000017)"));
    assert_int_equal(errors(), 0);
}

TEST_WITH(driver, formats_are_translated)
{
    DXGK_WPP_FORMAT format = {.File = "f%.c", .Function = "f", .Line = 120, .Used = 0};
    char long_format[2 * DXGK_WPP_LONGEST];

    DxgkWppTranslate(&format, "%!LINE! %!FILE! %!LEVEL!%!HRESULT! %!Mine!%%%d%!");
    assert_string_equal(format.Text, "120 f%%.c 0x%08x %d%%%d%d\n");
    format.Used = 0;
    DxgkWppTranslate(&format, "");
    assert_string_equal(format.Text, "\n");
    format.Used = 0;
    DxgkWppTranslate(&format, "%");
    assert_string_equal(format.Text, "%\n");

    /* What is too long is cut, with its end. */
    memset(long_format, 'x', sizeof(long_format) - 1);
    long_format[sizeof(long_format) - 1] = '\0';
    format.Used = 0;
    DxgkWppTranslate(&format, long_format);
    assert_true(strlen(format.Text) < DXGK_WPP_LONGEST);
    assert_int_equal(format.Text[strlen(format.Text) - 1], '\n');
    for (unsigned shift = 0; shift < 4; shift++) {
        memset(long_format, '%', sizeof(long_format) - 1);
        memset(long_format, 'x', shift);
        format.Used = 0;
        DxgkWppTranslate(&format, long_format);
        assert_true(strlen(format.Text) < DXGK_WPP_LONGEST);
    }
}
