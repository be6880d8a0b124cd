/* SPDX-License-Identifier: MIT */
/* How many segments an adapter may have (CAPS-073). */
#include "port/query/segment_count.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"

UINT port_segment_count_agree(struct port_adapter *adapter, UINT first, UINT second)
{
    if (first != second)
        PORT_EXPECTED(adapter, "CAPS-073", "the driver reported %u segments first and %u then",
                      first, second);
    return second < first ? second : first;
}

NTSTATUS port_segment_count_check(const struct port_adapter *adapter, UINT count)
{
    if (count > PORT_MAX_SEGMENTS || (count == 0 && !adapter->ddi.compute_only))
        PORT_REFUSE("CAPS-073", "the driver reports %u segments; 1 to %u are possible", count,
                    PORT_MAX_SEGMENTS);
    return STATUS_SUCCESS;
}
