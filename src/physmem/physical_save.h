/* SPDX-License-Identifier: MIT */
/* The frame buffer save areas of an adapter, for the code that destroys the adapter. The driver's
 * operations on them are in physical_services.h. */
#ifndef DXGK_PHYSMEM_PHYSICAL_SAVE_H
#define DXGK_PHYSMEM_PHYSICAL_SAVE_H

struct physical_adapter;

/* Free the areas. Pins and mappings, which were in the adapter's list, are freed already. */
void physical_save_free(struct physical_adapter *adapter);

#endif
