/* SPDX-License-Identifier: MIT */
/* What kind of memory contains an address. */
#include "nt/base/memory.h"
#include "nt/base/current.h"
#include "nt/base/nt_report.h"
#include "nt/base/state.h"
#include "sim/stack.h"
#include "util/assert.h"
#include "verify/verify.h"

void nt_memory_register(const struct nt_places *places)
{
    util_assert(!nt_state()->places);
    nt_state()->places = places;
}

enum nt_memory nt_memory_of(const void *address)
{
    const struct nt_places *places = nt_state()->places;

    return places ? places->kind(address) : NT_MEMORY_OTHER;
}

bool nt_memory_on_stack(const void *address)
{
    uintptr_t low, high;

    sim_stack_bounds(&low, &high);
    return (uintptr_t)address >= low && (uintptr_t)address < high;
}

struct list *nt_memory_actives(const void *address)
{
    const struct nt_places *places = nt_state()->places;
    struct list *actives = places ? places->actives(address) : NULL;

    if (actives || !nt_memory_on_stack(address))
        return actives;
    return &nt_thread()->actives;
}

bool nt_memory_check(const void *object, const char *what, const char *routine)
{
    if (!object) {
        VIOLATION("NT-005", "%s of a NULL %s", routine, what);
        return false;
    }
    switch (nt_memory_of(object)) {
    case NT_MEMORY_FREED:
        VIOLATION("NT-005", "%s of a %s in freed pool", routine, what);
        return false;
    case NT_MEMORY_PAGED:
        NT_VERIFIER("NT-004", 0xE1, (uintptr_t)object, 0, 0, "%s of a %s in paged pool", routine,
                    what);
        return true;
    default:
        return true;
    }
}
