/* SPDX-License-Identifier: MIT */
/*
 * Stands in for WPP software tracing, so that a driver which uses it compiles unchanged: what a
 * .tmh file written by dxgk-tmh includes. There are no trace sessions; every message is printed by
 * DbgPrintEx (component IHVVIDEO), whatever its flags.
 *
 * A format may have WPP's own items. %!FUNC!, %!LINE! and %!FILE! become the place, %!STATUS! and
 * the other codes hexadecimal numbers, pointers to GUIDs their address; items that the driver's
 * configuration defines are printed as 32-bit numbers.
 */
#ifndef DXGK_WDK_WPP_H
#define DXGK_WDK_WPP_H

#include <ntddk.h>
#include <stdarg.h>

#ifndef TRACE_LEVEL_NONE
#define TRACE_LEVEL_NONE        0
#define TRACE_LEVEL_CRITICAL    1
#define TRACE_LEVEL_FATAL       1
#define TRACE_LEVEL_ERROR       2
#define TRACE_LEVEL_WARNING     3
#define TRACE_LEVEL_INFORMATION 4
#define TRACE_LEVEL_VERBOSE     5
#endif

#define WPP_INIT_TRACING(...)                    ((void)0)
#define WPP_CLEANUP(...)                         ((void)0)
#define WPP_SYSTEMCONTROL(DriverObject)          ((void)0)
#define WPP_SYSTEMCONTROL2(DriverObject, offset) ((void)0)

/* Every flag and level is on. */
#define WPP_ENABLED()                       1
#define WPP_CHECK_INIT                      1
#define WPP_LEVEL_ENABLED(Flags)            1
#define WPP_FLAG_ENABLED(Flags)             1
#define WPP_COMPID_LEVEL_ENABLED(Id, Level) 1

/* A driver's own configuration names the flags: WPP_BIT_<name>, as its hooks (WPP_LEVEL_FLAGS_POST, ...) know them. */
#define WPP_DEFINE_CONTROL_GUID(Name, Guid, Bits) Bits
#define WPP_DEFINE_BIT(Name)                      WPP_BIT_##Name,
#ifdef WPP_CONTROL_GUIDS
enum DXGK_WPP_BIT { DXGK_WPP_NO_BIT, WPP_CONTROL_GUIDS };
#endif

#ifdef _WIN32
typedef va_list DXGK_WPP_ARGUMENTS;
#define DXGK_WPP_START va_start
#define DXGK_WPP_END   va_end
#else
typedef __builtin_ms_va_list DXGK_WPP_ARGUMENTS;
#define DXGK_WPP_START __builtin_ms_va_start
#define DXGK_WPP_END   __builtin_ms_va_end
#endif

/* Of one message, with its end; DbgPrintEx takes no more. */
#define DXGK_WPP_LONGEST 512

/* Where a message is, and the format that it becomes. */
typedef struct _DXGK_WPP_FORMAT {
    const char *File, *Function;
    ULONG Line, Used;
    char Text[DXGK_WPP_LONGEST];
} DXGK_WPP_FORMAT;

/* What is said of the place is text, not format. */
__attribute__((unused)) static void DxgkWppAdd(DXGK_WPP_FORMAT *To, const char *Text,
                                               BOOLEAN Literal)
{
    for (; *Text && To->Used + 3 < sizeof(To->Text); Text++) {
        if (Literal && *Text == '%')
            To->Text[To->Used++] = '%';
        To->Text[To->Used++] = *Text;
    }
}

__attribute__((unused)) static void DxgkWppAddNumber(DXGK_WPP_FORMAT *To, ULONG Number)
{
    char digits[12];
    ULONG at = sizeof(digits) - 1;

    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + Number % 10);
        Number /= 10;
    } while (Number != 0);
    DxgkWppAdd(To, digits + at, TRUE);
}

__attribute__((unused)) static BOOLEAN DxgkWppIs(const char *Item, ULONG Length, const char *Name)
{
    for (; Length > 0 && *Name && *Item == *Name; Length--, Item++, Name++)
        ;
    return Length == 0 && *Name == '\0';
}

/* An item between exclamation marks. */
__attribute__((unused)) static void DxgkWppItem(DXGK_WPP_FORMAT *To, const char *Item, ULONG Length)
{
    static const char *const codes[] = {"STATUS",   "status", "HRESULT", "hresult",
                                        "WINERROR", "winerr", "NTSTATUS"};
    static const char *const pointers[] = {"GUID", "guid", "IID", "CLSID", "LIBID", "PTR", "irp"};
    static const char *const nothing[] = {"LEVEL", "FLAGS", "COMPNAME", "STDPREFIX"};

    if (DxgkWppIs(Item, Length, "FUNC")) {
        DxgkWppAdd(To, To->Function, TRUE);
        return;
    }
    if (DxgkWppIs(Item, Length, "FILE")) {
        DxgkWppAdd(To, To->File, TRUE);
        return;
    }
    if (DxgkWppIs(Item, Length, "LINE")) {
        DxgkWppAddNumber(To, To->Line);
        return;
    }
    for (ULONG i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++) {
        if (DxgkWppIs(Item, Length, nothing[i]))
            return;
    }
    for (ULONG i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (DxgkWppIs(Item, Length, codes[i])) {
            DxgkWppAdd(To, "0x%08x", FALSE);
            return;
        }
    }
    for (ULONG i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
        if (DxgkWppIs(Item, Length, pointers[i])) {
            DxgkWppAdd(To, "%p", FALSE);
            return;
        }
    }
    DxgkWppAdd(To, "%d", FALSE);
}

/* A format in wide characters, as it is read. */
typedef struct _DXGK_WPP_NARROW {
    char Text[DXGK_WPP_LONGEST];
} DXGK_WPP_NARROW;

__attribute__((unused)) static const char *DxgkWppNarrow(const void *Format, ULONG Width,
                                                         DXGK_WPP_NARROW *Narrow)
{
    const WCHAR *from = (const WCHAR *)Format;
    ULONG used = 0;

    if (Width == 1)
        return (const char *)Format;
    for (; *from && used + 1 < sizeof(Narrow->Text); from++)
        Narrow->Text[used++] = (char)(*from < 0x80 ? *from : '?');
    Narrow->Text[used] = '\0';
    return Narrow->Text;
}

/* WPP's format in the words of DbgPrintEx, with an end of line. */
__attribute__((unused)) static void DxgkWppTranslate(DXGK_WPP_FORMAT *To, const char *Format)
{
    while (*Format && To->Used + 3 < sizeof(To->Text)) {
        const char *end = Format + 2;

        if (Format[0] != '%' || Format[1] != '!') {
            if (Format[0] == '%' && Format[1] == '%')
                To->Text[To->Used++] = *Format++;
            To->Text[To->Used++] = *Format++;
            continue;
        }
        while (*end && *end != '!')
            end++;
        DxgkWppItem(To, Format + 2, (ULONG)(end - (Format + 2)));
        Format = *end ? end + 1 : end;
    }
    if (To->Used == 0 || To->Text[To->Used - 1] != '\n')
        To->Text[To->Used++] = '\n';
    To->Text[To->Used] = '\0';
}

__attribute__((unused)) static VOID NTAPI DxgkWppPrint(ULONG Level, const char *File,
                                                       const char *Function, ULONG Line, ULONG Width,
                                                       const void *Format, ...)
{
    ULONG severity = Level <= TRACE_LEVEL_ERROR     ? DPFLTR_ERROR_LEVEL
                     : Level == TRACE_LEVEL_WARNING ? DPFLTR_WARNING_LEVEL
                                                    : DPFLTR_INFO_LEVEL;
    DXGK_WPP_ARGUMENTS arguments;
    DXGK_WPP_FORMAT format;
    DXGK_WPP_NARROW narrow;

    format.File = File;
    format.Function = Function;
    format.Line = Line;
    format.Used = 0;
    DxgkWppTranslate(&format, DxgkWppNarrow(Format, Width, &narrow));
    DXGK_WPP_START(arguments, Format);
    vDbgPrintEx(DPFLTR_IHVVIDEO_ID, severity, format.Text, arguments);
    DXGK_WPP_END(arguments);
}

/* What every trace macro comes to. The format must be a string literal, as WPP wants it; it may be a wide one. */
#define DXGK_WPP_MESSAGE(Level, Format, ...)                                            \
    DxgkWppPrint((ULONG)(Level), __FILE__, __func__, __LINE__, (ULONG)sizeof(*(Format)), \
                 (Format), ##__VA_ARGS__)

/* The same for a text in brackets of its own, of which FORMAT_OF takes the format and ARGUMENTS_OF what follows it. */
#define DXGK_WPP_MESSAGE_OF(...)           DXGK_WPP_MESSAGE(__VA_ARGS__)
#define DXGK_WPP_FORMAT_OF(Format, ...)    Format
#define DXGK_WPP_ARGUMENTS_OF(Format, ...) , ##__VA_ARGS__

/* The one trace macro that needs no configuration. */
#ifndef DoTraceMessage
#define DoTraceMessage(Flag, ...) DXGK_WPP_MESSAGE(TRACE_LEVEL_INFORMATION, "" __VA_ARGS__)
#endif

#endif /* DXGK_WDK_WPP_H */
