/* SPDX-License-Identifier: MIT */
/* The configuration of an IOMMU, checked and handed to the port driver. */
#ifndef DXGK_HOST_IOMMU_H
#define DXGK_HOST_IOMMU_H

struct dxgk_machine_config;
struct port_config;

/* NULL: the configuration is possible; else why not. */
const char *host_iommu_check(const struct dxgk_machine_config *config);
void host_iommu_configure(const struct dxgk_machine_config *config, struct port_config *port);

#endif
