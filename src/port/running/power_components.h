/* SPDX-License-Identifier: MIT */
/* Runtime transitions of power components: one thread per adapter brings each component to the
 * F-state that references and the driver's limits allow. */
#ifndef DXGK_PORT_POWER_COMPONENTS_H
#define DXGK_PORT_POWER_COMPONENTS_H

#include <ntddk.h>

struct port_adapter;
struct port_component;

void port_power_components_init(struct port_adapter *adapter);
NTSTATUS port_power_components_start(struct port_adapter *adapter);
void port_power_components_stop(struct port_adapter *adapter);
/* TransitionTo_F0_OnDx: bring these components to F0 and keep them there (LIFE-166); let them go
 * again. */
void port_power_components_hold(struct port_adapter *adapter);
void port_power_components_release(struct port_adapter *adapter);
/* Something changed: make the thread check all components again. At or below DISPATCH_LEVEL. */
void port_power_components_kick(struct port_adapter *adapter);
/* Wait until the component is at F0 and stays there. At PASSIVE_LEVEL. */
void port_power_components_wait_for_f0(struct port_adapter *adapter,
                                       const struct port_component *component);
/* DxgkCbCompleteFStateTransition. */
void port_power_components_complete(struct port_adapter *adapter, struct port_component *component);

#endif
