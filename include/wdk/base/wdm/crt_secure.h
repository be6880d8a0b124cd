/* SPDX-License-Identifier: MIT */
/*
 * The C run-time functions that know the size of their destination: strcpy_s and its kin. They return
 * 0 or an error number; after an error the destination is an empty string. With _TRUNCATE as count,
 * what does not fit is cut off and the result is STRUNCATE.
 */
#ifndef DXGK_WDK_WDM_CRT_SECURE_H
#define DXGK_WDK_WDM_CRT_SECURE_H

#include <errno.h>

#include <ntdef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef __errno_t_defined
#define __errno_t_defined
typedef int errno_t;
#endif
typedef size_t rsize_t;

#ifndef STRUNCATE
#define STRUNCATE 80
#endif
#ifndef _TRUNCATE
#define _TRUNCATE ((size_t)-1)
#endif

NTSYSAPI errno_t NTAPI memcpy_s(void *to, rsize_t size, const void *from, rsize_t count);
NTSYSAPI errno_t NTAPI memmove_s(void *to, rsize_t size, const void *from, rsize_t count);
NTSYSAPI errno_t NTAPI strcpy_s(char *to, rsize_t size, const char *from);
NTSYSAPI errno_t NTAPI strcat_s(char *to, rsize_t size, const char *from);
NTSYSAPI errno_t NTAPI strncpy_s(char *to, rsize_t size, const char *from, rsize_t count);
NTSYSAPI errno_t NTAPI strncat_s(char *to, rsize_t size, const char *from, rsize_t count);
NTSYSAPI errno_t NTAPI wcscpy_s(WCHAR *to, rsize_t size, const WCHAR *from);
NTSYSAPI errno_t NTAPI wcscat_s(WCHAR *to, rsize_t size, const WCHAR *from);
NTSYSAPI errno_t NTAPI wcsncpy_s(WCHAR *to, rsize_t size, const WCHAR *from, rsize_t count);
NTSYSAPI errno_t NTAPI wcsncat_s(WCHAR *to, rsize_t size, const WCHAR *from, rsize_t count);
/* The length, or -1 and an empty string. */
NTSYSAPI int NTAPI sprintf_s(char *to, size_t size, const char *format, ...);
NTSYSAPI int NTAPI swprintf_s(WCHAR *to, size_t size, const WCHAR *format, ...);
NTSYSAPI int NTAPI _snprintf_s(char *to, size_t size, size_t count, const char *format, ...);
NTSYSAPI int NTAPI _snwprintf_s(WCHAR *to, size_t size, size_t count, const WCHAR *format, ...);
/* With the va_list of Microsoft's convention, as all variadic functions of the kernel. */
NTSYSAPI int NTAPI vsprintf_s(
    char *to, size_t size, const char *format, __builtin_ms_va_list arguments);
NTSYSAPI int NTAPI vswprintf_s(
    WCHAR *to, size_t size, const WCHAR *format, __builtin_ms_va_list arguments);
NTSYSAPI int NTAPI _vsnprintf_s(
    char *to, size_t size, size_t count, const char *format, __builtin_ms_va_list arguments);
NTSYSAPI int NTAPI _vsnwprintf_s(
    WCHAR *to, size_t size, size_t count, const WCHAR *format, __builtin_ms_va_list arguments);

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WDM_CRT_SECURE_H */
