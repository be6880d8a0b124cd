/* SPDX-License-Identifier: MIT */
/* Compiler support routines, by name. */
#include "x64/runtime.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/array.h"

/* chkstk.S */
extern const char x64_chkstk[];

void *x64_runtime_find(const char *name)
{
    static const struct {
        const char *name;
        const void *address;
    } routines[] = {
        {"__chkstk", x64_chkstk},
    };

    for (size_t i = 0; i < ARRAY_COUNT(routines); i++)
        if (strcmp(routines[i].name, name) == 0)
            return (void *)(uintptr_t)routines[i].address;
    return NULL;
}
