/* SPDX-License-Identifier: MIT */
/* The calendar, GUIDs as text, and versions: each limit, and what is left alone beyond it. */
#include "support/harness.h"

#define UNITS_PER_DAY 864000000000

/* ---- the calendar ---- */

static bool leap(int year)
{
    if (year % 400 == 0)
        return true;
    return year % 100 != 0 && year % 4 == 0;
}

static int length_of(int year, int month)
{
    if (month == 2)
        return leap(year) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/* Every day of 800 years, one after the other. */
TEST_WITH(driver, days_follow_each_other)
{
    TIME_FIELDS expected = {.Year = 1601, .Month = 1, .Day = 1, .Weekday = 1}, fields;
    LARGE_INTEGER time = {0}, back;

    for (; expected.Year < 2402; time.QuadPart += UNITS_PER_DAY) {
        RtlTimeToTimeFields(&time, &fields);
        back.QuadPart = -1;
        if (memcmp(&fields, &expected, sizeof(fields)) != 0 ||
            !RtlTimeFieldsToTime(&fields, &back) || back.QuadPart != time.QuadPart)
            fail_msg("%d-%d-%d: %d-%d-%d", expected.Year, expected.Month, expected.Day, fields.Year,
                     fields.Month, fields.Day);
        expected.Weekday = (CSHORT)((expected.Weekday + 1) % 7);
        if (++expected.Day <= length_of(expected.Year, expected.Month))
            continue;
        expected.Day = 1;
        if (++expected.Month <= 12)
            continue;
        expected.Month = 1;
        expected.Year++;
    }
}

TEST_WITH(driver, days_have_their_parts)
{
    TIME_FIELDS fields;
    LARGE_INTEGER time, back;

    time.QuadPart = UNITS_PER_DAY + (23 * 3600000LL + 59 * 60000 + 58 * 1000 + 997) * 10000 + 9999;
    RtlTimeToTimeFields(&time, &fields);
    CHECK(fields.Year == 1601 && fields.Month == 1 && fields.Day == 2 && fields.Weekday == 2);
    CHECK(fields.Hour == 23 && fields.Minute == 59 && fields.Second == 58);
    CHECK(fields.Milliseconds == 997);
    CHECK(RtlTimeFieldsToTime(&fields, &back) && back.QuadPart == time.QuadPart - 9999);
    fields = (TIME_FIELDS){
        .Year = 30827, .Month = 12, .Day = 31, .Hour = 1, .Minute = 2, .Second = 3, .Milliseconds = 4};
    CHECK(RtlTimeFieldsToTime(&fields, &time));
    memset(&fields, 0, sizeof(fields));
    RtlTimeToTimeFields(&time, &fields);
    CHECK(fields.Year == 30827 && fields.Month == 12 && fields.Day == 31 && fields.Hour == 1 &&
          fields.Minute == 2 && fields.Second == 3 && fields.Milliseconds == 4);
}

static bool converts(int field, int value)
{
    TIME_FIELDS fields = {
        .Year = 2024, .Month = 1, .Day = 28, .Hour = 1, .Minute = 1, .Second = 1, .Milliseconds = 1};
    CSHORT *const of[] = {&fields.Year,   &fields.Month,  &fields.Day,          &fields.Hour,
                          &fields.Minute, &fields.Second, &fields.Milliseconds, &fields.Weekday};
    LARGE_INTEGER time = {.QuadPart = -5};
    BOOLEAN good;

    *of[field] = (CSHORT)value;
    good = RtlTimeFieldsToTime(&fields, &time);
    CHECK(good ? time.QuadPart > 0 : time.QuadPart == -5);
    return good;
}

TEST_WITH(driver, times_have_limits)
{
    static const struct {
        int first, last;
    } limit[] = {{1601, 30827}, {1, 12}, {1, 31}, {0, 23}, {0, 59}, {0, 59}, {0, 999}};

    for (int i = 0; i < (int)RTL_NUMBER_OF(limit); i++) {
        CHECK(converts(i, limit[i].first) && converts(i, limit[i].last));
        CHECK(!converts(i, limit[i].first - 1) && !converts(i, limit[i].last + 1));
    }
    CHECK(converts(7, 99)); /* the day of the week is not looked at */
}

TEST_WITH(driver, months_have_limits)
{
    static const int years[] = {1604, 1700, 1900, 2000, 2023, 2024, 2100};
    LARGE_INTEGER time;

    for (size_t i = 0; i < RTL_NUMBER_OF(years); i++) {
        for (int month = 1; month <= 12; month++) {
            TIME_FIELDS fields = {.Year = (CSHORT)years[i],
                                  .Month = (CSHORT)month,
                                  .Day = (CSHORT)length_of(years[i], month)};

            CHECK(RtlTimeFieldsToTime(&fields, &time));
            fields.Day++;
            CHECK(!RtlTimeFieldsToTime(&fields, &time));
        }
    }
}

/* ---- GUIDs ---- */

static NTSTATUS read_guid(const WCHAR *text, GUID *guid)
{
    UNICODE_STRING string = unicode_text(text);

    memset(guid, 0x5A, sizeof(*guid));
    return RtlGUIDFromString(&string, guid);
}

TEST_WITH(driver, guids_are_read)
{
    static const GUID expected = {
        0x01234567, 0x89AB, 0xCDEF, {1, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF}};
    static const WCHAR *const bad[] = {
        L"",
        L"{01234567-89AB-CDEF-0123-456789ABCDEF",
        L"01234567-89AB-CDEF-0123-456789ABCDEF",
        L"(01234567-89AB-CDEF-0123-456789ABCDEF}",
        L"{01234567-89AB-CDEF-0123-456789ABCDEF)",
        L"{01234567089AB-CDEF-0123-456789ABCDEF}",
        L"{01234567-89AB-CDEF-01234456789ABCDEF}",
        L"{01234567-89AB-CDEG-0123-456789ABCDEF}",
        L"{01234567-89AB-CDEF-0123-456789ABCDE }",
        L"{01234567-89AB-CDEF-0123-456789ABCDE}}",
        L"{0123456-789AB-CDEF-0123-456789ABCDEF}",
        L"{01234567-89AB-CDEF-0123-456789ABCDE\x0146}",
        L"{-1234567-89AB-CDEF-0123-456789ABCDEF}",
        L"{01234567-89AB-CDEF-0123-456789ABCD+F}",
        L"{01234567-89AB-CDEF-0123-456789ABC-EF}",
    };
    GUID guid, untouched;

    CHECK(read_guid(L"{01234567-89AB-CDEF-0123-456789ABCDEF}", &guid) == STATUS_SUCCESS &&
          memcmp(&guid, &expected, sizeof(guid)) == 0);
    CHECK(read_guid(L"{01234567-89ab-cdef-0123-456789abcdef}", &guid) == STATUS_SUCCESS &&
          memcmp(&guid, &expected, sizeof(guid)) == 0);
    /* what follows is not looked at */
    CHECK(read_guid(L"{01234567-89AB-CDEF-0123-456789ABCDEF}x", &guid) == STATUS_SUCCESS &&
          memcmp(&guid, &expected, sizeof(guid)) == 0);
    memset(&untouched, 0x5A, sizeof(untouched));
    for (size_t i = 0; i < RTL_NUMBER_OF(bad); i++) {
        if (read_guid(bad[i], &guid) != STATUS_INVALID_PARAMETER ||
            memcmp(&guid, &untouched, sizeof(guid)) != 0)
            fail_msg("text %zu is a GUID", i);
    }
    CHECK(errors() == 0);
}

TEST_WITH(driver, guids_are_written)
{
    static const WCHAR expected[] = L"{01234567-009A-0B0C-0001-020304050607}";
    static const GUID guid = {0x01234567, 0x9A, 0xB0C, {0, 1, 2, 3, 4, 5, 6, 7}};
    UNICODE_STRING string = {0};
    GUID random;

    CHECK(RtlStringFromGUID(&guid, &string) == STATUS_SUCCESS);
    CHECK(string.Length == sizeof(expected) - 2 && string.MaximumLength == sizeof(expected));
    CHECK(memcmp(string.Buffer, expected, sizeof(expected)) == 0);
    RtlFreeUnicodeString(&string);
    CHECK(string.Length == 0 && string.MaximumLength == 0 && !string.Buffer);
    for (unsigned i = 0; i < 100; i++) {
        CHECK(ExUuidCreate(&random) == STATUS_SUCCESS);
        CHECK((random.Data3 & 0xF000) == 0x4000 && (random.Data4[0] & 0xC0) == 0x80);
    }
    CHECK(errors() == 0);
}

/* ---- versions ---- */

enum { MAJOR, BUILD, PLATFORM, SUITE, PRODUCT, KINDS };

/* All conditions hold: what does not is not made good by what follows. */
TEST_WITH(driver, each_condition_of_a_version_counts)
{
    static const ULONG bit[KINDS] = {1, 2, 3, 6, 7};
    RTL_OSVERSIONINFOEXW good = {0}, wanted;
    ULONGLONG conditions = 0;
    ULONG all = 0;

    good.dwOSVersionInfoSize = sizeof(good);
    CHECK(RtlGetVersion((PRTL_OSVERSIONINFOW)(void *)&good) == STATUS_SUCCESS);
    for (unsigned i = 0; i < KINDS; i++) {
        all |= 1u << bit[i];
        conditions |= (i == SUITE ? 6ull : 1ull) << (3 * bit[i]); /* all of them; equal */
    }
    CHECK(RtlVerifyVersionInfo(&good, all, conditions) == STATUS_SUCCESS);
    for (unsigned i = 0; i < KINDS; i++) {
        wanted = good;
        wanted.dwMajorVersion += i == MAJOR;
        wanted.dwBuildNumber += i == BUILD;
        wanted.dwPlatformId += i == PLATFORM;
        wanted.wSuiteMask = (USHORT)(wanted.wSuiteMask | (i == SUITE));
        wanted.wProductType = (UCHAR)(wanted.wProductType + (i == PRODUCT));
        CHECK(RtlVerifyVersionInfo(&wanted, all, conditions) == STATUS_REVISION_MISMATCH);
    }
}

/* ---- stacks ---- */

TEST_WITH(driver, stacks_have_one_frame)
{
    PVOID frames[2] = {NULL, NULL};
    ULONG hash = 5;

    CHECK(RtlCaptureStackBackTrace(0, 2, frames, &hash) == 1);
    CHECK(frames[0] && !frames[1] && hash == 0);
    frames[0] = NULL;
    hash = 5;
    CHECK(RtlCaptureStackBackTrace(1, 2, frames, &hash) == 0 && !frames[0] && hash == 0);
    CHECK(RtlCaptureStackBackTrace(0, 0, frames, NULL) == 0 && !frames[0]);
    CHECK(RtlCaptureStackBackTrace(0, 1, frames, NULL) == 1 && frames[0]);
}
