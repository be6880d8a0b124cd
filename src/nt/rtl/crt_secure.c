/* SPDX-License-Identifier: MIT */
/*
 * The C library functions that know the size of their destination. The C library of the process has
 * none of these names, so that drivers of both forms use the ones here. A bad argument is answered
 * by an error number and, where there is a destination, by an empty string in it (NT-185).
 */
#include "nt/base/export.h"
#include "nt/rtl/format.h"

#include <errno.h>
#include <string.h>

#include <ntddk.h>

/* The end of a string that must end within `size` characters; `size` if it does not. */
NT_TRANSPARENT static size_t end_of(const void *text, size_t size, bool wide)
{
    size_t length = 0;

    while (length < size &&
           (wide ? ((const WCHAR *)text)[length] : (WCHAR)((const char *)text)[length]) != 0)
        length++;
    return length;
}

NT_TRANSPARENT static void put(void *text, size_t at, WCHAR c, bool wide)
{
    if (wide)
        ((WCHAR *)text)[at] = c;
    else
        ((char *)text)[at] = (char)c;
}

/* At most `count` characters behind the first `at` of the destination, and a terminator. */
NT_TRANSPARENT static errno_t copy(void *to, size_t size, size_t at, const void *from, size_t count,
                                   bool wide)
{
    if (!from) {
        put(to, 0, 0, wide);
        return count == 0 ? 0 : EINVAL;
    }
    for (size_t i = 0; at + i < size; i++) {
        WCHAR c = 0;

        if (i != count)
            c = wide ? ((const WCHAR *)from)[i] : (WCHAR)((const unsigned char *)from)[i];
        put(to, at + i, c, wide);
        if (c == 0)
            return 0;
    }
    put(to, count == _TRUNCATE ? size - 1 : 0, 0, wide);
    return count == _TRUNCATE ? STRUNCATE : ERANGE;
}

NT_TRANSPARENT static errno_t copy_string(void *to, size_t size, const void *from, size_t count,
                                          bool wide)
{
    if (!to && size == 0 && count == 0)
        return 0;
    if (!to || size == 0)
        return EINVAL;
    return copy(to, size, 0, from, count, wide);
}

NT_TRANSPARENT static errno_t append_string(void *to, size_t size, const void *from, size_t count,
                                            bool wide)
{
    size_t at;

    if (!to && size == 0 && count == 0)
        return 0;
    if (!to || size == 0)
        return EINVAL;
    at = end_of(to, size, wide);
    if (at == size) {
        put(to, 0, 0, wide);
        return EINVAL;
    }
    if (!from && count == 0)
        return 0;
    return copy(to, size, at, from, count, wide);
}

#define WHOLE (SIZE_MAX - 1) /* a count that no string reaches, and that is not _TRUNCATE */

NT_EXPORT NT_TRANSPARENT errno_t NTAPI strcpy_s(char *to, rsize_t size, const char *from)
{
    return copy_string(to, size, from, WHOLE, false);
}

NT_EXPORT NT_TRANSPARENT errno_t NTAPI wcscpy_s(WCHAR *to, rsize_t size, const WCHAR *from)
{
    return copy_string(to, size, from, WHOLE, true);
}

NT_EXPORT NT_TRANSPARENT errno_t NTAPI strncpy_s(char *to, rsize_t size, const char *from,
                                                 rsize_t count)
{
    return copy_string(to, size, from, count, false);
}

NT_EXPORT NT_TRANSPARENT errno_t NTAPI wcsncpy_s(WCHAR *to, rsize_t size, const WCHAR *from,
                                                 rsize_t count)
{
    return copy_string(to, size, from, count, true);
}

NT_EXPORT NT_TRANSPARENT errno_t NTAPI strcat_s(char *to, rsize_t size, const char *from)
{
    return append_string(to, size, from, WHOLE, false);
}

NT_EXPORT NT_TRANSPARENT errno_t NTAPI wcscat_s(WCHAR *to, rsize_t size, const WCHAR *from)
{
    return append_string(to, size, from, WHOLE, true);
}

NT_EXPORT NT_TRANSPARENT errno_t NTAPI strncat_s(char *to, rsize_t size, const char *from,
                                                 rsize_t count)
{
    return append_string(to, size, from, count, false);
}

NT_EXPORT NT_TRANSPARENT errno_t NTAPI wcsncat_s(WCHAR *to, rsize_t size, const WCHAR *from,
                                                 rsize_t count)
{
    return append_string(to, size, from, count, true);
}

NT_EXPORT NT_TRANSPARENT errno_t NTAPI memcpy_s(void *to, rsize_t size, const void *from,
                                                rsize_t count)
{
    if (count == 0)
        return 0;
    if (!to)
        return EINVAL;
    if (!from || size < count) {
        memset(to, 0, size);
        return from ? ERANGE : EINVAL;
    }
    memcpy(to, from, count);
    return 0;
}

NT_EXPORT NT_TRANSPARENT errno_t NTAPI memmove_s(void *to, rsize_t size, const void *from,
                                                 rsize_t count)
{
    if (count == 0)
        return 0;
    if (!to || !from)
        return EINVAL;
    if (size < count)
        return ERANGE;
    memmove(to, from, count);
    return 0;
}

/* ---- formatting ---- */

/* At most `count` characters are written; what exceeds `size` leaves an empty string, except that
 * what exceeds a count that fits, or _TRUNCATE, is cut off. */
static int print(void *to, size_t size, size_t count, bool wide, const void *format,
                 __builtin_ms_va_list arguments)
{
    struct nt_text text = {.buffer = to, .wide = wide};
    bool cut = count == _TRUNCATE || count < size;

    if (!to || size == 0 || !format)
        return -1;
    text.capacity = count < size ? count : size - 1;
    nt_format(&text, format, arguments);
    if (text.length <= text.capacity) {
        put(to, text.length, 0, wide);
        return (int)text.length;
    }
    put(to, cut ? text.capacity : 0, 0, wide);
    return -1;
}

NT_EXPORT int NTAPI vsprintf_s(char *to, size_t size, const char *format,
                               __builtin_ms_va_list arguments)
{
    return print(to, size, SIZE_MAX - 1, false, format, arguments);
}

NT_EXPORT int NTAPI vswprintf_s(WCHAR *to, size_t size, const WCHAR *format,
                                __builtin_ms_va_list arguments)
{
    return print(to, size, SIZE_MAX - 1, true, format, arguments);
}

NT_EXPORT int NTAPI _vsnprintf_s(char *to, size_t size, size_t count, const char *format,
                                 __builtin_ms_va_list arguments)
{
    return print(to, size, count, false, format, arguments);
}

NT_EXPORT int NTAPI _vsnwprintf_s(WCHAR *to, size_t size, size_t count, const WCHAR *format,
                                  __builtin_ms_va_list arguments)
{
    return print(to, size, count, true, format, arguments);
}

NT_EXPORT int NTAPI sprintf_s(char *to, size_t size, const char *format, ...)
{
    __builtin_ms_va_list arguments;
    int written;

    __builtin_ms_va_start(arguments, format);
    written = vsprintf_s(to, size, format, arguments);
    __builtin_ms_va_end(arguments);
    return written;
}

NT_EXPORT int NTAPI swprintf_s(WCHAR *to, size_t size, const WCHAR *format, ...)
{
    __builtin_ms_va_list arguments;
    int written;

    __builtin_ms_va_start(arguments, format);
    written = vswprintf_s(to, size, format, arguments);
    __builtin_ms_va_end(arguments);
    return written;
}

NT_EXPORT int NTAPI _snprintf_s(char *to, size_t size, size_t count, const char *format, ...)
{
    __builtin_ms_va_list arguments;
    int written;

    __builtin_ms_va_start(arguments, format);
    written = _vsnprintf_s(to, size, count, format, arguments);
    __builtin_ms_va_end(arguments);
    return written;
}

NT_EXPORT int NTAPI _snwprintf_s(WCHAR *to, size_t size, size_t count, const WCHAR *format, ...)
{
    __builtin_ms_va_list arguments;
    int written;

    __builtin_ms_va_start(arguments, format);
    written = _vsnwprintf_s(to, size, count, format, arguments);
    __builtin_ms_va_end(arguments);
    return written;
}
