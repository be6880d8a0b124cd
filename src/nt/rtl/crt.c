/* SPDX-License-Identifier: MIT */
/*
 * The C library functions that ntoskrnl exports. An ELF driver uses the C library of the process; a
 * PE image needs these: another calling convention, 16-bit wide characters, the kernel's printf.
 * They are found only through nt_routine_find, so that their names do not hide the library's.
 */
#include "nt/rtl/crt.h"
#include "nt/base/export.h"
#include "nt/base/items.h"
#include "nt/base/nt_report.h"
#include "nt/rtl/format.h"
#include "nt/rtl/rtl_string.h"
#include "util/checked.h"
#include "util/move.h"

#include <ctype.h>
#include <string.h>

/* Only the letters A to Z are converted. */
static int lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* ---- memory ---- */

/* What RtlCopyMemory compiles to in a PE image (NT-152). */
NT_TRANSPARENT static void *NTAPI crt_memcpy(void *to, const void *from, size_t bytes)
{
    if (to != from && ranges_overlap((uintptr_t)to, bytes, (uintptr_t)from, bytes))
        NT_VERIFIER("NT-152", 0xF0, (uintptr_t)to, (uintptr_t)from, bytes,
                    "RtlCopyMemory of %zu bytes to an overlapping range", bytes);
    return move_bytes(to, from, bytes);
}

NT_TRANSPARENT static void *NTAPI crt_memmove(void *to, const void *from, size_t bytes)
{
    return move_bytes(to, from, bytes);
}

NT_TRANSPARENT static void *NTAPI crt_memset(void *to, int value, size_t bytes)
{
    return memset(to, value, bytes);
}

NT_TRANSPARENT static int NTAPI crt_memcmp(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes);
}

NT_TRANSPARENT static const void *NTAPI crt_memchr(const void *bytes, int value, size_t count)
{
    return memchr(bytes, value, count);
}

/* ---- narrow strings ---- */

NT_TRANSPARENT static size_t NTAPI crt_strlen(const char *s)
{
    return strlen(s);
}

NT_TRANSPARENT static size_t NTAPI crt_strnlen(const char *s, size_t limit)
{
    return strnlen(s, limit);
}

NT_TRANSPARENT static int NTAPI crt_strcmp(const char *a, const char *b)
{
    return strcmp(a, b);
}

NT_TRANSPARENT static int NTAPI crt_strncmp(const char *a, const char *b, size_t count)
{
    return strncmp(a, b, count);
}

NT_TRANSPARENT static int NTAPI crt_strnicmp(const char *a, const char *b, size_t count)
{
    for (; count > 0; count--, a++, b++) {
        int x = lower((unsigned char)*a), y = lower((unsigned char)*b);

        if (x != y || x == 0)
            return x - y;
    }
    return 0;
}

NT_TRANSPARENT static int NTAPI crt_stricmp(const char *a, const char *b)
{
    return crt_strnicmp(a, b, SIZE_MAX);
}

NT_TRANSPARENT static char *NTAPI crt_strcpy(char *to, const char *from)
{
    return strcpy(to, from);
}

NT_TRANSPARENT static char *NTAPI crt_strncpy(char *to, const char *from, size_t count)
{
    return strncpy(to, from, count);
}

NT_TRANSPARENT static char *NTAPI crt_strcat(char *to, const char *from)
{
    return strcat(to, from);
}

NT_TRANSPARENT static char *NTAPI crt_strncat(char *to, const char *from, size_t count)
{
    return strncat(to, from, count);
}

NT_TRANSPARENT static size_t NTAPI crt_strspn(const char *s, const char *accepted)
{
    return strspn(s, accepted);
}

NT_TRANSPARENT static const char *NTAPI crt_strchr(const char *s, int c)
{
    return strchr(s, c);
}

NT_TRANSPARENT static const char *NTAPI crt_strrchr(const char *s, int c)
{
    return strrchr(s, c);
}

NT_TRANSPARENT static const char *NTAPI crt_strstr(const char *s, const char *part)
{
    return strstr(s, part);
}

static int NTAPI crt_toupper(int c)
{
    return c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c;
}

static int NTAPI crt_tolower(int c)
{
    return lower(c);
}

static int NTAPI crt_isdigit(int c)
{
    return c >= '0' && c <= '9';
}

static int NTAPI crt_isspace(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int NTAPI crt_isupper(int c)
{
    return c >= 'A' && c <= 'Z';
}

static int NTAPI crt_islower(int c)
{
    return c >= 'a' && c <= 'z';
}

static int NTAPI crt_isxdigit(int c)
{
    return crt_isdigit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

/* ---- wide strings ---- */

NT_TRANSPARENT static size_t NTAPI crt_wcslen(const WCHAR *s)
{
    return DxgkWcslen(s);
}

NT_TRANSPARENT static size_t NTAPI crt_wcsnlen(const WCHAR *s, size_t limit)
{
    return DxgkWcsnlen(s, limit);
}

NT_TRANSPARENT static int NTAPI crt_wcscmp(const WCHAR *a, const WCHAR *b)
{
    return DxgkWcscmp(a, b);
}

NT_TRANSPARENT static int NTAPI crt_wcsncmp(const WCHAR *a, const WCHAR *b, size_t count)
{
    return DxgkWcsncmp(a, b, count);
}

NT_TRANSPARENT static int NTAPI crt_wcsicmp(const WCHAR *a, const WCHAR *b)
{
    return DxgkWcsicmp(a, b);
}

NT_TRANSPARENT static int NTAPI crt_wcsnicmp(const WCHAR *a, const WCHAR *b, size_t count)
{
    return DxgkWcsnicmp(a, b, count);
}

NT_TRANSPARENT static WCHAR *NTAPI crt_wcscpy(WCHAR *to, const WCHAR *from)
{
    return DxgkWcscpy(to, from);
}

NT_TRANSPARENT static WCHAR *NTAPI crt_wcsncpy(WCHAR *to, const WCHAR *from, size_t count)
{
    return DxgkWcsncpy(to, from, count);
}

NT_TRANSPARENT static WCHAR *NTAPI crt_wcscat(WCHAR *to, const WCHAR *from)
{
    return DxgkWcscat(to, from);
}

NT_TRANSPARENT static const WCHAR *NTAPI crt_wcschr(const WCHAR *s, WCHAR c)
{
    return DxgkWcschr(s, c);
}

NT_TRANSPARENT static const WCHAR *NTAPI crt_wcsrchr(const WCHAR *s, WCHAR c)
{
    return DxgkWcsrchr(s, c);
}

NT_TRANSPARENT static const WCHAR *NTAPI crt_wcsstr(const WCHAR *s, const WCHAR *part)
{
    return DxgkWcsstr(s, part);
}

static WCHAR NTAPI crt_towupper(WCHAR c)
{
    return nt_string_upcase(c);
}

/* ---- formatting ---- */

/* Like Windows: terminated only if there is room; negative if the text did not fit. */
static int print(void *buffer, size_t capacity, bool wide, const void *format,
                 __builtin_ms_va_list arguments)
{
    struct nt_text text = {.buffer = buffer, .capacity = capacity, .wide = wide};

    nt_format(&text, format, arguments);
    if (text.length < capacity) {
        if (wide)
            ((WCHAR *)buffer)[text.length] = 0;
        else
            ((char *)buffer)[text.length] = '\0';
    }
    return text.length > capacity ? -1 : (int)text.length;
}

NT_EXPORT int NTAPI _vsnwprintf(WCHAR *buffer, size_t count, const WCHAR *format,
                                __builtin_ms_va_list arguments)
{
    return print(buffer, count, true, format, arguments);
}

static int NTAPI crt_vsnprintf(char *buffer, size_t count, const char *format,
                               __builtin_ms_va_list arguments)
{
    return print(buffer, count, false, format, arguments);
}

static int NTAPI crt_vsprintf(char *buffer, const char *format, __builtin_ms_va_list arguments)
{
    return print(buffer, INT32_MAX, false, format, arguments);
}

static int NTAPI crt_vswprintf(WCHAR *buffer, const WCHAR *format, __builtin_ms_va_list arguments)
{
    return print(buffer, INT32_MAX, true, format, arguments);
}

#define DEFINE_PRINT(NAME, CHAR, WIDE, CAPACITY, ...)                        \
    static int NTAPI NAME(CHAR *buffer, __VA_ARGS__ const CHAR *format, ...) \
    {                                                                        \
        __builtin_ms_va_list arguments;                                      \
        int written;                                                         \
                                                                             \
        __builtin_ms_va_start(arguments, format);                            \
        written = print(buffer, CAPACITY, WIDE, format, arguments);          \
        __builtin_ms_va_end(arguments);                                      \
        return written;                                                      \
    }

#define COUNT_PARAMETER size_t count,
DEFINE_PRINT(crt_sprintf, char, false, INT32_MAX, )
DEFINE_PRINT(crt_swprintf, WCHAR, true, INT32_MAX, )
DEFINE_PRINT(crt_snprintf, char, false, count, COUNT_PARAMETER)
DEFINE_PRINT(crt_snwprintf, WCHAR, true, count, COUNT_PARAMETER)

/* ---- numbers, sorting ---- */

static int digit_of(char letter)
{
    int c = lower((unsigned char)letter);

    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

#define TOO_LARGE ((uint64_t)UINT32_MAX + 1)

/* The number without its sign, at most TOO_LARGE. *end gets what follows it: `s`, if there is
 * none. */
static uint64_t parse(const char *s, char **end, int base, bool *negative)
{
    const char *after = s;
    uint64_t value = 0;

    while (isspace((unsigned char)*s))
        s++;
    *negative = *s == '-';
    if (*s == '-' || *s == '+')
        s++;
    if ((base == 0 || base == 16) && s[0] == '0' && lower(s[1]) == 'x' && digit_of(s[2]) < 16) {
        s += 2;
        base = 16;
    }
    if (base == 0)
        base = *s == '0' ? 8 : 10;
    for (; digit_of(*s) < base; s++) {
        value = value * (unsigned)base + (unsigned)digit_of(*s);
        if (value > TOO_LARGE)
            value = TOO_LARGE;
        after = s + 1;
    }
    if (end)
        *end = (char *)(uintptr_t)after;
    return value;
}

static LONG NTAPI crt_atoi(const char *s)
{
    bool negative;
    uint64_t value = parse(s, NULL, 10, &negative);

    if (value > (uint64_t)INT32_MAX + negative)
        value = (uint64_t)INT32_MAX + negative;
    return (LONG)(negative ? 0 - value : value);
}

NT_TRANSPARENT static ULONG NTAPI crt_strtoul(const char *s, char **end, int base)
{
    bool negative;
    uint64_t value = parse(s, end, base, &negative);

    if (value == TOO_LARGE)
        return UINT32_MAX;
    return (ULONG)(negative ? 0 - value : value);
}

/* Heap sort: neither recursion, since the stack is small, nor memory allocation. */
typedef int NTAPI crt_compare(const void *a, const void *b);

static void swap(uint8_t *a, uint8_t *b, size_t bytes)
{
    while (bytes-- > 0) {
        uint8_t byte = *a;

        *a++ = *b;
        *b++ = byte;
    }
}

static void sift(uint8_t *base, size_t root, size_t count, size_t bytes, crt_compare *compare)
{
    for (size_t child = 2 * root + 1; child < count; root = child, child = 2 * root + 1) {
        if (child + 1 < count && compare(base + child * bytes, base + (child + 1) * bytes) < 0)
            child++;
        if (compare(base + root * bytes, base + child * bytes) >= 0)
            return;
        swap(base + root * bytes, base + child * bytes, bytes);
    }
}

static void NTAPI crt_qsort(void *base, size_t count, size_t bytes, crt_compare *compare)
{
    for (size_t i = count / 2; i-- > 0;)
        sift(base, i, count, bytes, compare);
    for (size_t end = count; end-- > 1;) {
        swap(base, (uint8_t *)base + end * bytes, bytes);
        sift(base, 0, end, bytes, compare);
    }
}

/* ---- by name ---- */

static const struct nt_crt_routine routines[] = {
    {"memcpy", crt_memcpy},        {"memmove", crt_memmove},   {"memset", crt_memset},
    {"memcmp", crt_memcmp},        {"memchr", crt_memchr},     {"strlen", crt_strlen},
    {"strnlen", crt_strnlen},      {"strcmp", crt_strcmp},     {"strncmp", crt_strncmp},
    {"_strnicmp", crt_strnicmp},   {"_stricmp", crt_stricmp},  {"strcpy", crt_strcpy},
    {"strncpy", crt_strncpy},      {"strcat", crt_strcat},     {"strchr", crt_strchr},
    {"strrchr", crt_strrchr},      {"strstr", crt_strstr},     {"toupper", crt_toupper},
    {"tolower", crt_tolower},      {"wcslen", crt_wcslen},     {"wcsnlen", crt_wcsnlen},
    {"wcscmp", crt_wcscmp},        {"wcsncmp", crt_wcsncmp},   {"_wcsicmp", crt_wcsicmp},
    {"_wcsnicmp", crt_wcsnicmp},   {"wcscpy", crt_wcscpy},     {"wcsncpy", crt_wcsncpy},
    {"wcscat", crt_wcscat},        {"wcschr", crt_wcschr},     {"wcsrchr", crt_wcsrchr},
    {"wcsstr", crt_wcsstr},        {"towupper", crt_towupper}, {"_vsnwprintf", _vsnwprintf},
    {"_vsnprintf", crt_vsnprintf}, {"vsprintf", crt_vsprintf}, {"vswprintf", crt_vswprintf},
    {"sprintf", crt_sprintf},      {"swprintf", crt_swprintf}, {"_snprintf", crt_snprintf},
    {"_snwprintf", crt_snwprintf}, {"atoi", crt_atoi},         {"atol", crt_atoi},
    {"strtoul", crt_strtoul},      {"qsort", crt_qsort},       {"strncat", crt_strncat},
    {"strspn", crt_strspn},        {"isdigit", crt_isdigit},   {"isspace", crt_isspace},
    {"isupper", crt_isupper},      {"islower", crt_islower},   {"isxdigit", crt_isxdigit},
};

void *nt_crt_find(const char *name)
{
    for (size_t i = 0; i < NT_ITEMS(routines); i++) {
        if (strcmp(routines[i].name, name) == 0)
            return routines[i].address;
    }
    return NULL;
}
