/* SPDX-License-Identifier: MIT */
/*
 * Function tables of x64 images, by address: which image contains a program counter, where that
 * image begins, and the entry of its exception directory for the program counter. The loader adds a
 * table for each PE image that it maps; the unwinder and the emulation of instructions look
 * addresses up.
 *
 * A lookup allocates nothing and takes no lock, so it works in any state of the machine, and in a
 * signal handler: a machine belongs to one host thread, and tables change only between runs.
 */
#ifndef DXGK_X64_FUNCTION_TABLE_H
#define DXGK_X64_FUNCTION_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/list.h"

/* An entry of the exception directory (.pdata), as in the file. All three are offsets from the base
 * of the image; `unwind` is that of the unwind information (.xdata) or, if its lowest bit is set,
 * of another entry of the table. */
struct x64_function {
    uint32_t begin, end, unwind;
};

/* The owner of the image must keep this, and what it points to, until it is removed. */
struct x64_function_table {
    struct list link;
    const char *name;     /* file name of the image, for reports */
    uintptr_t base;       /* where the image begins */
    uint32_t image_bytes; /* from base on; parts of the image may be unreadable */
    /* Ordered by `begin`, without overlap, each with begin < end <= image_bytes and `unwind` inside
     * the image with room for four bytes: whoever adds the table must have checked that. The unwind
     * information itself is not checked. This is a copy that the driver cannot write to. */
    const struct x64_function *function;
    uint32_t count; /* 0: every function is a leaf, or the image has no directory */
    /* Address space reserved after the image for generated code, within reach of 32-bit
     * displacements; not accessible until its protection is changed. */
    uintptr_t spare;
    uint32_t spare_bytes;
};

/* Adds it to the current machine. False: out of memory, nothing changed. */
bool x64_function_table_add(struct x64_function_table *table);
/* Also allowed for a table that was never added but initialized by list_init. */
void x64_function_table_remove(struct x64_function_table *table);

/* The table of the image that contains the address; NULL: the address is in no image of the current
 * machine, or there is no machine. */
const struct x64_function_table *x64_function_table_find(uintptr_t pc);
/* The entry of a table for the address; NULL: none, so it is in a leaf function, which changes
 * neither nonvolatile registers nor the stack pointer. */
const struct x64_function *x64_function_find(const struct x64_function_table *table, uintptr_t pc);

#endif
