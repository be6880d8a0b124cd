/* SPDX-License-Identifier: MIT */
/*
 * Why a call fails. Whoever decides that a client or a driver gets a failure status says it in one
 * sentence, with the values that it saw:
 *
 *     if (pages > allocation->pages)
 *         return refuse(STATUS_INVALID_PARAMETER, "GPUVA-101", "range of %u pages, ...", pages);
 *
 * The call in progress keeps the last sentence: its entry puts a record there with refusal_begin,
 * and refusal_end hands it on if the call fails with the same status; a reason of another status
 * was that of a step that did not matter. Nothing is allocated, and a call that succeeds pays for a
 * few stores. A broken rule of the driver is reported with VIOLATION; where the call fails for
 * that, the report is the reason.
 */
#ifndef DXGK_VERIFY_REFUSAL_H
#define DXGK_VERIFY_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REFUSAL_BYTES 640u

/* Of one call in progress, on the stack of its entry. */
struct refusal {
    struct refusal *outer;
    const char *call;         /* its name; NULL: unknown, as after refusal_begin */
    int32_t status;           /* NTSTATUS; 0: nothing was refused so far */
    const char *rule;         /* a string literal; NULL: none */
    bool notes;               /* of rules are reasons, too, not only errors */
    uint64_t wants;           /* requests for memory of the host that had failed when it began */
    char text[REFUSAL_BYTES]; /* "": no reason is known */
};

/* The innermost call in progress on this stack; NULL: none, and reasons are dropped. The scheduler
 * saves it with the stack. */
extern _Thread_local struct refusal *refusal_current;

/* Who is told of failed calls: the machine. NULL: nobody. */
struct refusal_sink {
    void (*refused)(void *context, const char *call, const struct refusal *refusal);
    void *context;
};
extern _Thread_local const struct refusal_sink *refusal_sink;

/* Keep the reason for the call in progress; returns the status. `rule`: a string literal, or
 * NULL. */
int32_t refuse(int32_t status, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The reason kept for this status, if one is, was that of an answer that is no failure. */
void refusal_forget(int32_t status);

/* A call begins. If it ends for want of memory without another reason, and a request for memory of
 * the host failed in between, that is the reason. */
void refusal_begin(struct refusal *refusal);

/* A rule was broken. A call that fails without a reason of its own has this one. */
void refusal_violation(const char *rule, const char *seen);

/* Why the innermost call in progress would end with this status; NULL: nothing says so. */
const char *refusal_reason(int32_t status);

/* The name of the innermost call in progress that has one; NULL: none has. */
const char *refusal_call(void);

/* The call ends, and nobody is told. */
void refusal_drop(const struct refusal *refusal);

/* The call ends with this status: the sink is told of a failure, with the name of the call (a
 * string that lives as long as the program or the driver). */
void refusal_end(struct refusal *refusal, const char *call, int32_t status);

#endif
