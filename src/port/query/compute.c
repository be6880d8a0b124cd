/* SPDX-License-Identifier: MIT */
/* Compute-only drivers (MCDM): the entries they must have and must not have, and their caps
 * (LIFE-026 to LIFE-033, CAPS-027). */
#include "port/query/compute.h"
#include "port/record/adapter_record.h"
#include "port/record/port_entries.h"
#include "port/record/port_refuse.h"

/* Entries without which the host can do. */
static void expect(struct port_adapter *adapter, const char *rule, const struct port_entry *entries,
                   size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!entries[i].called && !port_entry_there(&adapter->ddi.table, &entries[i]))
            PORT_EXPECTED(adapter, rule, "%s is NULL on a compute-only driver", entries[i].name);
}

/* And those that it has to call. */
static void require(struct port_adapter *adapter, const char *rule,
                    const struct port_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!entries[i].called || port_entry_there(&adapter->ddi.table, &entries[i]))
            continue;
        verify_refusal(rule, "%s is NULL on a compute-only driver", entries[i].name);
        adapter->refused = true;
    }
    expect(adapter, rule, entries, count);
}

static void forbid(struct port_adapter *adapter, const char *rule, const struct port_entry *entries,
                   size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (port_entry_there(&adapter->ddi.table, &entries[i]))
            PORT_FINDING(adapter, rule, "%s is not NULL on a compute-only driver", entries[i].name);
}

static void check_required(struct port_adapter *adapter)
{
    /* LIFE-021 asked for those that have to be called */
    static const struct port_entry life[] = {
        PORT_ENTRY(DxgkDdiAddDevice),
        PORT_ENTRY(DxgkDdiStartDevice),
        PORT_ENTRY(DxgkDdiStopDevice),
        PORT_ENTRY(DxgkDdiRemoveDevice),
        PORT_ENTRY(DxgkDdiUnload),
        PORT_ENTRY(DxgkDdiResetDevice),
        PORT_ENTRY(DxgkDdiSetPowerState),
        PORT_ENTRY(DxgkDdiInterruptRoutine),
        PORT_ENTRY(DxgkDdiDpcRoutine),
        PORT_ENTRY(DxgkDdiQueryAdapterInfo),
        PORT_ENTRY(DxgkDdiGetNodeMetadata),
        PORT_ENTRY(DxgkDdiQueryChildRelations),
        PORT_ENTRY(DxgkDdiQueryChildStatus),
        PORT_ENTRY(DxgkDdiQueryDeviceDescriptor),
        PORT_ENTRY(DxgkDdiSetStablePowerState),
        PORT_ENTRY(DxgkDdiSetVirtualMachineData),
    };
    static const struct port_entry device[] = {
        PORT_CALLED(DxgkDdiCreateDevice),      PORT_CALLED(DxgkDdiDestroyDevice),
        PORT_CALLED(DxgkDdiCreateContext),     PORT_CALLED(DxgkDdiDestroyContext),
        PORT_CALLED(DxgkDdiCreateAllocation),  PORT_CALLED(DxgkDdiDestroyAllocation),
        PORT_ENTRY(DxgkDdiDescribeAllocation), PORT_CALLED(DxgkDdiOpenAllocation),
        PORT_CALLED(DxgkDdiCloseAllocation),   PORT_ENTRY(DxgkDdiGetStandardAllocationDriverData),
        PORT_CALLED(DxgkDdiBuildPagingBuffer),
    };
    static const struct port_entry recovery[] = {
        PORT_CALLED(DxgkDdiPreemptCommand),     PORT_ENTRY(DxgkDdiQueryDependentEngineGroup),
        PORT_ENTRY(DxgkDdiQueryEngineStatus),   PORT_ENTRY(DxgkDdiResetEngine),
        PORT_CALLED(DxgkDdiResetFromTimeout),   PORT_CALLED(DxgkDdiRestartFromTimeout),
        PORT_CALLED(DxgkDdiCollectDbgInfo),     PORT_ENTRY(DxgkDdiCalibrateGpuClock),
        PORT_ENTRY(DxgkDdiFormatHistoryBuffer),
    };

    expect(adapter, "LIFE-026", life, PORT_ENTRY_COUNT(life));
    require(adapter, "LIFE-027", device, PORT_ENTRY_COUNT(device));
    require(adapter, "LIFE-028", recovery, PORT_ENTRY_COUNT(recovery));
}

static void check_forbidden(struct port_adapter *adapter)
{
    static const struct port_entry display[] = {
        PORT_ENTRY(DxgkDdiAcquireSwizzlingRange),
        PORT_ENTRY(DxgkDdiCommitVidPn),
        PORT_ENTRY(DxgkDdiIsSupportedVidPn),
        PORT_ENTRY(DxgkDdiEnumVidPnCofuncModality),
        PORT_ENTRY(DxgkDdiCheckMultiPlaneOverlaySupport),
        PORT_ENTRY(DxgkDdiCheckMultiPlaneOverlaySupport2),
        PORT_ENTRY(DxgkDdiCheckMultiPlaneOverlaySupport3),
        PORT_ENTRY(DxgkDdiGetMultiPlaneOverlayCaps),
        PORT_ENTRY(DxgkDdiGetPostCompositionCaps),
        PORT_ENTRY(DxgkDdiPostMultiPlaneOverlayPresent),
        PORT_ENTRY(DxgkDdiCreateOverlay),
        PORT_ENTRY(DxgkDdiFlipOverlay),
        PORT_ENTRY(DxgkDdiDestroyOverlay),
        PORT_ENTRY(DxgkDdiGetScanLine),
        PORT_ENTRY(DxgkDdiDisplayDetectControl),
        PORT_ENTRY(DxgkDdiControlModeBehavior),
    };
    static const struct port_entry other[] = {
        PORT_ENTRY(DxgkDdiPresent),
        PORT_ENTRY(DxgkDdiQueryCurrentFence),
        PORT_ENTRY(DxgkDdiControlInterrupt),
        PORT_ENTRY(DxgkDdiControlInterrupt2),
        PORT_ENTRY(DxgkDdiNotifyAcpiEvent),
        PORT_ENTRY(DxgkDdiNotifyFocusPresent),
        PORT_ENTRY(DxgkDdiExchangePreStartInfo),
        PORT_ENTRY(DxgkDdiControlDiagnosticReporting),
        PORT_ENTRY(DxgkDdiCreatePeriodicFrameNotification),
        PORT_ENTRY(DxgkDdiDestroyPeriodicFrameNotification),
        PORT_ENTRY(DxgkDdiCreateProtectedSession),
        PORT_ENTRY(DxgkDdiDestroyProtectedSession),
    };

    forbid(adapter, "LIFE-029", display, PORT_ENTRY_COUNT(display));
    forbid(adapter, "LIFE-030", other, PORT_ENTRY_COUNT(other));
}

/* LIFE-033: all entry points of the addressing mode that the driver uses. */
static void check_addressing(struct port_adapter *adapter)
{
    static const struct port_entry physical[] = {
        PORT_CALLED(DxgkDdiPatch), PORT_CALLED(DxgkDdiRender), PORT_CALLED(DxgkDdiSubmitCommand)};
    static const struct port_entry virtual[] = {
        PORT_CALLED(DxgkDdiCreateProcess), PORT_CALLED(DxgkDdiDestroyProcess),
        PORT_CALLED(DxgkDdiSetRootPageTable), PORT_CALLED(DxgkDdiSubmitCommandVirtual),
        PORT_ENTRY(DxgkDdiGetRootPageTableSize)};

    if (adapter->caps.driver.MemoryManagementCaps.GpuMmuSupported)
        require(adapter, "LIFE-033", virtual, PORT_ENTRY_COUNT(virtual));
    else
        require(adapter, "LIFE-033", physical, PORT_ENTRY_COUNT(physical));
}

/* CAPS-027: members that describe display abilities must be zero. */
static void check_zero_members(struct port_adapter *adapter)
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

    for (size_t i = 0; i < PORT_ENTRY_COUNT(zero); i++) {
        const uint8_t *member = (const uint8_t *)&adapter->caps.driver + zero[i].offset;

        for (size_t byte = 0; byte < zero[i].bytes; byte++)
            if (member[byte])
                PORT_FINDING(adapter, "CAPS-027", "%s must be zero on a compute-only driver",
                             zero[i].name);
    }
    if (adapter->caps.driver.MiscCaps.SupportContextlessPresent ||
        adapter->caps.driver.MiscCaps.Detachable)
        PORT_FINDING(adapter, "CAPS-027", "%s must be zero on a compute-only driver",
                     adapter->caps.driver.MiscCaps.Detachable ? "Detachable"
                                                              : "SupportContextlessPresent");
}

static void check_scheduling(struct port_adapter *adapter)
{
    const DXGK_VIDSCHCAPS *s = &adapter->caps.driver.SchedulingCaps;

    if (!s->MultiEngineAware && adapter->caps.driver.MemoryManagementCaps.GpuMmuSupported) {
        verify_refusal("CAPS-046", "GPU virtual addresses need contexts, so MultiEngineAware");
        adapter->refused = true;
    } else if (!s->MultiEngineAware) {
        PORT_EXPECTED(adapter, "CAPS-046", "a compute-only driver must set MultiEngineAware");
    }
    if (s->VSyncPowerSaveAware)
        PORT_FINDING(adapter, "CAPS-047", "a compute-only driver must not set VSyncPowerSaveAware");
    if (!s->PreemptionAware)
        PORT_EXPECTED(adapter, "CAPS-048", "a compute-only driver must set PreemptionAware");
    if (s->NoDmaPatching)
        PORT_EXPECTED(adapter, "CAPS-049", "a compute-only driver must not set NoDmaPatching");
    if (!s->LowIrqlPreemptCommand)
        PORT_FINDING(adapter, "CAPS-052", "a compute-only driver must set LowIrqlPreemptCommand");
    if (s->HwQueuePacketCap)
        PORT_FINDING(adapter, "CAPS-054",
                     "a compute-only driver must report HwQueuePacketCap 0, not %u",
                     s->HwQueuePacketCap);
}

static void check_caps(struct port_adapter *adapter)
{
    const DXGK_DRIVERCAPS *caps = &adapter->caps.driver;
    const DXGK_VIDMMCAPS *m = &caps->MemoryManagementCaps;

    if ((UINT)caps->WDDMVersion < DXGKDDI_WDDMv2_6)
        PORT_FINDING(adapter, "CAPS-033",
                     "a compute-only driver must report WDDMVersion 2.6 or later, not 0x%x",
                     (unsigned)caps->WDDMVersion);
    if (caps->PreemptionCaps.ComputePreemptionGranularity == D3DKMDT_COMPUTE_PREEMPTION_NONE)
        PORT_FINDING(adapter, "CAPS-035",
                     "a compute-only driver must report a ComputePreemptionGranularity");
    if (!caps->SupportPerEngineTDR)
        PORT_FINDING(adapter, "CAPS-036", "a compute-only driver must set SupportPerEngineTDR");
    if (caps->MaxAllocationListSlotId)
        PORT_FINDING(adapter, "CAPS-022",
                     "a compute-only driver must report MaxAllocationListSlotId 0, not %u",
                     caps->MaxAllocationListSlotId);
    if (caps->ApertureSegmentCommitLimit)
        PORT_FINDING(adapter, "CAPS-023",
                     "a compute-only driver must report ApertureSegmentCommitLimit 0, not 0x%llx",
                     (unsigned long long)caps->ApertureSegmentCommitLimit);
    if (caps->HybridDiscrete || caps->HybridIntegrated)
        PORT_FINDING(adapter, "CAPS-038",
                     "a compute-only driver must not set HybridDiscrete or HybridIntegrated");
    if (m->OutOfOrderLock)
        PORT_FINDING(adapter, "CAPS-057", "a compute-only driver must not set OutOfOrderLock");
    if (m->SectionBackedPrimary || m->ReplicateGdiContent || m->NonCpuVisiblePrimary)
        PORT_FINDING(
            adapter, "CAPS-058",
            "a compute-only driver must not set SectionBackedPrimary, ReplicateGdiContent or NonCpuVisiblePrimary");
}

void port_compute_check(struct port_adapter *adapter)
{
    check_required(adapter);
    check_forbidden(adapter);
    check_addressing(adapter);
    check_zero_members(adapter);
    check_scheduling(adapter);
    check_caps(adapter);
}
