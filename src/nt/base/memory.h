/* SPDX-License-Identifier: MIT */
/*
 * What kind of memory an address is in, asked by whoever is given an object of a driver's. The pool
 * answers; it stands above, so it registers itself.
 */
#ifndef DXGK_NT_MEMORY_H
#define DXGK_NT_MEMORY_H

#include <stdbool.h>

struct list;

enum nt_memory { NT_MEMORY_OTHER, NT_MEMORY_NONPAGED, NT_MEMORY_PAGED, NT_MEMORY_FREED };

/* Who knows the memory that drivers allocate. One per machine, for its whole life. */
struct nt_places {
    enum nt_memory (*kind)(const void *address);
    /* The list of active objects of the block that holds the address; NULL: no block does. */
    struct list *(*actives)(const void *address);
};
void nt_memory_register(const struct nt_places *places);

enum nt_memory nt_memory_of(const void *address);
/* On the stack that runs? */
bool nt_memory_on_stack(const void *address);
/* The active objects (active.h) of what holds the address, a pool block or the current stack;
 * NULL: of nothing that could go away. */
struct list *nt_memory_actives(const void *address);
/* Report an object that is NULL, in paged pool or in freed memory; false: do not touch it. */
bool nt_memory_check(const void *object, const char *what, const char *routine);

#endif
