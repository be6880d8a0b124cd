/* SPDX-License-Identifier: MIT */
#include "port/callbacks/acpi_method.h"
#include "port/callbacks/callback.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "sim/irql.h"
#include "sim/slot.h"
#include "util/alloc.h"
#include "verify/refusal.h"

#define MOST_BYTES 65536u /* of an input or an output */

static struct sim_slot methods_slot;
SIM_SLOT_CLAIM(methods_slot)

void port_acpi_methods_set(const struct port_acpi_methods *methods)
{
    sim_slot_set(&methods_slot, (void *)(uintptr_t)methods);
}

/* LIFE-103, DISP-027: what firmware calls the device. False: nothing, with the reason. */
static bool find_device(const struct port_adapter *adapter, ULONG uid, ULONG *device)
{
    *device = uid;
    if (uid == DISPLAY_ADAPTER_HW_ID)
        return true;
    for (ULONG i = 0; i < adapter->children.count; i++) {
        const DXGK_CHILD_DESCRIPTOR *child = &adapter->children.child[i];

        if (child->ChildUid != uid)
            continue;
        *device = child->AcpiUid;
        if (!child->AcpiUid)
            (void)refuse(STATUS_OBJECT_NAME_NOT_FOUND, "DISP-028",
                         "child 0x%x is no ACPI device: its AcpiUid is 0", uid);
        return child->AcpiUid != 0;
    }
    (void)refuse(STATUS_OBJECT_NAME_NOT_FOUND, "LIFE-103", "the adapter has no child 0x%x", uid);
    return false;
}

/* With a copy of the input; what the method answers goes to the driver. */
static NTSTATUS evaluate(struct port_adapter *adapter, ULONG device, const void *input,
                         ULONG input_bytes, PACPI_EVAL_OUTPUT_BUFFER to, ULONG room)
{
    const struct port_acpi_methods *methods = sim_slot_get(&methods_slot);
    ACPI_EVAL_OUTPUT_BUFFER *output = util_zalloc(1, sizeof(*output) + room);
    NTSTATUS status;

    if (!output)
        return STATUS_NO_MEMORY;
    status = methods->evaluate(methods->context, adapter, device, input, input_bytes, output, room);
    if (status == STATUS_OBJECT_NAME_NOT_FOUND)
        (void)refuse(status, "LIFE-104", "device 0x%x of firmware has no such method", device);
    if (NT_SUCCESS(status) && output->Length > room)
        status = refuse(STATUS_BUFFER_OVERFLOW, NULL, "the method answers %u bytes, %u have room",
                        output->Length, room);
    else if (NT_SUCCESS(status) && to && !port_boundary_give_bytes(to, output, output->Length))
        status = refuse(STATUS_INVALID_PARAMETER, NULL, "an output buffer of %u bytes at %p", room,
                        (void *)to);
    util_free(output);
    return status;
}

static NTSTATUS carry_out(struct port_adapter *adapter, ULONG uid,
                          const ACPI_EVAL_INPUT_BUFFER_COMPLEX *from, ULONG input_bytes,
                          PACPI_EVAL_OUTPUT_BUFFER to, ULONG output_bytes)
{
    ULONG device;
    void *input;
    NTSTATUS status;

    if (!sim_slot_get(&methods_slot)) /* LIFE-104 */
        return refuse(STATUS_OBJECT_NAME_NOT_FOUND, NULL, "the device has no ACPI methods");
    if (!find_device(adapter, uid, &device))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    if (input_bytes > MOST_BYTES || output_bytes > MOST_BYTES)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "an input of %u bytes and an output of %u",
                      input_bytes, output_bytes);
    input = util_alloc(input_bytes);
    if (!input)
        return STATUS_NO_MEMORY;
    status = port_boundary_take_bytes(input, from, input_bytes)
                 ? evaluate(adapter, device, input, input_bytes, to, to ? output_bytes : 0)
                 : refuse(STATUS_INVALID_PARAMETER, NULL, "an input buffer of %u bytes at %p",
                          input_bytes, (const void *)from);
    util_free(input);
    return status;
}

NTSTATUS NTAPI port_eval_acpi_method(HANDLE handle, ULONG uid,
                                     PACPI_EVAL_INPUT_BUFFER_COMPLEX input, ULONG input_bytes,
                                     PACPI_EVAL_OUTPUT_BUFFER output, ULONG output_bytes)
{
    const ULONG signature = ACPI_EVAL_INPUT_BUFFER_COMPLEX_SIGNATURE;
    struct port_callback cb;
    NTSTATUS status = port_callback_begin(&cb, handle, "DxgkCbEvalAcpiMethod", PORT_CALLER,
                                          SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status))
        return status;
    if (!input || input_bytes < sizeof(*input))
        status = STATUS_INVALID_PARAMETER;
    else
        status = carry_out(cb.adapter, uid, input, input_bytes, output, output_bytes);
    if (!input || input_bytes < sizeof(*input) ||
        !PORT_GIVE_MEMBER(ACPI_EVAL_INPUT_BUFFER_COMPLEX, input, Signature, &signature))
        status = refuse(STATUS_INVALID_PARAMETER, NULL, "an input buffer of %u bytes at %p",
                        (unsigned)input_bytes, (void *)input);
    return port_callback_return(&cb, status);
}
