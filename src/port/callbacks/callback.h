/* SPDX-License-Identifier: MIT */
/*
 * Entry and exit of a callback: handle, state and IRQL are checked here, in the same way for all,
 * and what the driver does meanwhile is attributed to the callback. For every file that implements
 * DxgkCb*.
 */
#ifndef DXGK_PORT_CALLBACK_H
#define DXGK_PORT_CALLBACK_H

#include <stdint.h>

#include <ntddk.h>

#include "ddi/ddi.h"
#include "verify/refusal.h"
#include "verify/verify.h"

struct port_adapter;

/* A callback in progress. */
struct port_callback {
    struct ddi_frame *frame;
    struct port_adapter *adapter;
    struct refusal refusal;
};

#define PORT_CALLBACK_FREEING   1u /* accepted between StopDevice and the next start (LIFE-064) */
#define PORT_CALLBACK_ANY_IRQL  2u
#define PORT_CALLBACK_CARRY_OUT 4u /* above its limit it is reported and carried out (PHYS-013) */
#define PORT_CALLBACK_IN_ISR    8u /* allowed inside the service routine (THREAD-060) */

/* The address in the driver from which the function that uses this macro was called. */
#define PORT_CALLER ((uintptr_t)__builtin_return_address(0))

/* On STATUS_SUCCESS, proceed and call port_callback_end at the end. Otherwise the callback must
 * have no effect and return this status. `caller`: PORT_CALLER. `rule`: the THREAD rule that gives
 * max_irql. `flags`: PORT_CALLBACK_*. */
NTSTATUS port_callback_begin(struct port_callback *callback, HANDLE device_handle, const char *name,
                             uintptr_t caller, uint8_t max_irql, const char *rule, unsigned flags);
/* The same for a callback that names no adapter: it acts for the adapter whose DDI is in progress,
 * and only interrupt context and IRQL are checked (THREAD-049). callback->adapter may be NULL. */
NTSTATUS port_callback_begin_without_adapter(struct port_callback *callback, const char *name,
                                             uintptr_t caller);
/* The same for one that asks about the system, for no adapter; max_irql and `rule` as above. */
NTSTATUS port_callback_begin_of_system(struct port_callback *callback, const char *name,
                                       uintptr_t caller, uint8_t max_irql, const char *rule);
void port_callback_end(struct port_callback *callback);
/* The same for one that returns a status, which is returned. A failure is told with its reason: the
 * last refusal (verify/refusal.h), else what was reported during the callback. */
NTSTATUS port_callback_return(struct port_callback *callback, NTSTATUS status);

/* The adapter with this DeviceHandle, or NULL. */
struct port_adapter *port_callback_adapter(HANDLE device_handle);

#endif
