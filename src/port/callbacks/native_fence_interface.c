/* SPDX-License-Identifier: MIT */
#include "port/callbacks/native_fence_interface.h"
#include "port/callbacks/callback.h"
#include "port/record/boundary.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "verify/refusal.h"

/* Both values are in system memory, and there are no fences of one GPU alone. */
static NTSTATUS NTAPI get_os_caps(INOUT_PDXGKARGCB_FEATURE_NATIVEFENCE_CAPS_1 user)
{
    static const DXGKARGCB_FEATURE_NATIVEFENCE_CAPS_1 none;
    struct port_callback cb;
    NTSTATUS status;

    if (!sim_current || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    status = port_callback_begin_of_system(&cb, "GetOSCaps", PORT_CALLER, SIM_IRQL_PASSIVE,
                                           "THREAD-047");
    if (!NT_SUCCESS(status))
        return status;
    if (!PORT_GIVE(DXGKARGCB_FEATURE_NATIVEFENCE_CAPS_1, user, &none))
        status = refuse(STATUS_INVALID_PARAMETER, "LIFE-127", "the caps cannot be written");
    return port_callback_return(&cb, status);
}

NTSTATUS port_native_fence_interface(DXGKARGCB_QUERYFEATUREINTERFACE *args)
{
    static const DXGKCBINT_FEATURE_NATIVEFENCE_1 interface = {.GetOSCaps = get_os_caps};
    const UINT16 bytes = args->InterfaceSize;

    if (args->Version != 1)
        return refuse(STATUS_NOT_SUPPORTED, "LIFE-127", "version %u of the interface, there is 1",
                      args->Version);
    args->InterfaceSize = sizeof(interface);
    if (bytes < sizeof(interface))
        return refuse(STATUS_BUFFER_TOO_SMALL, "LIFE-127", "room for %u bytes of %u", bytes,
                      (unsigned)sizeof(interface));
    return PORT_GIVE(DXGKCBINT_FEATURE_NATIVEFENCE_1, args->Interface, &interface)
               ? STATUS_SUCCESS
               : refuse(STATUS_INVALID_PARAMETER, "LIFE-127", "the interface cannot be written");
}
