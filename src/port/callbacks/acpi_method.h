/* SPDX-License-Identifier: MIT */
/* Methods of ACPI on an adapter and on its children, as a test has them (LIFE-103, LIFE-104). */
#ifndef DXGK_PORT_ACPI_METHOD_H
#define DXGK_PORT_ACPI_METHOD_H

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

/* At PASSIVE_LEVEL, inside the driver's call. `device`: DISPLAY_ADAPTER_HW_ID, or the AcpiUid of a
 * child (DISP-027). `input` has `input_bytes` bytes, and its arguments are not checked. `output` is
 * zeroed, and has room for `output_bytes`; its Length says how many the driver gets.
 * STATUS_OBJECT_NAME_NOT_FOUND: there is no such method. The driver gets the status, and the output
 * only with STATUS_SUCCESS. */
typedef NTSTATUS port_acpi_evaluate(void *context, struct port_adapter *adapter, ULONG device,
                                    const ACPI_EVAL_INPUT_BUFFER_COMPLEX *input, ULONG input_bytes,
                                    ACPI_EVAL_OUTPUT_BUFFER *output, ULONG output_bytes);

struct port_acpi_methods {
    port_acpi_evaluate *evaluate;
    void *context;
};

/* Of the current machine, from now on; the caller keeps the structure. NULL: there are none. */
void port_acpi_methods_set(const struct port_acpi_methods *methods);

/* DxgkCbEvalAcpiMethod */
NTSTATUS NTAPI port_eval_acpi_method(HANDLE handle, ULONG uid,
                                     PACPI_EVAL_INPUT_BUFFER_COMPLEX input, ULONG input_bytes,
                                     PACPI_EVAL_OUTPUT_BUFFER output, ULONG output_bytes);

#endif
