/* SPDX-License-Identifier: MIT */
/* Whether an adapter may acquire memory now, and with the callbacks of which WDDM generation:
 * checked first by every service that acquires something. */
#ifndef DXGK_PHYSMEM_PHYSICAL_GATE_H
#define DXGK_PHYSMEM_PHYSICAL_GATE_H

#include <stdbool.h>

struct physical_adapter;

/* False after a report: the adapter is stopped. */
bool physical_gate_acquire(const struct physical_adapter *adapter);
/* False after a report: the 2.4 callbacks are closed to this driver (IOMMU-093, IOMMU-094). */
bool physical_gate_legacy(const struct physical_adapter *adapter);

#endif
