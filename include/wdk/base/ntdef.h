/* SPDX-License-Identifier: MIT */
/*
 * The basic types of the Windows x64 ABI, for ELF targets: LONG is 32 bits wide although `long` is
 * not, WCHAR is 16 bits wide (build with -fshort-wchar, so that L"..." has that type).
 *
 * NTAPI marks every function that a driver implements or calls: Microsoft x64 calling convention,
 * so that the same function serves a driver built as an ELF object and one loaded from a PE image.
 * APIENTRY marks the D3DKMT* client functions, which keep the platform's own convention.
 */
#ifndef DXGK_WDK_NTDEF_H
#define DXGK_WDK_NTDEF_H

#if defined(_WIN32)
#error "include/wdk/base is for ELF targets; with mingw-w64 use the toolchain's own headers"
#endif

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "../dxgk_layout.h"
#include "sal.h"

/* What Microsoft's <stdint.h> defines, and sources ask for before they define its types themselves. */
#ifndef _STDINT
#define _STDINT
#endif

#ifdef __cplusplus
#define EXTERN_C       extern "C"
#define EXTERN_C_START extern "C" {
#define EXTERN_C_END   }
#else
#define EXTERN_C       extern
#define EXTERN_C_START
#define EXTERN_C_END
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef _AMD64_
#define _AMD64_ 1
#endif
#ifndef NTDDI_VERSION
#define NTDDI_VERSION 0x0A00000C
#endif
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00
#endif
#ifndef DBG
#define DBG 0
#endif

#define DXGK_MS_ABI __attribute__((ms_abi))

#define NTAPI      DXGK_MS_ABI
#define APIENTRY
#define WINAPI     DXGK_MS_ABI
#define CALLBACK   DXGK_MS_ABI
#define FASTCALL   DXGK_MS_ABI
#ifndef __cdecl
#define __cdecl    DXGK_MS_ABI
#define __stdcall  DXGK_MS_ABI
#define __fastcall DXGK_MS_ABI
#endif

/* Kernel routines are visible to drivers even where the default visibility is hidden. */
#define DECLSPEC_EXPORT     __attribute__((visibility("default")))
#define NTSYSAPI            DECLSPEC_EXPORT
#define NTSYSCALLAPI        DECLSPEC_EXPORT
#define NTKERNELAPI         DECLSPEC_EXPORT
#define NTHALAPI            DECLSPEC_EXPORT
#define DECLSPEC_IMPORT
#define DECLSPEC_NORETURN   __attribute__((noreturn))
#define DECLSPEC_NOINLINE   __attribute__((noinline))
#define DECLSPEC_ALIGN(n)   __attribute__((aligned(n)))
#define DECLSPEC_CACHEALIGN DECLSPEC_ALIGN(64)
#define DECLSPEC_SELECTANY  __attribute__((weak))
#define DECLSPEC_DEPRECATED_DDK
#define DECLSPEC_RESTRICT
/*
 * DXGK_INLINE is that of these headers. A driver's own may stand before a member function or behind
 * `static`, so that neither form says `static` itself.
 */
#ifdef __cplusplus
#define FORCEINLINE         inline __attribute__((always_inline))
#define DXGK_INLINE         FORCEINLINE
#else
#define FORCEINLINE         __inline__ __attribute__((always_inline, unused))
#define DXGK_INLINE         static inline __attribute__((always_inline, unused))
#endif
#define CFORCEINLINE        FORCEINLINE
#define POINTER_ALIGNMENT   DECLSPEC_ALIGN(8)
#define UNALIGNED
#define UNREFERENCED_PARAMETER(P)       ((void)(P))
#define DBG_UNREFERENCED_PARAMETER(P)   ((void)(P))
#define DBG_UNREFERENCED_LOCAL_VARIABLE(V) ((void)(V))
#ifndef __cplusplus
#define __inline inline
#endif
#define __forceinline FORCEINLINE
#define __unaligned
#define __pragma(...)

/* Structures and unions without a name are no extension any more. */
#ifndef DUMMYSTRUCTNAME
#define DUMMYSTRUCTNAME
#endif
#ifndef DUMMYUNIONNAME
#define DUMMYUNIONNAME
#endif
#define __ptr64
#define DEFAULT_UNREACHABLE default: __builtin_unreachable()
#define NOTHING

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

#define VOID void
typedef char CHAR, *PCHAR, *LPSTR, *PSTR, *PSZ;
typedef const char *PCSTR, *LPCSTR, *PCSZ;
typedef char CCHAR, *PCCHAR;
typedef signed char INT8, *PINT8, SCHAR, *PSCHAR;
typedef unsigned char UCHAR, *PUCHAR, UINT8, *PUINT8;
typedef short SHORT, *PSHORT, CSHORT, *PCSHORT, INT16, *PINT16;
typedef unsigned short USHORT, *PUSHORT, UINT16, *PUINT16;
typedef int INT, *PINT, INT32, *PINT32, LONG32, *PLONG32;
typedef unsigned int UINT, *PUINT, UINT32, *PUINT32, ULONG32, *PULONG32, DWORD32;
typedef int LONG, *PLONG;
typedef unsigned int ULONG, *PULONG, CLONG, *PCLONG;
typedef long long LONGLONG, *PLONGLONG, LONG64, *PLONG64, INT64, *PINT64;
typedef unsigned long long ULONGLONG, *PULONGLONG, ULONG64, *PULONG64, UINT64, *PUINT64, DWORD64,
    DWORDLONG;
typedef long long INT_PTR, *PINT_PTR, LONG_PTR, *PLONG_PTR, SSIZE_T, *PSSIZE_T;
typedef unsigned long long UINT_PTR, *PUINT_PTR, ULONG_PTR, *PULONG_PTR, SIZE_T, *PSIZE_T,
    DWORD_PTR, *PDWORD_PTR;
typedef ULONG_PTR KAFFINITY, *PKAFFINITY;
typedef float FLOAT, *PFLOAT;
typedef double DOUBLE;
typedef UCHAR BOOLEAN, *PBOOLEAN;
typedef ULONG LOGICAL, *PLOGICAL;
typedef UCHAR FCHAR;
typedef USHORT FSHORT;
typedef ULONG FLONG;
typedef void *PVOID, *PVOID64, **PPVOID;
typedef const void *PCVOID;
typedef PVOID HANDLE, *PHANDLE;
typedef ULONG LCID, *PLCID;
typedef USHORT LANGID;
typedef LONG NTSTATUS, *PNTSTATUS;
typedef LONG HRESULT;
typedef ULONG ACCESS_MASK, *PACCESS_MASK;
typedef UCHAR KIRQL, *PKIRQL;
typedef CCHAR KPROCESSOR_MODE;
typedef LONG KPRIORITY;
typedef const UCHAR *PCUCHAR;
typedef const USHORT *PCUSHORT;
typedef const ULONG *PCULONG;

/* 16 bits everywhere. -fshort-wchar gives L"..." this type as well. */
#if !defined(__cplusplus)
typedef unsigned short WCHAR;
#elif __SIZEOF_WCHAR_T__ == 2
typedef wchar_t WCHAR;
#else
typedef char16_t WCHAR;
#endif
typedef WCHAR *PWCHAR, *PWCH, *LPWCH, *PWSTR, *LPWSTR, *NWPSTR;
typedef const WCHAR *PCWCH, *LPCWCH, *PCWSTR, *LPCWSTR, *PCNZWCH;
typedef PWSTR *PZPWSTR;
typedef PCWSTR *PZPCWSTR;

#ifdef __cplusplus
#define C_ASSERT(e) static_assert(e, #e)
#else
#define C_ASSERT(e) _Static_assert(e, #e)
#endif

#define FIELD_OFFSET(Type, Field) ((LONG)__builtin_offsetof(Type, Field))
#define UFIELD_OFFSET(Type, Field) ((ULONG)__builtin_offsetof(Type, Field))
#define CONTAINING_RECORD(Address, Type, Field)                                                    \
    ((Type *)((char *)(Address) - __builtin_offsetof(Type, Field)))
#define RTL_FIELD_SIZE(Type, Field) (sizeof(((Type *)0)->Field))
#define RTL_SIZEOF_THROUGH_FIELD(Type, Field)                                                      \
    (__builtin_offsetof(Type, Field) + RTL_FIELD_SIZE(Type, Field))
#define RTL_CONTAINS_FIELD(Record, Size, Field)                                                    \
    ((((char *)&(Record)->Field) + sizeof((Record)->Field)) <= (((char *)(Record)) + (Size)))
#define RTL_NUMBER_OF(Array) (sizeof(Array) / sizeof((Array)[0]))
#define ARRAYSIZE(Array) RTL_NUMBER_OF(Array)
#define _ARRAYSIZE(Array) RTL_NUMBER_OF(Array)
#define _countof(Array) RTL_NUMBER_OF(Array)
#define TYPE_ALIGNMENT(Type) __alignof__(Type)
#define RTL_CONST_CAST(Type) (Type)
#define ALIGN_DOWN_BY(Length, Alignment) ((ULONG_PTR)(Length) & ~((ULONG_PTR)(Alignment) - 1))
#define ALIGN_UP_BY(Length, Alignment)                                                             \
    ALIGN_DOWN_BY((ULONG_PTR)(Length) + (Alignment) - 1, Alignment)
#define ALIGN_DOWN_POINTER_BY(Address, Alignment) ((PVOID)ALIGN_DOWN_BY(Address, Alignment))
#define ALIGN_UP_POINTER_BY(Address, Alignment) ((PVOID)ALIGN_UP_BY(Address, Alignment))
#define ALIGN_DOWN(Length, Type) ALIGN_DOWN_BY(Length, sizeof(Type))
#define ALIGN_UP(Length, Type) ALIGN_UP_BY(Length, sizeof(Type))
#define FlagOn(Flags, Flag) ((Flags) & (Flag))
#define BooleanFlagOn(Flags, Flag) ((BOOLEAN)(((Flags) & (Flag)) != 0))
#define SetFlag(Flags, Flag) ((Flags) |= (Flag))
#define ClearFlag(Flags, Flag) ((Flags) &= ~(Flag))
#define ARGUMENT_PRESENT(Argument) ((Argument) != NULL)
#define PtrToUlong(P) ((ULONG)(ULONG_PTR)(P))
#define PtrToUint(P) ((UINT)(ULONG_PTR)(P))
#define UlongToPtr(U) ((PVOID)(ULONG_PTR)(ULONG)(U))
#define HandleToUlong(H) ((ULONG)(ULONG_PTR)(H))
#define HandleToULong(H) HandleToUlong(H)
#define UlongToHandle(U) ((HANDLE)(ULONG_PTR)(ULONG)(U))
#define ULongToHandle(U) UlongToHandle(U)
#define LongToHandle(L) ((HANDLE)(LONG_PTR)(L))
#define MAKELONG(Low, High) ((LONG)(((USHORT)(Low)) | ((ULONG)((USHORT)(High))) << 16))

#define NT_SUCCESS(Status) (((NTSTATUS)(Status)) >= 0)
#define NT_INFORMATION(Status) ((((ULONG)(Status)) >> 30) == 1)
#define NT_WARNING(Status) ((((ULONG)(Status)) >> 30) == 2)
#define NT_ERROR(Status) ((((ULONG)(Status)) >> 30) == 3)

#define MAXUCHAR  0xFF
#define MAXUSHORT 0xFFFF
#define MAXSHORT  0x7FFF
#define MAXULONGLONG 0xFFFFFFFFFFFFFFFFULL
#define MAXULONG_PTR 0xFFFFFFFFFFFFFFFFULL
#define MAXSIZE_T MAXULONG_PTR
#define ALL_PROCESSOR_GROUPS              0xFFFF
#define MAXIMUM_PROCESSORS                64
#define MAXIMUM_PROC_PER_GROUP            64
#define MAXLONG                           0x7FFFFFFF
#define MAXLONGLONG                       0x7FFFFFFFFFFFFFFFLL
#define MAXULONG                          0xFFFFFFFFU
#define MINLONG                           0x80000000U
#define OBJ_CASE_INSENSITIVE              0x40
#define OBJ_DONT_REPARSE                  0x1000
#define OBJ_EXCLUSIVE                     0x20
#define OBJ_FORCE_ACCESS_CHECK            0x400
#define OBJ_HANDLE_TAGBITS                0x3
#define OBJ_IGNORE_IMPERSONATED_DEVICEMAP 0x800
#define OBJ_INHERIT                       0x2
#define OBJ_KERNEL_HANDLE                 0x200
#define OBJ_OPENIF                        0x80
#define OBJ_OPENLINK                      0x100
#define OBJ_PERMANENT                     0x10
#define OBJ_VALID_ATTRIBUTES              0x1FF2
#define UNICODE_STRING_MAX_BYTES          65534
#define UNICODE_STRING_MAX_CHARS          32767

typedef union _LARGE_INTEGER {
    struct {
        ULONG LowPart;
        LONG HighPart;
    };
    struct {
        ULONG LowPart;
        LONG HighPart;
    } u;
    LONGLONG QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;

typedef union _ULARGE_INTEGER {
    struct {
        ULONG LowPart;
        ULONG HighPart;
    };
    struct {
        ULONG LowPart;
        ULONG HighPart;
    } u;
    ULONGLONG QuadPart;
} ULARGE_INTEGER, *PULARGE_INTEGER;

typedef LARGE_INTEGER PHYSICAL_ADDRESS, *PPHYSICAL_ADDRESS;

typedef struct _LUID {
    ULONG LowPart;
    LONG HighPart;
} LUID, *PLUID;

typedef struct _LIST_ENTRY {
    struct _LIST_ENTRY *Flink;
    struct _LIST_ENTRY *Blink;
} LIST_ENTRY, *PLIST_ENTRY;

typedef struct _SINGLE_LIST_ENTRY {
    struct _SINGLE_LIST_ENTRY *Next;
} SINGLE_LIST_ENTRY, *PSINGLE_LIST_ENTRY;

typedef struct _UNICODE_STRING {
    USHORT Length;
    USHORT MaximumLength;
    PWCH Buffer;
} UNICODE_STRING, *PUNICODE_STRING;
typedef const UNICODE_STRING *PCUNICODE_STRING;

typedef struct _STRING {
    USHORT Length;
    USHORT MaximumLength;
    PCHAR Buffer;
} STRING, *PSTRING;
typedef STRING ANSI_STRING, *PANSI_STRING;
typedef STRING OEM_STRING, *POEM_STRING;
typedef STRING UTF8_STRING, *PUTF8_STRING;
typedef const STRING *PCANSI_STRING;

typedef struct _OBJECT_ATTRIBUTES {
    ULONG Length;
    HANDLE RootDirectory;
    PUNICODE_STRING ObjectName;
    ULONG Attributes;
    PVOID SecurityDescriptor;
    PVOID SecurityQualityOfService;
} OBJECT_ATTRIBUTES, *POBJECT_ATTRIBUTES;

#define InitializeObjectAttributes(Attributes_, Name_, Flags_, Root_, Security_)                   \
    do {                                                                                           \
        (Attributes_)->Length = sizeof(OBJECT_ATTRIBUTES);                                         \
        (Attributes_)->RootDirectory = (Root_);                                                    \
        (Attributes_)->Attributes = (Flags_);                                                      \
        (Attributes_)->ObjectName = (Name_);                                                       \
        (Attributes_)->SecurityDescriptor = (Security_);                                           \
        (Attributes_)->SecurityQualityOfService = NULL;                                            \
    } while (0)

typedef struct _GROUP_AFFINITY {
    KAFFINITY Mask;
    USHORT Group;
    USHORT Reserved[3];
} GROUP_AFFINITY, *PGROUP_AFFINITY;

typedef struct _PROCESSOR_NUMBER {
    USHORT Group;
    UCHAR Number;
    UCHAR Reserved;
} PROCESSOR_NUMBER, *PPROCESSOR_NUMBER;

typedef enum _EVENT_TYPE {
    NotificationEvent = 0,
    SynchronizationEvent = 1,
} EVENT_TYPE, *PEVENT_TYPE;

typedef enum _TIMER_TYPE {
    NotificationTimer = 0,
    SynchronizationTimer = 1,
} TIMER_TYPE, *PTIMER_TYPE;

typedef enum _WAIT_TYPE {
    WaitAll = 0,
    WaitAny = 1,
    WaitNotification = 2,
    WaitDequeue = 3,
    WaitDpc = 4,
} WAIT_TYPE, *PWAIT_TYPE;

typedef enum _NT_PRODUCT_TYPE {
    NtProductWinNt = 1,
    NtProductLanManNt = 2,
    NtProductServer = 3,
} NT_PRODUCT_TYPE, *PNT_PRODUCT_TYPE;

/* A UNICODE_STRING that stands for a literal: DECLARE_CONST_UNICODE_STRING(name, L"text"). */
#define RTL_CONSTANT_STRING(Text)                                                                  \
    { sizeof(Text) - sizeof((Text)[0]), sizeof(Text), (PWCH)(Text) }
#define DECLARE_CONST_UNICODE_STRING(Name, Text)                                                   \
    static const WCHAR Name##_buffer[] = Text;                                                     \
    static const UNICODE_STRING Name = {sizeof(Name##_buffer) - sizeof(WCHAR),                     \
                                        sizeof(Name##_buffer), (PWCH)Name##_buffer}
#define DECLARE_UNICODE_STRING_SIZE(Name, Size)                                                    \
    WCHAR Name##_buffer[Size];                                                                     \
    UNICODE_STRING Name = {0, (Size) * sizeof(WCHAR), Name##_buffer}

#ifdef __cplusplus
}
#endif

#include <guiddef.h>
#include <ntstatus.h>

#endif /* DXGK_WDK_NTDEF_H */
