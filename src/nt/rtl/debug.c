/* SPDX-License-Identifier: MIT */
/* Debug output; there is no debugger. */
#include <string.h>

#include "nt/base/caller.h"
#include "nt/base/export.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/rtl/format.h"
#include "sim/irql.h"
#include "verify/verify.h"

#define LONGEST_PRINT     512u
#define DEFAULT_COMPONENT DPFLTR_DEFAULT_ID

struct nt_debug {
    char line[1024]; /* current incomplete line */
    uint32_t length;
};

const struct nt_component nt_debug_component = {
    .slot = offsetof(struct nt, debug),
    .bytes = sizeof(struct nt_debug),
};

static BOOLEAN debugger_enabled = FALSE;
static BOOLEAN debugger_not_present = TRUE;

NT_EXPORT PBOOLEAN KdDebuggerEnabled = &debugger_enabled;
NT_EXPORT PBOOLEAN KdDebuggerNotPresent = &debugger_not_present;

NT_EXPORT BOOLEAN NTAPI KdRefreshDebuggerNotPresent(void)
{
    NT_ENTER();
    return TRUE;
}

/* ---- lines ---- */

static void flush_line(struct nt *nt)
{
    nt->debug->line[nt->debug->length] = '\0';
    nt->debug->length = 0;
    if (nt->config.debug_print)
        nt->config.debug_print(nt->config.debug_context, nt->debug->line);
}

static void append(struct nt *nt, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n' || nt->debug->length == sizeof(nt->debug->line) - 1)
            flush_line(nt);
        if (text[i] != '\n' && text[i] != '\r')
            nt->debug->line[nt->debug->length++] = text[i];
    }
}

/* ---- printing ---- */

/* Levels below 32 are bits of the mask, other values are masks themselves. */
static bool passes(ULONG level)
{
    uint32_t mask = nt_state()->config.debug_mask;
    uint32_t wanted = level < 32 ? 1u << level : level;

    return mask == 0 || (mask & wanted) != 0;
}

static void check(const struct nt_text *text, const char *routine)
{
    uint8_t irql = sim_irql();

    if (irql > SIM_IRQL_DEVICE_MAX)
        VIOLATION("NT-164", "%s at %s", routine, nt_irql_name(irql));
    if (text->used_wide && irql > SIM_IRQL_PASSIVE)
        VIOLATION("NT-164", "%s with a conversion of 16-bit characters at %s", routine,
                  nt_irql_name(irql));
    if (text->used_float)
        VIOLATION("NT-164", "%s with a floating point conversion", routine);
}

static ULONG print(ULONG level, PCSTR format, __builtin_ms_va_list arguments, const char *routine)
{
    char buffer[LONGEST_PRINT];
    struct nt_text text = {.buffer = buffer, .capacity = sizeof(buffer)};

    if (!format)
        return (ULONG)STATUS_INVALID_PARAMETER;
    nt_format(&text, format, arguments);
    check(&text, routine);
    if (passes(level))
        append(nt_state(), buffer, text.length < sizeof(buffer) ? text.length : sizeof(buffer));
    return STATUS_SUCCESS;
}

NT_EXPORT ULONG NTAPI DbgPrint(PCSTR Format, ...)
{
    __builtin_ms_va_list arguments;
    ULONG status;

    NT_ENTER();
    __builtin_ms_va_start(arguments, Format);
    status = print(DPFLTR_INFO_LEVEL, Format, arguments, __func__);
    __builtin_ms_va_end(arguments);
    return status;
}

NT_EXPORT ULONG NTAPI DbgPrintEx(ULONG ComponentId, ULONG Level, PCSTR Format, ...)
{
    __builtin_ms_va_list arguments;
    ULONG status;

    NT_ENTER();
    (void)ComponentId;
    __builtin_ms_va_start(arguments, Format);
    status = print(Level, Format, arguments, __func__);
    __builtin_ms_va_end(arguments);
    return status;
}

NT_EXPORT ULONG NTAPI vDbgPrintEx(ULONG ComponentId, ULONG Level, PCSTR Format,
                                  __builtin_ms_va_list Arguments)
{
    NT_ENTER();
    (void)ComponentId;
    return print(Level, Format, Arguments, __func__);
}

NT_EXPORT NTSTATUS NTAPI DbgQueryDebugFilterState(ULONG ComponentId, ULONG Level)
{
    NT_ENTER();
    (void)ComponentId;
    return passes(Level) ? TRUE : FALSE;
}

/* There is nobody to answer. */
NT_EXPORT ULONG NTAPI DbgPrompt(PCSTR Prompt, PSTR Response, ULONG Length)
{
    NT_ENTER();
    if (Prompt)
        append(nt_state(), Prompt, strnlen(Prompt, LONGEST_PRINT));
    if (Response && Length > 0)
        Response[0] = '\0';
    return 0;
}

/* ---- breakpoints ---- */

static void note_break(const char *what, const void *caller)
{
    char place[96];

    nt_caller_name(caller, place, sizeof(place));
    NOTE("NT-167", "%s at %s", what, place);
}

NT_EXPORT VOID NTAPI DbgBreakPoint(void)
{
    NT_ENTER();
    note_break("DbgBreakPoint", NT_CALLER());
}

NT_EXPORT VOID NTAPI DbgBreakPointWithStatus(ULONG Status)
{
    NT_ENTER();
    (void)Status;
    note_break("DbgBreakPointWithStatus", NT_CALLER());
}

/* A source as a developer knows it, wherever it was built: its name and its folder. */
static const char *short_path(const char *file)
{
    const char *from = file + strlen(file);

    for (unsigned separators = 0; from > file; from--) {
        separators += from[-1] == '/' || from[-1] == '\\';
        if (separators == 2)
            break;
    }
    return from;
}

NT_EXPORT VOID NTAPI RtlAssert(PVOID FailedAssertion, PVOID FileName, ULONG LineNumber,
                               PSTR MutableMessage)
{
    const char *rule = "NT-167";
    char place[96];

    NT_ENTER();
    /* The text of PAGED_CODE's assertion. */
    if (FailedAssertion && strcmp(FailedAssertion, "KeGetCurrentIrql() <= APC_LEVEL") == 0)
        rule = "NT-077";
    nt_caller_name(NT_CALLER(), place, sizeof(place));
    VIOLATION(rule, "assertion \"%.50s\" failed in %.60s (%.40s:%u)%s%.30s",
              FailedAssertion ? (const char *)FailedAssertion : "", place,
              FileName ? short_path(FileName) : "", LineNumber, MutableMessage ? ": " : "",
              MutableMessage ? MutableMessage : "");
}
