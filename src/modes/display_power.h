/* SPDX-License-Identifier: MIT */
/* Displays that are turned off and on, alone or with the adapter (VIDPN-176, VIDPN-177, PRES-246 to
 * PRES-250). Called by the display worker. */
#ifndef DXGK_MODES_DISPLAY_POWER_H
#define DXGK_MODES_DISPLAY_POWER_H

#include <stdbool.h>

#include <ntddk.h>

struct modes;
struct modes_target;
struct modes_wish;
struct vidpn;

NTSTATUS modes_turn_off(struct modes *modes, struct modes_target *target);
NTSTATUS modes_turn_on(struct modes *modes, struct modes_target *target);
/* The display that is off, and showed this source; NULL: there is none. */
struct modes_target *modes_dark_target(const struct modes *modes, UINT source);
/* The VidPN that is active; or, if the adapter sleeps with the display of this source, the one that
 * will be. */
const struct vidpn *modes_lit_or_asleep(const struct modes *modes, UINT source);
/* The mode with which it is to be turned on (VIDPN-178). */
NTSTATUS modes_change_dark(struct modes *modes, struct modes_target *target,
                           const struct modes_wish *wish);
/* All that are on. STATUS_NO_MEMORY: some still are. */
NTSTATUS modes_sleep(struct modes *modes);
/* Those are on again, as far as their monitors are still there; then they are to be lit. */
void modes_wake(struct modes *modes);
NTSTATUS modes_light_again(struct modes *modes);

#endif
