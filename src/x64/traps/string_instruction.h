/* SPDX-License-Identifier: MIT */
/* String instructions. Each function executes what the plan says; false: it is a fault, and
 * x64_refuse was called. */
#ifndef DXGK_X64_STRING_INSTRUCTION_H
#define DXGK_X64_STRING_INSTRUCTION_H

#include <stdbool.h>

#include "x64/traps/plan.h"

bool x64_string(const struct x64_plan *plan, struct x64_interrupted *frame);
bool x64_port_string(const struct x64_plan *plan, struct x64_interrupted *frame);

#endif
