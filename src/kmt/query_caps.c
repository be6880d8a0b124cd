/* SPDX-License-Identifier: MIT */
/* Queries answered from what the driver said about itself when it started (KMT-080 to KMT-099,
 * KMT-110, KMT-111). */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/query_caps.h"
#include "ddi/ddi.h"
#include "kmt/adapter.h"
#include "kmt/query_buffer.h"
#include "modes/modes.h"
#include "port/record/adapter_info.h"
#include "port/running/display.h"
#include "verify/refusal.h"

/* ---- version ---- */

/* KMT-081, KMT-082: 1000 .. 3100. The driver's WDDMVersion has it in its upper digits; a driver
 * that left it empty is told by the interface it was built for (CAPS-032). */
static UINT driver_version(const struct kmt_adapter *adapter)
{
    UINT claimed = (UINT)port_adapter_wddm(adapter->port);
    ULONG built = port_adapter_ddi(adapter->port)->table.Version;

    if (claimed == DXGKDDI_WDDMv1 || (!claimed && built < DXGKDDI_INTERFACE_VERSION_WIN8))
        return built >= DXGKDDI_INTERFACE_VERSION_WIN7 ? KMT_DRIVERVERSION_WDDM_1_1
                                                       : KMT_DRIVERVERSION_WDDM_1_0;
    if (claimed)
        return (claimed >> 12) * 1000 + (claimed >> 8 & 0xF) * 100; /* 0x2900: 2.9 */
    if (built >= DXGKDDI_INTERFACE_VERSION_WDDM3_0)
        return built >= DXGKDDI_INTERFACE_VERSION_WDDM3_1 ? KMT_DRIVERVERSION_WDDM_3_1
                                                          : KMT_DRIVERVERSION_WDDM_3_0;
    if (built >= DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        return KMT_DRIVERVERSION_WDDM_2_0 +
               ((built >> 12) - (DXGKDDI_INTERFACE_VERSION_WDDM2_0 >> 12)) *
                   100; /* 0x5023, 0x6003, ... */
    return built >= DXGKDDI_INTERFACE_VERSION_WDDM1_3 ? KMT_DRIVERVERSION_WDDM_1_3
                                                      : KMT_DRIVERVERSION_WDDM_1_2;
}

/* ---- caps of one WDDM version each; all bits 0 for an older driver (KMT-063) ---- */

/* PRES-264 */
static void display_caps_1_2(const struct kmt_query *query, D3DKMT_WDDM_1_2_CAPS *caps)
{
    const struct modes *modes = port_display_modes(query->adapter->port);

    caps->SupportCCD = 1;
    caps->SupportSoftwareDeviceBitmaps = query->caps->PresentationCaps.SupportSoftwareDeviceBitmaps;
    caps->SupportGammaRamp = query->caps->GammaRampCaps.Gamma_Rgb256x3x16;
    caps->SupportHWCursor = query->caps->PointerCaps.Value != 0;
    caps->SupportHWVSync = modes && modes->vsync_control;
}

static NTSTATUS caps_1_2(const struct kmt_query *query)
{
    D3DKMT_WDDM_1_2_CAPS caps;

    memset(&caps, 0, sizeof(caps));
    if (driver_version(query->adapter) >= KMT_DRIVERVERSION_WDDM_1_2) {
        caps.PreemptionCaps = query->caps->PreemptionCaps; /* KMT-086, KMT-087 */
        caps.SupportNonVGA = query->caps->SupportNonVGA != 0;
        caps.SupportSmoothRotation = query->caps->SupportSmoothRotation != 0;
        caps.SupportPerEngineTDR = query->caps->SupportPerEngineTDR != 0;
        caps.SupportKernelModeCommandBuffer =
            query->caps->PresentationCaps.SupportKernelModeCommandBuffer;
        caps.SupportSurpriseRemovalInHibernation = query->caps->SupportSurpriseRemovalInHibernation !=
                                                   0;
        if (port_adapter_sources(query->adapter->port))
            display_caps_1_2(query, &caps);
    }
    return kmt_query_put(query, &caps, sizeof(caps));
}

static NTSTATUS caps_1_3(const struct kmt_query *query)
{
    D3DKMT_WDDM_1_3_CAPS caps;

    memset(&caps, 0, sizeof(caps));
    if (driver_version(query->adapter) >= KMT_DRIVERVERSION_WDDM_1_3) {
        caps.IsHybridIntegratedGPU = query->caps->HybridIntegrated != 0; /* KMT-088, KMT-089 */
        caps.IsHybridDiscreteGPU = query->caps->HybridDiscrete != 0;
        caps.SupportCrossAdapterResource = query->caps->MemoryManagementCaps.CrossAdapterResource;
    }
    return kmt_query_put(query, &caps, sizeof(caps));
}

static NTSTATUS caps_2_0(const struct kmt_query *query)
{
    D3DKMT_WDDM_2_0_CAPS caps;

    memset(&caps, 0, sizeof(caps));
    if (driver_version(query->adapter) >= KMT_DRIVERVERSION_WDDM_2_0) {
        caps.Support64BitAtomics = !query->caps->SchedulingCaps.No64BitAtomics; /* KMT-090 */
        caps.GpuMmuSupported = query->caps->MemoryManagementCaps.GpuMmuSupported;
        caps.IoMmuSupported = query->caps->MemoryManagementCaps.IoMmuSupported;
        caps.SupportSurpriseRemoval = query->caps->SupportSurpriseRemoval != 0;
    }
    return kmt_query_put(query, &caps, sizeof(caps));
}

static NTSTATUS caps_2_7(const struct kmt_query *query)
{
    const struct port_hw_scheduling hw = port_adapter_hw_scheduling(query->adapter->port);
    D3DKMT_WDDM_2_7_CAPS caps;

    memset(&caps, 0, sizeof(caps));
    if (driver_version(query->adapter) >= KMT_DRIVERVERSION_WDDM_2_7) {
        caps.HwSchSupported = hw.support != DXGK_FEATURE_SUPPORT_ALWAYS_OFF; /* KMT-091 */
        caps.HwSchEnabled = hw.enabled;
        caps.HwSchEnabledByDefault = hw.by_default;
    }
    return kmt_query_put(query, &caps, sizeof(caps));
}

static NTSTATUS caps_2_9(const struct kmt_query *query)
{
    const struct port_hw_scheduling hw = port_adapter_hw_scheduling(query->adapter->port);
    D3DKMT_WDDM_2_9_CAPS caps;

    memset(&caps, 0, sizeof(caps));
    if (driver_version(query->adapter) >= KMT_DRIVERVERSION_WDDM_2_9) {
        caps.HwSchSupportState = hw.support & 3u;
        caps.HwSchEnabled = hw.enabled;
    }
    return kmt_query_put(query, &caps, sizeof(caps));
}

/* KMT-092: no flip queue is on in this host. */
static NTSTATUS caps_empty(const struct kmt_query *query)
{
    UINT none = 0;

    return kmt_query_put(query, &none, sizeof(none));
}

/* KMT-093: the cap is cleared at the start if the feature was not granted (SUBMIT-148). */
static NTSTATUS caps_3_1(const struct kmt_query *query)
{
    D3DKMT_WDDM_3_1_CAPS caps = {.Value = 0};

    caps.NativeGpuFenceSupported = query->caps->SchedulingCaps.NativeGpuFence;
    return kmt_query_put(query, &caps, sizeof(caps));
}

/* ---- what kind of adapter it is ---- */

static bool is_prototype(const struct kmt_query *query)
{
    return query->caps->MiscCaps.ComputeOnly &&
           !query->caps->MemoryManagementCaps.VirtualAddressingSupported; /* CAPS-063 */
}

static NTSTATUS adapter_type(const struct kmt_query *query)
{
    D3DKMT_ADAPTERTYPE type;

    memset(&type, 0, sizeof(type));
    type.RenderSupported = !port_adapter_display_only(query->adapter->port); /* KMT-083, KMT-084 */
    type.DisplaySupported = port_adapter_sources(query->adapter->port) > 0;  /* PRES-263 */
    type.PostDevice = port_adapter_is_post(query->adapter->port);
    type.SupportSetTimingsFromVidPn = port_uses_connections(query->adapter->port);
    type.HybridDiscrete = query->caps->HybridDiscrete != 0;
    type.HybridIntegrated = query->caps->HybridIntegrated != 0;
    type.Detachable = query->caps->MiscCaps.Detachable;
    type.ComputeOnly = query->caps->MiscCaps.ComputeOnly;
    type.Prototype = is_prototype(query);
    type.RuntimePowerManagement = query->caps->SupportRuntimePowerManagement != 0;
    return kmt_query_put(query, &type, sizeof(type));
}

static NTSTATUS node_metadata(const struct kmt_query *query)
{
    const DXGKARG_GETNODEMETADATA *metadata;
    D3DKMT_NODEMETADATA node;
    NTSTATUS status = kmt_query_get(query, &node, sizeof(node));

    if (!NT_SUCCESS(status))
        return status;
    if (DXGKNODEMETADATA_GETPHYSICALADAPTERINDEX(node.NodeOrdinalAndAdapterIndex) != 0)
        return refuse(
            STATUS_INVALID_PARAMETER, "KMT-062", "physical adapter %u, there is only 0",
            (UINT)DXGKNODEMETADATA_GETPHYSICALADAPTERINDEX(node.NodeOrdinalAndAdapterIndex));
    metadata = port_adapter_node(query->adapter->port,
                                 DXGKNODEMETADATA_GETNODEORDINAL(node.NodeOrdinalAndAdapterIndex));
    if (!metadata)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-094", "node %u, the adapter has %u",
                      (UINT)DXGKNODEMETADATA_GETNODEORDINAL(node.NodeOrdinalAndAdapterIndex),
                      (UINT)port_adapter_nodes(query->adapter->port));
    node.NodeData = *metadata;
    return kmt_query_put(query, &node, sizeof(node));
}

static NTSTATUS gpu_mmu_caps(const struct kmt_query *query)
{
    D3DKMT_QUERY_GPUMMU_CAPS answer;
    const DXGK_GPUMMUCAPS *mmu = port_adapter_mmu(query->adapter->port);
    NTSTATUS status = kmt_query_get(query, &answer, sizeof(answer));

    if (!NT_SUCCESS(status))
        return status;
    if (answer.PhysicalAdapterIndex != 0)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-062", "physical adapter %u, there is only 0",
                      (UINT)answer.PhysicalAdapterIndex);
    if (!port_adapter_gpu_mmu(query->adapter->port))
        return refuse(STATUS_NOT_SUPPORTED, "KMT-099", "the adapter has no GPU virtual addresses");
    memset(&answer.Caps, 0, sizeof(answer.Caps));
    answer.Caps.Flags.ReadOnlyMemorySupported = mmu->ReadOnlyMemorySupported;
    answer.Caps.Flags.NoExecuteMemorySupported = mmu->NoExecuteMemorySupported;
    answer.Caps.Flags.CacheCoherentMemorySupported = mmu->CacheCoherentMemorySupported;
    answer.Caps.VirtualAddressBitCount = mmu->VirtualAddressBitCount;
    return kmt_query_put(query, &answer, sizeof(answer));
}

static NTSTATUS virtual_address_info(const struct kmt_query *query)
{
    D3DKMT_VIRTUALADDRESSINFO info;

    memset(&info, 0, sizeof(info));
    info.VirtualAddressFlags.VirtualAddressSupported =
        query->caps->MemoryManagementCaps.VirtualAddressingSupported; /* KMT-080 */
    return kmt_query_put(query, &info, sizeof(info));
}

static NTSTATUS cross_adapter_support(const struct kmt_query *query)
{
    const DXGK_VIDMMCAPS *caps = &query->caps->MemoryManagementCaps;
    D3DKMT_CROSSADAPTERRESOURCE_SUPPORT answer = {D3DKMT_CROSSADAPTERRESOURCE_SUPPORT_TIER_NONE};

    if (caps->CrossAdapterResource) /* KMT-110 */
        answer.SupportTier = caps->CrossAdapterResourceScanout
                                 ? D3DKMT_CROSSADAPTERRESOURCE_SUPPORT_TIER_SCANOUT
                             : caps->CrossAdapterResourceTexture
                                 ? D3DKMT_CROSSADAPTERRESOURCE_SUPPORT_TIER_TEXTURE
                                 : D3DKMT_CROSSADAPTERRESOURCE_SUPPORT_TIER_COPY;
    return kmt_query_put(query, &answer, sizeof(answer));
}

static NTSTATUS tracked_workload(const struct kmt_query *query)
{
    D3DKMT_TRACKEDWORKLOAD_SUPPORT answer;
    NTSTATUS status = kmt_query_get(query, &answer, sizeof(answer));

    if (!NT_SUCCESS(status))
        return status;
    if (answer.PhysicalAdapterIndex != 0)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-062", "physical adapter %u, there is only 0",
                      (UINT)answer.PhysicalAdapterIndex);
    answer.Support = FALSE; /* KMT-111 */
    for (UINT i = 0; i < port_adapter_nodes(query->adapter->port); i++) {
        const DXGKARG_GETNODEMETADATA *node = port_adapter_node(query->adapter->port, i);

        if (node->EngineType == answer.EngineType && node->Flags.SupportTrackedWorkload)
            answer.Support = TRUE;
    }
    return kmt_query_put(query, &answer, sizeof(answer));
}

NTSTATUS kmt_query_caps(const struct kmt_query *query)
{
    switch (query->type) {
    case KMTQAITYPE_DRIVERVERSION: {
        UINT version = driver_version(query->adapter);

        return kmt_query_put(query, &version, sizeof(version));
    }
    case KMTQAITYPE_WDDM_1_2_CAPS:
        return caps_1_2(query);
    case KMTQAITYPE_WDDM_1_3_CAPS:
        return caps_1_3(query);
    case KMTQAITYPE_WDDM_2_0_CAPS:
        return caps_2_0(query);
    case KMTQAITYPE_WDDM_2_7_CAPS:
        return caps_2_7(query);
    case KMTQAITYPE_WDDM_2_9_CAPS:
        return caps_2_9(query);
    case KMTQAITYPE_WDDM_3_0_CAPS:
    case KMTQAITYPE_DRIVERCAPS_EXT:
        return caps_empty(query);
    case KMTQAITYPE_WDDM_3_1_CAPS:
        return caps_3_1(query);
    case KMTQAITYPE_ADAPTERTYPE:
        return adapter_type(query);
    case KMTQAITYPE_NODEMETADATA:
        return node_metadata(query);
    case KMTQAITYPE_QUERY_GPUMMU_CAPS:
        return gpu_mmu_caps(query);
    case KMTQAITYPE_VIRTUALADDRESSINFO:
        return virtual_address_info(query);
    case KMTQAITYPE_CROSSADAPTERRESOURCE_SUPPORT:
        return cross_adapter_support(query);
    case KMTQAITYPE_TRACKEDWORKLOAD_SUPPORT:
        return tracked_workload(query);
    default:
        return STATUS_NOT_IMPLEMENTED;
    }
}
