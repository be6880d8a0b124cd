/* SPDX-License-Identifier: MIT */
/*
 * The C run-time functions on wide strings that the kernel exports. The C library of an ELF target
 * has functions of these names for another wchar_t, so here they become functions on WCHAR.
 */
#ifndef DXGK_WDK_WDM_CRT_H
#define DXGK_WDK_WDM_CRT_H

/* First, so that later inclusion cannot bring the library's functions back. */
#ifdef __cplusplus
#include <cstdio>
#include <cstring>
#include <cwchar>

#include <strings.h>
/* 0, as on Windows, where sources write `= NULL` for a pure virtual function. */
#undef NULL
#define NULL 0
#else
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>
#endif

#include <ntdef.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline size_t DxgkWcslen(const WCHAR *string)
{
    const WCHAR *end = string;

    while (*end) {
        end++;
    }
    return (size_t)(end - string);
}

static inline size_t DxgkWcsnlen(const WCHAR *string, size_t limit)
{
    size_t length = 0;

    while (length < limit && string[length]) {
        length++;
    }
    return length;
}

static inline WCHAR *DxgkWcscpy(WCHAR *destination, const WCHAR *source)
{
    WCHAR *to = destination;

    while ((*to++ = *source++) != 0) {
    }
    return destination;
}

static inline WCHAR *DxgkWcsncpy(WCHAR *destination, const WCHAR *source, size_t count)
{
    size_t i = 0;

    for (; i < count && source[i]; i++) {
        destination[i] = source[i];
    }
    for (; i < count; i++) {
        destination[i] = 0;
    }
    return destination;
}

static inline WCHAR *DxgkWcscat(WCHAR *destination, const WCHAR *source)
{
    DxgkWcscpy(destination + DxgkWcslen(destination), source);
    return destination;
}

static inline WCHAR DxgkAsciiLower(WCHAR c)
{
    return c >= 'A' && c <= 'Z' ? (WCHAR)(c + ('a' - 'A')) : c;
}

static inline int DxgkWcsncmp(const WCHAR *left, const WCHAR *right, size_t count)
{
    for (; count; count--, left++, right++) {
        if (*left != *right || !*left) {
            return (int)*left - (int)*right;
        }
    }
    return 0;
}

static inline int DxgkWcscmp(const WCHAR *left, const WCHAR *right)
{
    return DxgkWcsncmp(left, right, (size_t)-1);
}

/* Like the kernel's: only the letters A to Z fold. */
static inline int DxgkWcsnicmp(const WCHAR *left, const WCHAR *right, size_t count)
{
    for (; count; count--, left++, right++) {
        WCHAR l = DxgkAsciiLower(*left);
        WCHAR r = DxgkAsciiLower(*right);

        if (l != r || !l) {
            return (int)l - (int)r;
        }
    }
    return 0;
}

static inline int DxgkWcsicmp(const WCHAR *left, const WCHAR *right)
{
    return DxgkWcsnicmp(left, right, (size_t)-1);
}

static inline const WCHAR *DxgkWcschr(const WCHAR *string, WCHAR c)
{
    for (; *string != c; string++) {
        if (!*string) {
            return NULL;
        }
    }
    return string;
}

static inline const WCHAR *DxgkWcsrchr(const WCHAR *string, WCHAR c)
{
    const WCHAR *found = NULL;

    for (;; string++) {
        if (*string == c) {
            found = string;
        }
        if (!*string) {
            return found;
        }
    }
}

static inline const WCHAR *DxgkWcsstr(const WCHAR *string, const WCHAR *part)
{
    size_t length = DxgkWcslen(part);

    for (; DxgkWcsncmp(string, part, length) != 0; string++) {
        if (!*string) {
            return NULL;
        }
    }
    return string;
}

/*
 * Formats at most `count` characters; negative if they do not fit. As on Windows, the result is
 * terminated only if there is room, %s is a wide and %S a narrow string, and %wZ a UNICODE_STRING.
 */
NTSYSAPI int NTAPI _vsnwprintf(
    WCHAR *buffer, size_t count, const WCHAR *format, __builtin_ms_va_list arguments);

static inline int NTAPI DxgkSnwprintf(WCHAR *buffer, size_t count, const WCHAR *format, ...)
{
    __builtin_ms_va_list arguments;
    int written;

    __builtin_ms_va_start(arguments, format);
    written = _vsnwprintf(buffer, count, format, arguments);
    __builtin_ms_va_end(arguments);
    return written;
}

static inline int NTAPI DxgkSwprintf(WCHAR *buffer, const WCHAR *format, ...)
{
    __builtin_ms_va_list arguments;
    int written;

    __builtin_ms_va_start(arguments, format);
    written = _vsnwprintf(buffer, 0x7FFFFFFF, format, arguments);
    __builtin_ms_va_end(arguments);
    return written;
}

#ifdef __cplusplus
}
#endif

#define wcslen(String)                   DxgkWcslen(String)
#define wcsnlen(String, Limit)           DxgkWcsnlen(String, Limit)
#define wcscpy(Destination, Source)      DxgkWcscpy(Destination, Source)
#define wcsncpy(Destination, Source, n)  DxgkWcsncpy(Destination, Source, n)
#define wcscat(Destination, Source)      DxgkWcscat(Destination, Source)
#define wcscmp(Left, Right)              DxgkWcscmp(Left, Right)
#define wcsncmp(Left, Right, n)          DxgkWcsncmp(Left, Right, n)
#define _wcsicmp(Left, Right)            DxgkWcsicmp(Left, Right)
#define _wcsnicmp(Left, Right, n)        DxgkWcsnicmp(Left, Right, n)
#define wcschr(String, c)                ((WCHAR *)DxgkWcschr(String, c))
#define wcsrchr(String, c)               ((WCHAR *)DxgkWcsrchr(String, c))
#define wcsstr(String, Part)             ((WCHAR *)DxgkWcsstr(String, Part))
#define swprintf                         DxgkSwprintf
#define _snwprintf                       DxgkSnwprintf
#define _snprintf                        snprintf
#define _vsnprintf                       vsnprintf
#define _stricmp                         strcasecmp
#define _strnicmp                        strncasecmp

#endif /* DXGK_WDK_WDM_CRT_H */
