/* SPDX-License-Identifier: MIT */
/* The version of the operating system: what is told, and what is compared. */
#include "nt/base/nt_config.h"
#include "support/harness.h"

#define BUILD 18362u

enum { MINOR = 1, MAJOR = 2, BUILD_NUMBER = 4, PLATFORM = 8, PACK_MINOR = 16, PACK_MAJOR = 32 };
enum { SUITE = 64, PRODUCT = 128 };
enum { EQUAL = 1, GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, AND, OR };

/* As VER_SET_CONDITION does. */
static ULONGLONG all(unsigned condition)
{
    ULONGLONG mask = 0;

    for (unsigned kind = 0; kind < 8; kind++)
        mask |= (ULONGLONG)condition << (3 * kind);
    return mask;
}

static bool verify(ULONG mask, ULONGLONG conditions, RTL_OSVERSIONINFOEXW wanted)
{
    NTSTATUS status;

    wanted.dwOSVersionInfoSize = sizeof(wanted);
    status = RtlVerifyVersionInfo(&wanted, mask, conditions);
    assert_true(status == STATUS_SUCCESS || status == STATUS_REVISION_MISMATCH);
    return status == STATUS_SUCCESS;
}

static bool version(unsigned condition, ULONG major, ULONG minor)
{
    return verify(MAJOR | MINOR, all(condition),
                  (RTL_OSVERSIONINFOEXW){.dwMajorVersion = major, .dwMinorVersion = minor});
}

static void check_versions(void)
{
    CHECK_RULE("NT-204/a", version(GREATER_EQUAL, 6, 3) && version(GREATER, 6, 3));
    CHECK_RULE("NT-204/a", version(GREATER_EQUAL, 10, 0) && version(LESS_EQUAL, 10, 0));
    CHECK_RULE("NT-204/a", version(LESS, 10, 1) && version(LESS, 11, 0) && version(EQUAL, 10, 0));
    CHECK_RULE("NT-204/b", !version(GREATER_EQUAL, 10, 1) && !version(GREATER_EQUAL, 11, 0));
    CHECK_RULE("NT-204/b", !version(GREATER, 10, 0) && !version(LESS, 10, 0));
    CHECK_RULE("NT-204/b", !version(EQUAL, 10, 1) && !version(EQUAL, 6, 0) && !version(LESS, 6, 3));
    /* the condition of the major version is that of all */
    CHECK_RULE("NT-204/a", verify(MAJOR | MINOR, GREATER_EQUAL << 3 | EQUAL,
                                  (RTL_OSVERSIONINFOEXW){.dwMajorVersion = 9, .dwMinorVersion = 9}));
    CHECK_RULE("NT-204/b",
               !verify(MAJOR | MINOR, LESS_EQUAL << 3 | EQUAL,
                       (RTL_OSVERSIONINFOEXW){.dwMajorVersion = 9, .dwMinorVersion = 0}));
    /* alone, the minor version and the service pack have their own */
    CHECK_RULE("NT-204/b",
               !verify(MINOR, GREATER_EQUAL,
                       (RTL_OSVERSIONINFOEXW){.dwMajorVersion = 6, .dwMinorVersion = 3}));
    CHECK_RULE("NT-204/b",
               !verify(MAJOR | PACK_MAJOR, all(GREATER_EQUAL),
                       (RTL_OSVERSIONINFOEXW){.dwMajorVersion = 10, .wServicePackMajor = 1}));
    CHECK_RULE("NT-204/b", !verify(PACK_MAJOR | PACK_MINOR, all(GREATER_EQUAL),
                                   (RTL_OSVERSIONINFOEXW){.wServicePackMinor = 1}));
    CHECK_RULE("NT-204/a", verify(PACK_MAJOR | PACK_MINOR, all(EQUAL), (RTL_OSVERSIONINFOEXW){0}));
}

/* One part, one below, at and one above what there is. */
static void check_part(ULONG mask, const RTL_OSVERSIONINFOEXW wanted[3])
{
    static const bool expected[6][3] = {{false, false, false}, {false, true, false},
                                        {true, false, false},  {true, true, false},
                                        {false, false, true},  {false, true, true}};

    for (unsigned condition = 0; condition < 6; condition++)
        for (unsigned i = 0; i < 3; i++) {
            /* of the other kinds, another condition */
            ULONGLONG conditions = all(AND);

            for (unsigned kind = 0; kind < 8; kind++)
                if (mask == 1u << kind)
                    conditions ^= (ULONGLONG)(AND ^ condition) << (3 * kind);
            CHECK_RULE("NT-204/c", verify(mask, conditions, wanted[i]) == expected[condition][i]);
        }
}

static void check_parts(void)
{
    RTL_OSVERSIONINFOEXW w[3];

    memset(w, 0, sizeof(w));
    for (unsigned i = 0; i < 3; i++) {
        w[i].dwMajorVersion = 9 + i;
        w[i].dwBuildNumber = BUILD - 1 + i;
        w[i].dwPlatformId = 1 + i;
        w[i].wProductType = (UCHAR)i;
    }
    check_part(MAJOR, w);
    check_part(BUILD_NUMBER, w);
    check_part(PLATFORM, w);
    check_part(PRODUCT, w);
    for (unsigned i = 0; i < 2; i++) { /* suites: only 0x100 is there */
        const unsigned condition = i ? OR : AND;
        const ULONGLONG mask = (ULONGLONG)condition << 18;

        CHECK_RULE("NT-204/c", verify(SUITE, mask, (RTL_OSVERSIONINFOEXW){.wSuiteMask = 0}));
        CHECK_RULE("NT-204/c", verify(SUITE, mask, (RTL_OSVERSIONINFOEXW){.wSuiteMask = 0x100}));
        CHECK_RULE("NT-204/c",
                   verify(SUITE, mask, (RTL_OSVERSIONINFOEXW){.wSuiteMask = 0x180}) == (i == 1));
        CHECK_RULE("NT-204/c", !verify(SUITE, mask, (RTL_OSVERSIONINFOEXW){.wSuiteMask = 0x80}));
    }
    CHECK_RULE("NT-204/c", !verify(SUITE, all(EQUAL), (RTL_OSVERSIONINFOEXW){.wSuiteMask = 0x100}));
    CHECK_RULE("NT-204/c",
               !verify(MAJOR | BUILD_NUMBER | SUITE, all(EQUAL) | 7ull << 18,
                       (RTL_OSVERSIONINFOEXW){.dwMajorVersion = 10, .dwBuildNumber = BUILD + 1}));
    CHECK_RULE("NT-204/d", RtlVerifyVersionInfo(w, 0, all(EQUAL)) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("NT-204/d", RtlVerifyVersionInfo(w, MAJOR, 0) == STATUS_INVALID_PARAMETER);
}

static void tell_versions(void)
{
    ULONG major = 1, minor = 1, build = 1;
    UNICODE_STRING pack = unicode_text(L"x");

    assert_false(PsGetVersion(&major, &minor, &build, &pack));
    assert_true(major == 10 && minor == 0 && build == BUILD && pack.Length == 0);
    assert_false(PsGetVersion(NULL, NULL, NULL, NULL));
    assert_true(RtlIsNtDdiVersionAvailable(NTDDI_VERSION & ~0xFFu));
    assert_true(RtlIsNtDdiVersionAvailable(0x06030000));
    assert_false(RtlIsNtDdiVersionAvailable(0x06030001));
    assert_false(RtlIsNtDdiVersionAvailable(0x7F000000));
}

static void check_all(void)
{
    check_versions();
    check_parts();
    tell_versions();
    assert_int_equal(errors(), 0);
}

TEST_WITH(machine, versions_are_compared)
{
    const struct nt_config config = {.os_build = BUILD};

    harness_teardown();
    harness_boot(1, 1, &config);
    run(check_all);
}
