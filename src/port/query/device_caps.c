/* SPDX-License-Identifier: MIT */
/* The queries before StartDevice: WDDMDEVICECAPS, PHYSICAL_MEMORY_CAPS, IOMMU_CAPS (LIFE-050). */
#include <string.h>

#include "port/query/device_caps.h"
#include "port/query/query.h"
#include "port/record/adapter_record.h"
#include "port/record/versions.h"

void port_device_caps_query(struct port_adapter *adapter)
{
    UINT version = port_driver_version(adapter);
    NTSTATUS status;

    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_6) {
        DXGK_WDDMDEVICECAPSIN in = {.DxgkrnlInterfaceVersion = port_version_of_host(adapter->port)};
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
}
