/* SPDX-License-Identifier: MIT */
/*
 * Entry and exit of a callback: handle, state and IRQL are checked here, the same way for all, and
 * what the driver does inside counts as the callback's. For every file that implements DxgkCb*.
 */
#ifndef DXGK_PORT_CALLBACK_H
#define DXGK_PORT_CALLBACK_H

#include <stdint.h>

#include <ntddk.h>

#include "ddi/ddi.h"
#include "verify/verify.h"

struct port_adapter;

/* A callback in progress. */
struct port_callback {
    struct ddi_frame frame;
    struct port_adapter *adapter;
};

#define PORT_CALLBACK_FREEING   1u /* accepted between StopDevice and the next start (LIFE-064) */
#define PORT_CALLBACK_ANY_IRQL  2u
#define PORT_CALLBACK_CARRY_OUT 4u /* above its limit it is reported and carried out (PHYS-013) */
#define PORT_CALLBACK_IN_ISR    8u /* allowed inside the service routine (THREAD-060) */

/* The place in the driver that called the function in which this stands. */
#define PORT_CALLER ((uintptr_t)__builtin_return_address(0))

/* STATUS_SUCCESS: go on, and end with port_callback_end. Otherwise the call has no effect and
 * returns this. `caller`: PORT_CALLER. `rule`: the THREAD rule that gives max_irql. `flags`:
 * PORT_CALLBACK_*. */
NTSTATUS port_callback_begin(struct port_callback *callback, HANDLE device_handle, const char *name,
                             uintptr_t caller, uint8_t max_irql, const char *rule, unsigned flags);
/* The same for a callback that names no adapter: it acts for the one whose DDI is in progress, and
 * only the place and the level are checked (THREAD-049). callback->adapter may be NULL. */
NTSTATUS port_callback_begin_without_adapter(struct port_callback *callback, const char *name,
                                             uintptr_t caller);
void port_callback_end(struct port_callback *callback);

/* The present adapter with this DeviceHandle, or NULL. */
struct port_adapter *port_callback_adapter(HANDLE device_handle);

#endif
