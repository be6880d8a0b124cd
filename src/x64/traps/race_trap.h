/* SPDX-License-Identifier: MIT */
/* Accesses of a Windows image to memory that the detector of races watches (nt/mm/race_guard.h). */
#ifndef DXGK_X64_RACE_TRAP_H
#define DXGK_X64_RACE_TRAP_H

struct x64_interrupted;
struct x64_plan;

/* Let others run, and record the access. `plan` NULL: what it is cannot be told; it is not valid
 * any more when this returns. */
void x64_race_note(const struct x64_plan *plan, const struct x64_interrupted *frame);
/* The same; the instruction passes when it faults again. */
void x64_race_trap(const struct x64_plan *plan, const struct x64_interrupted *frame);

#endif
