/* SPDX-License-Identifier: MIT */
/*
 * The queries of DxgkDdiQueryAdapterInfo and their order (LIFE-050, LIFE-072). Every answer is checked; the first breach of a rule
 * is one violation that names the rule and the value, and refuses the adapter (LIFE-003).
 */
#include <string.h>

#include "port/port_private.h"

#define GUARD_BYTES    64u
#define LARGEST_ANSWER 1024u
#define GUARD_FILL     0xA7

/* CAPS-002, CAPS-003: documented, or "not known to the driver"; or no word of the driver at all. */
static bool expected_failure(NTSTATUS status)
{
    return status == STATUS_NOT_SUPPORTED || status == STATUS_NOT_IMPLEMENTED ||
           status == STATUS_INVALID_PARAMETER || status == STATUS_NO_MEMORY ||
           status == STATUS_GRAPHICS_DRIVER_MISMATCH || status == STATUS_DEVICE_REMOVED;
}

NTSTATUS port_query(struct port_adapter *adapter, DXGK_QUERYADAPTERINFOTYPE type, const void *input,
                    UINT input_bytes, void *output, UINT output_bytes)
{
    DXGKARG_QUERYADAPTERINFO args;
    _Alignas(16) uint8_t
        buffer[LARGEST_ANSWER +
               2 * GUARD_BYTES]; /* not of the heap: a failed allocation is no answer of the driver's */
    uint64_t in_copy[8] = {0};
    NTSTATUS status;

    if (output_bytes > LARGEST_ANSWER || input_bytes > sizeof(in_copy))
        return STATUS_INVALID_PARAMETER;
    memset(buffer, GUARD_FILL, GUARD_BYTES);
    memset(buffer + GUARD_BYTES + output_bytes, GUARD_FILL, GUARD_BYTES);
    memcpy(buffer + GUARD_BYTES, output,
           output_bytes); /* zeros, but for the second call of a pair */
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
            VIOLATION("CAPS-005", "the answer to query type %d was written outside its %u bytes",
                      (int)type, output_bytes);
            break;
        }
    }
    if (input_bytes && memcmp(in_copy, input, input_bytes) != 0)
        VIOLATION("CAPS-007", "the input of query type %d was changed", (int)type);
    if (NT_SUCCESS(status))
        memcpy(output, buffer + GUARD_BYTES, output_bytes);
    if (!NT_SUCCESS(status) && !expected_failure(status))
        WARNING("CAPS-003", "query type %d failed with 0x%08x", (int)type, (unsigned)status);
    return status;
}

/* ---- before StartDevice ---- */

NTSTATUS port_query_before_start(struct port_adapter *adapter)
{
    UINT version = port_driver_version(adapter);
    NTSTATUS status;

    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_6) {
        DXGK_WDDMDEVICECAPSIN in = {
            .DxgkrnlInterfaceVersion = port_interface_version(adapter->port)};
        DXGK_WDDMDEVICECAPS out;

        memset(&out, 0, sizeof(out));
        status = port_query(adapter, DXGKQAITYPE_WDDMDEVICECAPS, &in, sizeof(in), &out, sizeof(out));
        if (NT_SUCCESS(status)) /* CAPS-113 */
            adapter->caps.device_wddm = out.WDDMVersion;
    }
    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_9) {
        DXGK_PHYSICAL_MEMORY_CAPS memory;
        DXGK_IOMMU_CAPS iommu;

        memset(&memory, 0, sizeof(memory));
        memset(&iommu, 0, sizeof(iommu));
        if (NT_SUCCESS(port_query(adapter, DXGKQAITYPE_PHYSICAL_MEMORY_CAPS, NULL, 0, &memory,
                                  sizeof(memory))))
            adapter->caps.highest_visible =
                (uint64_t)memory.HighestVisibleAddress.QuadPart; /* IOMMU-009 */
        if (NT_SUCCESS(port_query(adapter, DXGKQAITYPE_IOMMU_CAPS, NULL, 0, &iommu, sizeof(iommu))))
            adapter->caps.iommu = iommu; /* IOMMU-010 */
        if (adapter->caps.iommu.Reserved) {
            VIOLATION("IOMMU-010", "reserved bits of DXGK_IOMMU_CAPS are set: 0x%x",
                      adapter->caps.iommu.Value);
            adapter->caps.iommu.Reserved = 0;
        }
    }
    return port_choose_dma_mode(adapter);
}

/* ---- after it ---- */

/* CAPS-122: a driver that was built with later headers, but says that it is one of WDDM 1.x, is treated as such. */
static UINT model_of(UINT built, UINT claimed)
{
    if (built < DXGKDDI_INTERFACE_VERSION_WDDM2_0 || !claimed || claimed >= DXGKDDI_WDDMv2)
        return built;
    if (claimed >= DXGKDDI_WDDMv1_3)
        return DXGKDDI_INTERFACE_VERSION_WDDM1_3;
    return claimed >= DXGKDDI_WDDMv1_2 ? DXGKDDI_INTERFACE_VERSION_WIN8
                                       : DXGKDDI_INTERFACE_VERSION_WIN7;
}

/* Entry points that the model does not have are not there, whatever stands in the table. */
static void drop_later_entries(struct port_adapter *adapter)
{
    DRIVER_INITIALIZATION_DATA *table = &adapter->ddi.table;
    size_t bytes = port_table_bytes(port_model_version(adapter));

    if (port_model_version(adapter) != port_driver_version(adapter))
        memset((char *)table + bytes, 0, sizeof(*table) - bytes);
}

/* CAPS-017, CAPS-018 */
static NTSTATUS query_driver_caps(struct port_adapter *adapter)
{
    NTSTATUS status;

    memset(&adapter->caps.driver, 0, sizeof(adapter->caps.driver));
    status = port_query(adapter, DXGKQAITYPE_DRIVERCAPS, NULL, 0, &adapter->caps.driver,
                        port_caps_bytes(port_driver_version(adapter)));
    if (!NT_SUCCESS(status)) {
        WARNING("CAPS-004", "DXGKQAITYPE_DRIVERCAPS failed with 0x%08x", (unsigned)status);
        return status;
    }
    adapter->ddi.compute_only = port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM2_6 &&
                                adapter->caps.driver.MiscCaps.ComputeOnly;
    adapter->caps.model = model_of(port_driver_version(adapter),
                                   (UINT)adapter->caps.driver.WDDMVersion);
    drop_later_entries(adapter);
    adapter->ddi.low_irql_preempt = adapter->caps.driver.SchedulingCaps.LowIrqlPreemptCommand;
    return port_check_caps(adapter);
}

/* CAPS-095: what a compute-only driver need not say. */
static void assume_physical_adapter(struct port_adapter *adapter)
{
    const DXGK_VIDMMCAPS *m = &adapter->caps.driver.MemoryManagementCaps;
    DXGK_PHYSICALADAPTERCAPS *caps = &adapter->caps.physical;

    memset(caps, 0, sizeof(*caps));
    caps->NumExecutionNodes = (WORD)adapter->nodes.count;
    caps->Flags.GpuMmuSupported = m->GpuMmuSupported;
    caps->Flags.IoMmuSupported = m->IoMmuSupported;
}

/* CAPS-068, CAPS-069: the paging node of a 1.x driver. */
static NTSTATUS assume_1x_adapter(struct port_adapter *adapter)
{
    const DXGK_VIDMMCAPS *m = &adapter->caps.driver.MemoryManagementCaps;

    adapter->caps.physical.NumExecutionNodes = (WORD)adapter->nodes.count;
    adapter->caps.gpu_mmu = false;
    if (!adapter->caps.driver.SchedulingCaps.MultiEngineAware)
        return STATUS_SUCCESS;
    if (m->PagingNode >= adapter->nodes.count)
        PORT_REFUSE("CAPS-069", "PagingNode %u is not below the %u nodes", m->PagingNode,
                    adapter->nodes.count);
    adapter->caps.physical.PagingNodeIndex = (WORD)m->PagingNode;
    return STATUS_SUCCESS;
}

static NTSTATUS query_physical_adapter(struct port_adapter *adapter)
{
    DXGK_QUERYPHYSICALADAPTERCAPSIN in = {.PhysicalAdapterIndex = 0};
    DXGK_PHYSICALADAPTERCAPS *caps = &adapter->caps.physical;
    const DXGK_VIDMMCAPS *m = &adapter->caps.driver.MemoryManagementCaps;
    NTSTATUS status;

    adapter->nodes.count = adapter->caps.driver.SchedulingCaps.MultiEngineAware
                               ? adapter->caps.driver.GpuEngineTopology.NbAsymetricProcessingNodes
                               : 1;
    memset(caps, 0, sizeof(*caps));
    if (port_model_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        return assume_1x_adapter(adapter);
    status = port_query(adapter, DXGKQAITYPE_PHYSICALADAPTERCAPS, &in, sizeof(in), caps,
                        port_physical_caps_bytes(port_driver_version(adapter)));
    if (!NT_SUCCESS(status)) {
        if (!adapter->ddi.compute_only)
            return status;
        assume_physical_adapter(adapter);
    } else if (caps->DxgkPhysicalAdapterHandle != adapter->handle) {
        PORT_REFUSE("CAPS-094",
                    "DxgkPhysicalAdapterHandle is not the DeviceHandle given to StartDevice");
    }
    if (caps->NumExecutionNodes != adapter->nodes.count)
        PORT_REFUSE("CAPS-095", "NumExecutionNodes is %u, NbAsymetricProcessingNodes %u",
                    caps->NumExecutionNodes, adapter->nodes.count);
    if (caps->PagingNodeIndex >= caps->NumExecutionNodes)
        PORT_REFUSE("CAPS-069", "PagingNodeIndex %u is not below the %u nodes",
                    caps->PagingNodeIndex, caps->NumExecutionNodes);
    if ((caps->Flags.GpuMmuSupported && !m->GpuMmuSupported) ||
        (caps->Flags.IoMmuSupported && !m->IoMmuSupported)) {
        VIOLATION("CAPS-096",
                  "the physical adapter names an addressing model that MemoryManagementCaps lacks");
        caps->Flags.GpuMmuSupported &= m->GpuMmuSupported;
        caps->Flags.IoMmuSupported &= m->IoMmuSupported;
    }
    if ((m->GpuMmuSupported && !caps->Flags.GpuMmuSupported) ||
        (m->IoMmuSupported && !caps->Flags.IoMmuSupported))
        PORT_REFUSE(
            "CAPS-096",
            "MemoryManagementCaps names an addressing model that no physical adapter repeats");
    adapter->caps.gpu_mmu = caps->Flags.GpuMmuSupported;
    adapter->caps.shared_address_space = caps->Flags.IoMmuSupported &&
                                         port_shares_address_spaces(adapter->port);
    return STATUS_SUCCESS;
}

/* ---- isolation: what must be saved, and what the device uses without being given it ---- */

static NTSTATUS query_save_area(struct port_adapter *adapter)
{
    UINT index = 0;
    DXGK_FRAMEBUFFERSAVEAREA area;
    NTSTATUS status;

    memset(&area, 0, sizeof(area));
    status = port_query(adapter, DXGKQAITYPE_FRAMEBUFFERSAVESIZE, &index, sizeof(index), &area,
                        sizeof(area));
    if (!NT_SUCCESS(status)) {
        WARNING("CAPS-064", "DXGKQAITYPE_FRAMEBUFFERSAVESIZE failed with 0x%08x", (unsigned)status);
        return status;
    }
    if (area.MaximumSize % PAGE_BYTES)
        PORT_REFUSE("CAPS-118", "the frame buffer save size 0x%llx is no multiple of a page",
                    (unsigned long long)area.MaximumSize);
    return area.MaximumSize ? physical_save_create(adapter->domain.physical, 0, area.MaximumSize)
                            : STATUS_SUCCESS;
}

/* Asked twice: how many, and which. */
static NTSTATUS query_reserved_ranges(struct port_adapter *adapter)
{
    UINT index = 0;
    DXGK_HARDWARERESERVEDRANGES ranges;
    NTSTATUS status;

    memset(&ranges, 0, sizeof(ranges));
    status = port_query(adapter, DXGKQAITYPE_HARDWARERESERVEDRANGES, &index, sizeof(index), &ranges,
                        sizeof(ranges));
    if (!NT_SUCCESS(status)) {
        WARNING("CAPS-064", "DXGKQAITYPE_HARDWARERESERVEDRANGES failed with 0x%08x",
                (unsigned)status);
        return status;
    }
    if (!ranges.NumRanges)
        return STATUS_SUCCESS;
    if (ranges.NumRanges > 4096)
        PORT_REFUSE("CAPS-119", "the driver reports %u hardware reserved ranges",
                    (unsigned)ranges.NumRanges);
    adapter->domain.reserved = util_zalloc(ranges.NumRanges, sizeof(*adapter->domain.reserved));
    if (!adapter->domain.reserved)
        return STATUS_NO_MEMORY;
    adapter->domain.reserved_count = ranges.NumRanges;
    ranges.pPhysicalRanges = adapter->domain.reserved;
    status = port_query(adapter, DXGKQAITYPE_HARDWARERESERVEDRANGES, &index, sizeof(index), &ranges,
                        sizeof(ranges));
    if (!NT_SUCCESS(status)) {
        WARNING("CAPS-064", "DXGKQAITYPE_HARDWARERESERVEDRANGES failed with 0x%08x",
                (unsigned)status);
        return status;
    }
    if (ranges.NumRanges != adapter->domain.reserved_count) {
        verify_fatal("IOMMU-078", VIDEO_MEMORY_MANAGEMENT_INTERNAL, 0x2F,
                     adapter->domain.reserved_count, ranges.NumRanges, 0,
                     "the driver reported %u hardware reserved ranges first and %u then",
                     (unsigned)adapter->domain.reserved_count, (unsigned)ranges.NumRanges);
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    }
    if (ranges.pPhysicalRanges != adapter->domain.reserved)
        PORT_REFUSE("CAPS-119", "the driver changed pPhysicalRanges of DXGK_HARDWARERESERVEDRANGES");
    return port_domain_reserve(adapter);
}

/* What was answered at the first start stays, as the domain does. */
static NTSTATUS query_isolation(struct port_adapter *adapter)
{
    NTSTATUS status;

    if (!adapter->caps.driver.MemoryManagementCaps.IoMmuSecureModeSupported ||
        port_model_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM2_4 ||
        adapter->domain.isolation_asked)
        return STATUS_SUCCESS;
    adapter->domain.isolation_asked = true;
    status = query_save_area(adapter);
    return NT_SUCCESS(status) ? query_reserved_ranges(adapter) : status;
}

/* ---- optional ones ---- */

static NTSTATUS query_history(struct port_adapter *adapter)
{
    DXGKARG_HISTORYBUFFERPRECISION precision[PORT_MAX_NODES];
    DXGK_QUERYHISTORYBUFFERPRECISIONIN in = {.PhysicalAdapterIndex = 0};
    bool takes_input = port_model_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM2_0;
    NTSTATUS status;

    if (port_model_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM1_3)
        return STATUS_SUCCESS;
    memset(precision, 0, sizeof(precision));
    status = port_query(adapter, DXGKQAITYPE_HISTORYBUFFERPRECISION, takes_input ? &in : NULL,
                        takes_input ? sizeof(in) : 0, precision,
                        adapter->nodes.count * (UINT)sizeof(precision[0]));
    if (!NT_SUCCESS(status))
        return adapter->ddi.compute_only ? status : STATUS_SUCCESS; /* CAPS-013 */
    for (UINT i = 0; i < adapter->nodes.count; i++)
        if (precision[i].PrecisionBits != 0 &&
            (precision[i].PrecisionBits < 32 || precision[i].PrecisionBits > 64))
            PORT_REFUSE("CAPS-108", "PrecisionBits of node %u is %u", i, precision[i].PrecisionBits);
    return STATUS_SUCCESS;
}

/* CAPS-110, CAPS-111: their failure says nothing. */
static NTSTATUS query_description(struct port_adapter *adapter)
{
    UINT version = port_model_version(adapter);
    DXGK_DEVICE_TYPE_CAPS type;

    memset(&adapter->description.gpu_version, 0, sizeof(adapter->description.gpu_version));
    memset(&adapter->description.perf_caps, 0, sizeof(adapter->description.perf_caps));
    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_4) {
        (void)port_query(adapter, DXGKQAITYPE_GPUVERSION, NULL, 0, &adapter->description.gpu_version,
                         sizeof(adapter->description.gpu_version));
        (void)port_query(adapter, DXGKQAITYPE_ADAPTERPERFDATA_CAPS, NULL, 0,
                         &adapter->description.perf_caps, sizeof(adapter->description.perf_caps));
    }
    if (version < DXGKDDI_INTERFACE_VERSION_WDDM2_5 || adapter->ddi.compute_only)
        return STATUS_SUCCESS;
    memset(&type, 0, sizeof(type));
    if (!NT_SUCCESS(port_query(adapter, DXGKQAITYPE_DEVICE_TYPE_CAPS, NULL, 0, &type, sizeof(type))))
        return STATUS_SUCCESS;
    if (type.Detachable != adapter->caps.driver.MiscCaps.Detachable)
        PORT_REFUSE("CAPS-111", "DXGK_DEVICE_TYPE_CAPS.Detachable is %u, MiscCaps.Detachable %u",
                    type.Detachable, adapter->caps.driver.MiscCaps.Detachable);
    return STATUS_SUCCESS;
}

NTSTATUS port_query_after_start(struct port_adapter *adapter)
{
    static NTSTATUS (*const step[])(struct port_adapter *) = {
        query_driver_caps,   query_physical_adapter,       query_isolation,
        port_query_segments, port_domain_reserve_segments, port_query_mmu,
        port_query_nodes,    port_query_components,        query_history,
        query_description,
    };

    for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
        NTSTATUS status = step[i](adapter);

        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}
