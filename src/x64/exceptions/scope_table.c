/* SPDX-License-Identifier: MIT */
/*
 * __C_specific_handler: the scopes of a C function. The handler data is a table of scopes, inner
 * ones before outer ones:
 *
 *     begin, end    code that the scope guards
 *     handler       the filter (1: always taken), or the termination handler
 *     target        where an accepted exception continues; 0: a termination handler
 */
#include <stddef.h>

#include "x64/exceptions/exception.h"
#include "x64/unwind/context.h"

#define ALWAYS 1u

struct scope {
    uint32_t begin, end, handler, target;
};

struct scopes {
    const struct x64_function_table *table;
    uint64_t offset; /* offset of the first scope in the image */
    uint32_t count;
};

/* The table belongs to the driver and is not trusted; the dispatcher context may be the driver's as
 * well. */
static bool open_scopes(const struct x64_dispatcher_context *dispatcher, struct scopes *scopes)
{
    uint64_t offset = dispatcher->HandlerData - dispatcher->ImageBase;

    scopes->table = x64_function_table_find((uintptr_t)dispatcher->ImageBase);
    if (!scopes->table || scopes->table->base != dispatcher->ImageBase)
        return false;
    scopes->offset = offset + sizeof(scopes->count);
    return x64_image_read(scopes->table, offset, &scopes->count, sizeof(scopes->count));
}

static bool scope_at(const struct scopes *scopes, uint32_t index, struct scope *scope)
{
    uint64_t limit = scopes->table->image_bytes;

    return index < scopes->count &&
           x64_image_read(scopes->table, scopes->offset + sizeof(*scope) * (uint64_t)index, scope,
                          sizeof(*scope)) &&
           scope->handler < limit && scope->target < limit;
}

static bool contains(const struct scope *scope, uint64_t offset)
{
    return offset >= scope->begin && offset < scope->end;
}

static const void *code(const struct scopes *scopes, uint32_t offset)
{
    return (const void *)(scopes->table->base + offset);
}

/* ---- looking for a handler ---- */

/* The sign of the result is that of EXCEPTION_EXECUTE_HANDLER, EXCEPTION_CONTINUE_SEARCH or
 * EXCEPTION_CONTINUE_EXECUTION. */
static LONG filter(const struct scopes *scopes, const struct scope *scope,
                   EXCEPTION_POINTERS *pointers, ULONG64 establisher)
{
    if (scope->handler == ALWAYS)
        return EXCEPTION_EXECUTE_HANDLER;
    return (LONG)x64_call(NULL, code(scopes, scope->handler), (uintptr_t)pointers, establisher, 0,
                          0);
}

static EXCEPTION_DISPOSITION search(const struct scopes *scopes, EXCEPTION_RECORD *record,
                                    ULONG64 establisher, CONTEXT *context,
                                    struct x64_dispatcher_context *dispatcher)
{
    EXCEPTION_POINTERS pointers = {record, context};
    uint64_t pc = dispatcher->ControlPc - dispatcher->ImageBase;
    struct scope scope;

    for (uint32_t i = dispatcher->ScopeIndex; scope_at(scopes, i, &scope); i++) {
        LONG answer;

        if (!contains(&scope, pc) || scope.target == 0)
            continue;
        answer = filter(scopes, &scope, &pointers, establisher);
        if (answer < 0)
            return ExceptionContinueExecution;
        if (answer > 0) {
            CONTEXT here;

            x64_capture(&here);
            x64_unwind_to(establisher, (uintptr_t)code(scopes, scope.target), record,
                          (uint32_t)record->ExceptionCode, &here);
        }
    }
    return ExceptionContinueSearch;
}

/* ---- unwinding ---- */

/* Whether the unwinding ends inside the same scope. Then control does not leave the scope, and its
 * termination handler does not run. */
static bool target_is_inside(const struct scopes *scopes, const struct scope *scope, uint64_t target)
{
    struct scope other;

    for (uint32_t i = 0; scope_at(scopes, i, &other); i++)
        if (contains(&other, target) && other.target == scope->target &&
            other.handler == scope->handler)
            return true;
    return false;
}

static EXCEPTION_DISPOSITION terminate(const struct scopes *scopes, ULONG flags, ULONG64 establisher,
                                       struct x64_dispatcher_context *dispatcher)
{
    uint64_t pc = dispatcher->ControlPc - dispatcher->ImageBase;
    uint64_t target = dispatcher->TargetIp - dispatcher->ImageBase;
    struct scope scope;

    for (uint32_t i = dispatcher->ScopeIndex; scope_at(scopes, i, &scope); i++) {
        if (!contains(&scope, pc))
            continue;
        if ((flags & X64_TARGET_UNWIND) &&
            (target_is_inside(scopes, &scope, target) || scope.target == target))
            break;
        if (scope.target != 0)
            continue;
        /* After an exception in the handler, or a jump out of it, the search continues after this
         * scope. */
        dispatcher->ScopeIndex = i + 1;
        x64_call(NULL, code(scopes, scope.handler), TRUE, establisher, 0, 0);
    }
    return ExceptionContinueSearch;
}

EXCEPTION_DISPOSITION NTAPI x64_c_specific_handler(EXCEPTION_RECORD *record, ULONG64 establisher,
                                                   CONTEXT *context,
                                                   struct x64_dispatcher_context *dispatcher)
{
    struct scopes scopes;

    if (!open_scopes(dispatcher, &scopes))
        return ExceptionContinueSearch;
    return record->ExceptionFlags & X64_ANY_UNWIND
               ? terminate(&scopes, record->ExceptionFlags, establisher, dispatcher)
               : search(&scopes, record, establisher, context, dispatcher);
}
