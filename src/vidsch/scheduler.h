/* SPDX-License-Identifier: MIT */
/*
 * struct vidsch, the GPU scheduler of one adapter: what all its parts share, and the state of each.
 *
 * Locking: none is needed. One host thread runs the whole machine, and switches to another fiber,
 * an interrupt or a DPC only at points (sim/point.h). The code of this room contains no points of
 * its own, so it is atomic between two calls of ddi_*, vidmm_* or a function that blocks. Each
 * function that makes such a call says so ("yields"), and afterwards checks again what may have
 * changed.
 */
#ifndef DXGK_VIDSCH_SCHEDULER_H
#define DXGK_VIDSCH_SCHEDULER_H

#include "util/hash.h"
#include "util/list.h"
#include "util/slab.h"
#include "vidsch/change.h"
#include "vidsch/history.h"
#include "vidsch/interrupt.h"
#include "vidsch/paging.h"
#include "vidsch/patch_check.h"
#include "vidsch/portion.h"
#include "vidsch/screen_hold.h"
#include "vidsch/queue.h"
#include "vidsch/recovery.h"
#include "vidsch/suspend.h"
#include "vidsch/sync_object.h"
#include "vidsch/vidsch.h"
#include "vidsch/worker.h"

#define VIDSCH_SECOND_NS 1000000000ull

struct journal;

struct vidsch {
    struct vidsch *next; /* the machine's next scheduler (vidsch_first) */
    struct vidsch_config config;
    struct ddi_adapter *ddi;
    struct vidmm *vidmm;
    bool started, quiescing;
    bool removed; /* the device was pulled out: calls of clients fail as after a stop (KMT-485) */
    struct vidsch_node *node; /* config.nodes of them */
    struct list processes, devices;
    struct hash_map driver_devices; /* the driver's handles of live devices (PATCH-004) */
    struct vidsch_device *system_device;
    /* The host's own first device, with nothing on it: Windows was seen to make two (PAGE-020).
     * NULL: the driver gets no system devices. */
    struct vidsch_device *first_system_device;
    struct vidsch_context *system_context;
    struct slab packets;
    uint32_t next_flow;   /* packet->flow */
    uint32_t next_buffer; /* dma_buffer->number */
    uint32_t next_sync;   /* vidsch_sync->number */
    uint64_t doorbell_rounds;
    struct vidsch_worker worker;
    struct vidsch_change change;
    struct vidsch_advance advance;
    struct vidsch_keeper keeper;
    struct vidsch_screen_holds screens;
    struct vidsch_syncs syncs;
    struct vidsch_interrupts interrupts;
    struct vidsch_paging paging;
    struct vidsch_recovery recovery;
    struct vidsch_suspension suspension;
    struct vidsch_histories histories;
    struct vidsch_statistics statistics;
    struct journal *journal; /* NULL: none is kept (life.h) */
    struct patch_bases patch_bases;
    unsigned debug_checks; /* so far */
};

/* Who wants everything to rest waits for the end of a reset, and so for the paging that ends it. */
static inline bool vidsch_submits_nothing(const struct vidsch *vidsch)
{
    return vidsch->suspension.all && !vidsch->recovery.restoring;
}

/* A driver of WDDM 1.x: the lists of a submission say what must be resident (RES-002). */
static inline bool vidsch_is_1x(const struct vidsch *vidsch)
{
    return vidsch->config.wddm_version < DXGKDDI_INTERFACE_VERSION_WDDM2_0;
}

static inline uint64_t vidsch_tdr_delay(const struct vidsch *vidsch)
{
    return vidsch->config.tdr.delay * VIDSCH_SECOND_NS;
}

/* Debug builds check the invariants after each turn of the worker and after each DPC; those of
 * memory that is spare, which is much and stays wrong, each 16th time. */
static inline void vidsch_debug_check(struct vidsch *vidsch)
{
#ifdef DXGK_DEBUG_CHECKS
    bool all = vidsch->debug_checks++ % 16 == 0;

    if (!(all ? vidsch_validate(vidsch) : vidsch_validate_lists(vidsch)))
        __builtin_trap();
#else
    (void)vidsch;
#endif
}

/* The schedulers of the machine, linked by `next`. */
struct vidsch *vidsch_first(void);
void vidsch_enlist(struct vidsch *vidsch);
void vidsch_delist(struct vidsch *vidsch);

/* Set what vidsch_of_adapter returns; NULL: nothing. */
void vidsch_set_of_adapter(struct ddi_adapter *adapter, struct vidsch *vidsch);

/* Whether a call is followed by a comparison of what lies in lines of the cache that nothing else
 * touches: the allocation list, and private data in a submission. The first calls are, then some;
 * what was overwritten stays so until it is seen. */
static inline bool vidsch_compares_now(const struct vidsch *vidsch)
{
    return vidsch->statistics.submissions < 1024 || vidsch->statistics.submissions % 16 == 0;
}

#endif
