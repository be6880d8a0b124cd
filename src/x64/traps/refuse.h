/* SPDX-License-Identifier: MIT */
/* A trap that turns out to be a fault of the driver, and the words for its place. */
#ifndef DXGK_X64_REFUSE_H
#define DXGK_X64_REFUSE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/fault.h"
#include "x64/traps/interrupted.h"
#include "x64/traps/plan.h"

/* The instruction of the frame is a fault. It happens again when the frame is left, and is taken as
 * what is said here. */
void x64_refuse(const struct x64_interrupted *frame, enum sim_fault_kind kind, uintptr_t address);
/* The same, for what none of ours did: the address is worked out where the signal had none. `plan`:
 * NULL, if it cannot be decoded. */
void x64_refuse_foreign(const struct x64_plan *plan, const struct x64_interrupted *frame);
/* "mov at refgpu.so!start+0x42", for reports. */
void x64_place(const struct x64_plan *plan, const struct x64_interrupted *frame, char *text,
               size_t bytes);

#endif
