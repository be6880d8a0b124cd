/* SPDX-License-Identifier: MIT */
/*
 * What kind of memory contains an address; used by services that get an object from a driver. The
 * pool, a higher component, registers itself to answer.
 */
#ifndef DXGK_NT_MEMORY_H
#define DXGK_NT_MEMORY_H

#include <stdbool.h>

struct list;

enum nt_memory { NT_MEMORY_OTHER, NT_MEMORY_NONPAGED, NT_MEMORY_PAGED, NT_MEMORY_FREED };

/* Callbacks into the owner of the memory that drivers allocate. One per machine, for its whole
 * life. */
struct nt_places {
    enum nt_memory (*kind)(const void *address);
    /* The list of active objects of the pool block that contains the address; NULL: none does. */
    struct list *(*actives)(const void *address);
};
void nt_memory_register(const struct nt_places *places);

enum nt_memory nt_memory_of(const void *address);
/* Whether the address is on the current stack. */
bool nt_memory_on_stack(const void *address);
/* The list of active objects (active.h) of the pool block or the current stack that contains the
 * address; NULL: the memory cannot go away. */
struct list *nt_memory_actives(const void *address);
/* Report an object that is NULL, in paged pool or in freed memory; false: do not access it. */
bool nt_memory_check(const void *object, const char *what, const char *routine);

#endif
