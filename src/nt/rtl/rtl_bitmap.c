/* SPDX-License-Identifier: MIT */
/* Bitmaps: bit 0 is the lowest bit of the first ULONG. Ranges beyond the bitmap are refused and
 * reported. */
#include <string.h>

#include "nt/base/export.h"
#include "nt/ke/enter.h"
#include "util/checked.h"
#include "verify/verify.h"

#define NOT_FOUND 0xFFFFFFFFu

static bool bit(const RTL_BITMAP *map, ULONG index)
{
    return map->Buffer[index / 32] >> (index % 32) & 1;
}

static void put(const RTL_BITMAP *map, ULONG index, bool value)
{
    ULONG mask = 1u << (index % 32);

    if (value)
        map->Buffer[index / 32] |= mask;
    else
        map->Buffer[index / 32] &= ~mask;
}

static bool inside(const RTL_BITMAP *map, ULONG start, ULONG count, const char *routine)
{
    if (range_inside(start, count, map->SizeOfBitMap))
        return true;
    VIOLATION("THREAD-009", "%s of bits %u to %u of a map of %u", routine, start, start + count - 1,
              map->SizeOfBitMap);
    return false;
}

static void put_range(const RTL_BITMAP *map, ULONG start, ULONG count, bool value)
{
    ULONG end = start + count;

    while (start < end) {
        if (start % 32 == 0 && end - start >= 32) {
            map->Buffer[start / 32] = value ? 0xFFFFFFFFu : 0;
            start += 32;
        } else {
            put(map, start++, value);
        }
    }
}

static bool range_is(const RTL_BITMAP *map, ULONG start, ULONG count, bool value)
{
    for (ULONG i = 0; i < count; i++) {
        if (bit(map, start + i) != value)
            return false;
    }
    return true;
}

/* First run of `count` bits in [from, to) that have the value. */
static ULONG find_run(const RTL_BITMAP *map, ULONG from, ULONG to, ULONG count, bool value)
{
    ULONG run = 0;

    for (ULONG i = from; i < to; i++) {
        if (i % 32 == 0 && run == 0 && map->Buffer[i / 32] == (value ? 0 : 0xFFFFFFFFu)) {
            i += 31;
            continue;
        }
        run = bit(map, i) == value ? run + 1 : 0;
        if (run == count)
            return i - count + 1;
    }
    return NOT_FOUND;
}

static ULONG find(const RTL_BITMAP *map, ULONG count, ULONG hint, bool value)
{
    ULONG found;

    if (hint >= map->SizeOfBitMap)
        hint = 0;
    if (count == 0)
        return hint & ~7u;
    if (count > map->SizeOfBitMap)
        return NOT_FOUND;
    found = find_run(map, hint, map->SizeOfBitMap, count, value);
    if (found == NOT_FOUND && hint != 0) {
        ULONG end = hint + count - 1 < map->SizeOfBitMap ? hint + count - 1 : map->SizeOfBitMap;

        found = find_run(map, 0, end, count, value);
    }
    return found;
}

NT_EXPORT VOID NTAPI RtlInitializeBitMap(PRTL_BITMAP BitMapHeader, PULONG BitMapBuffer,
                                         ULONG SizeOfBitMap)
{
    NT_ENTER();
    BitMapHeader->SizeOfBitMap = SizeOfBitMap;
    BitMapHeader->Buffer = BitMapBuffer;
}

NT_EXPORT VOID NTAPI RtlClearAllBits(PRTL_BITMAP BitMapHeader)
{
    NT_ENTER();
    memset(BitMapHeader->Buffer, 0, (BitMapHeader->SizeOfBitMap + 31ull) / 32 * 4);
}

NT_EXPORT VOID NTAPI RtlSetAllBits(PRTL_BITMAP BitMapHeader)
{
    NT_ENTER();
    memset(BitMapHeader->Buffer, 0xFF, (BitMapHeader->SizeOfBitMap + 31ull) / 32 * 4);
}

NT_EXPORT VOID NTAPI RtlClearBit(PRTL_BITMAP BitMapHeader, ULONG BitNumber)
{
    NT_ENTER();
    if (inside(BitMapHeader, BitNumber, 1, __func__))
        put(BitMapHeader, BitNumber, false);
}

NT_EXPORT VOID NTAPI RtlSetBit(PRTL_BITMAP BitMapHeader, ULONG BitNumber)
{
    NT_ENTER();
    if (inside(BitMapHeader, BitNumber, 1, __func__))
        put(BitMapHeader, BitNumber, true);
}

NT_EXPORT BOOLEAN NTAPI RtlTestBit(PRTL_BITMAP BitMapHeader, ULONG BitNumber)
{
    NT_ENTER();
    return inside(BitMapHeader, BitNumber, 1, __func__) && bit(BitMapHeader, BitNumber);
}

NT_EXPORT VOID NTAPI RtlClearBits(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG NumberToClear)
{
    NT_ENTER();
    if (inside(BitMapHeader, StartingIndex, NumberToClear, __func__))
        put_range(BitMapHeader, StartingIndex, NumberToClear, false);
}

NT_EXPORT VOID NTAPI RtlSetBits(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG NumberToSet)
{
    NT_ENTER();
    if (inside(BitMapHeader, StartingIndex, NumberToSet, __func__))
        put_range(BitMapHeader, StartingIndex, NumberToSet, true);
}

NT_EXPORT ULONG NTAPI RtlFindClearBits(PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex)
{
    NT_ENTER();
    return find(BitMapHeader, NumberToFind, HintIndex, false);
}

NT_EXPORT ULONG NTAPI RtlFindSetBits(PRTL_BITMAP BitMapHeader, ULONG NumberToFind, ULONG HintIndex)
{
    NT_ENTER();
    return find(BitMapHeader, NumberToFind, HintIndex, true);
}

NT_EXPORT ULONG NTAPI RtlFindClearBitsAndSet(PRTL_BITMAP BitMapHeader, ULONG NumberToFind,
                                             ULONG HintIndex)
{
    ULONG start;

    NT_ENTER();
    start = find(BitMapHeader, NumberToFind, HintIndex, false);
    if (start != NOT_FOUND)
        put_range(BitMapHeader, start, NumberToFind, true);
    return start;
}

NT_EXPORT ULONG NTAPI RtlFindSetBitsAndClear(PRTL_BITMAP BitMapHeader, ULONG NumberToFind,
                                             ULONG HintIndex)
{
    ULONG start;

    NT_ENTER();
    start = find(BitMapHeader, NumberToFind, HintIndex, true);
    if (start != NOT_FOUND)
        put_range(BitMapHeader, start, NumberToFind, false);
    return start;
}

NT_EXPORT BOOLEAN NTAPI RtlAreBitsClear(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG Length)
{
    NT_ENTER();
    return Length != 0 && range_inside(StartingIndex, Length, BitMapHeader->SizeOfBitMap) &&
           range_is(BitMapHeader, StartingIndex, Length, false);
}

NT_EXPORT BOOLEAN NTAPI RtlAreBitsSet(PRTL_BITMAP BitMapHeader, ULONG StartingIndex, ULONG Length)
{
    NT_ENTER();
    return Length != 0 && range_inside(StartingIndex, Length, BitMapHeader->SizeOfBitMap) &&
           range_is(BitMapHeader, StartingIndex, Length, true);
}

static ULONG count_set(const RTL_BITMAP *map)
{
    ULONG count = 0;

    for (ULONG i = 0; i < map->SizeOfBitMap; i++)
        count += bit(map, i);
    return count;
}

NT_EXPORT ULONG NTAPI RtlNumberOfSetBits(PRTL_BITMAP BitMapHeader)
{
    NT_ENTER();
    return count_set(BitMapHeader);
}

NT_EXPORT ULONG NTAPI RtlNumberOfClearBits(PRTL_BITMAP BitMapHeader)
{
    NT_ENTER();
    return BitMapHeader->SizeOfBitMap - count_set(BitMapHeader);
}
