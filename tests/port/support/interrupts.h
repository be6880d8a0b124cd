/* SPDX-License-Identifier: MIT */
/* Tests of interrupts: a driver whose device raises one of three messages, and one that notifies. */
#ifndef DXGK_TESTS_PORT_INTERRUPTS_H
#define DXGK_TESTS_PORT_INTERRUPTS_H

#include "port/support/probe.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk

static const char *const three_messages[] = {"messages=3", NULL};

static inline struct probe *start_with(const struct probe_options *options,
                                       void (*prepare)(struct probe *p))
{
    struct probe *p = probe_create(options);

    if (prepare)
        prepare(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_forget(p);
    return p;
}

static inline void cause_body(struct probe *p)
{
    (void)p;
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    probe_sleep(1000000);
}

static inline void notify(struct probe *p)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED;
    data.MonitoredFenceSignaled.NodeOrdinal = 1;
    DXGK.DxgkCbNotifyInterrupt(DXGK.DeviceHandle, &data);
}

#endif
