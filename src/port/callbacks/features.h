/* SPDX-License-Identifier: MIT */
/* Optional features as in WDDM 3.1: who may enable which. */
#ifndef DXGK_PORT_FEATURES_H
#define DXGK_PORT_FEATURES_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>
#include <dxgk_wddm3_2.h>

struct port;
struct port_adapter;

#define PORT_FEATURES     6u  /* in WDDM 3.1: DXGK_FEATURE_HWSCH .. _SHARE_BACKING_STORE_WITH_KMD */
#define PORT_FEATURES_3_2 64u /* room for the feature numbers of WDDM 3.2 */

void port_features_fill(DXGKRNL_INTERFACE *interface);
/* Does the host let this adapter's driver (NULL: any driver) have the feature? */
bool port_features_allow(const struct port *port, const struct port_adapter *adapter,
                         DXGK_FEATURE_ID feature);
/* The driver supports the feature so (DXGK_FEATURE_SUPPORT_*): kept for clients (KMT-091). */
void port_features_note(struct port_adapter *adapter, DXGK_FEATURE_ID feature, UINT state);

#endif
