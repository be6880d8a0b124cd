/* SPDX-License-Identifier: MIT */
/* Frame buffer save areas of an adapter: only their end is asked for here, when the adapter
 * goes. */
#ifndef DXGK_VIDMM_PHYSICAL_SAVE_H
#define DXGK_VIDMM_PHYSICAL_SAVE_H

struct physical_adapter;

/* Free the areas. Pins and mappings are gone: they were in the adapter's list. */
void physical_save_free(struct physical_adapter *adapter);

#endif
