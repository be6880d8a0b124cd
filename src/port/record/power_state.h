/* SPDX-License-Identifier: MIT */
/* Device power and power components, as the adapter's record keeps them. struct port_power is
 * touched by power.c only, struct port_components by components.c, power_components.c and
 * power_callbacks.c only. */
#ifndef DXGK_PORT_POWER_STATE_H
#define DXGK_PORT_POWER_STATE_H

#include <ntddk.h>
#include <dispmprt.h>

#include "sim/mutex.h"
#include "sim/wait.h"

#define PORT_MAX_COMPONENTS 64u

struct port_power {
    DEVICE_POWER_STATE state;
    bool stable;           /* constant clocks, for a profiler */
    bool unplugged;        /* surprise removal */
    struct sim_mutex lock; /* held across a change of device power */
    uint32_t users;        /* calls that need the present power state to stay */
    struct sim_waitq idle; /* woken when that becomes 0 */
    bool evacuated;        /* one of the evacuations is that of the present power state */
};

/* Where runtime power stands between driver and host (LIFE-158, LIFE-159). */
enum port_runtime_power {
    PORT_RUNTIME_POWER_OFF,
    PORT_RUNTIME_POWER_PREPARED,
    PORT_RUNTIME_POWER_STARTED,
    PORT_RUNTIME_POWER_STOPPED
};

struct port_component {
    DXGK_POWER_RUNTIME_COMPONENT info;
    uint32_t active; /* references by DxgkCbSetPowerComponentActive, and the host's own */
    UINT state;      /* F-state */
    ULONGLONG latency, residency; /* what the driver asked for */
    bool in_transition; /* DxgkDdiSetPowerComponentFState runs, or its completion is awaited */
    bool awaiting;      /* DxgkCbCompleteFStateTransition */
    bool held;          /* at F0 for a change of device power (LIFE-166) */
    bool used;          /* the driver has used it: it may be put to sleep */
};

struct port_components {
    enum port_runtime_power runtime;
    struct port_component *component;
    UINT count;
    struct sim_thread *thread; /* makes every call of DxgkDdiSetPowerComponentFState */
    struct sim_waitq wait, done;
    bool end, ended;
    uint32_t calls; /* alternates the level of calls (THREAD-046) */
};

#endif
