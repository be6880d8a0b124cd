/* SPDX-License-Identifier: MIT */
/*
 * The executive's part of a thread: the KTHREAD with its object and resource records.
 */
#ifndef DXGK_NT_THREAD_H
#define DXGK_NT_THREAD_H

#include <stdint.h>

#include <ntddk.h>

#include "nt/base/kthread.h"
#include "nt/base/resource.h"
#include "nt/ke/wait.h"
#include "nt/ob/object.h"
#include "sim/thread.h"

struct nt_image;
struct nt_process;

struct _ETHREAD {
    struct _KTHREAD tcb; /* first: a PKTHREAD and a PETHREAD are the same address */
    struct nt_object object;
    struct nt_resource resource; /* tracks a system thread */
    struct nt_wait wait;
    NTSTATUS exit_status;
    PKSTART_ROUTINE start;
    PVOID start_context;
};

/* Create a client thread in a process. */
struct sim_thread *nt_client_thread_create(struct nt_process *process, const char *name,
                                           sim_entry entry, void *arg);
/* The image goes away: no thread runs on its behalf any more. */
void nt_thread_forget_image(const struct nt_image *image);
HANDLE nt_thread_id(const struct _KTHREAD *thread);

#endif
