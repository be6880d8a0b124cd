/* SPDX-License-Identifier: MIT */
/* What all planted drivers share: the miniport's table, changed on its way to the host. */
#include "plant.h"

DRIVER_INITIALIZATION_DATA reference;
DXGKRNL_INTERFACE dxgk;

static NTSTATUS(NTAPI *planted_start)(IN_CONST_PVOID, IN_PDXGK_START_INFO, IN_PDXGKRNL_INTERFACE,
                                      OUT_PULONG, OUT_PULONG);

static NTSTATUS NTAPI start_device(IN_CONST_PVOID context, IN_PDXGK_START_INFO info,
                                   IN_PDXGKRNL_INTERFACE interface, OUT_PULONG sources,
                                   OUT_PULONG children)
{
    dxgk = *interface;
    return planted_start(context, info, interface, sources, children);
}

NTSTATUS NTAPI PlantedInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                 PDRIVER_INITIALIZATION_DATA DriverInitializationData)
{
    reference = *DriverInitializationData;
    plant(DriverInitializationData);
    planted_start = DriverInitializationData->DxgkDdiStartDevice;
    DriverInitializationData->DxgkDdiStartDevice = start_device;
    return DxgkInitialize(DriverObject, RegistryPath, DriverInitializationData);
}
