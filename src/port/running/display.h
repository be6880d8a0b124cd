/* SPDX-License-Identifier: MIT */
/* The displays of a started adapter: its monitors, modes and screens. */
#ifndef DXGK_PORT_DISPLAY_H
#define DXGK_PORT_DISPLAY_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "port/query/outputs.h" /* port_uses_connections, for other rooms, too */

struct modes;
struct port_adapter;
struct scanouts;
struct screens;

/* After the queries of the start: ask what is connected, and light it (DISP-170). */
NTSTATUS port_display_start(struct port_adapter *adapter, ULONG sources);
/* Before the driver is stopped: nothing is shown any more; with `keep`, all stays as it is, as the
 * driver hands its picture on (VIDPN-191). */
void port_display_stop(struct port_adapter *adapter, bool keep);
/* Around adapter D3 (PRES-249, PRES-250). STATUS_NO_MEMORY: some display is still on. */
NTSTATUS port_display_suspend(struct port_adapter *adapter);
void port_display_resume(struct port_adapter *adapter);
/* A debugger wants the recovery of a driver that has lost a present (PRES-307).
 * STATUS_NOT_SUPPORTED: it has no displays that run, or is no display-only driver. */
NTSTATUS port_display_force_recovery(const struct port_adapter *adapter);
/* What is scanned out for a source, as memory (PRES-312). */
struct port_scanout {
    bool off;              /* the device sends no signal (PRES-316) */
    bool inferred;         /* not by the device model (PRES-313) */
    bool stale;            /* as it was before the device was removed (PRES-054) */
    const uint8_t *pixels; /* NULL: nothing says what it is */
    UINT width, height, pitch;
    D3DDDIFORMAT format;
    uint64_t bytes;
};
struct port_scanout port_display_scanout(struct port_adapter *adapter, UINT source);
/* The device is gone: what waits for its displays ends (PRES-054). PASSIVE_LEVEL. */
void port_display_removed(const struct port_adapter *adapter);
/* The output of the device model that shows a source. */
unsigned port_display_output(const struct port_adapter *adapter, UINT source);
/* NULL: it has no displays that run. */
struct modes *port_display_modes(const struct port_adapter *adapter);
struct screens *port_display_screens(const struct port_adapter *adapter);
/* Of a full driver; NULL: it is none that shows something. */
struct scanouts *port_display_scanouts(const struct port_adapter *adapter);

/* DxgkCbIndicateChildStatus of a display-only driver or of outputs that run; at most
 * DISPATCH_LEVEL. */
NTSTATUS port_display_note(struct port_adapter *adapter, const DXGK_CHILD_STATUS *status);

/* DxgkCbIndicateConnectorChange; at most DISPATCH_LEVEL. */
NTSTATUS port_display_connector(struct port_adapter *adapter);

#endif
