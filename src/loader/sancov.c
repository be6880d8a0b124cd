/* SPDX-License-Identifier: MIT */
/*
 * What compilers call in a driver that is built with -fsanitize-coverage=: clang's
 * inline-8bit-counters and trace-pc-guard, gcc's trace-pc, and trace-cmp of both. In a machine of
 * which no coverage is recorded they do nothing.
 */
#include "loader/coverage.h"
#include "loader/loader.h"

#include "util/array.h"

#define HOOK   __attribute__((visibility("default"))) /* NOLINTBEGIN: the compilers' names */
#define CALLER ((uintptr_t)__builtin_return_address(0))

#define SWITCH_CASES 64u /* that are looked at */

/* ---- places ---- */

HOOK void __sanitizer_cov_8bit_counters_init(char *start, const char *end);
HOOK void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *end);
HOOK void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end);
HOOK void __sanitizer_cov_trace_pc_guard(const uint32_t *guard);
HOOK void __sanitizer_cov_trace_pc(void);
HOOK void __sanitizer_cov_trace_pc_indir(uintptr_t callee);

void __sanitizer_cov_8bit_counters_init(char *start, const char *end)
{
    struct coverage *coverage = loader_coverage();

    if (coverage && end > start)
        coverage_add_region(coverage, (uint8_t *)start, (size_t)(end - start));
}

void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *end)
{
    (void)start;
    (void)end;
}

/* Numbers begin with 1: a guard of 0 has none. The compiler calls this for each of its units, with
 * the same guards. */
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end)
{
    struct coverage *coverage = loader_coverage();

    if (!coverage || start == end || *start)
        return;
    for (uint32_t *guard = start; guard < end; guard++)
        *guard = ++coverage->places;
}

void __sanitizer_cov_trace_pc_guard(const uint32_t *guard)
{
    struct coverage *coverage = *guard ? loader_coverage() : NULL;

    if (coverage)
        coverage_hit(coverage, *guard - 1);
}

void __sanitizer_cov_trace_pc(void)
{
    struct coverage *coverage = loader_coverage();
    uint64_t offset;

    if (coverage && loader_offset(CALLER, &offset))
        coverage_hit_at(coverage, offset);
}

void __sanitizer_cov_trace_pc_indir(uintptr_t callee)
{
    (void)callee;
}

/* ---- comparisons ---- */

static void compared(uintptr_t where, uint64_t a, uint64_t b, uint8_t bytes)
{
    struct coverage *coverage = a != b ? loader_coverage() : NULL;

    if (coverage)
        coverage_compare(coverage, where, a, b, bytes);
}

#define COMPARE(bytes, type)                                          \
    HOOK void __sanitizer_cov_trace_cmp##bytes(type a, type b);       \
    HOOK void __sanitizer_cov_trace_const_cmp##bytes(type a, type b); \
    void __sanitizer_cov_trace_cmp##bytes(type a, type b)             \
    {                                                                 \
        compared(CALLER, a, b, bytes);                                \
    }                                                                 \
    void __sanitizer_cov_trace_const_cmp##bytes(type a, type b)       \
    {                                                                 \
        compared(CALLER, a, b, bytes);                                \
    }

COMPARE(1, uint8_t)
COMPARE(2, uint16_t)
COMPARE(4, uint32_t)
COMPARE(8, uint64_t)

/* cases: how many, bits of the value, the cases. */
HOOK void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases);
void __sanitizer_cov_trace_switch(uint64_t value, const uint64_t *cases)
{
    struct coverage *coverage = loader_coverage();

    for (uint64_t i = 0; coverage && i < cases[0] && i < SWITCH_CASES; i++)
        coverage_compare(coverage, CALLER + i, value, cases[2 + i], (uint8_t)(cases[1] / 8));
}

HOOK void __sanitizer_cov_trace_cmpf(float a, float b);
HOOK void __sanitizer_cov_trace_cmpd(double a, double b);
HOOK void __sanitizer_cov_trace_div4(uint32_t divisor);
HOOK void __sanitizer_cov_trace_div8(uint64_t divisor);
HOOK void __sanitizer_cov_trace_gep(uintptr_t index);

void __sanitizer_cov_trace_cmpf(float a, float b)
{
    (void)a;
    (void)b;
}

void __sanitizer_cov_trace_cmpd(double a, double b)
{
    (void)a;
    (void)b;
}

void __sanitizer_cov_trace_div4(uint32_t divisor)
{
    (void)divisor;
}

void __sanitizer_cov_trace_div8(uint64_t divisor)
{
    (void)divisor;
}

void __sanitizer_cov_trace_gep(uintptr_t index)
{
    (void)index;
}
/* NOLINTEND */
