/* SPDX-License-Identifier: MIT */
/* System services: handles, registry keys, files. */
#ifndef DXGK_WDK_WDM_ZW_H
#define DXGK_WDK_WDM_ZW_H

#include "io.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KEY_ALL_ACCESS         0xF003F
#define KEY_CREATE_LINK        0x20
#define KEY_CREATE_SUB_KEY     0x4
#define KEY_ENUMERATE_SUB_KEYS 0x8
#define KEY_EXECUTE            0x20019
#define KEY_NOTIFY             0x10
#define KEY_QUERY_VALUE        0x1
#define KEY_READ               0x20019
#define KEY_SET_VALUE          0x2
#define KEY_WOW64_32KEY        0x200
#define KEY_WOW64_64KEY        0x100
#define KEY_WOW64_RES          0x300
#define KEY_WRITE              0x20006

#define REG_APP_HIVE                   0x10
#define REG_APP_HIVE_OPEN_READ_ONLY    8192
#define REG_BINARY                     3U
#define REG_BOOT_HIVE                  0x400
#define REG_CREATED_NEW_KEY            0x1
#define REG_DWORD                      4U
#define REG_DWORD_BIG_ENDIAN           5U
#define REG_DWORD_LITTLE_ENDIAN        4U
#define REG_EXPAND_SZ                  2U
#define REG_FLUSH_HIVE_FILE_GROWTH     0x1000
#define REG_FORCE_RESTORE              0x8
#define REG_FORCE_UNLOAD               1
#define REG_FULL_RESOURCE_DESCRIPTOR   9U
#define REG_HIVE_EXACT_FILE_GROWTH     0x80
#define REG_HIVE_NO_RM                 0x100
#define REG_HIVE_SINGLE_LOG            0x200
#define REG_IMMUTABLE                  0x4000
#define REG_LATEST_FORMAT              2
#define REG_LEGAL_CHANGE_FILTER        0x1000000F
#define REG_LEGAL_OPTION               31
#define REG_LINK                       6U
#define REG_LOAD_HIVE_OPEN_HANDLE      0x800
#define REG_MULTI_SZ                   7U
#define REG_NONE                       0U
#define REG_NOTIFY_CHANGE_ATTRIBUTES   0x2
#define REG_NOTIFY_CHANGE_LAST_SET     0x4
#define REG_NOTIFY_CHANGE_NAME         0x1
#define REG_NOTIFY_CHANGE_SECURITY     0x8
#define REG_NOTIFY_THREAD_AGNOSTIC     0x10000000
#define REG_NO_COMPRESSION             4
#define REG_NO_IMPERSONATION_FALLBACK  0x8000
#define REG_NO_LAZY_FLUSH              0x4
#define REG_OPENED_EXISTING_KEY        0x2
#define REG_OPEN_LEGAL_OPTION          28
#define REG_OPEN_READ_ONLY             0x2000
#define REG_OPTION_BACKUP_RESTORE      0x4
#define REG_OPTION_CREATE_LINK         0x2
#define REG_OPTION_DONT_VIRTUALIZE     0x10
#define REG_OPTION_NON_VOLATILE        0x0
#define REG_OPTION_OPEN_LINK           0x8
#define REG_OPTION_RESERVED            0x0
#define REG_OPTION_VOLATILE            0x1
#define REG_PROCESS_PRIVATE            0x20
#define REG_QWORD                      11U
#define REG_QWORD_LITTLE_ENDIAN        11U
#define REG_REFRESH_HIVE               0x2
#define REG_RESOURCE_LIST              8U
#define REG_RESOURCE_REQUIREMENTS_LIST 10U
#define REG_STANDARD_FORMAT            1
#define REG_START_JOURNAL              0x40
#define REG_SZ                         1U
#define REG_UNLOAD_LEGAL_FLAGS         1
#define REG_WHOLE_HIVE_VOLATILE        0x1

typedef enum _KEY_INFORMATION_CLASS {
    KeyBasicInformation = 0,
    KeyNodeInformation = 1,
    KeyFullInformation = 2,
    KeyNameInformation = 3,
    KeyCachedInformation = 4,
    KeyFlagsInformation = 5,
    KeyVirtualizationInformation = 6,
    KeyHandleTagsInformation = 7,
    KeyTrustInformation = 8,
    KeyLayerInformation = 9,
    MaxKeyInfoClass = 10,
} KEY_INFORMATION_CLASS, *PKEY_INFORMATION_CLASS;

typedef enum _KEY_VALUE_INFORMATION_CLASS {
    KeyValueBasicInformation = 0,
    KeyValueFullInformation = 1,
    KeyValuePartialInformation = 2,
    KeyValueFullInformationAlign64 = 3,
    KeyValuePartialInformationAlign64 = 4,
    KeyValueLayerInformation = 5,
    MaxKeyValueInfoClass = 6,
} KEY_VALUE_INFORMATION_CLASS, *PKEY_VALUE_INFORMATION_CLASS;

typedef struct _KEY_BASIC_INFORMATION {
    LARGE_INTEGER LastWriteTime;
    ULONG TitleIndex;
    ULONG NameLength;
    WCHAR Name[1];
} KEY_BASIC_INFORMATION, *PKEY_BASIC_INFORMATION;

typedef struct _KEY_FULL_INFORMATION {
    LARGE_INTEGER LastWriteTime;
    ULONG TitleIndex;
    ULONG ClassOffset;
    ULONG ClassLength;
    ULONG SubKeys;
    ULONG MaxNameLen;
    ULONG MaxClassLen;
    ULONG Values;
    ULONG MaxValueNameLen;
    ULONG MaxValueDataLen;
    WCHAR Class[1];
} KEY_FULL_INFORMATION, *PKEY_FULL_INFORMATION;

typedef struct _KEY_VALUE_BASIC_INFORMATION {
    ULONG TitleIndex;
    ULONG Type;
    ULONG NameLength;
    WCHAR Name[1];
} KEY_VALUE_BASIC_INFORMATION, *PKEY_VALUE_BASIC_INFORMATION;

typedef struct _KEY_VALUE_FULL_INFORMATION {
    ULONG TitleIndex;
    ULONG Type;
    ULONG DataOffset;
    ULONG DataLength;
    ULONG NameLength;
    WCHAR Name[1];
} KEY_VALUE_FULL_INFORMATION, *PKEY_VALUE_FULL_INFORMATION;

typedef struct _KEY_VALUE_PARTIAL_INFORMATION {
    ULONG TitleIndex;
    ULONG Type;
    ULONG DataLength;
    UCHAR Data[1];
} KEY_VALUE_PARTIAL_INFORMATION, *PKEY_VALUE_PARTIAL_INFORMATION;

typedef struct _KEY_VALUE_PARTIAL_INFORMATION_ALIGN64 {
    ULONG Type;
    ULONG DataLength;
    UCHAR Data[1];
} KEY_VALUE_PARTIAL_INFORMATION_ALIGN64, *PKEY_VALUE_PARTIAL_INFORMATION_ALIGN64;

NTSYSAPI NTSTATUS NTAPI ZwClose(HANDLE Handle);
NTSYSAPI NTSTATUS NTAPI ZwLoadDriver(PUNICODE_STRING DriverServiceName);
NTSYSAPI NTSTATUS NTAPI ZwOpenKey(
    PHANDLE KeyHandle, ACCESS_MASK DesiredAccess, POBJECT_ATTRIBUTES ObjectAttributes);
NTSYSAPI NTSTATUS NTAPI ZwCreateKey(
    PHANDLE KeyHandle,
    ACCESS_MASK DesiredAccess,
    POBJECT_ATTRIBUTES ObjectAttributes,
    ULONG TitleIndex,
    PUNICODE_STRING Class,
    ULONG CreateOptions,
    PULONG Disposition);
NTSYSAPI NTSTATUS NTAPI ZwDeleteKey(HANDLE KeyHandle);
NTSYSAPI NTSTATUS NTAPI ZwFlushKey(HANDLE KeyHandle);
NTSYSAPI NTSTATUS NTAPI ZwQueryKey(
    HANDLE KeyHandle,
    KEY_INFORMATION_CLASS KeyInformationClass,
    PVOID KeyInformation,
    ULONG Length,
    PULONG ResultLength);
NTSYSAPI NTSTATUS NTAPI ZwEnumerateKey(
    HANDLE KeyHandle,
    ULONG Index,
    KEY_INFORMATION_CLASS KeyInformationClass,
    PVOID KeyInformation,
    ULONG Length,
    PULONG ResultLength);
NTSYSAPI NTSTATUS NTAPI ZwEnumerateValueKey(
    HANDLE KeyHandle,
    ULONG Index,
    KEY_VALUE_INFORMATION_CLASS KeyValueInformationClass,
    PVOID KeyValueInformation,
    ULONG Length,
    PULONG ResultLength);
NTSYSAPI NTSTATUS NTAPI ZwQueryValueKey(
    HANDLE KeyHandle,
    PUNICODE_STRING ValueName,
    KEY_VALUE_INFORMATION_CLASS KeyValueInformationClass,
    PVOID KeyValueInformation,
    ULONG Length,
    PULONG ResultLength);
NTSYSAPI NTSTATUS NTAPI ZwSetValueKey(
    HANDLE KeyHandle,
    PUNICODE_STRING ValueName,
    ULONG TitleIndex,
    ULONG Type,
    PVOID Data,
    ULONG DataSize);
NTSYSAPI NTSTATUS NTAPI ZwDeleteValueKey(HANDLE KeyHandle, PUNICODE_STRING ValueName);

NTSYSAPI NTSTATUS NTAPI ZwCreateFile(
    PHANDLE FileHandle,
    ACCESS_MASK DesiredAccess,
    POBJECT_ATTRIBUTES ObjectAttributes,
    PIO_STATUS_BLOCK IoStatusBlock,
    PLARGE_INTEGER AllocationSize,
    ULONG FileAttributes,
    ULONG ShareAccess,
    ULONG CreateDisposition,
    ULONG CreateOptions,
    PVOID EaBuffer,
    ULONG EaLength);
NTSYSAPI NTSTATUS NTAPI ZwOpenFile(
    PHANDLE FileHandle,
    ACCESS_MASK DesiredAccess,
    POBJECT_ATTRIBUTES ObjectAttributes,
    PIO_STATUS_BLOCK IoStatusBlock,
    ULONG ShareAccess,
    ULONG OpenOptions);
NTSYSAPI NTSTATUS NTAPI ZwReadFile(
    HANDLE FileHandle,
    HANDLE Event,
    PIO_APC_ROUTINE ApcRoutine,
    PVOID ApcContext,
    PIO_STATUS_BLOCK IoStatusBlock,
    PVOID Buffer,
    ULONG Length,
    PLARGE_INTEGER ByteOffset,
    PULONG Key);
NTSYSAPI NTSTATUS NTAPI ZwWriteFile(
    HANDLE FileHandle,
    HANDLE Event,
    PIO_APC_ROUTINE ApcRoutine,
    PVOID ApcContext,
    PIO_STATUS_BLOCK IoStatusBlock,
    PVOID Buffer,
    ULONG Length,
    PLARGE_INTEGER ByteOffset,
    PULONG Key);
NTSYSAPI NTSTATUS NTAPI ZwQueryInformationFile(
    HANDLE FileHandle,
    PIO_STATUS_BLOCK IoStatusBlock,
    PVOID FileInformation,
    ULONG Length,
    FILE_INFORMATION_CLASS FileInformationClass);
NTSYSAPI NTSTATUS NTAPI ZwSetInformationFile(
    HANDLE FileHandle,
    PIO_STATUS_BLOCK IoStatusBlock,
    PVOID FileInformation,
    ULONG Length,
    FILE_INFORMATION_CLASS FileInformationClass);
NTSYSAPI NTSTATUS NTAPI ZwCreateEvent(
    PHANDLE EventHandle,
    ACCESS_MASK DesiredAccess,
    POBJECT_ATTRIBUTES ObjectAttributes,
    EVENT_TYPE EventType,
    BOOLEAN InitialState);
NTSYSAPI NTSTATUS NTAPI ZwSetEvent(HANDLE EventHandle, PLONG PreviousState);
NTSYSAPI NTSTATUS NTAPI ZwWaitForSingleObject(
    HANDLE Handle, BOOLEAN Alertable, PLARGE_INTEGER Timeout);
NTSYSAPI NTSTATUS NTAPI ZwCreateSection(
    PHANDLE SectionHandle,
    ACCESS_MASK DesiredAccess,
    POBJECT_ATTRIBUTES ObjectAttributes,
    PLARGE_INTEGER MaximumSize,
    ULONG SectionPageProtection,
    ULONG AllocationAttributes,
    HANDLE FileHandle);
NTSYSAPI NTSTATUS NTAPI ZwMapViewOfSection(
    HANDLE SectionHandle,
    HANDLE ProcessHandle,
    PVOID *BaseAddress,
    ULONG_PTR ZeroBits,
    SIZE_T CommitSize,
    PLARGE_INTEGER SectionOffset,
    PSIZE_T ViewSize,
    SECTION_INHERIT InheritDisposition,
    ULONG AllocationType,
    ULONG Win32Protect);
NTSYSAPI NTSTATUS NTAPI ZwUnmapViewOfSection(HANDLE ProcessHandle, PVOID BaseAddress);

NTSYSAPI NTSTATUS NTAPI ZwQuerySystemInformation(
    ULONG SystemInformationClass,
    PVOID SystemInformation,
    ULONG SystemInformationLength,
    PULONG ReturnLength);

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WDM_ZW_H */
