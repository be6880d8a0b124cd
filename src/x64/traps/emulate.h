/* SPDX-License-Identifier: MIT */
/* Instructions with one memory operand that is not plain memory. Each function executes what the
 * plan says; false: it is a fault, and x64_refuse was called. */
#ifndef DXGK_X64_EMULATE_H
#define DXGK_X64_EMULATE_H

#include <stdbool.h>

#include "x64/traps/plan.h"

bool x64_memory_instruction(const struct x64_plan *plan, struct x64_interrupted *frame);
/* The same where the operand is memory, too. */
bool x64_memory_anywhere(const struct x64_plan *plan, struct x64_interrupted *frame);
bool x64_push(const struct x64_plan *plan, struct x64_interrupted *frame);
bool x64_pop(const struct x64_plan *plan, struct x64_interrupted *frame);

#endif
