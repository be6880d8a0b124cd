/* SPDX-License-Identifier: MIT */
/* Keyed mutexes: owned by one handle at a time, and taken with the key that the last owner left
 * (KMT-399 to KMT-418). They belong to no adapter. */
#ifndef DXGK_KMT_KEYED_MUTEX_H
#define DXGK_KMT_KEYED_MUTEX_H

#include <stdbool.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "util/list.h"

struct kmt_call;
struct kmt_keyed_mutex;
struct kmt_process;
struct kmt_shared;

/* One handle of a process. */
struct kmt_keyed {
    struct list link; /* process->mutexes */
    struct kmt_process *process;
    struct kmt_shared *shared; /* with a reference */
    D3DKMT_HANDLE handle;
};

/* The process gets a handle of its own, with a reference of its own; `user`: runtime data, which
 * the mutex takes if it has none yet, or whose size it checks (KMT-403). */
NTSTATUS kmt_keyed_open(struct kmt_call *call, struct kmt_shared *shared, const void *user,
                        UINT bytes, struct kmt_keyed **out);
/* The process of the handle ends, or somebody destroys it: a mutex that it owns is abandoned, and
 * who waits through it goes on. */
void kmt_keyed_close(struct kmt_keyed *keyed);

#endif
