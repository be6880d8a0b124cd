/* SPDX-License-Identifier: MIT */
/* Admission of a driver: checks DXGK_DRIVERCAPS against itself, the driver's entry points and the
 * machine. */
#ifndef DXGK_PORT_ADMISSION_H
#define DXGK_PORT_ADMISSION_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_admission_check(struct port_adapter *adapter);

#endif
