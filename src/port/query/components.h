/* SPDX-License-Identifier: MIT */
/* Power components as the driver describes them; power_components.c drives them. */
#ifndef DXGK_PORT_COMPONENTS_H
#define DXGK_PORT_COMPONENTS_H

#include <stdbool.h>

#include <ntddk.h>

struct port_adapter;
struct port_component;

NTSTATUS port_components_query(struct port_adapter *adapter);
void port_components_forget(struct port_adapter *adapter);
/* Of an engine or of memory: the host keeps its references itself. */
bool port_components_is_hosts(const struct port_component *component);

#endif
