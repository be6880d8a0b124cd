/* SPDX-License-Identifier: MIT */
/* The interface that DXGK_FEATURE_NATIVE_FENCE has in the host. */
#ifndef DXGK_PORT_NATIVE_FENCE_INTERFACE_H
#define DXGK_PORT_NATIVE_FENCE_INTERFACE_H

#include <ntddk.h>
#include <dispmprt.h>
#include <dxgk_wddm3_2.h>

/* Fill the driver's buffer; `args` is a copy, whose InterfaceSize becomes that of the interface. */
NTSTATUS port_native_fence_interface(DXGKARGCB_QUERYFEATUREINTERFACE *args);

#endif
