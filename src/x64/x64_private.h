/* SPDX-License-Identifier: MIT */
/* What the files of x64 share. */
#ifndef DXGK_X64_PRIVATE_H
#define DXGK_X64_PRIVATE_H

#include <stdint.h>

#include "util/list.h"

/* State of the current machine ; it goes with the machine's heap. */
struct x64 {
    struct list tables;              /* struct x64_function_table */
    void (*on_unwind)(uintptr_t sp); /* x64_on_unwind */
};

/* Made at its first use. NULL: out of memory. */
struct x64 *x64_of_machine(void);
/* Give the state back once there is nothing in it. */
void x64_tidy(void);

#endif
