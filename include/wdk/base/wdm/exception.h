/* SPDX-License-Identifier: MIT */
/* Exception records and the processor context they carry. */
#ifndef DXGK_WDK_WDM_EXCEPTION_H
#define DXGK_WDK_WDM_EXCEPTION_H

#include <ntdef.h>

typedef enum _EXCEPTION_DISPOSITION {
    ExceptionContinueExecution = 0,
    ExceptionContinueSearch = 1,
    ExceptionNestedException = 2,
    ExceptionCollidedUnwind = 3,
} EXCEPTION_DISPOSITION, *PEXCEPTION_DISPOSITION;

#define EXCEPTION_NONCONTINUABLE     0x1
#define EXCEPTION_MAXIMUM_PARAMETERS 15
#define EXCEPTION_EXECUTE_HANDLER    1
#define EXCEPTION_CONTINUE_SEARCH    0
#define EXCEPTION_CONTINUE_EXECUTION (-1)

typedef struct _EXCEPTION_RECORD {
    NTSTATUS ExceptionCode;
    ULONG ExceptionFlags;
    struct _EXCEPTION_RECORD *ExceptionRecord;
    PVOID ExceptionAddress;
    ULONG NumberParameters;
    ULONG_PTR ExceptionInformation[15];
} EXCEPTION_RECORD, *PEXCEPTION_RECORD;

typedef struct DECLSPEC_ALIGN(16) _M128A {
    ULONGLONG Low;
    LONGLONG High;
} M128A, *PM128A;

typedef struct DECLSPEC_ALIGN(16) _XSAVE_FORMAT {
    USHORT ControlWord;
    USHORT StatusWord;
    UCHAR TagWord;
    UCHAR Reserved1;
    USHORT ErrorOpcode;
    ULONG ErrorOffset;
    USHORT ErrorSelector;
    USHORT Reserved2;
    ULONG DataOffset;
    USHORT DataSelector;
    USHORT Reserved3;
    ULONG MxCsr;
    ULONG MxCsr_Mask;
    M128A FloatRegisters[8];
    M128A XmmRegisters[16];
    UCHAR Reserved4[96];
} XMM_SAVE_AREA32, *PXMM_SAVE_AREA32, XSAVE_FORMAT, *PXSAVE_FORMAT;

typedef struct DECLSPEC_ALIGN(16) _CONTEXT {
    ULONG64 P1Home;
    ULONG64 P2Home;
    ULONG64 P3Home;
    ULONG64 P4Home;
    ULONG64 P5Home;
    ULONG64 P6Home;
    ULONG ContextFlags;
    ULONG MxCsr;
    USHORT SegCs;
    USHORT SegDs;
    USHORT SegEs;
    USHORT SegFs;
    USHORT SegGs;
    USHORT SegSs;
    ULONG EFlags;
    ULONG64 Dr0;
    ULONG64 Dr1;
    ULONG64 Dr2;
    ULONG64 Dr3;
    ULONG64 Dr6;
    ULONG64 Dr7;
    ULONG64 Rax;
    ULONG64 Rcx;
    ULONG64 Rdx;
    ULONG64 Rbx;
    ULONG64 Rsp;
    ULONG64 Rbp;
    ULONG64 Rsi;
    ULONG64 Rdi;
    ULONG64 R8;
    ULONG64 R9;
    ULONG64 R10;
    ULONG64 R11;
    ULONG64 R12;
    ULONG64 R13;
    ULONG64 R14;
    ULONG64 R15;
    ULONG64 Rip;
    union {
        XMM_SAVE_AREA32 FltSave;
        struct {
            M128A Header[2];
            M128A Legacy[8];
            M128A Xmm0;
            M128A Xmm1;
            M128A Xmm2;
            M128A Xmm3;
            M128A Xmm4;
            M128A Xmm5;
            M128A Xmm6;
            M128A Xmm7;
            M128A Xmm8;
            M128A Xmm9;
            M128A Xmm10;
            M128A Xmm11;
            M128A Xmm12;
            M128A Xmm13;
            M128A Xmm14;
            M128A Xmm15;
        };
    };
    M128A VectorRegister[26];
    ULONG64 VectorControl;
    ULONG64 DebugControl;
    ULONG64 LastBranchToRip;
    ULONG64 LastBranchFromRip;
    ULONG64 LastExceptionToRip;
    ULONG64 LastExceptionFromRip;
} CONTEXT, *PCONTEXT;

typedef struct _EXCEPTION_POINTERS {
    PEXCEPTION_RECORD ExceptionRecord;
    PCONTEXT ContextRecord;
} EXCEPTION_POINTERS, *PEXCEPTION_POINTERS;

typedef struct _XSAVE_AREA *PXSAVE_AREA;

#define MAXIMUM_XSTATE_FEATURES             64
#define XSTATE_ALIGN_BIT                    1
#define XSTATE_ALIGN_MASK                   2ULL
#define XSTATE_AMX_TILE_CONFIG              17
#define XSTATE_AMX_TILE_DATA                18
#define XSTATE_AVX                          2
#define XSTATE_AVX512_KMASK                 5
#define XSTATE_AVX512_ZMM                   7
#define XSTATE_AVX512_ZMM_H                 6
#define XSTATE_CET_S                        12
#define XSTATE_CET_U                        11
#define XSTATE_COMPACTION_ENABLE            63
#define XSTATE_COMPACTION_ENABLE_MASK       0x8000000000000000ULL
#define XSTATE_CONTROLFLAG_VALID_MASK       7
#define XSTATE_CONTROLFLAG_XFD_MASK         4
#define XSTATE_CONTROLFLAG_XSAVEC_MASK      2
#define XSTATE_CONTROLFLAG_XSAVEOPT_MASK    1
#define XSTATE_GSSE                         2
#define XSTATE_IPT                          8
#define XSTATE_LEGACY_FLOATING_POINT        0
#define XSTATE_LEGACY_SSE                   1
#define XSTATE_LWP                          62
#define XSTATE_MASK_ALLOWED                 0x4000000000060DFFULL
#define XSTATE_MASK_AMX_TILE_CONFIG         0x20000ULL
#define XSTATE_MASK_AMX_TILE_DATA           0x40000ULL
#define XSTATE_MASK_AVX                     4ULL
#define XSTATE_MASK_AVX512                  224ULL
#define XSTATE_MASK_CET_S                   4096ULL
#define XSTATE_MASK_CET_U                   2048ULL
#define XSTATE_MASK_GSSE                    4ULL
#define XSTATE_MASK_IPT                     256ULL
#define XSTATE_MASK_LARGE_FEATURES          0x40000ULL
#define XSTATE_MASK_LEGACY                  3ULL
#define XSTATE_MASK_LEGACY_FLOATING_POINT   1ULL
#define XSTATE_MASK_LEGACY_SSE              2ULL
#define XSTATE_MASK_LWP                     0x4000000000000000ULL
#define XSTATE_MASK_MPX                     24ULL
#define XSTATE_MASK_PASID                   1024ULL
#define XSTATE_MASK_PERSISTENT              0x4000000000000010ULL
#define XSTATE_MASK_USER_VISIBLE_SUPERVISOR 2048ULL
#define XSTATE_MPX_BNDCSR                   4
#define XSTATE_MPX_BNDREGS                  3
#define XSTATE_PASID                        10
#define XSTATE_XFD_BIT                      2
#define XSTATE_XFD_MASK                     4ULL

typedef struct _XSTATE_FEATURE {
    ULONG Offset;
    ULONG Size;
} XSTATE_FEATURE, *PXSTATE_FEATURE;

typedef struct DXGK_MS_STRUCT _XSTATE_CONFIGURATION {
    ULONG64 EnabledFeatures;
    ULONG64 EnabledVolatileFeatures;
    ULONG Size;
    union {
        ULONG ControlFlags;
        struct DXGK_MS_STRUCT {
            ULONG OptimizedSave : 1;
            ULONG CompactionEnabled : 1;
            ULONG ExtendedFeatureDisable : 1;
        };
    };
    XSTATE_FEATURE Features[64];
    ULONG64 EnabledSupervisorFeatures;
    ULONG64 AlignedFeatures;
    ULONG AllFeatureSize;
    ULONG AllFeatures[64];
    ULONG64 EnabledUserVisibleSupervisorFeatures;
    ULONG64 ExtendedFeatureDisableFeatures;
    ULONG AllNonLargeFeatureSize;
    ULONG Spare;
} XSTATE_CONFIGURATION, *PXSTATE_CONFIGURATION;

typedef struct _XSTATE_CONTEXT {
    ULONG64 Mask;
    ULONG Length;
    ULONG Reserved1;
    PXSAVE_AREA Area;
    PVOID Buffer;
} XSTATE_CONTEXT, *PXSTATE_CONTEXT;

typedef struct _XSTATE_SAVE {
    struct _XSTATE_SAVE *Prev;
    struct _KTHREAD *Thread;
    UCHAR Level;
    XSTATE_CONTEXT XStateContext;
} XSTATE_SAVE, *PXSTATE_SAVE;

typedef struct _NT_TIB {
    struct _EXCEPTION_REGISTRATION_RECORD *ExceptionList;
    PVOID StackBase;
    PVOID StackLimit;
    PVOID SubSystemTib;
    union {
        PVOID FiberData;
        ULONG Version;
    };
    PVOID ArbitraryUserPointer;
    struct _NT_TIB *Self;
} NT_TIB, *PNT_TIB;

#endif /* DXGK_WDK_WDM_EXCEPTION_H */
