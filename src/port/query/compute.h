/* SPDX-License-Identifier: MIT */
/* What admission demands of compute-only drivers (MCDM) beyond the others. */
#ifndef DXGK_PORT_COMPUTE_H
#define DXGK_PORT_COMPUTE_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_compute_check(struct port_adapter *adapter);

#endif
