/* SPDX-License-Identifier: MIT */
/*
 * The memory manager and the scheduler of an adapter: made last when it starts, gone first when it
 * stops, and in between brought to a standstill with empty video memory, for a loss of power or an
 * exclusion.
 */
#ifndef DXGK_PORT_MANAGERS_H
#define DXGK_PORT_MANAGERS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct port_adapter;

void port_managers_init(struct port_adapter *adapter);
NTSTATUS port_managers_create(struct port_adapter *adapter);
void port_managers_destroy(struct port_adapter *adapter);

struct port_evacuation {
    /* Of each segment, how much stays (vidmm_evacuate); NULL: nothing. */
    const uint64_t *kept_bytes;
    bool losing_power; /* that is why */
    uint64_t limit_ns; /* how long threads inside the driver get to leave it */
    const char *name;  /* THREAD-037 is reported for it if they do not; or NULL */
};

/* Video memory to system memory, the GPU idle, and nobody else inside the driver: the former two
 * until port_return, the latter until ddi_admit_others. STATUS_IO_TIMEOUT: not within the time;
 * everything is as before. Several may be in force at a time: every success takes one port_return,
 * and the last ends it. */
NTSTATUS port_evacuate(struct port_adapter *adapter, const struct port_evacuation *how);
NTSTATUS port_return(struct port_adapter *adapter);

#endif
