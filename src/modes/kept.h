/* SPDX-License-Identifier: MIT */
/* The path that a display had when it was turned off. */
#ifndef DXGK_MODES_KEPT_H
#define DXGK_MODES_KEPT_H

#include <stdbool.h>

struct modes_target;
struct vidpn;

/* Add it, with its modes and transformation. False: something else is in its place. */
bool modes_add_kept(struct vidpn *vidpn, const struct modes_target *target);

#endif
