/* SPDX-License-Identifier: MIT */
/* DxgkCbExcludeAdapterAccess: a driver asks for exclusive access to its adapter. */
#ifndef DXGK_PORT_EXCLUDE_H
#define DXGK_PORT_EXCLUDE_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

void port_exclude_fill(DXGKRNL_INTERFACE *interface);
/* Wait until no asynchronous protected callback is pending. */
void port_exclude_wait(struct port_adapter *adapter);
/* Is a protected callback running that asked for access to the bridge (LIFE-094)? */
bool port_exclude_bridge_open(const struct port_adapter *adapter);

#endif
