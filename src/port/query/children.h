/* SPDX-License-Identifier: MIT */
/* The driver's description of child devices, and whether each is connected. */
#ifndef DXGK_PORT_CHILDREN_H
#define DXGK_PORT_CHILDREN_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

/* The first query after StartDevice. `children`: the number that it returned. */
NTSTATUS port_children_query_relations(struct port_adapter *adapter, ULONG children);
/* The last queries: the descriptor and the status of each child. */
void port_children_query(struct port_adapter *adapter);
/* The same for one child that is no output; `quietly`: NonDestructiveOnly. */
void port_child_query_descriptor(struct port_adapter *adapter, ULONG index);
void port_child_query_status(struct port_adapter *adapter, ULONG index, BOOLEAN quietly);
/* False: there is no such child. */
bool port_children_note_status(struct port_adapter *adapter, const DXGK_CHILD_STATUS *status);
void port_children_forget(struct port_adapter *adapter);

#endif
