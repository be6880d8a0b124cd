/* SPDX-License-Identifier: MIT */
/* The stack of a driver in words, for reports. */
#ifndef DXGK_X64_STACK_TEXT_H
#define DXGK_X64_STACK_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_fault;

/* The frames of drivers on the current stack, innermost first, one a line, named by `name` (false:
 * not in a driver; such frames are left out). From the fault, or NULL: from the caller. PE and ELF
 * frames may mix. False: there is none. */
bool x64_describe_stack(const struct sim_fault *fault,
                        bool (*name)(uintptr_t pc, char *text, size_t bytes), char *text,
                        size_t bytes);

#endif
