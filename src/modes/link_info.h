/* SPDX-License-Identifier: MIT */
/* What the link to a monitor can do (DISP-112, DISP-113). Called by the display worker. */
#ifndef DXGK_MODES_LINK_INFO_H
#define DXGK_MODES_LINK_INFO_H

struct modes;
struct monitor;

/* Ask the driver, unless it has said so at the start; into monitor->link. */
void link_info_ask(struct modes *modes, struct monitor *monitor);

#endif
