/* SPDX-License-Identifier: MIT */
/* Deferred procedure calls (DPCs): work that an interrupt leaves for DISPATCH level. */
#ifndef DXGK_SIM_DPC_H
#define DXGK_SIM_DPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/list.h"

/* Deferred procedure call: runs once at DISPATCH, on the processor that queued it (or on `target` -
 * 1). */
struct sim_dpc {
    struct list link;
    void (*routine)(struct sim_dpc *dpc);
    /* whose it is, for reports; NULL: nobody says */
    void (*describe)(const struct sim_dpc *dpc, char *text, size_t bytes);
    bool queued;
    uint16_t target; /* processor + 1; 0: the processor that queues it */
    bool high;       /* insert at the front of the queue */
};

bool sim_dpc_queue(struct sim_dpc *dpc);  /* false: already queued */
bool sim_dpc_remove(struct sim_dpc *dpc); /* true: it was queued and no longer is */
/* Wait until every deferred call that is queued on any processor has run. PASSIVE. */
void sim_dpc_flush(void);
bool sim_in_dpc(void); /* a deferred call is running on the current processor */

#endif
