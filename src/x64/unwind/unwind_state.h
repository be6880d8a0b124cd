/* SPDX-License-Identifier: MIT */
/* The state of unwinding for a machine: the function tables of its images, and who is called on an
 * unwinding. It is freed with the machine's heap, or when nothing is left in it. */
#ifndef DXGK_X64_UNWIND_STATE_H
#define DXGK_X64_UNWIND_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/list.h"

struct x64_unwind_state {
    struct list tables;              /* struct x64_function_table */
    void (*on_unwind)(uintptr_t sp); /* set by x64_on_unwind */
};

/* State of the current machine; NULL: none was created yet, or there is no machine. */
struct x64_unwind_state *x64_unwind_state(void);
/* The same, created if necessary; NULL: out of memory. */
struct x64_unwind_state *x64_unwind_state_need(void);
/* Free it if nothing is left in it. */
void x64_unwind_state_tidy(void);

#endif
