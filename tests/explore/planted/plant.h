/* SPDX-License-Identifier: MIT */
/*
 * A planted bug: the reference miniport with one mistake around it. Each file of this folder makes one driver of them, by
 * putting its own entry points before those of the miniport. All are mistakes of a kind that people make; some need two
 * things to happen in an unlucky order.
 */
#ifndef PLANTED_PLANT_H
#define PLANTED_PLANT_H

#include "driver.h"

/* The miniport's own table, and the host's callbacks once StartDevice was called. */
extern DRIVER_INITIALIZATION_DATA reference;
extern DXGKRNL_INTERFACE dxgk;

/* In each file: change the table. */
void plant(DRIVER_INITIALIZATION_DATA *table);

/* Called instead of DxgkInitialize by the miniport's DriverEntry. */
NTSTATUS NTAPI PlantedInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                 PDRIVER_INITIALIZATION_DATA DriverInitializationData);

#endif
