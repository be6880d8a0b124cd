/* SPDX-License-Identifier: MIT */
/* The processor's registers as a CONTEXT: capturing and restoring them, and getting them from a
 * fault. */
#ifndef DXGK_X64_CONTEXT_H
#define DXGK_X64_CONTEXT_H

#include <stdint.h>

#include <ntddk.h>

#include "sim/fault.h"

#define X64_CONTEXT_CONTROL        0x100001u
#define X64_CONTEXT_INTEGER        0x100002u
#define X64_CONTEXT_FLOATING_POINT 0x100008u
#define X64_CONTEXT_ALL            0x10000Fu

struct x64_crossing;

/* context.S */
void x64_capture(CONTEXT *context);
void NTAPI x64_capture_ms(CONTEXT *context);
/* `crossing` is NULL for calls from inside a language handler. */
uint64_t x64_call(const struct x64_crossing *crossing, const void *function, uint64_t a, uint64_t b,
                  uint64_t c, uint64_t d);
extern const char x64_call_return[] __attribute__((visibility("hidden")));

/* Registers at a fault. */
void x64_context_of_fault(const struct sim_fault *fault, CONTEXT *context);
/* Continue with the registers of the context; those that its flags leave out are unchanged. Flag
 * bits that no driver may set are cleared. The frames in between are discarded. */
_Noreturn void x64_context_resume(const CONTEXT *context);

#endif
