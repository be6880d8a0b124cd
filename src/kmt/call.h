/* SPDX-License-Identifier: MIT */
/* A call in progress: entry and exit of every function of the client interface, and the pins that
 * keep what it uses. A file that implements functions says KMT_IN(...) and the like of each. */
#ifndef DXGK_KMT_CALL_H
#define DXGK_KMT_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "trace/trace.h"
#include "util/list.h"

#define KMT_PINS 3u

struct kmt_call {
    struct list link; /* process->calls */
    struct kmt_process *process;
    const char *name;
    const void *pin[KMT_PINS];
    unsigned pins;
    const void *const *pin_list;
    UINT pin_list_count;
    bool ends;             /* KMT_ENDS: an object may be half ended while the call waits */
    bool write_on_failure; /* outputs are written whatever the status */
    bool only_shows;       /* a device was looked up that can do no work (DISP-012) */
    bool *removed;         /* set when a handle was looked up that went with a stopped adapter */
    trace_track track;
};

typedef NTSTATUS kmt_call_body(struct kmt_call *call, void *arguments);

enum kmt_call_flag {
    KMT_WRITES = 1, /* the arguments hold results, and are copied back */
    KMT_ENDS = 2,   /* ends an object: what is gone already has ended */
};

/* Copy `bytes` at `user` to `arguments`, run the body, and copy back if it succeeded and KMT_WRITES
 * says so. `flags`: of enum kmt_call_flag. */
NTSTATUS kmt_call_run(const char *name, kmt_call_body *body, void *user, void *arguments,
                      size_t bytes, unsigned flags);

/* The whole of a function that this host does not carry out (KMT-001): STATUS_NOT_SUPPORTED, or
 * STATUS_INVALID_PARAMETER without an argument, and the reason. */
NTSTATUS kmt_call_unsupported(const char *name, bool argument);

#define KMT_FUNCTION(function, parameter, type, body, flags)                      \
    NTSTATUS APIENTRY function(parameter *user)                                   \
    {                                                                             \
        type arguments;                                                           \
        return kmt_call_run(#function, body, (void *)(uintptr_t)user, &arguments, \
                            sizeof(arguments), flags);                            \
    }

/* An exported function with one argument structure, in or in and out; KMT_END: it ends an
 * object. */
#define KMT_IN(function, type, body)     KMT_FUNCTION(function, const type, type, body, 0)
#define KMT_IN_OUT(function, type, body) KMT_FUNCTION(function, type, type, body, KMT_WRITES)
/* The argument is declared const although it has results. */
#define KMT_IN_OUT_CONST(function, type, body) \
    KMT_FUNCTION(function, const type, type, body, KMT_WRITES)
#define KMT_END(function, type, body) KMT_FUNCTION(function, const type, type, body, KMT_ENDS)
#define KMT_END_OUT(function, type, body) \
    KMT_FUNCTION(function, type, type, body, KMT_WRITES | KMT_ENDS)

/* Keep the object until the call ends. */
static inline void kmt_call_pin(struct kmt_call *call, const void *object)
{
    call->pin[call->pins++] = object;
}

/* Wait until no other call has the object pinned. */
void kmt_call_wait_unpinned(struct kmt_process *process, const struct kmt_call *own,
                            const void *object);

#endif
