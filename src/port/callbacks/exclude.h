/* SPDX-License-Identifier: MIT */
/* DxgkCbExcludeAdapterAccess: a driver asks to be alone with its adapter. */
#ifndef DXGK_PORT_EXCLUDE_H
#define DXGK_PORT_EXCLUDE_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

void port_exclude_fill(DXGKRNL_INTERFACE *interface);
/* Until no asynchronous protected callback is left to come. */
void port_exclude_wait(struct port_adapter *adapter);
/* Inside a protected callback that asked for the bridge (LIFE-094). */
bool port_exclude_bridge_open(const struct port_adapter *adapter);

#endif
