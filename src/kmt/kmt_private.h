/* SPDX-License-Identifier: MIT */
/* What the files of kmt share. */
#ifndef DXGK_KMT_PRIVATE_H
#define DXGK_KMT_PRIVATE_H

#include <ntddk.h>
#include <d3dkmthk.h>

#include "bus/bus.h"
#include "ddi/client_handle.h"
#include "kmt/kmt.h"
#include "nt/base/kprocess.h"
#include "port/record/adapter_info.h"
#include "sim/fault.h"
#include "sim/mutex.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidsch/client.h"
#include "vidsch/vidsch.h"

#define KMT_MAX_PRIVATE_BYTES (16u << 20) /* KMT-012 */
#define KMT_MAX_ELEMENTS      1048576u
#define KMT_MAX_OBJECTS       32u /* D3DDDI_MAX_OBJECT_SIGNALED, _WAITED_ON (KMT-371) */
#define KMT_MAX_CONTEXTS      (D3DDDI_MAX_BROADCAST_CONTEXT + 1u)

struct kmt {
    struct port *port;
    struct list processes;
};

struct kmt_process {
    struct kmt *kmt;
    struct nt_process *nt;
    struct list link;
    struct list adapters;
    struct list calls;        /* in progress */
    struct sim_waitq changed; /* woken when a call ends, if somebody waits */
    uint32_t waiters;
    struct hash_map tracks; /* thread id -> trace track */
    struct hash_map gone;   /* handles of objects that a stopped adapter took with it (LIFE-168) */
    bool ending;
};

/* An adapter in a process, from the first open handle to the last handle or device. */
struct kmt_adapter {
    struct kmt_process *process;
    struct port_adapter *port;
    struct list link, devices;
    struct vidmm_process *mm; /* from the first device on (KMT-052) */
    struct sim_mutex mm_lock; /* held while mm comes and goes */
    uint32_t handles, device_count;
    bool stopped; /* nothing of the driver is left for it; the handles stay until they are closed */
};

struct kmt_device {
    struct kmt_adapter *adapter;
    struct vidsch_device *sch;
    struct vidmm_device *mm;
    D3DKMT_HANDLE handle;
    struct list link, contexts, queues, syncs;
    /* for a driver without contexts: buffers of the device; else NULL */
    struct vidsch_context *own;
    uint32_t draining; /* calls that wait for it to become idle */
};

/* The handle DDI_CLIENT_CONTEXT names the scheduler's context; this remembers the handle for the
 * end of the device. */
struct kmt_context {
    struct list link; /* the handle of a device's own one is 0 */
    struct vidsch_context *sch;
    D3DKMT_HANDLE handle;
};

struct kmt_sync {
    struct list link;
    struct kmt_device *device;
    struct vidsch_sync *sch;
    struct kmt_paging_queue *queue; /* whose progress it is, or NULL */
    struct kmt_event *event;        /* of a CPU notification */
    struct port_cpu_event *by_kmd;  /* which the driver signals; or NULL */
    D3DKMT_HANDLE handle;
};

struct kmt_paging_queue {
    struct list link;
    struct kmt_device *device;
    struct vidmm_paging_queue *mm;
    struct kmt_sync *sync;
    D3DKMT_HANDLE handle;
};

/* ---- call.c: entry and exit of every call ---- */

#define KMT_PINS 3u

struct kmt_call {
    struct list link; /* process->calls */
    struct kmt_process *process;
    const char *name;
    const void *pin[KMT_PINS];
    unsigned pins;
    const void *const *pin_list;
    UINT pin_list_count;
    bool write_on_failure; /* outputs are written whatever the status */
    bool *removed;         /* set when a handle was looked up that went with a stopped adapter */
    trace_track track;
};

typedef NTSTATUS kmt_body(struct kmt_call *call, void *arguments);

enum kmt_run_flag {
    KMT_WRITES = 1, /* the arguments hold results, and are copied back */
    KMT_ENDS = 2,   /* ends an object: what is gone already has ended */
};

/* Copy `bytes` at `user` to `arguments`, run the body, and copy back if it succeeded and KMT_WRITES
 * says so. `flags`: of enum kmt_run_flag. */
NTSTATUS kmt_run(const char *name, kmt_body *body, void *user, void *arguments, size_t bytes,
                 unsigned flags);

#define KMT_FUNCTION(function, parameter, type, body, flags)                                    \
    NTSTATUS APIENTRY function(parameter *user)                                                 \
    {                                                                                           \
        type arguments;                                                                         \
        return kmt_run(#function, body, (void *)(uintptr_t)user, &arguments, sizeof(arguments), \
                       flags);                                                                  \
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
static inline void kmt_pin(struct kmt_call *call, const void *object)
{
    call->pin[call->pins++] = object;
}

/* Wait until no other call has the object pinned. */
void kmt_wait_unpinned(struct kmt_process *process, const struct kmt_call *own, const void *object);

/* Resolve and pin; NULL: STATUS_INVALID_PARAMETER (KMT-026). */
struct kmt_adapter *kmt_adapter_of(struct kmt_call *call, D3DKMT_HANDLE handle);
struct kmt_device *kmt_device_of(struct kmt_call *call, D3DKMT_HANDLE handle);
struct vidsch_context *kmt_context_of(struct kmt_call *call, D3DKMT_HANDLE handle);
struct kmt_paging_queue *kmt_queue_of(struct kmt_call *call, D3DKMT_HANDLE handle);
/* A handle that is none, or not any more: remember it if a stopped adapter took its object
 * (KMT-026, LIFE-168). */
void kmt_note_gone(const struct kmt_call *call, D3DKMT_HANDLE handle);
/* Resolve without pinning. */
static inline void *kmt_lookup(const struct kmt_call *call, D3DKMT_HANDLE handle,
                               enum ddi_client_handle type)
{
    void *object = handle_lookup(&call->process->nt->handles, handle, (uint8_t)type);

    if (!object)
        kmt_note_gone(call, handle);
    return object;
}
/* The same, and the handle is none from now on. */
static inline void *kmt_take(const struct kmt_call *call, D3DKMT_HANDLE handle,
                             enum ddi_client_handle type)
{
    void *object = handle_remove(&call->process->nt->handles, handle, (uint8_t)type);

    if (!object)
        kmt_note_gone(call, handle);
    return object;
}

/* STATUS_SUCCESS, or STATUS_DEVICE_REMOVED for a stopped adapter. */
NTSTATUS kmt_adapter_check(const struct kmt_adapter *adapter);
/* The adapter's driver is of WDDM 2.0 or later (KMT-022). */
bool kmt_adapter_is_2x(const struct kmt_adapter *adapter);

/* Copy client memory. `count` elements of `size` bytes into a new heap block (NULL if count is 0).
 * KMT-006, KMT-007, KMT-012. */
NTSTATUS kmt_copy_array(const void *user, UINT count, size_t size, void **copy);
NTSTATUS kmt_copy_private(const void *user, UINT bytes, void **copy);
static inline bool kmt_get(void *to, const void *user, size_t bytes)
{
    return bytes == 0 || (user && sim_copy_checked(to, user, bytes));
}
static inline bool kmt_put(void *user, const void *from, size_t bytes)
{
    return bytes == 0 || (user && sim_copy_checked(user, from, bytes));
}
/* Can the client's memory be written? (Before something that cannot be undone.) */
bool kmt_probe_write(void *user, size_t bytes);
/* NULL and the pseudo handle: the caller; else an NT process handle (KMT-020). */
NTSTATUS kmt_process_handle(struct kmt_call *call, HANDLE handle, struct nt_process **process);

/* ---- adapter.c ---- */
NTSTATUS kmt_adapter_open(struct kmt_call *call, struct port_adapter *port, D3DKMT_HANDLE *handle);
/* Frees it if neither a handle nor a device is left. May block. `own`: the caller's call, whose
 * pins do not count. */
void kmt_adapter_put(struct kmt_adapter *adapter, const struct kmt_call *own);
/* The process on the adapter, from the first device on. */
NTSTATUS kmt_adapter_begin_process(struct kmt_adapter *adapter, bool *opened);
void kmt_adapter_end_process(struct kmt_adapter *adapter);

/* ---- device.c ---- */
/* The device's own handle is gone already. `call` NULL: at the end of the process. */
void kmt_device_drain(struct kmt_device *device);
void kmt_device_destroy(struct kmt_process *process, struct kmt_device *device,
                        const struct kmt_call *call);

/* ---- sync.c ---- */
struct kmt_sync *kmt_sync_add(struct kmt_device *device, struct vidsch_sync *sch);
void kmt_sync_remove(struct kmt_sync *sync);

/* ---- residency.c ---- */
void kmt_paging_queue_destroy(struct kmt_paging_queue *queue);

/* ---- query.c, query_caps.c, query_machine.c ---- */
struct kmt_query {
    struct kmt_adapter *adapter;
    const DXGK_DRIVERCAPS *caps;
    KMTQUERYADAPTERINFOTYPE type;
    void *user; /* the client's buffer */
    UINT bytes;
};
/* STATUS_NOT_IMPLEMENTED: not a type of theirs. */
NTSTATUS kmt_query_caps(const struct kmt_query *query);
NTSTATUS kmt_query_machine(const struct kmt_query *query);
/* Read what the client asks with, write the answer; STATUS_INVALID_PARAMETER if the buffer is too
 * small or bad (KMT-056). */
NTSTATUS kmt_question(const struct kmt_query *query, void *question, size_t bytes);
NTSTATUS kmt_answer(const struct kmt_query *query, const void *answer, size_t bytes);

#endif
