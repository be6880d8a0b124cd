/* SPDX-License-Identifier: MIT */
/* Queries answered from the machine: memory, bus, identity, and texts of the registry. */
#ifndef DXGK_KMT_QUERY_MACHINE_H
#define DXGK_KMT_QUERY_MACHINE_H

#include <ntddk.h>

struct kmt_query;

/* STATUS_NOT_IMPLEMENTED: not a type of these. */
NTSTATUS kmt_query_machine(const struct kmt_query *query);

#endif
