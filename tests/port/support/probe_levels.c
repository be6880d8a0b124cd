/* SPDX-License-Identifier: MIT */
#include "port/support/probe_levels.h"
#include "port/support/probe.h"

#include <stdio.h>

/* Entries whose IRQL is not documented. */
static const enum probe_ddi undocumented[] = {
    PROBE_CreateProcess,        PROBE_DestroyProcess,       PROBE_SetRootPageTable,
    PROBE_GetRootPageTableSize, PROBE_GetNodeMetadata,      PROBE_SetStablePowerState,
    PROBE_MapCpuHostAperture,   PROBE_UnmapCpuHostAperture, PROBE_ValidateUpdateAllocationProperty,
    PROBE_CreateHwContext,      PROBE_DestroyHwContext,     PROBE_CreateHwQueue,
    PROBE_DestroyHwQueue,       PROBE_SetupPriorityBands,   PROBE_SetContextSchedulingProperties,
    PROBE_SuspendContext,       PROBE_ResumeContext,        PROBE_ResetHwEngine,
    PROBE_ResumeHwEngine,
};

/* Entries that are called at more than one. */
static bool varies(enum probe_ddi ddi)
{
    return ddi == PROBE_CollectDbgInfo || ddi == PROBE_ResetDevice ||
           ddi == PROBE_SetPowerComponentFState || ddi == PROBE_PowerRuntimeControlRequest ||
           ddi == PROBE_SubmitCommandToHwQueue || ddi == PROBE_SetVidPnSourceAddress ||
           ddi == PROBE_SetVidPnSourceAddressWithMultiPlaneOverlay ||
           ddi == PROBE_SetVidPnSourceAddressWithMultiPlaneOverlay2 ||
           ddi == PROBE_SetVidPnSourceAddressWithMultiPlaneOverlay3;
}

static const char *rule_of(const struct probe *p, enum probe_ddi ddi)
{
    for (size_t i = 0; i < sizeof(undocumented) / sizeof(undocumented[0]); i++)
        if (undocumented[i] == ddi)
            return "THREAD-043";
    switch (ddi) {
    case PROBE_SubmitCommand:
    case PROBE_PreemptCommand:
        return "THREAD-039";
    case PROBE_CalibrateGpuClock:
        return "THREAD-040/a";
    case PROBE_FormatHistoryBuffer:
        return "THREAD-040/b";
    case PROBE_SubmitCommandVirtual:
        return p->options.port.raised_submit ? "THREAD-042/b" : "THREAD-042/a";
    case PROBE_InterruptRoutine:
        return "THREAD-044/b";
    case PROBE_UpdateMonitoredValues:
        return "SUBMIT-150/e";
    case PROBE_NotifyCurrentValueUpdates:
        return "SUBMIT-150/g";
    case PROBE_DpcRoutine:
        return "THREAD-044/a";
    default:
        return "THREAD-038";
    }
}

static bool holds(const struct probe *p, const struct probe_call *call)
{
    switch (call->ddi) {
    case PROBE_SubmitCommand:
    case PROBE_DpcRoutine:
    case PROBE_NotifyCurrentValueUpdates:
    case PROBE_CalibrateGpuClock:
    case PROBE_FormatHistoryBuffer:
        return call->irql == DISPATCH_LEVEL;
    case PROBE_PreemptCommand:
        return call->irql ==
               (p->caps.SchedulingCaps.LowIrqlPreemptCommand ? PASSIVE_LEVEL : DISPATCH_LEVEL);
    case PROBE_SubmitCommandVirtual:
        return call->irql == (p->options.port.raised_submit ? DISPATCH_LEVEL : PASSIVE_LEVEL);
    case PROBE_InterruptRoutine:
    case PROBE_UpdateMonitoredValues:
        return call->irql > DISPATCH_LEVEL && call->irql < PROFILE_LEVEL;
    default:
        return call->irql == PASSIVE_LEVEL;
    }
}

/* An entry is put down once for each program, and each time that it does not hold. */
void probe_check_levels(const struct probe *p)
{
    static bool shown[PROBE_DDI_COUNT];

    if (p->sim->stopped) /* at HIGH_LEVEL, in the end */
        return;
    for (size_t i = 0; i < p->calls; i++) {
        const struct probe_call *call = p->call[i];

        if (varies(call->ddi) || (shown[call->ddi] && holds(p, call)))
            continue;
        if (!holds(p, call))
            printf("    DxgkDdi%s at IRQL %u\n", call->name, call->irql);
        CHECK_RULE(rule_of(p, call->ddi), holds(p, call));
        shown[call->ddi] = true;
    }
}
