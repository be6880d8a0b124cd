/* SPDX-License-Identifier: MIT */
/* The spare stacks. */
#include "sim/spare.h"

#include <sys/mman.h>

#include "sim/core.h"
#include "util/map.h"

#define GUARD_BYTES 4096u
#define LAST_BYTES  (64u * 1024u)
#define SPARE_BYTES (256u * 1024u)
#define ALL_BYTES   (2 * GUARD_BYTES + LAST_BYTES + SPARE_BYTES)

bool sim_spare_setup(struct sim_core *core)
{
    char *stack = util_map(NULL, ALL_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (stack == MAP_FAILED)
        return false;
    if (util_protect(stack, GUARD_BYTES, PROT_NONE) != 0 ||
        util_protect(stack + GUARD_BYTES + LAST_BYTES, GUARD_BYTES, PROT_NONE) != 0) {
        util_unmap(stack, ALL_BYTES);
        return false;
    }
    core->report.spare = stack;
    return true;
}

void sim_spare_teardown(struct sim_core *core)
{
    if (core->report.spare)
        util_unmap(core->report.spare, ALL_BYTES);
    core->report.spare = NULL;
}

struct sim_span sim_spare(const struct sim_core *core)
{
    uintptr_t high = (uintptr_t)core->report.spare + ALL_BYTES;

    return (struct sim_span){high - SPARE_BYTES, high};
}

struct sim_span sim_spare_last(const struct sim_core *core)
{
    uintptr_t low = (uintptr_t)core->report.spare + GUARD_BYTES;

    return (struct sim_span){low, low + LAST_BYTES};
}

struct sim_span sim_span_of(struct sim_core *core, uintptr_t sp)
{
    const struct fiber *fiber = core->public.thread ? &core->public.thread->fiber
                                                    : &current_processor(core)->idle;
    uintptr_t low = (uintptr_t)fiber->stack;

    if (sp - (uintptr_t)core->report.spare < ALL_BYTES)
        return sp < sim_spare(core).low ? sim_spare_last(core) : sim_spare(core);
    return (struct sim_span){low, low + fiber->stack_bytes};
}
