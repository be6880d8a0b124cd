/* SPDX-License-Identifier: MIT */
/*
 * Devices: what is put in error when GPU work faults or hangs. Their loss is in device_loss.h,
 * waiting for their work in device_wait.h.
 */
#ifndef DXGK_VIDSCH_DEVICE_H
#define DXGK_VIDSCH_DEVICE_H

#include "vidsch/vidsch.h"

#include "sim/wait.h"

struct vidsch_process;

struct vidsch_device {
    struct vidmm_device *mm; /* first: what the host handle resolves to; NULL until created */
    struct vidsch *vidsch;
    struct vidsch_process *process;
    struct list link;      /* vidsch->devices */
    struct list lost_link; /* vidsch->worker.lost: the worker must cancel its queued work */
    struct list contexts, syncs;
    struct list views;        /* struct vidsch_sync_view: of shared monitored fences */
    struct list outstanding;  /* GPU packets, oldest first */
    struct list parked;       /* contexts that wait for residency or for the end of a suspension */
    struct sim_waitq changed; /* woken when packets end */
    HANDLE host_handle, driver_handle;
    D3DKMT_CREATEDEVICEFLAGS flags;
    DXGK_DEVICEINFO info; /* of a driver without contexts: the sizes of its buffers (PATCH-009) */
    D3DKMT_DEVICEEXECUTION_STATE state;
    D3DKMT_DEVICEPAGEFAULT_STATE fault;
    uint64_t last_ticket;
    uint64_t awaited_ticket; /* smallest one that `changed` is waited on for; UINT64_MAX: none */
    bool nudged;             /* vidsch_device_wait_ticket is to return */
    uint32_t user_queues;    /* hardware queues for submission from user mode */
    uint32_t pending;        /* packets of any kind, queued or in flight */
    uint32_t in_flight;      /* GPU packets on a node, or on the way there */
    bool system;
    bool hosts_own; /* system device that the driver does not create (PATCH-006) */
    bool handle_recorded;
    bool awaiting_residency;
    bool cleaning;   /* lost, and the worker has not yet canceled its queues */
    char *loss;      /* vidsch_device_loss_text; NULL: not lost, or memory was short */
    bool reset_loss; /* lost in a reset or timeout: submissions get STATUS_DEVICE_REMOVED */
};

NTSTATUS vidsch_device_create_system(struct vidsch *vidsch);

static inline bool device_is_lost(const struct vidsch_device *device)
{
    return device->state != D3DKMT_DEVICEEXECUTION_ACTIVE;
}

#endif
