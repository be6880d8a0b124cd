/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/interface_call.h"
#include "ddi/ddi.h"
#include "nt/ke/level.h"
#include "sim/fault.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"

NTSTATUS interface_begin(struct interface_call *call, const char *name, uintptr_t caller,
                         const char *level_rule)
{
    if (!sim_current || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    refusal_begin(&call->refusal);
    call->refusal.call = name;
    call->refusal.notes = true;
    call->name = name;
    call->frame = ddi_callback_enter(ddi_current_adapter(), name, caller);
    if (sim_in_interrupt()) {
        VIOLATION("THREAD-060", "%s was called inside the interrupt service routine", name);
        return interface_end(call, STATUS_INVALID_DEVICE_REQUEST);
    }
    if (sim_irql() == SIM_IRQL_PASSIVE)
        return STATUS_SUCCESS;
    verify_report(level_rule, VERIFY_ERROR, "%s was called at %s; its limit is PASSIVE_LEVEL", name,
                  nt_irql_name(sim_irql()));
    return sim_irql() >= SIM_IRQL_DISPATCH ? interface_end(call, STATUS_INVALID_DEVICE_REQUEST)
                                           : STATUS_SUCCESS; /* THREAD-009 */
}

NTSTATUS interface_end(struct interface_call *call, NTSTATUS status)
{
    ddi_callback_leave(call->frame);
    refusal_end(&call->refusal, call->name, status);
    return status;
}

NTSTATUS interface_need(const void *output, const char *what)
{
    if (output)
        return STATUS_SUCCESS;
    VIOLATION("VIDPN-011", "%s is NULL", what);
    return refuse(STATUS_INVALID_PARAMETER, "VIDPN-011", "%s is NULL", what);
}

NTSTATUS interface_give(void *output, const void *value, size_t bytes)
{
    if (sim_copy_checked(output, value, bytes))
        return STATUS_SUCCESS;
    return refuse(STATUS_INVALID_PARAMETER, "VIDPN-011", "the output at %p cannot be written",
                  output);
}

void interface_clear(void *output, size_t bytes)
{
    static const char zero[16];

    if (output)
        (void)sim_copy_checked(output, zero, bytes);
}

NTSTATUS interface_deny(const struct modes_scope *scope, const char *rule, const char *what)
{
    VIOLATION(rule, "%s may not %s", scope->ddi, what);
    return refuse(STATUS_ACCESS_DENIED, rule, "%s may not %s", scope->ddi, what);
}
