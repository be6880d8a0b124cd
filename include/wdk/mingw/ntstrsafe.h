/* SPDX-License-Identifier: MIT */
/*
 * Behind mingw-w64's <ntstrsafe.h>, which has the functions on terminated strings alone: those on counted ones. A result that does
 * not fit is cut off and reported as STATUS_BUFFER_OVERFLOW; Length never counts a terminator, for which there need not be room.
 */
#ifndef DXGK_WDK_MINGW_NTSTRSAFE_H
#define DXGK_WDK_MINGW_NTSTRSAFE_H

#include_next <ntstrsafe.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef NTSTRSAFE_UNICODE_STRING_MAX_CCH
#define NTSTRSAFE_UNICODE_STRING_MAX_CCH (0xFFFF / sizeof(WCHAR))
#endif

static __inline NTSTATUS RtlUnicodeStringValidate(PCUNICODE_STRING SourceString)
{
    if (!SourceString)
        return STATUS_SUCCESS;
    if (SourceString->Length % sizeof(WCHAR) != 0 ||
        SourceString->MaximumLength % sizeof(WCHAR) != 0 ||
        SourceString->Length > SourceString->MaximumLength ||
        (!SourceString->Buffer && SourceString->MaximumLength != 0))
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}

/* Puts Count characters behind the first `at` ones. */
static __inline NTSTATUS DxgkUnicodePut(PUNICODE_STRING To, size_t at, const WCHAR *From, size_t Count)
{
    size_t room, used;

    if (!To || RtlUnicodeStringValidate(To) != STATUS_SUCCESS)
        return STATUS_INVALID_PARAMETER;
    room = To->MaximumLength / sizeof(WCHAR) - at;
    used = Count < room ? Count : room;
    for (size_t i = 0; i < used; i++)
        To->Buffer[at + i] = From[i];
    To->Length = (USHORT)((at + used) * sizeof(WCHAR));
    return used < Count ? STATUS_BUFFER_OVERFLOW : STATUS_SUCCESS;
}

static __inline size_t DxgkUnicodeLength(const WCHAR *String)
{
    size_t length = 0;

    while (String && String[length] && length <= NTSTRSAFE_UNICODE_STRING_MAX_CCH)
        length++;
    return length;
}

static __inline NTSTATUS RtlUnicodeStringInit(PUNICODE_STRING DestinationString, const WCHAR *pszSrc)
{
    size_t length = DxgkUnicodeLength(pszSrc);

    if (!DestinationString || length >= NTSTRSAFE_UNICODE_STRING_MAX_CCH)
        return STATUS_INVALID_PARAMETER;
    DestinationString->Length = (USHORT)(length * sizeof(WCHAR));
    DestinationString->MaximumLength = (USHORT)(pszSrc ? (length + 1) * sizeof(WCHAR) : 0);
    DestinationString->Buffer = (PWSTR)pszSrc;
    return STATUS_SUCCESS;
}

static __inline NTSTATUS RtlUnicodeStringCopyString(PUNICODE_STRING DestinationString, const WCHAR *pszSrc)
{
    return DxgkUnicodePut(DestinationString, 0, pszSrc, DxgkUnicodeLength(pszSrc));
}

static __inline NTSTATUS RtlUnicodeStringCopy(PUNICODE_STRING DestinationString, PCUNICODE_STRING SourceString)
{
    return DxgkUnicodePut(DestinationString, 0, SourceString->Buffer, SourceString->Length / sizeof(WCHAR));
}

static __inline NTSTATUS RtlUnicodeStringCatString(PUNICODE_STRING DestinationString, const WCHAR *pszSrc)
{
    return DxgkUnicodePut(DestinationString, DestinationString->Length / sizeof(WCHAR), pszSrc,
                          DxgkUnicodeLength(pszSrc));
}

static __inline NTSTATUS RtlUnicodeStringCat(PUNICODE_STRING DestinationString, PCUNICODE_STRING SourceString)
{
    return DxgkUnicodePut(DestinationString, DestinationString->Length / sizeof(WCHAR), SourceString->Buffer,
                          SourceString->Length / sizeof(WCHAR));
}

static __inline NTSTATUS RtlUnicodeStringVPrintf(PUNICODE_STRING DestinationString, const WCHAR *pszFormat,
                                                 va_list argList)
{
    size_t room;
    int written;

    if (!DestinationString || RtlUnicodeStringValidate(DestinationString) != STATUS_SUCCESS || !pszFormat)
        return STATUS_INVALID_PARAMETER;
    room = DestinationString->MaximumLength / sizeof(WCHAR);
    written = _vsnwprintf(DestinationString->Buffer, room, pszFormat, argList);
    if (written < 0 || (size_t)written > room) {
        DestinationString->Length = (USHORT)(room * sizeof(WCHAR));
        return STATUS_BUFFER_OVERFLOW;
    }
    DestinationString->Length = (USHORT)((size_t)written * sizeof(WCHAR));
    return STATUS_SUCCESS;
}

static __inline NTSTATUS RtlUnicodeStringPrintf(PUNICODE_STRING DestinationString, const WCHAR *pszFormat, ...)
{
    va_list arguments;
    NTSTATUS status;

    va_start(arguments, pszFormat);
    status = RtlUnicodeStringVPrintf(DestinationString, pszFormat, arguments);
    va_end(arguments);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_MINGW_NTSTRSAFE_H */
