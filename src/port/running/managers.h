/* SPDX-License-Identifier: MIT */
/*
 * The managers of an adapter, its memory manager and its scheduler: created last when it starts,
 * destroyed first when it stops. In between they can be evacuated: suspended with empty video
 * memory, for a loss of power or an exclusion.
 */
#ifndef DXGK_PORT_MANAGERS_H
#define DXGK_PORT_MANAGERS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct port_adapter;

void port_managers_init(struct port_adapter *adapter);
/* For an adapter that is refused already: let the memory manager check what it was told, so that
 * its findings come along. port_managers_destroy follows. */
void port_managers_check(struct port_adapter *adapter);
NTSTATUS port_managers_create(struct port_adapter *adapter);
void port_managers_destroy(struct port_adapter *adapter);

struct port_evacuation {
    /* Bytes of each segment that need not be moved out (vidmm_evacuate); NULL: none. */
    const uint64_t *kept_bytes;
    bool losing_power; /* the reason is a loss of power */
    uint64_t limit_ns; /* time in which other threads must leave the driver */
    const char *name;  /* DDI that THREAD-037 is reported for if they do not; or NULL */
};

/* Move video memory to system memory, make the GPU idle, and keep all other threads out of the
 * driver: the first two until port_return, the last until ddi_admit_others. STATUS_IO_TIMEOUT: not
 * possible in time, and everything is as before. Evacuations may overlap: each success needs one
 * port_return, and the last one ends them. */
NTSTATUS port_evacuate(struct port_adapter *adapter, const struct port_evacuation *how);
NTSTATUS port_return(struct port_adapter *adapter);

/* For a call of level two: the GPU is idle and nobody else is inside the driver until port_go_on
 * (THREAD-026). STATUS_IO_TIMEOUT: not within 60 s; what is inside was reported under `name`. */
NTSTATUS port_stand_still(struct port_adapter *adapter, const char *name);
void port_go_on(struct port_adapter *adapter);

#endif
