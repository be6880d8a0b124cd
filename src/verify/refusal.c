/* SPDX-License-Identifier: MIT */
/* Reasons of failed calls. */
#include "verify/refusal.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "util/alloc.h"

#define STATUS_NO_MEMORY              ((int32_t)0xC0000017)
#define STATUS_INSUFFICIENT_RESOURCES ((int32_t)0xC000009A)

#define OF_ANY_STATUS 1 /* the reason is a broken rule, whatever status comes of it */

_Thread_local struct refusal *refusal_current;
_Thread_local const struct refusal_sink *refusal_sink;

int32_t refuse(int32_t status, const char *rule, const char *format, ...)
{
    struct refusal *refusal = refusal_current;
    va_list arguments;

    if (!refusal)
        return status;
    refusal->status = status;
    refusal->rule = rule;
    va_start(arguments, format);
    vsnprintf(refusal->text, sizeof(refusal->text), format, arguments);
    va_end(arguments);
    return status;
}

static uint64_t wants(void)
{
    return util_heap_current ? util_heap_current->refused : 0;
}

void refusal_begin(struct refusal *refusal)
{
    refusal->outer = refusal_current;
    refusal->call = NULL;
    refusal->status = 0;
    refusal->notes = false;
    refusal->wants = wants();
    refusal_current = refusal;
}

const char *refusal_call(void)
{
    const struct refusal *refusal = refusal_current;

    while (refusal && !refusal->call)
        refusal = refusal->outer;
    return refusal ? refusal->call : NULL;
}

void refusal_forget(int32_t status)
{
    if (refusal_current && refusal_current->status == status)
        refusal_current->status = 0;
}

void refusal_violation(const char *rule, const char *seen)
{
    struct refusal *refusal = refusal_current;

    if (!refusal || (refusal->status != 0 && refusal->status != OF_ANY_STATUS))
        return;
    refusal->status = OF_ANY_STATUS;
    refusal->rule = rule;
    snprintf(refusal->text, sizeof(refusal->text), "%s", seen);
}

/* Rooms may tell want of host memory from want of video memory; callers often get one for both. */
static bool is_want(int32_t status)
{
    return status == STATUS_NO_MEMORY || status == STATUS_INSUFFICIENT_RESOURCES;
}

/* The reason must be that of the status that the caller gets. */
static void settle(struct refusal *refusal, int32_t status)
{
    bool fits = refusal->status == status || refusal->status == OF_ANY_STATUS ||
                (is_want(refusal->status) && is_want(status));

    refusal->status = status;
    if (fits)
        return;
    refusal->rule = NULL;
    refusal->text[0] = 0;
    if (refusal->wants != wants() && is_want(status))
        snprintf(refusal->text, sizeof(refusal->text), "the host has no memory left");
}

const char *refusal_reason(int32_t status)
{
    static _Thread_local struct refusal reason;

    if (!refusal_current || refusal_current->status == OF_ANY_STATUS)
        return NULL; /* a report has said it */
    reason = *refusal_current;
    if (!reason.status)
        reason.text[0] = 0;
    settle(&reason, status);
    return reason.text[0] ? reason.text : NULL;
}

void refusal_drop(const struct refusal *refusal)
{
    refusal_current = refusal->outer;
}

void refusal_end(struct refusal *refusal, const char *call, int32_t status)
{
    refusal_current = refusal->outer;
    if (status >= 0)
        return;
    settle(refusal, status);
    if (refusal_sink)
        refusal_sink->refused(refusal_sink->context, call, refusal);
}
