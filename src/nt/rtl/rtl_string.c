/* SPDX-License-Identifier: MIT */
/*
 * Counted strings. Lengths are bytes and exclude a terminator; WCHAR is 16 bits. The ANSI code page
 * is Latin-1. Routines that allocate take their buffers from paged pool, tracked like the driver's
 * own.
 */
#include <string.h>

#include "nt/rtl/rtl_string.h"
#include "nt/base/export.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/mm/pool.h"
#include "verify/verify.h"

#define STRING_TAG     0x67727453u /* "Strg" */
#define LONGEST_WIDE   UNICODE_STRING_MAX_BYTES
#define LONGEST_NARROW 0xFFFEu

/* Upper case of letters that occur in names: ASCII, Latin-1, Greek, Cyrillic. */
WCHAR nt_string_upcase(WCHAR c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 0xE0 && c <= 0xFE && c != 0xF7) ||
        (c >= 0x3B1 && c <= 0x3C9 && c != 0x3C2) || (c >= 0x430 && c <= 0x44F))
        return (WCHAR)(c - 0x20);
    if (c >= 0x450 && c <= 0x45F)
        return (WCHAR)(c - 0x50);
    return c == 0xFF ? 0x178 : c;
}

static WCHAR downcase(WCHAR c)
{
    if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ||
        (c >= 0x391 && c <= 0x3A9 && c != 0x3A2) || (c >= 0x410 && c <= 0x42F))
        return (WCHAR)(c + 0x20);
    if (c >= 0x400 && c <= 0x40F)
        return (WCHAR)(c + 0x50);
    return c == 0x178 ? 0xFF : c;
}

size_t nt_string_length(const WCHAR *text)
{
    size_t length = 0;

    while (text[length])
        length++;
    return length;
}

/* ---- initialising ---- */

static NTSTATUS init_unicode(PUNICODE_STRING string, PCWSTR source)
{
    size_t bytes = source ? nt_string_length(source) * sizeof(WCHAR) : 0;
    NTSTATUS status = STATUS_SUCCESS;

    if (bytes > LONGEST_WIDE - sizeof(WCHAR)) {
        bytes = LONGEST_WIDE - sizeof(WCHAR);
        status = STATUS_NAME_TOO_LONG;
    }
    string->Length = (USHORT)bytes;
    string->MaximumLength = (USHORT)(source ? bytes + sizeof(WCHAR) : 0);
    string->Buffer = (PWSTR)(uintptr_t)source;
    return status;
}

static NTSTATUS init_ansi(PANSI_STRING string, PCSZ source)
{
    size_t bytes = source ? strlen(source) : 0;
    NTSTATUS status = STATUS_SUCCESS;

    if (bytes > LONGEST_NARROW) {
        bytes = LONGEST_NARROW;
        status = STATUS_NAME_TOO_LONG;
    }
    string->Length = (USHORT)bytes;
    string->MaximumLength = (USHORT)(source ? bytes + 1 : 0);
    string->Buffer = (PCHAR)(uintptr_t)source;
    return status;
}

NT_EXPORT NT_TRANSPARENT VOID NTAPI RtlInitUnicodeString(PUNICODE_STRING DestinationString,
                                                         PCWSTR SourceString)
{
    NT_ENTER();
    init_unicode(DestinationString, SourceString);
}

NT_EXPORT NT_TRANSPARENT NTSTATUS NTAPI RtlInitUnicodeStringEx(PUNICODE_STRING DestinationString,
                                                               PCWSTR SourceString)
{
    NT_ENTER();
    return init_unicode(DestinationString, SourceString);
}

NT_EXPORT NT_TRANSPARENT VOID NTAPI RtlInitAnsiString(PANSI_STRING DestinationString,
                                                      PCSZ SourceString)
{
    NT_ENTER();
    init_ansi(DestinationString, SourceString);
}

NT_EXPORT NT_TRANSPARENT NTSTATUS NTAPI RtlInitAnsiStringEx(PANSI_STRING DestinationString,
                                                            PCSZ SourceString)
{
    NT_ENTER();
    return init_ansi(DestinationString, SourceString);
}

NT_EXPORT NT_TRANSPARENT VOID NTAPI RtlInitString(PSTRING DestinationString, PCSZ SourceString)
{
    NT_ENTER();
    init_ansi(DestinationString, SourceString);
}

/* ---- copying and appending ---- */

NT_EXPORT NT_TRANSPARENT VOID NTAPI RtlCopyUnicodeString(PUNICODE_STRING DestinationString,
                                                         PCUNICODE_STRING SourceString)
{
    USHORT bytes;

    NT_ENTER();
    bytes = SourceString ? SourceString->Length : 0;
    if (bytes > DestinationString->MaximumLength)
        bytes = DestinationString->MaximumLength;
    if (bytes > 0)
        memmove(DestinationString->Buffer, SourceString->Buffer, bytes);
    DestinationString->Length = bytes;
    if (DestinationString->MaximumLength - bytes >= (int)sizeof(WCHAR))
        DestinationString->Buffer[bytes / sizeof(WCHAR)] = 0;
}

NT_EXPORT NT_TRANSPARENT VOID NTAPI RtlCopyString(PSTRING DestinationString,
                                                  const STRING *SourceString)
{
    USHORT bytes;

    NT_ENTER();
    bytes = SourceString ? SourceString->Length : 0;
    if (bytes > DestinationString->MaximumLength)
        bytes = DestinationString->MaximumLength;
    if (bytes > 0)
        memmove(DestinationString->Buffer, SourceString->Buffer, bytes);
    DestinationString->Length = bytes;
}

static NTSTATUS append(PUNICODE_STRING destination, const WCHAR *source, size_t bytes)
{
    size_t total = destination->Length + bytes;

    if (total > destination->MaximumLength)
        return STATUS_BUFFER_TOO_SMALL;
    if (bytes > 0)
        memmove((uint8_t *)destination->Buffer + destination->Length, source, bytes);
    destination->Length = (USHORT)total;
    if (destination->MaximumLength - total >= sizeof(WCHAR))
        destination->Buffer[total / sizeof(WCHAR)] = 0;
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI RtlAppendUnicodeToString(PUNICODE_STRING Destination, PCWSTR Source)
{
    NT_ENTER();
    return Source ? append(Destination, Source, nt_string_length(Source) * sizeof(WCHAR))
                  : STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI RtlAppendUnicodeStringToString(PUNICODE_STRING Destination,
                                                        PCUNICODE_STRING Source)
{
    NT_ENTER();
    return append(Destination, Source->Buffer, Source->Length);
}

/* ---- comparing ---- */

int nt_string_compare(PCUNICODE_STRING a, PCUNICODE_STRING b, bool ignore_case)
{
    size_t a_count = a->Length / sizeof(WCHAR), b_count = b->Length / sizeof(WCHAR);

    for (size_t i = 0; i < a_count && i < b_count; i++) {
        WCHAR x = a->Buffer[i], y = b->Buffer[i];

        if (ignore_case) {
            x = nt_string_upcase(x);
            y = nt_string_upcase(y);
        }
        if (x != y)
            return (int)x - (int)y;
    }
    return (int)a_count - (int)b_count;
}

static LONG compare_ansi(const STRING *a, const STRING *b, bool ignore_case)
{
    for (USHORT i = 0; i < a->Length && i < b->Length; i++) {
        WCHAR x = (UCHAR)a->Buffer[i], y = (UCHAR)b->Buffer[i];

        if (ignore_case) {
            x = nt_string_upcase(x);
            y = nt_string_upcase(y);
        }
        if (x != y)
            return (LONG)x - (LONG)y;
    }
    return (LONG)a->Length - (LONG)b->Length;
}

/* Case tables are pageable (NT-155). */
static bool tables_level(const char *routine)
{
    return nt_level(NT_PASSIVE, "NT-155", NT_NO_CODE, routine);
}

NT_EXPORT NT_TRANSPARENT LONG NTAPI RtlCompareUnicodeString(PCUNICODE_STRING String1,
                                                            PCUNICODE_STRING String2,
                                                            BOOLEAN CaseInSensitive)
{
    NT_ENTER();
    tables_level(__func__);
    return nt_string_compare(String1, String2, CaseInSensitive);
}

NT_EXPORT NT_TRANSPARENT BOOLEAN NTAPI RtlEqualUnicodeString(PCUNICODE_STRING String1,
                                                             PCUNICODE_STRING String2,
                                                             BOOLEAN CaseInSensitive)
{
    NT_ENTER();
    tables_level(__func__);
    return String1->Length == String2->Length &&
           nt_string_compare(String1, String2, CaseInSensitive) == 0;
}

NT_EXPORT BOOLEAN NTAPI RtlPrefixUnicodeString(PCUNICODE_STRING String1, PCUNICODE_STRING String2,
                                               BOOLEAN CaseInSensitive)
{
    UNICODE_STRING start;

    NT_ENTER();
    tables_level(__func__);
    if (String1->Length > String2->Length)
        return FALSE;
    start = *String2;
    start.Length = String1->Length;
    return nt_string_compare(String1, &start, CaseInSensitive) == 0;
}

NT_EXPORT NT_TRANSPARENT BOOLEAN NTAPI RtlEqualString(const STRING *String1, const STRING *String2,
                                                      BOOLEAN CaseInSensitive)
{
    NT_ENTER();
    tables_level(__func__);
    return String1->Length == String2->Length &&
           compare_ansi(String1, String2, CaseInSensitive) == 0;
}

NT_EXPORT NT_TRANSPARENT LONG NTAPI RtlCompareString(const STRING *String1, const STRING *String2,
                                                     BOOLEAN CaseInSensitive)
{
    NT_ENTER();
    tables_level(__func__);
    return compare_ansi(String1, String2, CaseInSensitive);
}

/* ---- case ---- */

NT_EXPORT WCHAR NTAPI RtlUpcaseUnicodeChar(WCHAR SourceCharacter)
{
    NT_ENTER();
    tables_level(__func__);
    return nt_string_upcase(SourceCharacter);
}

NT_EXPORT WCHAR NTAPI RtlDowncaseUnicodeChar(WCHAR SourceCharacter)
{
    NT_ENTER();
    tables_level(__func__);
    return downcase(SourceCharacter);
}

/* ---- conversions ---- */

static void *allocate_buffer(size_t bytes, const void *caller)
{
    struct nt_block *block = nt_pool_take(bytes, STRING_TAG, NT_POOL_PAGED, false, caller);

    return block ? block->address : NULL;
}

/* Provide a buffer of `bytes`, from pool if asked; STATUS_BUFFER_OVERFLOW if the caller's is too
 * small. */
static NTSTATUS prepare_wide(PUNICODE_STRING string, size_t bytes, bool allocate, const void *caller)
{
    void *buffer;

    if (bytes > LONGEST_WIDE)
        return STATUS_INVALID_PARAMETER_2;
    if (!allocate)
        return bytes <= string->MaximumLength ? STATUS_SUCCESS : STATUS_BUFFER_OVERFLOW;
    buffer = allocate_buffer(bytes, caller);
    if (!buffer)
        return STATUS_NO_MEMORY;
    string->Buffer = buffer;
    string->MaximumLength = (USHORT)bytes;
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI RtlUpcaseUnicodeString(PUNICODE_STRING DestinationString,
                                                PCUNICODE_STRING SourceString,
                                                BOOLEAN AllocateDestinationString)
{
    NTSTATUS status;

    NT_ENTER();
    if (!tables_level(__func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    status = prepare_wide(DestinationString, SourceString->Length, AllocateDestinationString,
                          NT_CALLER());
    if (!NT_SUCCESS(status))
        return status;
    DestinationString->Length = SourceString->Length;
    for (size_t i = 0; i < SourceString->Length / sizeof(WCHAR); i++)
        DestinationString->Buffer[i] = nt_string_upcase(SourceString->Buffer[i]);
    return STATUS_SUCCESS;
}

NT_EXPORT ULONG NTAPI RtlxAnsiStringToUnicodeSize(PCANSI_STRING AnsiString)
{
    NT_ENTER();
    return (ULONG)((AnsiString->Length + 1u) * sizeof(WCHAR));
}

NT_EXPORT ULONG NTAPI RtlxUnicodeStringToAnsiSize(PCUNICODE_STRING UnicodeString)
{
    NT_ENTER();
    return (ULONG)(UnicodeString->Length / sizeof(WCHAR) + 1);
}

NT_EXPORT NTSTATUS NTAPI RtlAnsiStringToUnicodeString(PUNICODE_STRING DestinationString,
                                                      PCANSI_STRING SourceString,
                                                      BOOLEAN AllocateDestinationString)
{
    NTSTATUS status;
    USHORT count;

    NT_ENTER();
    if (!tables_level(__func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    count = SourceString->Length;
    status = prepare_wide(DestinationString, (count + 1u) * sizeof(WCHAR),
                          AllocateDestinationString, NT_CALLER());
    if (!NT_SUCCESS(status))
        return status;
    for (USHORT i = 0; i < count; i++)
        DestinationString->Buffer[i] = (UCHAR)SourceString->Buffer[i];
    DestinationString->Buffer[count] = 0;
    DestinationString->Length = (USHORT)(count * sizeof(WCHAR));
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI RtlUnicodeStringToAnsiString(PANSI_STRING DestinationString,
                                                      PCUNICODE_STRING SourceString,
                                                      BOOLEAN AllocateDestinationString)
{
    NTSTATUS status = STATUS_SUCCESS;
    USHORT count;

    NT_ENTER();
    if (!tables_level(__func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    count = SourceString->Length / sizeof(WCHAR);
    if (AllocateDestinationString) {
        void *buffer = allocate_buffer(count + 1u, NT_CALLER());

        if (!buffer)
            return STATUS_NO_MEMORY;
        DestinationString->Buffer = buffer;
        DestinationString->MaximumLength = (USHORT)(count + 1);
    } else if (DestinationString->MaximumLength == 0) {
        return STATUS_BUFFER_OVERFLOW;
    } else if (count + 1 > DestinationString->MaximumLength) {
        count = (USHORT)(DestinationString->MaximumLength - 1);
        status = STATUS_BUFFER_OVERFLOW;
    }
    for (USHORT i = 0; i < count; i++) {
        WCHAR c = SourceString->Buffer[i];

        DestinationString->Buffer[i] = (CHAR)(c < 0x100 ? c : '?');
    }
    DestinationString->Buffer[count] = 0;
    DestinationString->Length = count;
    return status;
}

static void free_buffer(void *buffer, const char *routine)
{
    struct nt_block *block = nt_pool_find(buffer);

    if (!nt_level(NT_APC, "NT-155", NT_NO_CODE, routine) || !buffer)
        return;
    if (block && !block->freed && block->address == buffer)
        nt_pool_give(block);
    else
        VIOLATION("NT-155", "%s of a string that no conversion allocated", routine);
}

NT_EXPORT VOID NTAPI RtlFreeUnicodeString(PUNICODE_STRING UnicodeString)
{
    NT_ENTER();
    free_buffer(UnicodeString->Buffer, __func__);
    *UnicodeString = (UNICODE_STRING){0};
}

NT_EXPORT VOID NTAPI RtlFreeAnsiString(PANSI_STRING AnsiString)
{
    NT_ENTER();
    free_buffer(AnsiString->Buffer, __func__);
    *AnsiString = (ANSI_STRING){0};
}

/* ---- numbers ---- */

static NTSTATUS put_number(ULONGLONG value, ULONG base, PUNICODE_STRING string)
{
    WCHAR digit[65];
    size_t count = 0;

    if (base == 0)
        base = 10;
    if (base != 2 && base != 8 && base != 10 && base != 16)
        return STATUS_INVALID_PARAMETER;
    do {
        digit[64 - ++count] = (WCHAR) "0123456789ABCDEF"[value % base];
        value /= base;
    } while (value != 0);
    if (count * sizeof(WCHAR) > string->MaximumLength)
        return STATUS_BUFFER_OVERFLOW;
    string->Length = 0;
    return append(string, digit + 64 - count, count * sizeof(WCHAR));
}

NT_EXPORT NTSTATUS NTAPI RtlIntegerToUnicodeString(ULONG Value, ULONG Base, PUNICODE_STRING String)
{
    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-155", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    return put_number(Value, Base, String);
}

NT_EXPORT NTSTATUS NTAPI RtlInt64ToUnicodeString(ULONGLONG Value, ULONG Base, PUNICODE_STRING String)
{
    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-155", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    return put_number(Value, Base, String);
}

static unsigned digit_value(WCHAR c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c = nt_string_upcase(c);
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

/* White space, a sign, and with base 0 a prefix 0x, 0o or 0b may precede the digits; the first
 * character that is no digit ends the number. */
NT_EXPORT NTSTATUS NTAPI RtlUnicodeStringToInteger(PCUNICODE_STRING String, ULONG Base, PULONG Value)
{
    size_t count, i = 0;
    bool negative = false;
    ULONG value = 0;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-155", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    count = String->Length / sizeof(WCHAR);
    while (i < count && String->Buffer[i] <= ' ')
        i++;
    if (i < count && (String->Buffer[i] == '-' || String->Buffer[i] == '+'))
        negative = String->Buffer[i++] == '-';
    if (Base == 0) {
        Base = 10;
        if (i + 1 < count && String->Buffer[i] == '0') {
            WCHAR kind = String->Buffer[i + 1];

            Base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
            i += Base != 10 ? 2 : 0;
        }
    }
    if (Base != 2 && Base != 8 && Base != 10 && Base != 16)
        return STATUS_INVALID_PARAMETER;
    for (; i < count && digit_value(String->Buffer[i]) < Base; i++)
        value = value * Base + digit_value(String->Buffer[i]);
    *Value = negative ? 0 - value : value;
    return STATUS_SUCCESS;
}
