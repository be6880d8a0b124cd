/* SPDX-License-Identifier: MIT */
/* The frame buffer save areas of an adapter, for who ends the adapter. What drivers do with them is
 * in physical_services.h. */
#ifndef DXGK_PHYSMEM_PHYSICAL_SAVE_H
#define DXGK_PHYSMEM_PHYSICAL_SAVE_H

struct physical_adapter;

/* Free the areas. Pins and mappings are gone: they were in the adapter's list. */
void physical_save_free(struct physical_adapter *adapter);

#endif
