/* SPDX-License-Identifier: MIT */
/*
 * The KTHREAD: what all parts of the kernel may know about a thread. thread.c creates threads.
 */
#ifndef DXGK_NT_KTHREAD_H
#define DXGK_NT_KTHREAD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "nt/base/active.h"
#include "util/list.h"

struct nt_image;
struct nt_object;
struct nt_process;
struct nt_wait;
struct _DXGK_TRY_RECORD;

#define NT_HELD_LOCKS 32u /* locks that a thread, or a processor, may hold at once */
#define NT_ATTACHES   8u  /* processes that a thread may be attached to, nested */
#define NT_RAISES     16u /* nested raises of the IRQL that are recorded */

/* One raise of the IRQL that was not undone yet. */
struct nt_raise_record {
    uint8_t from, to;
};

/* A process that a thread is attached to (ps/attach.c). */
struct nt_attach {
    struct nt_object *object;  /* referenced */
    struct nt_process *before; /* the current process until then */
    const void *state;         /* the driver's KAPC_STATE; only compared */
};

struct _KTHREAD {
    DISPATCHER_HEADER header;
    struct list link;       /* in nt_threads.all */
    struct sim_thread *sim; /* NULL: the idle thread of a processor */
    struct nt_process *process;
    struct nt_image *image; /* on whose behalf it runs */
    struct nt_wait *wait;   /* wait.h */
    struct list owned;      /* mutexes that it owns (mutex.c) */
    struct list actives;    /* struct nt_active of objects on its stack */
    uintptr_t stack_low, stack_high;
    int32_t kernel_apc_disable;
    int32_t special_apc_disable;
    uint32_t sleeping_locks;
    KPRIORITY priority;
    /* sleeping locks that it holds, for deadlock detection */
    const volatile void *held[NT_HELD_LOCKS];
    uint32_t held_count;
    uint32_t floating_saves;
    KAFFINITY affinity;
    struct nt_raise_record raise[NT_RAISES];
    uint32_t raises; /* may exceed the records */
    struct nt_attach attached[NT_ATTACHES];
    uint32_t attaches;
    struct _DXGK_TRY_RECORD *tries; /* exception blocks of an ELF driver, innermost first (try.c) */
    uint64_t pace_from, pace_period; /* pace.c; 0: it has none */
    bool system;                     /* created by PsCreateSystemThread */
    bool must_wait;                  /* KeSetEvent with Wait TRUE was its last call (owed_wait.c) */
};

#endif
