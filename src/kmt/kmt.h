/* SPDX-License-Identifier: MIT */
/*
 * The client interface: the D3DKMT* functions of <d3dkmthk.h>, under their own names, for client
 * threads of the machine. This header is for the room above, which makes processes; clients see
 * d3dkmthk.h only.
 *
 *   process            one per client process (nt_process.client)
 *    +- adapter        one per adapter the process has open: adapter handles are counted here
 *        +- device     hDevice; contexts, paging queues and synchronization objects made on it
 *
 * Objects that processes share stand beside them (struct kmt_shared): each handle of a process, and
 * each NT object that bundles them, is a reference.
 *
 * A handle resolves through nt_process.handles. What a call that may block uses is pinned for its
 * time (struct kmt_call); the calls that destroy take the handle away first and then wait until
 * nobody has the object pinned (KMT-016), except waits for fences, which end when the object goes.
 */
#ifndef DXGK_KMT_H
#define DXGK_KMT_H

#include <stdbool.h>

#include "util/handle.h"
#include "util/list.h"

struct port;

/* The interface of a machine. */
struct kmt {
    struct port *port;
    struct list processes;
    struct list shared;          /* struct kmt_shared */
    struct list nt_shares;       /* struct kmt_nt_share */
    uint64_t trims;              /* how many trim callbacks were registered */
    struct handle_table globals; /* global share handles (KMT-029) */
};

/* For the machine that is entered. NULL: out of memory. */
struct kmt *kmt_create(struct port *port);
void kmt_destroy(struct kmt *kmt);
/* The interface of the machine that is entered. */
struct kmt *kmt_current(void);

/* Nothing can run any more. Calls that wait for a device to become idle put it into the error state
 * and go on (KMT-162, KMT-473). Outside of fibers. False: no call waits so. */
bool kmt_break_deadlock(struct kmt *kmt);

#endif
