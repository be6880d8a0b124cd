/* SPDX-License-Identifier: MIT */
/*
 * Interlocked lists. A service is atomic between points, so that it needs no lock of its own; it
 * waits for the one that the driver passes, which the driver may hold elsewhere (NT-112).
 */
#include "nt/base/export.h"
#include "nt/ke/enter.h"
#include "nt/ke/spinlock.h"
#include "verify/verify.h"
#include "sim/order.h"

NT_EXPORT PLIST_ENTRY NTAPI ExInterlockedInsertHeadList(PLIST_ENTRY ListHead, PLIST_ENTRY ListEntry,
                                                        PKSPIN_LOCK Lock)
{
    PLIST_ENTRY first;

    NT_ENTER();
    nt_spin_lock_interlocked(Lock, __func__);
    first = ListHead->Flink;
    InsertHeadList(ListHead, ListEntry);
    return first == ListHead ? NULL : first;
}

NT_EXPORT PLIST_ENTRY NTAPI ExInterlockedInsertTailList(PLIST_ENTRY ListHead, PLIST_ENTRY ListEntry,
                                                        PKSPIN_LOCK Lock)
{
    PLIST_ENTRY last;

    NT_ENTER();
    nt_spin_lock_interlocked(Lock, __func__);
    last = ListHead->Blink;
    InsertTailList(ListHead, ListEntry);
    return last == ListHead ? NULL : last;
}

NT_EXPORT PLIST_ENTRY NTAPI ExInterlockedRemoveHeadList(PLIST_ENTRY ListHead, PKSPIN_LOCK Lock)
{
    NT_ENTER();
    nt_spin_lock_interlocked(Lock, __func__);
    return IsListEmpty(ListHead) ? NULL : RemoveHeadList(ListHead);
}

NT_EXPORT PSINGLE_LIST_ENTRY NTAPI ExInterlockedPopEntryList(PSINGLE_LIST_ENTRY ListHead,
                                                             PKSPIN_LOCK Lock)
{
    NT_ENTER();
    nt_spin_lock_interlocked(Lock, __func__);
    return PopEntryList(ListHead);
}

NT_EXPORT PSINGLE_LIST_ENTRY NTAPI ExInterlockedPushEntryList(PSINGLE_LIST_ENTRY ListHead,
                                                              PSINGLE_LIST_ENTRY ListEntry,
                                                              PKSPIN_LOCK Lock)
{
    PSINGLE_LIST_ENTRY first;

    NT_ENTER();
    nt_spin_lock_interlocked(Lock, __func__);
    first = ListHead->Next;
    PushEntryList(ListHead, ListEntry);
    return first;
}

NT_EXPORT LARGE_INTEGER NTAPI ExInterlockedAddLargeInteger(PLARGE_INTEGER Addend,
                                                           LARGE_INTEGER Increment, PKSPIN_LOCK Lock)
{
    LARGE_INTEGER before;

    NT_ENTER();
    nt_spin_lock_interlocked(Lock, __func__);
    before = *Addend;
    Addend->QuadPart = (LONGLONG)((ULONGLONG)Addend->QuadPart + (ULONGLONG)Increment.QuadPart);
    return before;
}

NT_EXPORT ULONG NTAPI ExInterlockedAddUlong(PULONG Addend, ULONG Increment, PKSPIN_LOCK Lock)
{
    ULONG before;

    NT_ENTER();
    nt_spin_lock_interlocked(Lock, __func__);
    before = *Addend;
    *Addend += Increment;
    return before;
}

/* ---- sequenced lists: header as on x64, since drivers read its depth by inline code ---- */

#define ENTRY_ALIGN 16u

static PSLIST_ENTRY first_of(const SLIST_HEADER *head)
{
    return (PSLIST_ENTRY)(uintptr_t)((uint64_t)head->HeaderX64.NextEntry << 4);
}

static void set_first(PSLIST_HEADER head, PSLIST_ENTRY entry, unsigned depth)
{
    ULONGLONG sequence = (ULONGLONG)head->HeaderX64.Sequence + 1;

    head->Alignment = (depth & 0xFFFFu) | sequence << 16;
    head->Region = (uintptr_t)entry;
}

static bool check_head(const SLIST_HEADER *head, const char *routine)
{
    if (head && (uintptr_t)head % ENTRY_ALIGN == 0)
        return true;
    VIOLATION("NT-113", "%s with a list header that is not aligned to 16 bytes", routine);
    return false;
}

NT_EXPORT VOID NTAPI InitializeSListHead(PSLIST_HEADER SListHead)
{
    NT_ENTER();
    if (!check_head(SListHead, __func__))
        return;
    SListHead->Alignment = 0;
    SListHead->Region = 0;
}

NT_EXPORT PSLIST_ENTRY NTAPI ExpInterlockedPopEntrySList(PSLIST_HEADER ListHead)
{
    PSLIST_ENTRY entry;

    NT_ENTER();
    if (!check_head(ListHead, __func__))
        return NULL;
    sim_order_exchange(ListHead);
    entry = first_of(ListHead);
    if (entry)
        set_first(ListHead, entry->Next, (unsigned)ListHead->HeaderX64.Depth - 1);
    return entry;
}

NT_EXPORT PSLIST_ENTRY NTAPI ExpInterlockedPushEntrySList(PSLIST_HEADER ListHead,
                                                          PSLIST_ENTRY ListEntry)
{
    PSLIST_ENTRY first;

    NT_ENTER();
    if (!check_head(ListHead, __func__))
        return NULL;
    sim_order_exchange(ListHead);
    first = first_of(ListHead);
    if (!ListEntry || (uintptr_t)ListEntry % ENTRY_ALIGN != 0) {
        VIOLATION("NT-113", "InterlockedPushEntrySList of an entry that is not aligned to 16 bytes");
        return first;
    }
    ListEntry->Next = first;
    set_first(ListHead, ListEntry, (unsigned)ListHead->HeaderX64.Depth + 1);
    return first;
}

NT_EXPORT PSLIST_ENTRY NTAPI ExpInterlockedFlushSList(PSLIST_HEADER ListHead)
{
    PSLIST_ENTRY first;

    NT_ENTER();
    if (!check_head(ListHead, __func__))
        return NULL;
    sim_order_exchange(ListHead);
    first = first_of(ListHead);
    set_first(ListHead, NULL, 0);
    return first;
}

NT_EXPORT USHORT NTAPI ExQueryDepthSList(PSLIST_HEADER SListHead)
{
    NT_ENTER();
    return check_head(SListHead, __func__) ? (USHORT)SListHead->HeaderX64.Depth : 0;
}
