/* SPDX-License-Identifier: MIT */
/* Further admission checks for compute-only drivers (MCDM). */
#ifndef DXGK_PORT_COMPUTE_H
#define DXGK_PORT_COMPUTE_H

#include <ntddk.h>

struct port_adapter;

void port_compute_check(struct port_adapter *adapter);

#endif
