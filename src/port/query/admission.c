/* SPDX-License-Identifier: MIT */
/* Admission of a driver: DXGK_DRIVERCAPS must agree with itself, the driver's entry points and the
 * machine. */
#include "port/query/admission.h"
#include "bus/device.h"
#include "ddi/ddi.h"
#include "port/query/compute.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/record/port_entries.h"
#include "port/record/port_refuse.h"
#include "port/record/versions.h"
#include "ram/ram.h"

/* ---- bits that do not exist ---- */

static UINT drop_unknown(UINT value, UINT known, const char *name)
{
    if (value & ~known)
        WARNING("CAPS-019", "reserved bits of %s are set: 0x%x", name, value & ~known);
    return value & known;
}

static void warn_if_set(const void *member, size_t bytes, const char *name)
{
    const uint8_t *byte = member;
    bool set = false;

    for (size_t i = 0; i < bytes; i++)
        set |= byte[i] != 0;
    if (set)
        WARNING("CAPS-019", "the reserved member %s is set", name);
}

static void ignore_reserved(struct port_adapter *adapter)
{
    DXGK_DRIVERCAPS *caps = &adapter->caps.driver;
    UINT version = port_driver_version(adapter);

    caps->SchedulingCaps.Value = drop_unknown(
        caps->SchedulingCaps.Value, port_version_scheduling_bits(version), "SchedulingCaps");
    caps->MemoryManagementCaps.Value = drop_unknown(caps->MemoryManagementCaps.Value,
                                                    port_version_memory_bits(version),
                                                    "MemoryManagementCaps");
    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_4)
        caps->MiscCaps.Value = drop_unknown(caps->MiscCaps.Value, port_version_misc_bits(version),
                                            "MiscCaps");
    warn_if_set(caps->GpuEngineTopology.Reserved, sizeof(caps->GpuEngineTopology.Reserved),
                "GpuEngineTopology.Reserved");
    warn_if_set(&caps->Reserved, sizeof(caps->Reserved), "Reserved");
    warn_if_set(&caps->Reserved1, sizeof(caps->Reserved1), "Reserved1");
    warn_if_set(&caps->HwQueuedFlipCaps, sizeof(caps->HwQueuedFlipCaps), "HwQueuedFlipCaps");
}

/* ---- versions ---- */

/* The WDDM version that the driver claims, or without a claim the first one of its interface
 * version, as a value of DXGK_WDDMVERSION: a driver built with later headers that claims WDDM 1.3
 * owes what 1.3 asks for (CAPS-029, CAPS-122). */
static UINT version_owed(const struct port_adapter *adapter)
{
    const UINT claimed = (UINT)adapter->caps.driver.WDDMVersion;
    const UINT built = port_driver_version(adapter);

    if (claimed)
        return claimed;
    if (built >= DXGKDDI_INTERFACE_VERSION_WDDM1_3)
        return DXGKDDI_WDDMv1_3;
    return built >= DXGKDDI_INTERFACE_VERSION_WIN8 ? DXGKDDI_WDDMv1_2 : DXGKDDI_WDDMv1;
}

/* What each WDDM version requires: under the rule named if the interface version has it too, else
 * under CAPS-031. */
static void check_version_needs(struct port_adapter *adapter)
{
    const UINT built = port_driver_version(adapter), owed = version_owed(adapter);

    if (!adapter->caps.driver.SupportPerEngineTDR && owed >= DXGKDDI_WDDMv1_2 && !adapter->shows)
        PORT_EXPECTED(adapter, built >= DXGKDDI_INTERFACE_VERSION_WIN8 ? "CAPS-029" : "CAPS-031",
                      "SupportPerEngineTDR is FALSE on a driver of WDDM 1.2 or later");
    if (!ddi_has(&adapter->ddi, DxgkDdiGetNodeMetadata) && owed >= DXGKDDI_WDDMv1_3)
        PORT_FINDING(adapter, built >= DXGKDDI_INTERFACE_VERSION_WDDM1_3 ? "CAPS-097" : "CAPS-031",
                     "DxgkDdiGetNodeMetadata is NULL on a driver of WDDM 1.3 or later");
}

static void check_version_claims(struct port_adapter *adapter)
{
    DXGK_DRIVERCAPS *caps = &adapter->caps.driver;
    const struct ddi_adapter *d = &adapter->ddi;
    UINT claimed = (UINT)caps->WDDMVersion;

    if (claimed && !port_version_wddm_known(claimed))
        PORT_FINDING(adapter, "CAPS-032", "WDDMVersion 0x%x is no DXGK_WDDMVERSION value", claimed);
    if (adapter->caps.device_wddm && claimed && (UINT)adapter->caps.device_wddm != claimed)
        PORT_FINDING(adapter, "CAPS-034",
                     "WDDMVersion was 0x%x before the start and 0x%x in DXGK_DRIVERCAPS",
                     (unsigned)adapter->caps.device_wddm, claimed);
    if (caps->SupportPerEngineTDR &&
        (!ddi_has(d, DxgkDdiQueryDependentEngineGroup) || !ddi_has(d, DxgkDdiQueryEngineStatus) ||
         !ddi_has(d, DxgkDdiResetEngine))) {
        PORT_FINDING(
            adapter, "CAPS-036",
            "SupportPerEngineTDR is set, but QueryDependentEngineGroup, QueryEngineStatus or ResetEngine is NULL");
        caps->SupportPerEngineTDR = FALSE; /* every timeout resets the adapter */
    } else {
        check_version_needs(adapter);
    }
}

static bool granularity_valid(UINT value)
{
    return value <= 500 && value % 100 == 0;
}

static void check_recovery_and_power(struct port_adapter *adapter)
{
    DXGK_DRIVERCAPS *caps = &adapter->caps.driver;
    const struct ddi_adapter *d = &adapter->ddi;

    if (!granularity_valid((UINT)caps->PreemptionCaps.GraphicsPreemptionGranularity) ||
        !granularity_valid((UINT)caps->PreemptionCaps.ComputePreemptionGranularity))
        PORT_FINDING(adapter, "CAPS-035", "PreemptionCaps holds %d and %d, which no enumeration has",
                     (int)caps->PreemptionCaps.GraphicsPreemptionGranularity,
                     (int)caps->PreemptionCaps.ComputePreemptionGranularity);
    if ((caps->SupportSurpriseRemoval || caps->SupportSurpriseRemovalInHibernation) &&
        !ddi_has(d, DxgkDdiNotifySurpriseRemoval))
        PORT_FINDING(adapter, "CAPS-037",
                     "surprise removal is supported, but DxgkDdiNotifySurpriseRemoval is NULL");
    if (caps->SupportRuntimePowerManagement && (!ddi_has(d, DxgkDdiSetPowerComponentFState) ||
                                                !ddi_has(d, DxgkDdiPowerRuntimeControlRequest))) {
        PORT_FINDING(
            adapter, "LIFE-157",
            "SupportRuntimePowerManagement is set, but SetPowerComponentFState or PowerRuntimeControlRequest is NULL");
        caps->SupportRuntimePowerManagement = FALSE;
    }
}

static void check_hybrid(struct port_adapter *adapter)
{
    const DXGK_DRIVERCAPS *caps = &adapter->caps.driver;

    if (!caps->MemoryManagementCaps.CrossAdapterResource)
        PORT_FINDING(adapter, "CAPS-038", "HybridDiscrete is set without CrossAdapterResource");
    if (adapter->displays)
        PORT_FINDING(adapter, "CAPS-038", "HybridDiscrete is set on an adapter with outputs");
}

/* Those of drivers without sources, or whose displays are switched off, are only checked (display_caps.c has
 * the others). */
static void check_display(struct port_adapter *adapter)
{
    const DXGK_DRIVERCAPS *caps = &adapter->caps.driver;

    if (port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WIN8 &&
        !adapter->ddi.compute_only && !adapter->shows) {
        if (!caps->FlipCaps.FlipOnVSyncMmIo ||
            !caps->PresentationCaps.SupportKernelModeCommandBuffer)
            WARNING(
                "CAPS-030",
                "FlipCaps.FlipOnVSyncMmIo or PresentationCaps.SupportKernelModeCommandBuffer is missing");
        if (port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM1_3 &&
            !caps->FlipCaps.FlipIndependent)
            WARNING("CAPS-030", "FlipCaps.FlipIndependent is missing");
    }
    if (caps->HybridDiscrete && !adapter->ddi.compute_only)
        check_hybrid(adapter);
    if (caps->MiscCaps.IndependentVidPnVSyncControl &&
        !ddi_has(&adapter->ddi, DxgkDdiControlInterrupt3))
        PORT_FINDING(adapter, "CAPS-044",
                     "IndependentVidPnVSyncControl is set, but DxgkDdiControlInterrupt3 is NULL");
    if (caps->MaxHwQueuedFlips > 1 && !ddi_feature_granted(&adapter->ddi, DXGK_FEATURE_HWFLIPQUEUE))
        VIOLATION("CAPS-045", "MaxHwQueuedFlips is %u, but DXGK_FEATURE_HWFLIPQUEUE was not granted",
                  caps->MaxHwQueuedFlips);
}

/* ---- scheduling ---- */

static NTSTATUS check_scheduling(struct port_adapter *adapter)
{
    DXGK_VIDSCHCAPS *s = &adapter->caps.driver.SchedulingCaps;
    UINT nodes = adapter->caps.driver.GpuEngineTopology.NbAsymetricProcessingNodes;

    if (s->NoDmaPatching && (!s->PreemptionAware || !s->MultiEngineAware)) {
        PORT_FINDING(adapter, "CAPS-049",
                     "NoDmaPatching is set without PreemptionAware and MultiEngineAware");
        s->NoDmaPatching = 0;
    }
    if (s->PreemptionAware && !s->MultiEngineAware) {
        PORT_FINDING(adapter, "CAPS-048", "PreemptionAware is set without MultiEngineAware");
        s->PreemptionAware = 0;
    }
    if (s->CancelCommandAware && !s->MultiEngineAware) {
        PORT_FINDING(adapter, "CAPS-050", "CancelCommandAware is set without MultiEngineAware");
        s->CancelCommandAware = 0;
    } else if (s->CancelCommandAware && !ddi_has(&adapter->ddi, DxgkDdiCancelCommand)) {
        PORT_EXPECTED(adapter, "CAPS-050", "CancelCommandAware is set without DxgkDdiCancelCommand");
        s->CancelCommandAware = 0;
    }
    if (s->NativeGpuFence && !ddi_feature_granted(&adapter->ddi, DXGK_FEATURE_NATIVE_FENCE)) {
        PORT_FINDING(adapter, "SUBMIT-148",
                     "NativeGpuFence is set, but DXGK_FEATURE_NATIVE_FENCE was not granted");
        s->NativeGpuFence = 0; /* monitored fences only */
    }
    if (s->MultiEngineAware && nodes == 0)
        PORT_REFUSE("CAPS-056", "NbAsymetricProcessingNodes is 0 on a MultiEngineAware driver");
    if (s->MultiEngineAware && nodes > PORT_MAX_NODES)
        PORT_REFUSE("CAPS-055", "NbAsymetricProcessingNodes is %u; the most is %u", nodes,
                    (unsigned)PORT_MAX_NODES);
    return STATUS_SUCCESS;
}

/* ---- memory ---- */

static NTSTATUS check_addressing(struct port_adapter *adapter)
{
    DXGK_VIDMMCAPS *m = &adapter->caps.driver.MemoryManagementCaps;
    uint64_t top = ram_highest(adapter->port->config.ram).value;

    if (m->DedicatedPagingEngine || m->PagingEngineCanSwizzle) {
        if (adapter->ddi.compute_only)
            PORT_FINDING(adapter, "CAPS-058",
                         "DedicatedPagingEngine and PagingEngineCanSwizzle must be 0");
        else
            VIOLATION("CAPS-058", "DedicatedPagingEngine and PagingEngineCanSwizzle must be 0");
        m->DedicatedPagingEngine = m->PagingEngineCanSwizzle = 0; /* SEG-076 */
    }
    if (m->VirtualAddressingSupported ? !(m->GpuMmuSupported || m->IoMmuSupported)
                                      : (m->GpuMmuSupported || m->IoMmuSupported))
        PORT_FINDING(adapter, "CAPS-060",
                     "VirtualAddressingSupported %u, GpuMmuSupported %u, IoMmuSupported %u",
                     m->VirtualAddressingSupported, m->GpuMmuSupported, m->IoMmuSupported);
    if (m->IoMmuSupported && !m->GpuMmuSupported && !port_shares_address_spaces(adapter->port))
        PORT_CANNOT("CAPS-062",
                    "only the IoMmu model is offered, which this host is not configured with");
    if ((m->CrossAdapterResourceTexture && !m->CrossAdapterResource) ||
        (m->CrossAdapterResourceScanout &&
         (!m->CrossAdapterResource || !m->CrossAdapterResourceTexture)))
        PORT_FINDING(adapter, "CAPS-059",
                     "CrossAdapterResourceTexture and Scanout need CrossAdapterResource");
    if (port_adapter_dma_mode(adapter) != IOMMU_REMAP &&
        (uint64_t)adapter->caps.driver.HighestAcceptableAddress.QuadPart < top)
        PORT_CANNOT("CAPS-021", "HighestAcceptableAddress 0x%llx is below the top of RAM 0x%llx",
                    (unsigned long long)adapter->caps.driver.HighestAcceptableAddress.QuadPart,
                    (unsigned long long)top);
    return STATUS_SUCCESS;
}

/* What the two structures say of isolation: supported if both do, required if either does
 * (CAPS-117, IOMMU-016). */
static void agree_on_isolation(struct port_adapter *adapter)
{
    DXGK_VIDMMCAPS *m = &adapter->caps.driver.MemoryManagementCaps;
    DXGK_IOMMU_CAPS *iommu = &adapter->caps.iommu;

    if (port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM2_9 &&
        (iommu->IommuIsolationSupported != m->IoMmuSecureModeSupported ||
         iommu->IommuIsolationRequired != m->IoMmuSecureModeRequired)) {
        PORT_FINDING(
            adapter, "CAPS-117",
            "IommuIsolationSupported %u, Required %u, but IoMmuSecureModeSupported %u, Required %u",
            iommu->IommuIsolationSupported, iommu->IommuIsolationRequired,
            m->IoMmuSecureModeSupported, m->IoMmuSecureModeRequired);
        m->IoMmuSecureModeSupported &= iommu->IommuIsolationSupported;
        m->IoMmuSecureModeRequired |= iommu->IommuIsolationRequired;
    }
    if (m->IoMmuSecureModeRequired && !m->IoMmuSecureModeSupported) {
        PORT_FINDING(adapter, "IOMMU-016",
                     "IoMmuSecureModeRequired is set without IoMmuSecureModeSupported");
        m->IoMmuSecureModeSupported = 1;
    }
}

static NTSTATUS check_isolation(struct port_adapter *adapter)
{
    DXGK_VIDMMCAPS *m = &adapter->caps.driver.MemoryManagementCaps;

    agree_on_isolation(adapter);
    if (m->IoMmuSecureModeSupported && (!ddi_has(&adapter->ddi, DxgkDdiBeginExclusiveAccess) ||
                                        !ddi_has(&adapter->ddi, DxgkDdiEndExclusiveAccess))) {
        static const char missing[] =
            "isolation is supported, but DxgkDdiBeginExclusiveAccess or DxgkDdiEndExclusiveAccess is NULL";

        if (m->IoMmuSecureModeRequired)
            PORT_REFUSE("LIFE-035", missing);
        PORT_EXPECTED(adapter, "LIFE-035", missing);
        m->IoMmuSecureModeSupported = 0;
    }
    if (m->IoMmuSecureModeRequired && !adapter->port->config.iommu_present)
        PORT_CANNOT("CAPS-066", "the driver requires isolation and there is no IOMMU");
    return STATUS_SUCCESS;
}

static NTSTATUS check_remapping(struct port_adapter *adapter)
{
    const DXGK_VIDMMCAPS *m = &adapter->caps.driver.MemoryManagementCaps;

    if (adapter->caps.iommu.DmaRemappingSupported && !m->MapAperture2Supported) {
        if (port_adapter_dma_mode(adapter) == IOMMU_REMAP)
            PORT_REFUSE("IOMMU-021", "logical DMA remapping needs MapAperture2Supported");
        VIOLATION("IOMMU-021", "logical DMA remapping needs MapAperture2Supported");
    }
    if (port_adapter_dma_mode(adapter) == IOMMU_REMAP && !m->GpuMmuSupported)
        PORT_CANNOT("IOMMU-022", "logical DMA remapping needs GPU virtual addressing");
    return STATUS_SUCCESS;
}

#define INTERNAL_RANGE_UNIT 65536u

static void check_internal_range(struct port_adapter *adapter)
{
    DXGK_DRIVERCAPS *caps = &adapter->caps.driver;
    const uint64_t start = caps->InternalGpuVirtualAddressRangeStart,
                   end = caps->InternalGpuVirtualAddressRangeEnd;

    if (!start && !end)
        return;
    if (!caps->MemoryManagementCaps.GpuMmuSupported)
        PORT_FINDING(adapter, "CAPS-039",
                     "InternalGpuVirtualAddressRange is set without GPU virtual addressing");
    else if ((start | end) % INTERNAL_RANGE_UNIT || start >= end)
        PORT_FINDING(adapter, "CAPS-040",
                     "InternalGpuVirtualAddressRange 0x%llx..0x%llx is empty or not in 64 KB units",
                     (unsigned long long)start, (unsigned long long)end);
    else
        return;
    caps->InternalGpuVirtualAddressRangeStart = caps->InternalGpuVirtualAddressRangeEnd = 0;
}

/* ---- entry points ---- */

/* Entry points that every driver except a compute-only one needs (LIFE-023), and those that its
 * caps require. */
static NTSTATUS check_entries(struct port_adapter *adapter)
{
    const struct ddi_adapter *d = &adapter->ddi;
    const DXGK_VIDMMCAPS *m = &adapter->caps.driver.MemoryManagementCaps;
    static const struct port_entry always[] = {
        PORT_ENTRY(DxgkDdiCreateDevice),      PORT_ENTRY(DxgkDdiDestroyDevice),
        PORT_ENTRY(DxgkDdiCreateAllocation),  PORT_ENTRY(DxgkDdiDestroyAllocation),
        PORT_ENTRY(DxgkDdiOpenAllocation),    PORT_ENTRY(DxgkDdiCloseAllocation),
        PORT_ENTRY(DxgkDdiBuildPagingBuffer), PORT_ENTRY(DxgkDdiPreemptCommand),
        PORT_ENTRY(DxgkDdiResetFromTimeout),  PORT_ENTRY(DxgkDdiRestartFromTimeout),
        PORT_ENTRY(DxgkDdiCollectDbgInfo),
    };
    bool missing = false;

    for (size_t i = 0; i < PORT_ENTRY_COUNT(always); i++) {
        if (port_entry_there(&d->table, &always[i]))
            continue;
        if (!d->compute_only) /* else reported by port_compute_check */
            verify_refusal("LIFE-023", "%s is NULL", always[i].name);
        missing = true;
    }
    if (missing)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    if (adapter->caps.driver.SchedulingCaps.MultiEngineAware &&
        (!ddi_has(d, DxgkDdiCreateContext) || !ddi_has(d, DxgkDdiDestroyContext)))
        PORT_REFUSE(
            "LIFE-023",
            "MultiEngineAware is set, but DxgkDdiCreateContext or DxgkDdiDestroyContext is NULL");
    if (m->GpuMmuSupported && !d->compute_only &&
        (!ddi_has(d, DxgkDdiCreateProcess) || !ddi_has(d, DxgkDdiDestroyProcess) ||
         !ddi_has(d, DxgkDdiSetRootPageTable) || !ddi_has(d, DxgkDdiSubmitCommandVirtual)))
        PORT_REFUSE(
            "GPUVA-004",
            "GpuMmuSupported needs CreateProcess, DestroyProcess, SetRootPageTable and SubmitCommandVirtual");
    return STATUS_SUCCESS;
}

NTSTATUS port_admission_check(struct port_adapter *adapter)
{
    static NTSTATUS (*const check[])(struct port_adapter *) = {
        check_scheduling, check_addressing, check_isolation, check_remapping, check_entries,
    };
    UINT messages = bus_device_description(adapter->device)->messages;
    NTSTATUS first = STATUS_SUCCESS;

    ignore_reserved(adapter);
    if (adapter->caps.driver.InterruptMessageNumber >= messages) {
        PORT_FINDING(adapter, "CAPS-025",
                     "InterruptMessageNumber %u is not below the %u messages granted",
                     adapter->caps.driver.InterruptMessageNumber, messages);
        adapter->caps.driver.InterruptMessageNumber = 0;
    }
    if (adapter->ddi.compute_only)
        port_compute_check(adapter);
    check_version_claims(adapter);
    check_recovery_and_power(adapter);
    check_display(adapter);
    check_internal_range(adapter);
    for (size_t i = 0; i < sizeof(check) / sizeof(check[0]); i++) {
        NTSTATUS status = check[i](adapter);

        if (NT_SUCCESS(first))
            first = status;
    }
    return first;
}
