/* SPDX-License-Identifier: MIT */
/* Interlocked operations: sequentially consistent, each returning what Windows documents. */
#ifndef DXGK_WDK_WDM_INTERLOCKED_H
#define DXGK_WDK_WDM_INTERLOCKED_H

#include <ntdef.h>

DXGK_INLINE LONG InterlockedIncrement(LONG volatile *Addend)
{
    return __atomic_add_fetch(Addend, 1, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG InterlockedDecrement(LONG volatile *Addend)
{
    return __atomic_sub_fetch(Addend, 1, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG InterlockedExchange(LONG volatile *Target, LONG Value)
{
    return __atomic_exchange_n(Target, Value, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG InterlockedExchangeAdd(LONG volatile *Addend, LONG Value)
{
    return __atomic_fetch_add(Addend, Value, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG InterlockedAdd(LONG volatile *Addend, LONG Value)
{
    return __atomic_add_fetch(Addend, Value, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG InterlockedCompareExchange(LONG volatile *Target, LONG Exchange, LONG Comparand)
{
    __atomic_compare_exchange_n(Target, &Comparand, Exchange, 0, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return Comparand;
}

DXGK_INLINE LONG InterlockedAnd(LONG volatile *Target, LONG Set)
{
    return __atomic_fetch_and(Target, Set, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG InterlockedOr(LONG volatile *Target, LONG Set)
{
    return __atomic_fetch_or(Target, Set, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG InterlockedXor(LONG volatile *Target, LONG Set)
{
    return __atomic_fetch_xor(Target, Set, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG64 InterlockedIncrement64(LONG64 volatile *Addend)
{
    return __atomic_add_fetch(Addend, 1, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG64 InterlockedDecrement64(LONG64 volatile *Addend)
{
    return __atomic_sub_fetch(Addend, 1, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG64 InterlockedExchange64(LONG64 volatile *Target, LONG64 Value)
{
    return __atomic_exchange_n(Target, Value, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG64 InterlockedExchangeAdd64(LONG64 volatile *Addend, LONG64 Value)
{
    return __atomic_fetch_add(Addend, Value, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG64 InterlockedAdd64(LONG64 volatile *Addend, LONG64 Value)
{
    return __atomic_add_fetch(Addend, Value, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG64 InterlockedCompareExchange64(
    LONG64 volatile *Target, LONG64 Exchange, LONG64 Comparand)
{
    __atomic_compare_exchange_n(Target, &Comparand, Exchange, 0, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return Comparand;
}

DXGK_INLINE LONG64 InterlockedAnd64(LONG64 volatile *Target, LONG64 Set)
{
    return __atomic_fetch_and(Target, Set, __ATOMIC_SEQ_CST);
}

DXGK_INLINE LONG64 InterlockedOr64(LONG64 volatile *Target, LONG64 Set)
{
    return __atomic_fetch_or(Target, Set, __ATOMIC_SEQ_CST);
}

DXGK_INLINE PVOID InterlockedExchangePointer(PVOID volatile *Target, PVOID Value)
{
    return __atomic_exchange_n(Target, Value, __ATOMIC_SEQ_CST);
}

DXGK_INLINE PVOID InterlockedCompareExchangePointer(
    PVOID volatile *Target, PVOID Exchange, PVOID Comparand)
{
    __atomic_compare_exchange_n(Target, &Comparand, Exchange, 0, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return Comparand;
}

DXGK_INLINE SHORT InterlockedIncrement16(SHORT volatile *Addend)
{
    return __atomic_add_fetch(Addend, 1, __ATOMIC_SEQ_CST);
}

DXGK_INLINE SHORT InterlockedDecrement16(SHORT volatile *Addend)
{
    return __atomic_sub_fetch(Addend, 1, __ATOMIC_SEQ_CST);
}

DXGK_INLINE BOOLEAN InterlockedBitTestAndSet(LONG volatile *Base, LONG Bit)
{
    LONG mask = (LONG)(1u << (Bit & 31));

    return (__atomic_fetch_or(Base + (Bit >> 5), mask, __ATOMIC_SEQ_CST) & mask) != 0;
}

DXGK_INLINE BOOLEAN InterlockedBitTestAndReset(LONG volatile *Base, LONG Bit)
{
    LONG mask = (LONG)(1u << (Bit & 31));

    return (__atomic_fetch_and(Base + (Bit >> 5), ~mask, __ATOMIC_SEQ_CST) & mask) != 0;
}

/* With -fms-extensions, clang has these itself. */
#ifdef __has_builtin
#if __has_builtin(_BitScanForward)
#define DXGK_HAS_BIT_SCANS
#endif
#endif
#ifndef DXGK_HAS_BIT_SCANS
DXGK_INLINE BOOLEAN _BitScanForward(ULONG *Index, ULONG Mask)
{
    if (Mask == 0) {
        return FALSE;
    }
    *Index = (ULONG)__builtin_ctz(Mask);
    return TRUE;
}

DXGK_INLINE BOOLEAN _BitScanReverse(ULONG *Index, ULONG Mask)
{
    if (Mask == 0) {
        return FALSE;
    }
    *Index = 31u - (ULONG)__builtin_clz(Mask);
    return TRUE;
}

DXGK_INLINE BOOLEAN _BitScanForward64(ULONG *Index, ULONG64 Mask)
{
    if (Mask == 0) {
        return FALSE;
    }
    *Index = (ULONG)__builtin_ctzll(Mask);
    return TRUE;
}

DXGK_INLINE BOOLEAN _BitScanReverse64(ULONG *Index, ULONG64 Mask)
{
    if (Mask == 0) {
        return FALSE;
    }
    *Index = 63u - (ULONG)__builtin_clzll(Mask);
    return TRUE;
}

#endif

#define BitScanForward     _BitScanForward
#define BitScanReverse     _BitScanReverse
#define BitScanForward64   _BitScanForward64
#define BitScanReverse64   _BitScanReverse64
#define InterlockedIncrementAcquire InterlockedIncrement
#define InterlockedDecrementRelease InterlockedDecrement
#define InterlockedIncrementNoFence InterlockedIncrement
#define InterlockedDecrementNoFence InterlockedDecrement
#define InterlockedCompareExchangeAcquire InterlockedCompareExchange
#define InterlockedCompareExchangeRelease InterlockedCompareExchange
#define InterlockedCompareExchangeNoFence InterlockedCompareExchange
#define InterlockedExchangeNoFence InterlockedExchange
#define InterlockedExchangeAcquire InterlockedExchange

DXGK_INLINE LONG ReadAcquire(LONG const volatile *Source)
{
    return __atomic_load_n(Source, __ATOMIC_ACQUIRE);
}

DXGK_INLINE LONG ReadNoFence(LONG const volatile *Source)
{
    return __atomic_load_n(Source, __ATOMIC_RELAXED);
}

DXGK_INLINE VOID WriteRelease(LONG volatile *Destination, LONG Value)
{
    __atomic_store_n(Destination, Value, __ATOMIC_RELEASE);
}

DXGK_INLINE VOID WriteNoFence(LONG volatile *Destination, LONG Value)
{
    __atomic_store_n(Destination, Value, __ATOMIC_RELAXED);
}

DXGK_INLINE LONG64 ReadAcquire64(LONG64 const volatile *Source)
{
    return __atomic_load_n(Source, __ATOMIC_ACQUIRE);
}

DXGK_INLINE LONG64 ReadNoFence64(LONG64 const volatile *Source)
{
    return __atomic_load_n(Source, __ATOMIC_RELAXED);
}

DXGK_INLINE VOID WriteRelease64(LONG64 volatile *Destination, LONG64 Value)
{
    __atomic_store_n(Destination, Value, __ATOMIC_RELEASE);
}

#endif /* DXGK_WDK_WDM_INTERLOCKED_H */
