/* SPDX-License-Identifier: MIT */
/* A process on an adapter: a client's, or the paging process. Both use this record. */
#ifndef DXGK_VIDMM_PROCESS_RECORD_H
#define DXGK_VIDMM_PROCESS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "sim/wait.h"
#include "util/list.h"
#include "vidmm/record/context_record.h"
#include "vidmm/record/paging_record.h"

struct handle_table;
struct nt_process;
struct vidmm;
struct vidmm_space;

struct vidmm_process {
    struct vidmm *vidmm;
    struct nt_process *nt;        /* NULL: the paging process */
    struct handle_table *handles; /* of its client handles; the host's own are the system's */
    HANDLE host_handle;   /* hDxgkProcess */
    HANDLE driver_handle; /* hKmdProcess */
    ULONG pasid;          /* 0: the process address space is not shared with the device */
    uint32_t references;
    struct vidmm_space *space;
    struct vidmm_space *privileged; /* for its companion contexts (privileged_space.h); or NULL */
    struct list link;
    struct list contexts;                 /* struct vidmm_context.link */
    struct list fence_pages;              /* fence_memory.c */
    struct paging_queue fence_departures; /* jobs that remove pages of fences */
    bool in_create_process;               /* DxgkCbReserveGpuVirtualAddressRange is allowed */
    bool ready;                           /* DxgkDdiCreateProcess has succeeded */
    bool suspended;                       /* by the running job: its devices count as idle */
    uint32_t holds;                       /* > 0: the worker uses the record without a reference */
    struct sim_waitq idle;                /* woken when holds becomes 0 */
    uint64_t reservation[2];              /* by memory segment group */
    uint64_t usage[2]; /* bytes on its residency lists by group; a shared allocation counts once */
};

/* A record with one reference and a host handle, but without an address space, and not yet reported
 * to the driver. NULL: out of memory. */
struct vidmm_process *process_record_new(struct vidmm *vidmm, struct nt_process *nt);
/* Also frees its host handle. */
void process_record_free(struct vidmm_process *process);

#endif
