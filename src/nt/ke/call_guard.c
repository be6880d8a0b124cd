/* SPDX-License-Identifier: MIT */
/* Reports of what a driver did not leave as it was. */
#include "nt/ke/call_guard.h"

#include "sim/fault.h"
#include "sim/point.h"
#include "sim/stop.h"
#include "verify/verify.h"

#define DRIVER_OVERRAN_STACK_BUFFER 0xF7u

bool nt_call_guard_is_broken(const struct nt_call_guard *guard)
{
    uint64_t word;

    return !sim_copy_checked(&word, &guard->word, sizeof(word)) || word != nt_call_guard_word(guard);
}

static _Noreturn void stack_overwritten(const struct nt_call_guard *guard, const char *routine)
{
    const struct sim_fault here = {.kind = SIM_FAULT_WRITE,
                                   .pc = (uintptr_t)__builtin_return_address(0),
                                   .address = (uintptr_t)guard,
                                   .sp = (uintptr_t)__builtin_frame_address(0)};
    uint64_t expected = nt_call_guard_word(guard);

    sim_fault_report(&here);
    verify_fatal("THREAD-075", DRIVER_OVERRAN_STACK_BUFFER, guard->word, expected, ~expected, 0,
                 "%s overwrote the stack of its caller, and returned", routine);
    sim_stop();
    for (;;)
        sim_spin();
}

void nt_call_disturbed(const struct nt_call_guard *guard, bool intact, const char *routine)
{
    uint64_t flags = __builtin_ia32_readeflags_u64();
    uint32_t mxcsr;
    uint16_t x87;

    __builtin_ia32_writeeflags_u64(flags & ~(uint64_t)NT_FLAGS_CLEAR);
    if (sim_current->misaligned)
        flags |= NT_FLAG_ALIGNMENT;
    sim_current->misaligned = false;
    if (!intact || guard->word != nt_call_guard_word(guard))
        stack_overwritten(guard, routine);
    if (flags & NT_FLAGS_CLEAR)
        VIOLATION("THREAD-076", "%s returned with%s%s%s%s set in the flags", routine,
                  flags & NT_FLAG_DIRECTION ? " DF (direction)" : "",
                  flags & NT_FLAG_ALIGNMENT ? " AC (alignment check)" : "",
                  flags & NT_FLAG_NESTED ? " NT (nested task)" : "",
                  flags & NT_FLAG_TRAP ? " TF (trap)" : "");
    if (!guard->control)
        return;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(guard->mxcsr), "m"(guard->x87));
    if ((mxcsr ^ guard->mxcsr) & NT_MXCSR_CONTROL)
        VIOLATION("THREAD-077", "%s returned with MXCSR %#x, was %#x", routine, mxcsr, guard->mxcsr);
    if (x87 != guard->x87)
        VIOLATION("THREAD-077", "%s returned with the x87 control word %#x, was %#x", routine, x87,
                  guard->x87);
}

void nt_call_direction(const char *routine)
{
    __asm__ volatile("cld");
    VIOLATION("THREAD-076", "%s was called with DF (direction) set in the flags", routine);
}
