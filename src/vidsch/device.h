/* SPDX-License-Identifier: MIT */
/*
 * Devices: the unit of error. How one is lost is in device_loss.h, who waits for it in
 * device_wait.h.
 */
#ifndef DXGK_VIDSCH_DEVICE_H
#define DXGK_VIDSCH_DEVICE_H

#include "vidsch/vidsch.h"

#include "sim/wait.h"

struct vidsch_process;

struct vidsch_device {
    struct vidmm_device *mm; /* first: the driver's host handle resolves to it; NULL until it is */
    struct vidsch *vidsch;
    struct vidsch_process *process;
    struct list link;      /* vidsch->devices */
    struct list lost_link; /* vidsch->worker.lost: queued work to be cancelled by the worker */
    struct list contexts, syncs;
    struct list outstanding;  /* GPU packets, oldest first */
    struct list parked;       /* contexts that could run but for residency or suspension */
    struct sim_waitq changed; /* woken when packets end */
    HANDLE host_handle, driver_handle;
    D3DKMT_CREATEDEVICEFLAGS flags;
    DXGK_DEVICEINFO info; /* of a driver without contexts: the sizes of its buffers (PATCH-009) */
    D3DKMT_DEVICEEXECUTION_STATE state;
    D3DKMT_DEVICEPAGEFAULT_STATE fault;
    uint64_t last_ticket;
    uint64_t awaited_ticket; /* the least that somebody on `changed` waits for; UINT64_MAX: none */
    uint32_t pending;        /* packets of any kind, queued or in flight */
    uint32_t in_flight;      /* GPU packets on a node, or on the way there */
    bool system;
    bool hosts_own; /* the system device of a driver that has none: not shown to it (PATCH-006) */
    bool handle_recorded;
    bool awaiting_residency;
    bool cleaning;   /* lost, and the worker has not done with its queues */
    bool reset_loss; /* lost in a reset or timeout: STATUS_DEVICE_REMOVED for submissions */
};

NTSTATUS vidsch_device_create_system(struct vidsch *vidsch);

static inline bool device_is_lost(const struct vidsch_device *device)
{
    return device->state != D3DKMT_DEVICEEXECUTION_ACTIVE;
}

#endif
