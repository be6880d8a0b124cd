/* SPDX-License-Identifier: MIT */
/* The stack as text. Unlike the search for handlers, this continues through the host's frames to
 * the first call of the thread. */
#include "x64/unwind/stack_text.h"

#include <stdio.h>
#include <string.h>

#include "sim/fault.h"
#include "sim/stack.h"
#include "x64/unwind/context.h"
#include "x64/unwind/host_frame.h"
#include "x64/unwind/walk.h"

#define LINES       24u
#define FRAME_LIMIT 4096u

struct words {
    x64_frame_name *name;
    char *text;
    size_t bytes, used;
    unsigned lines;
};

/* False: there is no room for more. */
static bool add(struct words *w, uintptr_t pc, bool returns)
{
    char line[384];
    int length;

    if (!w->name(pc, returns, line, sizeof(line)))
        return true;
    if (w->lines == LINES)
        snprintf(line, sizeof(line), "...");
    length = snprintf(w->text + w->used, w->bytes - w->used, "%s%s", w->lines ? "\n" : "", line);
    if (length < 0 || (size_t)length >= w->bytes - w->used) {
        w->text[w->used] = '\0';
        return false;
    }
    w->used += (size_t)length;
    return w->lines++ < LINES;
}

/* Go to the caller's frame. False: there is none, or it cannot be found. */
static bool next(const struct x64_stack *stack, CONTEXT *context, bool *interrupted)
{
    struct x64_walk walk = {.steps = 0};
    uintptr_t pc = (uintptr_t)context->Rip;

    if (!x64_function_table_find(pc) && pc != (uintptr_t)x64_call_return) {
        bool before = *interrupted;

        *interrupted = false;
        return x64_host_unwind(stack, before, context);
    }
    x64_walk_begin(&walk, context, *interrupted);
    switch (x64_walk_look(&walk, 0)) {
    case X64_FRAME:
        *interrupted = walk.frame.machine_frame;
        *context = walk.caller;
        return true;
    case X64_CROSSING: /* skip the call of the handler: continue at what it handles */
        *interrupted = walk.crossing->interrupted;
        *context = *walk.crossing->origin;
        return true;
    default:
        return false;
    }
}

/* After a wild call or jump: continue in the caller. */
static void leave_nowhere(const struct x64_stack *stack, CONTEXT *context, bool *interrupted)
{
    ULONG64 pc;

    if (!x64_stack_read(stack, context->Rsp, &pc, sizeof(pc)))
        return;
    context->Rip = pc;
    context->Rsp += 8;
    *interrupted = false;
}

/* Where a walk begins: at the fault, or here. True: that instruction was interrupted. */
static bool begin(const struct sim_fault *fault, CONTEXT *context)
{
    if (fault && fault->registers) {
        x64_context_of_fault(fault, context);
        return true;
    }
    x64_capture(context);
    return false;
}

bool x64_describe_stack_of(const struct sim_fault *fault, uintptr_t low, uintptr_t high,
                           x64_frame_name *name, char *text, size_t bytes)
{
    struct words words = {.name = name, .text = text, .bytes = bytes};
    struct x64_stack stack = {.low = low, .high = high};
    bool interrupted;
    CONTEXT context;

    if (!name || bytes == 0)
        return false;
    text[0] = '\0';
    interrupted = begin(fault, &context);
    if (interrupted && fault->kind == SIM_FAULT_EXECUTE)
        leave_nowhere(&stack, &context, &interrupted);
    for (unsigned i = 0; i < FRAME_LIMIT; i++)
        if (!add(&words, (uintptr_t)context.Rip, !interrupted) ||
            !next(&stack, &context, &interrupted))
            break;
    return words.lines > 0;
}

size_t x64_driver_frames(bool (*is)(uintptr_t pc), uintptr_t *pc, size_t most)
{
    struct x64_stack stack;
    bool interrupted = false;
    CONTEXT context;
    size_t count = 0;

    sim_stack_bounds(&stack.low, &stack.high);
    x64_capture(&context);
    for (unsigned i = 0; i < FRAME_LIMIT && count < most; i++) {
        if (is((uintptr_t)context.Rip))
            pc[count++] = (uintptr_t)context.Rip;
        if (!next(&stack, &context, &interrupted))
            break;
    }
    return count;
}

/* Of the stack that the fault happened on, whichever is current. */
static void find_bounds(const struct sim_fault *fault, uintptr_t *low, uintptr_t *high)
{
    sim_stack_bounds(low, high);
    if (!fault || !fault->registers || !fault->stack_high)
        return;
    *low = fault->stack_low;
    *high = fault->stack_high;
}

bool x64_find_host_call(const struct sim_fault *fault,
                        bool (*name)(uintptr_t pc, char *text, size_t bytes),
                        struct x64_host_call *call)
{
    struct x64_stack stack;
    CONTEXT context;
    bool interrupted = begin(fault, &context);
    char ignored[160];

    find_bounds(fault, &stack.low, &stack.high);
    call->routine = 0;
    for (unsigned i = 0; name && i < FRAME_LIMIT; i++) {
        uintptr_t pc = (uintptr_t)context.Rip;

        if (name(pc, ignored, sizeof(ignored))) {
            call->caller = pc;
            return true;
        }
        call->routine = x64_host_function(pc - !interrupted);
        if (!next(&stack, &context, &interrupted))
            return false;
    }
    return false;
}

bool x64_describe_stack(const struct sim_fault *fault, x64_frame_name *name, char *text,
                        size_t bytes)
{
    uintptr_t low, high;

    find_bounds(fault, &low, &high);
    return x64_describe_stack_of(fault, low, high, name, text, bytes);
}
