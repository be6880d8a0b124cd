/* SPDX-License-Identifier: MIT */
/* The search for the handler of an exception. */
#include <string.h>

#include "x64/exceptions/exception.h"
#include "x64/unwind/context.h"

struct search {
    struct x64_walk walk;
    EXCEPTION_RECORD *record;
    CONTEXT *context; /* where the exception happened; handlers may change it and continue */
    bool interrupted;
    uint64_t nested; /* the frame up to which an earlier exception's search has come */
    ULONG scope;     /* first scope to search in the current frame */
};

static void raise_on_top(struct search *s, NTSTATUS status)
{
    static const ULONG kept = X64_STACK_INVALID;
    EXCEPTION_RECORD next = {.ExceptionCode = status,
                             .ExceptionFlags = X64_NONCONTINUABLE,
                             .ExceptionAddress = s->record->ExceptionAddress};
    EXCEPTION_RECORD first = *s->record;

    next.ExceptionRecord = &first;
    x64_dispatch(&next, s->context, s->interrupted);
    *s->record = next;
    s->record->ExceptionRecord = NULL; /* `first` is on the stack frame that ends here */
    s->record->ExceptionFlags |= first.ExceptionFlags & kept;
}

static EXCEPTION_DISPOSITION ask(struct search *s)
{
    struct x64_walk *walk = &s->walk;
    struct x64_dispatcher_context dispatcher = {
        .ControlPc = walk->context.Rip,
        .ImageBase = walk->table->base,
        .FunctionEntry = walk->entry,
        .EstablisherFrame = walk->frame.establisher,
        .ContextRecord = &walk->caller,
        .LanguageHandler = walk->frame.handler,
        .HandlerData = walk->frame.handler_data,
        .ScopeIndex = s->scope,
    };
    const struct x64_crossing crossing = {.origin = s->context,
                                          .interrupted = s->interrupted,
                                          .establisher = walk->frame.establisher};
    EXCEPTION_DISPOSITION answer;

    if (s->nested)
        s->record->ExceptionFlags |= X64_NESTED_CALL;
    answer = (EXCEPTION_DISPOSITION)(int)x64_call(
        &crossing, (const void *)(uintptr_t)walk->frame.handler, (uintptr_t)s->record,
        walk->frame.establisher, (uintptr_t)s->context, (uintptr_t)&dispatcher);
    if (walk->frame.establisher == s->nested) {
        s->record->ExceptionFlags &= ~(ULONG)X64_NESTED_CALL;
        s->nested = 0;
    }
    if (answer == ExceptionNestedException && dispatcher.EstablisherFrame > s->nested)
        s->nested = dispatcher.EstablisherFrame;
    return answer;
}

/* Acts on a handler's disposition. False: the search is over. */
static bool obey(struct search *s, EXCEPTION_DISPOSITION answer)
{
    switch (answer) {
    case ExceptionContinueSearch:
    case ExceptionNestedException:
        return true;
    case ExceptionContinueExecution:
        if (s->record->ExceptionFlags & X64_NONCONTINUABLE)
            raise_on_top(s, STATUS_NONCONTINUABLE_EXCEPTION);
        else
            x64_context_resume(s->context);
        return false;
    default:
        raise_on_top(s, STATUS_INVALID_DISPOSITION);
        return false;
    }
}

/* The walk has reached the call of an earlier handler: continue where that exception happened, or
 * in the frame that was being unwound. */
static void cross(struct search *s)
{
    const struct x64_crossing *crossing = s->walk.crossing;

    if (crossing->unwinding)
        s->scope = *crossing->scope_index;
    else if (crossing->establisher > s->nested)
        s->nested = crossing->establisher;
    x64_walk_begin(&s->walk, crossing->origin, crossing->interrupted);
}

void x64_dispatch(EXCEPTION_RECORD *record, CONTEXT *context, bool interrupted)
{
    struct search s = {.record = record, .context = context, .interrupted = interrupted};

    x64_walk_begin(&s.walk, context, interrupted);
    for (;;) {
        enum x64_step step = x64_walk_look(&s.walk, X64_UNWIND_EXCEPTION_HANDLER);

        if (step == X64_CROSSING) {
            cross(&s);
            continue;
        }
        if (step == X64_BROKEN)
            record->ExceptionFlags |= X64_STACK_INVALID;
        if (step != X64_FRAME || (s.walk.frame.handler && !obey(&s, ask(&s))))
            return;
        s.scope = 0;
        x64_walk_next(&s.walk);
    }
}
