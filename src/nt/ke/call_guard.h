/* SPDX-License-Identifier: MIT */
/* What a driver must leave as it was when it is called, whatever the call: the stack of its caller,
 * and the state of the processor. */
#ifndef DXGK_NT_CALL_GUARD_H
#define DXGK_NT_CALL_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/machine.h"

/*
 * What a caller of the driver keeps on its own stack, of what the driver must leave alone: the
 * stack itself (THREAD-075), and the state of the processor that belongs to no call (THREAD-076,
 * THREAD-077). Begun just before the call, and looked at first of all after it: with the direction
 * flag set the host's own copies would go the wrong way.
 */
struct nt_call_guard {
    uint64_t word;
    uint32_t mxcsr;
    uint16_t x87;
    bool control; /* the two before were read */
};

#define NT_FLAG_TRAP      0x100u
#define NT_FLAG_DIRECTION 0x400u
#define NT_FLAG_NESTED    0x4000u
#define NT_FLAG_ALIGNMENT 0x40000u
#define NT_FLAGS_CLEAR    (NT_FLAG_TRAP | NT_FLAG_DIRECTION | NT_FLAG_NESTED | NT_FLAG_ALIGNMENT)
#define NT_MXCSR_CONTROL  0xFFC0u /* the other bits say what has happened */

static inline uint64_t nt_call_guard_word(const struct nt_call_guard *guard)
{
    return 0x6D1E9B4785C3F20Aull ^ (uintptr_t)guard;
}

/* `control`: compare the control words and the other flags, too, which takes longer than all else
 * of a call's checks. */
static inline void nt_call_guard(struct nt_call_guard *guard, bool control)
{
    guard->word = nt_call_guard_word(guard);
    guard->control = control;
    if (control)
        __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(guard->mxcsr), "=m"(guard->x87));
}

static inline bool nt_call_control_changed(const struct nt_call_guard *guard)
{
    uint32_t mxcsr;
    uint16_t x87;

    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
    return guard->x87 != x87 || ((guard->mxcsr ^ mxcsr) & NT_MXCSR_CONTROL) != 0 ||
           (__builtin_ia32_readeflags_u64() & NT_FLAGS_CLEAR) != 0;
}

/* Whether the direction flag is set: which way a string instruction goes, since reading the flags
 * takes several times as long. */
static inline bool nt_call_is_backwards(const void *memory)
{
    const char *at = memory;
    uint8_t byte;

    __asm__ volatile("lodsb" : "+S"(at), "=a"(byte) : "m"(*(const char *)memory));
    return at != (const char *)memory + 1;
}

/* Whether the guard was overwritten; its own memory is not trusted. */
bool nt_call_guard_is_broken(const struct nt_call_guard *guard);
/* Report what is not as it was, and restore it; an overwritten stack stops the machine. `intact`:
 * whatever else the caller keeps there is. */
void nt_call_disturbed(const struct nt_call_guard *guard, bool intact, const char *routine);

static inline bool nt_call_is_disturbed(const struct nt_call_guard *guard)
{
    return nt_call_is_backwards(guard) || guard->word != nt_call_guard_word(guard) ||
           sim_current->misaligned || (guard->control && nt_call_control_changed(guard));
}

static inline void nt_call_returned(const struct nt_call_guard *guard, bool intact,
                                    const char *routine)
{
    if (__builtin_expect(!intact || nt_call_is_disturbed(guard), 0))
        nt_call_disturbed(guard, intact, routine);
}

/* The same for the direction flag alone, at the entry of a routine that a driver calls. */
void nt_call_direction(const char *routine);

static inline void nt_call_entered(const char *routine)
{
    if (__builtin_expect(nt_call_is_backwards(routine), 0))
        nt_call_direction(routine);
}

#endif
