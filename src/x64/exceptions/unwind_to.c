/* SPDX-License-Identifier: MIT */
/* Unwinding to a frame: calls the termination handlers in between, then gives control to the
 * handler. */
#include <stddef.h>

#include "x64/exceptions/exception.h"
#include "x64/unwind/context.h"
#include "x64/unwind/unwind_state.h"

struct unwind {
    struct x64_walk walk;
    EXCEPTION_RECORD *record;
    uint64_t target, ip, value;
    ULONG scope; /* first scope to search in the current frame */
    bool collided;
};

_Static_assert(sizeof(struct x64_dispatcher_context) == 80, "as drivers know it");

bool x64_on_unwind(void (*fn)(uintptr_t sp))
{
    struct x64_unwind_state *state = x64_unwind_state_need();

    if (!state)
        return false;
    state->on_unwind = fn;
    x64_unwind_state_tidy();
    return true;
}

static _Noreturn void no_such_frame(struct unwind *u, NTSTATUS status)
{
    EXCEPTION_RECORD record = {.ExceptionCode = status,
                               .ExceptionFlags = X64_NONCONTINUABLE,
                               .ExceptionAddress = u->record->ExceptionAddress,
                               .ExceptionRecord = u->record};

    x64_unhandled(&record);
}

static void tell(struct unwind *u)
{
    struct x64_walk *walk = &u->walk;
    struct x64_dispatcher_context dispatcher = {
        .ControlPc = walk->context.Rip,
        .ImageBase = walk->table->base,
        .FunctionEntry = walk->entry,
        .EstablisherFrame = walk->frame.establisher,
        .TargetIp = u->ip,
        .ContextRecord = &walk->context,
        .LanguageHandler = walk->frame.handler,
        .HandlerData = walk->frame.handler_data,
        .ScopeIndex = u->scope,
    };
    CONTEXT in_frame = walk->context; /* a copy that the driver may change */
    const struct x64_crossing crossing = {.origin = &in_frame,
                                          .unwinding = true,
                                          .establisher = walk->frame.establisher,
                                          .scope_index = &dispatcher.ScopeIndex};
    ULONG outer = u->record->ExceptionFlags;
    EXCEPTION_DISPOSITION answer;

    u->record->ExceptionFlags |= X64_UNWINDING | (u->target ? 0u : X64_EXIT_UNWIND);
    if (walk->frame.establisher == u->target)
        u->record->ExceptionFlags |= X64_TARGET_UNWIND;
    if (u->collided)
        u->record->ExceptionFlags |= X64_COLLIDED_UNWIND;
    walk->context.Rax = u->value;
    answer = (EXCEPTION_DISPOSITION)(int)x64_call(
        &crossing, (const void *)(uintptr_t)walk->frame.handler, (uintptr_t)u->record,
        walk->frame.establisher, (uintptr_t)&walk->context, (uintptr_t)&dispatcher);
    u->record->ExceptionFlags = outer;
    u->ip = dispatcher.TargetIp;
    if (answer != ExceptionContinueSearch && answer != ExceptionCollidedUnwind)
        no_such_frame(u, STATUS_INVALID_DISPOSITION);
}

static _Noreturn void arrive(struct unwind *u)
{
    CONTEXT *context = &u->walk.context;
    const struct x64_unwind_state *state = x64_unwind_state_need();

    context->Rip = u->ip;
    context->Rax = u->value;
    context->ContextFlags = X64_CONTEXT_ALL;
    if (state && state->on_unwind)
        state->on_unwind((uintptr_t)context->Rsp);
    x64_context_resume(context);
}

static void cross(struct unwind *u)
{
    const struct x64_crossing *crossing = u->walk.crossing;

    if (crossing->unwinding) {
        u->scope = *crossing->scope_index;
        u->collided = true;
    }
    x64_walk_begin(&u->walk, crossing->origin, crossing->interrupted);
}

_Noreturn void x64_unwind_to(uint64_t target, uint64_t ip, EXCEPTION_RECORD *record, uint64_t value,
                             const CONTEXT *from)
{
    struct unwind u = {.record = record, .target = target, .ip = ip, .value = value};

    x64_walk_begin(&u.walk, from, false);
    for (;;) {
        enum x64_step step = x64_walk_look(&u.walk, X64_UNWIND_TERMINATION_HANDLER);

        if (step == X64_CROSSING) {
            cross(&u);
            continue;
        }
        if (step == X64_BROKEN)
            no_such_frame(&u, STATUS_BAD_STACK);
        if (step == X64_BOUNDARY || (target && u.walk.frame.establisher > target))
            no_such_frame(&u, STATUS_INVALID_UNWIND_TARGET);
        if (u.walk.frame.handler)
            tell(&u);
        if (u.walk.frame.establisher == target)
            arrive(&u);
        u.scope = 0;
        u.collided = false;
        x64_walk_next(&u.walk);
    }
}
