/* SPDX-License-Identifier: MIT */
/*
 * Registration as a provider of management data (WMI). Nobody asks for such data here, so that the
 * driver gets no request of it: only the pairing of the calls is looked at (NT-183).
 */
#include "nt/base/export.h"
#include "nt/base/state.h"
#include "nt/io/device_object.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "util/hash.h"

/* The devices that are registered; the value is the key. */
const struct nt_component nt_wmi_component = NT_MAP_COMPONENT(wmi_devices);

NT_EXPORT NTSTATUS NTAPI IoWMIRegistrationControl(PDEVICE_OBJECT DeviceObject, ULONG Action)
{
    struct hash_map *devices;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-183", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!DeviceObject || !nt_device_object_known(DeviceObject))
        return STATUS_INVALID_PARAMETER;
    devices = nt_state()->wmi_devices;
    switch (Action) {
    case WMIREG_ACTION_REGISTER:
        if (hash_get(devices, (uintptr_t)DeviceObject))
            return STATUS_SUCCESS;
        return hash_put(devices, (uintptr_t)DeviceObject, DeviceObject)
                   ? STATUS_SUCCESS
                   : STATUS_INSUFFICIENT_RESOURCES;
    case WMIREG_ACTION_DEREGISTER:
        return hash_remove(devices, (uintptr_t)DeviceObject) ? STATUS_SUCCESS
                                                             : STATUS_INVALID_PARAMETER;
    case WMIREG_ACTION_REREGISTER:
    case WMIREG_ACTION_UPDATE_GUIDS:
    case WMIREG_ACTION_BLOCK_IRPS:
        return hash_get(devices, (uintptr_t)DeviceObject) ? STATUS_SUCCESS
                                                          : STATUS_INVALID_PARAMETER;
    default:
        return STATUS_INVALID_PARAMETER;
    }
}
