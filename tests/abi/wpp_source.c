/* SPDX-License-Identifier: MIT */
/* A driver's source that traces with WPP, unchanged: compiled with every compiler, and run by a test of the kernel services. */
#include <ntddk.h>
#include "wpp_trace.h"
#include "wpp_source.tmh"

int SampleBroken;

#ifdef __cplusplus
extern "C" {
#endif

NTSTATUS NTAPI SampleTrace(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath);

NTSTATUS NTAPI SampleTrace(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    static const GUID guid = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
    NTSTATUS status = STATUS_NO_MEMORY;
    ULONGLONG bytes = 0x123456789AULL;

    WPP_INIT_TRACING(DriverObject, RegistryPath);
    UNREFERENCED_PARAMETER(DriverObject);
    TraceEnter(TRACE_START);
    DoTraceMessage(TRACE_MEMORY, "plain");
    DoTraceMessage(TRACE_MEMORY, "100%% of %I64x at %s\n", bytes, "heap");
    TraceEvents(TRACE_LEVEL_INFORMATION, TRACE_MEMORY, "status %!STATUS! of %u", status, 7u);
    TraceEvents(TRACE_LEVEL_VERBOSE, TRACE_MEMORY, "%!FUNC! %!bool! %!GUID!", TRUE, &guid);
    TraceError("cannot start");
    TraceStatus(TRACE_START, status, "allocation %u", 3u);
    TraceAssert(status != STATUS_NO_MEMORY);
    TraceAssert(bytes != 0);
    TracePlace("arguments of the prefix come before %u", 8u);
    TracePlace(L"wide, of %s", "kind");
    TraceWrapped(TRACE_LEVEL_ERROR, ("wrapped, with %u and %s", 9u, "text"));
    TraceWrapped(TRACE_LEVEL_VERBOSE, ("wrapped alone"));
    if (RegistryPath) {
        TraceEvents(TRACE_LEVEL_WARNING, TRACE_START, "path %wZ", RegistryPath);
    }
    WPP_CLEANUP(DriverObject);
    return status;
}

#ifdef __cplusplus
}
#endif
