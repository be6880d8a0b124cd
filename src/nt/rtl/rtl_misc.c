/* SPDX-License-Identifier: MIT */
/* Various run-time library routines: comparing memory, GUIDs as text, versions, calendar, random
 * numbers. */
#include <stdio.h>
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

NT_EXPORT NTSTATUS NTAPI RtlGUIDFromString(PCUNICODE_STRING GuidString, GUID *Guid)
{
    char text[GUID_CHARACTERS + 1];
    unsigned part[11];
    int end = 0;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-155", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (GuidString->Length < GUID_CHARACTERS * sizeof(WCHAR))
        return STATUS_INVALID_PARAMETER;
    for (unsigned i = 0; i < GUID_CHARACTERS; i++)
        text[i] = GuidString->Buffer[i] < 0x80 ? (char)GuidString->Buffer[i] : '?';
    text[GUID_CHARACTERS] = '\0';
    if (strspn(text, "{}-0123456789ABCDEFabcdef") != GUID_CHARACTERS ||
        sscanf(text, "{%8x-%4x-%4x-%2x%2x-%2x%2x%2x%2x%2x%2x}%n", &part[0], &part[1], &part[2],
               &part[3], &part[4], &part[5], &part[6], &part[7], &part[8], &part[9], &part[10],
               &end) != 11 ||
        end != (int)GUID_CHARACTERS)
        return STATUS_INVALID_PARAMETER;
    Guid->Data1 = part[0];
    Guid->Data2 = (USHORT)part[1];
    Guid->Data3 = (USHORT)part[2];
    for (unsigned i = 0; i < 8; i++)
        Guid->Data4[i] = (UCHAR)part[3 + i];
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
        extended->wSuiteMask = 0x100; /* single user terminal services */
        extended->wProductType = 1;   /* workstation */
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

/* Conditions are three bits per kind of number, as VER_SET_CONDITION packs them. */
static bool holds(ULONGLONG conditions, unsigned kind, ULONG have, ULONG wanted)
{
    switch (conditions >> (3 * kind) & 7) {
    case 1:
        return have == wanted;
    case 2:
        return have > wanted;
    case 3:
        return have >= wanted;
    case 4:
        return have < wanted;
    case 5:
        return have <= wanted;
    default:
        return false;
    }
}

NT_EXPORT NTSTATUS NTAPI RtlVerifyVersionInfo(PRTL_OSVERSIONINFOEXW VersionInfo, ULONG TypeMask,
                                              ULONGLONG ConditionMask)
{
    bool good = true;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-157", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (TypeMask == 0)
        return STATUS_INVALID_PARAMETER;
    if (TypeMask & 0x1)
        good = good && holds(ConditionMask, 0, 0, VersionInfo->dwMinorVersion);
    if (TypeMask & 0x2)
        good = good && holds(ConditionMask, 1, 10, VersionInfo->dwMajorVersion);
    if (TypeMask & 0x4)
        good = good &&
               holds(ConditionMask, 2, nt_state()->config.os_build, VersionInfo->dwBuildNumber);
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
