/* SPDX-License-Identifier: MIT */
/* The entry of refgpu, which registers by way of acts. */
#include "driver.h"

NTSTATUS NTAPI ActsInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                              DRIVER_INITIALIZATION_DATA *Data);

#define DxgkInitialize ActsInitialize
#include "../../drivers/refgpu/entry.c" // NOLINT(bugprone-suspicious-include): with another name in it
