/* SPDX-License-Identifier: MIT */
/*
 * Capability queries before and after StartDevice, and admission: every answer is checked against the CAPS rules; the first
 * breach is one violation that names the rule and the value, and refuses the adapter (LIFE-003).
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "port/port_private.h"

#define GUARD_BYTES 64u
#define GUARD_FILL 0xA7

NTSTATUS port_query(struct port_adapter *adapter, DXGK_QUERYADAPTERINFOTYPE type, const void *input, UINT input_bytes,
                    void *output, UINT output_bytes)
{
    DXGKARG_QUERYADAPTERINFO args;
    uint8_t *buffer = util_zalloc(1, output_bytes + 2 * GUARD_BYTES);
    uint64_t in_copy[8] = {0};
    NTSTATUS status;

    if (!buffer || input_bytes > sizeof(in_copy)) {
        util_free(buffer);
        return STATUS_NO_MEMORY;
    }
    memset(buffer, GUARD_FILL, GUARD_BYTES);
    memset(buffer + GUARD_BYTES + output_bytes, GUARD_FILL, GUARD_BYTES);
    memset(&args, 0, sizeof(args));
    if (input_bytes)
        memcpy(in_copy, input, input_bytes);
    args.Type = type;
    args.pInputData = input_bytes ? in_copy : NULL;
    args.InputDataSize = input_bytes;
    args.pOutputData = buffer + GUARD_BYTES;
    args.OutputDataSize = output_bytes;
    status = ddi_query_adapter_info(&adapter->ddi, &args);
    for (unsigned i = 0; i < GUARD_BYTES; i++) {
        if (buffer[i] != GUARD_FILL || buffer[GUARD_BYTES + output_bytes + i] != GUARD_FILL) {
            VIOLATION("CAPS-005", "the answer to query type %d was written outside its %u bytes", (int)type, output_bytes);
            break;
        }
    }
    if (input_bytes && memcmp(in_copy, input, input_bytes) != 0)
        VIOLATION("CAPS-007", "the input of query type %d was changed", (int)type);
    if (NT_SUCCESS(status))
        memcpy(output, buffer + GUARD_BYTES, output_bytes);
    util_free(buffer);
    if (!NT_SUCCESS(status) && status != STATUS_NOT_SUPPORTED && status != STATUS_NOT_IMPLEMENTED &&
        status != STATUS_INVALID_PARAMETER && status != STATUS_NO_MEMORY && status != STATUS_DEVICE_REMOVED)
        WARNING("CAPS-003", "query type %d failed with 0x%08x", (int)type, (unsigned)status);
    return status;
}

/* One breach: report and refuse. */
#define REFUSE(rule, ...)                          \
    do {                                           \
        VIOLATION(rule, __VA_ARGS__);              \
        return STATUS_DEVICE_CONFIGURATION_ERROR;  \
    } while (0)

/* ---- before StartDevice ---- */

static NTSTATUS choose_dma_mode(struct port_adapter *adapter)
{
    enum iommu_mode wanted = adapter->port->config.iommu;
    uint64_t top = ram_highest(adapter->port->config.ram).value;
    bool remapping = adapter->iommu_caps.DmaRemappingSupported;

    if (adapter->iommu_caps.IommuIsolationRequired && !adapter->iommu_caps.IommuIsolationSupported)
        REFUSE("IOMMU-016", "IommuIsolationRequired is set without IommuIsolationSupported");
    if (remapping && (!adapter->highest_visible || !adapter->iommu_caps.IommuIsolationSupported)) {
        VIOLATION("IOMMU-020", "DmaRemappingSupported counts only with HighestVisibleAddress and IommuIsolationSupported");
        remapping = false;
    }
    adapter->mode = IOMMU_OFF;
    if (adapter->highest_visible && adapter->highest_visible < top) {
        /* CAPS-116 */
        if (!remapping || wanted == IOMMU_OFF) {
            NOTE("CAPS-116", "HighestVisibleAddress 0x%llx is below the top of RAM 0x%llx and %s",
                 (unsigned long long)adapter->highest_visible, (unsigned long long)top,
                 remapping ? "there is no IOMMU" : "the driver does not support DMA remapping");
            return STATUS_NOT_SUPPORTED;
        }
        adapter->mode = IOMMU_REMAP;
    } else if (wanted == IOMMU_REMAP && remapping) {
        adapter->mode = IOMMU_REMAP; /* IOMMU-026: forced */
    } else if (wanted == IOMMU_REMAP) {
        NOTE("IOMMU-026", "logical mode was asked for, but the driver does not report DmaRemappingSupported");
        return STATUS_NOT_SUPPORTED;
    } else if (adapter->iommu_caps.IommuIsolationRequired && wanted == IOMMU_OFF) {
        NOTE("IOMMU-014", "the driver requires isolation and there is no IOMMU");
        return STATUS_NOT_SUPPORTED;
    } else if (wanted == IOMMU_ISOLATION) {
        adapter->mode = IOMMU_ISOLATION;
        /* An older driver may still state the cap in DXGK_DRIVERCAPS; the attach waits for the start unless it is required. */
        adapter->attach_after_start = !adapter->iommu_caps.IommuIsolationRequired;
    }
    return STATUS_SUCCESS;
}

NTSTATUS port_query_before_start(struct port_adapter *adapter)
{
    UINT version = adapter->driver->table.Version;
    NTSTATUS status;

    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_6) {
        DXGK_WDDMDEVICECAPSIN in = {.DxgkrnlInterfaceVersion = port_interface_version(adapter->port)};
        DXGK_WDDMDEVICECAPS out;

        memset(&out, 0, sizeof(out));
        status = port_query(adapter, DXGKQAITYPE_WDDMDEVICECAPS, &in, sizeof(in), &out, sizeof(out));
        if (NT_SUCCESS(status)) /* CAPS-113 */
            adapter->device_wddm = out.WDDMVersion;
    }
    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_9) {
        DXGK_PHYSICAL_MEMORY_CAPS memory;
        DXGK_IOMMU_CAPS iommu;

        memset(&memory, 0, sizeof(memory));
        memset(&iommu, 0, sizeof(iommu));
        if (NT_SUCCESS(port_query(adapter, DXGKQAITYPE_PHYSICAL_MEMORY_CAPS, NULL, 0, &memory, sizeof(memory))))
            adapter->highest_visible = (uint64_t)memory.HighestVisibleAddress.QuadPart; /* IOMMU-009 */
        if (NT_SUCCESS(port_query(adapter, DXGKQAITYPE_IOMMU_CAPS, NULL, 0, &iommu, sizeof(iommu))))
            adapter->iommu_caps = iommu; /* IOMMU-010 */
        if (adapter->iommu_caps.Reserved) {
            WARNING("IOMMU-010", "reserved bits of DXGK_IOMMU_CAPS are set: 0x%x", adapter->iommu_caps.Value);
            adapter->iommu_caps.Reserved = 0;
        }
    }
    return choose_dma_mode(adapter);
}

/* ---- DXGK_DRIVERCAPS ---- */

/* Bytes of DXGK_DRIVERCAPS at the driver's version (CAPS-006; tests/abi/structs_by_version.tsv). */
static UINT caps_bytes(UINT version)
{
    static const struct {
        UINT version, bytes;
    } sizes[] = {
        {DXGKDDI_INTERFACE_VERSION_WDDM2_9, 592},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_4, 584},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_0, 576},
        {DXGKDDI_INTERFACE_VERSION_WDDM1_3, 552},
    };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (version >= sizes[i].version)
            return sizes[i].bytes <= sizeof(DXGK_DRIVERCAPS) ? sizes[i].bytes : (UINT)sizeof(DXGK_DRIVERCAPS);
    return (UINT)sizeof(DXGK_DRIVERCAPS);
}

static bool wddm_known(UINT v)
{
    static const UINT known[] = {0x1000, 0x1200, 0x1300, 0x2000, 0x2100, 0x2105, 0x2106, 0x2200, 0x2300, 0x2400,
                                 0x2500, 0x2600, 0x2700, 0x2800, 0x2900, 0x3000, 0x3100};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i] == v)
            return true;
    return false;
}

static NTSTATUS check_version_claims(struct port_adapter *adapter)
{
    const DXGK_DRIVERCAPS *caps = &adapter->caps;
    UINT version = adapter->driver->table.Version;
    UINT claimed = (UINT)caps->WDDMVersion;

    if (claimed && !wddm_known(claimed))
        REFUSE("CAPS-032", "WDDMVersion 0x%x is no DXGK_WDDMVERSION value", claimed);
    if (adapter->device_wddm && claimed && (UINT)adapter->device_wddm != claimed)
        REFUSE("CAPS-034", "WDDMVersion was 0x%x before the start and 0x%x in DXGK_DRIVERCAPS", (unsigned)adapter->device_wddm, claimed);
    if (version >= DXGKDDI_INTERFACE_VERSION_WIN8 && !caps->SupportPerEngineTDR)
        REFUSE("CAPS-036", "SupportPerEngineTDR is FALSE on a driver of WDDM 1.2 or later");
    if (caps->SupportPerEngineTDR && (!ddi_has(&adapter->ddi, DxgkDdiQueryDependentEngineGroup) ||
                                      !ddi_has(&adapter->ddi, DxgkDdiQueryEngineStatus) || !ddi_has(&adapter->ddi, DxgkDdiResetEngine)))
        REFUSE("CAPS-036", "SupportPerEngineTDR is set, but QueryDependentEngineGroup, QueryEngineStatus or ResetEngine is NULL");
    if ((caps->SupportSurpriseRemoval || caps->SupportSurpriseRemovalInHibernation) && !ddi_has(&adapter->ddi, DxgkDdiNotifySurpriseRemoval))
        REFUSE("CAPS-037", "surprise removal is supported, but DxgkDdiNotifySurpriseRemoval is NULL");
    return STATUS_SUCCESS;
}

static NTSTATUS check_scheduling(struct port_adapter *adapter)
{
    const DXGK_VIDSCHCAPS *s = &adapter->caps.SchedulingCaps;
    bool compute = adapter->ddi.compute_only;

    if (s->PreemptionAware && !s->MultiEngineAware)
        REFUSE("CAPS-048", "PreemptionAware is set without MultiEngineAware");
    if (s->NoDmaPatching && (!s->PreemptionAware || !s->MultiEngineAware || compute))
        REFUSE("CAPS-049", "NoDmaPatching is set %s", compute ? "by a compute-only driver" : "without PreemptionAware and MultiEngineAware");
    if (s->CancelCommandAware && (!s->MultiEngineAware || !ddi_has(&adapter->ddi, DxgkDdiCancelCommand)))
        REFUSE("CAPS-050", "CancelCommandAware is set without %s", s->MultiEngineAware ? "DxgkDdiCancelCommand" : "MultiEngineAware");
    if (s->MultiEngineAware && adapter->caps.GpuEngineTopology.NbAsymetricProcessingNodes == 0)
        REFUSE("CAPS-056", "NbAsymetricProcessingNodes is 0 on a MultiEngineAware driver");
    if (adapter->caps.GpuEngineTopology.NbAsymetricProcessingNodes > PORT_MAX_NODES)
        REFUSE("CAPS-055", "NbAsymetricProcessingNodes is %u; the most is %u",
               adapter->caps.GpuEngineTopology.NbAsymetricProcessingNodes, (unsigned)PORT_MAX_NODES);
    if (compute && !s->MultiEngineAware)
        REFUSE("CAPS-046", "a compute-only driver must set MultiEngineAware");
    if (compute && !s->PreemptionAware)
        REFUSE("CAPS-048", "a compute-only driver must set PreemptionAware");
    if (compute && !s->LowIrqlPreemptCommand)
        REFUSE("CAPS-052", "a compute-only driver must set LowIrqlPreemptCommand");
    if (compute && s->HwQueuePacketCap)
        REFUSE("CAPS-054", "a compute-only driver must report HwQueuePacketCap 0, not %u", s->HwQueuePacketCap);
    return STATUS_SUCCESS;
}

static NTSTATUS check_memory(struct port_adapter *adapter)
{
    const DXGK_DRIVERCAPS *caps = &adapter->caps;
    const DXGK_VIDMMCAPS *m = &caps->MemoryManagementCaps;
    uint64_t top = ram_highest(adapter->port->config.ram).value;

    if (m->DedicatedPagingEngine || m->PagingEngineCanSwizzle)
        REFUSE("CAPS-058", "DedicatedPagingEngine and PagingEngineCanSwizzle must be 0");
    if (m->VirtualAddressingSupported ? !(m->GpuMmuSupported || m->IoMmuSupported) : (m->GpuMmuSupported || m->IoMmuSupported))
        REFUSE("CAPS-060", "VirtualAddressingSupported %u, GpuMmuSupported %u, IoMmuSupported %u", m->VirtualAddressingSupported,
               m->GpuMmuSupported, m->IoMmuSupported);
    if (m->IoMmuSupported && !m->GpuMmuSupported) {
        NOTE("CAPS-062", "only the IoMmu model is offered, which this host is not configured with");
        return STATUS_NOT_SUPPORTED;
    }
    if ((m->CrossAdapterResourceTexture && !m->CrossAdapterResource) ||
        (m->CrossAdapterResourceScanout && (!m->CrossAdapterResource || !m->CrossAdapterResourceTexture)))
        REFUSE("CAPS-059", "CrossAdapterResourceTexture and Scanout need CrossAdapterResource");
    if (adapter->mode != IOMMU_REMAP && (uint64_t)caps->HighestAcceptableAddress.QuadPart < top) {
        NOTE("CAPS-021", "HighestAcceptableAddress 0x%llx is below the top of RAM 0x%llx",
             (unsigned long long)caps->HighestAcceptableAddress.QuadPart, (unsigned long long)top);
        return STATUS_NOT_SUPPORTED;
    }
    if (adapter->iommu_caps.IommuIsolationSupported != m->IoMmuSecureModeSupported ||
        adapter->iommu_caps.IommuIsolationRequired != m->IoMmuSecureModeRequired) {
        if (adapter->driver->table.Version >= DXGKDDI_INTERFACE_VERSION_WDDM2_9)
            REFUSE("CAPS-117", "IommuIsolationSupported %u, Required %u, but IoMmuSecureModeSupported %u, Required %u",
                   adapter->iommu_caps.IommuIsolationSupported, adapter->iommu_caps.IommuIsolationRequired,
                   m->IoMmuSecureModeSupported, m->IoMmuSecureModeRequired);
    }
    if (m->IoMmuSecureModeSupported &&
        (!ddi_has(&adapter->ddi, DxgkDdiBeginExclusiveAccess) || !ddi_has(&adapter->ddi, DxgkDdiEndExclusiveAccess)))
        REFUSE("LIFE-035", "isolation is supported, but DxgkDdiBeginExclusiveAccess or DxgkDdiEndExclusiveAccess is NULL");
    if (adapter->mode == IOMMU_REMAP && !m->MapAperture2Supported)
        REFUSE("IOMMU-021", "logical DMA remapping needs MapAperture2Supported");
    if (adapter->mode == IOMMU_REMAP && !m->GpuMmuSupported) {
        NOTE("IOMMU-022", "logical DMA remapping needs GPU virtual addressing");
        return STATUS_NOT_SUPPORTED;
    }
    if (adapter->mode == IOMMU_ISOLATION && !m->IoMmuSecureModeSupported) {
        NOTE("IOMMU-014", "isolation was asked for and the driver does not support it");
        return STATUS_NOT_SUPPORTED;
    }
    if (caps->InternalGpuVirtualAddressRangeStart || caps->InternalGpuVirtualAddressRangeEnd) {
        if (!m->GpuMmuSupported)
            REFUSE("CAPS-039", "InternalGpuVirtualAddressRange is set without GPU virtual addressing");
        if ((caps->InternalGpuVirtualAddressRangeStart | caps->InternalGpuVirtualAddressRangeEnd) & 0xFFFF ||
            caps->InternalGpuVirtualAddressRangeStart >= caps->InternalGpuVirtualAddressRangeEnd)
            REFUSE("CAPS-040", "InternalGpuVirtualAddressRange 0x%llx..0x%llx is empty or not in 64 KB units",
                   (unsigned long long)caps->InternalGpuVirtualAddressRangeStart,
                   (unsigned long long)caps->InternalGpuVirtualAddressRangeEnd);
    }
    return STATUS_SUCCESS;
}

static NTSTATUS check_entries(struct port_adapter *adapter)
{
    struct ddi_adapter *d = &adapter->ddi;
    const DXGK_VIDMMCAPS *m = &adapter->caps.MemoryManagementCaps;

    static const struct {
        size_t offset;
        const char *name;
    } always[] = {
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiCreateDevice), "DxgkDdiCreateDevice"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiDestroyDevice), "DxgkDdiDestroyDevice"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiCreateAllocation), "DxgkDdiCreateAllocation"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiDestroyAllocation), "DxgkDdiDestroyAllocation"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiOpenAllocation), "DxgkDdiOpenAllocation"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiCloseAllocation), "DxgkDdiCloseAllocation"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiBuildPagingBuffer), "DxgkDdiBuildPagingBuffer"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiSubmitCommand), "DxgkDdiSubmitCommand"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiPreemptCommand), "DxgkDdiPreemptCommand"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiResetFromTimeout), "DxgkDdiResetFromTimeout"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiRestartFromTimeout), "DxgkDdiRestartFromTimeout"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiCollectDbgInfo), "DxgkDdiCollectDbgInfo"},
    };

    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
        const void *entry;

        memcpy(&entry, (const char *)&d->table + always[i].offset, sizeof(entry));
        if (!entry && !(d->compute_only && always[i].offset == offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiSubmitCommand)))
            REFUSE("LIFE-023", "%s is NULL", always[i].name);
    }
    if (adapter->caps.SchedulingCaps.MultiEngineAware && (!ddi_has(d, DxgkDdiCreateContext) || !ddi_has(d, DxgkDdiDestroyContext)))
        REFUSE("LIFE-023", "MultiEngineAware is set, but DxgkDdiCreateContext or DxgkDdiDestroyContext is NULL");
    if (m->GpuMmuSupported) {
        if (!ddi_has(d, DxgkDdiCreateProcess) || !ddi_has(d, DxgkDdiDestroyProcess) || !ddi_has(d, DxgkDdiSetRootPageTable) ||
            !ddi_has(d, DxgkDdiSubmitCommandVirtual))
            REFUSE("GPUVA-004", "GpuMmuSupported needs CreateProcess, DestroyProcess, SetRootPageTable and SubmitCommandVirtual");
        if (d->compute_only && !ddi_has(d, DxgkDdiGetRootPageTableSize))
            REFUSE("GPUVA-004", "a compute-only GpuMmu driver needs DxgkDdiGetRootPageTableSize");
    }
    if (adapter->driver->table.Version >= DXGKDDI_INTERFACE_VERSION_WDDM1_3 && !ddi_has(d, DxgkDdiGetNodeMetadata))
        REFUSE("CAPS-097", "DxgkDdiGetNodeMetadata is NULL on a driver of WDDM 1.3 or later");
    return STATUS_SUCCESS;
}

static NTSTATUS query_driver_caps(struct port_adapter *adapter)
{
    NTSTATUS status;

    memset(&adapter->caps, 0, sizeof(adapter->caps));
    status = port_query(adapter, DXGKQAITYPE_DRIVERCAPS, NULL, 0, &adapter->caps, caps_bytes(adapter->driver->table.Version));
    if (!NT_SUCCESS(status)) {
        NOTE("CAPS-004", "DXGKQAITYPE_DRIVERCAPS failed with 0x%08x", (unsigned)status);
        return status;
    }
    adapter->ddi.compute_only = adapter->caps.MiscCaps.ComputeOnly;
    adapter->ddi.low_irql_preempt = adapter->caps.SchedulingCaps.LowIrqlPreemptCommand;
    if (adapter->caps.InterruptMessageNumber >= bus_device_description(adapter->device)->messages)
        REFUSE("CAPS-025", "InterruptMessageNumber %u is not below the %u messages granted", adapter->caps.InterruptMessageNumber,
               bus_device_description(adapter->device)->messages);
    status = check_version_claims(adapter);
    if (NT_SUCCESS(status))
        status = check_scheduling(adapter);
    if (NT_SUCCESS(status))
        status = check_memory(adapter);
    if (NT_SUCCESS(status))
        status = check_entries(adapter);
    return status;
}

/* ---- physical adapter, isolation data ---- */

static NTSTATUS query_physical_adapter(struct port_adapter *adapter)
{
    DXGK_QUERYPHYSICALADAPTERCAPSIN in = {.PhysicalAdapterIndex = 0};
    DXGK_PHYSICALADAPTERCAPS *caps = &adapter->physical_caps;
    const DXGK_VIDMMCAPS *m = &adapter->caps.MemoryManagementCaps;
    NTSTATUS status;

    adapter->nodes = adapter->caps.SchedulingCaps.MultiEngineAware ? adapter->caps.GpuEngineTopology.NbAsymetricProcessingNodes : 1;
    memset(caps, 0, sizeof(*caps));
    if (adapter->driver->table.Version < DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        return STATUS_SUCCESS;
    status = port_query(adapter, DXGKQAITYPE_PHYSICALADAPTERCAPS, &in, sizeof(in), caps, sizeof(*caps));
    if (!NT_SUCCESS(status)) {
        if (!adapter->ddi.compute_only)
            return status;
        caps->NumExecutionNodes = (WORD)adapter->nodes; /* CAPS-095 */
        caps->Flags.GpuMmuSupported = m->GpuMmuSupported;
        caps->Flags.IoMmuSupported = m->IoMmuSupported;
        adapter->gpu_mmu = m->GpuMmuSupported;
        return STATUS_SUCCESS;
    }
    if (caps->DxgkPhysicalAdapterHandle != (HANDLE)(uintptr_t)adapter->handle)
        REFUSE("CAPS-094", "DxgkPhysicalAdapterHandle is not the DeviceHandle given to StartDevice");
    if (caps->NumExecutionNodes != adapter->nodes)
        REFUSE("CAPS-095", "NumExecutionNodes is %u, NbAsymetricProcessingNodes %u", caps->NumExecutionNodes, adapter->nodes);
    if (caps->PagingNodeIndex >= caps->NumExecutionNodes)
        REFUSE("CAPS-095", "PagingNodeIndex %u is not below the %u nodes", caps->PagingNodeIndex, caps->NumExecutionNodes);
    if ((caps->Flags.GpuMmuSupported && !m->GpuMmuSupported) || (caps->Flags.IoMmuSupported && !m->IoMmuSupported)) {
        VIOLATION("CAPS-096", "the physical adapter names an addressing model that MemoryManagementCaps lacks");
        caps->Flags.GpuMmuSupported &= m->GpuMmuSupported;
        caps->Flags.IoMmuSupported &= m->IoMmuSupported;
    }
    if ((m->GpuMmuSupported && !caps->Flags.GpuMmuSupported) || (m->IoMmuSupported && !caps->Flags.IoMmuSupported))
        REFUSE("CAPS-096", "MemoryManagementCaps names an addressing model that no physical adapter repeats");
    adapter->gpu_mmu = caps->Flags.GpuMmuSupported;
    return STATUS_SUCCESS;
}

static NTSTATUS query_isolation(struct port_adapter *adapter)
{
    UINT index = 0;
    DXGK_FRAMEBUFFERSAVEAREA area;
    DXGK_HARDWARERESERVEDRANGES ranges;
    NTSTATUS status;

    if (!adapter->caps.MemoryManagementCaps.IoMmuSecureModeSupported ||
        adapter->driver->table.Version < DXGKDDI_INTERFACE_VERSION_WDDM2_4)
        return STATUS_SUCCESS;
    memset(&area, 0, sizeof(area));
    status = port_query(adapter, DXGKQAITYPE_FRAMEBUFFERSAVESIZE, &index, sizeof(index), &area, sizeof(area));
    if (!NT_SUCCESS(status)) {
        NOTE("CAPS-064", "DXGKQAITYPE_FRAMEBUFFERSAVESIZE failed with 0x%08x", (unsigned)status);
        return status;
    }
    if (area.MaximumSize % PAGE_BYTES)
        REFUSE("CAPS-118", "the frame buffer save size 0x%llx is no multiple of a page", (unsigned long long)area.MaximumSize);
    if (area.MaximumSize) {
        status = physical_save_create(adapter->physical, 0, area.MaximumSize);
        if (!NT_SUCCESS(status))
            return status;
    }
    memset(&ranges, 0, sizeof(ranges));
    status = port_query(adapter, DXGKQAITYPE_HARDWARERESERVEDRANGES, &index, sizeof(index), &ranges, sizeof(ranges));
    if (!NT_SUCCESS(status)) {
        NOTE("CAPS-064", "DXGKQAITYPE_HARDWARERESERVEDRANGES failed with 0x%08x", (unsigned)status);
        return status;
    }
    if (ranges.NumRanges) {
        NOTE("CAPS-119", "the driver reserves %u ranges of bus memory; none exist on this machine", (unsigned)ranges.NumRanges);
        REFUSE("CAPS-119", "a hardware reserved range touches RAM that the memory manager owns");
    }
    return STATUS_SUCCESS;
}

/* ---- optional ones, asked for their effect on the driver and the report ---- */

static NTSTATUS query_power_components(struct port_adapter *adapter)
{
    UINT count = 0;

    if (adapter->driver->table.Version < DXGKDDI_INTERFACE_VERSION_WIN8)
        return STATUS_SUCCESS;
    if (!NT_SUCCESS(port_query(adapter, DXGKQAITYPE_NUMPOWERCOMPONENTS, NULL, 0, &count, sizeof(count))))
        return STATUS_SUCCESS;
    if (count && !adapter->caps.SupportRuntimePowerManagement)
        VIOLATION("CAPS-107", "%u power components without SupportRuntimePowerManagement", count);
    return STATUS_SUCCESS;
}

static NTSTATUS query_history(struct port_adapter *adapter)
{
    DXGKARG_HISTORYBUFFERPRECISION precision[PORT_MAX_NODES];
    DXGK_QUERYHISTORYBUFFERPRECISIONIN in = {.PhysicalAdapterIndex = 0};
    bool takes_input = adapter->driver->table.Version >= DXGKDDI_INTERFACE_VERSION_WDDM2_0;
    NTSTATUS status;

    if (adapter->driver->table.Version < DXGKDDI_INTERFACE_VERSION_WDDM1_3)
        return STATUS_SUCCESS;
    memset(precision, 0, sizeof(precision));
    status = port_query(adapter, DXGKQAITYPE_HISTORYBUFFERPRECISION, takes_input ? &in : NULL, takes_input ? sizeof(in) : 0,
                        precision, adapter->nodes * (UINT)sizeof(precision[0]));
    if (!NT_SUCCESS(status))
        return STATUS_SUCCESS;
    for (UINT i = 0; i < adapter->nodes; i++)
        if (precision[i].PrecisionBits != 0 && (precision[i].PrecisionBits < 32 || precision[i].PrecisionBits > 64))
            REFUSE("CAPS-108", "PrecisionBits of node %u is %u", i, precision[i].PrecisionBits);
    return STATUS_SUCCESS;
}

NTSTATUS port_query_after_start(struct port_adapter *adapter)
{
    NTSTATUS status = query_driver_caps(adapter);

    if (NT_SUCCESS(status))
        status = query_physical_adapter(adapter);
    if (NT_SUCCESS(status))
        status = query_isolation(adapter);
    if (NT_SUCCESS(status))
        status = port_query_segments(adapter);
    if (NT_SUCCESS(status))
        status = port_query_mmu(adapter);
    if (NT_SUCCESS(status))
        status = port_query_nodes(adapter);
    if (NT_SUCCESS(status))
        status = query_power_components(adapter);
    if (NT_SUCCESS(status))
        status = query_history(adapter);
    return status;
}
