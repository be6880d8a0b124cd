/* SPDX-License-Identifier: MIT */
/*
 * What of a trace is compared: one adapter, and the contexts, allocations and queues that one
 * process has on it. Whose a context is, is known from the events that make or list it and its
 * device, else from the process that queues its packets; on which node of which adapter, from
 * those, or from its selection by the scheduler.
 */
#ifndef DXGK_WINTRACE_SUBJECT_H
#define DXGK_WINTRACE_SUBJECT_H

#include "util/hash.h"
#include "wintrace/wintrace.h"

#define SUBJECT_NO_NODE UINT32_MAX

/* Of a handle in a map, whose keys are not 0. */
static inline uint64_t handle_key(uint64_t handle)
{
    return handle ? handle : UINT64_MAX;
}

struct subject_context {
    uint64_t handle, adapter; /* adapter 0: not known */
    uint32_t node;            /* SUBJECT_NO_NODE: not known */
    uint32_t process;
    bool has_process;
    uint64_t packets;
};

struct subject {
    const struct wintrace *trace;
    uint64_t adapter; /* 0: the trace names none */
    uint32_t process;
    uint64_t packets;        /* of that process on that adapter */
    uint64_t system_segment; /* number of the implicit one; 0: not known */
    struct subject_context *context;
    size_t contexts, room;
    struct hash_map by_handle; /* index in `context` and 1 */
    struct hash_map devices;   /* adapter of a device */
    struct hash_map owners;    /* process and 1, of devices, allocations and paging queues */
};

/* What was asked for; 0: the one with the most packets. */
struct subject_choice {
    uint64_t adapter;
    uint32_t process;
    bool has_process;
};

/* False: *error says why, in one sentence; "out of memory" is one. */
bool subject_init(struct subject *subject, const struct wintrace *trace,
                  const struct subject_choice *choice, char *error, size_t error_bytes);
void subject_finish(struct subject *subject);
/* The context of that handle; NULL: it appears nowhere. */
const struct subject_context *subject_find(const struct subject *subject, uint64_t handle);
/* Whether it is of the adapter, and of the process. */
bool subject_on_adapter(const struct subject *subject, const struct subject_context *context);
bool subject_has(const struct subject *subject, const struct subject_context *context);
/* Whether a device, an allocation or a paging queue is of the process, as far as is known. */
bool subject_owns(const struct subject *subject, uint64_t handle);

#endif
