/* SPDX-License-Identifier: MIT */
/* What becomes of an access at which a machine under stress preempts (preempt.h). */
#ifndef DXGK_X64_PREEMPT_TRAP_H
#define DXGK_X64_PREEMPT_TRAP_H

struct x64_interrupted;

/* In the landing: let others run, and carry it out. */
void x64_preempt_trap(struct x64_interrupted *frame);

#endif
