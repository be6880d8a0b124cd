/* SPDX-License-Identifier: MIT */
#include "physmem/physical_gate.h"

#include "iommu/iommu.h"
#include "physmem/physical_record.h"
#include "verify/verify.h"

bool physical_gate_acquire(const struct physical_adapter *adapter)
{
    if (adapter->started)
        return true;
    VIOLATION("LIFE-064", "memory was asked for while %s is stopped", adapter->name);
    return false;
}

bool physical_gate_legacy(const struct physical_adapter *adapter)
{
    if (adapter->legacy_refused) {
        VIOLATION(
            "IOMMU-093",
            "a WDDM 3.0 driver with DmaRemappingSupported must use physical memory objects and ADLs");
        return false;
    }
    if (iommu_domain_mode(adapter->domain) == IOMMU_REMAP) {
        NOTE("IOMMU-094", "in logical mode an MDL cannot describe what the device sees");
        return false;
    }
    return true;
}
