/* SPDX-License-Identifier: MIT */
/* The IOMMU as an embedder sees it: what the configuration says of it, and secure virtual
 * machines. */
#include "host/iommu.h"
#include "dxgkhost/dxgkhost.h"
#include "host/driver.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "host/run.h"
#include "iommu/iommu.h"
#include "nt/base/status_name.h"
#include "port/record/port_config.h"
#include "port/running/isolate.h"
#include "util/explain.h"
#include "util/list.h"

#include <string.h>

_Static_assert((int)DXGK_IOMMU_DOMAIN == (int)PORT_IOMMU_DOMAIN &&
                   (int)DXGK_IOMMU_MAPPINGS == (int)PORT_IOMMU_MAPPINGS &&
                   (int)DXGK_IOMMU_ATTACH == (int)PORT_IOMMU_ATTACHED &&
                   (int)DXGK_IOMMU_BYPASS_CAP == (int)PORT_IOMMU_BYPASS_CAP &&
                   (int)DXGK_IOMMU_ALLOW_FAILURE == (int)PORT_IOMMU_ALLOW_FAILURE,
               "both are IOMMUFlags");

const char *host_iommu_check(const struct dxgk_machine_config *config)
{
    const uint32_t known = DXGK_IOMMU_DOMAIN | DXGK_IOMMU_MAPPINGS | DXGK_IOMMU_ATTACH |
                           DXGK_IOMMU_BYPASS_CAP | DXGK_IOMMU_ALLOW_FAILURE;

    if ((unsigned)config->iommu > DXGK_IOMMU_REMAP)
        return "iommu has no such mode";
    if (config->iommu_flags & ~known)
        return "iommu_flags has bits that IOMMUFlags does not have";
    return NULL;
}

void host_iommu_configure(const struct dxgk_machine_config *config, struct port_config *port)
{
    port->iommu = config->iommu == DXGK_IOMMU_REMAP       ? IOMMU_REMAP
                  : config->iommu == DXGK_IOMMU_ISOLATION ? IOMMU_ISOLATION
                                                          : IOMMU_OFF;
    port->iommu_flags = config->iommu_flags;
    port->shared_address_space = config->shared_address_space;
    port->iommu_present = config->iommu_present || config->iommu_flags ||
                          config->shared_address_space;
    port->remapping_opt_out = config->remapping_opt_out;
    port->dma_unjudged = config->dma_unjudged;
}

/* ---- secure virtual machines ---- */

struct making {
    struct dxgk_machine *machine;
    NTSTATUS status; /* of the first adapter that cannot */
};

static void make_secure_vm(void *arg)
{
    struct making *making = arg;

    LIST_FOR(node, &making->machine->adapters) {
        struct host_adapter *adapter = CONTAINER(node, struct host_adapter, link);
        NTSTATUS status = port_adapter_create_secure_vm(adapter->port);

        if (!NT_SUCCESS(status) && NT_SUCCESS(making->status))
            making->status = status;
    }
}

enum dxgk_result dxgk_machine_create_secure_vm(struct dxgk_machine *machine, char *error,
                                               size_t error_bytes)
{
    struct making making = {machine, STATUS_SUCCESS};
    enum dxgk_result result;

    if (!host_begin(machine, error, error_bytes))
        return DXGK_ERROR;
    if (machine->sim->stopped || machine->shut_down || list_empty(&machine->adapters)) {
        util_explain(error, error_bytes, "there is no adapter that runs");
        host_leave(true);
        return machine->sim->stopped ? DXGK_DRIVER_STOPPED : DXGK_ERROR;
    }
    result = host_run_kernel(machine, "secure VM", make_secure_vm, &making);
    host_leave(true);
    if (result == DXGK_OK && NT_SUCCESS(making.status))
        return DXGK_OK;
    if (result != DXGK_OK)
        util_explain(error, error_bytes, "the adapter did not change to isolation");
    else
        util_explain(error, error_bytes, "no secure virtual machine: %s",
                     nt_status_text(making.status).text);
    return result == DXGK_OK ? DXGK_ERROR : result;
}
