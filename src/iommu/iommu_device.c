/* SPDX-License-Identifier: MIT */
/* Attachment of devices to domains (IOMMU-045, IOMMU-046). */
#include "iommu/domain_record.h"
#include "iommu/io_table.h"
#include "iommu/iommu.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/wait.h"
#include "verify/verify.h"

/* Begin a change. The hardware takes time, so others may run before it is done. */
static bool begin_change(struct iommu_device *device)
{
    if (device->changing) {
        VIOLATION("IOMMU-046", "two changes of the attachment of device %u at a time",
                  device->requester);
        return false;
    }
    device->changing = true;
    if (!sim_current || !sim_current->thread || sim_current->stopped)
        return true;
    if (device->change_ns > 0)
        sim_block(sim_now() + device->change_ns, NULL);
    else
        sim_point();
    return true;
}

static bool hardware_refuses(struct iommu_device *device)
{
    if (device->skip_attaches > 0) {
        device->skip_attaches--;
        return false;
    }
    if (device->fail_attaches == 0)
        return false;
    device->fail_attaches--;
    return true;
}

enum iommu_result iommu_attach(struct iommu_domain *domain, struct iommu_device *device)
{
    enum iommu_result result = IOMMU_DONE;

    if (!begin_change(device))
        return IOMMU_BUSY;
    if (device->domain) {
        result = IOMMU_ATTACHED;
    } else if (hardware_refuses(device)) {
        result = IOMMU_BROKEN;
    } else {
        device->domain = domain;
        domain->attached++;
        domain->attached_since = true;
    }
    device->changing = false;
    return result;
}

enum iommu_result iommu_detach(struct iommu_domain *domain, struct iommu_device *device)
{
    enum iommu_result result = IOMMU_DONE;

    if (!begin_change(device))
        return IOMMU_BUSY;
    if (!domain || device->domain != domain) {
        result = IOMMU_NOT_ATTACHED;
    } else {
        device->domain = NULL;
        domain->attached--;
        /* a good time for it, since mappings change rarely now */
        io_tables_trim(&domain->tables);
    }
    device->changing = false;
    return result;
}
