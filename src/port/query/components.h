/* SPDX-License-Identifier: MIT */
/* The driver's description of its power components; power_components.c makes their transitions. */
#ifndef DXGK_PORT_COMPONENTS_H
#define DXGK_PORT_COMPONENTS_H

#include <stdbool.h>

#include <ntddk.h>

struct port_adapter;
struct port_component;

NTSTATUS port_components_query(struct port_adapter *adapter);
void port_components_forget(struct port_adapter *adapter);
/* Is the component of an engine or of memory? Then the host manages its references. */
bool port_components_is_hosts(const struct port_component *component);

#endif
