/* SPDX-License-Identifier: MIT */
/*
 * The physical memory of one logical adapter: the IOMMU domain in which its driver's memory is
 * mapped, and the owner of all that the driver gets through the services. Used by the code that
 * creates, starts and stops adapters.
 */
#ifndef DXGK_PHYSMEM_PHYSICAL_ADAPTER_H
#define DXGK_PHYSMEM_PHYSICAL_ADAPTER_H

#include <stdbool.h>

struct iommu_domain;
struct physical_adapter;
struct physical_memory;

struct physical_adapter_config {
    struct physical_memory *memory;
    struct iommu_domain *domain; /* outlives the adapter */
    const char *name;            /* for reports; copied */
    const void *driver;          /* identity of the driver image */
    bool legacy_refused;         /* WDDM 3.0 driver with DmaRemappingSupported (IOMMU-093) */
};

struct physical_adapter *physical_adapter_create(const struct physical_adapter_config *config);
/* Reclaims whatever is left (after DxgkDdiRemoveDevice, PHYS-022). */
void physical_adapter_destroy(struct physical_adapter *adapter);
/* While not started, every acquisition is refused (LIFE-064). Initially true. */
void physical_adapter_set_started(struct physical_adapter *adapter, bool started);
/* Called once the driver's caps are known (IOMMU-093). */
void physical_adapter_set_legacy_refused(struct physical_adapter *adapter, bool refused);
/* After DxgkDdiStopDevice: report what is left (PHYS-022); adapter objects and ADLs come last and
 * are fatal (PHYS-143). Returns how many. */
unsigned physical_adapter_report_leaks(struct physical_adapter *adapter);

#endif
