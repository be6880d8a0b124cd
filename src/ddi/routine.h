/* SPDX-License-Identifier: MIT */
/* Which routine a driver has registered for an entry. */
#ifndef DXGK_DDI_ROUTINE_H
#define DXGK_DDI_ROUTINE_H

#include <stdint.h>

struct ddi_adapter;

/* By the entry's name, "DxgkDdiPatch"; 0: none. */
uintptr_t ddi_routine(const struct ddi_adapter *adapter, const char *entry);
/* The next report is about what this entry did, or left undone, though it has returned: its stack
 * is the entry's routine. */
void ddi_blame(const struct ddi_adapter *adapter, const char *entry);

#endif
