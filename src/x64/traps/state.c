/* SPDX-License-Identifier: MIT */
/* The state of emulation of one machine, and how this host's processor saves vector registers. */
#include "x64/traps/state.h"

#include <cpuid.h>

#include "sim/slot.h"

#define LEGACY_BYTES  576u  /* of an XSAVE area: the legacy part and the header */
#define STATE_WANTED  0xE7u /* x87, SSE, AVX, AVX-512; not those that no driver can use */
#define CPUID_OSXSAVE (1u << 27)
#define CPUID_XSAVE   0xDu
#define CPUID_XSAVEC  2u
#define STATE_AVX     2u
#define STATE_LAST    7u

/* Find the components of the vector state, and the bytes that XSAVE needs for them. In a virtual
 * machine CPUID is slow, so it is used only when a trap happens. */
void x64_measure_vectors(struct x64_machine *x64)
{
    uint32_t a, b, c, d, low, high;

    x64->vector_mask = 0;
    x64->vector_bytes = LEGACY_BYTES;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & CPUID_OSXSAVE))
        return;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    (void)high;
    x64->vector_mask = low & STATE_WANTED;
    x64->vector_save = X64_XSAVE;
    if (__get_cpuid_count(CPUID_XSAVE, 1, &a, &b, &c, &d) && a & CPUID_XSAVEC)
        x64->vector_save = X64_XSAVEC;
    for (uint32_t i = STATE_AVX; i <= STATE_LAST; i++) {
        if (!(x64->vector_mask >> i & 1) || !__get_cpuid_count(CPUID_XSAVE, i, &a, &b, &c, &d))
            continue;
        if (a + b > x64->vector_bytes) /* size and offset */
            x64->vector_bytes = a + b;
    }
}

struct sim_slot x64_slot;
SIM_SLOT_CLAIM(x64_slot)
