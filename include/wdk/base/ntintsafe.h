/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic that reports overflow: STATUS_INTEGER_OVERFLOW, and the largest value of the type as
 * the result.
 */
#ifndef DXGK_WDK_NTINTSAFE_H
#define DXGK_WDK_NTINTSAFE_H

#include <ntdef.h>

#define DXGK_INTSAFE(Name, Type)                                                                   \
    DXGK_INLINE NTSTATUS Rtl##Name##Add(Type augend, Type addend, Type *result)                    \
    {                                                                                              \
        if (__builtin_add_overflow(augend, addend, result)) {                                      \
            *result = (Type)~(Type)0;                                                              \
            return STATUS_INTEGER_OVERFLOW;                                                        \
        }                                                                                          \
        return STATUS_SUCCESS;                                                                     \
    }                                                                                              \
    DXGK_INLINE NTSTATUS Rtl##Name##Sub(Type minuend, Type subtrahend, Type *result)               \
    {                                                                                              \
        if (__builtin_sub_overflow(minuend, subtrahend, result)) {                                 \
            *result = (Type)~(Type)0;                                                              \
            return STATUS_INTEGER_OVERFLOW;                                                        \
        }                                                                                          \
        return STATUS_SUCCESS;                                                                     \
    }                                                                                              \
    DXGK_INLINE NTSTATUS Rtl##Name##Mult(Type multiplicand, Type multiplier, Type *result)         \
    {                                                                                              \
        if (__builtin_mul_overflow(multiplicand, multiplier, result)) {                            \
            *result = (Type)~(Type)0;                                                              \
            return STATUS_INTEGER_OVERFLOW;                                                        \
        }                                                                                          \
        return STATUS_SUCCESS;                                                                     \
    }

DXGK_INTSAFE(UShort, USHORT)
DXGK_INTSAFE(UInt, UINT)
DXGK_INTSAFE(ULong, ULONG)
DXGK_INTSAFE(DWord, ULONG)
DXGK_INTSAFE(ULongLong, ULONGLONG)
DXGK_INTSAFE(ULongPtr, ULONG_PTR)
DXGK_INTSAFE(SizeT, SIZE_T)

#define DXGK_INTSAFE_NARROW(Name, From, To)                                                        \
    DXGK_INLINE NTSTATUS Rtl##Name(From operand, To *result)                                       \
    {                                                                                              \
        if (operand > (From)(To)~(To)0) {                                                          \
            *result = (To)~(To)0;                                                                  \
            return STATUS_INTEGER_OVERFLOW;                                                        \
        }                                                                                          \
        *result = (To)operand;                                                                     \
        return STATUS_SUCCESS;                                                                     \
    }

DXGK_INTSAFE_NARROW(ULongToUShort, ULONG, USHORT)
DXGK_INTSAFE_NARROW(ULongToUChar, ULONG, UCHAR)
DXGK_INTSAFE_NARROW(ULongLongToULong, ULONGLONG, ULONG)
DXGK_INTSAFE_NARROW(ULongLongToUInt, ULONGLONG, UINT)
DXGK_INTSAFE_NARROW(SizeTToULong, SIZE_T, ULONG)
DXGK_INTSAFE_NARROW(SizeTToUInt, SIZE_T, UINT)
DXGK_INTSAFE_NARROW(SizeTToUShort, SIZE_T, USHORT)
DXGK_INTSAFE_NARROW(ULongPtrToULong, ULONG_PTR, ULONG)

#undef DXGK_INTSAFE
#undef DXGK_INTSAFE_NARROW

#endif /* DXGK_WDK_NTINTSAFE_H */
