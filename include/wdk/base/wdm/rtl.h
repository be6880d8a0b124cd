/* SPDX-License-Identifier: MIT */
/* Run-time library: memory, strings, lists, bitmaps, registry helpers, debug output. */
#ifndef DXGK_WDK_WDM_RTL_H
#define DXGK_WDK_WDM_RTL_H

#include <string.h>

#include "ke.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Memory ------------------------------------------------------------------------------- */

#define RtlCopyMemory(Destination, Source, Length) memcpy((Destination), (Source), (Length))
#define RtlMoveMemory(Destination, Source, Length) memmove((Destination), (Source), (Length))
#define RtlZeroMemory(Destination, Length) memset((Destination), 0, (Length))
#define RtlFillMemory(Destination, Length, Fill) memset((Destination), (Fill), (Length))
#define RtlSecureZeroMemory(Destination, Length) DxgkSecureZero((Destination), (Length))
#define RtlEqualMemory(Left, Right, Length) (!memcmp((Left), (Right), (Length)))
#define RtlCopyBytes RtlCopyMemory
#define RtlZeroBytes RtlZeroMemory
#define RtlFillBytes RtlFillMemory
#define RtlCopyVolatileMemory RtlCopyMemory

DXGK_INLINE PVOID DxgkSecureZero(PVOID Pointer, SIZE_T Count)
{
    volatile UCHAR *byte = (volatile UCHAR *)Pointer;

    while (Count--) {
        *byte++ = 0;
    }
    return Pointer;
}

NTSYSAPI SIZE_T NTAPI RtlCompareMemory(const VOID *Source1, const VOID *Source2, SIZE_T Length);

/* --- Doubly linked lists ------------------------------------------------------------------ */

DXGK_INLINE VOID InitializeListHead(PLIST_ENTRY ListHead)
{
    ListHead->Flink = ListHead;
    ListHead->Blink = ListHead;
}

DXGK_INLINE BOOLEAN IsListEmpty(const LIST_ENTRY *ListHead)
{
    return ListHead->Flink == ListHead;
}

DXGK_INLINE BOOLEAN RemoveEntryList(PLIST_ENTRY Entry)
{
    PLIST_ENTRY next = Entry->Flink;
    PLIST_ENTRY previous = Entry->Blink;

    if (next->Blink != Entry || previous->Flink != Entry) {
        __builtin_trap(); /* the list is corrupt: Windows fails fast here */
    }
    previous->Flink = next;
    next->Blink = previous;
    return next == previous;
}

DXGK_INLINE PLIST_ENTRY RemoveHeadList(PLIST_ENTRY ListHead)
{
    PLIST_ENTRY entry = ListHead->Flink;

    RemoveEntryList(entry);
    return entry;
}

DXGK_INLINE PLIST_ENTRY RemoveTailList(PLIST_ENTRY ListHead)
{
    PLIST_ENTRY entry = ListHead->Blink;

    RemoveEntryList(entry);
    return entry;
}

DXGK_INLINE VOID InsertTailList(PLIST_ENTRY ListHead, PLIST_ENTRY Entry)
{
    PLIST_ENTRY previous = ListHead->Blink;

    Entry->Flink = ListHead;
    Entry->Blink = previous;
    previous->Flink = Entry;
    ListHead->Blink = Entry;
}

DXGK_INLINE VOID InsertHeadList(PLIST_ENTRY ListHead, PLIST_ENTRY Entry)
{
    PLIST_ENTRY next = ListHead->Flink;

    Entry->Flink = next;
    Entry->Blink = ListHead;
    next->Blink = Entry;
    ListHead->Flink = Entry;
}

DXGK_INLINE VOID AppendTailList(PLIST_ENTRY ListHead, PLIST_ENTRY ListToAppend)
{
    PLIST_ENTRY end = ListHead->Blink;

    ListHead->Blink->Flink = ListToAppend;
    ListHead->Blink = ListToAppend->Blink;
    ListToAppend->Blink->Flink = ListHead;
    ListToAppend->Blink = end;
}

DXGK_INLINE PSINGLE_LIST_ENTRY PopEntryList(PSINGLE_LIST_ENTRY ListHead)
{
    PSINGLE_LIST_ENTRY first = ListHead->Next;

    if (first) {
        ListHead->Next = first->Next;
    }
    return first;
}

DXGK_INLINE VOID PushEntryList(PSINGLE_LIST_ENTRY ListHead, PSINGLE_LIST_ENTRY Entry)
{
    Entry->Next = ListHead->Next;
    ListHead->Next = Entry;
}

/* --- Strings ------------------------------------------------------------------------------ */

NTSYSAPI VOID NTAPI RtlInitUnicodeString(PUNICODE_STRING DestinationString, PCWSTR SourceString);
NTSYSAPI NTSTATUS NTAPI RtlInitUnicodeStringEx(
    PUNICODE_STRING DestinationString, PCWSTR SourceString);
NTSYSAPI VOID NTAPI RtlInitAnsiString(PANSI_STRING DestinationString, PCSZ SourceString);
NTSYSAPI NTSTATUS NTAPI RtlInitAnsiStringEx(PANSI_STRING DestinationString, PCSZ SourceString);
NTSYSAPI VOID NTAPI RtlInitString(PSTRING DestinationString, PCSZ SourceString);
NTSYSAPI VOID NTAPI RtlCopyUnicodeString(
    PUNICODE_STRING DestinationString, PCUNICODE_STRING SourceString);
NTSYSAPI LONG NTAPI RtlCompareUnicodeString(
    PCUNICODE_STRING String1, PCUNICODE_STRING String2, BOOLEAN CaseInSensitive);
NTSYSAPI BOOLEAN NTAPI RtlEqualUnicodeString(
    PCUNICODE_STRING String1, PCUNICODE_STRING String2, BOOLEAN CaseInSensitive);
NTSYSAPI BOOLEAN NTAPI RtlPrefixUnicodeString(
    PCUNICODE_STRING String1, PCUNICODE_STRING String2, BOOLEAN CaseInSensitive);
NTSYSAPI NTSTATUS NTAPI RtlAppendUnicodeStringToString(
    PUNICODE_STRING Destination, PCUNICODE_STRING Source);
NTSYSAPI NTSTATUS NTAPI RtlAppendUnicodeToString(PUNICODE_STRING Destination, PCWSTR Source);
NTSYSAPI VOID NTAPI RtlFreeUnicodeString(PUNICODE_STRING UnicodeString);
NTSYSAPI VOID NTAPI RtlFreeAnsiString(PANSI_STRING AnsiString);
NTSYSAPI BOOLEAN NTAPI RtlEqualString(
    const STRING *String1, const STRING *String2, BOOLEAN CaseInSensitive);
NTSYSAPI LONG NTAPI RtlCompareString(
    const STRING *String1, const STRING *String2, BOOLEAN CaseInSensitive);
NTSYSAPI VOID NTAPI RtlCopyString(PSTRING DestinationString, const STRING *SourceString);
NTSYSAPI NTSTATUS NTAPI RtlAnsiStringToUnicodeString(
    PUNICODE_STRING DestinationString,
    PCANSI_STRING SourceString,
    BOOLEAN AllocateDestinationString);
NTSYSAPI NTSTATUS NTAPI RtlUnicodeStringToAnsiString(
    PANSI_STRING DestinationString,
    PCUNICODE_STRING SourceString,
    BOOLEAN AllocateDestinationString);
NTSYSAPI ULONG NTAPI RtlxAnsiStringToUnicodeSize(PCANSI_STRING AnsiString);
NTSYSAPI ULONG NTAPI RtlxUnicodeStringToAnsiSize(PCUNICODE_STRING UnicodeString);
NTSYSAPI NTSTATUS NTAPI RtlIntegerToUnicodeString(ULONG Value, ULONG Base, PUNICODE_STRING String);
NTSYSAPI NTSTATUS NTAPI RtlInt64ToUnicodeString(
    ULONGLONG Value, ULONG Base, PUNICODE_STRING String);
NTSYSAPI NTSTATUS NTAPI RtlUnicodeStringToInteger(
    PCUNICODE_STRING String, ULONG Base, PULONG Value);
NTSYSAPI WCHAR NTAPI RtlUpcaseUnicodeChar(WCHAR SourceCharacter);
NTSYSAPI WCHAR NTAPI RtlDowncaseUnicodeChar(WCHAR SourceCharacter);
NTSYSAPI NTSTATUS NTAPI RtlUpcaseUnicodeString(
    PUNICODE_STRING DestinationString,
    PCUNICODE_STRING SourceString,
    BOOLEAN AllocateDestinationString);
NTSYSAPI NTSTATUS NTAPI RtlStringFromGUID(const GUID *Guid, PUNICODE_STRING GuidString);
NTSYSAPI NTSTATUS NTAPI RtlGUIDFromString(PCUNICODE_STRING GuidString, GUID *Guid);

DXGK_INLINE VOID RtlInitEmptyUnicodeString(
    PUNICODE_STRING UnicodeString, PWCHAR Buffer, USHORT BufferSize)
{
    UnicodeString->Length = 0;
    UnicodeString->MaximumLength = BufferSize;
    UnicodeString->Buffer = Buffer;
}

/* --- Bitmaps ------------------------------------------------------------------------------ */

typedef struct _RTL_BITMAP {
    ULONG SizeOfBitMap;
    PULONG Buffer;
} RTL_BITMAP, *PRTL_BITMAP;

NTSYSAPI VOID NTAPI RtlInitializeBitMap(
    PRTL_BITMAP BitMapHeader, PULONG BitMapBuffer, ULONG SizeOfBitMap);
NTSYSAPI VOID NTAPI RtlClearAllBits(PRTL_BITMAP BitMapHeader);
NTSYSAPI VOID NTAPI RtlSetAllBits(PRTL_BITMAP BitMapHeader);
NTSYSAPI VOID NTAPI RtlClearBit(PRTL_BITMAP BitMapHeader, ULONG BitNumber);
NTSYSAPI VOID NTAPI RtlSetBit(PRTL_BITMAP BitMapHeader, ULONG BitNumber);
NTSYSAPI BOOLEAN NTAPI RtlTestBit(PRTL_BITMAP BitMapHeader, ULONG BitNumber);
NTSYSAPI VOID NTAPI RtlClearBits(
    PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG NumberToClear);
NTSYSAPI VOID NTAPI RtlSetBits(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG NumberToSet);
NTSYSAPI ULONG NTAPI RtlFindClearBits(
    PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex);
NTSYSAPI ULONG NTAPI RtlFindSetBits(PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex);
NTSYSAPI ULONG NTAPI RtlFindClearBitsAndSet(
    PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex);
NTSYSAPI ULONG NTAPI RtlFindSetBitsAndClear(
    PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex);
NTSYSAPI BOOLEAN NTAPI RtlAreBitsClear(
    PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG Length);
NTSYSAPI BOOLEAN NTAPI RtlAreBitsSet(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG Length);
NTSYSAPI ULONG NTAPI RtlNumberOfSetBits(PRTL_BITMAP BitMapHeader);
NTSYSAPI ULONG NTAPI RtlNumberOfClearBits(PRTL_BITMAP BitMapHeader);

/* --- Registry helpers --------------------------------------------------------------------- */

#define RTL_QUERY_REGISTRY_DELETE          0x40
#define RTL_QUERY_REGISTRY_DIRECT          0x20
#define RTL_QUERY_REGISTRY_NOEXPAND        0x10
#define RTL_QUERY_REGISTRY_NOSTRING        0x80
#define RTL_QUERY_REGISTRY_NOVALUE         0x8
#define RTL_QUERY_REGISTRY_REQUIRED        0x4
#define RTL_QUERY_REGISTRY_SUBKEY          0x1
#define RTL_QUERY_REGISTRY_TOPKEY          0x2
#define RTL_QUERY_REGISTRY_TYPECHECK       0x100
#define RTL_QUERY_REGISTRY_TYPECHECK_MASK  ((int)0xFF000000)
#define RTL_QUERY_REGISTRY_TYPECHECK_SHIFT 24
#define RTL_REGISTRY_ABSOLUTE              0
#define RTL_REGISTRY_CONTROL               2
#define RTL_REGISTRY_DEVICEMAP             4
#define RTL_REGISTRY_HANDLE                0x40000000
#define RTL_REGISTRY_MAXIMUM               6
#define RTL_REGISTRY_OPTIONAL              0x80000000U
#define RTL_REGISTRY_SERVICES              1
#define RTL_REGISTRY_USER                  5
#define RTL_REGISTRY_WINDOWS_NT            3

typedef NTSTATUS NTAPI RTL_QUERY_REGISTRY_ROUTINE(
    PWSTR ValueName,
    ULONG ValueType,
    PVOID ValueData,
    ULONG ValueLength,
    PVOID Context,
    PVOID EntryContext);
typedef RTL_QUERY_REGISTRY_ROUTINE *PRTL_QUERY_REGISTRY_ROUTINE;

typedef struct _RTL_QUERY_REGISTRY_TABLE {
    PRTL_QUERY_REGISTRY_ROUTINE QueryRoutine;
    ULONG Flags;
    PWSTR Name;
    PVOID EntryContext;
    ULONG DefaultType;
    PVOID DefaultData;
    ULONG DefaultLength;
} RTL_QUERY_REGISTRY_TABLE, *PRTL_QUERY_REGISTRY_TABLE;

NTSYSAPI NTSTATUS NTAPI RtlQueryRegistryValues(
    ULONG RelativeTo,
    PCWSTR Path,
    PRTL_QUERY_REGISTRY_TABLE QueryTable,
    PVOID Context,
    PVOID Environment);
NTSYSAPI NTSTATUS NTAPI RtlWriteRegistryValue(
    ULONG RelativeTo,
    PCWSTR Path,
    PCWSTR ValueName,
    ULONG ValueType,
    PVOID ValueData,
    ULONG ValueLength);
NTSYSAPI NTSTATUS NTAPI RtlDeleteRegistryValue(ULONG RelativeTo, PCWSTR Path, PCWSTR ValueName);
NTSYSAPI NTSTATUS NTAPI RtlCreateRegistryKey(ULONG RelativeTo, PWSTR Path);
NTSYSAPI NTSTATUS NTAPI RtlCheckRegistryKey(ULONG RelativeTo, PWSTR Path);

/* --- Versions, time, numbers -------------------------------------------------------------- */

typedef struct _RTL_OSVERSIONINFOW {
    ULONG dwOSVersionInfoSize;
    ULONG dwMajorVersion;
    ULONG dwMinorVersion;
    ULONG dwBuildNumber;
    ULONG dwPlatformId;
    WCHAR szCSDVersion[128];
} RTL_OSVERSIONINFOW, *PRTL_OSVERSIONINFOW, OSVERSIONINFOW, *POSVERSIONINFOW;

typedef struct _RTL_OSVERSIONINFOEXW {
    ULONG dwOSVersionInfoSize;
    ULONG dwMajorVersion;
    ULONG dwMinorVersion;
    ULONG dwBuildNumber;
    ULONG dwPlatformId;
    WCHAR szCSDVersion[128];
    USHORT wServicePackMajor;
    USHORT wServicePackMinor;
    USHORT wSuiteMask;
    UCHAR wProductType;
    UCHAR wReserved;
} RTL_OSVERSIONINFOEXW, *PRTL_OSVERSIONINFOEXW, OSVERSIONINFOEXW, *POSVERSIONINFOEXW;

NTSYSAPI NTSTATUS NTAPI RtlGetVersion(PRTL_OSVERSIONINFOW VersionInformation);
NTSYSAPI NTSTATUS NTAPI RtlVerifyVersionInfo(
    PRTL_OSVERSIONINFOEXW VersionInfo, ULONG TypeMask, ULONGLONG ConditionMask);
NTSYSAPI BOOLEAN NTAPI RtlIsNtDdiVersionAvailable(ULONG Version);

typedef struct _TIME_FIELDS {
    CSHORT Year;
    CSHORT Month;
    CSHORT Day;
    CSHORT Hour;
    CSHORT Minute;
    CSHORT Second;
    CSHORT Milliseconds;
    CSHORT Weekday;
} TIME_FIELDS, *PTIME_FIELDS;

NTSYSAPI VOID NTAPI RtlTimeToTimeFields(PLARGE_INTEGER Time, PTIME_FIELDS TimeFields);
NTSYSAPI BOOLEAN NTAPI RtlTimeFieldsToTime(PTIME_FIELDS TimeFields, PLARGE_INTEGER Time);
NTSYSAPI ULONG NTAPI RtlRandomEx(PULONG Seed);
NTSYSAPI ULONG NTAPI RtlWalkFrameChain(PVOID *Callers, ULONG Count, ULONG Flags);
NTSYSAPI USHORT NTAPI RtlCaptureStackBackTrace(
    ULONG FramesToSkip, ULONG FramesToCapture, PVOID *BackTrace, PULONG BackTraceHash);

DXGK_INLINE USHORT RtlUshortByteSwap(USHORT Source)
{
    return __builtin_bswap16(Source);
}

DXGK_INLINE ULONG RtlUlongByteSwap(ULONG Source)
{
    return __builtin_bswap32(Source);
}

DXGK_INLINE ULONGLONG RtlUlonglongByteSwap(ULONGLONG Source)
{
    return __builtin_bswap64(Source);
}

DXGK_INLINE LARGE_INTEGER RtlConvertLongToLargeInteger(LONG SignedInteger)
{
    LARGE_INTEGER result;

    result.QuadPart = SignedInteger;
    return result;
}

DXGK_INLINE LUID RtlConvertLongToLuid(LONG Value)
{
    LUID luid = {(ULONG)Value, Value < 0 ? -1 : 0};

    return luid;
}

DXGK_INLINE LUID RtlConvertUlongToLuid(ULONG Value)
{
    LUID luid = {Value, 0};

    return luid;
}

#define RtlEqualLuid(Left, Right)                                                                  \
    (((Left)->LowPart == (Right)->LowPart) && ((Left)->HighPart == (Right)->HighPart))

/* --- Debug output ------------------------------------------------------------------------- */

#define DPFLTR_IHVVIDEO_ID   15
#define DPFLTR_VIDEO_ID      82
#define DPFLTR_IHVDRIVER_ID  77
#define DPFLTR_DEFAULT_ID    101
#define DPFLTR_ERROR_LEVEL   0
#define DPFLTR_WARNING_LEVEL 1
#define DPFLTR_TRACE_LEVEL   2
#define DPFLTR_INFO_LEVEL    3
#define DPFLTR_MASK          0x80000000U

NTSYSAPI ULONG NTAPI DbgPrint(PCSTR Format, ...);
NTSYSAPI ULONG NTAPI DbgPrintEx(ULONG ComponentId, ULONG Level, PCSTR Format, ...);
NTSYSAPI ULONG NTAPI vDbgPrintEx(
    ULONG ComponentId, ULONG Level, PCSTR Format, __builtin_ms_va_list Arguments);
NTSYSAPI ULONG NTAPI DbgPrompt(PCSTR Prompt, PSTR Response, ULONG Length);
NTSYSAPI VOID NTAPI DbgBreakPoint(void);
NTSYSAPI VOID NTAPI DbgBreakPointWithStatus(ULONG Status);
NTSYSAPI NTSTATUS NTAPI DbgQueryDebugFilterState(ULONG ComponentId, ULONG Level);
NTSYSAPI VOID NTAPI RtlAssert(
    PVOID FailedAssertion, PVOID FileName, ULONG LineNumber, PSTR MutableMessage);
NTKERNELAPI BOOLEAN NTAPI KdRefreshDebuggerNotPresent(void);

/* As exported: the variables themselves, which drivers of Windows reach through a pointer. */
extern NTKERNELAPI PBOOLEAN KdDebuggerNotPresent;
extern NTKERNELAPI PBOOLEAN KdDebuggerEnabled;
#define KD_DEBUGGER_ENABLED     (*KdDebuggerEnabled)
#define KD_DEBUGGER_NOT_PRESENT (*KdDebuggerNotPresent)

#if DBG
#define KdPrint(Arguments)   DbgPrint Arguments
#define KdPrintEx(Arguments) DbgPrintEx Arguments
#define KdBreakPoint()       DbgBreakPoint()
#define NT_ASSERT(Expression)                                                                      \
    ((Expression) ? TRUE                                                                           \
                  : (RtlAssert((PVOID)#Expression, (PVOID)__FILE__, __LINE__, NULL), FALSE))
#define RTL_VERIFY(Expression) NT_ASSERT(Expression)
#else
#define KdPrint(Arguments)
#define KdPrintEx(Arguments)
#define KdBreakPoint()
#define NT_ASSERT(Expression)  ((void)0)
#define RTL_VERIFY(Expression) ((Expression) ? TRUE : FALSE)
#endif
#define NT_ASSERTMSG(Message, Expression)  NT_ASSERT(Expression)
#define NT_ASSERT_ASSUME(Expression)       NT_ASSERT(Expression)
#define NT_VERIFY(Expression)              RTL_VERIFY(Expression)
#ifndef ASSERT
#define ASSERT(Expression)             NT_ASSERT(Expression)
#define ASSERTMSG(Message, Expression) NT_ASSERT(Expression)
#endif
#define NT_ANALYSIS_ASSUME(Expression) ((void)0)
#define __debugbreak() DbgBreakPoint()
#define _ReturnAddress() __builtin_return_address(0)
#define __assume(Expression) ((void)0)
#define __noop(...) ((void)0)

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WDM_RTL_H */
