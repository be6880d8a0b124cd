/* SPDX-License-Identifier: MIT */
/* Instructions that only a kernel may execute, and software interrupts. */
#ifndef DXGK_X64_PRIVILEGED_H
#define DXGK_X64_PRIVILEGED_H

#include <stdbool.h>

#include "x64/traps/plan.h"

/* Software interrupts that replace RDTSC and RDTSCP in rewritten code. */
#define X64_INT_STAMP               0x31u
#define X64_INT_STAMP_AND_PROCESSOR 0x32u

/* Executes what the plan says; false: it is a fault, and x64_refuse was called. */
bool x64_privileged(const struct x64_plan *plan, struct x64_interrupted *frame);

#endif
