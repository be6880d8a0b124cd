/* SPDX-License-Identifier: MIT */
/* Whether a driver is admitted by what DXGK_DRIVERCAPS says: against itself, the entry points and
 * the machine. */
#ifndef DXGK_PORT_ADMISSION_H
#define DXGK_PORT_ADMISSION_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_admission_check(struct port_adapter *adapter);

#endif
