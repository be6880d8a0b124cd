/* SPDX-License-Identifier: MIT */
/* A device: its residency list, and how far bringing that in has got. */
#ifndef DXGK_VIDMM_DEVICE_RECORD_H
#define DXGK_VIDMM_DEVICE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "sim/wait.h"
#include "util/list.h"
#include "vidmm/record/follow_record.h"
#include "vidmm/record/paging_record.h"

struct destruction;
struct vidmm_portion;
struct vidmm_process;

struct vidmm_device {
    struct vidmm_process *process;
    HANDLE driver_handle;
    void *owner;
    bool lost;
    struct list opens, residency, queues, resource_opens;
    struct list dying;        /* vidmm_open.dying_link */
    uint32_t missing;         /* opens on the residency list whose allocation is not ready */
    struct list missing_list; /* them, oldest first */
    bool displaced;           /* something of its list was moved out for the job that runs */
    uint64_t used_at;         /* order of last submission, for eviction */
    bool held; /* vidmm_device_prepare said no: device_resident is owed to the scheduler */
    bool tell_resident, tell_error; /* to be told to the scheduler by the retire fiber */
    struct list tell_link;          /* vidmm->tell_devices */
    /* It became complete after being held and has not run since: no victim before this time. */
    uint64_t granted_until;
    /* By segment id (0: system): listed allocations resident there, lowest priority first. */
    struct order_tree *listed;
    uint64_t *charged;           /* by segment id (0: system): pages of its list */
    struct paging_queue prepare; /* brings in what is missing */
    struct paging_job prepare_job;
    bool preparing;
    struct list portions;                    /* WDDM 1.x: vidmm_portion.link, those held */
    struct vidmm_portion *portion_preparing; /* the one that a job works for */
    struct paging_job portion_job;
    bool portion_posted;
    struct list follows;                  /* struct vidmm_follow.link, by ticket */
    uint32_t destructions;                /* not finished */
    struct destruction *last_destruction; /* destroy.c: for closing without memory */
    struct sim_thread *follower;          /* waits for the GPU work of this device (follow.c) */
    struct sim_waitq follow_work;
    bool follow_stop, follow_ended;
    uint32_t pins;         /* the retire fiber is using it without the lock */
    struct sim_waitq idle; /* woken when pins, destructions or the follower end */
    struct list link;
};

#endif
