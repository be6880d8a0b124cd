/* SPDX-License-Identifier: MIT */
/* Remove locks and cancel-safe IRP queues. */
#ifndef DXGK_WDK_WDM_CSQ_H
#define DXGK_WDK_WDM_CSQ_H

#include "io_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _IO_REMOVE_LOCK_COMMON_BLOCK {
    BOOLEAN Removed;
    BOOLEAN Reserved[3];
    LONG IoCount;
    KEVENT RemoveEvent;
} IO_REMOVE_LOCK_COMMON_BLOCK, *PIO_REMOVE_LOCK_COMMON_BLOCK;

typedef struct _IO_REMOVE_LOCK {
    IO_REMOVE_LOCK_COMMON_BLOCK Common;
} IO_REMOVE_LOCK, *PIO_REMOVE_LOCK;

struct _IO_CSQ;
typedef struct _IO_CSQ IO_CSQ, *PIO_CSQ;

typedef void NTAPI IO_CSQ_INSERT_IRP(struct _IO_CSQ *, PIRP);
typedef IO_CSQ_INSERT_IRP *PIO_CSQ_INSERT_IRP;
typedef void NTAPI IO_CSQ_REMOVE_IRP(PIO_CSQ, PIRP);
typedef IO_CSQ_REMOVE_IRP *PIO_CSQ_REMOVE_IRP;
typedef PIRP NTAPI IO_CSQ_PEEK_NEXT_IRP(PIO_CSQ, PIRP, PVOID);
typedef IO_CSQ_PEEK_NEXT_IRP *PIO_CSQ_PEEK_NEXT_IRP;
typedef void NTAPI IO_CSQ_ACQUIRE_LOCK(PIO_CSQ, PKIRQL);
typedef IO_CSQ_ACQUIRE_LOCK *PIO_CSQ_ACQUIRE_LOCK;
typedef void NTAPI IO_CSQ_RELEASE_LOCK(PIO_CSQ, KIRQL);
typedef IO_CSQ_RELEASE_LOCK *PIO_CSQ_RELEASE_LOCK;
typedef void NTAPI IO_CSQ_COMPLETE_CANCELED_IRP(PIO_CSQ, PIRP);
typedef IO_CSQ_COMPLETE_CANCELED_IRP *PIO_CSQ_COMPLETE_CANCELED_IRP;

typedef struct _IO_CSQ {
    ULONG Type;
    PIO_CSQ_INSERT_IRP CsqInsertIrp;
    PIO_CSQ_REMOVE_IRP CsqRemoveIrp;
    PIO_CSQ_PEEK_NEXT_IRP CsqPeekNextIrp;
    PIO_CSQ_ACQUIRE_LOCK CsqAcquireLock;
    PIO_CSQ_RELEASE_LOCK CsqReleaseLock;
    PIO_CSQ_COMPLETE_CANCELED_IRP CsqCompleteCanceledIrp;
    PVOID ReservePointer;
} IO_CSQ, *PIO_CSQ;

#ifdef __cplusplus
}
#endif

#endif /* DXGK_WDK_WDM_CSQ_H */
