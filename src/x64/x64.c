/* SPDX-License-Identifier: MIT */
/* The state of the room, and what the processor of this host has to save. */
#include "x64/x64.h"

#include <cpuid.h>

#include "sim/fault.h"
#include "sim/slot.h"
#include "util/alloc.h"
#include "x64/traps_private.h"

#define LEGACY_BYTES  576u  /* of an XSAVE area: the legacy part and the header */
#define STATE_WANTED  0xE7u /* x87, SSE, AVX, AVX-512; not what no driver can use */
#define CPUID_OSXSAVE (1u << 27)
#define CPUID_XSAVE   0xDu
#define CPUID_XSAVEC  2u
#define STATE_AVX     2u
#define STATE_LAST    7u

/* Components of the vector state, and the bytes that XSAVE wants for them. In a virtual machine, CPUID is slow enough to ask
 * only when there is a trap. */
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

bool x64_is_created(void)
{
    return sim_slot_get(&x64_slot) != NULL;
}

bool x64_create(void)
{
    struct x64_machine *x64 = util_zalloc(1, sizeof(*x64));

    if (!x64)
        return false;
    x64->stubs.file = -1;
    sim_slot_set(&x64_slot, x64);
    x64->plan = util_zalloc(X64_PLANS, sizeof(*x64->plan));
    if (x64->plan && x64_stubs_init(&x64->stubs) && x64_shared_data_init(x64) &&
        x64_blocks_init(x64)) {
        x64_trap_install(x64);
        return true;
    }
    x64_destroy();
    return false;
}

void x64_destroy(void)
{
    struct x64_machine *x64 = x64_state();

    if (!x64)
        return;
    sim_on_trap(NULL);
    x64_blocks_finish(x64);
    x64_shared_data_finish(x64);
    x64_stubs_finish(&x64->stubs);
    util_free(x64->plan);
    util_free(x64);
    sim_slot_set(&x64_slot, NULL);
}

uint64_t x64_traps(void)
{
    return x64_state()->traps;
}
