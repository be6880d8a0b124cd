/* SPDX-License-Identifier: MIT */
/*
 * A probe of native.h whose node 1 takes submissions from user mode, and clients with doorbells. The driver's physical doorbells are
 * pages of memory, which it has until the stop.
 *
 *     p = doorbells_create(NULL);
 *     doorbells.steal = queue                   taken from it before the next one is connected
 */
#ifndef DXGK_TESTS_PROBE_DOORBELLS_H
#define DXGK_TESTS_PROBE_DOORBELLS_H

#include "port/support/native.h"

#include <dxgk_wddm3_2_client.h>

#define DOORBELLS_MOST 64u
#define DOORBELL_PAGES 4u

struct doorbell {
    HANDLE host, driver;
    DXGKARG_CREATEDOORBELL args; /* as on entry */
    uint8_t private_data[16];
    unsigned connects, disconnects;
    bool destroyed;
};

struct doorbells_state {
    struct doorbell bell[DOORBELLS_MOST];
    unsigned bells, destroyed;
    DXGK_USERMODESUBMISSION_CAPS caps;
    uint8_t *memory; /* DOORBELL_PAGES pages: the physical doorbells, then secondary ones */
    void *answer;    /* of DxgkDdiConnectDoorbell; NULL: the first page of memory */
    D3DDDI_DOORBELLSTATUS status;
    DXGKARG_CONNECTDOORBELL connect; /* the last one, as on entry */
    HANDLE steal;                    /* the host's handle of a queue; NULL: none */
    NTSTATUS stolen;
    HANDLE notified;                        /* of DxgkDdiNotifyWorkSubmission */
    void (*at_disconnect)(struct probe *p); /* what the GPU does then */
};
extern struct doorbells_state doorbells;

struct probe *doorbells_create(const struct probe_options *options);
/* DxgkCbDisconnectDoorbell. */
NTSTATUS doorbells_take(struct probe *p, HANDLE queue, D3DDDI_DOORBELLSTATUS reason);

/* ---- clients ---- */
struct bell_client {
    struct hardware_client hw; /* its queue is one for submission from user mode */
    HANDLE queue_host, queue_driver;
    D3DKMT_HANDLE plain_queue; /* an ordinary one of the same context */
    D3DKMT_HANDLE ring, control;
    D3DKMT_CREATE_DOORBELL_WDDM3_2 args;
    volatile UINT64 *bell, *status, *queued; /* addresses of the client */
};
NTSTATUS bell_begin(struct bell_client *c); /* all but the doorbell */
NTSTATUS bell_create(struct bell_client *c);
NTSTATUS bell_connect(const struct bell_client *c);
NTSTATUS bell_destroy(const struct bell_client *c);
/* The GPU has come to this value of the progress fence, and tells so. */
void bell_progress(const struct probe *p, const struct bell_client *c, UINT64 value);

#endif
