/* SPDX-License-Identifier: MIT */
/* DxgkCbQueryServices: the interfaces a driver may ask for, counted per adapter and revoked when it
 * stops. */
#ifndef DXGK_PORT_SERVICES_H
#define DXGK_PORT_SERVICES_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

void port_services_init(struct port_adapter *adapter);
void port_services_fill(DXGKRNL_INTERFACE *interface);
/* After StopDevice: report and revoke the interfaces that were not returned (LIFE-116). */
void port_services_revoke(struct port_adapter *adapter);

#endif
