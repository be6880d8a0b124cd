/* SPDX-License-Identifier: MIT */
/* A process on an adapter: a client's, or the paging process. One record for both, made here. */
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

struct nt_process;
struct vidmm;
struct vidmm_space;

struct vidmm_process {
    struct vidmm *vidmm;
    struct nt_process *nt;
    HANDLE host_handle;   /* hDxgkProcess */
    HANDLE driver_handle; /* hKmdProcess */
    ULONG pasid;          /* 0: the adapter does not share the address space */
    uint32_t references;
    struct vidmm_space *space;
    struct list link;
    struct list contexts;                 /* struct vidmm_context.link */
    struct list fence_pages;              /* fence_memory.c */
    struct paging_queue fence_departures; /* pages of fences on their way out */
    bool in_create_process;               /* DxgkCbReserveGpuVirtualAddressRange is allowed */
    bool ready;                           /* DxgkDdiCreateProcess has succeeded */
    bool suspended;                       /* by the job that runs now: its devices count as idle */
    uint32_t holds;                       /* the worker is using it without a reference */
    struct sim_waitq idle;                /* woken when that ends */
    uint64_t reservation[2];              /* by memory segment group */
    uint64_t usage[2]; /* bytes on its residency lists, shared allocations once */
};

/* With one reference and a host handle; no address space, and unknown to the driver. NULL: out of
 * memory. */
struct vidmm_process *process_record_new(struct vidmm *vidmm, struct nt_process *nt);
/* Its handle dies with it. */
void process_record_free(struct vidmm_process *process);

#endif
