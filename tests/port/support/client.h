/* SPDX-License-Identifier: MIT */
/*
 * Client processes of the probe's adapter: the client interface over the port driver, with nothing between.
 *
 *     probe_clients_begin(p);                     after probe_create
 *     client = probe_client_run(p, body);         body(p) on a client thread of a new process, until it returns
 *     probe_client_end(p, client);                the process ends: on the thread of a probe_run, or outside of any
 *     probe_clients_end(p);                       before probe_destroy
 *
 * The process stays until probe_client_end, so that a test can do things to an adapter with clients on it.
 */
#ifndef DXGK_TESTS_PROBE_CLIENT_H
#define DXGK_TESTS_PROBE_CLIENT_H

#include "port/support/probe.h"

struct probe_client {
    struct nt_process *nt;
    bool done;
};

void probe_clients_begin(struct probe *p);
void probe_clients_end(struct probe *p);
struct probe_client *probe_client_run(struct probe *p, void (*body)(struct probe *p));
/* Until its body has returned. */
void probe_client_wait(struct probe *p, const struct probe_client *client);
/* One more thread of the same process, until it returns. */
void probe_client_go_on(struct probe *p, struct probe_client *client, void (*body)(struct probe *p));
/* From inside a body: a client that runs beside. */
struct probe_client *probe_client_start(struct probe *p, void (*body)(struct probe *p));
void probe_client_end(struct probe *p, struct probe_client *client);

/* What a client needs first: the probe's adapter, a device, a paging queue, a virtual context on node 1. */
struct probe_gpu {
    D3DKMT_HANDLE adapter, device, queue, queue_fence, context;
};
NTSTATUS probe_gpu_begin(struct probe_gpu *g);
/* An allocation on the residency list, there when this returns. */
NTSTATUS probe_gpu_allocate(const struct probe_gpu *g, uint64_t bytes, D3DKMT_HANDLE *allocation);
NTSTATUS probe_gpu_submit(const struct probe_gpu *g);
NTSTATUS probe_gpu_wait_idle(const struct probe_gpu *g);
NTSTATUS probe_gpu_end(const struct probe_gpu *g);

#endif
