/* SPDX-License-Identifier: MIT */
/*
 * What an instrumented driver refers to: one compiled by clang with -fsanitize-coverage=inline-8bit-counters,trace-cmp. Nothing
 * of it needs the host, so that the image runs on Windows, too: dxgkhost fuzz finds the counters by the name of their section,
 * .SCOV, and pairs of values that the driver has compared in .dxgkcmp.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define SECTION(name) __attribute__((section(name), used))
#define PAIRS         1024u /* two of a comparison in the code: its first and its last */
#define CASES         64u   /* of a switch that are looked at */
#define CALLER        ((u64)(__builtin_return_address(0)))

/* As the host reads it (src/loader/coverage.h). */
struct pair {
    u64 a, b;
    u8 bytes; /* 0: there is none */
};

extern char __ImageBase[];

/* The linker puts the counters of the driver between them. */
SECTION(".SCOV$CA") u8 __start___sancov_cntrs = 0;
SECTION(".SCOV$CZ") u8 __stop___sancov_cntrs = 0;
SECTION(".dxgkcmp") struct pair dxgk_compared[PAIRS] = {{0, 0, 0}};

void __sanitizer_cov_8bit_counters_init(char *start, char *end);
void __sanitizer_cov_pcs_init(const u64 *start, const u64 *end);

void __sanitizer_cov_8bit_counters_init(char *start, char *end)
{
    (void)start;
    (void)end;
}

void __sanitizer_cov_pcs_init(const u64 *start, const u64 *end)
{
    (void)start;
    (void)end;
}

static void compared(u64 where, u64 a, u64 b, u8 bytes)
{
    struct pair *pair;

    if (a == b)
        return;
    where = (where - (u64)__ImageBase) * 0x9E3779B97F4A7C15u >> 40;
    pair = &dxgk_compared[where % (PAIRS / 2) * 2];
    if (pair->bytes)
        pair++;
    pair->a = a;
    pair->b = b;
    pair->bytes = bytes;
}

#define COMPARE(bytes, type)                                     \
    void __sanitizer_cov_trace_cmp##bytes(type a, type b);       \
    void __sanitizer_cov_trace_const_cmp##bytes(type a, type b); \
    void __sanitizer_cov_trace_cmp##bytes(type a, type b)        \
    {                                                            \
        compared(CALLER, a, b, bytes);                           \
    }                                                            \
    void __sanitizer_cov_trace_const_cmp##bytes(type a, type b)  \
    {                                                            \
        compared(CALLER, a, b, bytes);                           \
    }

COMPARE(1, u8)
COMPARE(2, u16)
COMPARE(4, u32)
COMPARE(8, u64)

void __sanitizer_cov_trace_switch(u64 value, const u64 *cases);

void __sanitizer_cov_trace_switch(u64 value, const u64 *cases)
{
    for (u64 i = 0; i < cases[0] && i < CASES; i++)
        compared(CALLER + i, value, cases[2 + i], (u8)(cases[1] / 8));
}
