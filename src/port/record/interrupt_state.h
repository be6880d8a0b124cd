/* SPDX-License-Identifier: MIT */
/* Interrupts and the DPC, as the adapter's record keeps them. Only interrupts.c and
 * interrupt_callbacks.c use the members. */
#ifndef DXGK_PORT_INTERRUPT_STATE_H
#define DXGK_PORT_INTERRUPT_STATE_H

#include "sim/dpc.h"

#define PORT_MAX_MESSAGES 32u

struct port_adapter;

struct port_interrupt {
    struct port_adapter *adapter;
    struct sim_interrupt *line;
    bool notified;      /* NotifyInterrupt was called under its lock */
    bool queued;        /* QueueDpc was called under its lock */
    bool synced;        /* and a vertical sync was told, in this call of the service routine */
    bool held;          /* raised during exclusive access (IOMMU-061) */
    bool masked;        /* after a storm, until the adapter stops (THREAD-057) */
    uint32_t unclaimed; /* consecutive calls that returned FALSE */
};

struct port_interrupts {
    struct port_interrupt message[PORT_MAX_MESSAGES];
    struct sim_dpc dpc;
    bool dpc_running, dpc_notified, dpc_again;
    bool hold, dpc_held; /* exclusive access: interrupts and DPCs wait */
    uint32_t unnotified; /* notifications recorded since the last NotifyDpc */
    bool misordered;     /* a vertical sync was told before work, which was reported (PRES-161) */
    bool owes_dpc; /* a synchronized routine notified, but no DPC was queued since (THREAD-062) */
};

#endif
