/* SPDX-License-Identifier: MIT */
/* Bitmaps, beside a model of one byte for each bit. */
#include "support/harness.h"

#include "util/rng.h"

#define BITS 100u
#define NONE 0xFFFFFFFFu

static struct {
    RTL_BITMAP map;
    ULONG buffer[6];
    bool bit[BITS];
    struct rng rng;
} b;

static void begin(uint64_t seed)
{
    memset(&b, 0, sizeof(b));
    b.rng.state = seed;
    memset(b.buffer, 0x5A, sizeof(b.buffer));
    RtlInitializeBitMap(&b.map, b.buffer, BITS);
    assert_true(b.map.SizeOfBitMap == BITS && b.map.Buffer == b.buffer);
    RtlClearAllBits(&b.map);
}

static ULONG number(ULONG most)
{
    return (ULONG)(rng_next(&b.rng) % (most + 1));
}

static void set(ULONG start, ULONG count, bool value)
{
    for (ULONG i = start; i < start + count; i++)
        b.bit[i] = value;
}

static bool is(ULONG start, ULONG count, bool value)
{
    for (ULONG i = start; i < start + count; i++)
        if (b.bit[i] != value)
            return false;
    return true;
}

/* The first run at or behind the hint, or else the first of all. */
static ULONG find(ULONG count, ULONG hint, bool value)
{
    if (count == 0)
        return (hint < BITS ? hint : 0) & ~7u;
    for (ULONG i = hint < BITS ? hint : 0; i + count <= BITS; i++)
        if (is(i, count, value))
            return i;
    for (ULONG i = 0; i < hint && i + count <= BITS; i++)
        if (is(i, count, value))
            return i;
    return NONE;
}

static void compare(void)
{
    ULONG ones = 0;

    for (ULONG i = 0; i < BITS; i++) {
        assert_int_equal(RtlTestBit(&b.map, i), b.bit[i]);
        assert_int_equal(b.buffer[i / 32] >> (i % 32) & 1, b.bit[i]);
        ones += b.bit[i];
    }
    assert_int_equal(RtlNumberOfSetBits(&b.map), ones);
    assert_int_equal(RtlNumberOfClearBits(&b.map), BITS - ones);
    assert_true(b.buffer[4] == 0x5A5A5A5A && b.buffer[5] == 0x5A5A5A5A);
}

static void search(void)
{
    ULONG count = number(number(1) ? 12 : BITS + 2), hint = number(BITS + 10);
    bool value = number(1);
    ULONG found = find(count, hint, value), got;

    assert_int_equal(
        value ? RtlFindSetBits(&b.map, count, hint) : RtlFindClearBits(&b.map, count, hint), found);
    got = value ? RtlFindSetBitsAndClear(&b.map, count, hint)
                : RtlFindClearBitsAndSet(&b.map, count, hint);
    assert_int_equal(got, found);
    if (found != NONE)
        set(found, count, !value);
}

static void change(void)
{
    ULONG start = number(BITS - 1), count = number(BITS - start);

    switch (number(5)) {
    case 0:
        RtlSetBit(&b.map, start);
        set(start, 1, true);
        break;
    case 1:
        RtlClearBit(&b.map, start);
        set(start, 1, false);
        break;
    case 2:
        RtlSetBits(&b.map, start, count);
        set(start, count, true);
        break;
    case 3:
        RtlClearBits(&b.map, start, count);
        set(start, count, false);
        break;
    default:
        search();
    }
    assert_int_equal(RtlAreBitsSet(&b.map, start, count), count && is(start, count, true));
    assert_int_equal(RtlAreBitsClear(&b.map, start, count), count && is(start, count, false));
}

TEST_WITH(driver, each_routine_does_as_the_model)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        begin(seed);
        for (unsigned step = 0; step < 150; step++) {
            change();
            compare();
        }
        RtlSetAllBits(&b.map);
        set(0, BITS, true);
        compare();
    }
    assert_int_equal(errors(), 0);
}

/* Nothing is changed, and it is told. */
TEST_WITH(driver, bits_beyond_the_end_are_refused)
{
    begin(1);
    assert_false(RtlAreBitsSet(&b.map, BITS, 1));
    assert_false(RtlAreBitsClear(&b.map, BITS, 1));
    assert_false(RtlAreBitsClear(&b.map, BITS - 1, 2));
    assert_false(RtlAreBitsClear(&b.map, 1, 0xFFFFFFFF));
    assert_int_equal(errors(), 0);
    RtlSetBit(&b.map, BITS);
    CHECK_RULE("THREAD-009", errors() == 1);
    RtlClearBit(&b.map, BITS);
    CHECK_RULE("THREAD-009", errors() == 2);
    CHECK_RULE("THREAD-009", !RtlTestBit(&b.map, BITS) && errors() == 3);
    RtlSetBits(&b.map, BITS - 1, 2);
    CHECK_RULE("THREAD-009", errors() == 4);
    RtlClearBits(&b.map, 2, 0xFFFFFFFF);
    CHECK_RULE("THREAD-009", errors() == 5);
    compare();
}
