/* SPDX-License-Identifier: MIT */
/* Walking frame by frame. */
#include "x64/unwind/walk.h"

#include <string.h>

#include "sim/stack.h"
#include "x64/unwind/context.h"
#include "x64/unwind/host_frame.h"

#define STEP_LIMIT      65536u /* more frames than fit the largest stack */
#define CROSSING_OFFSET 40u    /* as in context.S */

void x64_walk_begin(struct x64_walk *walk, const CONTEXT *context, bool interrupted)
{
    walk->context = *context;
    walk->in_host = true;
    walk->interrupted = interrupted;
    walk->host_pc = 0;
    sim_stack_bounds(&walk->stack.low, &walk->stack.high);
}

static enum x64_step look_at_driver(struct x64_walk *walk, unsigned wanted)
{
    uintptr_t pc = (uintptr_t)walk->context.Rip;

    walk->in_host = false;
    walk->entry = x64_function_find(walk->table, pc);
    walk->caller = walk->context;
    return x64_unwind(walk->table, walk->entry, pc, wanted, &walk->stack, &walk->caller, NULL,
                      &walk->frame) == X64_UNWOUND
               ? X64_FRAME
               : X64_BROKEN;
}

/* X64_FRAME: not a crossing, but a call from inside a host handler; frames of that handler come
 * next. */
static enum x64_step look_at_call(struct x64_walk *walk)
{
    struct x64_crossing copy;
    uint64_t at;

    if (!x64_stack_read(&walk->stack, walk->context.Rsp + CROSSING_OFFSET, &at, sizeof(at)))
        return X64_BROKEN;
    walk->in_host = true;
    if (at == 0)
        return X64_FRAME;
    if (!x64_stack_read(&walk->stack, at, &copy, sizeof(copy)))
        return X64_BROKEN;
    walk->crossing = (const struct x64_crossing *)(uintptr_t)at;
    return X64_CROSSING;
}

enum x64_step x64_walk_look(struct x64_walk *walk, unsigned wanted)
{
    for (; walk->steps < STEP_LIMIT; walk->steps++) {
        uintptr_t pc = (uintptr_t)walk->context.Rip;

        if (pc == (uintptr_t)x64_call_return) {
            enum x64_step step = look_at_call(walk);

            if (step != X64_FRAME)
                return step;
        }
        walk->table = x64_function_table_find(pc);
        if (walk->table)
            return look_at_driver(walk, wanted);
        if (!walk->in_host)
            return X64_BOUNDARY;
        if (!x64_host_unwind(&walk->stack, walk->interrupted, &walk->context))
            return X64_BOUNDARY;
        walk->host_pc = pc;
        walk->interrupted = false;
    }
    return X64_BROKEN;
}

void x64_walk_next(struct x64_walk *walk)
{
    walk->interrupted = walk->frame.machine_frame;
    walk->context = walk->caller;
    walk->steps++;
}
