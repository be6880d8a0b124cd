/* SPDX-License-Identifier: MIT */
/* HISTORYBUFFERPRECISION, GPUVERSION, ADAPTERPERFDATA_CAPS, DEVICE_TYPE_CAPS (CAPS-108 to
 * CAPS-111). */
#include <string.h>

#include "port/query/description.h"
#include "ddi/ddi.h"
#include "nt/base/status_name.h"
#include "port/query/query.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"

/* CAPS-108; a precision that is none counts as none. */
static void note_precision(struct port_adapter *adapter, UINT node, UINT bits)
{
    struct vidsch_node_info *info = &adapter->nodes.node[node];
    const bool valid = bits == 0 || (bits >= 32 && bits <= 64);

    if (!valid)
        PORT_FINDING(adapter, "CAPS-108", "PrecisionBits of node %u is %u", node, bits);
    info->stamp_bits = valid ? bits : 0;
    info->stamps = valid && (bits || ddi_has(&adapter->ddi, DxgkDdiFormatHistoryBuffer));
}

NTSTATUS port_description_query_history(struct port_adapter *adapter)
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
    if (!NT_SUCCESS(status) && adapter->ddi.compute_only && !port_query_not_offered(status))
        return status;
    if (!NT_SUCCESS(status) && adapter->ddi.compute_only)
        PORT_EXPECTED(adapter, "CAPS-013", "a compute-only driver answers %s with %s",
                      port_query_name(DXGKQAITYPE_HISTORYBUFFERPRECISION),
                      nt_status_text(status).text);
    for (UINT i = 0; i < adapter->nodes.count; i++)
        adapter->nodes.node[i].stamps = false;
    if (!NT_SUCCESS(status))
        return STATUS_SUCCESS;
    for (UINT i = 0; i < adapter->nodes.count; i++)
        note_precision(adapter, i, precision[i].PrecisionBits);
    return STATUS_SUCCESS;
}

/* CAPS-110, CAPS-111: a failure of these queries has no consequence. */
NTSTATUS port_description_query(struct port_adapter *adapter)
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
        PORT_FINDING(adapter, "CAPS-111",
                     "DXGK_DEVICE_TYPE_CAPS.Detachable is %u, MiscCaps.Detachable %u",
                     type.Detachable, adapter->caps.driver.MiscCaps.Detachable);
    return STATUS_SUCCESS;
}
