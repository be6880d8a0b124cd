/* SPDX-License-Identifier: MIT */
/* What a driver has refused to commit in the change that is being made, which is not chosen again
 * (VIDPN-184). */
#ifndef DXGK_MODES_REFUSALS_H
#define DXGK_MODES_REFUSALS_H

#include <stdbool.h>

#include <ntddk.h>

struct modes;
struct vidpn;

/* A commit of the source has failed. False: no other is to be tried. */
bool modes_refused_add(struct modes *modes, const struct vidpn *vidpn, UINT source);
/* Has the driver refused to commit what a source shows in this VidPN? */
bool modes_refused(const struct modes *modes, const struct vidpn *vidpn);
void modes_refused_forget(struct modes *modes);

#endif
