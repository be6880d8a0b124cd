/* SPDX-License-Identifier: MIT */
/* Compute-only drivers (MCDM): which entries they must and must not have, and which caps (LIFE-026 to LIFE-033, CAPS-027). */
#include <string.h>

#include "port/adapter_record.h"
#include "port/compute.h"
#include "port/refuse.h"

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ENTRY(entry)                                        \
    {                                                       \
        offsetof(DRIVER_INITIALIZATION_DATA, entry), #entry \
    }

struct entry {
    size_t offset;
    const char *name;
};

static bool is_there(const struct port_adapter *adapter, const struct entry *entry)
{
    const void *value;

    memcpy(&value, (const char *)&adapter->ddi.table + entry->offset, sizeof(value));
    return value != NULL;
}

static NTSTATUS require(const struct port_adapter *adapter, const char *rule,
                        const struct entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_there(adapter, &entries[i]))
            PORT_REFUSE(rule, "%s is NULL on a compute-only driver", entries[i].name);
    return STATUS_SUCCESS;
}

static NTSTATUS forbid(const struct port_adapter *adapter, const char *rule,
                       const struct entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_there(adapter, &entries[i]))
            PORT_REFUSE(rule, "%s is not NULL on a compute-only driver", entries[i].name);
    return STATUS_SUCCESS;
}

static NTSTATUS check_required(struct port_adapter *adapter)
{
    static const struct entry life[] = {
        ENTRY(DxgkDdiAddDevice),
        ENTRY(DxgkDdiStartDevice),
        ENTRY(DxgkDdiStopDevice),
        ENTRY(DxgkDdiRemoveDevice),
        ENTRY(DxgkDdiUnload),
        ENTRY(DxgkDdiResetDevice),
        ENTRY(DxgkDdiSetPowerState),
        ENTRY(DxgkDdiInterruptRoutine),
        ENTRY(DxgkDdiDpcRoutine),
        ENTRY(DxgkDdiQueryAdapterInfo),
        ENTRY(DxgkDdiGetNodeMetadata),
        ENTRY(DxgkDdiQueryChildRelations),
        ENTRY(DxgkDdiQueryChildStatus),
        ENTRY(DxgkDdiQueryDeviceDescriptor),
        ENTRY(DxgkDdiSetStablePowerState),
        ENTRY(DxgkDdiSetVirtualMachineData),
    };
    static const struct entry device[] = {
        ENTRY(DxgkDdiCreateDevice),       ENTRY(DxgkDdiDestroyDevice),
        ENTRY(DxgkDdiCreateContext),      ENTRY(DxgkDdiDestroyContext),
        ENTRY(DxgkDdiCreateAllocation),   ENTRY(DxgkDdiDestroyAllocation),
        ENTRY(DxgkDdiDescribeAllocation), ENTRY(DxgkDdiOpenAllocation),
        ENTRY(DxgkDdiCloseAllocation),    ENTRY(DxgkDdiGetStandardAllocationDriverData),
        ENTRY(DxgkDdiBuildPagingBuffer),
    };
    static const struct entry recovery[] = {
        ENTRY(DxgkDdiPreemptCommand),      ENTRY(DxgkDdiQueryDependentEngineGroup),
        ENTRY(DxgkDdiQueryEngineStatus),   ENTRY(DxgkDdiResetEngine),
        ENTRY(DxgkDdiResetFromTimeout),    ENTRY(DxgkDdiRestartFromTimeout),
        ENTRY(DxgkDdiCollectDbgInfo),      ENTRY(DxgkDdiCalibrateGpuClock),
        ENTRY(DxgkDdiFormatHistoryBuffer),
    };
    NTSTATUS status = require(adapter, "LIFE-026", life, ARRAY_COUNT(life));

    if (NT_SUCCESS(status))
        status = require(adapter, "LIFE-027", device, ARRAY_COUNT(device));
    if (NT_SUCCESS(status))
        status = require(adapter, "LIFE-028", recovery, ARRAY_COUNT(recovery));
    return status;
}

static NTSTATUS check_forbidden(struct port_adapter *adapter)
{
    static const struct entry display[] = {
        ENTRY(DxgkDdiAcquireSwizzlingRange),
        ENTRY(DxgkDdiCommitVidPn),
        ENTRY(DxgkDdiIsSupportedVidPn),
        ENTRY(DxgkDdiEnumVidPnCofuncModality),
        ENTRY(DxgkDdiCheckMultiPlaneOverlaySupport),
        ENTRY(DxgkDdiCheckMultiPlaneOverlaySupport2),
        ENTRY(DxgkDdiCheckMultiPlaneOverlaySupport3),
        ENTRY(DxgkDdiGetMultiPlaneOverlayCaps),
        ENTRY(DxgkDdiGetPostCompositionCaps),
        ENTRY(DxgkDdiPostMultiPlaneOverlayPresent),
        ENTRY(DxgkDdiCreateOverlay),
        ENTRY(DxgkDdiFlipOverlay),
        ENTRY(DxgkDdiDestroyOverlay),
        ENTRY(DxgkDdiGetScanLine),
        ENTRY(DxgkDdiDisplayDetectControl),
        ENTRY(DxgkDdiControlModeBehavior),
    };
    static const struct entry other[] = {
        ENTRY(DxgkDdiPresent),
        ENTRY(DxgkDdiQueryCurrentFence),
        ENTRY(DxgkDdiControlInterrupt),
        ENTRY(DxgkDdiControlInterrupt2),
        ENTRY(DxgkDdiNotifyAcpiEvent),
        ENTRY(DxgkDdiNotifyFocusPresent),
        ENTRY(DxgkDdiExchangePreStartInfo),
        ENTRY(DxgkDdiControlDiagnosticReporting),
        ENTRY(DxgkDdiCreatePeriodicFrameNotification),
        ENTRY(DxgkDdiDestroyPeriodicFrameNotification),
        ENTRY(DxgkDdiCreateProtectedSession),
        ENTRY(DxgkDdiDestroyProtectedSession),
    };
    NTSTATUS status = forbid(adapter, "LIFE-029", display, ARRAY_COUNT(display));

    return NT_SUCCESS(status) ? forbid(adapter, "LIFE-030", other, ARRAY_COUNT(other)) : status;
}

/* LIFE-033: one addressing mode, complete. */
static NTSTATUS check_addressing(struct port_adapter *adapter)
{
    static const struct entry physical[] = {ENTRY(DxgkDdiPatch), ENTRY(DxgkDdiRender),
                                            ENTRY(DxgkDdiSubmitCommand)};
    static const struct entry virtual[] = {
        ENTRY(DxgkDdiCreateProcess), ENTRY(DxgkDdiDestroyProcess), ENTRY(DxgkDdiSetRootPageTable),
        ENTRY(DxgkDdiSubmitCommandVirtual), ENTRY(DxgkDdiGetRootPageTableSize)};

    return adapter->caps.driver.MemoryManagementCaps.GpuMmuSupported
               ? require(adapter, "LIFE-033", virtual, ARRAY_COUNT(virtual))
               : require(adapter, "LIFE-033", physical, ARRAY_COUNT(physical));
}

/* CAPS-027: members of display abilities. */
static NTSTATUS check_zero_members(struct port_adapter *adapter)
{
#define MEMBER(member)                                                                        \
    {                                                                                         \
        offsetof(DXGK_DRIVERCAPS, member), sizeof(((DXGK_DRIVERCAPS *)NULL)->member), #member \
    }
    static const struct {
        size_t offset, bytes;
        const char *name;
    } zero[] = {
        MEMBER(MaxPointerWidth),
        MEMBER(MaxPointerHeight),
        MEMBER(PointerCaps),
        MEMBER(MaxOverlays),
        MEMBER(GammaRampCaps),
        MEMBER(PresentationCaps),
        MEMBER(MaxQueuedFlipOnVSync),
        MEMBER(FlipCaps),
        MEMBER(NumberOfSwizzlingRanges),
        MEMBER(SupportNonVGA),
        MEMBER(SupportSmoothRotation),
        MEMBER(SupportDirectFlip),
        MEMBER(SupportMultiPlaneOverlay),
        MEMBER(MaxOverlayPlanes),
        MEMBER(SupportMultiPlaneOverlayImmediateFlip),
        MEMBER(CursorScaledWithMultiPlaneOverlayPlane0),
        MEMBER(HybridAcpiChainingRequired),
        MEMBER(MaxQueuedMultiPlaneOverlayFlipVSync),
    };
#undef MEMBER

    for (size_t i = 0; i < ARRAY_COUNT(zero); i++) {
        const uint8_t *member = (const uint8_t *)&adapter->caps.driver + zero[i].offset;

        for (size_t byte = 0; byte < zero[i].bytes; byte++)
            if (member[byte])
                PORT_REFUSE("CAPS-027", "%s must be zero on a compute-only driver", zero[i].name);
    }
    if (adapter->caps.driver.MiscCaps.SupportContextlessPresent ||
        adapter->caps.driver.MiscCaps.Detachable)
        PORT_REFUSE("CAPS-027", "%s must be zero on a compute-only driver",
                    adapter->caps.driver.MiscCaps.Detachable ? "Detachable"
                                                             : "SupportContextlessPresent");
    return STATUS_SUCCESS;
}

static NTSTATUS check_scheduling(struct port_adapter *adapter)
{
    const DXGK_VIDSCHCAPS *s = &adapter->caps.driver.SchedulingCaps;

    if (!s->MultiEngineAware)
        PORT_REFUSE("CAPS-046", "a compute-only driver must set MultiEngineAware");
    if (s->VSyncPowerSaveAware)
        PORT_REFUSE("CAPS-047", "a compute-only driver must not set VSyncPowerSaveAware");
    if (!s->PreemptionAware)
        PORT_REFUSE("CAPS-048", "a compute-only driver must set PreemptionAware");
    if (s->NoDmaPatching)
        PORT_REFUSE("CAPS-049", "a compute-only driver must not set NoDmaPatching");
    if (!s->LowIrqlPreemptCommand)
        PORT_REFUSE("CAPS-052", "a compute-only driver must set LowIrqlPreemptCommand");
    if (s->HwQueuePacketCap)
        PORT_REFUSE("CAPS-054", "a compute-only driver must report HwQueuePacketCap 0, not %u",
                    s->HwQueuePacketCap);
    return STATUS_SUCCESS;
}

static NTSTATUS check_caps(struct port_adapter *adapter)
{
    const DXGK_DRIVERCAPS *caps = &adapter->caps.driver;
    const DXGK_VIDMMCAPS *m = &caps->MemoryManagementCaps;

    if ((UINT)caps->WDDMVersion < DXGKDDI_WDDMv2_6)
        PORT_REFUSE("CAPS-033",
                    "a compute-only driver must report WDDMVersion 2.6 or later, not 0x%x",
                    (unsigned)caps->WDDMVersion);
    if (caps->PreemptionCaps.ComputePreemptionGranularity == D3DKMDT_COMPUTE_PREEMPTION_NONE)
        PORT_REFUSE("CAPS-035", "a compute-only driver must report a ComputePreemptionGranularity");
    if (!caps->SupportPerEngineTDR)
        PORT_REFUSE("CAPS-036", "a compute-only driver must set SupportPerEngineTDR");
    if (caps->MaxAllocationListSlotId)
        PORT_REFUSE("CAPS-022",
                    "a compute-only driver must report MaxAllocationListSlotId 0, not %u",
                    caps->MaxAllocationListSlotId);
    if (caps->ApertureSegmentCommitLimit)
        PORT_REFUSE("CAPS-023",
                    "a compute-only driver must report ApertureSegmentCommitLimit 0, not 0x%llx",
                    (unsigned long long)caps->ApertureSegmentCommitLimit);
    if (caps->HybridDiscrete || caps->HybridIntegrated)
        PORT_REFUSE("CAPS-038",
                    "a compute-only driver must not set HybridDiscrete or HybridIntegrated");
    if (m->OutOfOrderLock)
        PORT_REFUSE("CAPS-057", "a compute-only driver must not set OutOfOrderLock");
    if (m->SectionBackedPrimary || m->ReplicateGdiContent || m->NonCpuVisiblePrimary)
        PORT_REFUSE(
            "CAPS-058",
            "a compute-only driver must not set SectionBackedPrimary, ReplicateGdiContent or NonCpuVisiblePrimary");
    return STATUS_SUCCESS;
}

NTSTATUS port_compute_check(struct port_adapter *adapter)
{
    static NTSTATUS (*const check[])(struct port_adapter *) = {
        check_required,     check_forbidden,  check_addressing,
        check_zero_members, check_scheduling, check_caps,
    };

    for (size_t i = 0; i < ARRAY_COUNT(check); i++) {
        NTSTATUS status = check[i](adapter);

        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}
