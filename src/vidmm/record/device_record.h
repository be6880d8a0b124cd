/* SPDX-License-Identifier: MIT */
/* A device: its residency list, and the jobs that make the listed allocations resident. */
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
    bool legacy;          /* LegacyMode: owned_pages may not exceed all segments together */
    uint64_t owned_pages; /* of the allocations that it has created */
    bool renames;         /* an allocation has, or had, several instances */
    struct list opens, residency, queues, resource_opens;
    struct list dying; /* vidmm_open.dying_link: destroyed opens that queued GPU work may use */
    uint32_t missing;  /* opens on the residency list whose allocation was ready, and is not now */
    struct list missing_list; /* those opens, oldest first */
    struct list joining_list; /* opens listed, or reclaimed, whose allocation is not ready yet */
    bool displaced;   /* the running job moved out an allocation of this device's own list */
    uint64_t used_at; /* vidmm->clock at its last submission, for LRU eviction */
    bool held; /* vidmm_device_prepare returned false: the scheduler waits for device_resident */
    bool tell_resident, tell_error; /* what the retire fiber is to report to the scheduler */
    struct list tell_link;          /* vidmm->tell_devices */
    /* Nothing is evicted from this device before this time, so that it can run: set when its list
     * has become complete after a wait, cleared when it runs. */
    uint64_t granted_until;
    uint64_t stuck_since; /* its jobs wait for nothing but its own work (repack.c); 0: they do not */
    /* By segment id (0: system): listed allocations resident there, lowest priority first. */
    struct order_tree *listed;
    uint64_t *charged; /* by segment id (0: system): pages that its list is charged with */
    struct paging_queue prepare; /* jobs that bring in missing allocations */
    struct paging_job prepare_job;
    bool preparing;
    struct list portions; /* WDDM 1.x: vidmm_portion.link, portions that hold allocations */
    struct vidmm_portion *portion_preparing; /* the one that the job below prepares */
    struct paging_job portion_job;
    bool portion_posted;
    struct list follows;   /* struct vidmm_follow.link, by ticket */
    uint32_t lock_waits;   /* locks that wait for its GPU work */
    uint32_t destructions; /* unfinished destructions */
    /* destroy.c: memory set aside so that closing cannot fail */
    struct destruction *last_destruction;
    struct sim_thread *follower; /* waits for GPU work of this device (follow.c) */
    struct sim_waitq follow_work;
    bool follow_stop, follow_ended;
    uint32_t pins;         /* > 0: the retire fiber uses the record without the lock */
    struct sim_waitq idle; /* woken when pins or destructions become 0, or the follower ends */
    struct list link;
};

#endif
