/* SPDX-License-Identifier: MIT */
/*
 * The kernel services and types that a Windows driver's source expects of <wdm.h>, for ELF targets.
 * The declarations stand in wdm/, one header per part of the kernel.
 */
#ifndef _WDMDDK_
#define _WDMDDK_

/* #pragma alloc_text, code_seg, prefast and the like: they say nothing to these compilers. */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"

#include <evntprov.h>
#include <ntdef.h>
#include <windef.h>

#include "wdm/crt.h"
#include "wdm/crt_secure.h"
#include "wdm/ke.h"
#include "wdm/interlocked.h"
#include "wdm/rtl.h"
#include "wdm/ex.h"
#include "wdm/mm.h"
#include "wdm/hal.h"
#include "wdm/ps.h"
#include "wdm/exception.h"
#include "wdm/resources.h"
#include "wdm/power.h"
#include "wdm/pci.h"
#include "wdm/dma.h"
#include "wdm/io.h"
#include "wdm/csq.h"
#include "wdm/interrupt.h"
#include "wdm/dma_operations.h"
#include "wdm/iommu.h"
#include "wdm/zw.h"
#include "wdm/shared_data.h"

#define MAXIMUM_FILENAME_LENGTH     256
#define MAXIMUM_SUSPEND_COUNT       127
#define MAXIMUM_VOLUME_LABEL_LENGTH 64ULL
#define MAXIMUM_WAIT_OBJECTS        64

#define OBJ_NAME_PATH_SEPARATOR 92

/* --- Reader-writer spin locks ------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

typedef volatile LONG EX_SPIN_LOCK, *PEX_SPIN_LOCK;

NTKERNELAPI KIRQL NTAPI ExAcquireSpinLockShared(PEX_SPIN_LOCK SpinLock);
NTKERNELAPI KIRQL NTAPI ExAcquireSpinLockExclusive(PEX_SPIN_LOCK SpinLock);
NTKERNELAPI VOID NTAPI ExAcquireSpinLockSharedAtDpcLevel(PEX_SPIN_LOCK SpinLock);
NTKERNELAPI VOID NTAPI ExAcquireSpinLockExclusiveAtDpcLevel(PEX_SPIN_LOCK SpinLock);
NTKERNELAPI VOID NTAPI ExReleaseSpinLockShared(PEX_SPIN_LOCK SpinLock, KIRQL OldIrql);
NTKERNELAPI VOID NTAPI ExReleaseSpinLockExclusive(PEX_SPIN_LOCK SpinLock, KIRQL OldIrql);
NTKERNELAPI VOID NTAPI ExReleaseSpinLockSharedFromDpcLevel(PEX_SPIN_LOCK SpinLock);
NTKERNELAPI VOID NTAPI ExReleaseSpinLockExclusiveFromDpcLevel(PEX_SPIN_LOCK SpinLock);

/* --- Event tracing ------------------------------------------------------------------------ */

typedef ULONGLONG REGHANDLE, *PREGHANDLE;

typedef struct _EVENT_DATA_DESCRIPTOR {
    ULONGLONG Ptr;
    ULONG Size;
    ULONG Reserved;
} EVENT_DATA_DESCRIPTOR, *PEVENT_DATA_DESCRIPTOR;

#define MAX_EVENT_DATA_DESCRIPTORS 128

typedef VOID NTAPI ETWENABLECALLBACK(
    const GUID *SourceId,
    ULONG ControlCode,
    UCHAR Level,
    ULONGLONG MatchAnyKeyword,
    ULONGLONG MatchAllKeyword,
    PVOID FilterData,
    PVOID CallbackContext);
typedef ETWENABLECALLBACK *PETWENABLECALLBACK;

NTKERNELAPI NTSTATUS NTAPI EtwRegister(
    const GUID *ProviderId,
    PETWENABLECALLBACK EnableCallback,
    PVOID CallbackContext,
    PREGHANDLE RegHandle);
NTKERNELAPI NTSTATUS NTAPI EtwUnregister(REGHANDLE RegHandle);
NTKERNELAPI BOOLEAN NTAPI EtwEventEnabled(REGHANDLE RegHandle, PCEVENT_DESCRIPTOR EventDescriptor);
NTKERNELAPI BOOLEAN NTAPI EtwProviderEnabled(REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword);
NTKERNELAPI NTSTATUS NTAPI EtwWrite(
    REGHANDLE RegHandle,
    PCEVENT_DESCRIPTOR EventDescriptor,
    const GUID *ActivityId,
    ULONG UserDataCount,
    PEVENT_DATA_DESCRIPTOR UserData);
NTKERNELAPI NTSTATUS NTAPI EtwWriteString(
    REGHANDLE RegHandle, UCHAR Level, ULONGLONG Keyword, const GUID *ActivityId, PCWSTR String);

#ifdef __cplusplus
}
#endif

#endif /* _WDMDDK_ */
