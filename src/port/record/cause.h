/* SPDX-License-Identifier: MIT */
/*
 * Why a driver was not loaded or an adapter not started, where no rule says so: the first thing
 * that failed, kept before anything is undone. Rules have findings instead (port_refuse.h).
 */
#ifndef DXGK_PORT_CAUSE_H
#define DXGK_PORT_CAUSE_H

#include <ntddk.h>

struct port;
struct port_adapter;

void port_cause_clear(struct port *port);
/* Keep this sentence, unless there is one already. */
void port_cause(struct port *port, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a start that ends with this status: the call of the driver that returned it, if that
 * was the last failure, else the reason of the host (refusal.h). */
void port_cause_of_failure(struct port_adapter *adapter, NTSTATUS status);
/* The sentence, empty if there is none. */
const char *port_cause_text(const struct port *port);
/* The status with which a start ended, also if undoing it never came to an end; else
 * STATUS_SUCCESS. */
NTSTATUS port_cause_status(const struct port *port);

#endif
