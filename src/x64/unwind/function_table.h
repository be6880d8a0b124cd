/* SPDX-License-Identifier: MIT */
/*
 * Function tables of x64 images, by address: which image a program counter lies in, where that
 * image begins, and the entry of its exception directory that covers the program counter. The
 * loader adds a table for each PE image that it maps; the unwinder and the emulation of
 * instructions look up.
 *
 * A lookup allocates nothing and takes no lock, so that it may be made in any state of the machine,
 * in a signal handler too: a machine belongs to one host thread, and tables change only between
 * runs.
 */
#ifndef DXGK_X64_FUNCTION_TABLE_H
#define DXGK_X64_FUNCTION_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "util/list.h"

/* An entry of the exception directory (.pdata), as it stands in the file. All three are offsets
 * from the base of the image; `unwind` leads to the unwind information (.xdata) or, if its lowest
 * bit is set, to another entry of the table. */
struct x64_function {
    uint32_t begin, end, unwind;
};

/* The image's owner keeps this, and what it points to, until it is removed. */
struct x64_function_table {
    struct list link;
    const char *name;     /* file name of the image, for reports */
    uintptr_t base;       /* where the image begins */
    uint32_t image_bytes; /* from base on; the image may have holes that cannot be read */
    /* In order of `begin`, none overlapping, each with begin < end <= image_bytes and `unwind`
     * inside the image with room for four bytes: whoever adds the table has checked that. What the
     * unwind information says is not checked. A copy that the driver cannot write to. */
    const struct x64_function *function;
    uint32_t count; /* 0: every function is a leaf, or the image has no directory */
    /* Address space behind the image that is reserved for code made up for it, in reach of its
     * 32-bit displacements; not accessible until somebody makes it so. */
    uintptr_t spare;
    uint32_t spare_bytes;
};

/* To the current machine. False: out of memory, nothing changed. */
bool x64_function_table_add(struct x64_function_table *table);
/* Harmless for one that was never added but initialised by list_init. */
void x64_function_table_remove(struct x64_function_table *table);

/* The table of the image that contains the address; NULL: in no image of the current machine, or
 * there is no machine. */
const struct x64_function_table *x64_function_table_find(uintptr_t pc);
/* The entry of a table that covers the address; NULL: none, so a leaf function, which changes no
 * register and no stack. */
const struct x64_function *x64_function_find(const struct x64_function_table *table, uintptr_t pc);

#endif
