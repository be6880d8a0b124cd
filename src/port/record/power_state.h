/* SPDX-License-Identifier: MIT */
/* Device power and power components, as the adapter's record keeps them. Only power.c uses struct
 * port_power; only components.c, power_components.c and power_callbacks.c use struct
 * port_components. */
#ifndef DXGK_PORT_POWER_STATE_H
#define DXGK_PORT_POWER_STATE_H

#include <ntddk.h>
#include <dispmprt.h>

#include "sim/mutex.h"
#include "sim/wait.h"

#define PORT_MAX_COMPONENTS 64u

struct port_power {
    DEVICE_POWER_STATE state;
    bool stable;           /* constant clocks, as a profiler asked */
    bool unplugged;        /* surprise removal */
    POWER_ACTION left_for; /* why the adapter left D0 last */
    bool entering_d0;      /* DxgkDdiSetPowerState to D0 of the adapter is called */
    struct sim_mutex lock; /* held across a change of device power */
    uint32_t users;        /* calls that need the power state to stay as it is */
    struct sim_waitq idle; /* woken when that becomes 0 */
    bool hybrid;           /* the change in progress is for hybrid sleep (RES-081) */
    bool evacuated;        /* the present power state has an evacuation in force */
};

/* How far runtime power management has got between host and driver (LIFE-158, LIFE-159). */
enum port_runtime_power {
    PORT_RUNTIME_POWER_OFF,
    PORT_RUNTIME_POWER_PREPARED,
    PORT_RUNTIME_POWER_STARTED,
    PORT_RUNTIME_POWER_STOPPED
};

struct port_component {
    DXGK_POWER_RUNTIME_COMPONENT info;
    uint32_t active; /* references: by DxgkCbSetPowerComponentActive, and by the host */
    UINT state;      /* F-state */
    ULONGLONG latency, residency; /* limits that the driver set */
    bool in_transition; /* inside DxgkDdiSetPowerComponentFState, or before its completion */
    bool awaiting;      /* for DxgkCbCompleteFStateTransition */
    bool held;          /* at F0 for a change of device power (LIFE-166) */
    bool used;          /* the driver has used it, so it may leave F0 */
};

struct port_components {
    enum port_runtime_power runtime;
    struct port_component *component;
    UINT count;
    struct sim_thread *thread; /* makes all calls of DxgkDdiSetPowerComponentFState */
    struct sim_waitq wait, done;
    bool end, ended;
    uint32_t calls; /* alternates the level of calls (THREAD-046) */
};

#endif
