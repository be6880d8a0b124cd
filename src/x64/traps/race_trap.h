/* SPDX-License-Identifier: MIT */
/* Accesses of a Windows image to memory that the detector of races watches (nt/mm/race_guard.h). */
#ifndef DXGK_X64_RACE_TRAP_H
#define DXGK_X64_RACE_TRAP_H

struct x64_interrupted;
struct x64_plan;

/* Record the access that has trapped, and let others run; the instruction passes when it faults
 * again. `plan` NULL: what it is cannot be told. */
void x64_race_trap(const struct x64_plan *plan, const struct x64_interrupted *frame);

#endif
