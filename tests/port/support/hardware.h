/* SPDX-License-Identifier: MIT */
/*
 * A probe whose node 1 is hardware-scheduled, and clients of hardware queues.
 *
 *     p = hardware_create(NULL);      the entries, the feature, the flag of the node; then as with any probe
 *     hardware.held = true;           what is submitted waits for hardware_finish; else it ends by itself
 *     hardware.suspend = ...          how DxgkDdiSuspendContext answers
 *
 * What the driver was given is in hardware.submission, oldest first, and hardware.context.
 */
#ifndef DXGK_TESTS_PROBE_HARDWARE_H
#define DXGK_TESTS_PROBE_HARDWARE_H

#include "port/support/client.h"

#define HARDWARE_NODE        1u
#define HARDWARE_PAGING_NODE 2u /* of packets, unless a test has another one page */
#define HARDWARE_ENGINE      7u /* of the device model: it raises the interrupts */
#define HARDWARE_MOST        256u

enum hardware_suspend {
    SUSPEND_ACKNOWLEDGED, /* STATUS_PENDING, and an interrupt soon */
    SUSPEND_AT_ONCE,      /* STATUS_SUCCESS */
    SUSPEND_IGNORED,      /* STATUS_PENDING, and nothing more */
};

struct hardware_submission {
    DXGKARG_SUBMITCOMMANDTOHWQUEUE args;
    uint8_t private_data[16];
    uint8_t irql;
    bool ended; /* its fence was written */
};

struct hardware_context {
    HANDLE host, driver; /* handles */
    bool destroyed;
    uint64_t acknowledge; /* the suspend fence to report at the next interrupt; 0: none */
};

struct hardware_state {
    bool held;
    enum hardware_suspend suspend;
    struct hardware_submission submission[HARDWARE_MOST];
    unsigned submissions, ended;
    struct hardware_context context[HARDWARE_MOST]; /* hardware contexts, and others of the driver */
    unsigned contexts;
    DXGK_CREATECONTEXTFLAGS flags;   /* of the last one of DxgkDdiCreateContext */
    bool memory;                     /* make a context allocation in DxgkDdiCreateHwContext */
    HANDLE process, device;          /* the host's handles of the latest */
    unsigned plain;                  /* of DxgkDdiCreateContext, on the hardware-scheduled node */
    HANDLE queue_host, queue_driver; /* of the queue created last */
    DXGKARG_CREATEHWCONTEXT create_context;
    DXGKARG_CREATEHWQUEUE create_queue;
    uint8_t create_private[16];
    uint64_t suspend_fence;                /* of the last request */
    HANDLE suspend_context;                /* to report with it at the next interrupt; NULL: none */
    DXGKARGCB_NOTIFY_INTERRUPT_DATA extra; /* notified at the next interrupt; InterruptType 0: nothing */
    int invalidate;                        /* in DxgkDdiResetHwEngine: index in context; -1: none */
    bool collateral;
};
extern struct hardware_state hardware;

struct probe *hardware_create(const struct probe_options *options);
/* End the oldest `count` submissions that have not ended: write their fences and notify. */
void hardware_finish(unsigned count);
/* Acknowledge now. */
void hardware_acknowledge(HANDLE context, uint64_t fence);
/* Notify what is in hardware.extra. */
void hardware_notify(void);
unsigned hardware_in_flight(void);

/* A client with a hardware context and a queue. */
struct hardware_client {
    struct probe_gpu gpu;
    D3DKMT_HANDLE context, queue, fence;
    volatile UINT64 *value;
    D3DGPU_VIRTUAL_ADDRESS va;
};
NTSTATUS hardware_begin(struct hardware_client *c);
NTSTATUS hardware_queue(struct hardware_client *c, D3DKMT_HANDLE context,
                        D3DDDI_CREATEHWQUEUEFLAGS flags);
NTSTATUS hardware_submit(const struct hardware_client *c, UINT64 id);
NTSTATUS hardware_wait(const struct hardware_client *c, UINT64 id);
D3DKMT_DEVICEEXECUTION_STATE hardware_device_state(const struct hardware_client *c);

#endif
