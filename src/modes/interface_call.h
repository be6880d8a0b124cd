/* SPDX-License-Identifier: MIT */
/* Entry and exit of the functions of the VidPN and monitor interfaces, and what their answers pass
 * through. For every file that implements some. */
#ifndef DXGK_MODES_INTERFACE_CALL_H
#define DXGK_MODES_INTERFACE_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "ddi/frame.h"
#include "modes/scope.h"
#include "verify/refusal.h"

/* The address in the driver from which the function that uses this macro was called. */
#define MODES_CALLER ((uintptr_t)__builtin_return_address(0))

/* A call in progress. */
struct interface_call {
    struct ddi_frame *frame;
    struct refusal refusal;
    const char *name;
};

/* Begin one; `name`: a literal. On a failure the function must return that status, and do nothing.
 * The limit is PASSIVE_LEVEL (VIDPN-010, DISP-124). */
NTSTATUS interface_begin(struct interface_call *call, const char *name, uintptr_t caller,
                         const char *level_rule);
/* End it with this status, which is returned; a failure is told with its reason. */
NTSTATUS interface_end(struct interface_call *call, NTSTATUS status);

/* Is it NULL? Then it is reported, and refused with STATUS_INVALID_PARAMETER (VIDPN-011). */
NTSTATUS interface_need(const void *output, const char *what);
/* Write an output of the driver's. */
NTSTATUS interface_give(void *output, const void *value, size_t bytes);
#define INTERFACE_GIVE(output, value) interface_give(output, &(value), sizeof(*(output)))
/* Set an output that is there to zero (VIDPN-012). */
void interface_clear(void *output, size_t bytes);
#define INTERFACE_CLEAR(output) interface_clear(output, sizeof(*(output)))

/* The DDI in progress may not do this: report it, and STATUS_ACCESS_DENIED (VIDPN-014). */
NTSTATUS interface_deny(const struct modes_scope *scope, const char *rule, const char *what);

#endif
