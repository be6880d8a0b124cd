/* SPDX-License-Identifier: MIT */
/*
 * Threads as the executive has them: the KTHREAD and what keeps and ends it.
 */
#ifndef DXGK_NT_THREAD_H
#define DXGK_NT_THREAD_H

#include <stdint.h>

#include <ntddk.h>

#include "nt/base/kthread.h"
#include "nt/ob/object.h"
#include "nt/base/resource.h"
#include "nt/ke/wait.h"
#include "sim/thread.h"

struct nt_image;
struct nt_process;

struct _ETHREAD {
    struct _KTHREAD tcb; /* first: a PKTHREAD and a PETHREAD are the same address */
    struct nt_object object;
    struct nt_resource resource; /* of a system thread */
    struct nt_wait wait;
    NTSTATUS exit_status;
    PKSTART_ROUTINE start;
    PVOID start_context;
};

/* A client thread in a process. */
struct sim_thread *nt_client_thread_create(struct nt_process *process, const char *name,
                                           sim_entry entry, void *arg);
/* No thread runs on behalf of the image any more. */
void nt_thread_forget_image(const struct nt_image *image);
HANDLE nt_thread_id(const struct _KTHREAD *thread);

#endif
