/* SPDX-License-Identifier: MIT */
/* Various run-time library routines: comparing memory, GUIDs as text, versions, calendar, random
 * numbers. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nt/base/export.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/mm/pool.h"
#include "sim/machine.h"
#include "util/rng.h"

NT_EXPORT NT_TRANSPARENT SIZE_T NTAPI RtlCompareMemory(const VOID *Source1, const VOID *Source2,
                                                       SIZE_T Length)
{
    const uint8_t *a = Source1, *b = Source2;
    SIZE_T equal = 0;

    NT_ENTER();
    while (equal < Length && a[equal] == b[equal])
        equal++;
    return equal;
}

/* ---- GUIDs ---- */

#define GUID_CHARACTERS 38u

static void guid_text(const GUID *guid, char text[GUID_CHARACTERS + 1])
{
    snprintf(text, GUID_CHARACTERS + 1, "{%08X-%04X-%04X-%02X%02X-%02X%02X%02X%02X%02X%02X}",
             (unsigned)guid->Data1, guid->Data2, guid->Data3, guid->Data4[0], guid->Data4[1],
             guid->Data4[2], guid->Data4[3], guid->Data4[4], guid->Data4[5], guid->Data4[6],
             guid->Data4[7]);
}

/* The buffer is allocated; RtlFreeUnicodeString frees it. */
NT_EXPORT NTSTATUS NTAPI RtlStringFromGUID(const GUID *Guid, PUNICODE_STRING GuidString)
{
    char text[GUID_CHARACTERS + 1];
    struct nt_block *block;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-155", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    block = nt_pool_take(sizeof(WCHAR) * (GUID_CHARACTERS + 1), 0x67727453u, NT_POOL_PAGED, true,
                         NT_CALLER());
    if (!block)
        return STATUS_NO_MEMORY;
    guid_text(Guid, text);
    GuidString->Buffer = (PWCH)(void *)block->address;
    GuidString->Length = GUID_CHARACTERS * sizeof(WCHAR);
    GuidString->MaximumLength = (USHORT)(GuidString->Length + sizeof(WCHAR));
    for (unsigned i = 0; i < GUID_CHARACTERS; i++)
        GuidString->Buffer[i] = (WCHAR)text[i];
    return STATUS_SUCCESS;
}

/* As ASCII; false: it does not have the form of a GUID. */
static bool read_guid_text(const UNICODE_STRING *string, char text[GUID_CHARACTERS + 1])
{
    static const char form[] = "{00000000-0000-0000-0000-000000000000}";

    if (string->Length < GUID_CHARACTERS * sizeof(WCHAR))
        return false;
    for (unsigned i = 0; i < GUID_CHARACTERS; i++) {
        WCHAR c = string->Buffer[i];

        if (form[i] == '0' ? c >= 0x80 || !isxdigit(c) : c != (WCHAR)form[i])
            return false;
        text[i] = (char)c;
    }
    text[GUID_CHARACTERS] = '\0';
    return true;
}

NT_EXPORT NTSTATUS NTAPI RtlGUIDFromString(PCUNICODE_STRING GuidString, GUID *Guid)
{
    static const uint8_t place[8] = {20, 22, 25, 27, 29, 31, 33, 35}; /* of the bytes of Data4 */
    char text[GUID_CHARACTERS + 1];

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-155", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!read_guid_text(GuidString, text))
        return STATUS_INVALID_PARAMETER;
    Guid->Data1 = (ULONG)strtoul(text + 1, NULL, 16);
    Guid->Data2 = (USHORT)strtoul(text + 10, NULL, 16);
    Guid->Data3 = (USHORT)strtoul(text + 15, NULL, 16);
    for (unsigned i = 0; i < sizeof(place); i++) {
        const char pair[3] = {text[place[i]], text[place[i] + 1]};

        Guid->Data4[i] = (UCHAR)strtoul(pair, NULL, 16);
    }
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI ExUuidCreate(GUID *Uuid)
{
    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    for (size_t i = 0; i < sizeof(*Uuid); i++)
        ((uint8_t *)Uuid)[i] = (uint8_t)sim_random(256);
    Uuid->Data3 = (USHORT)((Uuid->Data3 & 0x0FFF) | 0x4000); /* random, RFC 4122 */
    Uuid->Data4[0] = (UCHAR)((Uuid->Data4[0] & 0x3F) | 0x80);
    return STATUS_SUCCESS;
}

/* ---- version ---- */

#define PLATFORM_NT 2u
#define SUITES      0x100u /* single user terminal services */
#define WORKSTATION 1u

NT_EXPORT NTSTATUS NTAPI RtlGetVersion(PRTL_OSVERSIONINFOW VersionInformation)
{
    PRTL_OSVERSIONINFOEXW extended = (PRTL_OSVERSIONINFOEXW)(void *)VersionInformation;
    ULONG size;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-157", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    size = VersionInformation->dwOSVersionInfoSize;
    VersionInformation->dwMajorVersion = 10;
    VersionInformation->dwMinorVersion = 0;
    VersionInformation->dwBuildNumber = nt_state()->config.os_build;
    VersionInformation->dwPlatformId = PLATFORM_NT;
    memset(VersionInformation->szCSDVersion, 0, sizeof(VersionInformation->szCSDVersion));
    if (size == sizeof(RTL_OSVERSIONINFOEXW)) {
        extended->wServicePackMajor = 0;
        extended->wServicePackMinor = 0;
        extended->wSuiteMask = SUITES;
        extended->wProductType = WORKSTATION;
        extended->wReserved = 0;
    }
    return STATUS_SUCCESS;
}

NT_EXPORT BOOLEAN NTAPI PsGetVersion(PULONG MajorVersion, PULONG MinorVersion, PULONG BuildNumber,
                                     PUNICODE_STRING CSDVersion)
{
    NT_ENTER();
    if (MajorVersion)
        *MajorVersion = 10;
    if (MinorVersion)
        *MinorVersion = 0;
    if (BuildNumber)
        *BuildNumber = nt_state()->config.os_build;
    if (CSDVersion)
        *CSDVersion = (UNICODE_STRING){0};
    return FALSE; /* this is a free build */
}

NT_EXPORT BOOLEAN NTAPI RtlIsNtDdiVersionAvailable(ULONG Version)
{
    NT_ENTER();
    return Version <= NTDDI_VERSION && (Version & 0xFF) == 0;
}

/* Bits of TypeMask, and what the conditions compare; those are three bits per kind, as
 * VER_SET_CONDITION packs them. */
enum version_kind {
    VERSION_MINOR,
    VERSION_MAJOR,
    VERSION_BUILD,
    VERSION_PLATFORM,
    VERSION_PACK_MINOR,
    VERSION_PACK_MAJOR,
    VERSION_SUITE,
    VERSION_PRODUCT,
    VERSION_KINDS
};

/* `order`: below, at or above 0 as what there is is less, equal or more. */
static bool holds(unsigned condition, int order)
{
    switch (condition) {
    case 1:
        return order == 0;
    case 2:
        return order > 0;
    case 3:
        return order >= 0;
    case 4:
        return order < 0;
    case 5:
        return order <= 0;
    default:
        return false;
    }
}

static bool suites_hold(unsigned condition, ULONG wanted)
{
    if (condition == 6) /* all of them */
        return (SUITES & wanted) == wanted;
    return condition == 7 && (wanted == 0 || (SUITES & wanted) != 0);
}

static int order_of(ULONG have, ULONG wanted)
{
    return (have > wanted) - (have < wanted);
}

/* The numbers of the version count as one, the highest first; the condition of the first of them
 * that is asked for is that of all (NT-204). */
static bool numbers_hold(const RTL_OSVERSIONINFOEXW *wanted, ULONG mask, ULONGLONG conditions)
{
    static const uint8_t kind[] = {VERSION_MAJOR, VERSION_MINOR, VERSION_PACK_MAJOR,
                                   VERSION_PACK_MINOR};
    const ULONG number[] = {wanted->dwMajorVersion, wanted->dwMinorVersion,
                            wanted->wServicePackMajor, wanted->wServicePackMinor};
    static const ULONG have[] = {10, 0, 0, 0};
    unsigned condition = 0;
    bool asked = false;
    int order = 0;

    for (unsigned i = 0; i < sizeof(kind) && order == 0; i++) {
        if (!(mask & 1u << kind[i]))
            continue;
        if (!asked)
            condition = (unsigned)(conditions >> (3 * kind[i])) & 7;
        asked = true;
        order = order_of(have[i], number[i]);
    }
    return !asked || holds(condition, order);
}

NT_EXPORT NTSTATUS NTAPI RtlVerifyVersionInfo(PRTL_OSVERSIONINFOEXW VersionInfo, ULONG TypeMask,
                                              ULONGLONG ConditionMask)
{
    unsigned condition[VERSION_KINDS];
    bool good;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-157", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (TypeMask == 0 || ConditionMask == 0)
        return STATUS_INVALID_PARAMETER;
    for (unsigned i = 0; i < VERSION_KINDS; i++)
        condition[i] = (unsigned)(ConditionMask >> (3 * i)) & 7;
    good = numbers_hold(VersionInfo, TypeMask, ConditionMask);
    if (TypeMask & 1u << VERSION_BUILD)
        good = good && holds(condition[VERSION_BUILD],
                             order_of(nt_state()->config.os_build, VersionInfo->dwBuildNumber));
    if (TypeMask & 1u << VERSION_PLATFORM)
        good = good &&
               holds(condition[VERSION_PLATFORM], order_of(PLATFORM_NT, VersionInfo->dwPlatformId));
    if (TypeMask & 1u << VERSION_SUITE)
        good = good && suites_hold(condition[VERSION_SUITE], VersionInfo->wSuiteMask);
    if (TypeMask & 1u << VERSION_PRODUCT)
        good = good &&
               holds(condition[VERSION_PRODUCT], order_of(WORKSTATION, VersionInfo->wProductType));
    return good ? STATUS_SUCCESS : STATUS_REVISION_MISMATCH;
}

/* ---- calendar ---- */

#define UNITS_PER_MS       10000
#define MS_PER_DAY         86400000
#define DAYS_PER_400_YEARS 146097
#define FIRST_YEAR         1601

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in_month(int year, int month)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return days[month - 1] + (month == 2 && is_leap(year));
}

NT_EXPORT VOID NTAPI RtlTimeToTimeFields(PLARGE_INTEGER Time, PTIME_FIELDS TimeFields)
{
    LONGLONG ms, days;
    int year = FIRST_YEAR, month = 1;

    NT_ENTER();
    ms = Time->QuadPart / UNITS_PER_MS;
    days = ms / MS_PER_DAY;
    ms %= MS_PER_DAY;
    TimeFields->Weekday = (CSHORT)((days + 1) % 7); /* 1 January 1601 was a Monday */
    year += (int)(days / DAYS_PER_400_YEARS) * 400;
    days %= DAYS_PER_400_YEARS;
    while (days >= 365 + is_leap(year))
        days -= 365 + is_leap(year++);
    while (days >= days_in_month(year, month))
        days -= days_in_month(year, month++);
    TimeFields->Year = (CSHORT)year;
    TimeFields->Month = (CSHORT)month;
    TimeFields->Day = (CSHORT)(days + 1);
    TimeFields->Hour = (CSHORT)(ms / 3600000);
    TimeFields->Minute = (CSHORT)(ms / 60000 % 60);
    TimeFields->Second = (CSHORT)(ms / 1000 % 60);
    TimeFields->Milliseconds = (CSHORT)(ms % 1000);
}

NT_EXPORT BOOLEAN NTAPI RtlTimeFieldsToTime(PTIME_FIELDS TimeFields, PLARGE_INTEGER Time)
{
    const TIME_FIELDS *f = TimeFields;
    LONGLONG days = 0;

    NT_ENTER();
    if (f->Year < FIRST_YEAR || f->Year > 30827 || f->Month < 1 || f->Month > 12 || f->Day < 1 ||
        f->Day > days_in_month(f->Year, f->Month) || f->Hour < 0 || f->Hour > 23 || f->Minute < 0 ||
        f->Minute > 59 || f->Second < 0 || f->Second > 59 || f->Milliseconds < 0 ||
        f->Milliseconds > 999)
        return FALSE;
    days = (LONGLONG)((f->Year - FIRST_YEAR) / 400) * DAYS_PER_400_YEARS;
    for (int year = f->Year - (f->Year - FIRST_YEAR) % 400; year < f->Year; year++)
        days += 365 + is_leap(year);
    for (int month = 1; month < f->Month; month++)
        days += days_in_month(f->Year, month);
    days += f->Day - 1;
    Time->QuadPart = (days * MS_PER_DAY + f->Hour * 3600000LL + f->Minute * 60000LL +
                      f->Second * 1000LL + f->Milliseconds) *
                     UNITS_PER_MS;
    return TRUE;
}

/* There is no time zone: local time is system time. */
NT_EXPORT VOID NTAPI ExSystemTimeToLocalTime(PLARGE_INTEGER SystemTime, PLARGE_INTEGER LocalTime)
{
    NT_ENTER();
    *LocalTime = *SystemTime;
}

/* ---- random numbers: a sequence of the caller's seed ---- */

NT_EXPORT ULONG NTAPI RtlRandomEx(PULONG Seed)
{
    struct rng rng;

    NT_ENTER();
    rng.state = *Seed;
    *Seed = (ULONG)(rng_next(&rng) >> 33);
    return *Seed;
}

/* ---- stacks ---- */

NT_EXPORT ULONG NTAPI RtlWalkFrameChain(PVOID *Callers, ULONG Count, ULONG Flags)
{
    NT_ENTER();
    (void)Flags;
    if (Count == 0)
        return 0;
    Callers[0] = (PVOID)(uintptr_t)NT_CALLER();
    return 1;
}

NT_EXPORT USHORT NTAPI RtlCaptureStackBackTrace(ULONG FramesToSkip, ULONG FramesToCapture,
                                                PVOID *BackTrace, PULONG BackTraceHash)
{
    NT_ENTER();
    if (BackTraceHash)
        *BackTraceHash = 0;
    if (FramesToSkip != 0 || FramesToCapture == 0)
        return 0;
    BackTrace[0] = (PVOID)(uintptr_t)NT_CALLER();
    return 1;
}
