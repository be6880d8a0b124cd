/* SPDX-License-Identifier: MIT */
/* Finds whose work it is that the device begins by a root table, where page tables are checked. */
#ifndef DXGK_VIDSCH_ROOT_CHECK_H
#define DXGK_VIDSCH_ROOT_CHECK_H

struct vidsch;

/* Have the device model's news of root tables checked; and no longer. Nothing without
 * vidsch_config.checked. */
void vidsch_root_check_begin(struct vidsch *vidsch);
void vidsch_root_check_end(struct vidsch *vidsch);

#endif
