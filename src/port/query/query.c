/* SPDX-License-Identifier: MIT */
/* A query by DxgkDdiQueryAdapterInfo: guards around the answer, and the failures that are
 * documented. */
#include <string.h>

#include "port/query/query.h"
#include "ddi/ddi.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "sim/sim_assert.h"

#define LARGEST_ANSWER 1024u

/* Failures that are documented (CAPS-002, CAPS-003), or that did not come from the driver. */
static bool expected_failure(NTSTATUS status)
{
    return status == STATUS_NOT_SUPPORTED || status == STATUS_NOT_IMPLEMENTED ||
           status == STATUS_INVALID_PARAMETER || status == STATUS_NO_MEMORY ||
           status == STATUS_GRAPHICS_DRIVER_MISMATCH || status == STATUS_DEVICE_REMOVED;
}

NTSTATUS port_query(struct port_adapter *adapter, DXGK_QUERYADAPTERINFOTYPE type, const void *input,
                    UINT input_bytes, void *output, UINT output_bytes)
{
    DXGKARG_QUERYADAPTERINFO args;
    /* Not on the heap: a failed allocation would look like a failure of the driver. */
    _Alignas(16) uint8_t buffer[LARGEST_ANSWER + 2 * PORT_GUARD_BYTES];
    uint64_t in_copy[8] = {0};
    NTSTATUS status;

    sim_assert_passive();
    if (output_bytes > LARGEST_ANSWER || input_bytes > sizeof(in_copy))
        return STATUS_INVALID_PARAMETER;
    port_boundary_guard(buffer);
    port_boundary_guard(buffer + PORT_GUARD_BYTES + output_bytes);
    memcpy(buffer + PORT_GUARD_BYTES, output,
           output_bytes); /* zeros, except for the second call of a pair */
    memset(&args, 0, sizeof(args));
    if (input_bytes)
        memcpy(in_copy, input, input_bytes);
    args.Type = type;
    args.pInputData = input_bytes ? in_copy : NULL;
    args.InputDataSize = input_bytes;
    args.pOutputData = buffer + PORT_GUARD_BYTES;
    args.OutputDataSize = output_bytes;
    status = ddi_query_adapter_info(&adapter->ddi, &args);
    if (!port_boundary_guard_intact(buffer) ||
        !port_boundary_guard_intact(buffer + PORT_GUARD_BYTES + output_bytes))
        VIOLATION("CAPS-005", "the answer to query type %d was written outside its %u bytes",
                  (int)type, output_bytes);
    if (input_bytes && memcmp(in_copy, input, input_bytes) != 0)
        VIOLATION("CAPS-007", "the input of query type %d was changed", (int)type);
    if (NT_SUCCESS(status))
        memcpy(output, buffer + PORT_GUARD_BYTES, output_bytes);
    if (!NT_SUCCESS(status) && !expected_failure(status))
        WARNING("CAPS-003", "query type %d failed with 0x%08x", (int)type, (unsigned)status);
    return status;
}
