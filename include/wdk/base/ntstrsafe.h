/* SPDX-License-Identifier: MIT */
/*
 * String functions that know the size of their destination, in bytes (Cb) or characters (Cch).
 * A result that does not fit is cut off, terminated, and reported as STATUS_BUFFER_OVERFLOW.
 */
#ifndef DXGK_WDK_NTSTRSAFE_H
#define DXGK_WDK_NTSTRSAFE_H

#include <ntdef.h>

#include "wdm/crt.h"

#define NTSTRSAFE_MAX_CCH    2147483647
#define NTSTRSAFE_MAX_LENGTH (NTSTRSAFE_MAX_CCH - 1)

#ifdef __cplusplus
extern "C" {
#endif

typedef PCSTR NTSTRSAFE_PCSTR;
typedef PSTR NTSTRSAFE_PSTR;
typedef PCWSTR NTSTRSAFE_PCWSTR;
typedef PWSTR NTSTRSAFE_PWSTR;

/* The functions of one character type; Cb variants are the Cch ones with a scaled size. */
#define DXGK_STRSAFE(Suffix, Char)                                                                 \
    DXGK_INLINE NTSTATUS RtlStringCchLength##Suffix(const Char *string, size_t max, size_t *length)\
    {                                                                                              \
        size_t n = 0;                                                                              \
                                                                                                   \
        while (string && n < max && string[n]) {                                                   \
            n++;                                                                                   \
        }                                                                                          \
        if (!string || max > NTSTRSAFE_MAX_CCH || n == max) {                                      \
            if (length) {                                                                          \
                *length = 0;                                                                       \
            }                                                                                      \
            return STATUS_INVALID_PARAMETER;                                                       \
        }                                                                                          \
        if (length) {                                                                              \
            *length = n;                                                                           \
        }                                                                                          \
        return STATUS_SUCCESS;                                                                     \
    }                                                                                              \
    DXGK_INLINE NTSTATUS RtlStringCbLength##Suffix(const Char *string, size_t max, size_t *length) \
    {                                                                                              \
        NTSTATUS status = RtlStringCchLength##Suffix(string, max / sizeof(Char), length);          \
                                                                                                   \
        if (length) {                                                                              \
            *length *= sizeof(Char);                                                               \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    DXGK_INLINE NTSTATUS RtlStringCchCopyN##Suffix(                                                \
        Char *destination, size_t size, const Char *source, size_t count)                          \
    {                                                                                              \
        size_t n = 0;                                                                              \
                                                                                                   \
        if (size == 0 || size > NTSTRSAFE_MAX_CCH) {                                               \
            return STATUS_INVALID_PARAMETER;                                                       \
        }                                                                                          \
        for (; n < size - 1 && n < count && source[n]; n++) {                                      \
            destination[n] = source[n];                                                            \
        }                                                                                          \
        destination[n] = 0;                                                                        \
        return n < count && source[n] ? STATUS_BUFFER_OVERFLOW : STATUS_SUCCESS;                   \
    }                                                                                              \
    DXGK_INLINE NTSTATUS RtlStringCbCopyN##Suffix(                                                 \
        Char *destination, size_t size, const Char *source, size_t count)                          \
    {                                                                                              \
        return RtlStringCchCopyN##Suffix(destination, size / sizeof(Char), source,                 \
                                         count / sizeof(Char));                                    \
    }                                                                                              \
    DXGK_INLINE NTSTATUS RtlStringCchCopy##Suffix(                                                 \
        Char *destination, size_t size, const Char *source)                                        \
    {                                                                                              \
        return RtlStringCchCopyN##Suffix(destination, size, source, NTSTRSAFE_MAX_CCH);            \
    }                                                                                              \
    DXGK_INLINE NTSTATUS RtlStringCbCopy##Suffix(                                                  \
        Char *destination, size_t size, const Char *source)                                        \
    {                                                                                              \
        return RtlStringCchCopy##Suffix(destination, size / sizeof(Char), source);                 \
    }                                                                                              \
    DXGK_INLINE NTSTATUS RtlStringCchCat##Suffix(                                                  \
        Char *destination, size_t size, const Char *source)                                        \
    {                                                                                              \
        size_t length;                                                                             \
                                                                                                   \
        if (RtlStringCchLength##Suffix(destination, size, &length) != STATUS_SUCCESS) {            \
            return STATUS_INVALID_PARAMETER;                                                       \
        }                                                                                          \
        return RtlStringCchCopy##Suffix(destination + length, size - length, source);              \
    }                                                                                              \
    DXGK_INLINE NTSTATUS RtlStringCbCat##Suffix(                                                   \
        Char *destination, size_t size, const Char *source)                                        \
    {                                                                                              \
        return RtlStringCchCat##Suffix(destination, size / sizeof(Char), source);                  \
    }

DXGK_STRSAFE(A, CHAR)
DXGK_STRSAFE(W, WCHAR)

#undef DXGK_STRSAFE

static inline NTSTATUS RtlStringCchVPrintfA(
    PSTR destination, size_t size, PCSTR format, va_list arguments)
{
    int written;

    if (size == 0 || size > NTSTRSAFE_MAX_CCH) {
        return STATUS_INVALID_PARAMETER;
    }
    written = vsnprintf(destination, size, format, arguments);
    return written < 0 || (size_t)written >= size ? STATUS_BUFFER_OVERFLOW : STATUS_SUCCESS;
}

__attribute__((format(printf, 3, 4))) static inline NTSTATUS RtlStringCchPrintfA(
    PSTR destination, size_t size, PCSTR format, ...)
{
    va_list arguments;
    NTSTATUS status;

    va_start(arguments, format);
    status = RtlStringCchVPrintfA(destination, size, format, arguments);
    va_end(arguments);
    return status;
}

#define RtlStringCbVPrintfA RtlStringCchVPrintfA
#define RtlStringCbPrintfA  RtlStringCchPrintfA

/* Formats into `size` characters, the terminator among them; its length in *length. */
static inline NTSTATUS DxgkFormatWide(
    PWSTR destination,
    size_t size,
    PCWSTR format,
    __builtin_ms_va_list arguments,
    size_t *length)
{
    int written;

    if (size == 0 || size > NTSTRSAFE_MAX_CCH) {
        return STATUS_INVALID_PARAMETER;
    }
    written = _vsnwprintf(destination, size - 1, format, arguments);
    *length = written < 0 || (size_t)written > size - 1 ? size - 1 : (size_t)written;
    destination[*length] = 0;
    return written < 0 || (size_t)written > size - 1 ? STATUS_BUFFER_OVERFLOW : STATUS_SUCCESS;
}

static inline NTSTATUS NTAPI RtlStringCchPrintfW(
    PWSTR destination, size_t size, PCWSTR format, ...)
{
    __builtin_ms_va_list arguments;
    size_t length;
    NTSTATUS status;

    __builtin_ms_va_start(arguments, format);
    status = DxgkFormatWide(destination, size, format, arguments, &length);
    __builtin_ms_va_end(arguments);
    return status;
}

static inline NTSTATUS NTAPI RtlStringCbPrintfW(PWSTR destination, size_t size, PCWSTR format, ...)
{
    __builtin_ms_va_list arguments;
    size_t length;
    NTSTATUS status;

    __builtin_ms_va_start(arguments, format);
    status = DxgkFormatWide(destination, size / sizeof(WCHAR), format, arguments, &length);
    __builtin_ms_va_end(arguments);
    return status;
}

/* The string's Length excludes a terminator, for which its buffer need not have room. */
static inline NTSTATUS NTAPI RtlUnicodeStringPrintf(
    PUNICODE_STRING destination, PCWSTR format, ...)
{
    size_t room = destination->MaximumLength / sizeof(WCHAR);
    __builtin_ms_va_list arguments;
    int written;

    __builtin_ms_va_start(arguments, format);
    written = _vsnwprintf(destination->Buffer, room, format, arguments);
    __builtin_ms_va_end(arguments);
    if (written < 0 || (size_t)written > room) {
        destination->Length = (USHORT)(room * sizeof(WCHAR));
        return STATUS_BUFFER_OVERFLOW;
    }
    destination->Length = (USHORT)((size_t)written * sizeof(WCHAR));
    return STATUS_SUCCESS;
}

DXGK_INLINE NTSTATUS RtlUnicodeStringInit(PUNICODE_STRING destination, PCWSTR source)
{
    size_t length = source ? DxgkWcslen(source) : 0;

    if (length > UNICODE_STRING_MAX_CHARS) {
        return STATUS_INVALID_PARAMETER;
    }
    destination->Length = (USHORT)(length * sizeof(WCHAR));
    destination->MaximumLength = destination->Length;
    destination->Buffer = (PWSTR)source;
    return STATUS_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_NTSTRSAFE_H */
