/* SPDX-License-Identifier: MIT */
/* The queries of an adapter's start, in order (LIFE-050, LIFE-072). Every answer is checked. */
#include "port/query_order.h"
#include "port/query/components.h"
#include "port/query/description.h"
#include "port/query/device_caps.h"
#include "port/query/driver_caps.h"
#include "port/query/later_types.h"
#include "port/query/mmu.h"
#include "port/query/nodes.h"
#include "port/query/reserved_ranges.h"
#include "port/query/segments.h"
#include "port/running/domain.h"
#include "port/running/domain_reserve.h"

NTSTATUS port_query_order_before_start(struct port_adapter *adapter)
{
    port_device_caps_query(adapter);
    return port_domain_choose_mode(adapter);
}

static NTSTATUS reserve_ranges(struct port_adapter *adapter)
{
    NTSTATUS status;

    if (!port_reserved_ranges_due(adapter))
        return STATUS_SUCCESS;
    status = port_reserved_ranges_query(adapter);
    return NT_SUCCESS(status) ? port_domain_reserve(adapter) : status;
}

NTSTATUS port_query_order_after_start(struct port_adapter *adapter)
{
    static NTSTATUS (*const step[])(struct port_adapter *) = {
        port_driver_caps_query,
        port_driver_caps_query_physical,
        reserve_ranges,
        port_mmu_query,
        port_nodes_query,
        port_segments_query,
        port_later_types_query,
        port_domain_reserve_segments,
        port_mmu_check_segments,
        port_components_query,
        port_description_query_history,
        port_description_query,
    };

    for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
        NTSTATUS status = step[i](adapter);

        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}
