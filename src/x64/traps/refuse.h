/* SPDX-License-Identifier: MIT */
/* A trap that is a real fault of the driver, and the text for its place. */
#ifndef DXGK_X64_REFUSE_H
#define DXGK_X64_REFUSE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/fault.h"
#include "x64/traps/interrupted.h"
#include "x64/traps/plan.h"

/* The instruction of the frame faults: it is executed again when the frame is left, and the new
 * fault is reported with this kind and address. */
void x64_refuse(const struct x64_interrupted *frame, enum sim_fault_kind kind, uintptr_t address);
/* The same for an instruction that is not emulated: computes the address if the signal had none.
 * `plan`: NULL if it cannot be decoded. */
void x64_refuse_foreign(const struct x64_plan *plan, const struct x64_interrupted *frame);
/* "mov at refgpu.so!start+0x42", for reports. */
void x64_place(const struct x64_plan *plan, const struct x64_interrupted *frame, char *text,
               size_t bytes);

#endif
