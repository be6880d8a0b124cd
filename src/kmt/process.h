/* SPDX-License-Identifier: MIT */
/* Client processes: what the interface knows of each, from before its first thread runs until
 * everything it left is destroyed. The room above begins and ends them. */
#ifndef DXGK_KMT_PROCESS_H
#define DXGK_KMT_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "sim/wait.h"
#include "util/hash.h"
#include "util/list.h"

struct kmt_process {
    struct kmt *kmt;
    struct nt_process *nt;
    struct list link;
    struct list adapters;
    D3DKMT_SCHEDULINGPRIORITYCLASS priority_class;
    struct list mutexes;      /* handles of keyed mutexes */
    struct list calls;        /* in progress */
    struct sim_waitq changed; /* woken when a call ends, if somebody waits */
    uint32_t waiters;
    struct hash_map tracks; /* thread id -> trace track */
    struct hash_map gone;   /* handles of objects that a stopped adapter took with it (LIFE-168) */
    bool ending;
};

/* Before the first client thread of a process runs. False: out of memory. */
bool kmt_process_begin(struct nt_process *process);
/* The process ends: everything it left is destroyed, in the order of KMT-469. On a simulated thread
 * (of that process, or of the system's, which then stands in for it, KMT-479). `kill`: queued work
 * is cancelled instead of completed (KMT-472). What was left open is counted in *left (may be NULL)
 * for the report of KMT-480. */
void kmt_process_end(struct nt_process *process, bool kill, uint64_t *left);

#endif
